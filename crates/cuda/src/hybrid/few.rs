//! Few keys of 32 or 64 bits by any of their bits, with values of 4, 8 or 16 bytes or none, or an index of
//! them: stable.
//!
//! | n | what is launched |
//! |---|---|
//! | to 2048 | `alone_records`: one block |
//! | to 8192, if its shared memory has room | `alone_records_large`: one larger block |
//!
//! A block makes a word of 64 bits of each key's code and its position, sorts these words as it would keys
//! alone, and fetches keys and values by the positions. Keys of both widths go by the same kernels, which
//! are in the image of 64-bit keys: a key of 32 bits is the upper half of one of 64.

use sweepsort_core::{Spec, Stage, Width};

use super::task::RecordsAlone;
use super::tuning::few;
use super::{Kernels, row};
use crate::algorithm::Algorithm;
use crate::args;
use crate::codec::Codec;
use crate::device::Device;
use crate::error::Result;
use crate::launch::{Argument, Launch};
use crate::onesweep::{Payload, Places};
use crate::plan::Ran;
use crate::shapes::KernelShape;
use crate::stream::{Clock, Stream, end};

/// From the fewest keys on.
const KERNELS: [(&str, usize); 2] = [
    ("alone_records", row::ALONE_RECORDS),
    ("alone_records_large", row::ALONE_RECORDS_LARGE),
];

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct Few {
    launch: Launch,
    /// But for the addresses.
    task: RecordsAlone,
    in_index: bool,
}

impl Few {
    /// Decides; loads the kernels if that has not been done. None for what they are not for: other widths
    /// or numbers of keys, and what a block of the device has no room for.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel), [`Error::Driver`](crate::Error::Driver).
    pub fn new(
        device: &Device,
        n: usize,
        width: Width,
        payload: Payload,
        spec: &Spec,
    ) -> Result<Option<Few>> {
        let wide = matches!(width, Width::W32 | Width::W64);
        if !wide || !few(n) {
            return Ok(None);
        }
        let kernels = Kernels::of(device, Width::W64)?;
        let staged = staged_bytes(width, payload);
        for (name, row) in KERNELS {
            let shape = kernels.shapes.get(row)?;
            let room = kernels.module.kernel(name)?.max_dynamic_shared_bytes();
            if let Some(shape) = shape_of(shape, n, staged, room) {
                return Ok(Some(Few {
                    launch: kernels.launch(name, shape.grid(1))?,
                    task: task(n, width, payload, spec),
                    in_index: matches!(payload, Payload::Index(_)),
                }));
            }
        }
        Ok(None)
    }

    /// Puts the sort into the stream.
    ///
    /// # Errors
    /// [`Error::Launch`](crate::Error::Launch), [`Error::Driver`](crate::Error::Driver).
    ///
    /// # Safety
    /// The places are those of `n` keys, and of as many values or entries, each aligned to their sizes,
    /// on the stream's device; nobody else uses them before the sort is done.
    pub unsafe fn enqueue(
        &self,
        stream: &Stream,
        places: Places,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        let task = RecordsAlone {
            keys_from: places.keys,
            values_from: if self.in_index { 0 } else { places.values },
            keys_to: places.keys_to,
            values_to: places.values_to,
            ..self.task
        };
        let (kernel, grid) = &self.launch;
        // SAFETY: the caller's promise; one block stays within n keys and values.
        unsafe { stream.launch(kernel, *grid, args![Argument::plain(&task)])? };
        end(clock, Stage::Local, stream)
    }

    /// What a sort does.
    pub fn ran(&self) -> Ran {
        Ran {
            algorithm: Algorithm::Hybrid.name(),
            passes: 1,
        }
    }
}

/// Bytes of shared memory that a block has for each key and its value, as they came.
fn staged_bytes(width: Width, payload: Payload) -> usize {
    match payload {
        Payload::Value(bytes) => width.bytes() + bytes,
        Payload::None | Payload::Index(_) => width.bytes(),
    }
}

