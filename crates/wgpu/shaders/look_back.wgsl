// Where a tile's keys go, by looking back at the tiles before. A workgroup takes one tile.
//
//     ticket       tiles are taken in order of arrival, so that the tiles before have begun; where workgroups
//                  begin in the order of their numbers anyway, the number does
//     look back    the keys of each digit in the tiles before; steps.wgsl or leaps.wgsl say what a state is
//
// There are two buffers of states; moves take turns with them, and each empties the other one's.
//
// Each tile publishes, for each digit, a state: how many of its keys have it, in the end how many of its keys and
// those of all tiles before. Which of these it is and the number are one word, so that nothing else need be in
// order; 0 is an empty state. A tile adds up the states of the tiles before it, back to the first.
//
// Nobody promises that a workgroup goes on while another waits for it. So a tile that stays empty is counted by
// whoever waits, and its count published: a tile's keys do not change while it is read.

// Reads of an empty state before its tile is counted.
override PATIENCE: u32 = 1000u;
// For the tests: whether no tile publishes anything, so that each has to be counted.
override SILENT: bool = false;
// Whether workgroups begin in any order, so that each has to take a ticket.
override TICKETED: bool;
// Whether states are read ahead of time.
override AHEAD: bool;

var<workgroup> ticket: u32;
var<workgroup> stuck: atomic<u32>;

// The first row of this move's states.
var<private> first: u32;

// How far a thread has looked back.
struct Look {
    // What was read and is still to be added.
    states: Told,
    // The keys of the tiles looked at, and how many tiles there are before these.
    sum: u32,
    at: u32,
}

// The workgroup with this number in its dispatch moves a tile.
fn pass_over(arrival: u32) {
    let move_number = route.move_number;
    let n = route.n;
    var tile = arrival;
    if (thread == 0u) {
        atomicStore(&stuck, 0u);
    }
    if (TICKETED) {
        if (thread == 0u) {
            ticket = atomicAdd(&control[TICKETS + task.pass_number], 1u);
        }
        tile = workgroupUniformLoad(&ticket);
    }
    // The last row of a dispatch may be longer than the tiles are, and what is no move have a dispatch.
    if (tile < tiles_of(n) && move_number != LEFT_OUT) {
        first = select(0u, task.tiles, move_number % 2u == 1u);
        move_tile(tile, move_number, n);
    }
}

fn tell_count(tile: u32, digit: u32, count: u32) {
    publish(tile, digit, own_state(tile, count));
}

fn ask(tile: u32, digit: u32) -> Told {
    if (AHEAD && digit < RADIX) {
        return states_before(tile, digit);
    }
    return Told();
}

// Where the tile's first key with the digit goes, whatever else is in the tile.
fn base_of(told: Told, tile: u32, digit: u32, count: u32, side: u32, bits: vec2<u32>) -> u32 {
    let begin = atomicLoad(&control[BEGINS + task.pass_number * RADIX + min(digit, RADIX - 1u)]);
    let before = look_back(told, tile, digit, count, side, bits);
    if (digit < RADIX) {
        publish(tile, digit, whole_state(tile, before + count));
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

// The state of a tile.
fn state_of(tile: u32, digit: u32) -> u32 {
    return atomicLoad(&states[(first + tile) * RADIX + digit]);
}

// A state only ever rises, and all who publish the same have counted the same keys: whoever is first.
fn publish(tile: u32, digit: u32, state: u32) {
    if (!SILENT) {
        atomicMax(&states[(first + tile) * RADIX + digit], state);
    }
}

// The keys of `digit` in the tiles before this one, which has `count` of them. All threads call it, each with a
// digit of its own or a number beyond the digits.
fn look_back(told: Told, tile: u32, digit: u32, count: u32, side: u32, bits: vec2<u32>) -> u32 {
    var look = Look(told, 0u, select(tile, 0u, digit >= RADIX));
    loop {
        var patience = PATIENCE;
        loop {
            if (look.at == 0u || patience == 0u) {
                break;
            }
            // One that is empty is read again, with those before it.
            let at = look.at;
            look_further(&look, tile, digit, count);
            patience = select(patience - 1u, PATIENCE, look.at < at);
        }
        if (look.at > 0u) {
            atomicMax(&stuck, look.at);
        }
        let before = workgroupUniformLoad(&stuck);
        if (before == 0u) {
            break;
        }
        if (thread == 0u) {
            atomicStore(&stuck, 0u);
        }
        recount(before - 1u, side, bits);
    }
    return look.sum;
}

// Counts the keys of a tile that somebody waits for, in the room that the ordered tile has left. It has a tile
// after it, so it is full.
fn recount(tile: u32, side: u32, bits: vec2<u32>) {
    for (var d = thread; d < RADIX; d += THREADS) {
        atomicStore(&room[d], 0u);
    }
    workgroupBarrier();
    for (var i = thread; i < TILE; i += THREADS) {
        atomicAdd(&room[digit(code(load_key(side, tile * TILE + i)), bits)], 1u);
    }
    workgroupBarrier();
    for (var d = thread; d < RADIX; d += THREADS) {
        atomicMax(&states[(first + tile) * RADIX + d], own_state(tile, atomicLoad(&room[d])));
    }
    storageBarrier();
    workgroupBarrier();
}
