//! What the engine sorts otherwise by:
//!
//! - kernels that are no image of its own yet, such as those that `cargo xtask tune` makes: files
//!   `IMAGE.WHAT.cubin`, such as `hybrid_32.cell.128-38-4480-11-7.cubin`;
//! - figures of its tables, such as `hybrid.once=2^22+hybrid.middle=1`.

use std::fs;
use std::path::Path;

use sweepsort_cuda::{Device, Error, Figure, Image, Plan};

use crate::args::count;
use crate::exit::{Failure, Result};

/// What plans have instead of the engine's own.
#[derive(Debug, PartialEq)]
pub enum Tuned {
    /// Machine code, instead of that of an image.
    Kernels { image: Image, code: Vec<u8> },
    /// Instead of those of the tables.
    Figures(Vec<Figure>),
}

impl Tuned {
    /// What a variant of this name is, if it is one: figures; or else, if there is a folder of images, the file of this
    /// name in it.
    ///
    /// # Errors
    /// [`Failure::Input`] for figures that there are not, a name that begins with no image's, or a file that is no
    /// machine code.
    pub fn of(name: &str, images: Option<&Path>) -> Result<Option<Tuned>> {
        match images {
            _ if name.contains('=') => {
                let figures: Result<_> = name.split('+').map(figure).collect();
                Ok(Some(Tuned::Figures(figures?)))
            }
            Some(folder) => Self::kernels(folder, name).map(Some),
            None => Ok(None),
        }
    }

    fn kernels(folder: &Path, name: &str) -> Result<Tuned> {
        let image = name.split('.').next().and_then(Image::named);
        let image =
            image.ok_or_else(|| Failure::input(format!("{name} begins with no image's name")))?;
        let file = folder.join(format!("{name}.cubin"));
        let code = fs::read(&file)
            .map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
        match is_whole(&code) {
            true => Ok(Tuned::Kernels { image, code }),
            false => Err(Failure::input(format!(
                "{} is no machine code",
                file.display()
            ))),
        }
    }

    /// A plan with these.
    pub fn plan(
        &self,
        device: &Device,
        plan: impl FnOnce() -> std::result::Result<Plan, Error>,
    ) -> std::result::Result<Plan, Error> {
        match self {
            Tuned::Kernels { image, code } => {
                // SAFETY: the code is whole, and by its name it has the kernels of this image.
                unsafe { device.replace(*image, Some(code))? };
                let made = plan();
                // SAFETY: there is no code.
                unsafe { device.replace(*image, None)? };
                made
            }
            Tuned::Figures(figures) => {
                device.set_figures(figures);
                let made = plan();
                device.set_figures(&[]);
                made
            }
        }
    }
}

/// `hybrid.once=2^22`.
fn figure(text: &str) -> Result<Figure> {
    let (name, number) = text.split_once('=').unwrap_or((text, ""));
    let number = count(number).and_then(|number| match usize::try_from(number) {
        Ok(0) | Err(_) => Err("a figure is 1 or more".to_owned()),
        Ok(number) => Ok(number),
    });
    let number = number.map_err(|why| Failure::input(format!("variant {text}: {why}")))?;
    Figure::new(name, number).ok_or_else(|| {
        let known: Vec<_> = Figure::names().collect();
        Failure::input(format!(
            "no figure '{name}' of the engine's tables; there are {}",
            known.join(", ")
        ))
    })
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
        let read = |name| Tuned::of(name, Some(folder.path()));
        let image = Image::named("hybrid_32").unwrap();
        let kernels = Tuned::Kernels { image, code };
        assert_eq!(read("hybrid_32.cell.1-2").unwrap(), Some(kernels));
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

    #[test]
    fn figures_are_those_of_a_table_or_refused() {
        let figure = |name, number| Figure::new(name, number).unwrap();
        let once = figure("hybrid.once", 1 << 22);
        let alone = figure("count.alone", 1);
        for (name, expected) in [
            ("hybrid.once=2^22", Ok(vec![once])),
            ("hybrid.once=2^22+count.alone=1", Ok(vec![once, alone])),
            ("once=2^22", Err("hybrid.together, ")),
            ("hybrid.once=x", Err("hybrid.once=x: give a whole number")),
            ("hybrid.once=0", Err("a figure is 1 or more")),
            ("hybrid.once=2^22+count.alone", Err("count.alone: give")),
        ] {
            let found = Tuned::of(name, None);
            match (found, expected) {
                (Ok(found), Ok(figures)) => {
                    assert_eq!(found, Some(Tuned::Figures(figures)), "{name}");
                }
                (Err(failure), Err(part)) => {
                    let words = failure.to_string();
                    assert!(words.contains(part), "{name}: {words}");
                }
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
        assert_eq!(Tuned::of("graph", None).unwrap(), None);
    }
}
