//! Text: one key a line, parsed and printed on all cores.
//!
//! A line may have blanks (space, tab) around its key and end in CRLF; a line of blanks alone is
//! skipped. Integers are decimal, with or without a sign. Floats are what C and Rust read, `inf`,
//! `nan` and `-nan` included; a NaN's payload has no text. A `bool` is 0, 1, `false` or `true`, in
//! any case. Printed are: integers in decimal, floats as the shortest text that reads back as the
//! same float, `true` and `false`.
//!
//! The shape of the data: a file's bytes are cut behind line ends into as many pieces as keep all
//! cores busy. A first read counts each piece's lines, which says where its keys belong; a second
//! parses them into their place.

use std::fmt;

use half::{bf16, f16};
use memchr::{memchr, memchr_iter};
use rayon::prelude::*;

use crate::exit::{Failure, Result};
use crate::memory::{self, Keys};
use crate::output::Output;
use crate::progress::Progress;
use crate::types::{Bool, Key, Type};
use crate::with_key;

/// How many bytes of text a task parses.
const PIECE: usize = 1 << 20;

/// How many keys a task prints.
const PRINTED: usize = 1 << 16;

/// Why a line is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It has another form than the type's keys have.
    Form,
    /// It is a number that the type does not have.
    Range,
}

/// A key that has a text.
pub trait Text: Key {
    /// The key of a line, blanks around it taken off.
    ///
    /// # Errors
    /// Why it is no key.
    fn parse(line: &[u8]) -> Result<Self, Wrong>;

    /// Appends the key's text.
    fn print(self, out: &mut Vec<u8>);
}

macro_rules! integers {
    ($($key:ty)*) => {$(
        impl Text for $key {
            #[inline]
            fn parse(line: &[u8]) -> Result<Self, Wrong> {
                atoi_simd::parse::<$key, true, true>(line).map_err(|_| ()).or_else(|()| unusual(line))
            }

            #[inline]
            fn print(self, out: &mut Vec<u8>) {
                out.extend_from_slice(itoa::Buffer::new().format(self).as_bytes());
            }
        }
    )*};
}
integers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128);

/// An integer that the fast parser refused: −0 of an unsigned type, a number out of range, or none.
#[cold]
fn unusual<T: From<bool>>(line: &[u8]) -> Result<T, Wrong> {
    let digits = line.strip_prefix(b"-").or(line.strip_prefix(b"+"));
    let digits = digits.unwrap_or(line);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        Err(Wrong::Form)
    } else if digits.iter().all(|&digit| digit == b'0') {
        Ok(T::from(false))
    } else {
        Err(Wrong::Range)
    }
}

/// Whether a text that reads as an infinity is a finite number in truth.
fn has_digits(line: &[u8]) -> bool {
    line.iter().any(u8::is_ascii_digit)
}

fn parse_float<F: fast_float2::FastFloat>(
    line: &[u8],
    infinite: impl Fn(F) -> bool,
) -> Result<F, Wrong> {
    let number: F = fast_float2::parse(line).map_err(|_| Wrong::Form)?;
    if infinite(number) && has_digits(line) {
        return Err(Wrong::Range);
    }
    Ok(number)
}

macro_rules! floats {
    ($($key:ty)*) => {$(
        impl Text for $key {
            #[inline]
            fn parse(line: &[u8]) -> Result<Self, Wrong> {
                parse_float(line, <$key>::is_infinite)
            }

            #[inline]
            fn print(self, out: &mut Vec<u8>) {
                if self.is_finite() {
                    out.extend_from_slice(zmij::Buffer::new().format_finite(self).as_bytes());
                } else {
                    print_infinite(self.is_nan(), self.is_sign_negative(), out);
                }
            }
        }
    )*};
}
floats!(f32 f64);

macro_rules! half_floats {
    ($($key:ty)*) => {$(
        impl Text for $key {
            fn parse(line: &[u8]) -> Result<Self, Wrong> {
                let number = <$key>::from_f64(parse_float(line, f64::is_infinite)?);
                if number.is_infinite() && has_digits(line) {
                    return Err(Wrong::Range);
                }
                Ok(number)
            }

            fn print(self, out: &mut Vec<u8>) {
                if !self.is_finite() {
                    return print_infinite(self.is_nan(), self.is_sign_negative(), out);
                }
                // Five digits tell all these floats apart; the fewest that do are wanted.
                let number = self.to_f64();
                let short = (0..4)
                    .filter_map(|digits| format!("{number:.digits$e}").parse::<f64>().ok())
                    .find(|&short| <$key>::from_f64(short).to_bits() == self.to_bits());
                short.unwrap_or(number).print(out);
            }
        }
    )*};
}
half_floats!(f16 bf16);

