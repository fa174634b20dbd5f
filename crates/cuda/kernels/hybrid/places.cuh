// A crowded cell: its keys are binned anew by the place where each is expected.
//
//     expect       a key's place within its bin, as if the bin's keys were spread evenly by their next
//                  bits: a bin gets as many places as it has keys
//     count        how many keys each place has; if one has many, its keys are spread once more
//     scan         where each place's keys begin
//     order        each warp its own places, in registers
//     merge        where they do not stand in order then: sorted runs, by the block
//
// Places are in order as keys are: a greater key never has a lower one. Equal keys have one place; it may
// have any number of them.
#pragma once

#include "local.cuh"

template <class S>
struct Places {
    using Key = typename S::Key;
    using Keys = Local<S>;
    static constexpr u32 THREADS = S::THREADS, LOADS = S::LOADS, ITEMS = S::ITEMS, BATCH = Keys::BATCH;
    // Keys of a place that are worth another table.
    static constexpr u32 MANY = 12;

    LocalShared<S>& shared;
    Keys keys;
    Digit bin;
    // From a code to the 32 bits below the bin's.
    u32 right, left;
    // Of each key of the thread: its place, and in the upper half how many came there before it.
    u32 at[LOADS] = {};

    __device__ Places(LocalShared<S>& shared, u32 count, Digit bin)
        : shared(shared), keys(shared), bin(bin) {
        keys.count = count;
        right = bin.shift > 32 ? bin.shift - 32 : 0;
        left = bin.shift > 32 ? 0 : min(31, 32 - bin.shift);
    }

    // The keys lie in shared memory as they came, bins have been scanned. A function of its own, lest it
    // take registers of all else.
    __device__ __noinline__ static void sort(LocalShared<S>& shared, u32 count, Digit bin) {
        Places own(shared, count, bin);
        __syncthreads();
        // What a thread does not load would be kept from one cell to the next.
        Key key[LOADS] = {};
        own.load(key);
        u32 of_bins = own.largest();
        own.scan_bins();
        u32* table = own.table(0);
        u32 largest = own.spread(key, table, [&](Key code) { return own.place(code).at; });
        // Where it does not become smaller its keys are equal, or agree in too many bits.
        if (S::TABLES > 1 && largest > MANY && largest < of_bins / 2) {
            table = own.table(1);
            largest = own.spread(key, table, [&](Key code) { return own.second_place(code); });
        }
        own.arrange(key, table, largest);
    }

    // Of place i: where its keys begin, and in the upper half how many there are.
    __device__ u32* table(u32 number) const { return shared.tables + number * S::CAPACITY; }

    // `act(first, has)` for the thread's keys from `first` on; `has(j)` tells whether it has the j-th.
    template <class Act>
    __device__ void each_batch(Act act) const {
#pragma unroll
        for (u32 first = 0; first < LOADS; first += BATCH) {
            if (first * THREADS >= keys.count) break;
            act(first, [&](u32 j) { return j < LOADS && j * THREADS + keys.thread < keys.count; });
        }
    }

