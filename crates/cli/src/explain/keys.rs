//! From words of the command line to keys, and to what is shown of them.

use sweepsort::explain::{Bisection, Options, bisect, explain};

use super::view::View;
use crate::exit::{Failure, Result};
use crate::format::text::{self, Text};
use crate::types::{Key, Type};
use crate::with_key;

/// Explains these keys.
///
/// # Errors
/// A word that is no key of the type; what the library refuses.
pub fn explained(words: &[String], ty: Option<Type>, options: &Options) -> Result<View> {
    let ty = ty.unwrap_or_else(|| suited(words));
    with_key!(ty, |K| {
        let (mut keys, texts) = read::<K>(words)?;
        let explanation = explain(K::drawn(&mut keys), options)?;
        Ok(View::new(ty, texts, explanation))
    })
}

/// Compares what a device makes of these keys with what the twin makes; returns the keys' texts, too.
///
/// # Errors
/// As [`explained`].
pub fn bisected(
    words: &[String],
    ty: Option<Type>,
    options: &Options,
) -> Result<(Vec<String>, Bisection)> {
    with_key!(ty.unwrap_or_else(|| suited(words)), |K| {
        let (mut keys, texts) = read::<K>(words)?;
        Ok((texts, bisect(K::drawn(&mut keys), options)?))
    })
}

/// Keys and their texts.
fn read<K: Text>(words: &[String]) -> Result<(Vec<K>, Vec<String>)> {
    let keys = words.iter().enumerate();
    let keys: Vec<K> = keys
        .map(|(index, word)| parse(index, word))
        .collect::<Result<_>>()?;
    let texts = keys.iter().map(|&key| text::shown(key)).collect();
    Ok((keys, texts))
}

/// The type of words that come without one.
fn suited(words: &[String]) -> Type {
    let any = |is: &dyn Fn(&str) -> bool| words.iter().any(|word| is(word));
    let whole = |word: &str| radix(word.trim_start_matches(['-', '+'])).is_some();
    let fraction = |word: &str| {
        let names = ["inf", "nan", "-inf", "-nan", "infinity", "-infinity"];
        !whole(word) && (word.contains(['.', 'e', 'E']) || names.contains(&&*word.to_lowercase()))
    };
    if any(&fraction) {
        Type::F32
    } else if any(&|word| word.starts_with('-')) {
        Type::I32
    } else {
        Type::U32
    }
}

/// The base of a whole number that says one, and its digits.
fn radix(word: &str) -> Option<(u32, &str)> {
    let (base, digits) = match word.get(..2)? {
        "0b" | "0B" => (2, &word[2..]),
        "0o" | "0O" => (8, &word[2..]),
        "0x" | "0X" => (16, &word[2..]),
        _ => return None,
    };
    Some((base, digits))
}

/// One key.
fn parse<K: Text>(index: usize, word: &str) -> Result<K> {
    let (sign, number) = match word.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", word),
    };
    // What the parser of text does not know is rewritten for it.
    let decimal = match radix(number) {
        None => Some(word.to_owned()),
        Some((base, digits)) => u128::from_str_radix(&digits.replace('_', ""), base)
            .ok()
            .map(|number| format!("{sign}{number}")),
    };
    let key = decimal
        .as_deref()
        .map(|decimal| K::parse(decimal.as_bytes()));
    match key {
        Some(Ok(key)) => Ok(key),
        Some(Err(text::Wrong::Range)) => Err(Failure::input(format!(
            "key {index} ('{word}') is out of range for {}; use another type with -t",
            K::TYPE
        ))),
        _ => Err(Failure::input(format!(
            "key {index} ('{word}') is no {}; give numbers, or another type with -t",
            K::TYPE
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_a_type() {
        for (words, ty) in [
            ("1 2 3", Type::U32),
            ("0x1e 0b10", Type::U32),
            ("1 -2", Type::I32),
            ("-0x1e", Type::I32),
            ("1 -2.5", Type::F32),
            ("1e3", Type::F32),
            ("1 nan", Type::F32),
        ] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(suited(&words), ty, "{words:?}");
        }
    }

    #[test]
    fn keys_of_other_bases() {
        assert_eq!(parse::<u8>(0, "0b101").ok(), Some(5));
        assert_eq!(parse::<i16>(0, "-0x10").ok(), Some(-16));
        assert_eq!(parse::<u128>(0, "0x1_0000").ok(), Some(65536));
        assert_eq!(parse::<f32>(0, "-1.5").ok(), Some(-1.5));
        for bad in ["", "0b", "0b2", "0x", "--1", "1.5", "256", "-1"] {
            assert!(parse::<u8>(0, bad).is_err(), "{bad}");
        }
    }
}
