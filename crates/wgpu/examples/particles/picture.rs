//! Pictures as PNG files.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use crate::scene::Size;

/// Writes a picture of four bytes a pixel.
pub fn write(path: &Path, size: Size, pixels: &[u8]) -> Result<(), Box<dyn Error>> {
    let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), size.0, size.1);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
}
