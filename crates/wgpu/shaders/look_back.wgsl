// Where a tile's keys go, by looking back at the tiles before. A workgroup takes one tile.
//
//     ticket       tiles are taken in order of arrival, so that the tiles before have begun; where workgroups
//                  begin in the order of their numbers anyway, the number does
//     look back    the keys of each digit in the tiles before
//
// There are two buffers of states; moves take turns with them, and each empties the other one's.
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

// Whether workgroups begin in any order, so that each has to take a ticket.
override TICKETED: bool;
// Whether the states of the tiles just before are read ahead of time.
override AHEAD: bool;

var<workgroup> ticket: u32;
var<workgroup> route: u32;
var<workgroup> stuck: atomic<u32>;
var<workgroup> stuck_tile: u32;

// The first row of this move's states.
var<private> first: u32;

// The workgroup with this number in its dispatch moves a tile.
fn pass_over(arrival: u32) {
    let number = task.pass_number;
    let n = number_of_keys();
    if (thread == 0u) {
        atomicStore(&stuck, 0u);
        ticket = arrival;
        if (TICKETED) {
            ticket = atomicAdd(&control[TICKETS + number], 1u);
        }
        route = atomicLoad(&control[ROUTES + number]);
    }
    empty_counters();
    let tile = workgroupUniformLoad(&ticket);
    let move_number = workgroupUniformLoad(&route);
    // The last row of a dispatch may be longer than the tiles are.
    if (tile < tiles_of(n)) {
        first = select(0u, task.tiles, move_number % 2u == 1u);
        move_tile(tile, number, move_number, n);
    }
}

// The states of the four tiles before one, which are added from the nearest on.
alias Told = vec4<u32>;

// Those before `row`, read at once; beyond the first tile nobody looks.
fn states_before(row: u32, digit: u32) -> Told {
    var state: Told;
    for (var k = 0u; k < 4u; k++) {
        let tile = max(row, first + 1u + k) - 1u - k;
        state[k] = atomicLoad(&states[tile * RADIX + digit]);
    }
    return state;
}

fn tell_count(tile: u32, digit: u32, count: u32) {
    publish(first + tile, digit, select(IS_COUNT, IS_SUM, tile == 0u) | count);
}

fn ask(tile: u32, digit: u32) -> Told {
    if (AHEAD && digit < RADIX) {
        return states_before(first + tile, digit);
    }
    return Told();
}

// Where the tile's first key with the digit goes, whatever else is in the tile.
fn base_of(told: Told, tile: u32, number: u32, digit: u32, count: u32, side: u32, bits: vec2<u32>) -> u32 {
    let begin = atomicLoad(&control[BEGINS + number * RADIX + min(digit, RADIX - 1u)]);
    let before = look_back(told, first + tile, digit, side, bits);
    if (digit < RADIX) {
        publish(first + tile, digit, IS_SUM | (before + count));
    }
    return begin + before;
}

// The tile's states of the next move are emptied, now that nobody waits for it.
fn leave(tile: u32, move_number: u32) {
    let row = select(task.tiles, 0u, move_number % 2u == 1u) + tile;
    for (var d = thread; d < RADIX; d += THREADS) {
        atomicStore(&states[row * RADIX + d], 0u);
    }
}

// Only ever from empty to count to sum, whoever is first.
fn publish(row: u32, digit: u32, state: u32) {
    if (!SILENT) {
        atomicMax(&states[row * RADIX + digit], state);
    }
}

// The keys of `digit` in the tiles before the one with this row of `states`. All threads call it, each with a
// digit of its own or a number beyond the digits.
fn look_back(told: Told, row: u32, digit: u32, side: u32, bits: vec2<u32>) -> u32 {
    var state = told;
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
            if (!done) {
                state = states_before(at, digit);
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
        recount(before - 1u, side, bits);
    }
    return sum;
}

// Counts the keys of a tile that somebody waits for. It has a tile after it, so it is full.
fn recount(row: u32, side: u32, bits: vec2<u32>) {
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
