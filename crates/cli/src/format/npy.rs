//! NumPy's `.npy`: a header, then the array's bytes.
//!
//! ```text
//! bytes 0..6    \x93NUMPY
//! bytes 6..8    version: 1.0, 2.0 or 3.0
//! 2 or 4 bytes  length of the header's text, little-endian (2 in version 1.0)
//! text          {'descr': '<u4', 'fortran_order': False, 'shape': (3,), }
//! the rest      the keys
//! ```
//!
//! The text is a Python literal, read by `py_literal`; what it says must be an array of one
//! dimension, of a type that is a key type. Written is version 1.0, little-endian, the keys from a
//! multiple of 64 bytes on.

use std::cmp::Ordering;
use std::fmt;
use std::io::Read;

use py_literal::Value;

use crate::exit::{Failure, Result};
use crate::types::Type;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// NumPy writes some hundred bytes; its own reader refuses headers of more than 10,000 unless told
/// to trust them.
const MAX_TEXT: usize = 10_000;

/// Deeper than any type that NumPy writes; the literal's parser recurses.
const MAX_DEPTH: usize = 16;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The keys' type.
    pub ty: Type,
    /// Whether the keys are big-endian.
    pub big_endian: bool,
    /// How many keys.
    pub count: usize,
    /// How many bytes the header has; the first key's offset.
    pub bytes: usize,
}

impl Header {
    /// Reads a header, and leaves the reader at the first key.
    ///
    /// # Errors
    /// [`Failure::Input`] for a file that is no npy, is cut off within its header, or holds
    /// something else than an array of keys.
    pub fn read(from: &mut (impl Read + fmt::Display)) -> Result<Header> {
        let mut start = [0; 8];
        let got = fill(from, &mut start)?;
        if !start[..got].starts_with(&MAGIC[..got.min(6)]) || got == 0 {
            return Err(Failure::input(format!(
                "{from} is no npy file: its first bytes are not \\x93NUMPY; name its format with -f"
            )));
        }
        need(&*from, 0, got, 8)?;
        let length_bytes = match (start[6], start[7]) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            (major, minor) => {
                return Err(Failure::input(format!(
                    "{from}: npy version {major}.{minor} at byte 6 is unknown; save it as 1.0, 2.0 \
                     or 3.0"
                )));
            }
        };
        let mut length = [0; 4];
        let got = fill(from, &mut length[..length_bytes])?;
        need(&*from, 8, got, length_bytes)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_TEXT {
            return Err(Failure::input(format!(
                "{from}: byte 8 gives the header {length} bytes; at most {MAX_TEXT} are accepted, \
                 so the file is damaged or holds a type with very many fields"
            )));
        }
        let at = 8 + length_bytes;
        let mut text = vec![0; length];
        let got = fill(from, &mut text)?;
        need(&*from, at, got, length)?;
        let (ty, big_endian, count) = interpret(&text)
            .map_err(|what| Failure::input(format!("{from}: the header at byte {at} {what}")))?;
        Ok(Header {
            ty,
            big_endian,
            count,
            bytes: at + length,
        })
    }

    /// Refuses a file that has more or fewer bytes behind its header than the header's keys take.
    ///
    /// # Errors
    /// [`Failure::Input`] with the offsets.
    pub fn fits(&self, name: impl fmt::Display, bytes: u64) -> Result<()> {
        let at = self.bytes as u64;
        let wanted = self.count as u128 * self.ty.bytes() as u128;
        let (end, should) = (at + bytes, u128::from(at) + wanted);
        let keys = format!("{} {} keys up to byte {should}", self.count, self.ty);
        match u128::from(bytes).cmp(&wanted) {
            Ordering::Equal => Ok(()),
            Ordering::Less => Err(Failure::input(format!(
                "{name}: the header promises {keys}, but the file ends at byte {end}; it is cut \
                 off or its header is wrong"
            ))),
            Ordering::Greater => Err(Failure::input(format!(
                "{name}: the header promises {keys}, but the file goes on to byte {end}; its \
                 header is wrong or something was appended"
            ))),
        }
    }
}

