// A cell in which 16 bits or fewer are left: how often each number is there.
//
//     load        each thread's keys to registers
//     tally       a counter of two bits for each number of 16 bits
//     scan        each thread a stretch of the numbers: how many keys come before
//     list        its numbers, in order, as often as they were counted
//     write       by all threads
//
// That is one atomic addition for each key, and hardly anything else that meets in a bank of shared
// memory. Four equal keys run over, for one more in the next counter, so that all counters together are
// less than the keys. If that has happened once, in a cell in 25 of 4096 evenly spread keys, the number is found:
// its keys are there, and its counter says none. It is counted three times, and listed once more. Otherwise the
// cell is left for local_refined, as a piece. So are cells of so many keys that chance alone often makes four of
// them equal, those of which a sample shows that there are few distinct keys, and those of which one thread would
// have to list very many.
//
// A number is the lower half of a code, and often that is all that lies there of a key (Task::in_halves).
//
// A number of fewer bits stands in the topmost of the 16, so that numbers are spread over all threads.
#pragma once

#include "local.cuh"

// CAPACITY: keys of the largest cell.
template <class Key_, u32 THREADS_, u32 CAPACITY_, u32 BLOCKS_>
struct TallyShape {
    using Key = Key_;
    static constexpr u32 THREADS = THREADS_, CAPACITY = CAPACITY_, BLOCKS = BLOCKS_;
    static constexpr u32 WARPS = THREADS / WARP;
    static constexpr u32 NUMBER_BITS = 16, COUNTER_BITS = 2, COUNTERS = 32 / COUNTER_BITS;
    // Words of a thread. They lie together, and one is left free: then the threads' words lie in
    // different banks. (Without, but for a word of each thread a row: uniform keys 1% faster, sorted ones
    // 12% slower.)
    static constexpr u32 EACH = (1 << NUMBER_BITS) / COUNTERS / THREADS, WORDS = (EACH + 1) * THREADS;
    // Of 16 bytes, and how many of them a thread writes.
    static constexpr u32 KEYS = 16 / sizeof(Key), VECTORS = (CAPACITY / KEYS + THREADS - 1) / THREADS;
    static_assert(sizeof(Key) == sizeof(u32) && (THREADS & (THREADS - 1)) == 0, "numbers have owners");
    static_assert(EACH <= 32, "a word has a bit for each");
};

template <class S>
struct TallyShared {
    // The cell's numbers, in order. It lies before the words, for the one before a thread's first is read,
    // too.
    alignas(16) u16 sorted[S::CAPACITY + S::KEYS];
    alignas(16) u32 words[S::WORDS];
    // Of the scan.
    u32 sums[S::WARPS];
    // That of which a fourth key has run over.
    u32 number;
};

template <class S>
struct Tally {
    using Key = typename S::Key;
    static constexpr u32 THREADS = S::THREADS, VECTORS = S::VECTORS, KEYS = S::KEYS, EACH = S::EACH;
    static constexpr u32 MOST_OF_A_THREAD = 256;
    // The upper bits of all counters.
    static constexpr u32 UPPER = 0xaaaaaaaa;

    TallyShared<S>& shared;
    const u32 thread = threadIdx.x, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;

    __device__ Tally(TallyShared<S>& shared) : shared(shared) {}

    // Whether at most one cell in eight of so many evenly spread keys has a number four times.
    __device__ static bool suits(u32 count, u32 bits) {
        return bits <= S::NUMBER_BITS && u64(count) * count * count * count <= 3ull << (3 * bits);
    }

    // Puts the lowest `bits` bits of codes, or of lower halves of them, in order in shared memory, from the
    // place `first` on. False if that is not for such a cell. (Whole codes and halves have all of this
    // twice: with one copy behind what reads them 2^28 keys take 0.605 ms instead of 0.58.)
    template <class Word>
    __device__ bool order(const Word* from, u32 first, u32 count, u32 bits) {
        if (!suits(count, bits) || !tally(from, count, bits)) return false;
        u32 some, own = sum(some), begin = first, all = 0;
        bool crowded = exclusive(own, begin, all);
        u32 lacking = count - all, owner = THREADS;
        if (crowded || (lacking > 0 && !ran_over(shared, from, count, bits, lacking))) return false;
        if (lacking > 0) {
            // The number has one key less: its counter's owner inserts that.
            u32 word = shared.number / S::COUNTERS;
            owner = word / EACH;
            if (thread > owner) begin += lacking;
            if (thread == owner) {
                shared.words[word + owner] -= 1u << shared.number % S::COUNTERS * S::COUNTER_BITS;
                some |= 1u << word % EACH;
                own += lacking - 1;
            }
        }
        list(begin, begin + own, some);
        if (thread == owner) insert(shared.number, begin, begin + own);
        return true;
    }

