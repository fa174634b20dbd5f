//! The built tool, from the outside: files in, files out, exit codes and the one line on stderr.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sweepsort::explain::Algorithm;
use tempfile::TempDir;

const TOOL: &str = env!("CARGO_BIN_EXE_sweepsort");

/// A folder of one test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("read")
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("read");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("read")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    /// The tool, about to run in this folder with these arguments, blanks between them.
    fn tool(&self, args: &str) -> Command {
        let mut tool = Command::new(TOOL);
        tool.current_dir(self.0.path())
            .args(args.split_whitespace());
        tool
    }

    fn run(&self, args: &str) -> Output {
        self.tool(args)
            .stdin(Stdio::null())
            .output()
            .expect("it runs")
    }

    /// Runs the tool, which must succeed, and gives its stdout.
    fn good(&self, args: &str) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args}: {stderr}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs the tool, which must fail with this exit code and one line that has these parts.
    fn bad(&self, args: &str, code: i32, parts: &[&str]) {
        failed(args, &self.run(args), code, parts);
    }

    /// Runs the tool with this stdin.
    fn fed(&self, args: &str, stdin: &[u8]) -> Output {
        let mut tool = self
            .tool(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        // It may end before it has read all.
        let _ = tool.stdin.take().expect("piped").write_all(stdin);
        tool.wait_with_output().expect("it ends")
    }
}

fn failed(what: &str, output: &Output, code: i32, parts: &[&str]) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{what}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{what}: {stderr}");
    assert!(stderr.starts_with("sweepsort: "), "{what}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{what}: no '{part}' in: {stderr}");
    }
}

const TYPES: [&str; 15] = [
    "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128", "f16", "bf16", "f32",
    "f64", "bool",
];

/// A small npy file.
fn npy(descr: &str, shape: &str, keys: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\0".to_vec();
    file.extend((text.len() as u16).to_le_bytes());
    file.extend(text.as_bytes());
    file.extend(keys);
    file
}

/// Every type in every format that has it, sorted by way of every other.
#[test]
fn types_and_formats() {
    let here = Folder::new();
    for ty in TYPES {
        let raw = format!("{ty}.{ty}");
        here.good(&format!("gen -n 1000 -s 3 -o {raw}"));
        here.good(&format!("sort {raw} -o sorted.{ty} --force"));
        here.good(&format!("check sorted.{ty} --against {raw}"));
        here.good(&format!("sort {raw} -o {ty}.txt"));
        here.good(&format!("check {ty}.txt -t {ty}"));
        here.good(&format!("sort -t {ty} {ty}.txt -o again.{ty} --force"));
        assert_eq!(
            here.read(&format!("again.{ty}")),
            here.read(&format!("sorted.{ty}")),
            "{ty}"
        );
        if matches!(ty, "u128" | "i128" | "bf16") {
            here.bad(
                &format!("sort {raw} -o {ty}.npy"),
                2,
                &["npy has no type", &format!(".{ty}")],
            );
            continue;
        }
        here.good(&format!("gen -t {ty} -n 1000 -s 3 -o {ty}.npy"));
        let npy = here.read(&format!("{ty}.npy"));
        assert_eq!(npy.len() % 64, here.read(&raw).len() % 64, "{ty}");
        assert!(npy.ends_with(&here.read(&raw)), "{ty}");
        here.good(&format!("sort {ty}.npy -o sorted.npy --force"));
        assert!(
            here.read("sorted.npy")
                .ends_with(&here.read(&format!("sorted.{ty}"))),
            "{ty}"
        );
    }
}

#[test]
fn big_endian_npy() {
    let here = Folder::new();
    here.write("a.npy", npy(">i2", "(3,)", &[0, 5, 0xff, 0xff, 1, 0]));
    here.good("sort a.npy -o b.npy");
    assert!(here.read("b.npy").ends_with(&[0xff, 0xff, 5, 0, 0, 1]));
    assert_eq!(here.good("sort a.npy -o c.txt -q"), "");
    assert_eq!(here.text("c.txt"), "-1\n5\n256\n");
}

