//! The example `particles` on a software adapter: its picture is that of particles blended back to front.

#[path = "../examples/particles/galaxy.rs"]
mod galaxy;
#[path = "../examples/particles/picture.rs"]
mod picture;
#[path = "../examples/particles/scene.rs"]
mod scene;

use std::path::Path;

use scene::{NEAR, Particle, Scene, Size};
use sweepsort_wgpu::Adapter;

const SIZE: Size = (72, 48);

/// Blends the particles in front of the camera in the order of a sort.
fn reference(particles: &[Particle], sort: impl FnOnce(&mut Vec<Particle>)) -> Vec<u8> {
    let mut visible = particles.to_vec();
    visible.retain(|[[.., z, _], _]| *z > NEAR);
    sort(&mut visible);
    let (width, height) = (SIZE.0 as f32, SIZE.1 as f32);
    let pixels =
        (0..SIZE.1).flat_map(|j| (0..SIZE.0).map(move |i| (i as f32 + 0.5, j as f32 + 0.5)));
    let blended = pixels.flat_map(|(i, j)| {
        // At depth 1; the picture is two high, and its y points up.
        let (x, y) = ((2.0 * i - width) / height, 1.0 - 2.0 * j / height);
        let mut pixel = [0.0, 0.0, 0.0, 1.0];
        for [[px, py, z, radius], [r, g, b, opacity]] in &visible {
            let offset = [(x * z - px) / radius, (y * z - py) / radius];
            let fade = (1.0 - offset[0] * offset[0] - offset[1] * offset[1]).max(0.0);
            let alpha = opacity * fade;
            for (to, from) in pixel.iter_mut().zip([r, g, b]) {
                *to += (from - *to) * alpha;
            }
        }
        pixel.map(|channel| (channel * 255.0).round() as u8)
    });
    blended.collect()
}

/// By how much two pictures differ on average, in steps of a channel.
fn difference(a: &[u8], b: &[u8]) -> f64 {
    let total: u64 = a
        .iter()
        .zip(b)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    total as f64 / a.len() as f64
}

#[test]
fn the_picture_is_blended_back_to_front() {
    let adapter = Adapter::software().expect("a software adapter; `cargo xtask test` installs one");
    let scene = Scene::new(&adapter, &galaxy::galaxy(2000), SIZE).unwrap();
    for _ in 0..3 {
        scene.frame();
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("particles.png");
    picture::write(&path, SIZE, &scene.picture().unwrap()).unwrap();

    let file = std::io::BufReader::new(std::fs::File::open(&path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut picture = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut picture).unwrap();
    assert_eq!(
        ((frame.width, frame.height), picture.len()),
        (SIZE, 4 * 72 * 48)
    );

    let particles = scene.particles().unwrap();
    let visible = particles.iter().filter(|it| it[0][2] > NEAR).count();
    assert_eq!(scene.visible().unwrap(), visible as u32);
    assert!(
        (1..2000).contains(&visible),
        "{visible} are in front of the camera"
    );

    let depth = |particle: &Particle| particle[0][2];
    let by_depth = |a: &Particle, b: &Particle| depth(a).total_cmp(&depth(b));
    let [error, unsorted, front_to_back] = [
        reference(&particles, |all| all.sort_by(|a, b| by_depth(b, a))),
        reference(&particles, |_| {}),
        reference(&particles, |all| all.sort_by(by_depth)),
    ]
    .map(|blended| difference(&picture, &blended));
    // A channel has 8 bits, and each blend rounds to them. Another order is another picture.
    assert!(
        error < 2.0 && error < unsorted.min(front_to_back) / 4.0,
        "it differs by {error} from particles blended back to front, by {unsorted} from those that are \
         not sorted, and by {front_to_back} from front to back"
    );
}
