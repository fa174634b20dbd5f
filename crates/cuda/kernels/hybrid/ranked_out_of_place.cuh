// Few keys with what travels with them, or keys alone, stably and in the same time for every distribution, if the
// result goes elsewhere: as nothing that is read is written, no block waits for another.
//
//     load       in each warp the block's own keys, a lane each; each thread its share of all
//     compare    own keys with the share: a key's place is how many of all come before
//     store      own keys and values
//
// Grid: n / OWN. Workspace: none.
#pragma once

#include "ranked_task.cuh"
#include "warp.cuh"

// OWN: keys that a block finds the places of. LOADS: others that a thread has at a time.
template <class Key_, u32 THREADS_, u32 OWN_, u32 LOADS_>
struct RankedOutOfPlaceShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, OWN = OWN_, LOADS = LOADS_;
    static_assert(OWN <= WARP, "a lane tells of each");
};

template <class S>
struct RankedOutOfPlaceShared {
    // Of the own keys.
    u32 places[S::OWN];
};

template <class S>
struct RankedOutOfPlace {
    using Key = typename S::Key;
    static constexpr u32 OWN = S::OWN, LOADS = S::LOADS;

    const RankedTask<Key>& task;
    RankedOutOfPlaceShared<S>& shared;
    const u32 n = task.n, thread = threadIdx.x, lane = threadIdx.x % WARP, first = blockIdx.x * OWN;

    __device__ void run_block() {
        if (thread < OWN) shared.places[thread] = 0;
        wait_for_earlier_kernels();
        let_next_kernel_in();
        // Each warp has the own keys, one a lane; the first one stores them.
        bool has = lane < OWN && first + lane < n;
        RankedItem<Key> own;
        if (has) own.load(task, first + lane);
        __syncthreads();
        u32 before = compare(has ? own.key : Key(0));
        if (has && before > 0) atomicAdd(&shared.places[lane], before);
        __syncthreads();
        if (has && thread < WARP) own.store(task, first + lane, shared.places[lane]);
    }

    // How many of the warp's share come before the lane's own key.
    __device__ u32 compare(Key key) const {
        Key lanes_own = task.code(key), own[OWN];
        u32 places[OWN] = {};
#pragma unroll
        for (u32 k = 0; k < OWN; k++) own[k] = of_lane(lanes_own, k);
        for (u32 begin = thread; begin < n; begin += S::THREADS * LOADS) {
            const Key* from = task.keys_from + begin;
            int left = int(n - begin);
            Key code[LOADS];
#pragma unroll
            for (u32 j = 0; j < LOADS; j++)
                if (int(j * S::THREADS) < left) code[j] = from[j * S::THREADS];
            encode(code);
#pragma unroll
            for (u32 j = 0; j < LOADS; j++) {
                if (int(j * S::THREADS) >= left) code[j] = ~Key(0);
#pragma unroll
                for (u32 k = 0; k < OWN; k++)
                    add_if_before(places[k], code[j], begin + j * S::THREADS, own[k], first + k);
            }
        }
        u32 before = 0;
#pragma unroll
        for (u32 k = 0; k < OWN; k++) {
            u32 of_warp = sum_of_warp(places[k]);
            if (lane == k) before = of_warp;
        }
        return before;
    }

    template <u32 N>
    __device__ void encode(Key (&keys)[N]) const {
        if (task.takes_words()) return;
#pragma unroll
        for (u32 i = 0; i < N; i++) keys[i] = task.code(keys[i]);
    }

    // Of equal codes that which came before: code and, below it, position are compared as one number. The own one and
    // the complement of the other, added, carry where the other is less.
    __device__ static void add_if_before(u32& places, Key code, u32 at, Key own, u32 own_at) {
        constexpr u32 WORDS = sizeof(Key) / sizeof(u32);
        u32 a[WORDS], b[WORDS];
#pragma unroll
        for (u32 w = 0; w < WORDS; w++) {
            a[w] = u32(own >> (32 * w));
            b[w] = ~u32(code >> (32 * w));
        }
        // Where two comparisons tell, they take less than three additions.
        if constexpr (WORDS == 1)
            asm("{ .reg .pred less; setp.lt.u64 less, %1, %2; @less add.u32 %0, %0, 1; }"
                : "+r"(places)
                : "l"(u64(code) << 32 | at), "l"(u64(own) << 32 | own_at));
        else if constexpr (WORDS == 2)
            asm("{ .reg .u32 sum; add.cc.u32 sum, %1, %2; addc.cc.u32 sum, %3, %4; addc.cc.u32 sum, %5, %6; "
                "addc.u32 %0, %0, 0; }"
                : "+r"(places)
                : "r"(own_at), "r"(~at), "r"(a[0]), "r"(b[0]), "r"(a[1]), "r"(b[1]));
        else
            asm("{ .reg .u32 sum; add.cc.u32 sum, %1, %2; addc.cc.u32 sum, %3, %4; addc.cc.u32 sum, %5, %6; "
                "addc.cc.u32 sum, %7, %8; addc.cc.u32 sum, %9, %10; addc.u32 %0, %0, 0; }"
                : "+r"(places)
                : "r"(own_at), "r"(~at), "r"(a[0]), "r"(b[0]), "r"(a[1]), "r"(b[1]), "r"(a[2]), "r"(b[2]),
                  "r"(a[3]), "r"(b[3]));
    }
};
