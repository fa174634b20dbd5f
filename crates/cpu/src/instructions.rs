//! The instructions that a machine has, habits of some, and a cache's size.

use std::sync::OnceLock;

/// Which instructions a sort may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// Those that every machine has.
    Portable,
    /// Vectors of 256 bits.
    Avx2,
    /// Vectors of 512 bits.
    Avx512,
}

impl Instructions {
    /// The best that this machine has.
    pub fn detect() -> Self {
        Machine::get().instructions
    }

    /// All that this machine has.
    #[cfg(test)]
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        use Instructions::{Avx2, Avx512, Portable};
        let all = [Portable, Avx2, Avx512].into_iter();
        all.filter(|&one| one <= Self::detect())
    }

    fn found() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let scalar = is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let wide = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if scalar && wide {
                return Instructions::Avx512;
            }
            if scalar && is_x86_feature_detected!("avx2") {
                return Instructions::Avx2;
            }
        }
        Instructions::Portable
    }
}

/// What is asked of the processor once: in a virtual machine some answers take microseconds.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// The best that it has.
    pub(crate) instructions: Instructions,
    /// Whether it is one of Intel's.
    intel: bool,
    /// Whether it has an instruction to fetch a line that will be written.
    fetches_to_write: bool,
    /// Bytes of a core's second level cache.
    second_cache_bytes: usize,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

impl Machine {
    pub(crate) fn get() -> Self {
        *MACHINE.get_or_init(|| Machine {
            instructions: Instructions::found(),
            intel: is_intel(),
            fetches_to_write: has_fetch_to_write(),
            second_cache_bytes: cache_bytes(),
        })
    }

    /// The same, if it has been asked before.
    #[inline]
    pub(crate) fn known() -> Option<Self> {
        MACHINE.get().copied()
    }
}

/// Whether a store that misses the first level cache holds up the stores behind it, so that it pays
/// to fetch to that cache where it will go: taken to be so on Intel's, as seen on a Xeon and not on
/// a Zen 4.
pub(crate) fn stores_wait() -> bool {
    Machine::get().intel
}

/// Whether the greater of two words of 32 bits is had sooner by logic, from both and the lesser one
/// (AVX-512): taken to be so on Intel's, which have two units for logic and one for the lesser and
/// the greater, and not on a Zen 4, which has as many for these.
#[inline]
pub(crate) fn logic_pays() -> bool {
    // Whoever sorts by vectors has asked before which ones there are.
    Machine::known().is_some_and(|machine| machine.intel)
}

/// Whether a line of the caches that one core has written is taken over by another that reads it,
/// and takes the first one long to write again: as seen on a Zen 4 whose cores had no third level
/// cache in common (28 to 39 ns, fetched before or not), and not on a Xeon.
pub(crate) fn reads_take_over() -> bool {
    cfg!(target_arch = "x86_64") && !Machine::get().intel
}

/// Whether there is an instruction to fetch a line that will be written.
pub(crate) fn fetches_to_write() -> bool {
    Machine::get().fetches_to_write
}

/// Bytes of a core's second level cache.
pub(crate) fn second_cache_bytes() -> usize {
    Machine::get().second_cache_bytes
}

/// Whether the processor is one of Intel's.
fn is_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let vendor = std::arch::x86_64::__cpuid(0);
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        name.as_flattened() == b"GenuineIntel"
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether the processor has `prefetchw`.
fn has_fetch_to_write() -> bool {
    /// A bit of what `ecx` tells.
    const PREFETCHW: u32 = 1 << 8;
    extended(0x8000_0001).is_some_and(|ecx| ecx & PREFETCHW != 0)
}

/// Bytes of a core's second level cache, as the processor tells; 2 MiB where none does.
fn cache_bytes() -> usize {
    // In the upper half, as so many KiB.
    match extended(0x8000_0006).map_or(0, |ecx| ecx >> 16) {
        0 => 2 << 20,
        kib => (kib as usize) << 10,
    }
}

/// What the processor tells in `ecx` about one of its further leaves.
fn extended(leaf: u32) -> Option<u32> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;

        (__cpuid(0x8000_0000).eax >= leaf).then(|| __cpuid(leaf).ecx)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = leaf;
        None
    }
}