    // So many are lacking, since counters have run over. Whether that was once, by the fourth of a number's keys:
    // then one lacks three, for there is one more in the next counter, or four, where the word has no next. Which
    // number it is. (A function of its own, lest it take registers of all else.)
    template <class Word>
    __device__ __noinline__ static bool ran_over(
        TallyShared<S>& shared, const Word* from, u32 count, u32 bits, u32 lacking) {
        if (lacking < 3 || lacking > 4) return false;
        constexpr u32 NONE = ~0u, BATCH = 18;
        u32 found = NONE;
        for (u32 i = threadIdx.x; i < count; i += BATCH * THREADS) {
            u32 word[BATCH];
#pragma unroll
            for (u32 j = 0; j < BATCH; j++) word[j] = from[min(i + j * THREADS, count - 1)];
#pragma unroll
            for (u32 j = 0; j < BATCH; j++) {
                u32 number = word[j] << (32 - bits) >> (32 - S::NUMBER_BITS), at = number / S::COUNTERS;
                u32 counters = shared.words[at + at / EACH];
                if (!(counters >> number % S::COUNTERS * S::COUNTER_BITS & 3)) found = number;
            }
        }
        if (found != NONE) shared.number = found;
        return __syncthreads_or(found != NONE);
    }

    // One more, among the thread's numbers from place `begin` to `end`.
    __device__ void insert(u32 number, u32 begin, u32 end) {
        u32 to = end;
        for (; to > begin && shared.sorted[to - 1] > number; to--) shared.sorted[to] = shared.sorted[to - 1];
        shared.sorted[to] = u16(number);
    }

    // What is in order becomes words; above its bits codes are `cell`.
    __device__ void store(Key* to, u32 first, u32 count, u32 bits, Key cell, const Coder<Key>& coder) const {
        __syncthreads();
        // A number stands in the upper half, at the top.
        auto code = [=](u32 number) { return __funnelshift_rc(number, cell, 32 - bits); };
        if (coder.identity)
            write(to, first, count, code);
        else
            coder.decoding([&](auto decode) {
                write(to, first, count, [&](u32 number) { return decode(code(number)); });
            });
    }

    template <class Word>
    __device__ bool tally(const Word* from, u32 count, u32 bits) {
        constexpr u32 WORDS = 16 / sizeof(Word), LOADS = (S::CAPACITY / WORDS + THREADS - 1) / THREADS;
        constexpr bool HALVES = sizeof(Word) < sizeof(Key);
        // Words before the first whole vector, and the place of those after the last.
        u32 head = min(count, u32(0 - u64(from) / sizeof(Word)) % WORDS), vectors = (count - head) / WORDS;
        u32 tail = head + vectors * WORDS, singles = count - vectors * WORDS;
        const uint4* own = reinterpret_cast<const uint4*>(from + head) + thread;
        int left = int(vectors - thread);
        uint4 vector[LOADS];
        u32 single;
#pragma unroll
        for (u32 i = 0; i < LOADS; i++)
            if (int(i * THREADS) < left) vector[i] = own[i * THREADS];
        if (thread < singles) single = from[thread < head ? thread : tail + thread - head];
        clear();
        // So many pairs of evenly spread keys: in one cell of 500 two are equal.
        u32 x = vector[0].x, second = HALVES ? __byte_perm(x, 0, 0x1032) : vector[0].y;
        if (__syncthreads_count(left > 0 && x == second) > 1) return false;
        // What brings the number to the upper half, and twice its counter to the lowest five bits.
        u32 to_upper = u32(1ull << (32 - bits)), to_lower = to_upper >> (S::NUMBER_BITS - 1);
        asm volatile("" : "+r"(to_upper), "+r"(to_lower));
        auto add_one = [&](u32 word) { this->add(word * to_upper, word * to_lower); };
        auto add = [&](u32 word) {
            add_one(word);
            if constexpr (HALVES) add_one(word >> 16);
        };
#pragma unroll
        for (u32 i = 0; i < LOADS; i++)
            if (int(i * THREADS) < left) {
                add(vector[i].x);
                add(vector[i].y);
                add(vector[i].z);
                add(vector[i].w);
            }
        if (thread < singles) add_one(single);
        __syncthreads();
        return true;
    }

    __device__ void clear() {
        uint4* own = reinterpret_cast<uint4*>(shared.words) + thread;
#pragma unroll
        for (u32 i = 0; i < S::WORDS / 4; i += THREADS)
            if (i + THREADS <= S::WORDS / 4 || i + thread < S::WORDS / 4) own[i] = uint4{0, 0, 0, 0};
    }

