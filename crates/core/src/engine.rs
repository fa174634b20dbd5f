//! The trait that every engine implements, and the type-erased task it is given.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use crate::codec::Codec;
use crate::error::Result;
use crate::key::RadixKey;
use crate::options::{Nan, Order};
use crate::plan::{Plan, Shape};
use crate::report::Report;
use crate::word::{Words, WordsMut};

/// What executes a plan on keys in host memory.
///
/// An engine sees words, a [`Codec`] and a bit range; never a key type. A task's result is the
/// same, bit for bit, whichever engine runs it, but for the values under equal keys where
/// [`Spec::stable`] is false.
pub trait Engine: Send + Sync + fmt::Debug {
    /// The engine's name: `cpu`, `cuda` or `wgpu`.
    fn name(&self) -> &'static str;

    /// The names that [`Spec::algorithm`] can have here, `auto` first where the engine has it.
    fn algorithms(&self) -> &'static [&'static str];

    /// What the engine would do with a task of this shape, data unseen.
    ///
    /// # Errors
    /// As [`run`](Self::run), without touching memory.
    fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan>;

    /// Runs a task.
    ///
    /// # Errors
    /// See [`crate::Error`]. But for [`crate::Error::Device`], the task's data is untouched then.
    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report>;
}

/// An engine that several share is one, too.
impl<E: Engine + ?Sized> Engine for Arc<E> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn algorithms(&self) -> &'static [&'static str] {
        (**self).algorithms()
    }

    fn plan(&self, shape: &Shape, spec: &Spec) -> Result<Plan> {
        (**self).plan(shape, spec)
    }

    fn run(&self, task: Task<'_>, spec: &Spec) -> Result<Report> {
        (**self).run(task, spec)
    }
}

/// How a task is to be sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// From words to codes.
    pub codec: Codec,
    /// Which bits of the code count, the lowest being 0; within the word's width. Words that agree
    /// in them tie.
    pub bits: Range<u32>,
    /// Whether ties keep their input order. Where a tie means that nothing tells the two apart,
    /// the answer makes no difference.
    pub stable: bool,
    /// The method, one of [`Engine::algorithms`]; `auto` leaves the choice to the engine.
    pub algorithm: Cow<'static, str>,
}

impl Spec {
    /// Keys of this type in their natural order, all bits of them, ties in input order.
    ///
    /// ```
    /// use sweepsort_core::{Codec, Spec};
    /// assert_eq!(Spec::natural::<u32>().codec, Codec::UNSIGNED);
    /// assert_eq!(Spec::natural::<f64>().bits, 0..64);
    /// ```
    pub fn natural<K: RadixKey>() -> Spec {
        Spec {
            codec: Codec::for_keys(K::KIND, Order::Ascending, Nan::Total),
            bits: 0..K::BITS,
            stable: true,
            algorithm: Cow::Borrowed("auto"),
        }
    }
}

/// What there is to do. More kinds (segments, rows) will come; an engine answers one that it does
/// not know with [`crate::Error::Unsupported`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Task<'a> {
    /// Sort these keys in place.
    Keys(WordsMut<'a>),
    /// Sort these keys in place, and let the values, equally many, travel with them.
    Pairs(WordsMut<'a>, ValuesMut<'a>),
    /// Leave the keys, and fill the index with the positions of the keys in sorted order, ties in
    /// input order. The codec may tie, as it may in no other task but `Pairs`.
    Argsort(Words<'a>, IndexMut<'a>),
}

impl Task<'_> {
    /// The same task, for as long as this one is borrowed: for one try that may fail.
    pub fn reborrow(&mut self) -> Task<'_> {
        match self {
            Task::Keys(keys) => Task::Keys(keys.reborrow()),
            Task::Pairs(keys, values) => Task::Pairs(keys.reborrow(), values.reborrow()),
            Task::Argsort(keys, index) => Task::Argsort(*keys, index.reborrow()),
        }
    }

    /// The task's shape.
    pub fn shape(&self) -> Shape {
        match self {
            Task::Keys(keys) => Shape::keys(keys.len(), keys.width()),
            Task::Pairs(keys, values) => {
                Shape::pairs(keys.len(), keys.width(), values.value_bytes())
            }
            Task::Argsort(keys, index) => {
                Shape::argsort(keys.len(), keys.width(), index.entry_bytes())
            }
        }
    }
}

/// Values of any type, as bytes to move: `len` values of `value_bytes` each, unaligned.
///
/// An engine only ever permutes them, so it never has to look inside, and padding may stay
/// uninitialised.
#[derive(Debug)]
pub struct ValuesMut<'a> {
    start: *mut u8,
    len: usize,
    value_bytes: usize,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: it stands for a `&mut [V]` of a `V: Send`, see `new`.
unsafe impl Send for ValuesMut<'_> {}

impl<'a> ValuesMut<'a> {
    /// The values of a slice.
    pub fn new<V: Copy + Send>(values: &'a mut [V]) -> Self {
        ValuesMut {
            start: values.as_mut_ptr().cast(),
            len: values.len(),
            value_bytes: size_of::<V>(),
            borrow: PhantomData,
        }
    }

    /// The same values, for as long as these are borrowed.
    pub fn reborrow(&mut self) -> ValuesMut<'_> {
        ValuesMut {
            start: self.start,
            len: self.len,
            value_bytes: self.value_bytes,
            borrow: PhantomData,
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many bytes a value has.
    pub fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// The first byte of the first value. Whoever writes there must leave a permutation of the
    /// values behind.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }
}

/// Where an argsort's result goes.
#[derive(Debug)]
pub enum IndexMut<'a> {
    /// For up to 2^32 keys.
    U32(&'a mut [u32]),
    /// For any number of keys.
    U64(&'a mut [u64]),
}

impl IndexMut<'_> {
    /// The same entries, for as long as these are borrowed.
    pub fn reborrow(&mut self) -> IndexMut<'_> {
        match self {
            IndexMut::U32(index) => IndexMut::U32(index),
            IndexMut::U64(index) => IndexMut::U64(index),
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        match self {
            IndexMut::U32(index) => index.len(),
            IndexMut::U64(index) => index.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes an entry has.
    pub fn entry_bytes(&self) -> usize {
        match self {
            IndexMut::U32(_) => 4,
            IndexMut::U64(_) => 8,
        }
    }
}
