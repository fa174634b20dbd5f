// Where each digit's bucket begins, and what each pass has to do. One workgroup.
//
//     begins     exclusive scan of each pass's histogram
//     constant   a digit with a count of n: all keys agree in it
//     routes     passes over constant digits are left out, the others numbered; and how many workgroups the
//                dispatch of each has
//
// Every histogram adds up to n. So all of them are scanned as one, and n taken off for each pass before. They
// are left empty, for the next sort.

// For each pass a Route.
@group(1) @binding(0) var<storage, read_write> routes: array<vec4<u32>>;

const THREADS: u32 = 256u;
// Passes, and counts of a thread; other numbers are put in where shaders are made.
const PASSES: u32 = 8u;
const ITEMS: u32 = 8u;

var<workgroup> sums: array<u32, 2 * THREADS>;
// A bit for each pass.
var<workgroup> constant: atomic<u32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) thread: u32) {
    let n = number_of_keys();
    let first = thread * ITEMS;
    var count: array<u32, ITEMS>;
    for (var k = 0u; k < ITEMS; k++) {
        if (first + k < PASSES * RADIX) {
            count[k] = atomicLoad(&control[HISTOGRAMS + first + k]);
            atomicStore(&control[HISTOGRAMS + first + k], 0u);
        }
    }
    if (thread < PASSES) {
        atomicStore(&control[TICKETS + thread], 0u);
    }
    if (thread == 0u) {
        atomicStore(&constant, 0u);
    }
    workgroupBarrier();

    var all = 0u;
    for (var k = 0u; k < ITEMS; k++) {
        all += count[k];
        if (first + k < PASSES * RADIX && count[k] == n) {
            atomicOr(&constant, 1u << ((first + k) / RADIX));
        }
    }
    sums[thread] = all;
    var side = 0u;
    for (var reach = 1u; reach < THREADS; reach *= 2u) {
        workgroupBarrier();
        var sum = sums[side + thread];
        if (thread >= reach) {
            sum += sums[side + thread - reach];
        }
        side = THREADS - side;
        sums[side + thread] = sum;
    }
    var before = sums[side + thread] - all;
    for (var k = 0u; k < ITEMS; k++) {
        if (first + k < PASSES * RADIX) {
            atomicStore(&control[BEGINS + first + k], before - (first + k) / RADIX * n);
            before += count[k];
        }
    }
    workgroupBarrier();

    if (thread == 0u) {
        let left_out = atomicLoad(&constant);
        let moves = PASSES - countOneBits(left_out);
        // An index is made by the first move.
        let least = select(0u, 2u, task.indexed != 0u);
        let all_moves = max(moves + moves % 2u, least);
        var more = all_moves - moves;
        let runs = runs_of(tiles_of(n));
        let across = min(runs, task.most_groups);
        let down = select(0u, (runs + across - 1u) / max(across, 1u), across > 0u);
        var number = 0u;
        for (var p = 0u; p < PASSES; p++) {
            let is_constant = ((left_out >> p) & 1u) != 0u;
            let is_move = !is_constant || more > 0u;
            more -= select(0u, 1u, is_constant && is_move);
            let route = p * task.route_rows;
            routes[route] = select(vec4(0u, 0u, 0u, LEFT_OUT), vec4(across, down, 1u, number), is_move);
            routes[route + 1u] = vec4(all_moves, n, 0u, 0u);
            number += select(0u, 1u, is_move);
        }
    }
}
