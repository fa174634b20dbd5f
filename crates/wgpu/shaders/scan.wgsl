// Where each run's first key of each digit goes. A workgroup for each digit.
//
//     scan   exclusive, over the runs' counts of the digit; begins where the digit's bucket does

@group(1) @binding(0) var<uniform> route: Route;

const THREADS: u32 = 256u;

var<workgroup> sums: array<u32, 2 * THREADS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(local_invocation_index) thread: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let digit = group.y * groups.x + group.x;
    // The last row of the dispatch may be longer than the digits are.
    if (digit >= RADIX || route.move_number == LEFT_OUT) {
        return;
    }
    let runs = runs_of(tiles_of(route.n));
    let each = (runs + THREADS - 1u) / THREADS;
    let first = min(thread * each, runs);
    let end = min(first + each, runs);
    var all = 0u;
    for (var run = first; run < end; run++) {
        all += atomicLoad(&states[run * RADIX + digit]);
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
    var at = sums[side + thread] - all + atomicLoad(&control[BEGINS + task.pass_number * RADIX + digit]);
    for (var run = first; run < end; run++) {
        at += atomicExchange(&states[run * RADIX + digit], at);
    }
}
