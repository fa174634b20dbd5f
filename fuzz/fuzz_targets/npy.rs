//! Any bytes as the header of an npy file: a header or an error, never a panic, and what was read
//! is what its own header says when written.
#![no_main]

use std::fmt;
use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use sweepsort_cli::format::npy::{self, Header};

/// A file in memory.
struct File<'a>(Cursor<&'a [u8]>);

impl Read for File<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(to)
    }
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("file.npy")
    }
}

fn read(bytes: &[u8]) -> Option<Header> {
    let mut file = File(Cursor::new(bytes));
    let header = Header::read(&mut file).ok()?;
    assert_eq!(
        file.0.position(),
        header.bytes as u64,
        "the reader is not at the first key"
    );
    Some(header)
}

fuzz_target!(|data: &[u8]| {
    // Half of the inputs are a header's text alone, behind a right start.
    let framed = data
        .split_first()
        .filter(|(first, _)| *first % 2 == 1)
        .map(|(_, text)| {
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((text.len().min(0xffff) as u16).to_le_bytes());
            bytes.extend(text);
            bytes
        });
    let bytes = framed.as_deref().unwrap_or(data);
    let Some(header) = read(bytes) else {
        return;
    };
    let rest = (bytes.len() - header.bytes) as u64;
    let wanted = header.count as u128 * header.ty.bytes() as u128;
    assert_eq!(
        header.fits("file.npy", rest).is_ok(),
        u128::from(rest) == wanted
    );
    let ours = npy::header(header.ty, header.count).expect("a type that was read can be written");
    let again = read(&ours).expect("what we write we can read");
    assert_eq!((again.ty, again.count), (header.ty, header.count));
    assert!(!again.big_endian);
    assert_eq!((again.bytes, ours.len() % 64), (ours.len(), 0));
});
