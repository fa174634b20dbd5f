//! `sweepsort explain`, from the outside: the teaching texts' examples, array by array, and every
//! format.

use std::process::{Command, Output};

use serde_json::Value;
use sweepsort_testkit::golden::{Digits, EXAMPLES, Example, Made};

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

/// The arguments that ask for an example. Which bits to sort by is left to the tool.
fn arguments(example: &Example) -> String {
    let key = |key: &u32| match example.algorithm {
        // As its text has them.
        "split" => format!("{key:#05b}"),
        _ => key.to_string(),
    };
    let mut words: Vec<String> = example.keys.iter().map(key).collect();
    words.push(format!("--algorithm {}", example.algorithm));
    words.push(match example.digits {
        Digits::Bits(bits) => format!("--radix-bits {bits}"),
        Digits::Base(base) => format!("--base {base}"),
    });
    words.extend(example.block.map(|block| format!("--block {block}")));
    words.join(" ")
}

#[test]
fn the_texts_examples() {
    let list = |value: &Value| value.as_array().expect("an array").clone();
    for example in EXAMPLES {
        let shown = json(&arguments(example));
        let mut made = Made::default();
        for pass in list(&shown["passes"]) {
            made.pass();
            for stage in list(&pass["stages"]) {
                made.array(
                    stage["name"].as_str().expect("a name"),
                    list(&stage["values"]),
                );
            }
        }
        let compared = example.check(&made, list(&shown["output"]));
        compared.unwrap_or_else(|what| panic!("{what}"));
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
        (
            "1 2 --algorithm split --engine cuda --from-twin f,d",
            "taking d of split from the twin, for it is made and used within one kernel; use e, f, out",
        ),
        (
            "1 2 --algorithm four-way --engine cuda --from-twin scan_4",
            "'scan_4'",
        ),
        ("1 2 --algorithm split --from-twin f", "use engine cuda"),
        ("1 2 --algorithm split --engine cuda --bisect", "absent"),
        ("1 2 --algorithm split --bisect", "use engine cuda"),
        (
            "1 2 --algorithm hybrid --engine cuda --bisect",
            "engine cpu",
        ),
        (
            "1 2 --algorithm split --bisect --from-twin f",
            "cannot be used with",
        ),
        ("1 2 --algorithm hybrid --break-stability", "LSD"),
    ] {
        let output = explain(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {stderr}");
        assert!(stderr.contains(part), "{args}: {stderr}");
        assert!(output.stdout.is_empty(), "{args}");
    }
}
