//! Strategies for `proptest`: keys that meet often, and options. With the feature `proptest`.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use sweepsort_core::{Nan, Order};

use crate::order::{Ordered, Wanted};
use crate::pattern::Pattern;

/// A key of up to 128 bits: any one, one of few, or one at an edge of the type.
pub fn key<K: Ordered>() -> impl Strategy<Value = K> {
    let all = u128::MAX >> (128 - K::BITS.clamp(1, 128));
    prop_oneof![
        any::<u128>().prop_map(move |place| place & all),
        (0..4u128).prop_map(move |i| (all / 3).wrapping_mul(i)),
        (0..4u128).prop_map(move |i| (all / 2).wrapping_add(i).wrapping_sub(1) & all),
        (0..3u128).prop_map(move |i| all.saturating_sub(i)),
    ]
    .prop_map(K::at_position)
}

/// Up to `most` keys: independent ones, or, as these seldom agree in more than their first digit,
/// a [`Pattern`].
pub fn keys<K: Ordered>(most: usize) -> impl Strategy<Value = Vec<K>> {
    prop_oneof![
        vec(key(), 0..=most.min(64)),
        (0..Pattern::ALL.len(), 0..=most, any::<u64>())
            .prop_map(|(i, n, seed)| Pattern::ALL[i].keys(n, seed, &Wanted::default())),
    ]
}

/// Ascending or descending.
pub fn order() -> impl Strategy<Value = Order> {
    proptest::sample::select(Order::ALL)
}

/// Where NaNs go.
pub fn nan() -> impl Strategy<Value = Nan> {
    proptest::sample::select(Nan::ALL)
}

/// Half of the time all bits of a key, else a range of them, empty ones included.
pub fn bits<K: Ordered>() -> impl Strategy<Value = Option<Range<u32>>> {
    proptest::option::of((0..=K::BITS, 0..=K::BITS).prop_map(|(a, b)| a.min(b)..a.max(b)))
}
