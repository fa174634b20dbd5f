// How many keys of a digit the tiles before this one have.
//
// Each tile publishes, for each digit, a state: EMPTY, a COUNT of its own keys, or the SUM of its keys and
// those of all tiles before it. Flag and number are one word, so that nothing else need be in order. A tile
// adds up the counts of the tiles before it, back to the first one that has a sum.
//
// Nobody promises that a workgroup goes on while another waits for it. So a tile that stays EMPTY is counted
// by whoever waits, and its count published: a tile's keys do not change while it is read.

const EMPTY: u32 = 0u;
const IS_COUNT: u32 = 0x40000000u;
const IS_SUM: u32 = 0x80000000u;
const FLAGS: u32 = 0xc0000000u;

// Reads of an empty state before its tile is counted.
override PATIENCE: u32 = 1000u;
// For the tests: whether no tile publishes anything, so that each has to be counted.
override SILENT: bool = false;

var<workgroup> stuck: atomic<u32>;
var<workgroup> stuck_tile: u32;

// Only ever from empty to count to sum, whoever is first.
fn publish(row: u32, digit: u32, state: u32) {
    if (!SILENT) {
        atomicMax(&states[row * RADIX + digit], state);
    }
}

// The keys of `digit` in the tiles from `first` to before `row`, where those are rows of `states`. All
// threads call it, each with a digit of its own or a number beyond the digits.
fn look_back(first: u32, row: u32, digit: u32, side: u32, bits: vec2<u32>) -> u32 {
    var sum = 0u;
    // The tiles before this one are still to be added.
    var at = row;
    var done = digit >= RADIX || row == first;
    loop {
        var patience = PATIENCE;
        loop {
            if (done || patience == 0u) {
                break;
            }
            // The states of four tiles, read at once; beyond the first tile nobody looks.
            var state: array<u32, 4>;
            for (var k = 0u; k < 4u; k++) {
                let tile = max(at, first + 1u + k) - 1u - k;
                state[k] = atomicLoad(&states[tile * RADIX + digit]);
            }
            patience -= 1u;
            // One that is empty is read again, with those before it.
            var open = true;
            for (var k = 0u; k < 4u; k++) {
                open = open && !done && (state[k] & FLAGS) != EMPTY;
                if (open) {
                    sum += state[k] & ~FLAGS;
                    at -= 1u;
                    patience = PATIENCE;
                    done = (state[k] & FLAGS) == IS_SUM;
                }
            }
        }
        if (!done) {
            atomicMax(&stuck, at);
        }
        workgroupBarrier();
        if (thread == 0u) {
            stuck_tile = atomicExchange(&stuck, 0u);
        }
        let before = workgroupUniformLoad(&stuck_tile);
        if (before == 0u) {
            break;
        }
        recount(first, before - 1u, side, bits);
    }
    return sum;
}

// Counts the keys of a tile that somebody waits for. It has a tile after it, so it is full.
fn recount(first: u32, row: u32, side: u32, bits: vec2<u32>) {
    for (var d = thread; d < RADIX; d += THREADS) {
        atomicStore(&bases[d], 0u);
    }
    workgroupBarrier();
    let start = (row - first) * TILE;
    for (var i = thread; i < TILE; i += THREADS) {
        atomicAdd(&bases[digit(code(load_key(side, start + i)), bits)], 1u);
    }
    workgroupBarrier();
    let flag = select(IS_COUNT, IS_SUM, row == first);
    for (var d = thread; d < RADIX; d += THREADS) {
        atomicMax(&states[row * RADIX + d], flag | atomicLoad(&bases[d]));
    }
    storageBarrier();
    workgroupBarrier();
}
