//! Plans: a sort on the device, decided for its shape before any key is read.
//!
//! ```no_run
//! use sweepsort_cuda::{Device, Plan, Shape, Spec, Width};
//!
//! let device = Device::open(0)?;
//! let stream = device.stream()?;
//! let mut keys = stream.upload(&[2.5f32, -1.0, 3.0])?;
//! let plan = Plan::new(&device, &Shape::keys(3, Width::W32), &Spec::natural::<f32>())?;
//! let mut workspace = stream.alloc::<u8>(plan.workspace_bytes())?;
//! plan.sort(&stream, (&mut keys).into(), (&mut workspace).into())?;
//! assert_eq!(stream.download(&keys)?, [-1.0, 2.5, 3.0]);
//! # Ok::<(), sweepsort_cuda::Error>(())
//! ```
//!
//! | what is sorted | how |
//! |---|---|
//! | whole keys alone, of 8 or 16 bits | [`Count`]: counted, and written from the counts |
//! | whole keys alone, of 32, 64 or 128 bits | [`Hybrid`]: partitioned, then sorted in shared memory |
//! | keys by some of their bits; keys with values of 4, 8 or 16 bytes; an index | [`Carry`]: values travel with their keys, some in one word with them |
//! | keys with values of any other size, and keys that tie though they differ | an index in the workspace, which keys and values then follow |

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use sweepsort_core::{Digit, Shape, Spec, Stage};

use crate::algorithm::{Algorithm, Refusal};
use crate::args;
use crate::carry::Carry;
use crate::count::Count;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::hybrid::Hybrid;
use crate::image::{Image, Kind};
use crate::launch::{Grid, Kernel};
use crate::memory::{ALIGNMENT, Layout, Pointer, Slice, SliceMut, Span};
use crate::onesweep::{Payload, Places, RADIX_BITS};
use crate::stream::{Clock, Stream, end};

/// Threads of a block that gathers, and blocks for each multiprocessor.
const GATHER_THREADS: u32 = 256;
const GATHER_BLOCKS: u32 = 8;

/// A sort of one shape, decided. Sorting only enqueues: it allocates nothing, waits for nothing, and
/// can be captured in a CUDA graph.
///
/// A plan can be shared by threads and by streams of its device; sorts that may run at the same time
/// each need a workspace of their own. Between the sorts a workspace holds nothing.
#[derive(Clone, Debug)]
pub struct Plan {
    device: Arc<Device>,
    shape: Shape,
    /// The bits that decide.
    bits: Range<u32>,
    algorithm: Algorithm,
    work: Work,
}

#[derive(Clone, Debug)]
enum Work {
    /// Keys alone are counted.
    Count(Count),
    /// Keys alone are partitioned.
    Hybrid(Hybrid),
    /// Values travel with the keys.
    Travel(Carry),
    /// Keys and values follow an index.
    Follow(Box<Follow>),
}

/// An index that is sorted, and then followed.
#[derive(Clone, Debug)]
struct Follow {
    sort: Carry,
    gather: Arc<Kernel>,
    grid: Grid,
    index: Span<u8>,
    /// The index's workspace; afterwards, in place, what has been gathered.
    rest: Span<u8>,
    bytes: usize,
}

/// What a sort did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The algorithm; the device may have decided for another than the plan's.
    pub algorithm: &'static str,
    /// How many passes ordered keys, those that had nothing to do left out: of `onesweep` one for each
    /// digit, of `hybrid` the partitions and the sort in shared memory, or where it counts common keys one
    /// and those that sort the others, of `count` one.
    pub passes: u32,
}

/// Addresses on a plan's device, 0 where there is none: memory of other frameworks.
///
/// Where `keys` and `keys_to` are the same, keys and values are sorted in place. An index goes to
/// `values_to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raw {
    /// The keys, at a multiple of a key's size.
    pub keys: u64,
    /// Where the sorted keys go.
    pub keys_to: u64,
    /// The values, at a multiple of a value's size, if that is 4, 8 or 16 bytes.
    pub values: u64,
    /// Where the values or the index go.
    pub values_to: u64,
    /// The workspace, at a multiple of 256.
    pub workspace: u64,
    /// How long it is: [`Plan::workspace_bytes`] or more.
    pub workspace_bytes: usize,
}