/// Arguments, stdin, stdout.
#[test]
fn orders() {
    let here = Folder::new();
    for (args, stdin, stdout) in [
        ("sort", "3\n-1\n2\n", "-1\n2\n3\n"),
        ("sort -", "3\n-1\n2", "-1\n2\n3\n"),
        ("sort", "", ""),
        ("sort", "7\n", "7\n"),
        ("sort -r", " +3\r\n\n-1\n 02\n", "3\n2\n-1\n"),
        ("sort -u", "3\n1\n3\n1\n", "1\n3\n"),
        ("sort -u -r", "3\n1\n3\n1\n", "3\n1\n"),
        ("sort -u", "", ""),
        ("sort --argsort", "30\n10\n20\n10\n", "1\n3\n2\n0\n"),
        ("sort --argsort -r", "30\n10\n20\n10\n", "0\n2\n1\n3\n"),
        ("sort --argsort -u", "30\n10\n20\n10\n", "1\n2\n0\n"),
        ("sort -t u8 --bits 4..8", "18\n2\n17\n1\n", "2\n1\n18\n17\n"),
        ("sort -t u8 --bits 4..8 -u", "18\n2\n17\n1\n", "2\n18\n"),
        (
            "sort -t u8 --bits 4..8 -r",
            "18\n2\n17\n1\n",
            "18\n17\n2\n1\n",
        ),
        ("sort -t u8 --bits 0..0", "2\n1\n", "2\n1\n"),
        (
            "sort -t bool",
            "true\n0\n1\nFALSE\n",
            "false\nfalse\ntrue\ntrue\n",
        ),
        ("sort -t bool -r --argsort", "0\n1\n0\n1\n", "1\n3\n0\n2\n"),
        (
            "sort -t f64",
            "1e3\n-inf\n0.5\nnan\n-0\n-nan\n0\n",
            "-nan\n-inf\n-0.0\n0.0\n0.5\n1000.0\nnan\n",
        ),
        (
            "sort -t f32 --nan last",
            "nan\n1\n-nan\n-1\n",
            "-1.0\n1.0\nnan\n-nan\n",
        ),
        (
            "sort -t f32 --nan first -r",
            "1\nnan\n-1\n",
            "nan\n1.0\n-1.0\n",
        ),
        (
            "sort -t f32 --nan last --argsort",
            "0\nnan\n-0\n-nan\n-1\n",
            "4\n0\n2\n1\n3\n",
        ),
        (
            "sort -t f32 --nan last --argsort -u",
            "0\nnan\n-0\n-nan\n-1\n",
            "4\n0\n1\n",
        ),
        (
            "sort -t f16",
            "0.1\n-3.14\n65504\n",
            "-3.14\n0.1\n65500.0\n",
        ),
        (
            "sort -t u128",
            "340282366920938463463374607431768211455\n-0\n",
            "0\n340282366920938463463374607431768211455\n",
        ),
        (
            "sort --engine cpu --algorithm auto --threads 1",
            "2\n1\n",
            "1\n2\n",
        ),
    ] {
        let output = here.fed(args, stdin.as_bytes());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args}: {stderr}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            stdout,
            "{args} < {stdin:?}"
        );
        assert!(
            stderr.starts_with("sorted ") && stderr.lines().count() == 1,
            "{args}: {stderr}"
        );
    }
    let quiet = here.fed("sort -q", b"1\n");
    assert!(quiet.stderr.is_empty());
}

#[test]
fn values_travel_with_their_keys() {
    let here = Folder::new();
    here.write("keys.txt", "2\n1\n2\n1\n");
    here.write("values.txt", "0.5\n1.5\n2.5\n3.5\n");
    here.good("sort keys.txt -o k.txt --values values.txt --values-type f32 --values-out v.txt");
    assert_eq!(
        (here.text("k.txt"), here.text("v.txt")),
        ("1\n1\n2\n2\n".into(), "1.5\n3.5\n0.5\n2.5\n".into())
    );
    here.good("sort keys.txt -u -o k.i64 --values values.txt --values-type f16 --values-out v.f16");
    assert_eq!(
        here.read("k.i64"),
        [1i64.to_le_bytes(), 2i64.to_le_bytes()].concat()
    );
    assert_eq!(here.read("v.f16"), [0x00, 0x3e, 0x00, 0x38]);
    let keys =
        here.good("sort keys.txt -q -r --values values.txt --values-type f64 --values-out w.npy");
    assert_eq!(keys, "2\n2\n1\n1\n");
    here.good("sort w.npy -o w.txt");
    assert_eq!(here.text("w.txt"), "0.5\n1.5\n2.5\n3.5\n");
    here.write("short.txt", "1\n");
    here.bad(
        "sort keys.txt -o x.txt --values short.txt --values-out y.txt",
        2,
        &["keys.txt has 4 keys", "short.txt has 1 values"],
    );
    here.bad(
        "sort keys.txt -o x --values values.txt --values-out x",
        2,
        &["same file"],
    );
    here.bad(
        "sort keys.txt --values values.txt --values-out -",
        2,
        &["cannot both go to stdout"],
    );
    assert!(!here.path("x.txt").exists() && !here.path("y.txt").exists());
    for width in ["u8", "u16", "u32", "u64", "u128"] {
        here.good("gen -n 5000 -d few-distinct -o keys.u32 --force");
        here.good(&format!("gen -n 5000 -d sorted -o values.{width}"));
        here.good(&format!(
            "sort keys.u32 -o k2.u32 --force --values values.{width} --values-out v2.{width}"
        ));
        here.good(&format!(
            "check v2.{width} --bits 0..0 --against values.{width}"
        ));
    }
}

