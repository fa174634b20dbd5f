// A quad for each particle, in the order that the sort has left: a disc that fades towards its rim.

@group(0) @binding(0) var<storage, read> particles: array<Particle>;
@group(0) @binding(1) var<storage, read> order: array<u32>;

// Width over height of the picture.
override ASPECT: f32;

struct Corner {
    @builtin(position) position: vec4<f32>,
    // From the particle's centre, in radii.
    @location(0) offset: vec2<f32>,
    @location(1) colour: vec4<f32>,
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Corner {
    let particle = particles[order[instance]];
    let offset = vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 2.0 - 1.0;
    let at = particle.place.xy + offset * particle.radius;
    return Corner(vec4<f32>(at.x / ASPECT, at.y, 0.0, particle.place.z), offset, particle.colour);
}

@fragment
fn shade(corner: Corner) -> @location(0) vec4<f32> {
    let fade = max(0.0, 1.0 - dot(corner.offset, corner.offset));
    return vec4<f32>(corner.colour.rgb, corner.colour.a * fade);
}
