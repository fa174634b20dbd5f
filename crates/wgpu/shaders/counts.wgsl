// How many keys of each digit each run of tiles has, in a move that takes its tiles in runs.
//
//     counts   a workgroup counts a run in its memory, and writes the run's row of states

@group(1) @binding(0) var<uniform> route: Route;

const THREADS: u32 = 256u;
// Keys that a thread loads before it counts them.
const ITEMS: u32 = 8u;
const STRETCH: u32 = THREADS * ITEMS;

var<workgroup> counts: array<atomic<u32>, RADIX>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(local_invocation_index) thread: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let run = group.y * groups.x + group.x;
    let n = route.n;
    let tiles = tiles_of(n);
    let keys = tiles_of_run(tiles) * TILE;
    let move_number = route.move_number;
    // The last row of a dispatch may be longer than the runs are, and what is no move have a dispatch.
    if (run >= runs_of(tiles) || move_number == LEFT_OUT) {
        return;
    }
    let side = side_of(move_number);
    let bits = task.digit;
    let first = run * keys;
    let held = min(n - first, keys);
    if (thread < RADIX) {
        atomicStore(&counts[thread], 0u);
    }
    workgroupBarrier();

    for (var start = 0u; start < held; start += STRETCH) {
        var key: array<Key, ITEMS>;
        for (var k = 0u; k < ITEMS; k++) {
            key[k] = load_key(side, first + min(start + k * THREADS + thread, held - 1u));
        }
        for (var k = 0u; k < ITEMS; k++) {
            if (start + k * THREADS + thread < held) {
                atomicAdd(&counts[digit(code(key[k]), bits)], 1u);
            }
        }
    }
    workgroupBarrier();

    if (thread < RADIX) {
        atomicStore(&states[run * RADIX + thread], atomicLoad(&counts[thread]));
    }
}
