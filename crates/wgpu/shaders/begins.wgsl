// Where each digit's bucket begins, and what each pass has to do. A workgroup for each pass.
//
//     begins     exclusive scan of the pass's histogram
//     constant   a digit with a count of n: all keys agree in it
//     routes     the first workgroup: passes over constant digits are left out, the others numbered
//     groups     and how many workgroups the dispatch of each pass has: none, or one for each tile

// For each pass the three numbers of an indirect dispatch.
@group(1) @binding(0) var<storage, read_write> groups: array<u32>;

// Keys of a tile.
override TILE: u32;

const THREADS: u32 = RADIX;

var<workgroup> sums: array<u32, 2 * RADIX>;
var<workgroup> constant: array<atomic<u32>, PASSES>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(local_invocation_index) thread: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let n = number_of_keys();
    let count = atomicLoad(&control[HISTOGRAMS + group.x * RADIX + thread]);
    var counts: array<u32, PASSES>;
    for (var p = 0u; p < PASSES; p++) {
        counts[p] = atomicLoad(&control[HISTOGRAMS + p * RADIX + thread]);
    }
    if (thread < PASSES) {
        atomicStore(&constant[thread], 0u);
    }
    workgroupBarrier();
    for (var p = 0u; p < PASSES; p++) {
        if (counts[p] == n) {
            atomicStore(&constant[p], 1u);
        }
    }

    sums[thread] = count;
    var side = 0u;
    for (var reach = 1u; reach < RADIX; reach *= 2u) {
        workgroupBarrier();
        var sum = sums[side + thread];
        if (thread >= reach) {
            sum += sums[side + thread - reach];
        }
        side = RADIX - side;
        sums[side + thread] = sum;
    }
    atomicStore(&control[BEGINS + group.x * RADIX + thread], sums[side + thread] - count);
    workgroupBarrier();

    if (group.x == 0u && thread == 0u) {
        var moves = 0u;
        for (var p = 0u; p < task.passes; p++) {
            moves += 1u - atomicLoad(&constant[p]);
        }
        // An index is made by the first move.
        let least = select(0u, 2u, task.indexed != 0u);
        var more = max(moves + moves % 2u, least) - moves;
        let tiles = n / TILE + select(0u, 1u, n % TILE != 0u);
        let across = min(tiles, task.most_groups);
        let down = select(0u, (tiles + across - 1u) / max(across, 1u), across > 0u);
        var number = 0u;
        for (var p = 0u; p < task.passes; p++) {
            let wanted = more > 0u;
            let is_move = atomicLoad(&constant[p]) == 0u || wanted;
            if (atomicLoad(&constant[p]) != 0u && wanted) {
                more -= 1u;
            }
            atomicStore(&control[ROUTES + p], select(LEFT_OUT, number, is_move));
            groups[3u * p] = select(0u, across, is_move);
            groups[3u * p + 1u] = select(0u, down, is_move);
            groups[3u * p + 2u] = 1u;
            number += select(0u, 1u, is_move);
        }
        atomicStore(&control[MOVES], number);
    }
}
