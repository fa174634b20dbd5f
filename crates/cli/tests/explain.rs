//! `sweepsort explain`, from the outside: the teaching texts' examples, array by array, and every
//! format.

use std::process::{Command, Output};

use serde_json::Value;

fn explain(args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sweepsort"))
        .arg("explain")
        .args(args.split_whitespace())
        .output()
        .expect("it runs")
}

fn good(args: &str) -> String {
    let output = explain(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args}: {stderr}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(args: &str) -> Value {
    serde_json::from_str(&good(&format!("--format json {args}"))).expect("JSON")
}

/// Numbers as a text writes them: blanks between them.
fn written(values: &Value) -> String {
    let values = values.as_array().expect("an array").iter();
    values.map(Value::to_string).collect::<Vec<_>>().join(" ")
}

/// Arguments, and what they must show: (pass, stage, array).
type Golden = (&'static str, &'static [(usize, &'static str, &'static str)]);

const GOLDEN: &[Golden] = &[
    (
        "0b100 0b111 0b010 0b110 0b011 0b101 0b001 0b000 --algorithm split",
        &[
            (0, "b", "0 1 0 0 1 1 1 0"),
            (0, "e", "1 0 1 1 0 0 0 1"),
            (0, "f", "0 1 1 2 3 3 3 3"),
            (0, "totalFalses", "4"),
            (0, "t", "4 4 5 5 5 6 7 8"),
            (0, "d", "0 4 1 2 5 6 7 3"),
            (0, "out", "4 2 6 0 7 3 5 1"),
            (1, "out", "4 0 5 1 2 6 7 3"),
            (2, "out", "0 1 2 3 4 5 6 7"),
        ],
    ),
    (
        "0 5 2 7 1 3 6 4 --algorithm four-way --radix-bits 1",
        &[
            (0, "compact_0", "1 0 1 0 0 0 1 1"),
            (0, "scan_0", "0 1 1 2 2 2 2 3 4"),
            (0, "compact_1", "0 1 0 1 1 1 0 0"),
            (0, "scan_1", "0 0 1 1 2 3 4 4 4"),
            (0, "out", "0 2 6 4 5 7 1 3"),
            (1, "out", "0 4 5 1 2 6 7 3"),
            (2, "out", "0 1 2 3 4 5 6 7"),
        ],
    ),
    (
        "0 5 2 7 1 3 6 4 --algorithm four-way --radix-bits 2",
        &[(0, "out", "0 4 5 1 2 6 7 3"), (1, "out", "0 1 2 3 4 5 6 7")],
    ),
    (
        "0 3 2 2 3 2 0 3 2 1 0 3 2 0 1 1 --algorithm block-histogram --block 4 --radix-bits 2",
        &[
            (0, "H", "1 0 2 1 1 0 1 2 1 1 1 1 1 2 1 0"),
            (0, "CT", "1 1 1 1 0 0 1 2 2 1 1 1 1 2 1 0"),
            (0, "scan", "0 1 2 3 4 4 4 5 7 9 10 11 12 13 15 16"),
            (0, "G", "0 4 7 12 1 4 9 13 2 4 10 15 3 5 11 16"),
            (0, "sorted", "0 2 2 3 0 2 3 3 0 1 2 3 0 1 1 2"),
            (0, "L", "0 1 1 3 0 1 1 2 0 1 2 3 0 1 3 4"),
            (0, "d", "0 7 8 12 1 9 13 14 2 4 10 15 3 5 6 11"),
            (0, "B", "0 0 0 0 1 1 1 2 2 2 2 2 3 3 3 3"),
        ],
    ),
    (
        "4 7 2 6 3 5 1 0 --algorithm tile-merge --block 4",
        &[
            (0, "tiles", "2 4 6 7 0 1 3 5"),
            (1, "reversed", "2 4 6 7 5 3 1 0"),
            (1, "step_0", "2 3 1 0 5 4 6 7"),
            (1, "step_1", "1 0 2 3 5 4 6 7"),
            (1, "step_2", "0 1 2 3 4 5 6 7"),
        ],
    ),
    (
        "5 10 7 10 --algorithm coalesced --radix-bits 1",
        &[
            (0, "digit", "1 0 1 0"),
            (0, "before", "0 1 1 2"),
            (0, "d", "2 0 3 1"),
            (0, "out", "10 10 5 7"),
            (1, "out", "5 10 10 7"),
            (2, "out", "10 10 5 7"),
            (3, "out", "5 7 10 10"),
        ],
    ),
    (
        "5 10 7 10 --algorithm coalesced --radix-bits 2",
        &[(0, "out", "5 10 10 7"), (1, "out", "5 7 10 10")],
    ),
    (
        "4 1 1 2 7 5 2 --algorithm counting-lsd --base 8",
        &[
            (0, "histogram", "0 2 2 0 1 1 0 1"),
            (0, "offsets", "0 0 2 4 4 5 6 6"),
            (0, "out", "1 1 2 2 4 5 7"),
            (0, "offsets_after", "0 2 4 4 5 6 6 7"),
        ],
    ),
    (
        "11 131 742 9 66 122 634 93 5 873 --algorithm counting-lsd --base 10",
        &[
            (0, "out", "11 131 742 122 93 873 634 5 66 9"),
            (1, "out", "5 9 11 122 131 634 742 66 873 93"),
            (2, "out", "5 9 11 66 93 122 131 634 742 873"),
        ],
    ),
];

#[test]
fn the_texts_examples() {
    for (args, stages) in GOLDEN {
        let shown = json(args);
        for (pass, name, array) in *stages {
            let stages = shown["passes"][pass]["stages"].as_array().expect("stages");
            let stage = stages.iter().find(|stage| stage["name"] == *name);
            let stage = stage.unwrap_or_else(|| panic!("{args}: pass {pass} has no {name}"));
            assert_eq!(
                written(&stage["values"]),
                *array,
                "{args}: pass {pass}, {name}"
            );
        }
        let last = stages
            .iter()
            .rfind(|(_, name, _)| ["out", "B", "step_2"].contains(name));
        assert_eq!(
            written(&shown["output"]),
            last.expect("an output").2,
            "{args}"
        );
    }
}

#[test]
fn one_object_says_all() {
    let shown = json("2.5 -1 nan --algorithm counting-lsd --radix-bits 8 --bits 24..32");
    assert_eq!(shown["algorithm"], "counting-lsd");
    assert_eq!(shown["input"].to_string(), r#"[2.5,-1.0,"nan"]"#);
    assert_eq!(shown["output"].to_string(), r#"[-1.0,2.5,"nan"]"#);
    let passes = shown["passes"].as_array().expect("passes");
    assert_eq!(passes.len(), 1);
    assert_eq!(passes[0]["digit"], 0);
    assert_eq!(passes[0]["bits"].to_string(), "[24,32]");
    let tiles = json("3 1 2 --algorithm tile-merge --block 2");
    assert_eq!(tiles["passes"][0]["digit"], Value::Null);
    assert_eq!(tiles["passes"][0]["bits"], Value::Null);
    let one = json("5 9 -t u128 --algorithm split --pass 2");
    assert_eq!(one["passes"].as_array().map(Vec::len), Some(1));
}

/// Every type has its text, its bits and its order here.
#[test]
fn every_type() {
    for (ty, keys, sorted) in [
        ("u8", "200 0x1f 3", "3 31 200"),
        ("i16", "5 -300 -1", "-300 -1 5"),
        (
            "i128",
            "1 -170141183460469231731687303715884105728",
            "-170141183460469231731687303715884105728 1",
        ),
        ("f16", "1.5 -2 0.25", "-2.0 0.25 1.5"),
        ("bf16", "1.5 -2 0.25", "-2.0 0.25 1.5"),
        ("f64", "1e300 -0.0 0", "-0.0 0.0 1e+300"),
        (
            "u128",
            "340282366920938463463374607431768211455 0",
            "0 340282366920938463463374607431768211455",
        ),
        ("bool", "true false 1 0", "false false true true"),
    ] {
        // As text, for a JSON reader's numbers may have fewer digits.
        let shown = good(&format!(
            "--format json -t {ty} --algorithm coalesced -- {keys}"
        ));
        let (_, output) = shown.split_once("\"output\": [").expect("an output");
        let output = output.replace('"', "").replace(',', " ");
        assert!(output.starts_with(&format!("{sorted}]")), "{ty}: {shown}");
    }
    let down = json("1 3 2 -r --algorithm onesweep");
    assert_eq!(written(&down["output"]), "3 2 1");
}

#[test]
fn equal_keys_carry_letters() {
    let table = good("5 3 5 1 5 --algorithm four-way");
    assert!(table.ends_with("Output: 1 3 5a 5b 5c\n"), "{table}");
    let broken = good("5 3 5 1 5 --algorithm four-way --break-stability");
    assert!(broken.contains("not in order"), "{broken}");
}

#[test]
fn drawings_one_a_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("split.svg");
    good(&format!(
        "4 7 2 6 3 5 1 0 --algorithm split -o {}",
        file.display()
    ));
    for pass in 0..3 {
        let file = folder.path().join(format!("split-{pass}.svg"));
        let drawing = std::fs::read_to_string(&file).expect("a drawing");
        assert!(drawing.contains(&format!(
            "<title id=\"title\">split, pass {pass}: bit {pass}</title>"
        )));
        // Eight keys twice, and a line from each to each.
        assert_eq!(drawing.matches("class=\"card\"").count(), 16);
        assert_eq!(drawing.matches("class=\"move\"").count(), 8);
    }
    let again = explain(&format!(
        "2 1 --algorithm split --pass 0 -o {}",
        folder.path().join("split-0.svg").display()
    ));
    assert_eq!(again.status.code(), Some(2), "an existing file is kept");
}

/// The page has its data in it, and asks for nothing from elsewhere.
#[test]
fn the_page_stands_alone() {
    for algorithm in [
        "counting-lsd",
        "split",
        "four-way",
        "block-histogram",
        "tile-merge",
        "coalesced",
        "onesweep",
        "hybrid",
    ] {
        let page = good(&format!(
            "4 7 2 -6 3 5 1 0 --algorithm {algorithm} --format html"
        ));
        let (_, rest) = page
            .split_once("id=\"explanation\">")
            .expect("the data's element");
        let (data, _) = rest.split_once("</script>").expect("its end");
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(data["algorithm"], algorithm);
        assert_eq!(data["keys"][3]["text"], "-6", "{algorithm}");
        assert_eq!(written(&data["output"]), "3 7 6 2 4 0 5 1", "{algorithm}");
        for fetched in [
            "src=",
            "href=\"http",
            "@import",
            "url(",
            "fetch(",
            "{{",
            "/*DATA*/",
        ] {
            assert!(!page.contains(fetched), "{algorithm}: {fetched}");
        }
    }
}

#[test]
fn nonsense_is_refused() {
    for (args, part) in [
        ("--algorithm split", "KEYS"),
        ("1 2", "--algorithm"),
        ("1 2 --algorithm quick", "possible values"),
        ("1 x --algorithm split", "key 1 ('x') is no u32"),
        ("1 300 -t u8 --algorithm split", "out of range for u8"),
        ("1 2 --algorithm split --radix-bits 2", "use 1"),
        ("1 2 --algorithm four-way --base 10", "counting-lsd"),
        ("1 2 --algorithm block-histogram --block 3", "power of two"),
        ("1 2 --algorithm split --pass 9", "there is no pass 9"),
        ("1 2 --algorithm split --bits 0..33", "bits 0..33"),
        (
            "3 1 2 --algorithm split --format svg",
            "choose one with --pass",
        ),
        ("1 2 --algorithm split --engine cuda", "absent"),
        ("1 2 --algorithm hybrid --break-stability", "LSD"),
    ] {
        let output = explain(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {stderr}");
        assert!(stderr.contains(part), "{args}: {stderr}");
        assert!(output.stdout.is_empty(), "{args}");
    }
}
