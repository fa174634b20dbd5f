//! The explanation as tables for a terminal: what there is for each key side by side, matrices and
//! single rows by themselves, in the order in which they are made.

use std::fmt::Write;
use std::ops::Range;

use comfy_table::{CellAlignment, Table, presets};
use sweepsort::Order;
use sweepsort::explain::{Algorithm, Detail, Does, Event, Pass, Role, Rows, Scatter, Stage, State};

use super::view::View;

/// So many columns of a matrix stand side by side.
const COLUMNS: usize = 16;

/// The tables of these passes.
pub fn render(view: &View, passes: Range<usize>) -> String {
    let mut text = String::new();
    head(view, &mut text);
    // A part of the passes does not lead to the output.
    let output = match passes.len() == view.passes.len() {
        true => "Output",
        false => "Output of all passes",
    };
    for number in passes {
        let title = view.title(number);
        add(
            &mut text,
            &format!("\n{}{}\n", title[..1].to_uppercase(), &title[1..]),
        );
        pass_tables(view, &view.passes[number], &mut text);
    }
    let names: Vec<String> = view.output.iter().map(|&p| view.name(p)).collect();
    add(&mut text, &format!("\n{output}: {}\n", names.join(" ")));
    if !view.sorted {
        add(
            &mut text,
            "This is not in order: a pass that turns equal digits round undoes the passes before.\n",
        );
    }
    text
}

/// What is sorted how, and the keys' bits where the codec changes them.
fn head(view: &View, text: &mut String) {
    let mut facts = vec![format!("{} keys of type {}", view.keys.len(), view.ty)];
    if view.order == Order::Descending {
        facts.push("descending".into());
    }
    match view.base {
        Some(base) => facts.push(format!("digits in base {base}")),
        None => {
            facts.push(format!("bits {}..{}", view.bits.start, view.bits.end));
            facts.push(format!(
                "digits of {}",
                count(view.radix_bits as usize, "bit")
            ));
        }
    }
    let blocks = view
        .passes
        .iter()
        .flat_map(|pass| &pass.stages)
        .any(|stage| {
            let by_block = matches!(
                stage.rows,
                Some((Rows::Block | Rows::Tile | Rows::Digit, _))
            );
            by_block || stage.name == "tiles"
        });
    if view.algorithm == Algorithm::Hybrid {
        facts.push(format!("buckets of up to {} sorted locally", view.block));
    }
    if blocks {
        facts.push(format!("blocks of {}", view.block));
    }
    if view.break_stability {
        facts.push("stability broken".into());
    }
    let (name, idea) = (view.algorithm.name(), view.algorithm.idea());
    add(text, &format!("{name}: {idea}\n{}\n", facts.join(", ")));
    if view.coded() {
        let mut sheet = Sheet::new((0..view.keys.len()).collect());
        sheet.column(
            "key",
            view.keys.iter().enumerate().map(|(p, _)| view.name(p)),
        );
        sheet.column("bits", view.keys.iter().map(|key| view.bits_of(key.word)));
        sheet.column("code", view.keys.iter().map(|key| view.bits_of(key.code)));
        add(
            text,
            "\nThe code of a key, compared as an unsigned number, has the key's order.\n",
        );
        sheet.print(text);
    }
}

/// Columns side by side, a row for each index.
struct Sheet {
    /// The keys that the rows are about, by position.
    order: Vec<usize>,
    columns: Vec<(String, Vec<String>)>,
    /// What is said below.
    notes: Vec<String>,
    /// Whether a blank line comes first.
    apart: bool,
}

impl Sheet {
    fn new(order: Vec<usize>) -> Sheet {
        Sheet {
            order,
            columns: Vec::new(),
            notes: Vec::new(),
            apart: false,
        }
    }

    fn column(&mut self, name: impl Into<String>, cells: impl Iterator<Item = String>) {
        self.columns.push((name.into(), cells.collect()));
    }

    /// Prints the columns with the index in front, and the notes. Nothing if there is one column at
    /// most, for a key column alone says nothing new.
    fn print(&self, text: &mut String) {
        if self.columns.len() < 2 {
            return;
        }
        if self.apart {
            add(text, "\n");
        }
        let rows = self
            .columns
            .iter()
            .map(|(_, cells)| cells.len())
            .max()
            .unwrap_or(0);
        if rows > 0 {
            let mut table = plain(
                std::iter::once("i".to_owned())
                    .chain(self.columns.iter().map(|(name, _)| name.clone())),
            );
            for row in 0..rows {
                // A scan's total stands behind the last key.
                let index = match row < self.order.len() {
                    true => row.to_string(),
                    false => "total".to_owned(),
                };
                let cells = self.columns.iter();
                let cells = cells.map(|(_, cells)| cells.get(row).cloned().unwrap_or_default());
                table.add_row(std::iter::once(index).chain(cells));
            }
            finish(table, text);
        }
        for note in &self.notes {
            add(text, &format!("{note}\n"));
        }
    }
}

