//! Translucent particles, sorted by depth on the GPU in each frame and drawn back to front:
//!
//! ```sh
//! cargo run --release --example particles -- [COUNT [FRAMES [WIDTHxHEIGHT [FILE]]]]
//! ```
//!
//! There is no window: the last frame goes to a PNG file. `scene` has what matters, all that concerns the GPU.

mod galaxy;
mod picture;
mod scene;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use sweepsort_wgpu::{ADAPTER_VARIABLE, Adapter};

/// Particles at most: they fill 128 MiB, which every device can bind.
const MOST: u32 = 1 << 22;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |otherwise: &str| arguments.next().unwrap_or_else(|| otherwise.to_owned());
    let count = number("COUNT", &next("100000"), MOST)?;
    let frames = number("FRAMES", &next("60"), 1_000_000)?;
    let size = next("640x360");
    let (width, height) = size.split_once('x').unwrap_or((&size, &size));
    let size = (
        number("WIDTH", width, 8192)?,
        number("HEIGHT", height, 8192)?,
    );
    let file = next("particles.png");

    let adapter = adapter()?;
    let facts = adapter.facts();
    let kind = match facts.software {
        true => "in software",
        false => "a GPU",
    };
    println!("{} through {} ({kind})", facts.name, facts.backend);

    let scene = scene::Scene::new(&adapter, &galaxy::galaxy(count), size)?;
    for _ in 0..frames {
        scene.frame();
    }
    picture::write(Path::new(&file), size, &scene.picture()?)?;
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

fn number(name: &str, text: &str, most: u32) -> Result<u32, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("{name} '{text}': give a whole number from 1 to {most}"))
}
