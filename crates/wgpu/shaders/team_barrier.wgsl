// Ranks within teams of 32 threads of a workgroup, without subgroups.
//
// As team_subgroup.wgsl, but a ballot is a word in workgroup memory for each team and digit, behind the
// counters, in which every thread sets its bit, between barriers.

const TEAM_SIZE: u32 = 32u;

var<private> thread: u32;
var<private> team: u32;
var<private> lane: u32;
var<private> team_size: u32 = TEAM_SIZE;

// Sums of threads, before and after a step.
var<workgroup> sums: array<array<u32, 2>, THREADS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(local_invocation_index) invocation: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    thread = invocation;
    team = invocation / TEAM_SIZE;
    lane = invocation % TEAM_SIZE;
    pass_over(group.y * groups.x + group.x);
}

// A key's rank among those of the same digit that its team has had.
alias Counted = u32;

// Counts a key of each thread.
fn count_key(digit: u32) -> Counted {
    let place = team * RADIX + digit;
    atomicOr(&room[TEAM_DIGITS + place], 1u << lane);
    workgroupBarrier();
    let peers = atomicLoad(&room[TEAM_DIGITS + place]);
    let before = atomicLoad(&room[place]);
    workgroupBarrier();
    let leader = firstTrailingBit(peers);
    if (lane == leader) {
        atomicStore(&room[place], before + countOneBits(peers));
        atomicStore(&room[TEAM_DIGITS + place], 0u);
    }
    workgroupBarrier();
    return before + countOneBits(peers & ((1u << lane) - 1u));
}

fn rank(key: Counted) -> u32 {
    return key;
}

// The sum of `x` over the threads before this one. The workgroup has to meet before the next one.
fn scan(x: u32) -> u32 {
    sums[thread][0] = x;
    var side = 0u;
    for (var reach = 1u; reach < THREADS; reach *= 2u) {
        workgroupBarrier();
        var sum = sums[thread][side];
        if (thread >= reach) {
            sum += sums[thread - reach][side];
        }
        side = 1u - side;
        sums[thread][side] = sum;
    }
    return sums[thread][side] - x;
}
