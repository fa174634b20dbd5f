//! What holds of the repository itself, whatever the code does.

use std::path::Path;

use anyhow::{Result, bail};

use crate::process::{output, program, root, works};
use crate::test::Outcome;
use crate::{record, tables};

/// Where every package of `Cargo.lock` that is not ours comes from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Parts of paths and hosts that belong to one machine. Each in two parts, so that this file does
/// not hold them.
const FOREIGN: &[[&str; 2]] = &[
    ["/ho", "me/"],
    ["/ro", "ot/"],
    ["/Us", "ers/"],
    ["C:\\", "Users\\"],
    ["index.", "crates.io"],
    ["static.", "crates.io"],
    ["py", "pi.org"],
    ["files.python", "hosted.org"],
    ["registry.npm", "js.org"],
];

/// Checks the tracked files and the tables.
pub fn check() -> Result<Outcome> {
    tables::check()?;
    if !works(program("git").args(["rev-parse", "--git-dir"])) {
        return Ok(Outcome::NotRun(
            "this is no git checkout, so the tracked files are unknown".into(),
        ));
    }
    let files = output(program("git").args(["ls-files", "-z"]))?;
    let mut wrong = Vec::new();
    for file in files.split_terminator('\0') {
        let path = root().join(file);
        // A file deleted but not yet committed so is none; one that is no text has no lines.
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        wrong.extend(foreign(&text).map(|what| format!("{file}: {what}")));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("lock") => wrong.extend(strange_sources(&text).map(|it| format!("{file}: {it}"))),
            Some("md") => {
                let folder = path.parent().unwrap_or(root());
                wrong.extend(broken_links(&text, folder).map(|it| format!("{file}: {it}")));
                wrong.extend(lost_paths(&text).map(|it| format!("{file}: {it}")));
            }
            Some("json") if file.starts_with("results/") => {
                let error = record::check(&text).err();
                wrong.extend(error.map(|error| format!("{file}: {error:#}")));
            }
            _ => {}
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(Outcome::Passed)
}

/// Lines with a path or host of one machine.
fn foreign(text: &str) -> impl Iterator<Item = String> {
    let here = [Some(root().to_path_buf()), std::env::home_dir()]
        .into_iter()
        .flatten()
        .map(|path| format!("{}/", path.display()))
        .filter(|path| path.len() > 2);
    let parts: Vec<String> = FOREIGN.iter().map(|halves| halves.concat()).collect();
    let parts: Vec<String> = parts.into_iter().chain(here).collect();
    text.lines().enumerate().filter_map(move |(number, line)| {
        let part = parts.iter().find(|part| line.contains(part.as_str()))?;
        Some(format!(
            "line {}: `{part}` belongs to one machine",
            number + 1
        ))
    })
}

/// Packages that do not come from the public registry.
fn strange_sources(lock: &str) -> impl Iterator<Item = String> {
    lock.lines()
        .filter_map(|line| line.strip_prefix("source = "))
        .filter(|source| source.trim_matches('"') != REGISTRY)
        .map(|source| format!("{source} is not the public registry"))
}

/// Links to files that are not there.
fn broken_links(markdown: &str, folder: &Path) -> impl Iterator<Item = String> {
    markdown
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', ' ', '\n']).next())
        .map(|link| link.split('#').next().unwrap_or_default())
        .filter(|link| !link.is_empty() && !link.contains("://") && !link.starts_with("mailto:"))
        .filter(|link| !folder.join(link).exists())
        .map(|link| format!("the link to {link} leads nowhere"))
}

/// Paths in `code` that look like the repository's, and are not there.
fn lost_paths(markdown: &str) -> impl Iterator<Item = String> {
    const FOLDERS: [&str; 6] = [
        "crates/",
        "docs/",
        "examples/",
        "fuzz/",
        "results/",
        "xtask/",
    ];
    // Between fences every second piece is prose; in prose, between backticks, code.
    let prose = markdown.split("\n```").step_by(2);
    prose
        .flat_map(|prose| prose.split('`').skip(1).step_by(2))
        .filter(|code| FOLDERS.iter().any(|folder| code.starts_with(folder)))
        .filter(|code| !code.contains([' ', '*', '{', '<', '…']) && !root().join(code).exists())
        .map(|code| format!("there is no {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_paths_are_found() {
        let path = format!("see {}ada/notes", ["/ho", "me/"].concat());
        let text = format!("fine\n{path}");
        assert_eq!(foreign(&text).count(), 1);
        assert_eq!(foreign("/usr/bin/cc and https://docs.rs/half").count(), 0);
    }

    #[test]
    fn broken_links_are_found() {
        let text = "[a](README.md) [b](no.md#x) [c](#x) [d](https://docs.rs) [e](docs)";
        let broken: Vec<String> = broken_links(text, root()).collect();
        assert_eq!(broken, ["the link to no.md leads nowhere"]);
    }

    #[test]
    fn lost_paths_are_found() {
        let text =
            "`docs/README.md` `docs/no.md`\n```sh\nsort `docs/other.md`\n```\n`xtask/no` `fuzz/no`";
        let lost: Vec<String> = lost_paths(text).collect();
        let expected = ["docs/no.md", "xtask/no", "fuzz/no"];
        assert_eq!(lost, expected.map(|path| format!("there is no {path}")));
    }

    #[test]
    fn strange_sources_are_found() {
        let lock = format!("source = \"{REGISTRY}\"\nsource = \"git+https://x\"");
        assert_eq!(strange_sources(&lock).count(), 1);
    }
}
