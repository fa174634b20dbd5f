//! Elements at every multiple of their size modulo 16, and what lies around them.

use anyhow::{Context, Result, ensure};
use bytemuck::Pod;
use sweepsort_core::{Nan, Order, Shape, Spec, Word};
use sweepsort_cuda::{Buffer, Raw};
use sweepsort_testkit::{Ordered, Wanted, oracle};

use crate::rig::{Rig, ascending, same};

/// What lies around the elements.
const AROUND: u8 = 0xA5;

/// How far the strictest alignment of a load reaches, in bytes.
const LINE: usize = 16;

/// Elements some bytes past a multiple of 16, with others' bytes on both sides.
struct Placed {
    buffer: Buffer<u8>,
    at: usize,
    bytes: usize,
}

impl Placed {
    fn new<T: Pod>(rig: &Rig, elements: &[T], at: usize) -> Result<Placed> {
        let content: &[u8] = bytemuck::cast_slice(elements);
        let mut all = vec![AROUND; at + content.len() + LINE];
        all[at..at + content.len()].copy_from_slice(content);
        Ok(Placed {
            buffer: rig.stream.upload(&all)?,
            at,
            bytes: content.len(),
        })
    }

    fn address(&self) -> u64 {
        self.buffer.pointer().address() + self.at as u64
    }

    /// The elements, if nothing around them has changed.
    fn read<T: Pod>(&self, rig: &Rig) -> Result<Vec<T>> {
        let all = rig.stream.download(&self.buffer)?;
        let (before, rest) = all.split_at(self.at);
        let (content, after) = rest.split_at(self.bytes);
        ensure!(
            before.iter().chain(after).all(|&byte| byte == AROUND),
            "written beside {} bytes at {} of 16",
            self.bytes,
            self.at
        );
        Ok(bytemuck::pod_collect_to_vec(content))
    }
}

/// Keys, the same sorted, and where each comes from.
pub struct Misplaced<'a, W> {
    rig: &'a Rig,
    algorithm: &'static str,
    keys: Vec<W>,
    sorted: Vec<W>,
    order: Vec<u32>,
}

impl<'a, W: Word + Ordered> Misplaced<'a, W> {
    pub fn new(rig: &'a Rig, algorithm: &'static str, keys: Vec<W>) -> Self {
        let order = oracle::order(&keys, &Wanted::of_keys(Order::Ascending, Nan::Total, None));
        Misplaced {
            rig,
            algorithm,
            sorted: oracle::follow(&keys, &order),
            order: order.iter().map(|&i| i as u32).collect(),
            keys,
        }
    }

    /// Keys alone, with values, and for an index. Returns how many sorts there were.
    ///
    /// # Errors
    /// What is not as it must be, or was written beside the elements.
    pub fn all(&self) -> Result<usize> {
        Ok(self.alone()? + self.carried()?)
    }

