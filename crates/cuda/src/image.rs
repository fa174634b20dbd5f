//! The compiled kernels, embedded, each compressed by xz.
//!
//! For each family of kernels and each key width there is machine code for several architectures
//! since Turing, made by toolkit 13 and therefore only for drivers that serve CUDA 13; and PTX for
//! older drivers and for architectures to come, whose drivers compile it when they first load it.
//! `cargo xtask kernels` makes them.

use std::fmt;
use std::io::{self, Read};

use lzma_rust2::XzReader;

use crate::device::Facts;
use crate::driver::CudaVersion;

/// The version of CUDA whose drivers load the machine code.
const MACHINE_CODE_NEEDS: CudaVersion = CudaVersion(13000);

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

/// What is embedded of an image.
struct Forms {
    /// In the order of [`PACKS`].
    packs: [&'static [u8]; PACKS.len()],
    ptx: &'static [u8],
}

macro_rules! embedded {
    ($($part:expr),*) => { include_bytes!(concat!("../images/", $($part),*)) };
}

macro_rules! packs {
    ([$($folder:literal),*] $name:literal $bits:literal) => {
        [$(embedded!($folder, "/", $name, "_", $bits, ".cubins.xz")),*]
    };
}

/// Every image, from the names of its files.
macro_rules! images {
    ($folders:tt $($Kind:ident $name:literal $bits:literal,)*) => {
        impl Image {
            /// Every image that there is.
            pub const ALL: [Image; [$($bits),*].len()] =
                [$(Image { kind: Kind::$Kind, key_bits: $bits }),*];
        }

        /// Their forms, in the same order.
        static FORMS: [Forms; Image::ALL.len()] = [$(Forms {
            packs: packs!($folders $name $bits),
            ptx: embedded!("compute_75/", $name, "_", $bits, ".ptx.xz"),
        }),*];
    };
}
/// What there is machine code for, from the oldest on, 86 for compute capability 8.6; the code of
/// architectures of one pack is much alike, and compressed together.
const PACKS: [&[u32]; 5] = [&[75], &[80, 86], &[90], &[100], &[120]];

images! {
    ["sm_75", "sm_80_86", "sm_90", "sm_100", "sm_120"]
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
        match architecture(facts.capability, facts.cuda) {
            Some(architecture) => self.machine(architecture),
            None => self.ptx(),
        }
    }

