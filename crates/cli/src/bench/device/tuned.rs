//! Kernels that are no image of the engine's yet, such as those that `cargo xtask tune` makes: files
//! `IMAGE.WHAT.cubin`, such as `hybrid_32.cell.128-38-4480-11-7.cubin`.

use std::fs;
use std::path::Path;

use sweepsort_cuda::{Device, Error, Image, Plan};

use crate::exit::{Failure, Result};

/// Machine code, for plans instead of that of an image.
pub struct Tuned {
    image: Image,
    code: Vec<u8>,
}

impl Tuned {
    /// The file of this name in a folder.
    ///
    /// # Errors
    /// [`Failure::Input`] for a name that begins with no image's, or a file that is no machine code.
    pub fn read(folder: &Path, name: &str) -> Result<Tuned> {
        let image = name.split('.').next().and_then(Image::named);
        let image =
            image.ok_or_else(|| Failure::input(format!("{name} begins with no image's name")))?;
        let file = folder.join(format!("{name}.cubin"));
        let code = fs::read(&file)
            .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        match is_whole(&code) {
            true => Ok(Tuned { image, code }),
            false => Err(Failure::input(format!(
                "{} is no machine code",
                file.display()
            ))),
        }
    }

    /// A plan with these kernels.
    pub fn kernels_for(
        &self,
        device: &Device,
        plan: impl FnOnce() -> std::result::Result<Plan, Error>,
    ) -> std::result::Result<Plan, Error> {
        // SAFETY: the code is whole, and by its name it has the kernels of this image.
        unsafe { device.replace(self.image, Some(&self.code))? };
        let made = plan();
        // SAFETY: there is no code.
        unsafe { device.replace(self.image, None)? };
        made
    }
}

/// Whether these are an ELF file of 64 bits for CUDA, machine 190, that reaches to the end of its tables.
fn is_whole(bytes: &[u8]) -> bool {
    let number = |at: usize, len: usize| -> Option<u64> {
        let bytes = bytes.get(at..at + len)?;
        Some((bytes.iter().rev()).fold(0, |number, &byte| number << 8 | u64::from(byte)))
    };
    // Where a table begins, how long its entries are, and how many there are.
    let table_fits = |begin, entry| -> Option<bool> {
        let table = number(entry, 2)? * number(entry + 2, 2)?;
        Some(number(begin, 8)?.checked_add(table)? <= bytes.len() as u64)
    };
    bytes.starts_with(b"\x7fELF\x02")
        && number(18, 2) == Some(190)
        && table_fits(32, 54) == Some(true)
        && table_fits(40, 58) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_machine_code_of_an_image_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut code = vec![0u8; 64 + 56 + 64];
        code[..5].copy_from_slice(b"\x7fELF\x02");
        code[18] = 190;
        // One entry in each table.
        (code[32], code[54], code[56]) = (64, 56, 1);
        (code[40], code[58], code[60]) = (64 + 56, 64, 1);
        let write = |name: &str, bytes: &[u8]| {
            fs::write(folder.path().join(format!("{name}.cubin")), bytes).unwrap();
        };
        write("hybrid_32.cell.1-2", &code);
        write("hybrid_33.cell.1-2", &code);
        write("hybrid_32.short", &code[..code.len() - 1]);
        write("hybrid_32.shorter", &code[..40]);
        write("hybrid_32.other", b"text");
        let read = |name| Tuned::read(folder.path(), name);
        assert_eq!(read("hybrid_32.cell.1-2").unwrap().code, code);
        for name in [
            "hybrid_33.cell.1-2",
            "hybrid_32.short",
            "hybrid_32.shorter",
            "hybrid_32.other",
            "hybrid_32",
        ] {
            assert!(read(name).is_err(), "{name}");
        }
    }
}