    /// With values, and for an index. Returns how many sorts there were.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub fn carried(&self) -> Result<usize> {
        let step = size_of::<W>();
        self.everywhere(|from, to| {
            let word = (from / step * 4 + 4) % LINE;
            self.pairs(from, to, word)?;
            self.argsort(from, word)
        })
    }

    /// Keys alone, in place and from one buffer to another. Returns how many sorts there were.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub fn alone(&self) -> Result<usize> {
        self.everywhere(|from, to| {
            self.in_place(from)?;
            self.apart(from, to)
        })
    }

    /// Sources at every place, and targets at another one each time; two sorts each.
    fn everywhere(&self, sort: impl Fn(usize, usize) -> Result<()>) -> Result<usize> {
        let step = size_of::<W>();
        let mut sorts = 0;
        for from in (0..LINE).step_by(step) {
            let to = (3 * from + step) % LINE;
            sort(from, to).with_context(|| {
                let (n, bits) = (self.keys.len(), 8 * step);
                format!("{n} keys of {bits} bits from {from} of 16 to {to}")
            })?;
            self.rig.intact()?;
            sorts += 2;
        }
        Ok(sorts)
    }

    fn in_place(&self, at: usize) -> Result<()> {
        let keys = Placed::new(self.rig, &self.keys, at)?;
        self.sort(
            Shape::keys(self.keys.len(), W::WIDTH),
            Raw {
                keys: keys.address(),
                keys_to: keys.address(),
                ..Raw::default()
            },
        )?;
        same("keys in place", &keys.read(self.rig)?, &self.sorted)
    }

    fn apart(&self, from: usize, to: usize) -> Result<()> {
        let source = Placed::new(self.rig, &self.keys, from)?;
        let target = self.empty::<W>(to)?;
        self.sort(
            Shape::keys(self.keys.len(), W::WIDTH),
            Raw {
                keys: source.address(),
                keys_to: target.address(),
                ..Raw::default()
            },
        )?;
        same("the source", &source.read(self.rig)?, &self.keys)?;
        same("keys", &target.read(self.rig)?, &self.sorted)
    }

    /// Values of four bytes, which are the keys' positions; then values of the keys' own size, which
    /// are the keys: so the order of equal ones cannot be told, and they are also sorted without it.
    fn pairs(&self, from: usize, to: usize, word: usize) -> Result<()> {
        let positions: Vec<u32> = (0..self.keys.len() as u32).collect();
        let stable = ascending(W::WIDTH, self.algorithm);
        self.pairs_with(&stable, (from, to), (&positions, word), &self.order)?;
        let free = Spec {
            stable: false,
            ..stable.clone()
        };
        for spec in [&stable, &free] {
            self.pairs_with(spec, (to, from), (&self.keys, to), &self.sorted)?;
        }
        Ok(())
    }

    fn pairs_with<V: Pod + PartialEq + std::fmt::Debug>(
        &self,
        spec: &Spec,
        (from, to): (usize, usize),
        (values, at): (&[V], usize),
        expected: &[V],
    ) -> Result<()> {
        let shape = Shape::pairs(self.keys.len(), W::WIDTH, size_of::<V>());
        let source = Placed::new(self.rig, &self.keys, from)?;
        let moving = Placed::new(self.rig, values, at)?;
        let target = self.empty::<W>(to)?;
        let moved = self.empty::<V>((at + size_of::<V>()) % LINE)?;
        self.sort_by(
            spec,
            shape,
            Raw {
                keys: source.address(),
                keys_to: target.address(),
                values: moving.address(),
                values_to: moved.address(),
                ..Raw::default()
            },
        )?;
        same("the source's keys", &source.read(self.rig)?, &self.keys)?;
        same("the source's values", &moving.read(self.rig)?, values)?;
        same("pairs' keys", &target.read(self.rig)?, &self.sorted)?;
        same("pairs' values", &moved.read(self.rig)?, expected)?;
        self.sort_by(
            spec,
            shape,
            Raw {
                keys: source.address(),
                keys_to: source.address(),
                values: moving.address(),
                values_to: moving.address(),
                ..Raw::default()
            },
        )?;
        same(
            "pairs' keys in place",
            &source.read(self.rig)?,
            &self.sorted,
        )?;
        same("pairs' values in place", &moving.read(self.rig)?, expected)
    }

    fn argsort(&self, from: usize, to: usize) -> Result<()> {
        let source = Placed::new(self.rig, &self.keys, from)?;
        let index = self.empty::<u32>(to)?;
        self.sort(
            Shape::argsort(self.keys.len(), W::WIDTH, 4),
            Raw {
                keys: source.address(),
                values_to: index.address(),
                ..Raw::default()
            },
        )?;
        same("the indexed keys", &source.read(self.rig)?, &self.keys)?;
        same("the index", &index.read(self.rig)?, &self.order)
    }

    /// Room for as many elements as keys.
    fn empty<T: Pod>(&self, at: usize) -> Result<Placed> {
        Placed::new(self.rig, &vec![T::zeroed(); self.keys.len()], at)
    }

    fn sort(&self, shape: Shape, raw: Raw) -> Result<()> {
        self.sort_by(&ascending(W::WIDTH, self.algorithm), shape, raw)
    }

    fn sort_by(&self, spec: &Spec, shape: Shape, raw: Raw) -> Result<()> {
        let plan = self.rig.plan(shape, spec)?;
        let workspace = self.rig.workspace(&plan)?;
        let raw = Raw {
            workspace: workspace.pointer().address(),
            workspace_bytes: workspace.len(),
            ..raw
        };
        // SAFETY: each address is that of as many elements as the shape has, in buffers that are
        // there until the stream is through, and the caller reads them through it.
        unsafe { plan.sort_raw(&self.rig.stream, raw)? };
        self.rig.stream.synchronize()?;
        Ok(())
    }
}
