// What every shader is told, and the memory that all of them share.
//
//     task       one for each pass, in a uniform buffer of the plan
//     keys       A: where they come from and, unless they are indexed, end up; B, C: the workspace
//     values     A: where they come from and end up, or the index; B: the workspace
//     control    words of the workspace, zero when a sort begins; see below
//     states     two buffers of RADIX words a tile: what look-back reads; moves take turns
//
// Passes whose digit is the same in all keys are left out; those that are not are moves, counted from 0.
// The number of moves is even, so that the last one ends at A: where it is not, one of the passes left out
// moves all the same.
//
//     move       reads        writes       reads, indexed   writes, indexed
//     0          A            B            A                B
//     1, 3, ...  B            A            B                C
//     2, 4, ...  A            B            C                B

const RADIX: u32 = 256u;
// Passes at most.
const PASSES: u32 = 8u;
// What ROUTES says of a pass that is no move.
const LEFT_OUT: u32 = 0xffffffffu;

// Words of `control`.
const COUNT: u32 = 0u; // the number of keys, where it comes from a buffer
const MOVES: u32 = 1u;
const ROUTES: u32 = 8u; // for each pass the number of its move
const TICKETS: u32 = 16u; // for each pass the tiles that have begun
const HISTOGRAMS: u32 = 64u; // for each pass the keys of each digit
const BEGINS: u32 = HISTOGRAMS + PASSES * RADIX; // for each pass where each digit's bucket begins

struct Task {
    // Keys; at most so many, where `counted`.
    n: u32,
    // Whether the number of keys is in `control`.
    counted: u32,
    // Of this pass.
    pass_number: u32,
    passes: u32,
    // Tiles of n keys: rows of a buffer of states.
    tiles: u32,
    // Workgroups of a dispatch in x.
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
    // For each pass its digit: the lowest bit, and the mask of as many bits as it has.
    digits: array<vec4<u32>, PASSES>,
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

fn number_of_keys() -> u32 {
    if (task.counted == 0u) {
        return task.n;
    }
    return min(task.n, atomicLoad(&control[COUNT]));
}