/// A classic sorts a whole file as the engine does, and the summary names it.
#[test]
fn classics_sort_files() {
    let here = Folder::new();
    here.good("gen -n 3000 -d zipf -o keys.i16");
    here.good("gen -n 3000 -s 1 -o values.u64");
    here.good("sort keys.i16 -r -o sorted.i16 --values values.u64 --values-out moved.u64");
    let (sorted, moved) = (here.read("sorted.i16"), here.read("moved.u64"));
    for algorithm in Algorithm::NAMES {
        let summary = here.good(&format!(
            "sort keys.i16 -r -o classic.i16 --values values.u64 --values-out classic.u64 --force \
             --engine cpu --algorithm {algorithm} --json"
        ));
        assert!(summary.contains(&format!("\"algorithm\": \"{algorithm}\"")));
        assert!(here.read("classic.i16") == sorted, "{algorithm}");
        assert!(here.read("classic.u64") == moved, "{algorithm}");
    }
}

/// Arguments, the exit code, parts of the line.
#[test]
fn errors() {
    let here = Folder::new();
    here.write("odd.u32", [0; 10]);
    here.write("bad.txt", "1\n2\nthree\n4\n");
    here.write("big.txt", "1\n300\n");
    here.write("point.txt", "1.5\n");
    here.write("good.u32", [0; 8]);
    here.write("cut.npy", &npy("<u4", "(3,)", &[0; 12])[..20]);
    here.write("short.npy", npy("<u4", "(3,)", &[0; 11]));
    here.write("long.npy", npy("<u4", "(3,)", &[0; 13]));
    here.write("huge.npy", npy("<u8", "(18446744073709551615,)", &[0; 16]));
    here.write("two.npy", npy("<u4", "(3, 1)", &[0; 12]));
    here.write("complex.npy", npy("<c8", "(1,)", &[0; 8]));
    here.write("good.npy", npy("<u4", "(3,)", &[0; 12]));
    here.write("no.npy", "1\n2\n");
    here.write("bits.bool", [0, 1, 2]);
    here.write("bits.npy", npy("|b1", "(2,)", &[1, 9]));
    here.write("binary.txt", [0, 1, 2, 3]);
    fs::create_dir(here.path("folder")).expect("made");
    let before = here.names();
    for (args, code, parts) in [
        ("sort odd.u32", 2, &["odd.u32", "10 bytes", "4 bytes"][..]),
        (
            "sort bad.txt -o x",
            2,
            &["bad.txt: line 3: 'three' is no number"],
        ),
        (
            "sort big.txt -t u8 -o x",
            2,
            &["big.txt: line 2: '300' is out of range for u8 (0 to 255)"],
        ),
        (
            "sort point.txt -o x",
            2,
            &["line 1: '1.5' is no whole number", "-t f64"],
        ),
        ("sort binary.txt", 2, &["line 1", "is no text", "-f"]),
        ("sort missing.u32 -o x", 2, &["missing.u32", "no such file"]),
        ("sort folder -o x", 2, &["folder", "is a directory"]),
        ("sort good.u32 -o folder", 2, &["folder", "is a directory"]),
        (
            "sort good.u32 -o folder --force",
            2,
            &["folder", "is a directory"],
        ),
        (
            "sort good.u32 -o good.u32",
            2,
            &["good.u32 exists", "--force"],
        ),
        ("gen -n 3 -o good.u32", 2, &["good.u32 exists", "--force"]),
        ("sort good.u32 -o nowhere/x.u32", 2, &["no folder nowhere"]),
        (
            "sort good.u32 -o x.f32",
            2,
            &["x.f32", "named as f32", "keys are u32"],
        ),
        (
            "sort good.u32 --argsort -o x.u64",
            2,
            &["x.u64", "keys are u32"],
        ),
        (
            "sort good.npy -t f32 -o x",
            2,
            &["good.npy holds u32 keys, not f32"],
        ),
        ("sort cut.npy -o x", 2, &["cut.npy", "ends at byte 20"]),
        (
            "sort short.npy -o x",
            2,
            &["short.npy", "promises 3 u32 keys", "ends at byte"],
        ),
        (
            "sort long.npy -o x",
            2,
            &["long.npy", "promises 3 u32 keys", "goes on to byte"],
        ),
        (
            "sort huge.npy -o x",
            2,
            &["huge.npy", "promises 18446744073709551615", "ends at byte"],
        ),
        ("sort two.npy -o x", 2, &["two.npy", "2 dimensions"]),
        (
            "sort complex.npy -o x",
            2,
            &["complex.npy", "complex numbers"],
        ),
        ("sort no.npy -o x", 2, &["no.npy is no npy file"]),
        ("sort bits.bool -o x", 2, &["bits.bool: byte 2 is 2"]),
        ("sort bits.npy -o x", 2, &["bits.npy: byte 69 is 9"]),
        ("sort -f raw bad.txt", 2, &["bad.txt", "-t"]),
        ("sort good.u32 --bits 0..33 -o x", 2, &["0..33", "32 bits"]),
        ("sort good.u32 --engine cuda -o x", 2, &["cuda", "absent"]),
        #[cfg(not(feature = "wgpu"))]
        ("sort good.u32 --engine wgpu -o x", 2, &["wgpu", "absent"]),
        ("sort good.u32 --algorithm bogo -o x", 2, &["bogo"]),
        ("sort good.u32 --json", 2, &["--json", "-o"]),
        ("gen -n 3 -o x", 2, &["-t"]),
        (
            "gen -n 3 -t u32 -d timestamps -o x",
            2,
            &["timestamps", "64-bit"],
        ),
        (
            "gen -n 3 -t bf16 -o x.npy",
            2,
            &["npy has no type for bf16"],
        ),
        ("check missing", 2, &["missing", "no such file"]),
        ("check good.npy --against bits.bool", 2, &["u32", "bool"]),
    ] {
        here.bad(args, code, parts);
    }
    assert_eq!(here.names(), before, "nothing is left behind");
}

