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
        "1e3,2^17",
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
        "link_up_bytes_per_s",
        "link_down_bytes_per_s",
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

/// Runs `sweepsort bench` through wgpu on a software adapter.
#[cfg(feature = "wgpu")]
fn on_software_adapter(arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_sweepsort"))
        .args([
            "bench",
            "--budget",
            "0",
            "--residence",
            "device",
            "--json",
            "-",
        ])
        .args(["--engine", "wgpu", "-n", "3000"])
        .args(arguments)
        .env("SWEEPSORT_ADAPTER", "llvmpipe")
        .env("XDG_RUNTIME_DIR", std::env::temp_dir())
        .output()
}

/// A peer that needs a real GPU is left out on a software adapter, and refused by name.
#[cfg(feature = "peers-wgpu")]
#[test]
fn a_peer_is_absent_on_a_software_adapter() -> Outcome {
    for (arguments, code) in [
        (&["--peers", "--value-type", "u32,index"][..], 0),
        (&["--contenders", "wgpu_sort", "--value-type", "u32"], 2),
    ] {
        let output = on_software_adapter(arguments)?;
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {words}");
        let told = words.matches("which wgpu_sort relies on").count();
        assert_eq!(told, 1, "{arguments:?}: {words}");
        assert!(!text(&output.stdout).contains("wgpu_sort"), "{arguments:?}");
    }
    Ok(())
}

/// Keys in a GPU's memory through wgpu, here a software adapter: every task, and what is left out.
#[cfg(feature = "wgpu")]
#[test]
fn tasks_are_measured_through_wgpu() -> Outcome {
    for (arguments, expected) in [
        (&["-t", "u32,f64,i16", "-d", "uniform,equal"][..], 6),
        (&["-t", "u64,f32", "--value-type", "u32,f64,i128"], 6),
        (&["-t", "i8,u64", "--value-type", "index"], 2),
        (&["--variant", "text,barriers,unchecked"], 3),
        // Neither keys of 128 bits nor narrow values.
        (&["-t", "u128,u32", "--value-type", "none,u16"], 1),
        #[cfg(feature = "peers-wgpu")]
        (&["--peers", "--value-type", "none,u32,index"], 2 + 2 + 2),
    ] {
        let output = on_software_adapter(arguments)?;
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
        let record: Value = serde_json::from_slice(&output.stdout)?;
        let wrong = |row: &&Value| row["verified"] != true || row["residence"] != "device";
        assert_eq!(
            rows(&record).iter().find(wrong),
            None,
            "{arguments:?}: {words}"
        );
        assert_eq!(rows(&record).len(), expected, "{arguments:?}: {words}");
        for field in ["gpu", "driver"] {
            assert!(
                record["machine"][field].is_string(),
                "{arguments:?}: {field}"
            );
        }
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
        ("sweepsort-cpu", "f64"),
        ("sweepsort-cpu", "i128"),
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

/// A record of what a GPU sorted in a place: these tasks, distributions and sizes, by ours and CUB.
fn on_a_gpu(place: &str, tasks: &[(&str, Option<&str>)], inputs: &[(&str, u64)]) -> Value {
    let mut rows = Vec::new();
    for (&(key, value), &(distribution, n)) in tasks
        .iter()
        .flat_map(|task| inputs.iter().map(move |input| (task, input)))
    {
        for (contender, engine, seconds) in
            [("sweepsort-cuda", Some("cuda"), 1e-2), ("cub", None, 2e-2)]
        {
            rows.push(serde_json::json!({
                "contender": contender, "engine": engine,
                "algorithm": engine.map(|_| "onesweep"), "type": key, "value_type": value,
                "n": n, "distribution": distribution, "threads": 1, "residence": place,
                "median_s": seconds, "min_s": seconds, "max_s": seconds,
                "keys_per_s": n as f64 / seconds, "floor_fraction": 0.5, "verified": true,
            }));
        }
    }
    serde_json::json!({
        "machine": {
            "cpu": "a", "gpu": "b", "driver": "1", "link_up_bytes_per_s": 5.4e10,
            "link_down_bytes_per_s": 5.3e10, "os": "c", "commit": "d", "date": "2026-01-02T03:04:05Z",
        },
        "rows": rows,
    })
}

/// Each kind of record has the panels that suit it, in a unit that suits its speeds.
#[test]
fn records_choose_their_charts() -> Outcome {
    let keys = |types: &[&'static str]| types.iter().map(|&key| (key, None)).collect::<Vec<_>>();
    let pairs = [
        ("u32", Some("u32")),
        ("u32", Some("u64")),
        ("u64", Some("u32")),
        ("u64", Some("u64")),
    ];
    let large = ("uniform", 1 << 28);
    let few_and_many = [keys(&["u8", "u16", "f32", "i128"]), pairs.to_vec()].concat();
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (json, chart) = (path("a.json"), path("a.svg"));
    for (what, record, in_table, in_chart) in [
        (
            "over size",
            on_a_gpu("device", &keys(&["u32"]), &[("uniform", 1 << 20), large]),
            ", in device memory",
            &["u32 in device memory, uniform", "Gkeys/s"][..],
        ),
        (
            "over type",
            on_a_gpu("device", &few_and_many, &[large]),
            "link 54 GB/s up, 53 down",
            &[
                "keys in device memory by type, 268,435,456 keys, uniform",
                "pairs in device memory by type, 268,435,456 keys, uniform",
                "(u64, u32)",
                "i128",
            ],
        ),
        (
            "over distribution",
            on_a_gpu(
                "device",
                &keys(&["u32", "u64", "i32", "i64"]),
                &[large, ("equal", 1 << 28)],
            ),
            "equal",
            &["i64 in device memory, 268,435,456 keys", "equal"],
        ),
        (
            "by contender",
            on_a_gpu("pinned", &keys(&["u32", "u64"]), &[("uniform", 1000)]),
            ", in page-locked memory",
            &["u64 in page-locked memory, 1,000 keys, uniform", "Mkeys/s"],
        ),
    ] {
        std::fs::write(&json, record.to_string())?;
        let output = bench(&["--from", &json, "--chart", &chart, "--force"])?;
        assert_eq!(
            output.status.code(),
            Some(0),
            "{what}: {}",
            text(&output.stderr)
        );
        let (table, chart) = (text(&output.stdout), std::fs::read_to_string(&chart)?);
        assert!(table.contains(in_table), "{what}: {table}");
        well_formed(&chart);
        for part in in_chart {
            assert!(chart.contains(part), "{what}: no '{part}'");
        }
    }
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
        (&["--residence", "pinned"], "cuda"),
        (
            &["--residence", "pinned", "--engine", "cpu"],
            "page-locked memory; use --engine cuda",
        ),
        (
            &["--residence", "pinned", "--variant", "graph"],
            "--residence device",
        ),
        (&["--value-type", "i16"], "--residence device"),
        (&["--variant", "one-stream"], "--residence device"),
        (&["--preset", "thresholds"], "--residence device"),
        (
            &["--preset", "thresholds", "--algorithm", "split"],
            "leave out --algorithm",
        ),
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
