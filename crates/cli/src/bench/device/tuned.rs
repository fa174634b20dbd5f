//! Kernels that are no image of the engine's yet, such as those that `cargo xtask tune` makes: files
//! `IMAGE.WHAT.fatbin`, such as `hybrid_32.cell.128-38-4480-11-7.fatbin`.

use std::fs;
use std::path::Path;

use sweepsort_cuda::{Device, Error, Image, Plan};

use crate::exit::{Failure, Result};

/// How a fatbin begins, and how many bytes come before its entries.
const MAGIC: [u8; 4] = [0x50, 0xED, 0x55, 0xBA];
const HEADER: usize = 16;

/// A fatbin, for plans instead of that image.
pub struct Tuned {
    image: Image,
    /// For the rest of the process, since the driver may read it whenever a kernel is first launched.
    fatbin: &'static [u8],
}

impl Tuned {
    /// The file of this name in a folder.
    ///
    /// # Errors
    /// [`Failure::Input`] for a name that begins with no image's, or a file that is no fatbin.
    pub fn read(folder: &Path, name: &str) -> Result<Tuned> {
        let image = name.split('.').next().and_then(Image::named);
        let image =
            image.ok_or_else(|| Failure::input(format!("{name} begins with no image's name")))?;
        let file = folder.join(format!("{name}.fatbin"));
        let bytes = fs::read(&file)
            .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        match is_whole(&bytes) {
            true => Ok(Tuned {
                image,
                fatbin: aligned(&bytes),
            }),
            false => Err(Failure::input(format!("{} is no fatbin", file.display()))),
        }
    }

    /// A plan with these kernels.
    pub fn kernels_for(
        &self,
        device: &Device,
        plan: impl FnOnce() -> std::result::Result<Plan, Error>,
    ) -> std::result::Result<Plan, Error> {
        // SAFETY: the fatbin is whole, and by its name it has the kernels of this image.
        unsafe { device.replace(self.image, Some(self.fatbin))? };
        let made = plan();
        // SAFETY: there is no fatbin.
        unsafe { device.replace(self.image, None)? };
        made
    }
}

/// Whether these are a header and as many bytes of entries as it says.
fn is_whole(bytes: &[u8]) -> bool {
    let entries = bytes
        .get(HEADER / 2..HEADER)
        .and_then(|bytes| bytes.try_into().ok());
    let entries = entries.map(u64::from_le_bytes);
    bytes.starts_with(&MAGIC) && entries == Some((bytes.len() - HEADER) as u64)
}

/// A copy that begins at a multiple of 16, as the driver may read it in words.
fn aligned(bytes: &[u8]) -> &'static [u8] {
    let mut words = vec![0u128; bytes.len().div_ceil(size_of::<u128>())];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    &bytemuck::cast_slice(words.leak())[..bytes.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_fatbins_of_an_image_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fatbin = [&MAGIC[..], &[1, 0, 16, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9]].concat();
        let write = |name: &str, bytes: &[u8]| {
            fs::write(folder.path().join(format!("{name}.fatbin")), bytes).unwrap();
        };
        write("hybrid_32.cell.1-2", &fatbin);
        write("hybrid_33.cell.1-2", &fatbin);
        write("hybrid_32.short", &fatbin[..18]);
        write("hybrid_32.other", b"text");
        let read = |name| Tuned::read(folder.path(), name);
        assert_eq!(read("hybrid_32.cell.1-2").unwrap().fatbin, fatbin);
        for name in [
            "hybrid_33.cell.1-2",
            "hybrid_32.short",
            "hybrid_32.other",
            "hybrid_32",
        ] {
            assert!(read(name).is_err(), "{name}");
        }
    }
}
