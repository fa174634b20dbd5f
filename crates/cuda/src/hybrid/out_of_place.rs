//! Few keys whose result goes elsewhere than they lie, with what travels with them.
//!
//! One launch, `ranked_out_of_place`: each block compares its own keys with all. As it writes nothing that
//! others read, they need not wait for each other.

use super::task::Ranked;
use super::{Kernels, Tuning, row};
use crate::args;
use crate::error::Result;
use crate::launch::{Argument, Launch};
use crate::stream::Stream;

/// A sort, decided.
#[derive(Clone, Debug)]
pub struct OutOfPlace {
    launch: Launch,
}

impl OutOfPlace {
    /// None for more keys than it is for.
    ///
    /// # Errors
    /// [`Error::NoKernel`](crate::Error::NoKernel), [`Error::Driver`](crate::Error::Driver).
    pub(super) fn new(
        kernels: &Kernels<'_>,
        n: usize,
        tuning: Tuning,
    ) -> Result<Option<OutOfPlace>> {
        if n > tuning.out_of_place {
            return Ok(None);
        }
        let shape = kernels.shapes.get(row::RANKED_OUT_OF_PLACE)?;
        let grid = shape.grid(n.div_ceil(shape.tile as usize) as u32);
        let launch = kernels.launch("ranked_out_of_place", grid)?;
        Ok(Some(OutOfPlace { launch }))
    }

    /// # Safety
    /// As [`Few::enqueue`](super::Few::enqueue), and nothing is written where something is read.
    pub unsafe fn launch<W: Copy>(&self, stream: &Stream, task: &Ranked<W>) -> Result<()> {
        let (kernel, grid) = &self.launch;
        // SAFETY: the caller's promise.
        unsafe { stream.launch(kernel, *grid, args![Argument::plain(task)]) }
    }
}
