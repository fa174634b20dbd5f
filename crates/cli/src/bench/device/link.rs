//! The way between the host's memory and the card's: how fast it is, and page-locked memory, from
//! which the card copies without the processor's help.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sweepsort_cuda::{Device, Error, Pinned, Stream};

use crate::bench::clocks::median;

/// Bytes that are copied to measure a direction.
const COPIED_BYTES: usize = 1 << 30;
/// How often.
const COPIES: usize = 7;

/// Bytes a second between page-locked memory and the card, one way at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// To the card.
    pub up: f64,
    /// From it.
    pub down: f64,
}

impl Links {
    /// The medians of some large copies, which wait for their ends.
    ///
    /// # Errors
    /// [`Error::Driver`] or too little memory on either side.
    pub fn measure(stream: &Stream) -> Result<Links, Error> {
        let device = stream.device();
        let bytes = COPIED_BYTES.min(device.memory()?.free / 4);
        let mut host = device.pinned::<u8>(bytes)?;
        let mut card = stream.zeros::<u8>(bytes)?;
        let (mut up, mut down) = (Vec::new(), Vec::new());
        // The first copies wake the link.
        for round in 0..=COPIES {
            let begin = stream.event()?;
            stream.write(&host, &mut card)?;
            let between = stream.event()?;
            stream.read(&card, &mut host)?;
            let end = stream.event()?;
            if round > 0 {
                up.push(between.seconds_since(&begin)?);
                down.push(end.seconds_since(&between)?);
            }
        }
        Ok(Links {
            up: bytes as f64 / median(&mut up),
            down: bytes as f64 / median(&mut down),
        })
    }

    /// The least seconds in which so many bytes go up and so many come down. The two directions do
    /// not overlap: the last key to go up may be the first to come down.
    pub fn least_seconds(&self, up: usize, down: usize) -> f64 {
        up as f64 / self.up + down as f64 / self.down
    }
}

/// An array in page-locked memory, of elements of any type that is copied bit by bit.
pub struct Locked<T> {
    bytes: Pinned<u8>,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Copy> Locked<T> {
    /// One that has `value` everywhere.
    ///
    /// # Errors
    /// Too little memory that can be locked.
    pub fn filled(device: &Arc<Device>, len: usize, value: T) -> Result<Self, Error> {
        let bytes = device.pinned::<u8>(len.saturating_mul(size_of::<T>()))?;
        let mut locked = Locked {
            bytes,
            len,
            of: PhantomData,
        };
        let start: *mut T = locked.bytes.as_mut_ptr().cast();
        assert!(start.is_aligned(), "it starts at a page");
        for at in 0..len {
            // SAFETY: there is room for `len` elements, aligned as was seen.
            unsafe { start.add(at).write(value) };
        }
        Ok(locked)
    }
}

impl<T> Deref for Locked<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many elements are there, aligned and initialised when this was made.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Locked<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_add_up() {
        let links = Links { up: 4.0, down: 2.0 };
        for (up, down, seconds) in [(0, 0, 0.0), (8, 0, 2.0), (0, 8, 4.0), (8, 8, 6.0)] {
            assert_eq!(
                links.least_seconds(up, down),
                seconds,
                "{up} up, {down} down"
            );
        }
    }

    #[test]
    #[ignore = "needs a GPU"]
    fn locked_memory_is_an_array() {
        let device = Device::open(0).unwrap();
        let mut array = Locked::filled(&device, 1000, 'x').unwrap();
        array[7] = 'y';
        let text: String = array.iter().collect();
        assert_eq!(text.replace('x', ""), "y");
        assert!(Locked::<u64>::filled(&device, 0, 0).unwrap().is_empty());
        let links = Links::measure(&device.stream().unwrap()).unwrap();
        println!(
            "up {:.1} GB/s, down {:.1} GB/s",
            links.up / 1e9,
            links.down / 1e9
        );
        assert!(links.up > 1e9 && links.down > 1e9, "{links:?}");
    }
}
