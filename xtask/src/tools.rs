//! The programs that the chores need beside cargo, and how a missing one is had.

use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{program, run, target_dir, works};

/// A program that a chore needs.
pub struct Tool {
    name: &'static str,
    /// What ends well where the tool is there.
    probe: Probe,
    /// Commands that install it, the first whose program is there being taken.
    installs: &'static [&'static [&'static str]],
}

/// A program with its arguments.
enum Probe {
    /// One of the system's.
    Installed(&'static [&'static str]),
    /// One of the repository's examples, as `cargo test --workspace` builds it.
    Example(&'static [&'static str]),
}

/// The formatter.
pub const RUSTFMT: Tool = Tool {
    name: "rustfmt",
    probe: Probe::Installed(&["rustfmt", "--version"]),
    installs: &[&["rustup", "component", "add", "rustfmt"]],
};

/// The lints.
pub const CLIPPY: Tool = Tool {
    name: "clippy",
    probe: Probe::Installed(&["cargo-clippy", "--version"]),
    installs: &[&["rustup", "component", "add", "clippy"]],
};

/// The memory checker.
pub const VALGRIND: Tool = Tool {
    name: "valgrind",
    probe: Probe::Installed(&["valgrind", "--version"]),
    installs: &[
        &["apt-get", "install", "--yes", "valgrind"],
        &["dnf", "install", "--assumeyes", "valgrind"],
        &["pacman", "-S", "--noconfirm", "valgrind"],
        &["apk", "add", "valgrind"],
    ],
};

/// A GPU played by the processor, for the wgpu engine. That it is there, wgpu itself must say.
pub const SOFTWARE_VULKAN: Tool = Tool {
    name: "software Vulkan",
    probe: Probe::Example(&["adapters", "software"]),
    installs: &[
        &[
            "apt-get",
            "install",
            "--yes",
            "mesa-vulkan-drivers",
            "libvulkan1",
        ],
        &[
            "dnf",
            "install",
            "--assumeyes",
            "mesa-vulkan-drivers",
            "vulkan-loader",
        ],
        &[
            "pacman",
            "-S",
            "--noconfirm",
            "vulkan-swrast",
            "vulkan-icd-loader",
        ],
        &["apk", "add", "mesa-vulkan-swrast", "vulkan-loader"],
    ],
};

/// The browser that the page of `explain` is stepped through in.
pub const CHROMIUM: Tool = Tool {
    name: "chromium",
    probe: Probe::Installed(&["chromium", "--version"]),
    installs: &[
        &["apt-get", "install", "--yes", "chromium"],
        &["dnf", "install", "--assumeyes", "chromium"],
        &["pacman", "-S", "--noconfirm", "chromium"],
        &["apk", "add", "chromium"],
    ],
};

/// The fuzzer's driver. It is not installed by itself, for fuzzing is no part of the tests.
pub const CARGO_FUZZ: Tool = Tool {
    name: "cargo-fuzz",
    probe: Probe::Installed(&["cargo-fuzz", "--version"]),
    installs: &[&["cargo", "install", "cargo-fuzz"]],
};

impl Tool {
    /// Makes sure that the tool is there; where it is missing, installs it if it may.
    pub fn need(&self, install: bool) -> Result<()> {
        if self.works() {
            return Ok(());
        }
        let mut commands = self.installs.iter().copied();
        let Some(words) = commands.find(|words| works(program(words[0]).arg("--version"))) else {
            bail!("{} is missing; install it", self.name);
        };
        if !install {
            bail!(
                "{} is missing; `{}` installs it",
                self.name,
                words.join(" ")
            );
        }
        run(&mut command(words))?;
        if self.works() {
            Ok(())
        } else {
            bail!("{} is still missing after `{}`", self.name, words.join(" "))
        }
    }

    fn works(&self) -> bool {
        match &self.probe {
            Probe::Installed(words) => works(&mut command(words)),
            Probe::Example(words) => target_dir().is_ok_and(|target| {
                let path = target.join("debug/examples").join(words[0]);
                let path = path.with_extension(std::env::consts::EXE_EXTENSION);
                works(program(path).args(&words[1..]))
            }),
        }
    }
}

/// The command of these words.
fn command(words: &[&str]) -> Command {
    let mut command = program(words[0]);
    command.args(&words[1..]);
    command
}
