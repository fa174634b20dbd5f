// Looking back step by step, where most tiles before have their sum already.
//
// A state is a COUNT of the tile's own keys, or the SUM of its keys and those of all tiles before it. Two bits say
// which, and 30 are the number.

const IS_COUNT: u32 = 0x40000000u;
const IS_SUM: u32 = 0x80000000u;
const FLAGS: u32 = 0xc0000000u;

// The states of the four tiles just before those that were looked at, from the nearest on.
alias Told = vec4<u32>;

// What a tile knows by its own keys.
fn own_state(tile: u32, count: u32) -> u32 {
    return select(IS_COUNT, IS_SUM, tile == 0u) | count;
}

// What it knows in the end.
fn whole_state(tile: u32, sum: u32) -> u32 {
    return IS_SUM | sum;
}

// The last of the first `at` tiles, read at once; beyond the first tile nobody looks.
fn states_before(at: u32, digit: u32) -> Told {
    var state: Told;
    for (var k = 0u; k < 4u; k++) {
        state[k] = state_of(max(at, 1u + k) - 1u - k, digit);
    }
    return state;
}

// Adds what was read, as far as it goes, and reads further.
fn look_further(look: ptr<function, Look>, tile: u32, digit: u32, count: u32) {
    let state = (*look).states;
    var open = true;
    var steps = 0u;
    var sum = 0u;
    for (var k = 0u; k < 4u; k++) {
        // Behind one that is empty nothing is added.
        let flag = state[k] & FLAGS;
        let taken = open && flag != 0u;
        sum += select(0u, state[k] & ~FLAGS, taken);
        steps = select(steps, select(k + 1u, (*look).at, flag == IS_SUM), taken);
        open = taken && flag == IS_COUNT;
    }
    (*look).sum += sum;
    (*look).at -= steps;
    if ((*look).at > 0u) {
        (*look).states = states_before((*look).at, digit);
    }
}
