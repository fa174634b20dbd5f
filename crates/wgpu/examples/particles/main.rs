//! Translucent particles, sorted by depth on the GPU in each frame and drawn back to front:
//!
//! ```sh
//! cargo run --release -p sweepsort-wgpu --example particles -- [COUNT [FRAMES [SIZE [FILE]]]]
//! ```
//!
//! There is no window: the last frame goes to a PNG file. `scene` has all that concerns the GPU.

mod scene;

use std::error::Error;
use std::path::Path;
use std::str::FromStr;

use scene::{Scene, Size};
use sweepsort_wgpu::{ADAPTER_VARIABLE, Adapter};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: u32 = next(&mut arguments, "COUNT", "100000")?;
    let frames: u32 = next(&mut arguments, "FRAMES", "60")?;
    let size: Size = next(&mut arguments, "SIZE", "640x360")?;
    let file: String = next(&mut arguments, "FILE", "particles.png")?;

    let adapter = adapter()?;
    let facts = adapter.facts();
    let kind = match facts.software {
        true => "in software: no GPU was found",
        false => "a GPU",
    };
    println!("{} through {} ({kind})", facts.name, facts.backend);

    let scene = Scene::new(&adapter, count, size)?;
    for _ in 0..frames {
        scene.frame();
    }
    scene::write_png(Path::new(&file), size, &scene.picture()?)?;
    let visible = scene.visible()?;
    println!("{frames} frames; of {count} particles the last shows {visible}: {file}");
    Ok(())
}

/// The adapter that the engine prefers; where there is no GPU and none is asked for, one in software.
fn adapter() -> sweepsort_core::Result<Adapter> {
    Adapter::preferred().or_else(|absent| match std::env::var_os(ADAPTER_VARIABLE) {
        Some(_) => Err(absent),
        None => Adapter::all().into_iter().next().ok_or(absent),
    })
}

/// The next argument, or what stands for it.
fn next<T: FromStr<Err: std::fmt::Display>>(
    arguments: &mut impl Iterator<Item = String>,
    name: &str,
    otherwise: &str,
) -> Result<T, String> {
    let text = arguments.next().unwrap_or_else(|| otherwise.to_owned());
    text.parse()
        .map_err(|error| format!("{name} '{text}': {error}; for instance {otherwise}"))
}
