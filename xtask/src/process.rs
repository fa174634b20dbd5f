//! Running other programs, each shown before it starts.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the repository")
}

/// The cargo that runs this, in the repository's root.
pub fn cargo() -> Command {
    let mut cargo = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Where all is built once and nobody looks into it, what is for a next build or for a debugger takes time only.
    if std::env::var_os("CI").is_some() {
        cargo.env("CARGO_INCREMENTAL", "0");
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
    }
    cargo
}

/// A program in the repository's root.
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Whether a program can be started and ends well; what it prints is dropped.
pub fn works(command: &mut Command) -> bool {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Shows a command and runs it.
pub fn run(command: &mut Command) -> Result<()> {
    show(command);
    let status = command
        .status()
        .with_context(|| format!("{} could not be started", line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs a command and returns what it printed on stdout.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("{} could not be started", line(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({})", line(command), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of `{}`", line(command)))
}

/// Shows a command, runs it, passes its stdout on, and hands each line of it to `see`. Returns
/// whether it ended well.
pub fn watch(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool> {
    show(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} could not be started", line(command)))?;
    let mut lines = BufReader::new(child.stdout.take().context("no pipe")?);
    let (mut bytes, mut out) = (Vec::new(), std::io::stdout());
    while lines.read_until(b'\n', &mut bytes)? > 0 {
        out.write_all(&bytes)?;
        see(String::from_utf8_lossy(&bytes).trim_end());
        bytes.clear();
    }
    out.flush()?;
    Ok(child.wait()?.success())
}

/// A command as a person would type it.
fn line(command: &Command) -> String {
    let name = Path::new(command.get_program())
        .file_stem()
        .unwrap_or(command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

fn show(command: &Command) {
    println!("$ {}", line(command));
}

/// Where cargo builds to.
pub fn target_dir() -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let metadata = output(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    Ok(serde_json::from_str::<Metadata>(&metadata)?.target_directory)
}
