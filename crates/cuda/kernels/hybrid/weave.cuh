// The result, of common keys and the rest: each common key as often as it was counted, between the others.
//
//     for each common key: how many of the rest come before it; so where its run begins and ends
//     for each vector of the result: which runs and which of the rest it has
//
// The rest has fillers, equal to the first common key, and nothing else is equal to one of these. They stand
// where that key's run begins.
//
// Shared memory: sizeof(Weave::Shared). Grid: up to one block a multiprocessor.
#pragma once

#include "dictionary.cuh"
#include "lay_out.cuh"

template <class Key>
struct Weave {
    using D = Dictionary<Key>;
    static constexpr u32 THREADS = 1024, KEYS = 16 / sizeof(Key);
    // Vectors of a thread on their way at once.
    static constexpr u32 LANES = 4, TILE = LANES * THREADS;
    // Neighbouring runs that a thread finds.
    static constexpr u32 RUNS = D::MOST > THREADS ? D::MOST / THREADS : 1;

    // By number; the last run, of which nothing comes, ends behind all places.
    struct Shared {
        Key keys[D::MOST];
        u32 begins[D::MOST], ends[D::MOST];
        // From a place between this run and the one before to that in the rest.
        u32 to_rest[D::MOST];
        typename LayOut<Key>::Shared scan;
    };

    union Vector {
        uint4 words;
        Key keys[KEYS];
    };

    const Task<Key>& task;
    Shared& shared;
    const D& dictionary;

    __device__ Weave(const Task<Key>& task, Shared& shared)
        : task(task), shared(shared), dictionary(*task.dictionary) {}

    __device__ void run() {
        wait_for_earlier_kernels();
        if (task.choice->path != SIFT) return;
        let_next_kernel_in();
        find_runs();
        // Keys before the first whole vector, and the place of those after the last.
        u32 head = min(task.n, u32((16 - u64(task.result) % 16) % 16 / sizeof(Key)));
        u32 vectors = (task.n - head) / KEYS, tail = head + vectors * KEYS;
        if (blockIdx.x == 0 && threadIdx.x < head + task.n - tail) {
            u32 place = threadIdx.x < head ? threadIdx.x : tail + threadIdx.x - head;
            task.result[place] = Walk(*this, place).key_at(place);
        }
        uint4* to = reinterpret_cast<uint4*>(task.result + head);
        // Tiles in turns: those that have much of the rest take longer.
        for (u32 i = blockIdx.x * TILE + threadIdx.x; i < vectors; i += gridDim.x * TILE) {
            Walk walk(*this, head + i * KEYS);
            Vector vector[LANES];
#pragma unroll
            for (u32 j = 0; j < LANES; j++)
                if (i + j * THREADS < vectors) vector[j] = walk.vector_at(head + (i + j * THREADS) * KEYS);
#pragma unroll
            for (u32 j = 0; j < LANES; j++)
                if (i + j * THREADS < vectors) to[i + j * THREADS] = vector[j].words;
        }
    }

    __device__ void find_runs() {
        u32 distinct = dictionary.distinct, first = threadIdx.x * RUNS, counts[RUNS], own = 0;
#pragma unroll
        for (u32 i = 0; i < RUNS; i++) {
            counts[i] = first + i < distinct ? dictionary.counts[first + i] : 0;
            own += counts[i];
        }
        LayOut<Key> scan(task, shared.scan);
        u32 counted = scan.exclusive(own), rest = task.choice->rest, fillers = rest - (task.n - scan.total());
#pragma unroll
        for (u32 i = 0; i < RUNS; i++) {
            u32 number = first + i, left_out = number > 0 ? fillers : 0, begin = ~0u, end = ~0u;
            if (number >= D::MOST) break;
            shared.to_rest[number] = left_out - counted;
            if (number < distinct) {
                Key key = dictionary.in_order[number];
                begin = counted + rest_before(task.codec.encode(key), rest) - left_out;
                end = begin + counts[i];
                shared.keys[number] = key;
                counted += counts[i];
            }
            shared.begins[number] = begin;
            shared.ends[number] = end;
        }
        __syncthreads();
    }

    // How many of the rest have a lesser code.
    __device__ u32 rest_before(Key code, u32 rest) const {
        u32 before = 0;
        while (rest > 0) {
            u32 half = rest / 2;
            bool less = task.codec.encode(task.rest[before + half]) < code;
            before += less ? half + 1 : 0;
            rest = less ? rest - half - 1 : half;
        }
        return before;
    }

    // Places that do not fall: the run that ends next.
    struct Walk {
        const Weave& weave;
        u32 number = 0, begin, end, to_rest;
        Key key;

        __device__ Walk(const Weave& weave, u32 place) : weave(weave) {
#pragma unroll
            for (u32 step = D::MOST / 2; step > 0; step /= 2)
                if (weave.shared.ends[number + step - 1] <= place) number += step;
            take();
        }

        __device__ void take() {
            begin = weave.shared.begins[number];
            end = weave.shared.ends[number];
            to_rest = weave.shared.to_rest[number];
            key = weave.shared.keys[number];
        }

        __device__ Key key_at(u32 place) {
            while (place >= end) {
                number++;
                take();
            }
            return place >= begin ? key : weave.task.rest[place + to_rest];
        }

        // Mostly all of one kind.
        __device__ Vector vector_at(u32 place) {
            Vector vector;
            if (place >= begin && place + KEYS <= end) {
#pragma unroll
                for (u32 k = 0; k < KEYS; k++) vector.keys[k] = key;
            } else if (place + KEYS <= begin) {
                const Key* from = weave.task.rest + (place + to_rest);
#pragma unroll
                for (u32 k = 0; k < KEYS; k++) vector.keys[k] = from[k];
            } else {
#pragma unroll
                for (u32 k = 0; k < KEYS; k++) vector.keys[k] = key_at(place + k);
            }
            return vector;
        }
    };
};
