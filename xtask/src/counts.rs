//! What `cargo test` prints, added up.

use std::fmt;

/// Tests passed, failed and skipped, over all test programs.
#[derive(Debug, Default, PartialEq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Names of the tests that failed.
    pub failed_names: Vec<String>,
    /// Names of what was skipped, with the reason where there is one.
    pub skipped_names: Vec<String>,
}

impl Counts {
    /// Takes note of a line of `cargo test`'s stdout. A program's result line gives the numbers,
    /// for a test that prints past the harness can tear its own line; the others give names. What was
    /// ignored or filtered out was skipped.
    pub fn see(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ") {
            // `ok. 3 passed; 0 failed; 1 ignored; …`
            for part in result.split(['.', ';']) {
                if let Some((number, what)) = part.trim().split_once(' ')
                    && let Ok(number) = number.parse::<usize>()
                {
                    match what {
                        "passed" => self.passed += number,
                        "failed" => self.failed += number,
                        "ignored" | "filtered out" => self.skipped += number,
                        _ => {}
                    }
                }
            }
        } else if let Some((name, outcome)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "))
        {
            if outcome.starts_with("FAILED") {
                self.failed_names.push(name.to_owned());
            } else if let Some(reason) = outcome.strip_prefix("ignored") {
                self.skipped_names.push(format!("{name}{reason}"));
            }
        }
    }

    /// Notes something skipped that is no test of cargo's.
    pub fn skip(&mut self, name: String) {
        self.skipped += 1;
        self.skipped_names.push(name);
    }
}

/// The closing line.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sweepsort: {} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_add_up() {
        let mut counts = Counts::default();
        for line in [
            "running 4 tests",
            "test key::tests::bits ... ok",
            "test crates/sweepsort/src/lib.rs - sort (line 44) ... ok",
            "test slow ... ignored, takes an hour ... or two",
            "test wrong ... FAILED",
            "test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 5 filtered out; \
             finished in 0.31s",
            "test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        ] {
            counts.see(line);
        }
        counts.skip("readme: no sh".to_owned());
        assert_eq!(
            counts.to_string(),
            "sweepsort: 9 passed, 1 failed, 7 skipped"
        );
        assert_eq!(counts.failed_names, ["wrong"]);
        assert_eq!(
            counts.skipped_names,
            ["slow, takes an hour ... or two", "readme: no sh"]
        );
    }
}
