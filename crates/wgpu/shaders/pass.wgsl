// A pass: the keys, and their values, moved to the buckets of a digit, in their order.
//
//     load         a tile of keys, team by team
//     rank         each key among those of its digit that its team has
//     count        the tile's keys of each digit, and where they begin within the tile
//     order        the tile's keys in workgroup memory
//     base         where each digit's keys go: look_back.wgsl, or runs.wgsl
//     scatter      neighbours in the ordered tile go to neighbours in memory
//     values       the same way

@group(1) @binding(0) var<uniform> route: Route;

override THREADS: u32;
// Words for the digits of all teams, and all that the teams have.
override TEAM_DIGITS: u32;
override TEAM_WORDS: u32;
// Words of workgroup memory that both the teams' counters and the ordered tile have room in.
override ROOM: u32;
// Whether values travel.
override VALUES: bool;

// Keys of a thread, digits of a thread, teams that a workgroup can have at most, and words of a value; other
// numbers are put in where shaders are made. THREADS * ITEMS keys are a tile.
const ITEMS: u32 = 4u;
const SHARES: u32 = 4u;
const TEAMS: u32 = 2u;
const VALUE_WORDS: u32 = 1u;

// For each team the keys of each digit, then where they begin; then the tile in order; then, once everybody has
// taken their keys from that, for each digit where the tile's first key with it goes, less its place in the
// ordered tile.
var<workgroup> room: array<atomic<u32>, ROOM>;
// The keys of the digits before those that the threads have now.
var<workgroup> carry: u32;

// Moves a tile of n keys.
fn move_tile(tile: u32, move_number: u32, n: u32) {
    let bits = task.digit;
    let odd = move_number % 2u == 1u;
    let indexed = task.indexed != 0u;
    let start = tile * TILE;
    let held = min(n - start, TILE);

    // load
    let source = side_of(move_number);
    let mine = team * team_size * ITEMS + lane;
    var key: array<Key, ITEMS>;
    if (source == A) {
        for (var k = 0u; k < ITEMS; k++) {
            key[k] = keys_a[start + min(mine + k * team_size, held - 1u)];
        }
    } else if (source == B) {
        for (var k = 0u; k < ITEMS; k++) {
            key[k] = keys_b[start + min(mine + k * team_size, held - 1u)];
        }
    } else {
        for (var k = 0u; k < ITEMS; k++) {
            key[k] = keys_c[start + min(mine + k * team_size, held - 1u)];
        }
    }

    // rank, from empty counters on; what is beyond the last key ranks behind all keys
    for (var i = thread; i < TEAM_WORDS; i += THREADS) {
        atomicStore(&room[i], 0u);
    }
    workgroupBarrier();
    var place: array<u32, ITEMS>;
    var counted: array<Counted, ITEMS>;
    for (var k = 0u; k < ITEMS; k++) {
        let digit = select(RADIX - 1u, digit(code(key[k]), bits), mine + k * team_size < held);
        counted[k] = count_key(digit);
        place[k] = digit << 16u;
    }
    for (var k = 0u; k < ITEMS; k++) {
        place[k] |= rank(counted[k]);
    }
    workgroupBarrier();

    // count
    var tile_count: array<u32, SHARES>;
    var tile_begin: array<u32, SHARES>;
    var carried = 0u;
    for (var c = 0u; c < SHARES; c++) {
        let d = c * THREADS + thread;
        tile_count[c] = 0u;
        var team_begin: array<u32, TEAMS>;
        if (d < RADIX) {
            for (var t = 0u; t < TEAMS; t++) {
                team_begin[t] = tile_count[c];
                tile_count[c] += atomicLoad(&room[t * RADIX + d]);
            }
            tell_count(tile, d, tile_count[c]);
        }
        tile_begin[c] = carried + scan(tile_count[c]);
        if (d < RADIX) {
            for (var t = 0u; t < TEAMS; t++) {
                atomicStore(&room[t * RADIX + d], tile_begin[c] + team_begin[t]);
            }
        }
        if (c + 1u < SHARES) {
            if (thread == THREADS - 1u) {
                carry = tile_begin[c] + tile_count[c];
            }
            carried = workgroupUniformLoad(&carry);
        }
    }
    workgroupBarrier();

    // order; meanwhile comes what the tiles before have told
    var told: array<Told, SHARES>;
    for (var c = 0u; c < SHARES; c++) {
        told[c] = ask(tile, c * THREADS + thread);
    }
    for (var k = 0u; k < ITEMS; k++) {
        let digit = place[k] >> 16u;
        place[k] = (place[k] & 0xffffu) + atomicLoad(&room[team * RADIX + digit]);
    }
    workgroupBarrier();
    for (var k = 0u; k < ITEMS; k++) {
        stage_key(place[k], key[k]);
    }
    workgroupBarrier();
    for (var k = 0u; k < ITEMS; k++) {
        key[k] = staged_key(k * THREADS + thread);
    }

    // base
    var base: array<u32, SHARES>;
    for (var c = 0u; c < SHARES; c++) {
        base[c] = base_of(told[c], tile, c * THREADS + thread, tile_count[c], source, bits) - tile_begin[c];
    }
    for (var c = 0u; c < SHARES; c++) {
        if (c * THREADS + thread < RADIX) {
            atomicStore(&room[c * THREADS + thread], base[c]);
        }
    }
    workgroupBarrier();

    // scatter
    var place_to: array<u32, ITEMS>;
    for (var k = 0u; k < ITEMS; k++) {
        place_to[k] = atomicLoad(&room[digit(code(key[k]), bits)]) + k * THREADS + thread;
    }
    if (!odd) {
        for (var k = 0u; k < ITEMS; k++) {
            if (k * THREADS + thread < held) {
                keys_b[place_to[k]] = key[k];
            }
        }
    } else if (!indexed) {
        for (var k = 0u; k < ITEMS; k++) {
            if (k * THREADS + thread < held) {
                keys_a[place_to[k]] = key[k];
            }
        }
    } else if (move_number + 1u < route.moves) {
        for (var k = 0u; k < ITEMS; k++) {
            if (k * THREADS + thread < held) {
                keys_c[place_to[k]] = key[k];
            }
        }
    }

    leave(tile, move_number);

    // values
    if (VALUES) {
        var value: array<Value, ITEMS>;
        if (indexed && move_number == 0u) {
            for (var k = 0u; k < ITEMS; k++) {
                value[k][0] = start + mine + k * team_size;
            }
        } else if (odd) {
            for (var k = 0u; k < ITEMS; k++) {
                value[k] = values_b[start + min(mine + k * team_size, held - 1u)];
            }
        } else {
            for (var k = 0u; k < ITEMS; k++) {
                value[k] = values_a[start + min(mine + k * team_size, held - 1u)];
            }
        }
        for (var w = 0u; w < VALUE_WORDS; w++) {
            workgroupBarrier();
            for (var k = 0u; k < ITEMS; k++) {
                atomicStore(&room[place[k]], value[k][w]);
            }
            workgroupBarrier();
            for (var k = 0u; k < ITEMS; k++) {
                value[k][w] = atomicLoad(&room[k * THREADS + thread]);
            }
        }
        if (odd) {
            for (var k = 0u; k < ITEMS; k++) {
                if (k * THREADS + thread < held) {
                    values_a[place_to[k]] = value[k];
                }
            }
        } else {
            for (var k = 0u; k < ITEMS; k++) {
                if (k * THREADS + thread < held) {
                    values_b[place_to[k]] = value[k];
                }
            }
        }
    }
}