#[cold]
fn print_infinite(nan: bool, negative: bool, out: &mut Vec<u8>) {
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(if nan { b"nan" } else { b"inf" });
}

impl Text for Bool {
    fn parse(line: &[u8]) -> Result<Self, Wrong> {
        match line {
            b"0" => Ok(Bool(0)),
            b"1" => Ok(Bool(1)),
            _ if line.eq_ignore_ascii_case(b"false") => Ok(Bool(0)),
            _ if line.eq_ignore_ascii_case(b"true") => Ok(Bool(1)),
            _ if !line.is_empty() && line.iter().all(u8::is_ascii_digit) => Err(Wrong::Range),
            _ => Err(Wrong::Form),
        }
    }

    fn print(self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.0 == 0 { b"false" } else { b"true" });
    }
}

/// A key's text.
pub fn shown<K: Text>(key: K) -> String {
    let mut out = Vec::new();
    key.print(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The keys of a text.
///
/// # Errors
/// [`Failure::Input`] names the file, the first wrong line's number and its text;
/// [`Failure::System`] where there is no memory for the keys.
pub fn parse(ty: Type, name: impl fmt::Display, text: &[u8], progress: &Progress) -> Result<Keys> {
    with_key!(ty, |K| parse_keys::<K>(name, text, progress))
}

fn parse_keys<K: Text>(name: impl fmt::Display, text: &[u8], progress: &Progress) -> Result<Keys> {
    let pieces = cut(text);
    let lines: Vec<usize> = pieces.par_iter().map(|piece| count_lines(piece)).collect();
    let total: usize = lines.iter().sum();
    memory::require(2 * (total * size_of::<K>()) as u64, &name.to_string())?;
    let mut keys = Keys::zeroed(K::TYPE, total)?;

    let mut places = Vec::with_capacity(pieces.len());
    let mut rest = keys.slice_mut::<K>();
    for &count in &lines {
        let (place, after) = rest.split_at_mut(count);
        places.push(place);
        rest = after;
    }
    let parsed: Vec<Result<usize, Bad>> = pieces
        .par_iter()
        .zip(places)
        .map(|(piece, place)| {
            let found = parse_piece(piece, place);
            progress.inc(piece.len());
            found
        })
        .collect();

    // Where lines were blank, a piece has fewer keys than lines: close the gaps.
    let (mut kept, mut start) = (0, 0);
    for (i, found) in parsed.into_iter().enumerate() {
        let found = found.map_err(|bad| {
            let line = start + bad.line + 1;
            complaint::<K>(&name, line, bad)
        })?;
        if kept != start {
            keys.slice_mut::<K>()
                .copy_within(start..start + found, kept);
        }
        kept += found;
        start += lines[i];
    }
    keys.truncate(kept);
    Ok(keys)
}

/// The text in pieces of about [`PIECE`] bytes, each but the last ending in a line end.
fn cut(text: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::with_capacity(text.len() / PIECE + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let search = PIECE.min(rest.len());
        let end = memchr(b'\n', &rest[search..]).map_or(rest.len(), |at| search + at + 1);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// How many lines a piece has, one without an end included.
fn count_lines(piece: &[u8]) -> usize {
    memchr_iter(b'\n', piece).count() + usize::from(piece.last() != Some(&b'\n'))
}

/// A line that is no key: its number in its piece, from 0, its text, and why.
struct Bad {
    line: usize,
    text: Vec<u8>,
    wrong: Wrong,
}

/// Parses a piece's lines into `place`, and says how many keys there were.
fn parse_piece<K: Text>(piece: &[u8], place: &mut [K]) -> Result<usize, Bad> {
    let (mut start, mut found) = (0, 0);
    for number in 0..place.len() {
        let end = memchr(b'\n', &piece[start..]).map_or(piece.len(), |at| start + at);
        let line = &piece[start..end];
        start = end + 1;
        // Most lines are a key and nothing else.
        if let Ok(key) = K::parse(line) {
            place[found] = key;
            found += 1;
            continue;
        }
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match K::parse(line) {
            Ok(key) => place[found] = key,
            Err(wrong) => {
                return Err(Bad {
                    line: number,
                    text: line.to_vec(),
                    wrong,
                });
            }
        }
        found += 1;
    }
    Ok(found)
}

/// The error about a line.
fn complaint<K: Text>(name: impl fmt::Display, line: usize, bad: Bad) -> Failure {
    let ty = K::TYPE;
    let text = excerpt(&bad.text);
    let what = match (bad.wrong, ty) {
        (Wrong::Range, Type::Bool) => "is no bool; a bool is 0, 1, false or true".to_owned(),
        (Wrong::Range, _) => {
            let (low, high) = range(ty);
            format!("is out of range for {ty} ({low} to {high}); give a wider type with -t")
        }
        (Wrong::Form, _) if bad.text.iter().any(|&byte| byte < b' ' && byte != b'\t') => {
            "is no text; if the file is raw or npy, say so with -f (and -t)".to_owned()
        }
        (Wrong::Form, Type::Bool) => "is no bool; a bool is 0, 1, false or true".to_owned(),
        (Wrong::Form, _) if ty.is_float() => format!("is no number; {ty} takes one number a line"),
        (Wrong::Form, _) if f64::parse(&bad.text).is_ok() => {
            format!("is no whole number, as {ty} takes them; give -t f64")
        }
        (Wrong::Form, _) => format!("is no number; {ty} takes one whole number a line"),
    };
    Failure::input(format!("{name}: line {line}: '{text}' {what}"))
}

/// The start of a line, fit to be shown.
fn excerpt(text: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
    if shown.len() < text.len() {
        format!("{shown}…")
    } else {
        shown
    }
}

/// The smallest and the largest number of a type.
fn range(ty: Type) -> (String, String) {
    macro_rules! ends {
        ($($name:ident $key:ty),*) => {
            match ty {
                $(Type::$name => (shown(<$key>::MIN), shown(<$key>::MAX)),)*
                Type::Bool => ("0".to_owned(), "1".to_owned()),
            }
        };
    }
    ends!(
        U8 u8, U16 u16, U32 u32, U64 u64, U128 u128, I8 i8, I16 i16, I32 i32, I64 i64, I128 i128,
        F16 f16, Bf16 bf16, F32 f32, F64 f64
    )
}

/// Prints keys, one a line: some pieces are written while the next are printed.
///
/// # Errors
/// Those of [`Output::write`].
pub fn write(keys: &Keys, output: &mut Output, progress: &Progress) -> Result<()> {
    with_key!(keys.ty(), |K| write_keys::<K>(
        keys.slice::<K>(),
        output,
        progress
    ))
}

fn write_keys<K: Text>(keys: &[K], output: &mut Output, progress: &Progress) -> Result<()> {
    // Enough pieces for all cores to be busy a while.
    let wave = PRINTED * 4 * rayon::current_num_threads();
    let print = |wave: &[K]| -> Vec<Vec<u8>> {
        wave.par_chunks(PRINTED)
            .map(|keys| {
                let mut out = Vec::with_capacity(keys.len() * 12);
                for &key in keys {
                    key.print(&mut out);
                    out.push(b'\n');
                }
                out
            })
            .collect()
    };
    let mut waves = keys.chunks(wave);
    let mut ready = waves.next().map(&print);
    while let Some(pieces) = ready.take() {
        let next = waves.next();
        let (written, printed) = rayon::join(
            || pieces.iter().try_for_each(|piece| output.write(piece)),
            || next.map(&print),
        );
        written?;
        progress.inc(wave * size_of::<K>());
        ready = printed;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read<K: Text>(text: &str) -> Result<Vec<K>> {
        let keys = parse(K::TYPE, "t", text.as_bytes(), &Progress::hidden())?;
        Ok(keys.slice::<K>().to_vec())
    }

    fn error<K: Text>(text: &str) -> String {
        match parse(K::TYPE, "t", text.as_bytes(), &Progress::hidden()) {
            Err(Failure::Input(line)) => line,
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn lines() -> Result<()> {
        assert!(read::<i64>("")?.is_empty());
        assert!(read::<i64>("\n\n")?.is_empty());
        assert_eq!(read::<i64>("3\n-1\n+2")?, [3, -1, 2]);
        assert_eq!(read::<i64>(" 3\t\r\n\r\n  \n-1 \n")?, [3, -1]);
        assert_eq!(read::<u8>("-0\n+0\n000255\n")?, [0, 0, 255]);
        assert_eq!(
            read::<f64>("1\n.5\n-1e3\ninf\n-INF\n5.\n")?,
            [1.0, 0.5, -1e3, f64::INFINITY, f64::NEG_INFINITY, 5.0]
        );
        assert_eq!(
            read::<Bool>("0\n1\ntrue\nFalse\n")?,
            [Bool(0), Bool(1), Bool(1), Bool(0)]
        );
        let nans = read::<f32>("nan\n-nan\nNaN")?;
        assert!(nans.iter().all(|nan| nan.is_nan()));
        assert_eq!(
            nans.iter()
                .map(|nan| nan.is_sign_negative())
                .collect::<Vec<_>>(),
            [false, true, false]
        );
        Ok(())
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, parts) in [
            ("1\nabc\n", &["t: line 2: 'abc' is no number"][..]),
            ("1\n\n 2 x \n", &["line 3: '2 x'"]),
            ("1.5\n", &["line 1: '1.5' is no whole number", "-t f64"]),
            ("-", &["line 1: '-' is no number"]),
            ("1 2", &["'1 2' is no number"]),
            ("\u{1}\u{2}", &["is no text", "-f"]),
            (
                "9223372036854775808",
                &["out of range for i64", "9223372036854775807"],
            ),
            (
                "-9999999999999999999999999999999999999999999",
                &["…' is out of range"],
            ),
        ] {
            let line = error::<i64>(text);
            for part in parts {
                assert!(line.contains(part), "{text:?}: {line}");
            }
        }
        assert!(error::<u8>("256").contains("out of range for u8 (0 to 255)"));
        assert!(error::<u16>("-1").contains("out of range for u16"));
        assert!(error::<u128>("340282366920938463463374607431768211456").contains("out of range"));
        assert!(
            error::<f32>("1e39").contains("out of range for f32 (-3.4028235e+38 to 3.4028235e+38)")
        );
        assert!(error::<f16>("70000").contains("out of range for f16"));
        assert!(error::<f64>("1e").contains("'1e' is no number"));
        assert!(error::<Bool>("2").contains("0, 1, false or true"));
        assert!(error::<Bool>("yes").contains("0, 1, false or true"));
    }

    /// A wrong line's number is right wherever the pieces are cut, blank lines or not.
    #[test]
    fn line_numbers_count_across_pieces() {
        let mut text = "1234567\n\n".repeat(PIECE / 4);
        text.push_str("x\n");
        let line = PIECE / 2 + 1;
        assert!(error::<u32>(&text).contains(&format!("t: line {line}: 'x'")));
        text.truncate(text.len() - 2);
        assert_eq!(
            read::<u32>(&text).map(|keys| keys.len()).ok(),
            Some(PIECE / 4)
        );
    }

    #[test]
    fn half_floats_print_short_and_read_back() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            let (text_a, text_b) = (shown(a), shown(b));
            if !a.is_nan() {
                assert_eq!(f16::parse(text_a.as_bytes()), Ok(a), "{text_a}");
            }
            if !b.is_nan() {
                assert_eq!(bf16::parse(text_b.as_bytes()), Ok(b), "{text_b}");
            }
        }
        assert_eq!(shown(f16::from_f64(0.1)), "0.1");
        assert_eq!(shown(bf16::from_f64(-2.34)), "-2.34");
        assert_eq!(shown(-f16::NAN), "-nan");
    }

    fn reads_as<K: Text + std::str::FromStr + PartialEq + fmt::Debug>(text: &str) {
        let ours = K::parse(text.as_bytes()).ok();
        let std = text.parse::<K>().ok();
        // The standard library does not take −0 for an unsigned zero.
        if std.is_some()
            || !text
                .trim_start_matches('-')
                .bytes()
                .all(|byte| byte == b'0')
        {
            assert_eq!(ours, std, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn integers_read_as_the_standard_library_reads(text in "[-+]?[0-9]{0,41}[-+ a.]?") {
            reads_as::<u8>(&text);
            reads_as::<i8>(&text);
            reads_as::<u16>(&text);
            reads_as::<i16>(&text);
            reads_as::<u32>(&text);
            reads_as::<i32>(&text);
            reads_as::<u64>(&text);
            reads_as::<i64>(&text);
            reads_as::<u128>(&text);
            reads_as::<i128>(&text);
        }

        #[test]
        fn short_integers_read_as_the_standard_library_reads(text in "[-+]?[0-9]{1,5}") {
            reads_as::<u8>(&text);
            reads_as::<i8>(&text);
            reads_as::<u16>(&text);
            reads_as::<i16>(&text);
        }

        #[test]
        fn integers_read_back(key: i128) {
            prop_assert_eq!(i128::parse(shown(key).as_bytes()), Ok(key));
            prop_assert_eq!(i64::parse(shown(key as i64).as_bytes()), Ok(key as i64));
            prop_assert_eq!(u64::parse(shown(key as u64).as_bytes()), Ok(key as u64));
        }

        #[test]
        fn floats_read_back(bits: u64) {
            let (wide, narrow) = (f64::from_bits(bits), f32::from_bits(bits as u32));
            if !wide.is_nan() {
                prop_assert_eq!(f64::parse(shown(wide).as_bytes()).map(f64::to_bits), Ok(bits));
            }
            if !narrow.is_nan() {
                let read = f32::parse(shown(narrow).as_bytes()).map(f32::to_bits);
                prop_assert_eq!(read, Ok(bits as u32));
            }
        }

        /// Whatever the bytes, an answer and no panic.
        #[test]
        fn any_bytes(text: Vec<u8>) {
            for &ty in Type::ALL {
                let _ = parse(ty, "t", &text, &Progress::hidden());
            }
        }
    }
}
