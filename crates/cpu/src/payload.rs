//! What travels beside a key: bytes to be moved, of 1 to 16 a key: 4, 8 and 16 as one machine word,
//! the rest as two overlapping ones.

use std::mem::MaybeUninit;

/// How one payload is moved. Pointers need no alignment, and bytes may be uninitialised padding:
/// they are copied, and no branch and no address depends on them.
pub(crate) trait Payload: Copy + Send + Sync {
    /// One payload, held in registers.
    type Held: Copy;
    /// Bytes of one payload, if the type alone tells; 0 otherwise.
    const BYTES: usize;
    /// Whether there are none: keys are alone.
    const NONE: bool = size_of::<Self::Held>() == 0;

    /// Bytes of one payload.
    fn bytes(self) -> usize;
    /// Reads payload `i`.
    ///
    /// # Safety
    /// `column` holds more than `i` payloads.
    unsafe fn load(self, column: *const u8, i: usize) -> Self::Held;
    /// Writes payload `i`.
    ///
    /// # Safety
    /// `column` has room for more than `i` payloads.
    unsafe fn store(self, column: *mut u8, i: usize, held: Self::Held);
}

/// Keys alone.
#[derive(Clone, Copy)]
pub(crate) struct Nothing;

impl Payload for Nothing {
    type Held = ();
    const BYTES: usize = 0;

    #[inline(always)]
    fn bytes(self) -> usize {
        0
    }
    #[inline(always)]
    unsafe fn load(self, _: *const u8, _: usize) {}
    #[inline(always)]
    unsafe fn store(self, _: *mut u8, _: usize, (): ()) {}
}

/// Payloads of 4, 8 or 16 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Fixed<const BYTES: usize>;

macro_rules! fixed {
    ($($bytes:literal $word:ident),*) => {$(
        impl Payload for Fixed<$bytes> {
            type Held = MaybeUninit<$word>;
            const BYTES: usize = $bytes;

            #[inline(always)]
            fn bytes(self) -> usize {
                $bytes
            }
            #[inline(always)]
            unsafe fn load(self, column: *const u8, i: usize) -> Self::Held {
                // SAFETY: the caller vouches for payload `i`.
                unsafe { column.cast::<Self::Held>().add(i).read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, column: *mut u8, i: usize, held: Self::Held) {
                // SAFETY: the caller vouches for payload `i`.
                unsafe { column.cast::<Self::Held>().add(i).write_unaligned(held) }
            }
        }
    )*};
}
fixed!(4 u32, 8 u64, 16 u128);

/// Payloads of any number of bytes from 1 to 16, known at run time.
#[derive(Clone, Copy)]
pub(crate) struct Bytes(pub(crate) usize);

impl Bytes {
    /// Moves the first and the last `size_of::<T>()` bytes of a payload, which overlap or meet.
    #[inline(always)]
    unsafe fn load_ends<T: Copy>(self, at: *const u8) -> [MaybeUninit<u64>; 2] {
        let mut held = [MaybeUninit::<u64>::uninit(); 2];
        for (end, offset) in held.iter_mut().zip([0, self.0 - size_of::<T>()]) {
            // SAFETY: the payload has at least the `T`'s bytes, and a `u64` has room for them.
            unsafe {
                let word = at.add(offset).cast::<MaybeUninit<T>>().read_unaligned();
                end.as_mut_ptr().cast::<MaybeUninit<T>>().write(word);
            }
        }
        held
    }

    /// Undoes [`load_ends`](Self::load_ends).
    #[inline(always)]
    unsafe fn store_ends<T: Copy>(self, at: *mut u8, held: [MaybeUninit<u64>; 2]) {
        for (end, offset) in held.iter().zip([0, self.0 - size_of::<T>()]) {
            // SAFETY: as in `load_ends`.
            unsafe {
                let word = end.as_ptr().cast::<MaybeUninit<T>>().read();
                at.add(offset)
                    .cast::<MaybeUninit<T>>()
                    .write_unaligned(word);
            }
        }
    }
}

impl Payload for Bytes {
    type Held = [MaybeUninit<u64>; 2];
    const BYTES: usize = 0;

    #[inline(always)]
    fn bytes(self) -> usize {
        self.0
    }
    #[inline(always)]
    unsafe fn load(self, column: *const u8, i: usize) -> Self::Held {
        // SAFETY: the caller vouches for payload `i`; each arm's type fits the payload.
        unsafe {
            let at = column.add(i * self.0);
            match self.0 {
                8.. => self.load_ends::<u64>(at),
                4.. => self.load_ends::<u32>(at),
                2.. => self.load_ends::<u16>(at),
                _ => self.load_ends::<u8>(at),
            }
        }
    }
    #[inline(always)]
    unsafe fn store(self, column: *mut u8, i: usize, held: Self::Held) {
        // SAFETY: as in `load`.
        unsafe {
            let at = column.add(i * self.0);
            match self.0 {
                8.. => self.store_ends::<u64>(at, held),
                4.. => self.store_ends::<u32>(at, held),
                2.. => self.store_ends::<u16>(at, held),
                _ => self.store_ends::<u8>(at, held),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Payloads of every width from 1 to 16 arrive whole, and nothing beside them changes.
    #[test]
    fn payloads_of_every_width() {
        let from: Vec<u8> = (0..64).collect();
        for bytes in 1..=16 {
            let mut to = vec![0xee; 64];
            // SAFETY: both columns hold three payloads of `bytes` bytes.
            unsafe {
                let held = Bytes(bytes).load(from.as_ptr(), 2);
                Bytes(bytes).store(to.as_mut_ptr(), 1, held);
            }
            let mut expected = vec![0xee; 64];
            expected[bytes..2 * bytes].copy_from_slice(&from[2 * bytes..3 * bytes]);
            assert_eq!(to, expected, "{bytes} bytes");
        }
    }
}
