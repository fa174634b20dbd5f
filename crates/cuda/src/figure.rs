//! Figures of the engines' tables: numbers of keys up to which, or from which on, a way to sort is taken.
//!
//! A measurement may set a device's figures to others, so that both sides of a threshold are seen; see
//! [`Device::set_figures`](crate::Device::set_figures).

use crate::{count, hybrid, onesweep};

/// A figure of all rows of an engine's table, and what it is to be: `hybrid.once`, 4194304.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    name: &'static str,
    number: usize,
}

impl Figure {
    /// That figure, if there is one of this name; a number is 1 or more.
    pub fn new(name: &str, number: usize) -> Option<Figure> {
        let name = Self::names().find(|known| *known == name && number > 0)?;
        Some(Figure { name, number })
    }

    /// The name of every figure, its engine's name in front.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let tables = [
            hybrid::Tuning::NAMES,
            onesweep::Tuning::NAMES,
            count::Tuning::NAMES,
        ];
        tables.into_iter().flatten().copied()
    }
}

/// A row of a table.
pub(crate) trait Row: Sized {
    /// As in [`Figure`].
    const NAMES: &'static [&'static str];

    /// Its figures, in the order of their names.
    fn figures(&mut self) -> Vec<&mut usize>;

    /// With these instead of its own; others' are passed over.
    fn with(mut self, others: &[Figure]) -> Self {
        for (name, figure) in Self::NAMES.iter().zip(self.figures()) {
            let other = others.iter().rev().find(|other| other.name == *name);
            *figure = other.map_or(*figure, |other| other.number);
        }
        self
    }
}

/// The figures of a row, which are its fields of these names.
macro_rules! row {
    ($Row:ty, $engine:literal: $($figure:ident),*) => {
        impl $crate::figure::Row for $Row {
            const NAMES: &'static [&'static str] =
                &[$(concat!($engine, ".", stringify!($figure))),*];

            fn figures(&mut self) -> Vec<&mut usize> {
                vec![$(&mut self.$figure),*]
            }
        }
    };
}
pub(crate) use row;

#[cfg(test)]
mod tests {
    use sweepsort_core::Width;

    use super::*;

    #[test]
    fn a_row_has_its_own_figures_but_for_those_that_are_set() {
        let figure = |name, number| Figure::new(name, number).unwrap();
        let others = [
            figure("hybrid.once", 5),
            figure("onesweep.together", 6),
            figure("hybrid.once", 7),
        ];
        let own = hybrid::Tuning::of(Width::W64);
        let with = hybrid::Tuning::of(Width::W64).with(&others);
        assert_eq!((with.once, with.together), (7, own.together));
        assert_eq!(Figure::new("hybrid.twice", 1), None);
        assert_eq!(Figure::new("once", 1), None);
        assert_eq!(Figure::new("hybrid.once", 0), None);
    }

    #[test]
    fn figures_have_names_of_their_own() {
        let mut names: Vec<_> = Figure::names().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
