// Looking back by leaps, where all tiles are at the same place at the same time: then nobody has a sum for long.
//
// A state has the keys of a tile and of some just before it; the upper bits say how many tiles these are, for
// which there is room since the keys are few. A tile that has looked back some way publishes that, and those after
// it leap as far. So ten rounds bring the last of a thousand tiles to the first.

// Bits of a number of keys; those above are for tiles.
const NUMBER_BITS: u32 = 22u;
const NUMBER: u32 = (1u << NUMBER_BITS) - 1u;

// The state of the tile just before those that were looked at.
alias Told = u32;

fn state_with(tiles: u32, keys: u32) -> u32 {
    return (tiles << NUMBER_BITS) | keys;
}

// What a tile knows by its own keys.
fn own_state(tile: u32, count: u32) -> u32 {
    return state_with(1u, count);
}

// What it knows in the end.
fn whole_state(tile: u32, sum: u32) -> u32 {
    return state_with(tile + 1u, sum);
}

// The last of the first `at` tiles; of none, nobody looks.
fn states_before(at: u32, digit: u32) -> Told {
    return state_of(max(at, 1u) - 1u, digit);
}

// Adds what was read; publishes that, and reads what is before it.
fn look_further(look: ptr<function, Look>, tile: u32, digit: u32, count: u32) {
    let tiles = (*look).states >> NUMBER_BITS;
    (*look).sum += (*look).states & NUMBER;
    (*look).at -= tiles;
    if ((*look).at > 0u) {
        if (tiles > 0u) {
            publish(tile, digit, state_with(tile + 1u - (*look).at, (*look).sum + count));
        }
        (*look).states = states_before((*look).at, digit);
    }
}
