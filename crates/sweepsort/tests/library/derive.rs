//! What `#[derive(RadixKey)]` makes: the fields' bits one after the other, and back.

use std::cmp::Reverse;
use std::fmt::Debug;

use sweepsort::RadixKey;

/// The key has these bits, and comes back from them.
fn has_bits<K: RadixKey + PartialEq + Debug>(key: K, width: u32, bits: u128) {
    assert_eq!(K::BITS, width, "{key:?}");
    assert_eq!(key.bits(), bits, "{key:?} has {:#x}", key.bits());
    assert_eq!(K::from_bits(bits), key);
}

#[test]
fn named_fields() {
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Event {
        day: u16,
        urgent: bool,
        level: i8,
    }
    has_bits(
        Event {
            day: 0x1234,
            urgent: true,
            level: -1,
        },
        25,
        0x1234 << 9 | 1 << 8 | 0x7f,
    );
}

#[test]
fn unnamed_fields() {
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Pair(u8, [u8; 3]);
    has_bits(Pair(1, [2, 3, 4]), 32, 0x0102_0304);
}

#[test]
fn no_fields() {
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Unit;
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Empty {}
    has_bits(Unit, 0, 0);
    has_bits(Empty {}, 0, 0);
}

#[test]
fn reversed_and_nested_fields() {
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Inner(u8, Reverse<u8>);
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Outer {
        head: u8,
        inner: Reverse<Inner>,
        tail: Inner,
    }
    let inner = Inner(0x0f, Reverse(0x01));
    has_bits(inner, 16, 0x0f_fe);
    has_bits(
        Outer {
            head: 3,
            inner: Reverse(inner),
            tail: inner,
        },
        40,
        0x03_f001_0ffe,
    );
}

#[test]
fn generic_structs() {
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Both<A, B: Copy>
    where
        A: Debug,
    {
        a: A,
        b: B,
    }
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Bytes<const N: usize>([u8; N]);
    has_bits(Both { a: -1i16, b: 5u8 }, 24, 0x7f_ff05);
    has_bits(Bytes([1, 2, 3]), 24, 0x01_0203);
}

/// A field may have a name that the derived code could use itself.
#[test]
fn names_do_not_clash() {
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Awkward {
        out: u8,
        from: u8,
        r#type: u8,
        write: u8,
        read: u8,
    }
    let key = Awkward {
        out: 1,
        from: 2,
        r#type: 3,
        write: 4,
        read: 5,
    };
    has_bits(key, 40, 0x01_0203_0405);
}

/// Floats have their bits under the total order.
#[test]
fn floats() {
    #[derive(Clone, Copy, Debug, PartialEq, RadixKey)]
    struct Point {
        x: f32,
        y: f32,
    }
    has_bits(Point { x: 0.0, y: -0.0 }, 64, 0x8000_0000_7fff_ffff);
}
