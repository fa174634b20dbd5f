//! Shaders made of the files in `shaders/`.
//!
//! A shader is some of the files, one after the other: WGSL lets declarations come in any order. As they
//! stand they are valid, but for the type `Value`. What is made of them differs in two ways only:
//!
//! * `Value` is a type, and the numbers of `const ITEMS`, `TEAMS`, `RADIX` and others are those asked for;
//! * a loop `for (var k = 0u; k < LIMIT; k++) {` whose limit is a number known here is written out, its
//!   body once for each `k`, and a local `var name: array<T, LIMIT>;` becomes `name_0`, `name_1` and so
//!   on. Arrays that are indexed by a loop would lie in memory, and loops are checked at every turn for
//!   being endless.
//!
//! Everything else that varies is an `override`.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

/// The files of a shader. See the [module](self).
macro_rules! file {
    ($name:literal) => {
        File {
            name: $name,
            text: include_str!(concat!("../shaders/", $name, ".wgsl")),
        }
    };
}

/// A file of `shaders/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without `.wgsl`.
    pub name: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// All of them.
pub const FILES: [File; 18] = [
    file!("ballot_128"),
    file!("ballot_32"),
    file!("begins"),
    file!("counts"),
    file!("histograms"),
    file!("key_32"),
    file!("key_64"),
    file!("leaps"),
    file!("look_back"),
    file!("pass"),
    file!("runs"),
    file!("scan"),
    file!("staged_32"),
    file!("staged_64"),
    file!("steps"),
    file!("task"),
    file!("team_barrier"),
    file!("team_subgroup"),
];

/// The shader made of these files, whose names must be known, with the constants that are asked for and
/// values of so many words.
pub(crate) fn source(names: &[&str], asked: &[(&str, u32)], value_words: u32) -> String {
    made(&joined(names, value_words), asked, value_words)
}

/// The files, one after the other, with the type of values before them.
pub(crate) fn joined(names: &[&str], value_words: u32) -> String {
    let mut text = format!("alias Value = {};\n\n", value_type(value_words));
    for name in names {
        let file = FILES.iter().find(|file| file.name == *name);
        text += file.expect("a file of that name").text;
        text.push('\n');
    }
    text
}

/// A text with these constants, its loops written out and its arrays taken apart.
fn made(text: &str, asked: &[(&str, u32)], value_words: u32) -> String {
    let mut numbers = HashMap::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some((name, number)) = constant(line) else {
            lines.push(line.to_owned());
            continue;
        };
        let number = match asked.iter().find(|asked| asked.0 == name) {
            Some(&(_, number)) => number,
            None if name == "VALUE_WORDS" => value_words,
            None => number,
        };
        numbers.insert(name.to_owned(), number);
        lines.push(format!("const {name}: u32 = {number}u;"));
    }
    let mut unrolled = Unrolled::default();
    unrolled.write(&lines, &numbers);
    unrolled.text
}

/// The type of values of so many words. Every one can be indexed by word, and is stored in one piece
/// where the hardware can.
fn value_type(words: u32) -> String {
    match words {
        2 | 4 => format!("vec{words}<u32>"),
        _ => format!("array<u32, {words}>"),
    }
}

/// The name and the number of `const NAME: u32 = 12u;`, whatever comes after.
fn constant(line: &str) -> Option<(&str, u32)> {
    let (name, rest) = line.strip_prefix("const ")?.split_once(": u32 = ")?;
    let number = rest.split(';').next()?.strip_suffix('u')?;
    Some((name, number.parse().ok()?))
}

/// A number as it stands, or the name of one.
fn number(limit: &str, numbers: &HashMap<String, u32>) -> Option<u32> {
    match limit.trim_end_matches('u').parse() {
        Ok(number) => Some(number),
        Err(_) => numbers.get(limit).copied(),
    }
}

/// Lines written out, with the names of the arrays that were taken apart.
#[derive(Default)]
struct Unrolled {
    arrays: HashSet<String>,
    text: String,
}

impl Unrolled {
    /// Writes out lines, with loops written out and arrays taken apart.
    fn write(&mut self, lines: &[String], numbers: &HashMap<String, u32>) {
        let mut i = 0;
        while i < lines.len() {
            let line = &lines[i];
            i += 1;
            if let Some((name, ty, length)) = local_array(line, numbers) {
                for k in 0..length {
                    self.text += &format!("var {name}_{k}: {ty};\n");
                }
                self.arrays.insert(name.to_owned());
            } else if let Some((variable, turns)) = counted_loop(line, numbers) {
                let end = i + body_lines(&lines[i..]);
                for k in 0..turns {
                    let body: Vec<String> = lines[i..end]
                        .iter()
                        .map(|line| self.turn(line, variable, k))
                        .collect();
                    self.text += "{\n";
                    self.write(&body, numbers);
                    self.text += "}\n";
                }
                i = end + 1;
            } else {
                self.text += line;
                self.text.push('\n');
            }
        }
    }

    /// A line of a loop's body in turn `k`: the loop's variable becomes its number, and an element of an
    /// array taken apart a name.
    fn turn(&self, line: &str, variable: &str, k: u32) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(variable) {
            let (before, after) = (&rest[..at], &rest[at + variable.len()..]);
            out += before;
            let name = last_word(out.strip_suffix('[').unwrap_or(""));
            if self.arrays.contains(name) && after.starts_with(']') {
                out.pop();
                out += &format!("_{k}");
                rest = &after[1..];
                continue;
            }
            match last_word(&out).is_empty() && !after.starts_with(is_word) {
                true => out += &format!("{k}u"),
                false => out += variable,
            }
            rest = after;
        }
        out + rest
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word that a text ends with.
fn last_word(text: &str) -> &str {
    &text[text.trim_end_matches(is_word).len()..]
}

/// `var name: array<T, LIMIT>;` within a function.
fn local_array<'a>(
    line: &'a str,
    numbers: &HashMap<String, u32>,
) -> Option<(&'a str, &'a str, u32)> {
    let declared = line.trim_start().strip_prefix("var ")?;
    let (name, rest) = declared.split_once(": array<")?;
    let (ty, limit) = rest.strip_suffix(">;")?.rsplit_once(", ")?;
    Some((name, ty, number(limit, numbers)?))
}

/// `for (var k = 0u; k < LIMIT; k++) {`.
fn counted_loop<'a>(line: &'a str, numbers: &HashMap<String, u32>) -> Option<(&'a str, u32)> {
    let started = line.trim_start().strip_prefix("for (var ")?;
    let (variable, rest) = started.split_once(" = 0u; ")?;
    let limit = rest
        .strip_prefix(variable)?
        .strip_prefix(" < ")?
        .strip_suffix(&format!("; {variable}++) {{"))?;
    Some((variable, number(limit, numbers)?))
}

/// How many lines a loop's body has, up to the brace that ends it.
fn body_lines(lines: &[String]) -> usize {
    let mut depth = 1;
    let ends = |line: &String| {
        depth += line.matches('{').count();
        depth -= line.matches('}').count();
        depth == 0
    };
    lines.iter().position(ends).expect("every loop ends")
}
