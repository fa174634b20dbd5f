//! Bisection as text: a line for each array of a device that is not the twin's.

use sweepsort::explain::{Bisection, Entry};

use crate::exit::{Failure, Result};
use crate::summary::print;

/// Prints what differs, or that nothing does.
///
/// # Errors
/// [`Failure::Found`] where something differs.
pub fn tell(texts: &[String], found: &Bisection) -> Result<()> {
    print(&lines(texts, found))?;
    print(&verdict(found)?)
}

fn verdict(found: &Bisection) -> Result<String> {
    let (algorithm, compared) = (found.algorithm.name(), found.compared);
    match found.differences.len() {
        0 => Ok(format!(
            "{algorithm}: {compared} arrays compared, all as the twin's\n"
        )),
        differ => Err(Failure::Found(format!(
            "{algorithm}: {compared} arrays compared, {differ} not as the twin's"
        ))),
    }
}

/// `pass 0, scan, index 7: device 5, twin 4`, for each array that differs.
fn lines(texts: &[String], found: &Bisection) -> String {
    let entry = |entry: Option<Entry>| match entry {
        None => "nothing".to_owned(),
        Some(Entry::Key(position)) => format!("{} (key {position})", texts[position]),
        Some(other) => other.to_string(),
    };
    let line = |difference: &sweepsort::explain::Difference| {
        format!(
            "pass {}, {}, index {}: device {}, twin {}\n",
            difference.pass,
            difference.stage,
            difference.index,
            entry(difference.device),
            entry(difference.twin)
        )
    };
    found.differences.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use sweepsort::explain::{Algorithm, Difference};

    use super::*;

    #[test]
    fn a_line_for_each_difference() {
        let difference = |stage: &str, device, twin| Difference {
            pass: 1,
            stage: stage.into(),
            index: 7,
            device,
            twin,
        };
        let stray = Entry::Stray {
            code: 0x1f,
            position: 9,
        };
        let texts = ["-1.5".to_owned(), "2.0".to_owned()];
        let mut found = Bisection {
            algorithm: Algorithm::Split,
            compared: 14,
            kept: vec!["e".into(), "f".into(), "out".into()],
            differences: vec![
                difference("f", Some(Entry::Number(5)), Some(Entry::Number(4))),
                difference("d", None, Some(Entry::Number(4))),
                difference("out", Some(Entry::Key(1)), Some(Entry::Key(0))),
                difference("out", Some(stray), None),
            ],
        };
        assert_eq!(
            lines(&texts, &found),
            "pass 1, f, index 7: device 5, twin 4\n\
             pass 1, d, index 7: device nothing, twin 4\n\
             pass 1, out, index 7: device 2.0 (key 1), twin -1.5 (key 0)\n\
             pass 1, out, index 7: device code 0x1f with position 9, which is no key, twin nothing\n"
        );
        assert_eq!(verdict(&found).unwrap_err().code(), 1);
        found.differences.clear();
        let good = "split: 14 arrays compared, all as the twin's\n";
        assert_eq!(verdict(&found).unwrap(), good);
    }
}
