// What every shader is told, and the memory that all of them share.
//
//     task       one for each pass, in a uniform buffer of the plan
//     keys       A: where they come from and, unless they are indexed, end up; B, C: the workspace
//     values     A: where they come from and end up, or the index; B: the workspace
//     control    words of the plan; see below
//     routes     of the plan: what each pass has to do; see Route
//     states     of the workspace: what tiles or runs of tiles know of their keys, RADIX words each
//
// Passes whose digit is the same in all keys are left out; those that are not are moves, counted from 0.
// The number of moves is even, so that the last one ends at A: where it is not, one of the passes left out
// moves all the same.
//
//     move       reads        writes       reads, indexed   writes, indexed
//     0          A            B            A                B
//     1, 3, ...  B            A            B                C
//     2, 4, ...  A            B            C                B

// Bits of a digit at most, and digits; other numbers are put in where shaders are made.
const RADIX_BITS: u32 = 8u;
const RADIX: u32 = 256u;
// Passes at most.
const MOST_PASSES: u32 = 16u;
// The move of a pass that is none.
const LEFT_OUT: u32 = 0xffffffffu;

// Words of `control`.
const COUNT: u32 = 0u; // the number of keys, where it comes from a buffer
const TICKETS: u32 = 32u; // for each pass the tiles that have begun
const HISTOGRAMS: u32 = 64u; // for each pass the keys of each digit; zero when a sort begins and ends
const BEGINS: u32 = 2112u; // for each pass where each digit's bucket begins

struct Task {
    // Keys; at most so many, where `counted`.
    n: u32,
    // Whether the number of keys is in `control`.
    counted: u32,
    // Of this pass.
    pass_number: u32,
    // From route to route, in rows of four words.
    route_rows: u32,
    // Tiles of n keys, if each has states: rows of one of the two buffers of states.
    tiles: u32,
    // Workgroups of a dispatch in x at most.
    most_groups: u32,
    // Whether NaNs tie and zeros tie.
    ties: u32,
    // Whether values are made: the keys' positions.
    indexed: u32,
    // The numbers of the codec, lower half first.
    flip: vec2<u32>,
    float_mask: vec2<u32>,
    rotate: vec2<u32>,
    infinity: vec2<u32>,
    // This pass's digit: the lowest bit, and the mask of as many bits as it has.
    digit: vec2<u32>,
    // The digits of all passes.
    digits: array<vec4<u32>, MOST_PASSES>,
}

// What a pass has to do; in two rows of four words, known once keys are counted.
struct Route {
    // The workgroups of an indirect dispatch.
    groups: vec3<u32>,
    // The number of its move.
    move_number: u32,
    // The moves of all passes.
    moves: u32,
    // The keys.
    n: u32,
}

@group(0) @binding(0) var<uniform> task: Task;
@group(0) @binding(1) var<storage, read_write> keys_a: array<Key>;
@group(0) @binding(2) var<storage, read_write> keys_b: array<Key>;
@group(0) @binding(3) var<storage, read_write> keys_c: array<Key>;
@group(0) @binding(4) var<storage, read_write> values_a: array<Value>;
@group(0) @binding(5) var<storage, read_write> values_b: array<Value>;
@group(0) @binding(6) var<storage, read_write> control: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> states: array<atomic<u32>>;

// Whether keys are not their own codes.
override CODED: bool = true;
// Keys of a tile.
override TILE: u32;

// The keys, for those who have no route yet.
fn number_of_keys() -> u32 {
    if (task.counted == 0u) {
        return task.n;
    }
    return min(task.n, atomicLoad(&control[COUNT]));
}

// Runs of tiles at most, where a workgroup takes a run; else each tile is one.
override RUNS: u32 = 0xffffffffu;

fn tiles_of(n: u32) -> u32 {
    return n / TILE + select(0u, 1u, n % TILE != 0u);
}

fn tiles_of_run(tiles: u32) -> u32 {
    return tiles / RUNS + select(0u, 1u, tiles % RUNS != 0u);
}

fn runs_of(tiles: u32) -> u32 {
    let each = max(tiles_of_run(tiles), 1u);
    return tiles / each + select(0u, 1u, tiles % each != 0u);
}

// Where a move reads and writes.
const A: u32 = 0u;
const B: u32 = 1u;
const C: u32 = 2u;

// Where a move reads.
fn side_of(move_number: u32) -> u32 {
    return select(select(A, C, task.indexed != 0u && move_number > 0u), B, move_number % 2u == 1u);
}

fn load_key(side: u32, i: u32) -> Key {
    if (side == A) {
        return keys_a[i];
    }
    if (side == B) {
        return keys_b[i];
    }
    return keys_c[i];
}
