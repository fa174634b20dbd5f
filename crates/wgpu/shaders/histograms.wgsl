// How many keys have each digit, for all passes in one read.
//
//     states       those of move 0 are emptied
//     counts       each workgroup takes every so many stretches of keys, and counts in its memory
//     histograms   the workgroups' counts, added up

// Threads, and passes; other numbers are put in where shaders are made.
const THREADS: u32 = 256u;
const PASSES: u32 = 8u;
// Keys that a thread loads before it counts them.
const ITEMS: u32 = 8u;
const STRETCH: u32 = THREADS * ITEMS;

var<workgroup> counts: array<atomic<u32>, PASSES * RADIX>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(local_invocation_index) thread: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let n = number_of_keys();
    for (var i = group.x * THREADS + thread; i < task.tiles * RADIX; i += groups.x * THREADS) {
        atomicStore(&states[i], 0u);
    }
    for (var i = thread; i < PASSES * RADIX; i += THREADS) {
        atomicStore(&counts[i], 0u);
    }
    workgroupBarrier();

    for (var start = group.x * STRETCH; start < n; start += groups.x * STRETCH) {
        var key: array<Key, ITEMS>;
        for (var k = 0u; k < ITEMS; k++) {
            let i = start + k * THREADS + thread;
            if (i < n) {
                key[k] = keys_a[i];
            }
        }
        for (var k = 0u; k < ITEMS; k++) {
            if (start + k * THREADS + thread < n) {
                let code = code(key[k]);
                for (var p = 0u; p < PASSES; p++) {
                    atomicAdd(&counts[p * RADIX + digit(code, task.digits[p].xy)], 1u);
                }
            }
        }
        // So that start + STRETCH cannot pass the largest number.
        if (n - start <= groups.x * STRETCH) {
            break;
        }
    }
    workgroupBarrier();

    for (var i = thread; i < PASSES * RADIX; i += THREADS) {
        let count = atomicLoad(&counts[i]);
        if (count > 0u) {
            atomicAdd(&control[HISTOGRAMS + i], count);
        }
    }
}
