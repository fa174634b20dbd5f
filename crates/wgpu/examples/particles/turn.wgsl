// A frame's motion: each particle turns about the axis of its galaxy, the inner ones faster.

@group(0) @binding(0) var<storage, read_write> particles: array<Particle>;

override CENTRE_Y: f32;
override CENTRE_Z: f32;
override TILT: f32;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&particles)) {
        return;
    }
    let centre = vec3<f32>(0.0, CENTRE_Y, CENTRE_Z);
    let axis = vec3<f32>(0.0, cos(TILT), -sin(TILT));
    let offset = particles[id.x].place - centre;
    let angle = 0.02 / (0.2 + length(offset));
    // Rodrigues' formula.
    let along = axis * dot(axis, offset);
    let turned = along + (offset - along) * cos(angle) + cross(axis, offset) * sin(angle);
    particles[id.x].place = centre + turned;
}
