//! `sweepsort bench` as a person or a script runs it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Runs `sweepsort bench` with little time to spend.
fn bench(arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_sweepsort"))
        .args(["bench", "--budget", "0"])
        .args(arguments)
        .output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The record that a run prints, which must succeed.
fn record(arguments: &[&str]) -> Result<Value, Box<dyn std::error::Error>> {
    let output = bench(&[arguments, &["--json", "-"]].concat())?;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn rows(record: &Value) -> &[Value] {
    record["rows"].as_array().map_or(&[], Vec::as_slice)
}

/// The distinct texts of a field; null is `-`.
fn texts<'a>(rows: &'a [Value], field: &str) -> BTreeSet<&'a str> {
    rows.iter()
        .map(|row| row[field].as_str().unwrap_or("-"))
        .collect()
}

fn fields(value: &Value) -> Vec<&str> {
    let map = value.as_object();
    map.map(|map| map.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

/// Every field of the documents and no other, with sound values.
#[test]
fn records_are_as_documented() -> Outcome {
    let record = record(&[
        "-t",
        "u32,f64",
        "--value-type",
        "none,u64,index",
        "-n",
        "1e3,2^20",
        "--threads",
        "1,2",
        "-d",
        "uniform,equal",
        "--fresh",
    ])?;
    assert_eq!(fields(&record), ["machine", "rows"]);
    let mut machine = [
        "cpu",
        "gpu",
        "driver",
        "gpu_copy_bytes_per_s",
        "gpu_peers",
        "os",
        "commit",
        "date",
    ];
    machine.sort();
    assert_eq!(fields(&record["machine"]), machine);
    assert!(record["machine"]["gpu"].is_null());
    let date = record["machine"]["date"].as_str().unwrap_or_default();
    assert!(date.len() == 20 && date.ends_with('Z'), "{date}");

    let rows = rows(&record);
    // 2 types × 2 sizes × 2 distributions × 2 threads × (keys: ours and fresh; pairs: unstable,
    // too; argsort: ours and fresh).
    assert_eq!(rows.len(), 16 * (2 + 3 + 2));
    assert_eq!(
        texts(rows, "contender"),
        BTreeSet::from([
            "sweepsort-cpu",
            "sweepsort-cpu-fresh",
            "sweepsort-cpu-unstable"
        ])
    );
    assert_eq!(texts(rows, "type"), BTreeSet::from(["f64", "u32"]));
    assert_eq!(
        texts(rows, "value_type"),
        BTreeSet::from(["-", "index", "u64"])
    );
    assert_eq!(
        texts(rows, "distribution"),
        BTreeSet::from(["equal", "uniform"])
    );
    assert_eq!(texts(rows, "engine"), BTreeSet::from(["cpu"]));
    assert_eq!(texts(rows, "residence"), BTreeSet::from(["host"]));
    let mut names = [
        "contender",
        "engine",
        "algorithm",
        "type",
        "value_type",
        "n",
        "distribution",
        "threads",
        "residence",
        "stage",
        "radix_bits",
        "block",
        "variant",
        "median_s",
        "min_s",
        "max_s",
        "keys_per_s",
        "stages_s",
        "floor_fraction",
        "peak_bytes",
        "verified",
    ];
    names.sort();
    for row in rows {
        assert_eq!(fields(row), names);
        assert_eq!(row["verified"], true, "{row}");
        for field in ["radix_bits", "block", "variant", "stage", "stages_s"] {
            assert!(row[field].is_null(), "{field}: {row}");
        }
        assert!(row["algorithm"].is_string() && row["peak_bytes"].is_u64());
        let number = |field: &str| row[field].as_f64().unwrap_or(f64::NAN);
        let (min, median, max) = (number("min_s"), number("median_s"), number("max_s"));
        assert!(0.0 < min && min <= median && median <= max, "{row}");
        assert!((number("keys_per_s") * median / number("n") - 1.0).abs() < 1e-9);
        assert!(number("floor_fraction") > 0.0);
    }
    Ok(())
}

/// A contender can be chosen by the name that its rows have.
#[test]
fn contenders_are_chosen_by_name() -> Outcome {
    for (name, payload) in [
        ("sweepsort-cpu", "none"),
        ("sweepsort-cpu-fresh", "index"),
        ("sweepsort-cpu-unstable", "u32"),
    ] {
        let record = record(&["--contenders", name, "--value-type", payload, "-n", "1000"])?;
        assert_eq!(texts(rows(&record), "contender"), BTreeSet::from([name]));
    }
    Ok(())
}

/// Each combination of algorithm, digit and block is one of ours, told apart in rows and table.
#[test]
fn classics_are_measured_by_digit_and_block() -> Outcome {
    let arguments = ["-n", "1000", "--algorithm", "counting-lsd,coalesced"];
    let record = record(&[&arguments[..], &["--radix-bits", "1,8", "--block", "64"]].concat())?;
    let method = |row: &Value| {
        assert_eq!(row["verified"], true, "{row}");
        (
            row["algorithm"].as_str().map(str::to_owned),
            row["radix_bits"].as_u64(),
            row["block"].as_u64(),
        )
    };
    let methods: Vec<_> = rows(&record).iter().map(method).collect();
    let expected = |name: &str, radix_bits| (Some(name.to_owned()), Some(radix_bits), Some(64));
    assert_eq!(
        methods,
        [
            expected("counting-lsd", 1),
            expected("counting-lsd", 8),
            expected("coalesced", 1),
            expected("coalesced", 8)
        ]
    );
    let table = bench(&[&arguments[..2], &["--algorithm", "split,coalesced"]].concat())?;
    assert!(text(&table.stdout).contains("sweepsort-cpu (coalesced)"));
    Ok(())
}

/// A chart is drawn while measuring or later, from the record, and is one well-formed SVG; existing
/// files are kept unless forced.
#[test]
fn charts_come_from_records() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (json, first, second) = (path("a.json"), path("a.svg"), path("b.svg"));
    let measure = [
        "-n",
        "100,1000",
        "-d",
        "uniform,sorted",
        "--json",
        &json,
        "--chart",
        &first,
    ];
    let output = bench(&measure)?;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("u32, 1,000 keys, sorted"));
    let output = bench(&measure)?;
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--force"));

    let output = bench(&["--from", &json, "--chart", &second, "--markdown"])?;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("| contender "));
    assert_eq!(std::fs::read(&first)?, std::fs::read(&second)?);
    well_formed(&std::fs::read_to_string(&first)?);
    assert!(std::fs::read_to_string(&first)?.contains("sweepsort-cpu"));

    // A part of it.
    let output = bench(&[
        "--from", &json, "-n", "100", "-d", "sorted", "--chart", &second, "--force",
    ])?;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!text(&output.stdout).contains("1,000 keys"));
    well_formed(&std::fs::read_to_string(&second)?);
    Ok(())
}

