// Ranks within subgroups, by ballots.
//
// A team is a subgroup. It takes the keys of a tile one after the other, each thread one of them; the rank
// of a key is how many keys with its digit the team has taken before, plus how many threads below have one
// now. Threads are numbered subgroup by subgroup, whatever their numbers in the workgroup are.

var<private> thread: u32;
var<private> team: u32;
var<private> lane: u32;
var<private> team_size: u32;

var<workgroup> team_sums: array<u32, TEAMS>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) invocation: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    team = subgroup;
    lane = invocation;
    team_size = size;
    thread = subgroup * size + invocation;
    pass_over(group.y * groups.x + group.x);
}

// A key that its team has counted: how many with its digit came before, known to the leader of those that
// came with it; and that leader, with how many of these stand below times 256.
alias Counted = vec2<u32>;

// Counts a key of each thread.
fn count_key(digit: u32) -> Counted {
    var peers = ballot(true);
    for (var b = 0u; b < RADIX_BITS; b++) {
        let is_set = ((digit >> b) & 1u) != 0u;
        let votes = ballot(is_set);
        peers = select(peers & ~votes, peers & votes, vec_of(is_set));
    }
    let leader = lowest(peers);
    var before = 0u;
    if (lane == leader) {
        before = atomicAdd(&room[team * RADIX + digit], count(peers));
    }
    return Counted(before, leader | (count(peers & below(lane)) << 8u));
}

// The rank of a key among those of the same digit that the team has. Apart from the counting, so that nobody
// waits for one key's counter before the next key is counted.
fn rank(key: Counted) -> u32 {
    return subgroupShuffle(key.x, key.y & 0xffu) + (key.y >> 8u);
}

// The sum of `x` over the threads before this one, of those that are not idle; these are the first ones. The
// workgroup has to meet before the next one.
fn scan(x: u32) -> u32 {
    let sum = subgroupInclusiveAdd(x);
    if (lane == team_size - 1u) {
        team_sums[team] = sum;
    }
    workgroupBarrier();
    var before = 0u;
    for (var t = 0u; t < TEAMS; t++) {
        before += select(0u, team_sums[t], t < team);
    }
    return before + sum - x;
}
