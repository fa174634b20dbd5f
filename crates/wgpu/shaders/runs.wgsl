// Where a tile's keys go, for a workgroup that takes a run of tiles, one after the other.
//
// How many keys the runs before have was counted and scanned before the pass; see counts.wgsl and scan.wgsl. So
// nobody waits for anybody: a run's row of states says where its next key with each digit goes.

var<private> row: u32;

// The workgroup with this number in its dispatch moves a run.
fn pass_over(run: u32) {
    let move_number = route.move_number;
    let n = route.n;
    // What is no move may have a dispatch.
    if (move_number == LEFT_OUT) {
        return;
    }
    row = run;
    let tiles = tiles_of(n);
    let each = tiles_of_run(tiles);
    // The last row of a dispatch may be longer than the runs are.
    for (var i = 0u; i < each && run * each + i < tiles; i++) {
        move_tile(run * each + i, move_number, n);
        workgroupBarrier();
    }
}

// Nothing need be asked for.
alias Told = u32;

fn tell_count(tile: u32, digit: u32, count: u32) {}

fn ask(tile: u32, digit: u32) -> Told {
    return 0u;
}

// Where the tile's first key with the digit goes, whatever else is in the tile.
fn base_of(told: Told, tile: u32, digit: u32, count: u32, side: u32, bits: vec2<u32>) -> u32 {
    // All have taken their keys from the room.
    workgroupBarrier();
    if (digit >= RADIX) {
        return 0u;
    }
    return atomicAdd(&states[row * RADIX + digit], count);
}

fn leave(tile: u32, move_number: u32) {}