/// Reads until `to` is full or the file ends, and says how many bytes there were.
fn fill(from: &mut (impl Read + fmt::Display), to: &mut [u8]) -> Result<usize> {
    let mut got = 0;
    while got < to.len() {
        match from.read(&mut to[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::io("read", &from, &error)),
        }
    }
    Ok(got)
}

/// Refuses a file that ends within its header.
fn need(name: impl fmt::Display, at: usize, got: usize, wanted: usize) -> Result<()> {
    if got == wanted {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{name}: the file ends at byte {} within its header, which goes on to byte {} at least; it \
         is cut off",
        at + got,
        at + wanted
    )))
}

/// Type, byte order and count from a header's text, or what is wrong with it.
fn interpret(text: &[u8]) -> Result<(Type, bool, usize), String> {
    let unreadable = || "is no Python dictionary; the file is damaged".to_owned();
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    if deepest > MAX_DEPTH {
        return Err(unreadable());
    }
    let text = std::str::from_utf8(text).map_err(|_| unreadable())?;
    let Ok(Value::Dict(entries)) = text.trim().parse() else {
        return Err(unreadable());
    };
    let entry = |name: &str| {
        let found = entries
            .iter()
            .find(|(key, _)| key.as_string().is_some_and(|key| key == name));
        found
            .map(|(_, value)| value)
            .ok_or_else(|| format!("has no '{name}'; the file is damaged"))
    };
    let (ty, big_endian) = key_type(entry("descr")?)?;
    let Value::Tuple(shape) = entry("shape")? else {
        return Err("has a 'shape' that is no tuple; the file is damaged".to_owned());
    };
    let Value::Boolean(fortran) = entry("fortran_order")? else {
        return Err("has a 'fortran_order' that is no bool; the file is damaged".to_owned());
    };
    let [count] = &shape[..] else {
        let order = if *fortran { ", in Fortran order" } else { "" };
        return Err(format!(
            "is of an array of {} dimensions{order}; one is sorted here: save it with .ravel()",
            shape.len()
        ));
    };
    if *fortran {
        return Err("is in Fortran order; save it with numpy.ascontiguousarray".to_owned());
    }
    // Its digits are the way to an integer that does not name the parser's own number type.
    let count = match count {
        Value::Integer(count) => count.to_string().parse().ok(),
        _ => None,
    };
    let count = count.ok_or("has a 'shape' that is no number of keys; the file is damaged")?;
    Ok((ty, big_endian, count))
}

/// NumPy's names of the key types, without byte order.
const TYPES: &[(&str, Type)] = &[
    ("u1", Type::U8),
    ("u2", Type::U16),
    ("u4", Type::U32),
    ("u8", Type::U64),
    ("i1", Type::I8),
    ("i2", Type::I16),
    ("i4", Type::I32),
    ("i8", Type::I64),
    ("f2", Type::F16),
    ("f4", Type::F32),
    ("f8", Type::F64),
    ("b1", Type::Bool),
];