/// The shape of a block for so many keys, if it sorts so many, and has room for them.
fn shape_of(shape: KernelShape, n: usize, staged: usize, room: u32) -> Option<KernelShape> {
    let bytes = shape.shared_bytes as usize + n * staged;
    let fits = n <= shape.tile as usize && bytes <= room as usize;
    fits.then_some(KernelShape {
        shared_bytes: bytes as u32,
        ..shape
    })
}

/// Without its addresses.
fn task(n: usize, width: Width, payload: Payload, spec: &Spec) -> RecordsAlone {
    const WORD: usize = size_of::<u32>();
    let (codec, above) = match width {
        Width::W32 => (Codec::of_upper_half(spec.codec.coder()), 32),
        _ => (spec.codec.coder::<u64>().into(), 0),
    };
    let bits = spec.bits.end - spec.bits.start;
    RecordsAlone {
        keys_from: 0,
        values_from: 0,
        keys_to: 0,
        values_to: 0,
        key_words: (width.bytes() / WORD) as u32,
        value_words: (payload.bytes() / WORD) as u32,
        n: n as u32,
        // Of no bits at all, none is shifted out of the word.
        shift: if bits == 0 {
            0
        } else {
            spec.bits.start + above
        },
        mask: u64::MAX.checked_shr(64 - bits).unwrap_or(0),
        codec,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As on an H200.
    const SHAPES: [KernelShape; 2] = [
        KernelShape {
            threads: 512,
            tile: 2048,
            shared_bytes: 34_000,
        },
        KernelShape {
            threads: 1024,
            tile: 8192,
            shared_bytes: 116_000,
        },
    ];
    const ROOM: u32 = 227 << 10;

    /// Which block sorts so many.
    fn block(n: usize, width: Width, payload: Payload) -> Option<usize> {
        let staged = staged_bytes(width, payload);
        SHAPES
            .iter()
            .position(|&shape| shape_of(shape, n, staged, ROOM).is_some())
    }

    #[test]
    fn blocks_are_for_what_they_have_room_for() {
        for (n, expected) in [
            (1025, Some(0)),
            (2048, Some(0)),
            (2049, Some(1)),
            (8192, Some(1)),
            (8193, None),
        ] {
            for payload in [Payload::Value(4), Payload::Index(4), Payload::Index(8)] {
                for width in [Width::W32, Width::W64] {
                    assert_eq!(
                        block(n, width, payload),
                        expected,
                        "{n} {width:?} {payload:?}"
                    );
                }
            }
        }
        // None is left to blocks that wait for each other while one has room for it.
        let numbers: Vec<usize> = (0..20_000).filter(|&n| few(n)).collect();
        assert_eq!((numbers[0], numbers[numbers.len() - 1]), (1025, 8192));
        for n in numbers {
            assert!(block(n, Width::W64, Payload::Value(4)).is_some(), "{n}");
        }
        let wide = Payload::Value(16);
        assert_eq!(block(2048, Width::W64, wide), Some(0));
        assert_eq!(block(4800, Width::W64, wide), Some(1));
        assert_eq!(block(4900, Width::W64, wide), None);
        // A block has no more shared memory than its keys and values take.
        let shape = shape_of(SHAPES[0], 1500, 8, ROOM).unwrap();
        assert_eq!(shape.shared_bytes, 34_000 + 12_000);
    }

    #[test]
    fn the_bits_that_decide_are_shifted_down() {
        let of = |width: Width, bits: std::ops::Range<u32>| {
            let spec = Spec {
                bits,
                ..Spec::natural::<u32>()
            };
            let task = task(1500, width, Payload::Index(8), &spec);
            (task.shift, task.mask)
        };
        assert_eq!(of(Width::W64, 0..64), (0, u64::MAX));
        assert_eq!(of(Width::W64, 64..64), (0, 0));
        assert_eq!(of(Width::W64, 3..7), (3, 15));
        assert_eq!(of(Width::W32, 0..32), (32, u64::from(u32::MAX)));
        assert_eq!(of(Width::W32, 31..32), (63, 1));
        assert_eq!(of(Width::W32, 32..32), (0, 0));
        let task = task(7, Width::W32, Payload::Value(16), &Spec::natural::<i32>());
        assert_eq!((task.n, task.key_words, task.value_words), (7, 1, 4));
    }
}
