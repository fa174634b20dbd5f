//! The instructions that a machine has, habits of some, and a cache's size.

use std::sync::LazyLock;

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
    #[inline]
    pub fn detect() -> Self {
        // To ask for each of them takes as long as to sort two keys.
        static BEST: LazyLock<Instructions> = LazyLock::new(Instructions::found);
        *BEST
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

/// Whether a store that misses the first level cache holds up the stores behind it, so that it pays to fetch
/// where it will go: taken to be so on Intel's, as seen on a Xeon and not on a Zen 4.
pub(crate) fn stores_wait() -> bool {
    intel()
}

/// Whether the greater of two words of 32 bits is had sooner by logic, from both and the lesser one (AVX-512): taken to be so
/// on Intel's, which have two units for logic and one for the lesser and the greater, and not on a Zen 4, which has as many for
/// these.
#[inline]
pub(crate) fn logic_pays() -> bool {
    intel()
}

/// Whether the processor is one of Intel's.
#[inline]
fn intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;

        // In a virtual machine the question alone takes microseconds.
        static INTEL: LazyLock<bool> = LazyLock::new(|| {
            let vendor = __cpuid(0);
            let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
            name.as_flattened() == b"GenuineIntel"
        });
        *INTEL
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Bytes of a core's second level cache, as the processor tells; 2 MiB where none does.
pub(crate) fn second_cache_bytes() -> usize {
    const UNKNOWN: usize = 2 << 20;
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;

        const CACHES: u32 = 0x8000_0006;
        static BYTES: LazyLock<usize> = LazyLock::new(|| {
            if __cpuid(0x8000_0000).eax < CACHES {
                return UNKNOWN;
            }
            // In the upper half, as so many KiB.
            match __cpuid(CACHES).ecx >> 16 {
                0 => UNKNOWN,
                kib => (kib as usize) << 10,
            }
        });
        *BYTES
    }
    #[cfg(not(target_arch = "x86_64"))]
    UNKNOWN
}