/// The key type of a `descr`, and whether it is big-endian.
fn key_type(descr: &Value) -> Result<(Type, bool), String> {
    let refused = |what: &str| {
        format!(
            "is of an array of {what}, which is no key type; save one column of numbers, such as \
             by .astype('<f8')"
        )
    };
    let name = match descr {
        Value::String(name) => name,
        Value::List(_) => return Err(refused("records (a structured type)")),
        _ => return Err("has a 'descr' that is no type; the file is damaged".to_owned()),
    };
    let (order, kind) = match name.split_at_checked(1) {
        Some((order @ ("<" | ">" | "|" | "="), kind)) => (order, kind),
        _ => ("=", name.as_str()),
    };
    if let Some((_, ty)) = TYPES.iter().find(|(known, _)| *known == kind) {
        let big_endian = match order {
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            _ => false,
        };
        return Ok((*ty, big_endian));
    }
    let what = match kind.chars().next() {
        Some('c') => "complex numbers",
        Some('M') => "datetimes (datetime64; save it with .astype('i8'))",
        Some('m') => "time spans (timedelta64; save it with .astype('i8'))",
        Some('S' | 'a') => "byte strings",
        Some('U') => "strings",
        Some('O') => "Python objects",
        Some('V') => "raw bytes (void; bf16 is saved so, which goes by way of a raw file)",
        Some('f') => "floats of that width",
        _ => return Err(refused(&format!("'{name}'"))),
    };
    Err(refused(&format!("'{name}', {what}")))
}

/// Refuses a type that npy does not have.
///
/// # Errors
/// [`Failure::Input`] with what would work.
pub fn has(ty: Type) -> Result<()> {
    match TYPES.iter().any(|(_, known)| *known == ty) {
        true => Ok(()),
        false => Err(absent(ty)),
    }
}

/// The error about a type that npy does not have.
pub fn absent(ty: Type) -> Failure {
    Failure::input(format!(
        "npy has no type for {ty}; write it raw, to a file named .{ty}"
    ))
}