/// What the table of flags refuses, it explains.
#[test]
fn mistyped_flags() {
    let here = Folder::new();
    for (args, part) in [
        ("sotr x", "sort"),
        ("sort --revers x", "--reverse"),
        ("sort x -t u33", "u32"),
        ("sort x --nan lst", "last"),
        ("gen -n 3 -d unifrom -o x", "uniform"),
        ("gen -n many -o x", "1e8"),
        ("sort x --bits 3", "0..16"),
        ("sort x --values y", "--values-out"),
        ("sort x --threads 0", "1..=4096"),
    ] {
        let output = here.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {stderr}");
        assert!(stderr.contains(part), "{args}: {stderr}");
    }
}

#[test]
fn checks() {
    let here = Folder::new();
    here.write("up.txt", "1\n2\n2\n9\n");
    here.write("down.txt", "9\n2\n2\n1\n");
    here.write("other.txt", "9\n2\n1\n1\n");
    here.write("wide.txt", "1\n2\n");
    assert_eq!(here.good("check up.txt"), "up.txt: 4 i64 keys in order\n");
    assert_eq!(here.good("check down.txt -r --against up.txt -q"), "");
    here.bad(
        "check down.txt",
        1,
        &["down.txt", "key 1 ", "is 2, after 9"],
    );
    here.bad("check up.txt -r", 1, &["key 1 ", "is 2, after 1"]);
    here.bad(
        "check up.txt --against other.txt",
        1,
        &["not those of other.txt"],
    );
    here.bad("check up.txt --against wide.txt", 1, &["4 keys", "has 2"]);
    here.good("check down.txt -t u8 --bits 4..8 --against up.txt");
    // Pairs leave zeros and NaNs as they were.
    here.write("ties.txt", "0\n-0\n-nan\nnan\n");
    here.good("check ties.txt -t f32 --nan last");
    here.bad(
        "check ties.txt -t f32",
        1,
        &["key 1 ", "is -0.0, after 0.0"],
    );
}

