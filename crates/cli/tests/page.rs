//! The page of `explain`, stepped through in Chromium without a window.
//!
//! It is run by `cargo xtask test`, which sees to the browser, and is no part of a plain
//! `cargo test`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const DRIVER: &str = include_str!("page.js");

/// What is explained, and the keys' positions in the end.
const PAGES: &[(&str, &[u64])] = &[
    (
        "4 7 2 6 3 5 1 0 --algorithm split",
        &[7, 6, 2, 4, 0, 5, 3, 1],
    ),
    (
        "11 131 742 9 66 122 --algorithm counting-lsd --base 10",
        &[3, 0, 4, 5, 1, 2],
    ),
    ("5 3 5 1 5 --algorithm four-way", &[3, 1, 0, 2, 4]),
    (
        "0 3 2 2 3 2 0 3 2 1 0 3 2 0 1 1 --algorithm block-histogram",
        &[0, 6, 10, 13, 9, 14, 15, 2, 3, 5, 8, 12, 1, 4, 7, 11],
    ),
    (
        "4 7 2 6 3 5 1 0 9 9 --algorithm tile-merge",
        &[7, 6, 2, 4, 0, 5, 3, 1, 8, 9],
    ),
    (
        "-1.5 2 -0.25 nan --algorithm coalesced --radix-bits 8",
        &[0, 2, 1, 3],
    ),
    (
        "3 1 2 0 3 1 2 0 3 2 --algorithm onesweep --seed 7",
        &[3, 7, 1, 5, 2, 6, 9, 0, 4, 8],
    ),
    (
        "-5 5 3 -1 2 9 -r -t i8 --algorithm hybrid",
        &[5, 1, 2, 4, 3, 0],
    ),
    (
        "12 11 21 22 --algorithm counting-lsd --base 10 --break-stability",
        &[0, 1, 3, 2],
    ),
    ("7 --algorithm split", &[0]),
    ("1 0 -t u128 --algorithm onesweep --radix-bits 8", &[1, 0]),
];

fn good(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("it runs");
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}, {stderr}");
    String::from_utf8(stdout).expect("text")
}

/// The page, with the driver before its own script.
fn page(arguments: &str) -> String {
    let page = good(
        Command::new(env!("CARGO_BIN_EXE_sweepsort"))
            .args(["explain", "--format", "html"])
            .args(arguments.split_whitespace()),
    );
    page.replacen("<body>", &format!("<body><script>{DRIVER}</script>"), 1)
}

/// What the driver saw in a window of this width.
fn driven(folder: &Path, arguments: &str, width: u32) -> Value {
    let file = folder.join("page.html");
    std::fs::write(&file, page(arguments)).expect("written");
    let dom = good(
        Command::new("chromium")
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--force-prefers-reduced-motion",
                "--virtual-time-budget=20000",
            ])
            .arg(format!("--window-size={width},900"))
            .arg(format!(
                "--user-data-dir={}",
                folder.join("profile").display()
            ))
            .args([
                "--dump-dom".to_owned(),
                format!("file://{}", file.display()),
            ]),
    );
    let (_, outcome) = dom
        .split_once("<pre id=\"outcome\">")
        .unwrap_or_else(|| panic!("{arguments}: the driver did not come to its end"));
    let (outcome, _) = outcome.split_once("</pre>").expect("its end");
    let outcome = outcome
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&");
    serde_json::from_str(&outcome).expect("JSON")
}

#[test]
fn pages_are_stepped_through() {
    let folder = tempfile::tempdir().expect("a folder");
    for (index, (arguments, output)) in PAGES.iter().enumerate() {
        // Each width that people have, in turns.
        let width = [1280, 768, 500][index % 3];
        let seen = driven(folder.path(), arguments, width);
        let complaints = seen["complaints"].as_array().expect("a list");
        assert!(
            complaints.is_empty(),
            "{arguments} at {width}: {complaints:#?}"
        );
        assert!(seen["steps"].as_u64() >= Some(2), "{arguments}");
        let found: Vec<u64> = seen["output"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        assert_eq!(found, *output, "{arguments}");
    }
}