    // A number in the upper half of a word, and twice its counter in the lowest five bits of another.
    __device__ void add(u32 upper, u32 place) {
        u32 word = upper / (S::COUNTERS << S::NUMBER_BITS), owner = word / EACH;
        atomicAdd(&shared.words[word + owner], __funnelshift_l(0, 1, place));
    }

    __device__ const u32* own_words() const { return shared.words + thread * (EACH + 1); }

    // Keys of the thread's words; and a bit for each word that has any.
    __device__ u32 sum(u32& some) const {
        const u32* words = own_words();
        u32 sum = 0;
        some = 0;
#pragma unroll
        for (u32 i = 0; i < EACH; i += 2) {
            u32 a = words[i], b = words[i + 1];
            if (a) some |= 1u << i;
            if (b) some |= 2u << i;
            sum += __popc(a) + __popc(b) + __popc((a & UPPER) | (b >> 1 & ~UPPER));
        }
        return sum;
    }

    // The sum of what the threads before gave is added to `before`, that of all to `all`. Whether one gave
    // too much.
    __device__ bool exclusive(u32 own, u32& before, u32& all) {
        u32 sum = scan_of_warp(own);
        if (lane == WARP - 1) shared.sums[warp] = sum;
        bool crowded = __syncthreads_or(own > MOST_OF_A_THREAD);
        before += sum - own;
#pragma unroll
        for (u32 w = 0; w < S::WARPS; w++) {
            u32 of_warp = shared.sums[w];
            if (w < warp) before += of_warp;
            all += of_warp;
        }
        return crowded;
    }

    // The thread's numbers, from the greatest down.
    __device__ void list(u32 begin, u32 end, u32 some) {
        const u32* words = own_words();
        u32 word = 0, number = 0, base = thread * EACH * S::COUNTERS;
        auto take = [&] {
            u32 i = 31 - __clz(some), another = words[int(i)];
            u32 rest = some ^ __funnelshift_l(0, 1, i);
            bool empty = word == 0;
            word = empty ? another : word;
            some = empty ? rest : some;
            number = empty ? base + i * S::COUNTERS : number;
            u32 highest = 31 - __clz(word);
            word -= __funnelshift_l(0, 1, highest & ~1);
            return number + highest / 2;
        };
        u16 *to = shared.sorted + end, *last = shared.sorted + begin;
        if (end % 2 && to > last) *--to = u16(take());
        for (; to >= last + 2; to -= 2) {
            u32 greater = take(), less = take();
            reinterpret_cast<u32*>(to)[-1] = greater << 16 | less;
        }
        if (to > last) *--to = u16(take());
    }

    template <class Decode>
    __device__ void write(Key* to, u32 first, u32 count, Decode decode) const {
        const u16* sorted = shared.sorted + first;
        u32 head = min(count, (KEYS - first) % KEYS), vectors = (count - head) / KEYS;
        u32 tail = head + vectors * KEYS;
        const uint2* own = reinterpret_cast<const uint2*>(sorted + head) + thread;
        uint4* own_to = reinterpret_cast<uint4*>(to + head) + thread;
#pragma unroll
        for (u32 i = 0; i < VECTORS; i++)
            if (int(i * THREADS) < int(vectors - thread)) {
                uint2 four = own[i * THREADS];
                own_to[i * THREADS] =
                    uint4{decode(four.x << 16), decode(four.x), decode(four.y << 16), decode(four.y)};
            }
        u32 place = thread < head ? thread : tail + thread - head;
        if (thread < count - vectors * KEYS) to[place] = decode(u32(sorted[place]) << 16);
    }
};

// Block i sorts cell i; one that is too large is left alone. What is not for a tally becomes a piece.
template <class S>
__device__ inline void tally_cell(const Task<typename S::Key>& task, TallyShared<S>& shared) {
    using Key = typename S::Key;
    u32 path = wait_for_partitions(task);
    if (path != HYBRID) return;
    u32 begin = task.begins[blockIdx.x], count = task.begins[blockIdx.x + 1] - begin;
    if (task.choice->large) task.clear_steps();
    let_next_kernel_in();
    if (count == 0 || count > task.local_keys) return;
    u32 low = task.choice->low, side = task.side_of(blockIdx.x);
    Key* to = task.result + begin;
    // The place of the first number, such that vectors of the result are aligned.
    u32 first = u32(u64(to) / sizeof(Key)) % S::KEYS;
    Tally<S> own(shared);
    bool ordered = side >= IN_HALVES ? own.order(task.halves(begin), first, count, low)
                                     : own.order(task.buffer(side) + begin, first, count, low);
    if (ordered)
        own.store(to, first, count, low, task.upper_bits(blockIdx.x), Coder<Key>(task.codec, task.choice->base));
    else if (threadIdx.x == 0)
        task.pieces[atomicAdd(&task.choice->pieces, 1)] = {begin, count, side, low};
}