impl Plan {
    /// Decides how tasks of this shape are sorted. Loads kernels, if that has not been done yet.
    ///
    /// [`Spec::algorithm`] is `auto`, or one to insist on: `onesweep`, which sorts everything; `hybrid`
    /// for whole keys of 32, 64 or 128 bits; `count` for those of 8 or 16 bits alone. What is sorted is
    /// the same.
    ///
    /// # Errors
    /// [`Error::Plan`] for what no kernel is for; [`Error::Driver`].
    pub fn new(device: &Arc<Device>, shape: &Shape, spec: &Spec) -> Result<Plan> {
        let n = shape.keys;
        let refused = |why: String| Err(Error::Plan { why });
        if spec.bits.start > spec.bits.end || spec.bits.end > shape.width.bits() {
            return refused(format!(
                "bits {:?} are not within keys of {} bits",
                spec.bits,
                shape.width.bits()
            ));
        }
        if shape.argsort && !matches!(shape.payload_bytes, 4 | 8) {
            return refused(format!(
                "an index entry has 4 or 8 bytes, not {}",
                shape.payload_bytes
            ));
        }
        if shape.argsort && shape.payload_bytes == 4 && n > 1 << 32 {
            return refused(format!(
                "{n} keys are more than entries of 4 bytes can tell apart"
            ));
        }
        let algorithm = match Algorithm::of(shape, spec) {
            Ok(algorithm) => algorithm,
            Err(Refusal { what, instead }) => {
                return refused(format!("there is no {what}; ask for {instead}"));
            }
        };
        let payload = Payload::of(shape, spec);
        let work = match (algorithm, payload) {
            (Algorithm::Count, _) => Work::Count(Count::new(device, n, shape.width, spec)?),
            (Algorithm::Hybrid, Some(Payload::None)) => {
                Work::Hybrid(Hybrid::new(device, n, shape.width, spec)?)
            }
            (_, Some(payload)) => {
                let carry = Carry::new(device, n, shape.width, payload, spec, algorithm)?;
                Work::Travel(carry)
            }
            (_, None) => Work::Follow(Box::new(Follow::new(device, shape, spec, algorithm)?)),
        };
        let done_by = match &work {
            Work::Travel(carry) => carry.algorithm(),
            Work::Follow(follow) => follow.sort.algorithm(),
            Work::Count(_) | Work::Hybrid(_) => algorithm,
        };
        if spec.algorithm == algorithm.name() && done_by != algorithm {
            return refused(format!(
                "the device's blocks have no room for the cells of {n} keys with values; ask for \
                 onesweep"
            ));
        }
        Ok(Plan {
            device: device.clone(),
            shape: *shape,
            bits: spec.bits.clone(),
            algorithm: done_by,
            work,
        })
    }

    /// The shape that it is for.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The device that it is for.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The algorithm that it is for, `onesweep`, `hybrid` or `count`; see also [`ran`](Self::ran).
    pub fn algorithm(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Bytes of workspace that a sort needs: for keys alone as much as the keys and a twelfth (32 bits)
    /// to a fifth (128 bits) more, for 8-bit keys up to 140 kB and for 16-bit keys up to 20 MB whatever
    /// their number, for pairs and an index up to twice the records and as much more. It must start at a
    /// multiple of 256.
    pub fn workspace_bytes(&self) -> usize {
        match &self.work {
            Work::Count(count) => count.workspace_bytes(),
            Work::Hybrid(hybrid) => hybrid.workspace_bytes(),
            Work::Travel(carry) => carry.workspace_bytes(),
            Work::Follow(follow) => follow.bytes,
        }
    }

    /// Passes of a plain radix sort that skips none: the 8-bit digits in the range of bits.
    pub fn passes(&self) -> u32 {
        (self.bits.end - self.bits.start).div_ceil(RADIX_BITS)
    }

    /// The digits that keys are moved by, in the order of the passes, where all bits vary.
    pub(crate) fn digits(&self) -> Vec<Digit> {
        match &self.work {
            Work::Count(count) => count.digits(),
            Work::Hybrid(hybrid) => hybrid.digits(),
            Work::Travel(carry) => carry.digits(self.bits.clone()),
            Work::Follow(follow) => follow.sort.digits(self.bits.clone()),
        }
    }

    /// Enqueues a sort of keys, in place.
    ///
    /// # Errors
    /// [`Error::Plan`] for keys of another number or width, or a plan for something else;
    /// [`Error::Range`] for a workspace that is too small or misaligned; [`Error::Launch`],
    /// [`Error::Driver`]. What fails on the device shows when the stream is next waited for.
    pub fn sort<K: Pod>(
        &self,
        stream: &Stream,
        keys: SliceMut<'_, K>,
        workspace: SliceMut<'_, u8>,
    ) -> Result<()> {
        self.is_for::<K>(keys.len())?;
        self.has_values(false, 0, 0)?;
        let at = keys.pointer().address();
        // SAFETY: the slice is borrowed to be written, and has the plan's keys.
        unsafe { self.enqueue(stream, places(at, at, 0, 0), workspace, &mut None) }
    }

    /// Enqueues a sort of keys into other memory; the keys stay as they are. Few keys take less time than in place.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    pub fn sort_to<K: Pod>(
        &self,
        stream: &Stream,
        keys: Slice<'_, K>,
        to: SliceMut<'_, K>,
        workspace: SliceMut<'_, u8>,
    ) -> Result<()> {
        self.is_for::<K>(keys.len())?;
        self.is_for::<K>(to.len())?;
        self.has_values(false, 0, 0)?;
        let places = places(keys.pointer().address(), to.pointer().address(), 0, 0);
        // SAFETY: the slices are borrowed, and have the plan's keys.
        unsafe { self.enqueue(stream, places, workspace, &mut None) }
    }

