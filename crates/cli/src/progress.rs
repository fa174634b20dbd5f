//! A progress bar on stderr, for work of more than a second, on a terminal alone.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes less time than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How far the work is. Shared by all threads.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Its end tells the thread that would show the bar that the work is done.
    _working: Option<Sender<()>>,
}

impl Progress {
    /// Progress that is never shown.
    pub fn hidden() -> Progress {
        Progress {
            bar: ProgressBar::hidden(),
            _working: None,
        }
    }

    /// Progress that is shown after a second, unless `quiet` or where stderr is no terminal.
    pub fn new(quiet: bool) -> Progress {
        if quiet || !stderr().is_terminal() {
            return Progress::hidden();
        }
        let bar = ProgressBar::hidden();
        let (working, done) = mpsc::channel::<()>();
        let shown = bar.clone();
        std::thread::spawn(move || {
            if done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress {
            bar,
            _working: Some(working),
        }
    }

    /// The next stage: `total` bytes to do, where known.
    pub fn stage(&self, name: &'static str, total: Option<u64>) {
        let template = match total {
            Some(_) => "{msg:>8} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{msg:>8} {spinner} {elapsed}",
        };
        // The templates are constants that parse; if one did not, the default bar would do.
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        self.bar.set_style(style);
        self.bar.reset();
        self.bar.set_message(name);
        if let Some(total) = total {
            self.bar.set_length(total);
        }
    }

    /// So many bytes more are done.
    pub fn inc(&self, bytes: usize) {
        self.bar.inc(bytes as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
