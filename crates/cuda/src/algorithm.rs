//! The engine's own sorts, and which of them a task gets.
//!
//! | algorithm | what it sorts |
//! |---|---|
//! | `onesweep` | everything |
//! | `hybrid` | whole keys of 32, 64 or 128 bits, alone, with values, or for an index |
//! | `count` | whole keys of 8 or 16 bits alone |
//!
//! Whole: all bits decide, so that keys which tie are equal, and which of them comes first makes no
//! difference.
//!
//! Where the choice is the engine's, few keys of 32 bits and more with values, by some of their
//! bits, or for an index find their places among all: that is up to `carry.rs`.

use sweepsort_core::{Shape, Spec};

use crate::hybrid::{Composites, LEAST_COMPOSITES, LEAST_RECORDS, MOST_KEYS, MOST_RECORDS};
use crate::onesweep::Payload;

/// One of the engine's own sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Onesweep,
    Hybrid,
    Count,
}

/// Why an algorithm does not take a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked for.
    pub what: String,
    /// What would do.
    pub instead: String,
}

impl Algorithm {
    /// What leaves the choice to the engine.
    pub const AUTO: &str = "auto";

    pub const ALL: [Algorithm; 3] = [Algorithm::Onesweep, Algorithm::Hybrid, Algorithm::Count];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Onesweep => "onesweep",
            Algorithm::Hybrid => "hybrid",
            Algorithm::Count => "count",
        }
    }

    /// Whether a name is that of one of them, or leaves the choice.
    pub fn is_own(name: &str) -> bool {
        name == Self::AUTO || Self::ALL.iter().any(|own| own.name() == name)
    }

    /// The algorithm for a task.
    ///
    /// # Errors
    /// Why the one that is asked for does not take it.
    pub fn of(shape: &Shape, spec: &Spec) -> Result<Algorithm, Refusal> {
        let bits = shape.width.bits();
        let (whole, alone) = (spec.bits == (0..bits), shape.payload_bytes == 0);
        // Of keys that tie, though they differ, an index is sorted, which they follow.
        let equal_ties = alone && !spec.codec.ties;
        let count = whole && equal_ties && bits <= 16;
        let hybrid = whole && bits > 16;
        let travels = Payload::of(shape, spec).unwrap_or(Payload::index_of(shape.keys));
        let keys = if equal_ties {
            0..=MOST_KEYS
        } else if Composites::take(shape.width, travels, spec) {
            LEAST_COMPOSITES..=MOST_KEYS
        } else {
            LEAST_RECORDS..=MOST_RECORDS
        };
        let refused = |what: String, instead: &str| {
            Err(Refusal {
                what,
                instead: instead.to_owned(),
            })
        };
        match &*spec.algorithm {
            "auto" if count => Ok(Algorithm::Count),
            "auto" if hybrid && keys.contains(&shape.keys) => Ok(Algorithm::Hybrid),
            "auto" | "onesweep" => Ok(Algorithm::Onesweep),
            "hybrid" if hybrid && shape.keys <= *keys.end() => Ok(Algorithm::Hybrid),
            "hybrid" if hybrid => refused(
                format!("a hybrid sort of {} keys", shape.keys),
                &format!("up to {} of them, or onesweep", keys.end()),
            ),
            "hybrid" => refused(
                "a hybrid sort of anything but whole keys of 32, 64 or 128 bits".into(),
                "onesweep",
            ),
            "count" if count => Ok(Algorithm::Count),
            "count" => refused(
                "counting anything but whole keys of 8 or 16 bits alone".into(),
                "onesweep, or hybrid for wider keys alone",
            ),
            name => refused(
                format!("a plan for algorithm '{name}'"),
                "auto, onesweep, hybrid or count",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use sweepsort_core::{Codec, Kind, Nan, Order, Width};

    use super::*;

    fn of(shape: Shape, algorithm: &'static str) -> Result<Algorithm, Refusal> {
        let mut spec = Spec::natural::<u8>();
        spec.bits = 0..shape.width.bits();
        spec.algorithm = Cow::Borrowed(algorithm);
        Algorithm::of(&shape, &spec)
    }

    #[test]
    fn keys_alone_are_counted_or_partitioned() {
        for n in [0, 1, 1024, 1 << 20, MOST_KEYS] {
            for width in Width::ALL {
                let own = match width {
                    Width::W8 | Width::W16 => Algorithm::Count,
                    _ => Algorithm::Hybrid,
                };
                let keys = Shape::keys(n, width);
                assert_eq!(of(keys, "auto"), Ok(own));
                assert_eq!(of(keys, own.name()), Ok(own));
                assert_eq!(of(keys, "onesweep"), Ok(Algorithm::Onesweep));
            }
        }
        let many = |width| of(Shape::keys(MOST_KEYS + 1, width), "auto");
        assert_eq!(many(Width::W32), Ok(Algorithm::Onesweep));
        assert_eq!(many(Width::W8), Ok(Algorithm::Count));
    }

    #[test]
    fn many_records_are_moved_to_their_cells() {
        let sizes = [
            1,
            LEAST_COMPOSITES - 1,
            LEAST_COMPOSITES,
            LEAST_RECORDS - 1,
            LEAST_RECORDS,
            MOST_RECORDS,
            MOST_RECORDS + 1,
            MOST_KEYS + 1,
        ];
        for (n, width) in sizes
            .iter()
            .flat_map(|&n| Width::ALL.map(|width| (n, width)))
        {
            let wide = width.bits() > 16;
            for records in [
                Shape::pairs(n, width, 4),
                Shape::pairs(n, width, 12),
                Shape::argsort(n, width, 4),
                Shape::argsort(n, width, 8),
            ] {
                // An index of 4 bytes, also one that values of 12 bytes follow.
                let composed =
                    width == Width::W32 && (records.argsort || records.payload_bytes == 12);
                let composed = composed && records.payload_bytes != 8;
                let own = match composed {
                    true => LEAST_COMPOSITES..=MOST_KEYS,
                    false => LEAST_RECORDS..=MOST_RECORDS,
                };
                let auto = match wide && own.contains(&n) {
                    true => Algorithm::Hybrid,
                    false => Algorithm::Onesweep,
                };
                assert_eq!(of(records, "auto"), Ok(auto), "{records:?}");
                assert_eq!(of(records, "onesweep"), Ok(Algorithm::Onesweep));
                assert!(of(records, "count").is_err());
                let forced = of(records, "hybrid");
                assert_eq!(forced.is_ok(), wide && n <= *own.end(), "{records:?}");
            }
        }
    }

    #[test]
    fn what_tells_equal_keys_apart_is_not_for_partitions() {
        let shape = Shape::keys(1 << 20, Width::W32);
        let mut range = Spec::natural::<u32>();
        range.bits = 0..31;
        assert_eq!(Algorithm::of(&shape, &range), Ok(Algorithm::Onesweep));
        let mut ties = Spec::natural::<f32>();
        let kind = Kind::Float { mantissa: 23 };
        ties.codec = Codec::for_records(kind, Order::Ascending, Nan::Last);
        // They follow an index.
        let few = Shape::keys(LEAST_COMPOSITES - 1, Width::W32);
        assert_eq!(Algorithm::of(&few, &ties), Ok(Algorithm::Onesweep));
        let many = Shape::keys(LEAST_COMPOSITES, Width::W32);
        assert_eq!(Algorithm::of(&many, &ties), Ok(Algorithm::Hybrid));
    }

    #[test]
    fn refusals_say_what_would_do() {
        let refused = |shape, algorithm| of(shape, algorithm).unwrap_err().instead;
        let few = Shape::keys(9, Width::W16);
        assert!(refused(few, "hybrid").contains("onesweep"));
        assert!(refused(Shape::keys(9, Width::W32), "count").contains("hybrid"));
        let many = Shape::keys(MOST_KEYS + 1, Width::W64);
        assert!(refused(many, "hybrid").contains("1181116006"));
        assert!(refused(few, "split").contains("auto"));
    }
}