    /// Enqueues a sort of keys and values, in place; stable if [`Spec::stable`] asks for it. Values are at
    /// a multiple of their size if that is 4, 8 or 16 bytes.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    pub fn sort_pairs<K: Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: SliceMut<'_, K>,
        values: SliceMut<'_, V>,
        workspace: SliceMut<'_, u8>,
    ) -> Result<()> {
        self.is_for::<K>(keys.len())?;
        self.has_values(false, size_of::<V>(), values.len())?;
        let (keys, values) = (keys.pointer().address(), values.pointer().address());
        // SAFETY: the slices are borrowed to be written, and have the plan's keys and values.
        unsafe {
            self.enqueue(
                stream,
                places(keys, keys, values, values),
                workspace,
                &mut None,
            )
        }
    }

    /// Enqueues a sort of keys and values into other memory; they stay as they are. Stable if
    /// [`Spec::stable`] asks for it.
    ///
    /// # Errors
    /// As [`sort_pairs`](Self::sort_pairs).
    pub fn sort_pairs_to<K: Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: Slice<'_, K>,
        values: Slice<'_, V>,
        keys_to: SliceMut<'_, K>,
        values_to: SliceMut<'_, V>,
        workspace: SliceMut<'_, u8>,
    ) -> Result<()> {
        self.is_for::<K>(keys.len())?;
        self.is_for::<K>(keys_to.len())?;
        self.has_values(false, size_of::<V>(), values.len())?;
        self.has_values(false, size_of::<V>(), values_to.len())?;
        let places = places(
            keys.pointer().address(),
            keys_to.pointer().address(),
            values.pointer().address(),
            values_to.pointer().address(),
        );
        // SAFETY: the slices are borrowed, and have the plan's keys and values.
        unsafe { self.enqueue(stream, places, workspace, &mut None) }
    }

    /// Enqueues the making of the index that sorts the keys, ties in their order: entries of `u32`
    /// or `u64`, as the plan's shape has it. The keys stay as they are.
    ///
    /// # Errors
    /// As [`sort`](Self::sort).
    pub fn argsort<K: Pod, I: Pod>(
        &self,
        stream: &Stream,
        keys: Slice<'_, K>,
        index: SliceMut<'_, I>,
        workspace: SliceMut<'_, u8>,
    ) -> Result<()> {
        self.is_for::<K>(keys.len())?;
        self.has_values(true, size_of::<I>(), index.len())?;
        let places = places(keys.pointer().address(), 0, 0, index.pointer().address());
        // SAFETY: the slices are borrowed, and have the plan's keys and entries.
        unsafe { self.enqueue(stream, places, workspace, &mut None) }
    }

    /// Enqueues a sort of what lies at these addresses.
    ///
    /// # Errors
    /// As [`sort`](Self::sort); [`Error::Range`] also for addresses that are misaligned.
    ///
    /// # Safety
    /// The addresses are on the plan's device; each that the plan needs is of as many keys, values or
    /// entries as it is for; nobody else uses them before the sort is done. Those that are not the
    /// same do not overlap.
    pub unsafe fn sort_raw(&self, stream: &Stream, raw: Raw) -> Result<()> {
        let workspace = Pointer::at(raw.workspace);
        // SAFETY: the caller's promise.
        let workspace = unsafe { SliceMut::from_raw(workspace, raw.workspace_bytes) };
        let places = places(raw.keys, raw.keys_to, raw.values, raw.values_to);
        // SAFETY: the caller's promise.
        unsafe { self.enqueue(stream, places, workspace, &mut None) }
    }

    /// What the last sort that used this workspace did. Where one block of onesweep sorts alone, all its
    /// passes count. Waits for the stream.
    ///
    /// # Errors
    /// [`Error::Range`], [`Error::Driver`].
    pub fn ran(&self, stream: &Stream, workspace: &SliceMut<'_, u8>) -> Result<Ran> {
        match &self.work {
            Work::Count(count) => Ok(count.ran()),
            Work::Hybrid(hybrid) => hybrid.ran(stream, workspace),
            Work::Travel(carry) => carry.ran(stream, workspace),
            Work::Follow(follow) => follow.sort.ran(stream, &follow.rest(workspace)?),
        }
    }

    /// The passes of [`ran`](Self::ran).
    ///
    /// # Errors
    /// As there.
    pub fn passes_run(&self, stream: &Stream, workspace: &SliceMut<'_, u8>) -> Result<u32> {
        Ok(self.ran(stream, workspace)?.passes)
    }

    /// The same plan with a ranker that is wrong on purpose, for the proof that a wrong tile is found
    /// and ranked again; of onesweep on 32-bit keys alone or with values of 4 bytes.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[doc(hidden)]
    pub fn disordered(self) -> Result<Plan> {
        let work = match self.work {
            Work::Travel(Carry::Sweep(sweep)) => {
                Work::Travel(Carry::Sweep(sweep.disordered(&self.device)?))
            }
            other => other,
        };
        Ok(Plan { work, ..self })
    }

    /// As [`sort_raw`](Self::sort_raw), with a clock.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn enqueue(
        &self,
        stream: &Stream,
        places: Places,
        workspace: SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        if !Arc::ptr_eq(stream.device(), &self.device) {
            return Err(Error::Plan {
                why: "the stream is of another device".to_owned(),
            });
        }
        self.fits(&places, &workspace)?;
        match &self.work {
            // SAFETY: the caller's promise.
            Work::Count(count) => unsafe {
                count.enqueue(stream, places.keys, places.keys_to, &workspace, clock)
            },
            // SAFETY: the caller's promise.
            Work::Hybrid(hybrid) => unsafe {
                hybrid.enqueue(stream, places.keys, places.keys_to, &workspace, clock)
            },
            // SAFETY: the caller's promise.
            Work::Travel(carry) => unsafe { carry.enqueue(stream, places, &workspace, clock) },
            Work::Follow(follow) => {
                // SAFETY: the caller's promise.
                unsafe { follow.enqueue(stream, &self.shape, places, &workspace, clock) }
            }
        }
    }

    /// Refuses addresses and workspaces that the kernels could not use.
    fn fits(&self, places: &Places, workspace: &SliceMut<'_, u8>) -> Result<()> {
        let aligned = |what, address: u64, to: usize| match (address % to as u64) as usize {
            0 => Ok(()),
            got => Err(Error::Range { what, got, have: 0 }),
        };
        let missing = |what: &str, address: u64| match address {
            0 => Err(Error::Plan {
                why: format!("the address of the {what} is null"),
            }),
            _ => Ok(()),
        };
        if self.shape.keys > 0 {
            missing("keys", places.keys)?;
            if self.shape.argsort {
                missing("index", places.values_to)?;
            } else {
                missing("sorted keys", places.keys_to)?;
            }
            if !self.shape.argsort && self.shape.payload_bytes > 0 {
                missing("values", places.values)?;
                missing("sorted values", places.values_to)?;
            }
        }
        let key = self.shape.width.bytes();
        aligned(
            "the alignment of the keys",
            places.keys | places.keys_to,
            key,
        )?;
        if let (Work::Travel(_), bytes @ 1..) = (&self.work, self.shape.payload_bytes) {
            aligned(
                "the alignment of the values",
                places.values | places.values_to,
                bytes,
            )?;
        }
        if self.workspace_bytes() > 0 {
            let address = workspace.pointer().address();
            aligned("the alignment of the workspace", address, ALIGNMENT)?;
        }
        if workspace.len() < self.workspace_bytes() {
            return Err(Error::Range {
                what: "bytes of the workspace",
                got: self.workspace_bytes(),
                have: workspace.len(),
            });
        }
        Ok(())
    }

    /// Refuses keys of another width or number.
    fn is_for<K: Pod>(&self, keys: usize) -> Result<()> {
        let Shape { keys: n, width, .. } = self.shape;
        if (keys, size_of::<K>()) == (n, width.bytes()) {
            return Ok(());
        }
        Err(Error::Plan {
            why: format!(
                "it is for {n} keys of {} bytes, not {keys} of {}",
                width.bytes(),
                size_of::<K>()
            ),
        })
    }

    /// Refuses values of another size or number, and a plan for something else.
    fn has_values(&self, argsort: bool, bytes: usize, values: usize) -> Result<()> {
        let n = if bytes == 0 { 0 } else { self.shape.keys };
        let same = (self.shape.argsort, self.shape.payload_bytes) == (argsort, bytes);
        if same && values == n {
            return Ok(());
        }
        let words = |argsort, bytes| match (argsort, bytes) {
            (true, bytes) => format!("index entries of {bytes} bytes"),
            (false, 0) => "keys alone".to_owned(),
            (false, bytes) => format!("values of {bytes} bytes"),
        };
        Err(Error::Plan {
            why: format!(
                "it is for {} and {} keys, not for {} and {values} of them",
                words(self.shape.argsort, self.shape.payload_bytes),
                self.shape.keys,
                words(argsort, bytes),
            ),
        })
    }
}

