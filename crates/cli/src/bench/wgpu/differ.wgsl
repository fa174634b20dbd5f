// Where an output first differs from what it is to be: its place, or 2^32 - 1.

@group(0) @binding(0) var<storage, read> expected: array<u32>;
@group(0) @binding(1) var<storage, read> sorted: array<u32>;
@group(0) @binding(2) var<storage, read_write> first: atomic<u32>;

@compute @workgroup_size(256)
fn main(
    @builtin(global_invocation_id) thread: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let words = arrayLength(&expected);
    for (var i = thread.x; i < words; i += 256u * groups.x) {
        if (expected[i] != sorted[i]) {
            atomicMin(&first, i);
        }
    }
}
