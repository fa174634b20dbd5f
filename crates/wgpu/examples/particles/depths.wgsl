// What there is to sort: depth and number of each particle in front of the camera, in whatever order threads
// come. How many there are is counted where the draw call will look for it.

@group(0) @binding(0) var<storage, read> particles: array<Particle>;
@group(0) @binding(1) var<storage, read_write> depths: array<f32>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> draw: Draw;

// The arguments of an indirect draw call.
struct Draw {
    vertices: u32,
    instances: atomic<u32>,
    first_vertex: u32,
    first_instance: u32,
}

// What is nearer is not drawn.
override NEAR: f32;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&particles)) {
        return;
    }
    let depth = particles[id.x].place.z;
    if (depth > NEAR) {
        let i = atomicAdd(&draw.instances, 1u);
        depths[i] = depth;
        order[i] = id.x;
    }
}