    /// Machine code for one of the architectures.
    pub(crate) fn machine(self, architecture: u32) -> Code {
        let at = PACKS.iter().position(|pack| pack.contains(&architecture));
        let pack = self.forms().packs[at.unwrap_or_default()];
        Code::Machine { pack, architecture }
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

/// The architecture whose machine code a device runs, if its driver loads machine code: that of its
/// generation that is the latest of those not later than the device.
pub(crate) fn architecture((major, minor): (u32, u32), cuda: CudaVersion) -> Option<u32> {
    let runs = |architecture: &u32| architecture / 10 == major && architecture % 10 <= minor;
    let latest = architectures().filter(runs).last();
    latest.filter(|_| cuda >= MACHINE_CODE_NEEDS)
}

/// Every architecture that there is machine code for, from the oldest on.
fn architectures() -> impl Iterator<Item = u32> {
    PACKS.into_iter().flatten().copied()
}

/// What a driver loads, compressed by xz.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Code {
    /// Machine code for one of the architectures of a pack.
    Machine {
        pack: &'static [u8],
        architecture: u32,
    },
    /// What the driver compiles.
    Ptx(&'static [u8]),
}

impl Code {
    /// As the driver reads it: from a multiple of 16 bytes on, and with a zero at its end, where PTX
    /// has to have one.
    pub(crate) fn decompressed(self) -> io::Result<Vec<u128>> {
        let mut bytes = Vec::new();
        match self {
            Code::Machine { pack, architecture } => {
                let mut pack = XzReader::new(pack, false);
                while next_of_pack(&mut pack, &mut bytes)? != architecture {}
            }
            Code::Ptx(compressed) => {
                XzReader::new(compressed, false).read_to_end(&mut bytes)?;
            }
        }
        bytes.push(0);
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }
}

/// Reads the next code of a pack, and tells its architecture. Before each code stand the architecture and how
/// many bytes there are, a number of 8 bytes each, and it ends at a multiple of 16 bytes.
fn next_of_pack(pack: &mut impl Read, code: &mut Vec<u8>) -> io::Result<u32> {
    let mut number = || {
        let mut bytes = [0; 8];
        pack.read_exact(&mut bytes)?;
        Ok::<_, io::Error>(u64::from_le_bytes(bytes))
    };
    let (architecture, len) = (number()?, number()? as usize);
    code.resize(len.next_multiple_of(16), 0);
    pack.read_exact(code)?;
    code.truncate(len);
    Ok(architecture as u32)
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
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::hash;

    const ROOT: &str = env!("CARGO_MANIFEST_DIR");

    /// Every file of `images/` but the manifest, by its name, and what is embedded of it.
    fn files() -> BTreeMap<String, &'static [u8]> {
        let mut files = BTreeMap::new();
        for image in Image::ALL {
            let Forms { packs, ptx } = image.forms();
            for (architectures, pack) in PACKS.into_iter().zip(packs) {
                let names: Vec<String> = architectures.iter().map(u32::to_string).collect();
                files.insert(format!("sm_{}/{image}.cubins.xz", names.join("_")), *pack);
            }
            files.insert(format!("compute_75/{image}.ptx.xz"), *ptx);
        }
        files
    }

    #[test]
    fn every_device_has_its_images_and_together_they_are_small() {
        for image in Image::ALL {
            let kernel = match image.kind() {
                Kind::Classic => "encode",
                Kind::Check => "check_disorder",
                Kind::Gather => "gather",
                Kind::Onesweep => "histograms",
                Kind::Hybrid => "probe",
                Kind::Count => "tally",
            };
            for architecture in architectures() {
                let code = image.machine(architecture).decompressed().unwrap();
                let code: &[u8] = bytemuck::cast_slice(&code);
                // An ELF file of 64 bits for machine 190, CUDA; its flags name the architecture.
                let name = format!("sm_{architecture}, {image}");
                assert!(code.starts_with(b"\x7fELF\x02"), "{name}");
                assert_eq!(code[18..20], [190, 0], "{name}");
                assert_eq!(u32::from(code[49]), architecture, "{name}");
                let entry = format!("\0.text.{kernel}\0");
                assert!(contains(code, &entry), "{name}");
            }
            let ptx = image.ptx().decompressed().unwrap();
            let ptx: &[u8] = bytemuck::cast_slice(&ptx);
            assert_eq!(ptx.last(), Some(&0), "{image}");
            assert!(contains(ptx, ".version 8.0\n.target sm_75\n"), "{image}");
            assert!(contains(ptx, &format!(".entry {kernel}(")), "{image}");
            assert_eq!(Image::of(image.kind(), image.key_bits()), Some(image));
            assert_eq!(Image::named(&image.to_string()), Some(image));
        }
        assert_eq!(Image::of(Kind::Classic, 16), None);
        let bytes: usize = files().values().map(|code| code.len()).sum();
        assert!(bytes < 8 << 20, "{bytes} bytes");
    }

    fn contains(code: &[u8], text: &str) -> bool {
        code.windows(text.len()).any(|here| here == text.as_bytes())
    }

    #[test]
    fn a_device_gets_machine_code_of_its_generation_or_ptx() {
        for (capability, code) in [
            ((7, 0), None),
            ((7, 5), Some(75)),
            ((8, 0), Some(80)),
            ((8, 6), Some(86)),
            ((8, 9), Some(86)),
            ((9, 0), Some(90)),
            ((10, 0), Some(100)),
            ((10, 3), Some(100)),
            ((11, 0), None),
            ((12, 0), Some(120)),
            ((12, 1), Some(120)),
            ((13, 0), None),
        ] {
            let runs = |cuda| architecture(capability, CudaVersion(cuda));
            assert_eq!(runs(13000), code, "{capability:?}");
            assert_eq!(runs(12090), None, "{capability:?}");
        }
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
        let files = files();
        assert_eq!(images.len(), files.len());
        for (name, bytes) in files {
            let entry = &images[&name];
            assert_eq!(entry["bytes"], bytes.len(), "{name}");
            assert_eq!(entry["sha256"], hash::bytes_hash(bytes), "{name}");
        }
    }

    #[test]
    fn the_crate_knows_its_sources() {
        let now = hash::sources_hash(Path::new(ROOT), &hash::FOLDERS).unwrap();
        assert_eq!(crate::SOURCES, now);
    }
}
