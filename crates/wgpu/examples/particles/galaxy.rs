//! Particles worth looking at.

use crate::scene::{CENTRE, Particle, TILT};

/// A spiral galaxy of stars, and of dust that darkens what is behind it. Some of it is behind the camera.
pub fn galaxy(count: u32) -> Vec<Particle> {
    let mut state = 1u64;
    // Uniform in [0, 1), by a linear congruential generator: the same galaxy every time.
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let (sin, cos) = TILT.sin_cos();
    (0..count)
        .map(|i| {
            let is_dust = i % 6 == 0;
            // In the galaxy's plane: one of two arms, dust along its inner edge.
            let far = 1.6 * random().powf(0.8);
            let spread = (random() + random() + random() - 1.5) * if is_dust { 0.3 } else { 1.2 };
            let arm = (i / 6 % 2) as f32 * std::f32::consts::PI - f32::from(is_dust) * 0.5;
            let (v, u) = (arm + (far + 0.15).ln() + spread).sin_cos();
            let up = (random() + random() - 1.0) * (0.03 + 0.2 * (-7.0 * far).exp());
            let place = [
                CENTRE[0] + far * u,
                CENTRE[1] + far * v * sin + up * cos,
                CENTRE[2] + far * v * cos - up * sin,
            ];
            let radius = (0.5 + random()) * 4.0 / (count as f32).sqrt();
            let rim = (far / 0.9).min(1.0);
            let colour = match is_dust {
                true => [0.10, 0.05, 0.04, 0.7],
                false => [1.0 - 0.75 * rim, 0.8 - 0.4 * rim, 0.5 + 0.4 * rim, 0.35],
            };
            [[place[0], place[1], place[2], radius], colour]
        })
        .collect()
}
