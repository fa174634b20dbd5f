//! Any bytes as text of any key type: keys or an error, never a panic. Keys printed and read again
//! are the same keys, and what the standard library reads as integers is read here as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sweepsort_cli::format::text;
use sweepsort_cli::progress::Progress;
use sweepsort_cli::types::Type;
use sweepsort_cli::with_key;

/// The text's integers by the standard library, where every line that is not blank has one.
fn integers(text: &[u8]) -> Option<Vec<i64>> {
    let blank = [' ', '\t', '\r'];
    std::str::from_utf8(text)
        .ok()?
        .split('\n')
        .map(|line| line.trim_matches(blank))
        .filter(|line| !line.is_empty())
        .map(|line| line.parse().ok())
        .collect()
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, lines)) = data.split_first() else {
        return;
    };
    let ty = Type::ALL[usize::from(first) % Type::ALL.len()];
    let progress = Progress::hidden();
    let read = text::parse(ty, "file.txt", lines, &progress);
    // A carriage return is blank at a line's end alone.
    if ty == Type::I64
        && !lines.contains(&b'\r')
        && let Some(expected) = integers(lines)
    {
        let keys = read.as_ref().expect("integers are read");
        assert_eq!(keys.slice::<i64>(), expected);
    }
    let Ok(keys) = read else {
        return;
    };
    with_key!(ty, |K| {
        let printed: Vec<String> = keys
            .slice::<K>()
            .iter()
            .map(|&key| text::shown(key))
            .collect();
        let again = text::parse(ty, "again.txt", printed.join("\n").as_bytes(), &progress)
            .expect("what we print we can read");
        // A NaN's payload has no text, so NaNs are compared by how they print.
        let reprinted = again.slice::<K>().iter().map(|&key| text::shown(key));
        assert!(
            reprinted.eq(printed.iter().cloned()),
            "printed and read again"
        );
        let differ = keys.bytes() != again.bytes();
        assert!(
            !differ
                || printed
                    .iter()
                    .any(|text| text.to_lowercase().contains("nan"))
        );
    });
});
