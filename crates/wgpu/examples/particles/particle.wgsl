// What the other shaders share. The camera is at the origin and looks along z; y points up.

struct Particle {
    place: vec3<f32>,
    radius: f32,
    colour: vec4<f32>,
}

// Threads of a workgroup.
const THREADS: u32 = 256u;
