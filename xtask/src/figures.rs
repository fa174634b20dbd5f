//! The figures of `docs/algorithms/`: made by `sweepsort explain`, never by hand.
//!
//! A comment line holds the arguments. What follows it is the figure: a block of text, which is
//! filled with the tables, or an image, whose file is drawn.
//!
//! ```text
//! <!-- figure: explain 4 7 2 6 --algorithm split --pass 0 -->
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{cargo, output, program, root, run as run_command, target_dir};

const BEGIN: &str = "<!-- figure: ";
const END: &str = " -->";
const BLOCK: &str = "```text";
const FENCE: &str = "```";

/// Makes all figures anew.
pub fn write() -> Result<()> {
    run_command(cargo().args(["build", "--quiet", "--package", "sweepsort-cli"]))?;
    let made = make()?;
    let mut written = 0;
    for (path, content) in &made {
        if std::fs::read_to_string(path).ok().as_ref() != Some(content) {
            std::fs::create_dir_all(path.parent().context("a file in no folder")?)?;
            std::fs::write(path, content).with_context(|| path.display().to_string())?;
            println!("{}", shown(path));
            written += 1;
        }
    }
    println!("{} files, {written} of them new", made.len());
    match strays(&made)?.as_slice() {
        [] => Ok(()),
        strays => bail!("no page shows these figures: {}", strays.join(", ")),
    }
}

/// Fails if a figure is not what the tool makes, which must be built.
pub fn check() -> Result<()> {
    let made = make()?;
    let mut wrong: Vec<String> = made
        .iter()
        .filter(|(path, content)| std::fs::read_to_string(path).ok().as_ref() != Some(content))
        .map(|(path, _)| shown(path))
        .collect();
    wrong.extend(strays(&made)?);
    if !wrong.is_empty() {
        bail!(
            "figures that are not what `sweepsort explain` makes, or that no page shows: {}; run \
             `cargo xtask figures`",
            wrong.join(", ")
        );
    }
    println!("{} files are as made", made.len());
    Ok(())
}

/// Every page with its figures, and every drawing, by path.
fn make() -> Result<BTreeMap<PathBuf, String>> {
    let tool = target_dir()?.join("debug").join("sweepsort");
    let explain = |arguments: &str, more: &[&str]| {
        let mut words = arguments.split_whitespace();
        if words.next() != Some("explain") {
            bail!("a figure is made by `explain`, and not by `{arguments}`");
        }
        output(program(&tool).arg("explain").args(words).args(more))
    };
    let mut made = BTreeMap::new();
    for entry in std::fs::read_dir(folder())? {
        let page = entry?.path();
        if page.extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(&page)?;
            let (text, drawings) = filled(&text, explain).with_context(|| shown(&page))?;
            made.insert(page, text);
            made.extend(
                drawings
                    .into_iter()
                    .map(|(file, svg)| (folder().join(file), svg)),
            );
        }
    }
    Ok(made)
}

/// A page with its blocks filled, and its drawings by file.
fn filled(
    page: &str,
    explain: impl Fn(&str, &[&str]) -> Result<String>,
) -> Result<(String, Vec<(String, String)>)> {
    let mut text = String::with_capacity(page.len());
    let mut drawings = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        text += line;
        text.push('\n');
        let Some(arguments) = line
            .strip_prefix(BEGIN)
            .and_then(|rest| rest.strip_suffix(END))
        else {
            continue;
        };
        let next = lines.next().unwrap_or_default();
        text += next;
        text.push('\n');
        if next == BLOCK {
            text += &explain(arguments, &[])?;
            text += FENCE;
            text.push('\n');
            if !lines.any(|line| line == FENCE) {
                bail!("the block of `{arguments}` does not end");
            }
        } else if let Some(file) = image(next) {
            let drawing = explain(arguments, &["--format", "svg"])?;
            drawings.push((file.to_owned(), drawing));
        } else {
            bail!("after `{arguments}` stands neither {BLOCK} nor an image");
        }
    }
    Ok((text, drawings))
}

/// The file of an image line.
fn image(line: &str) -> Option<&str> {
    let (_, file) = line.strip_prefix("![")?.rsplit_once("](")?;
    file.strip_suffix(')')
}

/// Files among the figures that were not made.
fn strays(made: &BTreeMap<PathBuf, String>) -> Result<Vec<String>> {
    let mut strays = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder().join("figures")) else {
        return Ok(strays);
    };
    for entry in entries {
        let path = entry?.path();
        if !made.contains_key(&path) {
            strays.push(shown(&path));
        }
    }
    Ok(strays)
}

fn folder() -> PathBuf {
    root().join("docs").join("algorithms")
}

/// A path seen from the root.
fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_filled_and_images_drawn() {
        let page = "a\n<!-- figure: explain 1 -->\n```text\nold\n```\nb\n\
                    <!-- figure: explain 2 -->\n![what](figures/x.svg)\nc\n";
        let explain = |arguments: &str, more: &[&str]| Ok(format!("{arguments} {more:?}\n"));
        let (text, drawings) = filled(page, explain).unwrap();
        assert_eq!(
            text,
            "a\n<!-- figure: explain 1 -->\n```text\nexplain 1 []\n```\nb\n\
             <!-- figure: explain 2 -->\n![what](figures/x.svg)\nc\n"
        );
        let drawing = "explain 2 [\"--format\", \"svg\"]\n".to_owned();
        assert_eq!(drawings, [("figures/x.svg".to_owned(), drawing)]);
        for bad in [
            "<!-- figure: explain 1 -->\ntext\n",
            "<!-- figure: explain 1 -->\n```text\n",
        ] {
            assert!(filled(bad, explain).is_err(), "{bad}");
        }
    }
}
