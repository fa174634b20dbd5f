//! What every way of showing an explanation needs: names for keys, and bits as text.

use std::ops::{Deref, Range};

use sweepsort::explain::{Explanation, Kind, Pass, Rows, Stage};

use crate::types::Type;

/// Of more values of a digit, only those are shown that keys have.
const ALL_DIGITS: usize = 16;

/// What to show of a matrix, by the indices of its rows and columns.
#[derive(Debug)]
pub struct Shown {
    /// The rows.
    pub rows: Vec<usize>,
    /// The columns.
    pub columns: Vec<usize>,
    /// Whether digits that no key has are left out.
    pub sparse: bool,
}

/// An explanation with its keys' texts.
#[derive(Debug)]
pub struct View {
    /// The keys' type.
    pub ty: Type,
    /// The keys' texts, by position.
    pub texts: Vec<String>,
    /// A letter for each key that has an equal: `a` for the first.
    pub letters: Vec<Option<String>>,
    explanation: Explanation,
}

impl Deref for View {
    type Target = Explanation;

    fn deref(&self) -> &Explanation {
        &self.explanation
    }
}

impl View {
    /// An explanation of keys with these texts.
    pub fn new(ty: Type, texts: Vec<String>, explanation: Explanation) -> View {
        let code = |position: usize| explanation.keys[position].code;
        let n = explanation.keys.len();
        let letters = (0..n)
            .map(|position| {
                let equal = |&other: &usize| code(other) == code(position);
                let before = (0..position).filter(equal).count();
                ((0..n).filter(equal).count() > 1).then(|| letter(before))
            })
            .collect();
        View {
            ty,
            texts,
            letters,
            explanation,
        }
    }

    /// A key's text with its letter: `5a`.
    pub fn name(&self, position: usize) -> String {
        match &self.letters[position] {
            None => self.texts[position].clone(),
            Some(letter) => format!("{}{letter}", self.texts[position]),
        }
    }

    /// Whether keys have other bits than their codes.
    pub fn coded(&self) -> bool {
        self.keys.iter().any(|key| key.word != key.code)
    }

    /// The kind's name.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Unsigned => "unsigned",
            Kind::Signed => "signed",
            Kind::Float { .. } => "float",
        }
    }

    /// All bits of a word or code.
    pub fn bits_of(&self, word: u128) -> String {
        format!("{word:0width$b}", width = self.width as usize)
    }

    /// A key's code in three parts: before the digit of a pass, the digit, and behind it. Bits
    /// above all that are sorted by are left out.
    pub fn marked(&self, position: usize, pass: &Pass) -> [String; 3] {
        let code = self.keys[position].code;
        if let (Some(base), Some(digit)) = (self.base, pass.digit) {
            return self.marked_in_base(code, base, digit);
        }
        let shown = self.bits.end.max(1) as usize;
        let all = self.bits_of(code);
        let all = &all[all.len() - shown.min(all.len())..];
        match &pass.bits {
            None => [all.to_owned(), String::new(), String::new()],
            Some(Range { start, end }) => {
                let cut = |bit: &u32| all.len() - *bit as usize;
                [
                    all[..cut(end)].to_owned(),
                    all[cut(end)..cut(start)].to_owned(),
                    all[cut(start)..].to_owned(),
                ]
            }
        }
    }

    fn marked_in_base(&self, code: u128, base: u32, digit: usize) -> [String; 3] {
        let places = self.passes.len();
        let text = |place: usize| {
            let value = code / u128::from(base).pow(place as u32) % u128::from(base);
            match char::from_digit(value as u32, 36) {
                Some(c) if base <= 36 => c.to_string(),
                _ => format!("({value})"),
            }
        };
        let texts = |places: Range<usize>| places.rev().map(text).collect();
        [
            texts(digit + 1..places),
            texts(digit..digit + 1),
            texts(0..digit),
        ]
    }

    /// A pass's title: `pass 0: digit 0, bits 0..2`.
    pub fn title(&self, number: usize) -> String {
        let pass = &self.passes[number];
        let what = match (pass.digit, &pass.bits) {
            (Some(_), Some(bits)) if bits.len() == 1 => format!("bit {}", bits.start),
            (Some(digit), Some(bits)) => {
                format!("digit {digit}, bits {}..{}", bits.start, bits.end)
            }
            (Some(digit), None) => {
                format!("digit {digit} in base {}", self.base.unwrap_or_default())
            }
            (None, _) => {
                let first = pass.stages.first().map(|stage| stage.name.as_str());
                match first {
                    Some("histograms") => "all digits counted".to_owned(),
                    Some("tiles") => format!("tiles of {} sorted", self.block),
                    Some("reversed") => {
                        let run = self.block << (number - 1);
                        format!("runs of {run} merged, two by two")
                    }
                    Some("local") => "buckets sorted where they lie".to_owned(),
                    _ => "no digit".to_owned(),
                }
            }
        };
        format!("pass {number}: {what}")
    }

    /// Which rows and columns of a matrix to show: all, but where digits have many values only those
    /// that keys have. And whether some are left out.
    pub fn shown(&self, pass: &Pass, stage: &Stage) -> Shown {
        let columns = stage
            .rows
            .map_or(stage.values.len(), |(_, columns)| columns);
        let rows = stage.values.len().checked_div(columns).unwrap_or(0);
        let by_digit = matches!(stage.rows, Some((Rows::Digit, _)));
        let radix = if by_digit { rows } else { columns };
        let occurs = |digit: &usize| match &pass.digits {
            Some(digits) => digits.contains(digit),
            None => stage.values.chunks(columns).any(|row| row[*digit] > 0),
        };
        let sparse = radix > ALL_DIGITS;
        let digits: Vec<usize> = (0..radix)
            .filter(|digit| !sparse || occurs(digit))
            .collect();
        Shown {
            sparse,
            rows: if by_digit {
                digits.clone()
            } else {
                (0..rows).collect()
            },
            columns: if by_digit {
                (0..columns).collect()
            } else {
                digits
            },
        }
    }

    /// What the columns of a stage's matrix, or of its one row, stand for.
    pub fn columns(&self, stage: &Stage) -> &'static str {
        match stage.rows {
            Some((Rows::Digit, _)) => "block",
            Some((Rows::Moment, _)) => "tile",
            _ => "digit",
        }
    }
}

/// `a` to `z`, then `aa`, `ab`, …
fn letter(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
        if number == 0 {
            break;
        }
        number -= 1;
    }
    letters.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on() {
        let all: Vec<String> = [0, 25, 26, 27, 701, 702].into_iter().map(letter).collect();
        assert_eq!(all, ["a", "z", "aa", "ab", "zz", "aaa"]);
    }
}