    __device__ void load(Key (&key)[LOADS]) const {
        const Key* own = shared.keys + keys.thread;
        each_batch([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) key[j] = own[j * THREADS];
        });
    }

    // Begins of bins become entries as those of a table. All have their keys then.
    __device__ void scan_bins() {
        constexpr u32 OWN = S::BINS / THREADS;
        static_assert(OWN * THREADS == S::BINS, "as many each");
        u32 begins[OWN + 1], first = keys.thread * OWN;
#pragma unroll
        for (u32 i = 0; i <= OWN; i++)
            begins[i] = first + i <= bin.mask ? shared.bins[first + i] : keys.count;
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < OWN; i++) shared.bins[first + i] = begins[i] | (begins[i + 1] - begins[i]) << 16;
    }

    struct Place {
        u32 at;
        // Where in it, of 2^32.
        u32 rest;
    };

    // Evenly among an entry's places.
    __device__ static Place spread_in(u32 entry, u32 rest) {
        u64 product = u64(entry >> 16) * rest;
        return {(entry & 0xffff) + u32(product >> 32), u32(product)};
    }

    __device__ Place place(Key code) const {
        return spread_in(shared.bins[bin.of(code)], u32(shifted(code, right)) << left);
    }

    __device__ u32 second_place(Key code) const {
        Place first = place(code);
        return spread_in(table(0)[first.at], first.rest).at;
    }

    // Counts and scans places; tells the largest count.
    template <class PlaceOf>
    __device__ u32 spread(const Key (&key)[LOADS], u32* table, PlaceOf place_of) {
        for (u32 i = keys.thread; i < keys.count; i += THREADS) table[i] = 0;
        __syncthreads();
        each_batch([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) at[j] = place_of(key[j]);
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) at[j] |= atomicAdd(&table[at[j]], 1) << 16;
        });
        __syncthreads();
        return scan(table);
    }

    // Of the last scan.
    __device__ u32 largest() const {
        return max_of_warp(keys.lane < S::WARPS ? shared.largest[keys.lane] : 0);
    }

    // Counts become entries; tells the largest.
    __device__ u32 scan(u32* table) {
        // An odd number each: then the threads' entries lie in different banks.
        u32 each = (keys.count + THREADS - 1) / THREADS | 1, begin = min(keys.count, keys.thread * each);
        u32 end = min(keys.count, begin + each), sum = 0, largest = 0;
#pragma unroll 4
        for (u32 i = begin; i < end; i++) {
            sum += table[i];
            largest = max(largest, table[i]);
        }
        u32 before = keys.template inclusive<WARP>(sum) - sum;
        largest = max_of_warp(largest);
        if (keys.lane == WARP - 1) {
            shared.sums[keys.warp] = before + sum;
            shared.largest[keys.warp] = largest;
        }
        __syncthreads();
        before += sum_of_warp(keys.lane < keys.warp ? u32(shared.sums[keys.lane]) : 0);
        largest = this->largest();
#pragma unroll 4
        for (u32 i = begin; i < end; i++) {
            u32 size = table[i];
            table[i] = before | size << 16;
            before += size;
        }
        __syncthreads();
        return largest;
    }

    // Where the place begins that has this slot. A place of more than `most` keys, equal ones mostly, may be
    // divided anywhere.
    __device__ u32 begin_of_place(const u32* table, u32 slot, u32 most) const {
        if (slot >= keys.count) return keys.count;
        u32 low = 0, high = keys.count;
        while (high - low > 1) {
            u32 middle = (low + high) / 2;
            if ((table[middle] & 0xffff) <= slot)
                low = middle;
            else
                high = middle;
        }
        return table[low] >> 16 > most ? slot : table[low] & 0xffff;
    }

    // The keys to their slots, and in order.
    __device__ void arrange(const Key (&key)[LOADS], const u32* table, u32 largest) {
        // As few warps as can.
        u32 share = max((keys.count + S::WARPS - 1) / S::WARPS, S::LINE - MOST_OF_A_BIN - 2);
        u32 most = min(MOST_OF_A_BIN, S::LINE - share - 2);
        u32 found = begin_of_place(table, (keys.warp + keys.lane % 2) * share, most);
        keys.begin = __shfl_sync(ALL_LANES, found, 0);
        keys.end = __shfl_sync(ALL_LANES, found, 1);
        each_batch([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) at[j] = (table[at[j] & 0xffff] & 0xffff) + (at[j] >> 16);
        });
        __syncthreads();
        each_batch([&](u32 first, auto has) {
#pragma unroll
            for (u32 j = first; j < min(first + BATCH, LOADS); j++)
                if (has(j)) shared.keys[at[j]] = key[j];
        });
        __syncthreads();
        bool ordered = true;
        if (keys.begin < keys.end) ordered = order(min(largest, most));
        __syncthreads();
        if (largest <= most) return;
        if (keys.begin > 0 && keys.begin < keys.count)
            ordered &= !(shared.keys[keys.begin] < shared.keys[keys.begin - 1]);
        if (__syncthreads_and(ordered)) return;
        keys.merge();
        __syncthreads();
    }

    // The warp's own keys, and no others: these may be being written. Whether they are in order then.
    __device__ bool order(u32 rounds) {
        u32 at = keys.begin / 2 * 2 + keys.lane * ITEMS;
        Line<Key, ITEMS> line;
#pragma unroll
        for (u32 i = 0; i < ITEMS; i++) {
            line.at[i] = at + i < keys.begin ? Key(0) : ~Key(0);
            if (at + i >= keys.begin && at + i < keys.end) line.at[i] = shared.keys[at + i];
        }
        // Few distinct keys are in order as they came.
        if (rounds < MOST_OF_A_BIN / 2 || !line.ordered()) line.order(rounds);
        bool ordered = line.ordered();
        __syncwarp();
        keys.write(shared.keys, line.at, at);
        return ordered;
    }
};