/// The records of this repository can be shown and drawn, those of keys in device memory too.
#[test]
fn kept_records_can_be_drawn() -> Outcome {
    let folder = tempfile::tempdir()?;
    let chart = folder.path().join("chart.svg").display().to_string();
    let mut on_devices = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results"))? {
        let file = entry?.path();
        let json: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        // Other measurements have rows of their own kind.
        if json["rows"][0]["residence"].is_null() {
            continue;
        }
        let file = file.display().to_string();
        let output = bench(&["--from", &file, "--chart", &chart, "--force"])?;
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        well_formed(&std::fs::read_to_string(&chart)?);
        on_devices += usize::from(text(&output.stdout).contains(", in device memory"));
    }
    assert!(on_devices > 0);
    Ok(())
}

/// Every opening tag has its closing one.
fn well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg.trim();
    assert!(rest.starts_with("<svg") && rest.ends_with("</svg>"));
    while let Some(start) = rest.find('<') {
        let Some(end) = rest[start..].find('>') else {
            panic!("an open tag at the end");
        };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        assert!(!tag.contains('<'), "{tag}");
        let name = |tag: &str| tag.split_whitespace().next().unwrap_or_default().to_owned();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name(closed)));
        } else if !tag.ends_with('/') && !tag.starts_with(['?', '!']) {
            open.push(name(tag));
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// What cannot be had is refused in one line before anything is measured.
#[test]
fn nonsense_is_refused() -> Outcome {
    let missing = Path::new("no-such-folder")
        .join("a.json")
        .display()
        .to_string();
    for (arguments, part) in [
        (&["-t", "u33"][..], "u33"),
        (&["-d", "gaussian"], "gaussian"),
        (&["-n", "0"], "1 or more"),
        (&["--value-type", "string"], "index"),
        (&["--engine", "tpu"], "tpu"),
        (&["--engine", "cuda"], "cuda"),
        (&["--residence", "device"], "cuda"),
        (&["--residence", "disk"], "disk"),
        (&["--variant", "one-stream"], "--residence device"),
        (&["--contenders", "cub"], "--residence device"),
        (&["--algorithm", "bogosort"], "bogosort"),
        (&["--contenders", "quicksort"], "quicksort"),
        (&["--contenders", "sweepsort-cpu,quicksort"], "quicksort"),
        (&["--threads", "0"], "--threads"),
        (&["--radix-bits", "4"], "digit or block"),
        (&["-t", "u32", "-d", "timestamps"], "timestamps"),
        (&["--from", &missing], "no-such-folder"),
        (&["--json", &missing], "no-such-folder"),
        (&["--from", "Cargo.toml"], "--json"),
    ] {
        let output = bench(arguments)?;
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(part), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty());
    }
    Ok(())
}

/// A build without peers says how to get them.
#[cfg(not(feature = "peers"))]
#[test]
fn peers_want_a_feature() -> Outcome {
    for arguments in [
        &["--peers"][..],
        &["--contenders", "rdst"],
        &["--preset", "readme"],
    ] {
        let output = bench(arguments)?;
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("--features peers"));
    }
    Ok(())
}

/// Every peer sorts every kind of input rightly, as far as it has it.
#[cfg(feature = "peers")]
#[test]
fn peers_are_measured_beside_ours() -> Outcome {
    let arguments = "--peers --threads 2 --value-type none,u32,u64,index -n 1000,300000 -d uniform,zipf \
                     -t u8,u16,u32,u64,u128,i8,i32,i64,f16,f32,f64,bool";
    let record = record(&arguments.split_whitespace().collect::<Vec<_>>())?;
    let rows = rows(&record);
    for name in [
        "std-stable",
        "std-unstable",
        "rayon-stable",
        "rayon-unstable",
        "rdst",
        "rdst-single",
        "rdst-low-memory",
        "voracious",
        "voracious-mt",
        "voracious-stable",
        "radsort",
        "glidesort",
    ] {
        let of = |kind: Option<&str>| {
            rows.iter()
                .any(|row| row["contender"] == name && row["value_type"].as_str() == kind)
        };
        assert!(of(None) && of(Some("u64")) && of(Some("index")), "{name}");
    }
    let wrong: Vec<_> = rows.iter().filter(|row| row["verified"] != true).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}
