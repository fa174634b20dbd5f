//! Keys and what travels with them: by all passes of onesweep; or to their cells, and then in shared
//! memory; or as one word, like keys alone; or, few of them, each at once to its place.

use std::ops::Range;

use sweepsort_core::{Digit, Spec, Width};

use crate::algorithm::Algorithm;
use crate::device::Device;
use crate::error::Result;
use crate::hybrid::{Composites, Few, Records};
use crate::memory::SliceMut;
use crate::onesweep::{Payload, Places, RADIX_BITS, Sweep};
use crate::plan::Ran;
use crate::stream::{Clock, Stream};

/// A sort, decided.
#[derive(Clone, Debug)]
pub enum Carry {
    /// A pass for each digit.
    Sweep(Sweep),
    /// Two passes, then cells.
    Records(Box<Records>),
    /// Words of a key and what travels with it.
    Composites(Box<Composites>),
    /// Each key at once to its place among all.
    Few(Box<Few>),
}

impl Carry {
    /// By that algorithm, if the device has room for it; otherwise by onesweep. Where the choice is the
    /// engine's, few keys find their places among all.
    ///
    /// # Errors
    /// As [`Sweep::new`].
    pub fn new(
        device: &Device,
        n: usize,
        width: Width,
        payload: Payload,
        spec: &Spec,
        algorithm: Algorithm,
    ) -> Result<Carry> {
        if algorithm == Algorithm::Hybrid && n > 0 {
            if Composites::take(width, payload, spec) {
                let composites = Composites::new(device, n, payload, spec)?;
                return Ok(Carry::Composites(Box::new(composites)));
            }
            if let Some(records) = Records::new(device, n, width, payload, spec)? {
                return Ok(Carry::Records(Box::new(records)));
            }
        }
        if spec.algorithm == Algorithm::AUTO
            && let Some(few) = Few::new(device, n, width, payload, spec)?
        {
            return Ok(Carry::Few(Box::new(few)));
        }
        Sweep::new(device, n, width, payload, spec).map(Carry::Sweep)
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Carry::Sweep(_) => Algorithm::Onesweep,
            Carry::Records(_) | Carry::Composites(_) | Carry::Few(_) => Algorithm::Hybrid,
        }
    }

    /// Bytes of the workspace.
    pub fn workspace_bytes(&self) -> usize {
        match self {
            Carry::Sweep(sweep) => sweep.workspace_bytes(),
            Carry::Records(records) => records.workspace_bytes(),
            Carry::Composites(composites) => composites.workspace_bytes(),
            Carry::Few(few) => few.workspace_bytes(),
        }
    }

    /// The digits that keys are moved by, in the order of the passes, where all of these bits vary.
    pub fn digits(&self, bits: Range<u32>) -> Vec<Digit> {
        match self {
            Carry::Sweep(_) => Digit::cover(bits, RADIX_BITS),
            Carry::Records(records) => records.digits(),
            Carry::Composites(composites) => composites.digits(),
            Carry::Few(_) => Vec::new(),
        }
    }

    /// Puts the sort into the stream.
    ///
    /// # Errors
    /// As [`Sweep::enqueue`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn enqueue(
        &self,
        stream: &Stream,
        places: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Carry::Sweep(sweep) => sweep.enqueue(stream, places, workspace, clock),
                Carry::Records(records) => records.enqueue(stream, places, workspace, clock),
                Carry::Composites(composites) => {
                    composites.enqueue(stream, places, workspace, clock)
                }
                Carry::Few(few) => few.enqueue(stream, places, workspace, clock),
            }
        }
    }

    /// What the last sort that used this workspace did. Waits for the stream.
    ///
    /// # Errors
    /// As [`Sweep::ran`].
    pub fn ran(&self, stream: &Stream, workspace: &SliceMut<'_, u8>) -> Result<Ran> {
        match self {
            Carry::Sweep(sweep) => sweep.ran(stream, workspace),
            Carry::Records(records) => records.ran(stream, workspace),
            Carry::Composites(composites) => composites.ran(stream, workspace),
            Carry::Few(few) => Ok(few.ran()),
        }
    }
}