fn places(keys: u64, keys_to: u64, values: u64, values_to: u64) -> Places {
    Places {
        keys,
        keys_to,
        values,
        values_to,
    }
}

impl Follow {
    fn new(device: &Device, shape: &Shape, spec: &Spec, algorithm: Algorithm) -> Result<Follow> {
        let n = shape.keys;
        let index = Payload::index_of(n);
        let entry = index.bytes();
        let sort = Carry::new(device, n, shape.width, index, spec, algorithm)?;
        let image = Image::of(Kind::Gather, 8 * entry as u32).unwrap_or(Image::ALL[0]);
        let mut layout = Layout::new();
        let index = layout.array(n.saturating_mul(entry));
        let gathered = n.saturating_mul(shape.width.bytes().max(shape.payload_bytes));
        let rest = layout.array(sort.workspace_bytes().max(gathered));
        let blocks = n.div_ceil(GATHER_THREADS as usize);
        let most = GATHER_BLOCKS * device.facts().multiprocessors;
        Ok(Follow {
            sort,
            gather: device.module(image)?.kernel("gather")?,
            grid: Grid::new(blocks.min(most as usize) as u32, GATHER_THREADS),
            index,
            rest,
            bytes: layout.bytes(),
        })
    }

    fn rest<'a>(&self, workspace: &SliceMut<'a, u8>) -> Result<SliceMut<'a, u8>> {
        // SAFETY: a part of the workspace, borrowed as long.
        Ok(unsafe { SliceMut::from_raw(self.rest.within(workspace)?, self.rest.len()) })
    }

    /// # Safety
    /// As [`Plan::sort_raw`].
    unsafe fn enqueue(
        &self,
        stream: &Stream,
        shape: &Shape,
        at: Places,
        workspace: &SliceMut<'_, u8>,
        clock: &mut Option<&mut Clock>,
    ) -> Result<()> {
        if shape.keys == 0 {
            return Ok(());
        }
        let index = self.index.within(workspace)?;
        let rest = self.rest(workspace)?;
        // SAFETY: the keys are the caller's promise; index and rest lie apart in the workspace.
        unsafe {
            let sorted = places(at.keys, 0, 0, index.address());
            self.sort.enqueue(stream, sorted, &rest, clock)?;
        }
        let (keys, values) = (shape.width.bytes(), shape.payload_bytes);
        for (from, to, bytes) in [
            (at.keys, at.keys_to, keys),
            (at.values, at.values_to, values),
        ] {
            let all = shape.keys * bytes;
            if bytes == 0 {
                continue;
            }
            let in_place = from == to;
            let gathered = if in_place {
                rest.pointer()
            } else {
                Pointer::at(to)
            };
            let from: Pointer<u8> = Pointer::at(from);
            let arguments = args![from, index, gathered, shape.keys as u64, bytes as u32];
            // SAFETY: as many items as positions, gathered to where as many have room.
            unsafe { stream.launch(&self.gather, self.grid, arguments)? };
            if in_place {
                // SAFETY: so many bytes at both, which lie apart.
                let (from, to) = unsafe {
                    (
                        Slice::from_raw(gathered, all),
                        SliceMut::from_raw(Pointer::at(to), all),
                    )
                };
                stream.copy(from, to)?;
            }
        }
        end(clock, Stage::Gather, stream)
    }
}