#[test]
fn generated_files_are_the_same_every_time() {
    let here = Folder::new();
    for (name, args) in [("a", "-s 1"), ("b", "-s 1"), ("c", "-s 2")] {
        here.good(&format!(
            "gen -t f64 -n 10Ki -d normal {args} -o {name}.f64"
        ));
    }
    assert_eq!(here.read("a.f64"), here.read("b.f64"));
    assert_ne!(here.read("a.f64"), here.read("c.f64"));
    assert_eq!(
        here.good("gen -t i8 -n 2 -d equal -o - -f text")
            .lines()
            .count(),
        2
    );
    here.good("gen -n 0 -o empty.u64");
    here.good("sort empty.u64 -o empty.npy");
    assert_eq!(here.run("sort empty.npy -f npy -q -o -").stdout.len(), 128);
}

#[test]
fn a_summary_as_json() {
    let here = Folder::new();
    here.good("gen -n 1e5 -o a.u32");
    let object = here.good("sort a.u32 -o b.u32 --json -u");
    let object: serde_json::Value = serde_json::from_str(&object).expect("json");
    assert_eq!(object["keys"], 100_000);
    assert_eq!(object["type"], "u32");
    assert_eq!(object["report"]["engine"], "cpu");
    assert!(object["written"].as_u64() <= Some(100_000));
    for time in ["read_s", "sort_s", "write_s"] {
        assert!(object[time].as_f64() >= Some(0.0), "{time}");
    }
    let devices: serde_json::Value =
        serde_json::from_str(&here.good("devices --json")).expect("json");
    assert_eq!(devices[0]["engine"], "cpu");
    let lines = here.good("devices");
    for device in devices.as_array().expect("an array") {
        let said = [&device["name"], &device["absent"]];
        for said in said.into_iter().filter_map(serde_json::Value::as_str) {
            assert!(lines.contains(said), "no '{said}' in: {lines}");
        }
    }
}

#[test]
fn help_man_and_completions() {
    let here = Folder::new();
    let help = here.good("--help");
    assert!(
        help.contains("Examples:") && help.lines().all(|line| line.len() <= 100),
        "{help}"
    );
    for command in [
        "sort",
        "gen",
        "check",
        "bench",
        "explain",
        "devices",
        "completions",
        "man",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
        here.good(&format!("{command} --help"));
    }
    assert!(here.good("man").contains(".TH sweepsort 1"));
    assert!(here.good("completions bash").contains("--argsort"));
    assert_eq!(here.run("").status.code(), Some(2));
}

