//! The `sweepsort` command.
//!
//! A file's way through the modules: [`args`] says what is wanted; [`input`] and [`mod@format`] make
//! keys of a file; [`mod@sort`] (or [`check`]) works on them in [`memory`]; [`output`] makes a file
//! of them; [`summary`] tells what was done, or [`exit`] what was wrong. [`mod@explain`] and
//! [`mod@bench`] go their own ways.

pub mod args;
pub mod bench;
pub mod check;
pub mod devices;
pub mod exit;
pub mod explain;
pub mod format;
pub mod r#gen;
pub mod input;
pub mod memory;
pub mod output;
pub mod progress;
pub mod sort;
pub mod summary;
pub mod types;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use exit::{Failure, Result};

/// Runs the tool with this process's arguments.
pub fn main() -> ExitCode {
    survive_signals();
    // A mistyped flag ends here, with a suggestion and exit code 2.
    let cli = Cli::parse();
    match run(&cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn run(command: &Command) -> Result<()> {
    match command {
        Command::Sort(args) => sort::run(args),
        Command::Gen(args) => r#gen::run(args),
        Command::Check(args) => check::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "sweepsort", &mut script);
            summary::print(&String::from_utf8_lossy(&script))
        }
        Command::Man => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command())
                .render(&mut page)
                .map_err(|error| Failure::io("write", "the manual page", &error))?;
            summary::print(&String::from_utf8_lossy(&page))
        }
    }
}

/// Writing past a limit on file sizes is to be an error that can be told, not a signal that kills.
fn survive_signals() {
    #[cfg(unix)]
    // SAFETY: ignoring a signal runs no code, and no thread has been started yet.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
