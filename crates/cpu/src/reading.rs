//! How a stage reads words as codes, and what it leaves in memory.
//!
//! | reading | memory before | memory after a move | used |
//! |---|---|---|---|
//! | [`Plain`] | codes | codes | after the first move; unsigned ascending keys of 32 bits and more from the start |
//! | [`Encoding`] | words | codes | in the first move |
//! | [`Tying`] | words | words | everywhere, when different words can have one code |

use sweepsort_core::{Coder, Word};

/// See the [module](self).
pub(crate) trait Reading<W: Word>: Copy + Send + Sync {
    /// How memory is to be read after a move under this reading.
    type After: Reading<W, After = Self::After>;
    /// Whether a move leaves what it found.
    const STAYS: bool;
    /// Whether memory holds codes.
    const CODES: bool;

    /// What makes the code of what lies in memory, if a move leaves codes, and they are not what it found.
    fn coder(self) -> Option<Coder<W>> {
        None
    }
    /// The code of what lies in memory.
    fn code(self, stored: W) -> W;
    /// What a move writes.
    fn keep(self, stored: W, code: W) -> W;
    /// The reading after a move.
    fn after(self) -> Self::After;
}

/// Memory holds codes.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl<W: Word> Reading<W> for Plain {
    type After = Plain;
    const STAYS: bool = true;
    const CODES: bool = true;

    #[inline(always)]
    fn code(self, stored: W) -> W {
        stored
    }
    #[inline(always)]
    fn keep(self, stored: W, _: W) -> W {
        stored
    }
    fn after(self) -> Plain {
        Plain
    }
}

/// Memory holds words; a move leaves codes.
#[derive(Clone, Copy)]
pub(crate) struct Encoding<W>(pub(crate) Coder<W>);

impl<W: Word> Reading<W> for Encoding<W> {
    type After = Plain;
    const STAYS: bool = false;
    const CODES: bool = false;

    fn coder(self) -> Option<Coder<W>> {
        Some(self.0)
    }
    #[inline(always)]
    fn code(self, stored: W) -> W {
        self.0.encode_bijective(stored)
    }
    #[inline(always)]
    fn keep(self, _: W, code: W) -> W {
        code
    }
    fn after(self) -> Plain {
        Plain
    }
}

/// Memory holds words, which their codes could not bring back.
#[derive(Clone, Copy)]
pub(crate) struct Tying<W>(pub(crate) Coder<W>);

impl<W: Word> Reading<W> for Tying<W> {
    type After = Tying<W>;
    const STAYS: bool = true;
    const CODES: bool = false;

    #[inline(always)]
    fn code(self, stored: W) -> W {
        self.0.encode(stored)
    }
    #[inline(always)]
    fn keep(self, stored: W, _: W) -> W {
        stored
    }
    fn after(self) -> Tying<W> {
        self
    }
}