/// More than any machine has, in a file of holes.
#[test]
fn input_larger_than_memory() {
    let here = Folder::new();
    let file = fs::File::create(here.path("huge.u64")).expect("made");
    if file.set_len(1 << 42).is_err() {
        return;
    }
    here.bad(
        "sort huge.u64 -o x.u64",
        3,
        &["huge.u64", "4.00 TiB", "8.00 TiB", "available"],
    );
    here.bad(
        "sort huge.u64 --argsort -o y.u64",
        3,
        &["huge.u64", "available"],
    );
    here.bad("check huge.u64", 3, &["4.00 TiB"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::time::Duration;

    #[test]
    fn a_file_is_sorted_in_place_and_keeps_its_mode() {
        let here = Folder::new();
        here.write("a.txt", "3\n1\n2\n");
        let path = here.path("a.txt");
        for mode in [0o600, 0o664, 0o755] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
            here.good("sort a.txt -o a.txt --force -r");
            assert_eq!(fs::metadata(&path).expect("there").mode() & 0o7777, mode);
        }
        assert_eq!(here.text("a.txt"), "3\n2\n1\n");
        // A link stays a link, and what it leads to is replaced.
        symlink("a.txt", here.path("link.txt")).expect("made");
        here.good("sort link.txt -o link.txt --force");
        assert!(
            fs::symlink_metadata(here.path("link.txt"))
                .expect("there")
                .is_symlink()
        );
        assert_eq!(here.text("a.txt"), "1\n2\n3\n");
        assert_eq!(here.names(), ["a.txt", "link.txt"]);
    }

    #[test]
    fn pipes_and_devices_are_written_as_they_are() {
        let here = Folder::new();
        here.write("a.txt", "3\n1\n");
        let made = Command::new("mkfifo").arg(here.path("pipe")).status();
        if made.is_ok_and(|status| status.success()) {
            let pipe = here.path("pipe");
            let reader = std::thread::spawn(move || fs::read_to_string(pipe).expect("read"));
            here.good("sort a.txt -o pipe");
            assert_eq!(reader.join().expect("read"), "1\n3\n");
            assert!(
                fs::metadata(here.path("pipe"))
                    .expect("there")
                    .file_type()
                    .is_fifo()
            );
            fs::remove_file(here.path("pipe")).expect("removed");
        }
        assert_eq!(here.good("sort a.txt -o /dev/stdout"), "1\n3\n");
        here.good("sort a.txt -o /dev/null");
        assert_eq!(here.names(), ["a.txt"]);
        // stdin that is a file, from where it stands.
        let mut stdin = fs::File::open(here.path("a.txt")).expect("there");
        stdin.read_exact(&mut [0; 2]).expect("read");
        let output = here.tool("sort").stdin(stdin).output().expect("it runs");
        assert_eq!(output.stdout, b"1\n");
    }

    #[test]
    fn a_reader_that_has_seen_enough_ends_it_in_silence() {
        let here = Folder::new();
        here.good("gen -n 1e6 -o a.u64");
        let mut tool = here
            .tool("sort -q a.u64")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut some = [0; 8];
        tool.stdout
            .take()
            .expect("piped")
            .read_exact(&mut some)
            .expect("read");
        let output = tool.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    }

    /// Runs the tool in a shell that first does something.
    fn after(here: &Folder, first: &str, args: &str) -> Output {
        Command::new("sh")
            .current_dir(here.0.path())
            .args(["-c", &format!("{first} && exec \"$0\" {args}"), TOOL])
            .output()
            .expect("sh runs")
    }

    #[test]
    fn a_full_disk_loses_nothing() {
        let here = Folder::new();
        here.good("gen -n 1e5 -o a.u32");
        here.write("old.u32", "old!");
        here.write("old.txt", "old!");
        let before = here.names();
        if Path::new("/dev/full").exists() {
            let output = here.run("sort a.u32 -o /dev/full");
            failed("/dev/full", &output, 3, &["/dev/full", "disk is full"]);
        }
        // 64 blocks of 512 bytes at most: too little for raw, which is noticed before all work,
        // and for text, which is not.
        for out in ["old.u32", "old.txt"] {
            let output = after(
                &here,
                "ulimit -f 64",
                &format!("sort a.u32 -o {out} --force"),
            );
            failed(out, &output, 3, &[out, "ulimit"]);
            assert_eq!(here.text(out), "old!");
        }
        assert_eq!(here.names(), before);
    }

    #[test]
    fn folders_and_files_that_are_not_ours() {
        let here = Folder::new();
        let tool = here.path("tool");
        fs::copy(TOOL, &tool).expect("copied");
        fs::set_permissions(here.0.path(), fs::Permissions::from_mode(0o755)).expect("set");
        here.write("a.u32", [0; 8]);
        here.write("secret.u32", [0; 8]);
        fs::set_permissions(here.path("secret.u32"), fs::Permissions::from_mode(0o000))
            .expect("set");
        fs::create_dir(here.path("closed")).expect("made");
        fs::set_permissions(here.path("closed"), fs::Permissions::from_mode(0o555)).expect("set");
        let run = |args: &str| {
            let mut command = Command::new(&tool);
            command
                .current_dir(here.0.path())
                .args(args.split_whitespace());
            if fs::metadata(here.0.path()).expect("there").uid() == 0 {
                // Root may do anything; be nobody.
                std::os::unix::process::CommandExt::uid(&mut command, 65534);
            }
            command.output().expect("it runs")
        };
        let output = run("sort a.u32 -o closed/b.u32");
        failed(
            "closed folder",
            &output,
            3,
            &["closed/b.u32 in folder closed", "permission denied"],
        );
        let output = run("sort secret.u32 -o /dev/null");
        failed(
            "secret file",
            &output,
            3,
            &["secret.u32", "permission denied"],
        );
        assert_eq!(here.names(), ["a.u32", "closed", "secret.u32", "tool"]);
    }

    /// Whenever it is killed, the old output is whole, or the new one is.
    #[test]
    fn killed_at_any_moment() {
        let here = Folder::new();
        here.good("gen -n 4e6 -o a.u64");
        here.good("sort a.u64 -o new.u64");
        let new = here.read("new.u64");
        here.write("out.u64", "the old one");
        let mut killed_writing = 0;
        for round in 0..60u64 {
            let mut tool = here
                .tool("sort -q a.u64 -o out.u64 --force")
                .spawn()
                .expect("it runs");
            std::thread::sleep(Duration::from_millis(round * 5));
            // SIGKILL.
            let _ = tool.kill();
            let _ = tool.wait();
            let litter = here
                .names()
                .iter()
                .filter(|name| name.contains("sweepsort-tmp"))
                .count();
            assert!(litter <= 1, "the run before the last is cleaned up");
            killed_writing += litter;
            let now = here.read("out.u64");
            assert!(
                now == b"the old one" || now == new,
                "{} bytes in round {round}",
                now.len()
            );
            here.write("out.u64", "the old one");
        }
        assert!(killed_writing > 0, "no run was killed while it wrote");
        here.good("sort a.u64 -o out.u64 --force");
        assert_eq!(here.read("out.u64"), new);
        assert_eq!(here.names(), ["a.u64", "new.u64", "out.u64"]);
    }

    /// Ctrl-C leaves no litter at all.
    #[test]
    fn interrupted() {
        let here = Folder::new();
        here.good("gen -n 4e6 -o a.u64");
        for round in 0..10u64 {
            let mut tool = here
                .tool("sort -q a.u64 -o b.u64 --force")
                .spawn()
                .expect("it runs");
            std::thread::sleep(Duration::from_millis(10 + round * 10));
            let _ = Command::new("kill")
                .args(["-TERM", &tool.id().to_string()])
                .status();
            let code = tool.wait().expect("it ends").code();
            // Before the handler is set up, the signal itself ends it; after the end, all is done.
            assert!(matches!(code, None | Some(0 | 130)), "{code:?}");
            assert!(
                here.names().iter().all(|name| !name.contains("tmp")),
                "{:?}",
                here.names()
            );
        }
    }
}

/// The wgpu engine, on a processor that plays a GPU.
#[cfg(feature = "wgpu")]
mod software_adapter {
    use super::*;

    const VARIABLE: &str = "SWEEPSORT_ADAPTER";

    impl Folder {
        /// Runs the tool on an adapter of this name, or with no name given.
        fn run_on(&self, adapter: Option<&str>, args: &str) -> Output {
            let mut tool = self.tool(args);
            match adapter {
                Some(name) => tool.env(VARIABLE, name),
                None => tool.env_remove(VARIABLE),
            };
            // Without such a folder Mesa looks for a screen, and complains on stderr.
            tool.env("XDG_RUNTIME_DIR", self.0.path());
            tool.stdin(Stdio::null()).output().expect("it runs")
        }

        /// The same, which must succeed, and give its stdout and stderr.
        fn good_on(&self, adapter: &str, args: &str) -> (String, String) {
            let output = self.run_on(Some(adapter), args);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(0), "{args}: {stderr}");
            (stdout, stderr)
        }
    }

    /// The adapters, as `devices` knows them: their names, and why they are absent.
    fn adapters(devices: &str) -> Vec<(String, Option<String>)> {
        let devices: serde_json::Value = serde_json::from_str(devices).expect("json");
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let all = devices.as_array().expect("an array").iter();
        all.filter(|device| device["engine"] == "wgpu")
            .map(|device| {
                (
                    text(&device["name"]).expect("a name"),
                    text(&device["absent"]),
                )
            })
            .collect()
    }

    /// The first word of a software adapter's name.
    fn software(here: &Folder) -> String {
        let all = adapters(&here.good("devices --json"));
        let software = all
            .iter()
            .find(|(name, _)| name.ends_with(", a software adapter"));
        let (name, _) = software.expect("a software adapter; `cargo xtask test` installs one");
        name.split([' ', ',']).next().unwrap_or_default().to_owned()
    }

    /// Files are sorted as the CPU engine sorts them.
    #[test]
    fn sorts_files() {
        let here = Folder::new();
        let adapter = software(&here);
        for name in ["keys.u8", "keys.i16", "keys.u32"] {
            here.good(&format!("gen -n 30000 -d and3 -o {name}"));
        }
        here.good("gen -n 30000 -s 1 -o values.u64");
        here.good("gen -n 30000 -s 2 -o values.u8");
        let floats = [
            "nan",
            "-nan",
            "1.5",
            "-0",
            "0",
            "inf",
            "-inf",
            "-2.5e-310",
            "7",
        ];
        here.write("floats.txt", floats.repeat(300).join("\n"));
        here.good("sort floats.txt -t f64 --bits 0..0 -o keys.f64");
        for (keys, flags) in [
            ("u8", ""),
            ("i16", "-r"),
            ("u32", ""),
            ("u32", "-r"),
            ("u32", "-u"),
            ("u32", "--bits 5..19"),
            ("u32", "--argsort"),
            ("i16", "--argsort -r -u"),
            ("f64", ""),
            ("f64", "-r"),
            ("f64", "--nan first"),
            ("f64", "--nan last -r"),
            ("f64", "--nan last --argsort"),
            ("u32", "--values values.u64"),
            ("i16", "--values values.u8 -r"),
        ] {
            // An index is u32, whatever the keys.
            let ty = if flags.contains("--argsort") {
                "u32"
            } else {
                keys
            };
            let [by_cpu, by_wgpu] = ["cpu", "wgpu"].map(|engine| {
                let moved = match flags.contains("--values") {
                    true => format!("--values-out {engine}.values"),
                    false => String::new(),
                };
                let args = format!(
                    "sort keys.{keys} {flags} {moved} --engine {engine} -o {engine}.{ty} -f raw --force"
                );
                let (_, summary) = here.good_on(&adapter, &args);
                let named = format!("engine {engine}, ");
                assert!(summary.contains(&named), "{args}: {summary}");
                let values = match moved.is_empty() {
                    true => Vec::new(),
                    false => here.read(&format!("{engine}.values")),
                };
                (here.read(&format!("{engine}.{ty}")), values)
            });
            assert!(
                by_wgpu == by_cpu,
                "keys.{keys} {flags}: another result than the CPU's"
            );
        }
    }

    #[test]
    fn says_what_it_did() {
        let here = Folder::new();
        let adapter = software(&here);
        here.good("gen -n 1e5 -o keys.u32");
        let (object, _) = here.good_on(&adapter, "sort keys.u32 -o a.u32 --engine wgpu --json");
        let object: serde_json::Value = serde_json::from_str(&object).expect("json");
        let report = &object["report"];
        assert_eq!(
            (&report["engine"], &report["algorithm"], &report["reason"]),
            (&"wgpu".into(), &"onesweep".into(), &"asked for".into())
        );
        let (_, line) = here.good_on(&adapter, "sort keys.u32 -o b.u32 --engine wgpu");
        assert!(
            line.ends_with("engine wgpu, onesweep, 4 of 4 passes\n"),
            "{line}"
        );
        let (devices, _) = here.good_on(&adapter, "devices --json");
        let (name, absent) = &adapters(&devices)[0];
        assert!(
            name.contains(&adapter) && absent.is_none(),
            "the adapter that sorts comes first: {devices}"
        );
    }

    /// What it does not sort, and adapters that are not there.
    #[test]
    fn refuses() {
        let here = Folder::new();
        let adapter = &*software(&here);
        here.good("gen -n 10 -o keys.u32");
        here.good("gen -n 10 -o keys.u128");
        for (adapter, args, parts) in [
            (
                adapter,
                "keys.u128",
                &["engine wgpu", "keys of 128 bits", "engine cpu"][..],
            ),
            (
                adapter,
                "keys.u32 --algorithm split",
                &["engine wgpu", "auto, onesweep"],
            ),
            (
                "no such GPU",
                "keys.u32",
                &["wgpu is absent", VARIABLE, "'no such GPU'", adapter],
            ),
        ] {
            let args = format!("sort {args} --engine wgpu -o x");
            failed(&args, &here.run_on(Some(adapter), &args), 2, parts);
        }
        // A real GPU is taken without being asked for by name, and nothing else is.
        let devices = here.run_on(None, "devices --json");
        let devices = String::from_utf8(devices.stdout).expect("text");
        let sorted = here.run_on(None, "sort keys.u32 --engine wgpu -o x.u32");
        match &adapters(&devices)[0] {
            (_, None) => assert_eq!(sorted.status.code(), Some(0), "{devices}"),
            (name, Some(why)) => {
                assert!(name.contains(adapter), "{devices}");
                failed("without a name", &sorted, 2, &[why, VARIABLE, adapter]);
            }
        }
    }
}
