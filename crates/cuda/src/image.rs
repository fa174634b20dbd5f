//! The compiled kernels, embedded.
//!
//! For each family of kernels and each key width there are two: a fatbin with machine code for every
//! architecture since Turing, made by toolkit 13 and therefore only for drivers that serve CUDA 13;
//! and PTX for older drivers and for architectures to come, whose drivers compile it when they first
//! load it. `cargo xtask kernels` makes them.

use std::fmt;
use std::io::{self, Read};

use lzma_rust2::XzReader;

use crate::device::Facts;
use crate::driver::CudaVersion;

/// The version of CUDA whose drivers load the fatbins.
pub(crate) const FATBIN_NEEDS: CudaVersion = CudaVersion(13000);

/// Bytes that begin at a multiple of 16, as the driver may read them in words.
#[repr(C, align(16))]
struct Aligned<Bytes: ?Sized>(Bytes);

macro_rules! embedded {
    ($name:expr) => {{
        static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!("../images/", $name)));
        &IMAGE.0
    }};
}

/// A family of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// The algorithms of the teaching texts, and the codec.
    Classic,
    /// Checks of what a sort has made, and random keys.
    Check,
    /// What is fetched by positions; the width is that of a position.
    Gather,
    /// A sort of keys and what travels with them, by digits from the lowest up.
    Onesweep,
    /// A sort of keys alone, by digits from the highest down, then in shared memory.
    Hybrid,
    /// A sort of narrow keys alone, which are counted.
    Count,
}

/// Which image: a family of kernels and a key width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Image {
    kind: Kind,
    key_bits: u32,
}

/// An image's two forms: a fatbin, and PTX compressed by xz.
struct Forms {
    fatbin: &'static [u8],
    ptx: &'static [u8],
}

/// Every image, from the names of their files.
macro_rules! images {
    ($($Kind:ident $name:literal $bits:literal,)*) => {
        impl Image {
            /// Every image that there is.
            pub const ALL: [Image; [$($bits),*].len()] =
                [$(Image { kind: Kind::$Kind, key_bits: $bits }),*];
        }

        /// Their forms, in the same order.
        static FORMS: [Forms; Image::ALL.len()] = [$(Forms {
            fatbin: embedded!(concat!($name, "_", $bits, ".fatbin")),
            ptx: embedded!(concat!($name, "_", $bits, ".ptx.xz")),
        }),*];
    };
}
images! {
    Classic "classic" 32,
    Classic "classic" 64,
    Check "check" 8,
    Check "check" 16,
    Check "check" 32,
    Check "check" 64,
    Check "check" 128,
    Gather "gather" 32,
    Gather "gather" 64,
    Onesweep "onesweep" 8,
    Onesweep "onesweep" 16,
    Onesweep "onesweep" 32,
    Onesweep "onesweep" 64,
    Onesweep "onesweep" 128,
    Hybrid "hybrid" 32,
    Hybrid "hybrid" 64,
    Hybrid "hybrid" 128,
    Count "count" 8,
    Count "count" 16,
}

impl Image {
    /// The image of a family for keys of so many bits, if there is one.
    pub fn of(kind: Kind, key_bits: u32) -> Option<Self> {
        let image = Image { kind, key_bits };
        Self::ALL.contains(&image).then_some(image)
    }

    /// The image of this name, such as `hybrid_32`, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|image| image.to_string() == name)
    }

    /// The family.
    pub fn kind(self) -> Kind {
        self.kind
    }

    /// The key width.
    pub fn key_bits(self) -> u32 {
        self.key_bits
    }

    /// What is to be loaded on a device.
    pub(crate) fn for_device(self, facts: &Facts) -> Code {
        match facts.runs_machine_code() {
            true => self.fatbin(),
            false => self.ptx(),
        }
    }

    pub(crate) fn fatbin(self) -> Code {
        Code::Fatbin(self.forms().fatbin)
    }

    pub(crate) fn ptx(self) -> Code {
        Code::Ptx(self.forms().ptx)
    }

    fn forms(self) -> &'static Forms {
        let at = Self::ALL.iter().position(|image| *image == self);
        // Images are made by `of` and from `ALL` alone.
        &FORMS[at.unwrap_or_default()]
    }
}

/// What a driver loads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    /// Machine code for many architectures.
    Fatbin(&'static [u8]),
    /// What the driver compiles, compressed by xz.
    Ptx(&'static [u8]),
}

/// The text of compressed PTX.
pub(crate) fn ptx_text(compressed: &[u8]) -> io::Result<String> {
    let mut text = String::new();
    XzReader::new(compressed, false).read_to_string(&mut text)?;
    Ok(text)
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Classic => "classic",
            Kind::Check => "check",
            Kind::Gather => "gather",
            Kind::Onesweep => "onesweep",
            Kind::Hybrid => "hybrid",
            Kind::Count => "count",
        };
        write!(f, "{kind}_{}", self.key_bits)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::hash;

    const ROOT: &str = env!("CARGO_MANIFEST_DIR");

    fn fatbin(image: Image) -> &'static [u8] {
        image.forms().fatbin
    }

    fn ptx(image: Image) -> &'static [u8] {
        image.forms().ptx
    }

    #[test]
    fn every_driver_has_its_images_and_together_they_are_small() {
        let mut bytes = 0;
        for image in Image::ALL {
            let (fatbin, compressed) = (fatbin(image), ptx(image));
            let ptx = ptx_text(compressed).unwrap();
            assert!(fatbin.starts_with(&[0x50, 0xED, 0x55, 0xBA]), "{image}");
            assert_eq!(fatbin.as_ptr() as usize % 16, 0, "{image}");
            assert!(ptx.contains(".version 8.0\n.target sm_75\n"), "{image}");
            let kernel = match image.kind() {
                Kind::Classic => "encode",
                Kind::Check => "check_disorder",
                Kind::Gather => "gather",
                Kind::Onesweep => "histograms",
                Kind::Hybrid => "probe",
                Kind::Count => "tally",
            };
            assert!(ptx.contains(&format!(".entry {kernel}(")), "{image}");
            bytes += fatbin.len() + compressed.len();
            assert_eq!(Image::of(image.kind(), image.key_bits()), Some(image));
            assert_eq!(Image::named(&image.to_string()), Some(image));
        }
        assert!(bytes < 8 << 20, "{bytes} bytes");
        assert_eq!(Image::of(Kind::Classic, 16), None);
    }

    #[test]
    fn the_manifest_names_these_kernels_and_images() {
        let text = std::fs::read_to_string(Path::new(ROOT).join("images/manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        let kernels = hash::sources_hash(Path::new(ROOT), &["kernels"]).unwrap();
        assert_eq!(
            manifest["kernels"],
            kernels.as_str(),
            "the kernels have changed; run `cargo xtask kernels`"
        );
        let images = manifest["images"].as_object().unwrap();
        assert_eq!(images.len(), 2 * Image::ALL.len());
        for image in Image::ALL {
            for (kind, bytes) in [("fatbin", fatbin(image)), ("ptx.xz", ptx(image))] {
                let entry = &images[&format!("{image}.{kind}")];
                assert_eq!(entry["bytes"], bytes.len(), "{image}");
                assert_eq!(entry["sha256"], hash::bytes_hash(bytes), "{image}");
            }
        }
    }

    #[test]
    fn the_crate_knows_its_sources() {
        let now = hash::sources_hash(Path::new(ROOT), &hash::FOLDERS).unwrap();
        assert_eq!(crate::SOURCES, now);
    }
}