/// The header of a file of `count` keys, or `None` for a type that npy does not have.
pub fn header(ty: Type, count: usize) -> Option<Vec<u8>> {
    let (name, _) = TYPES.iter().find(|(_, known)| *known == ty)?;
    let order = if ty.bytes() == 1 { '|' } else { '<' };
    let mut text =
        format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({count},), }}");
    // Magic, version and length are 10 bytes; the text ends in a line end.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let mut header = MAGIC.to_vec();
    header.extend([1, 0]);
    header.extend((padded as u16).to_le_bytes());
    header.extend(text.as_bytes());
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reader with a name.
    struct Bytes<'a>(&'a [u8]);

    impl Read for Bytes<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(to)
        }
    }

    impl fmt::Display for Bytes<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("t.npy")
        }
    }

    fn file(version: u8, text: &str) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        match version {
            1 => file.extend((text.len() as u16).to_le_bytes()),
            _ => file.extend((text.len() as u32).to_le_bytes()),
        }
        file.extend(text.as_bytes());
        file
    }

    fn error(file: &[u8]) -> String {
        match Header::read(&mut Bytes(file)) {
            Err(Failure::Input(line)) => line,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn headers_read_back() -> Result<()> {
        for &(_, ty) in TYPES {
            for count in [0, 1, 12_345, usize::MAX] {
                let bytes = header(ty, count).ok_or_else(|| absent(ty))?;
                assert_eq!(bytes.len() % 64, 0);
                assert_eq!(
                    Header::read(&mut Bytes(&bytes))?,
                    Header {
                        ty,
                        big_endian: false,
                        count,
                        bytes: bytes.len()
                    }
                );
            }
        }
        assert!(header(Type::Bf16, 1).is_none());
        assert!(has(Type::U128).is_err());
        Ok(())
    }

    #[test]
    fn headers_as_others_write_them() -> Result<()> {
        for (version, text, ty, big_endian, count) in [
            // NumPy, big-endian.
            (
                1,
                "{'descr': '>f8', 'fortran_order': False, 'shape': (3,), }    \n",
                Type::F64,
                true,
                3,
            ),
            // Keys in another order, other quotes, no blanks.
            (
                2,
                "{\"shape\":(7,),\"descr\":\"|b1\",\"fortran_order\":False}",
                Type::Bool,
                false,
                7,
            ),
            (
                3,
                "{'descr': '<i2', 'shape': (0,), 'fortran_order': False}\n",
                Type::I16,
                false,
                0,
            ),
        ] {
            let header = Header::read(&mut Bytes(&file(version, text)))?;
            assert_eq!(
                (header.ty, header.big_endian, header.count),
                (ty, big_endian, count)
            );
        }
        Ok(())
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for (descr, shape, fortran, part) in [
            ("'<u4'", "(2, 3)", "False", "2 dimensions; one is sorted"),
            ("'<u4'", "(2, 3)", "True", "Fortran order"),
            ("'<u4'", "(3,)", "True", "Fortran order"),
            ("'<u4'", "()", "False", "0 dimensions"),
            ("'<c16'", "(3,)", "False", "complex numbers"),
            ("'<M8[ns]'", "(3,)", "False", "datetime64"),
            ("'<m8[s]'", "(3,)", "False", "timedelta64"),
            ("'|S7'", "(3,)", "False", "byte strings"),
            ("'<U7'", "(3,)", "False", "strings"),
            ("'|O'", "(3,)", "False", "Python objects"),
            ("'<V2'", "(3,)", "False", "bf16"),
            ("'<f16'", "(3,)", "False", "floats of that width"),
            ("'<x9'", "(3,)", "False", "'<x9'"),
            ("''", "(3,)", "False", "''"),
            (
                "[('a', '<u4'), ('b', '<f4')]",
                "(3,)",
                "False",
                "structured",
            ),
            ("'<u4'", "(-1,)", "False", "no number of keys"),
            (
                "'<u4'",
                "(99999999999999999999999,)",
                "False",
                "no number of keys",
            ),
            ("'<u4'", "3", "False", "no tuple"),
            ("7", "(3,)", "False", "'descr' that is no type"),
            ("'<u4'", "(3,)", "0", "no bool"),
        ] {
            let text =
                format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}}}");
            let line = error(&file(1, &text));
            assert!(line.contains("byte 10") && line.contains(part), "{line}");
        }
        assert!(error(&file(1, "{'shape': (3,), 'fortran_order': False}")).contains("no 'descr'"));
        assert!(error(&file(1, "nonsense")).contains("damaged"));
        assert!(error(&file(1, &"(".repeat(9000))).contains("damaged"));
        assert!(error(&file(7, "")).contains("version 7.0"));
        assert!(error(b"").contains("no npy"));
        assert!(error(b"1\n2\n3\n4\n5\n").contains("no npy"));
    }

    #[test]
    fn headers_that_are_cut_off_or_lie() -> Result<()> {
        let whole = file(
            1,
            "{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }",
        );
        for cut in 1..whole.len() {
            let line = error(&whole[..cut]);
            assert!(
                line.contains(&format!("ends at byte {cut} ")),
                "{cut}: {line}"
            );
        }
        let header = Header::read(&mut Bytes(&whole))?;
        header.fits("t.npy", 12)?;
        for (bytes, part) in [
            (11, "ends at byte"),
            (0, "ends at byte"),
            (13, "goes on to byte"),
        ] {
            let Err(Failure::Input(line)) = header.fits("t.npy", bytes) else {
                panic!("accepted");
            };
            assert!(
                line.contains(part) && line.contains("promises 3 u32 keys"),
                "{line}"
            );
        }
        let long = format!("{}", u32::MAX);
        let mut bytes = MAGIC.to_vec();
        bytes.extend([2, 0, 255, 255, 255, 255]);
        assert!(error(&bytes).contains(&long));
        Ok(())
    }

    proptest! {
        /// Whatever the bytes, an answer and no panic.
        #[test]
        fn any_header(text in "[{}()\\[\\]',: a-z0-9<>|'\"\\\\-]{0,80}", version in 1u8..4) {
            let _ = Header::read(&mut Bytes(&file(version, &text)));
        }

        #[test]
        fn any_shape(shape in "[0-9eE.,L ()-]{0,40}", descr in "[<>|=]?[a-zA-Z][0-9]{0,9}") {
            let text =
                format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape},)}}");
            let _ = Header::read(&mut Bytes(&file(1, &text)));
        }
    }
}