/// The tables of one pass.
fn pass_tables(view: &View, pass: &Pass, text: &mut String) {
    let name = |position: usize| view.name(position);
    let mut sheet = keys_sheet(view, pass, &pass.before, "key");
    let mut placed = false;
    for stage in &pass.stages {
        let source = pass
            .scatter
            .as_ref()
            .filter(|s| s.stage == Some(stage.name.as_str()));
        match stage.role {
            Role::Keys if source.is_some() => {
                sheet.print(text);
                sheet = keys_sheet(view, pass, &stage.values, &stage.name);
            }
            Role::Keys => {
                if let Some(scatter) = pass.scatter.as_ref().filter(|_| !placed) {
                    place(&mut sheet, scatter);
                    placed = true;
                }
                sheet.column(&stage.name, stage.values.iter().map(|&p| name(p)));
            }
            Role::Places => {
                if let Some(scatter) = &pass.scatter {
                    place(&mut sheet, scatter);
                    placed = true;
                }
            }
            Role::Number => {
                let value = stage.values.first().copied().unwrap_or(0);
                sheet.notes.push(format!("{} = {value}", stage.name));
            }
            role if role.by_key() => {
                sheet.column(&stage.name, stage.values.iter().map(usize::to_string));
            }
            _ => {
                sheet.print(text);
                sheet = Sheet::new(sheet.order);
                matrix(view, pass, stage, text);
                sheet.apart = true;
                sheet.column("key", sheet.order.clone().into_iter().map(name));
            }
        }
    }
    sheet.print(text);
}

/// The keys, their bits with the digit marked, and the digit.
fn keys_sheet(view: &View, pass: &Pass, order: &[usize], title: &str) -> Sheet {
    let mut sheet = Sheet::new(order.to_vec());
    sheet.column(title, order.iter().map(|&p| view.name(p)));
    let title = match view.base {
        Some(_) => "digits",
        None => "bits",
    };
    sheet.column(
        title,
        order.iter().map(|&position| {
            let [before, digit, behind] = view.marked(position, pass);
            match digit.is_empty() {
                true => before,
                false => format!("{before}[{digit}]{behind}"),
            }
        }),
    );
    let shown = |stage: &Stage| stage.role == Role::Digits || stage.name == "b";
    if let (Some(digits), false) = (&pass.digits, pass.stages.iter().any(shown)) {
        let digit_of = |p: &usize| {
            let at = pass.before.iter().position(|before| before == p);
            at.map_or_else(String::new, |at| digits[at].to_string())
        };
        sheet.column("digit", order.iter().map(digit_of));
    }
    sheet
}

/// The destinations, each as a sum, and the rule of the sums.
fn place(sheet: &mut Sheet, scatter: &Scatter) {
    match &scatter.sums {
        Some(sums) => {
            sheet.column("d", sums.iter().cloned());
            sheet.notes.push(format!("d = {}", scatter.rule));
        }
        None => {
            sheet.column("d", scatter.places.iter().map(usize::to_string));
            sheet.notes.push("d: equal digits turned round".into());
        }
    }
}

/// A matrix, or a single row of counts or offsets.
fn matrix(view: &View, pass: &Pass, stage: &Stage, text: &mut String) {
    add(text, &format!("\n{}: {}\n", stage.name, stage.what));
    if let Some(Detail::LookBack(events)) = &stage.detail {
        return turns(events, text);
    }
    let rows = stage.rows.map(|(rows, _)| rows);
    let width = stage
        .rows
        .map_or(stage.values.len(), |(_, columns)| columns);
    let shown = view.shown(pass, stage);
    let title = match rows {
        Some(rows) => format!("{} \\ {}", rows.name(), view.columns(stage)),
        None => view.columns(stage).to_owned(),
    };
    for columns in shown.columns.chunks(COLUMNS) {
        let heads = columns.iter().map(usize::to_string);
        let mut table = plain(std::iter::once(title.clone()).chain(heads));
        for row in &shown.rows {
            let label = match rows {
                Some(rows) => format!("{} {row}", rows.name()),
                None => String::new(),
            };
            let cells = columns
                .iter()
                .map(|column| stage.values[row * width + column].to_string());
            table.add_row(std::iter::once(label).chain(cells));
        }
        finish(table, text);
    }
    if shown.sparse {
        add(text, "Digits that no key has are left out.\n");
    }
}

/// Look-back, turn by turn.
fn turns(events: &[Event], text: &mut String) {
    let mut table = plain(["turn", "tile", "does", "states"].map(str::to_owned));
    for (turn, event) in events.iter().enumerate() {
        let does = match event.does {
            Does::Partial => "publishes its counts".to_owned(),
            Does::Reads(tile) => format!("adds what tile {tile} has published"),
            Does::Waits(tile) => format!("finds nothing of tile {tile} yet"),
            Does::Inclusive => "publishes the sum up to itself".to_owned(),
        };
        let letters = event.states.iter().map(|state| match state {
            State::Empty => "·",
            State::Partial => "P",
            State::Inclusive => "I",
        });
        table.add_row([
            turn.to_string(),
            event.tile.to_string(),
            does,
            letters.collect::<Vec<_>>().join(" "),
        ]);
    }
    finish(table, text);
    add(
        text,
        "· empty, P partial: its counts, I inclusive: the sum up to it\n",
    );
}

/// A table without a frame.
fn plain(heads: impl IntoIterator<Item = String>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(heads.into_iter().collect::<Vec<_>>());
    table
}

/// Adds a table to the text, numbers to the right, without blanks at line ends.
fn finish(mut table: Table, text: &mut String) {
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for line in table.to_string().lines() {
        add(text, &format!("{}\n", line.trim_end()));
    }
}

/// `1 bit`, `2 bits`.
fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

fn add(text: &mut String, more: &str) {
    text.write_str(more).expect("a string takes all");
}
