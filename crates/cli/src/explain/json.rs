//! The explanation as one JSON object: keys as numbers, stages as arrays.

use std::ops::Range;

use serde::Serialize;
use serde_json::value::RawValue;
use sweepsort::explain::Role;

use super::view::View;
use crate::exit::{Failure, Result};

#[derive(Serialize)]
struct Stage<'a> {
    name: &'a str,
    values: Vec<Value>,
}

/// A number of a stage, or a key.
#[derive(Serialize)]
#[serde(untagged)]
enum Value {
    Number(usize),
    Key(Box<RawValue>),
}

/// The object, with these passes; a stage a line.
///
/// # Errors
/// Where JSON cannot be written.
pub fn render(view: &View, passes: Range<usize>) -> Result<String> {
    object(view, passes)
        .map_err(|error| Failure::system(format!("cannot write the explanation: {error}")))
}

fn object(view: &View, passes: Range<usize>) -> serde_json::Result<String> {
    let keys = |positions: &mut dyn Iterator<Item = usize>| -> serde_json::Result<String> {
        let keys: Vec<Value> = positions.map(|p| key(view, p)).collect::<Result<_, _>>()?;
        serde_json::to_string(&keys)
    };
    let mut shown = Vec::new();
    for pass in &view.passes[passes] {
        let mut stages = Vec::new();
        for stage in &pass.stages {
            let values = stage.values.iter().map(|&value| match stage.role {
                Role::Keys => key(view, value),
                _ => Ok(Value::Number(value)),
            });
            stages.push(serde_json::to_string(&Stage {
                name: &stage.name,
                values: values.collect::<Result<_, _>>()?,
            })?);
        }
        let digit = serde_json::to_string(&pass.digit)?;
        let bits = pass.bits.as_ref().map(|bits| [bits.start, bits.end]);
        shown.push(format!(
            "{{\"digit\":{digit},\"bits\":{},\"stages\":[\n      {}\n    ]}}",
            serde_json::to_string(&bits)?,
            stages.join(",\n      ")
        ));
    }
    let passes = match shown.is_empty() {
        true => String::new(),
        false => format!("\n    {}\n  ", shown.join(",\n    ")),
    };
    Ok(format!(
        "{{\n  \"algorithm\": {},\n  \"input\": {},\n  \"passes\": [{passes}],\n  \"output\": {}\n}}\n",
        serde_json::to_string(view.algorithm.name())?,
        keys(&mut (0..view.keys.len()))?,
        keys(&mut view.output.iter().copied())?,
    ))
}

/// A key as a JSON number where it is one, and otherwise (`nan`, `inf`, `true`) as its text.
fn key(view: &View, position: usize) -> serde_json::Result<Value> {
    let text = &view.texts[position];
    let number = text.ends_with(|c: char| c.is_ascii_digit());
    let json = match number {
        true => text.clone(),
        false => serde_json::to_string(text)?,
    };
    RawValue::from_string(json).map(Value::Key)
}
