//! One pass as a drawing: keys as cards, their arrays in rows below, and lines to where they go.
//!
//! From top to bottom: the keys as the pass finds them, then each stage in the order in which it is
//! made. Above a row of keys, a line leads to each key from where it stood before. Colours tell
//! digits apart; the digit's bits are underlined in each key as well.

use std::collections::BTreeMap;
use std::fmt::Write;

use sweepsort::explain::{Detail, Network, Pass, Role, Rows, Stage, State};

use super::view::View;

/// Left of it stand the rows' names.
const LABELS: f64 = 104.0;
/// Height of a row of numbers.
const ROW: f64 = 24.0;
/// Height of a key's card.
const CARD: f64 = 40.0;
/// Height of the lines between two rows of keys.
const LINES: f64 = 64.0;
/// Blank around the drawing.
const MARGIN: f64 = 14.0;
/// Matrices go on below when they are as wide as this.
const WIDEST: f64 = 900.0;
/// Width of a matrix's cell.
const SMALL: f64 = 30.0;
/// As many colours for digits.
const COLOURS: usize = 8;

const STYLE: &str = "\
svg{--paper:#fff;--ink:#1c2530;--soft:#5b6675;--line:#c4ccd6;\
--c0:#cfe3f7;--c1:#fde0c0;--c2:#d3ebcd;--c3:#f7d2d8;--c4:#e2d7f2;--c5:#f7edb2;--c6:#ccecec;--c7:#e8dfd2;\
--s0:#2f6fae;--s1:#b8651b;--s2:#3f8540;--s3:#b23c52;--s4:#7452a6;--s5:#8f7b10;--s6:#21807f;--s7:#7a664f;\
font:14px system-ui,-apple-system,'Segoe UI',sans-serif;font-variant-numeric:tabular-nums}\
@media(prefers-color-scheme:dark){svg{--paper:#12171e;--ink:#e6ebf1;--soft:#9aa6b4;--line:#3a4552;\
--c0:#1f4263;--c1:#643f14;--c2:#27502c;--c3:#642b38;--c4:#453663;--c5:#564e12;--c6:#1a4f4f;--c7:#4e4436;\
--s0:#7ab3ea;--s1:#eea35c;--s2:#83c985;--s3:#ee8fa0;--s4:#b99be6;--s5:#d8c44f;--s6:#66c7c6;--s7:#c6b196}}\
text{fill:var(--ink);text-anchor:middle}.soft{fill:var(--soft);font-size:12px}\
.name{text-anchor:start;font-weight:600}.title{text-anchor:start;font-size:16px;font-weight:600}\
.bits{font:11px ui-monospace,'SF Mono',Menlo,Consolas,monospace}.now{text-decoration:underline;font-weight:700}\
.card{stroke:var(--line)}.move{fill:none;stroke-width:1.7}.swap{stroke-width:3}.cell{fill:none;stroke:var(--line)}";

/// A drawing that grows downwards.
struct Drawing<'a> {
    view: &'a View,
    pass: &'a Pass,
    body: String,
    y: f64,
    width: f64,
    /// Width of a key's card and of the column below it.
    column: f64,
}

/// Draws a pass.
pub fn draw(view: &View, number: usize) -> String {
    let pass = &view.passes[number];
    let mut drawing = Drawing::new(view, pass);
    let title = format!("{}, {}", view.algorithm.name(), view.title(number));
    drawing.heading(&title);
    let mut above = &pass.before;
    drawing.cards("keys", above);
    for stage in &pass.stages {
        match stage.role {
            Role::Keys => {
                drawing.moves(above, stage);
                above = &stage.values;
                drawing.cards(&stage.name, above);
            }
            Role::Number => drawing.row(&stage.name, &stage.values, &[]),
            role if role.by_key() => {
                let digits = colours(pass, stage, above);
                drawing.row(&stage.name, &stage.values, &digits);
            }
            Role::States => drawing.states(stage),
            _ => drawing.matrix(stage),
        }
    }
    drawing.finish(&title)
}

/// The digits that colour a row of destinations: those of the keys above.
fn colours(pass: &Pass, stage: &Stage, above: &[usize]) -> Vec<usize> {
    match (stage.role, &pass.digits) {
        (Role::Places, Some(_)) => {
            let digits = digits_by_key(pass);
            above.iter().map(|position| digits[position]).collect()
        }
        _ => Vec::new(),
    }
}

/// Each key's digit in a pass, by the key's position.
fn digits_by_key(pass: &Pass) -> BTreeMap<usize, usize> {
    let digits = pass.digits.iter().flatten().copied();
    pass.before.iter().copied().zip(digits).collect()
}

impl<'a> Drawing<'a> {
    fn new(view: &'a View, pass: &'a Pass) -> Drawing<'a> {
        // Wide enough for the longest name, bits and number.
        let names = pass.before.iter().map(|&p| 8.4 * len(&view.name(p)));
        let bits = pass
            .before
            .iter()
            .map(|&p| 6.8 * len(&view.marked(p, pass).concat()));
        let column = names.chain(bits).fold(28.0, f64::max) + 14.0;
        Drawing {
            view,
            pass,
            body: String::new(),
            y: MARGIN,
            width: LABELS + column * pass.before.len().max(1) as f64,
            column,
        }
    }

    /// The middle of a column.
    fn x(&self, index: usize) -> f64 {
        LABELS + self.column * (index as f64 + 0.5)
    }

    fn heading(&mut self, title: &str) {
        self.text(0.0, self.y + 14.0, "title", title);
        self.width = self.width.max(9.0 * len(title));
        self.y += 30.0;
        for index in 0..self.pass.before.len() {
            self.text(self.x(index), self.y + 10.0, "soft", &index.to_string());
        }
        self.y += 16.0;
    }

    /// A row of keys.
    fn cards(&mut self, name: &str, order: &[usize]) {
        let digits = digits_by_key(self.pass);
        self.text(0.0, self.y + 25.0, "name", name);
        for (index, &position) in order.iter().enumerate() {
            let x = self.x(index);
            let fill = match digits.get(&position) {
                Some(digit) => format!("var(--c{})", digit % COLOURS),
                None => "var(--paper)".to_owned(),
            };
            add(
                &mut self.body,
                format_args!(
                    "<rect class=\"card\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{CARD}\" rx=\"5\" \
                     style=\"fill:{fill}\"/>\n",
                    short(x - self.column / 2.0 + 3.0),
                    short(self.y),
                    short(self.column - 6.0),
                ),
            );
            self.text(x, self.y + 17.0, "", &self.view.name(position));
            let [before, digit, behind] = self.view.marked(position, self.pass);
            let y = short(self.y + 33.0);
            add(
                &mut self.body,
                format_args!(
                    "<text class=\"bits\" x=\"{}\" y=\"{y}\">{before}<tspan class=\"now\">{digit}</tspan>\
                     {behind}</text>\n",
                    short(x),
                ),
            );
        }
        self.y += CARD + 6.0;
    }

    /// A number for each key, and perhaps a total behind them.
    fn row(&mut self, name: &str, values: &[usize], digits: &[usize]) {
        self.text(0.0, self.y + 16.0, "name", name);
        for (index, value) in values.iter().enumerate() {
            let (x, y) = (self.x(index), self.y + 16.0);
            let style = digits.get(index).map_or_else(String::new, |digit| {
                format!(
                    " style=\"fill:var(--s{});font-weight:700\"",
                    digit % COLOURS
                )
            });
            add(
                &mut self.body,
                format_args!(
                    "<text x=\"{}\" y=\"{}\"{style}>{value}</text>\n",
                    short(x),
                    short(y)
                ),
            );
        }
        self.width = self.width.max(LABELS + self.column * values.len() as f64);
        self.y += ROW;
    }

    /// Lines from where keys stood to where they stand now; compared ones side by side.
    fn moves(&mut self, above: &[usize], stage: &Stage) {
        let mut was = BTreeMap::new();
        was.extend(
            above
                .iter()
                .enumerate()
                .map(|(index, &position)| (position, index)),
        );
        let digits = digits_by_key(self.pass);
        let swapped = match &stage.detail {
            Some(Detail::Network(network)) => swapped(network),
            _ => Vec::new(),
        };
        let (top, bottom) = (self.y + 2.0, self.y + LINES - 2.0);
        let middle = short((top + bottom) / 2.0);
        for (index, position) in stage.values.iter().enumerate() {
            let Some(&from) = was.get(position) else {
                continue;
            };
            let colour = match digits.get(position) {
                Some(digit) => format!("var(--s{})", digit % COLOURS),
                None if swapped.contains(&from) => "var(--s3)".to_owned(),
                None => "var(--soft)".to_owned(),
            };
            let class = match swapped.contains(&from) {
                true => "move swap",
                false => "move",
            };
            let (x0, x1) = (short(self.x(from)), short(self.x(index)));
            add(
                &mut self.body,
                format_args!(
                    "<path class=\"{class}\" style=\"stroke:{colour}\" \
                     d=\"M{x0} {} C{x0} {middle} {x1} {middle} {x1} {}\"/>\n",
                    short(top),
                    short(bottom),
                ),
            );
        }
        self.y += LINES;
    }

    /// Counts or offsets: a group of cells for each row of the matrix.
    fn matrix(&mut self, stage: &Stage) {
        let rows = stage.rows.map(|(rows, _)| rows);
        let width = stage
            .rows
            .map_or(stage.values.len(), |(_, columns)| columns);
        let shown = self.view.shown(self.pass, stage);
        let longest = stage.values.iter().max().copied().unwrap_or(0);
        let cell = SMALL.max(8.4 * len(&longest.to_string()) + 10.0);
        // Very long rows go on below.
        let fit = (((WIDEST - LABELS) / cell) as usize).max(1);
        self.text(0.0, self.y + 32.0, "name", &stage.name);
        let mut x = LABELS;
        for &row in &shown.rows {
            for columns in shown.columns.chunks(fit) {
                let group = cell * columns.len() as f64;
                if x > LABELS && x + group > WIDEST.max(self.width) {
                    x = LABELS;
                    self.y += ROW + 22.0;
                }
                let label = match rows {
                    Some(rows) => format!("{} {row}", rows.name()),
                    None if shown.sparse => format!("digits {}", joined(columns)),
                    None => format!("digit {} and on", columns[0]),
                };
                let cells: Vec<usize> = columns
                    .iter()
                    .map(|column| stage.values[row * width + column])
                    .collect();
                self.group(x, cell, &label, &cells);
                x += group.max(6.6 * len(&label)) + 14.0;
                self.width = self.width.max(x - 14.0);
            }
        }
        self.y += ROW + 26.0;
    }

    /// Cells side by side under a label.
    fn group(&mut self, x: f64, cell: f64, label: &str, values: &[usize]) {
        let class = "soft\" style=\"text-anchor:start";
        self.text(x + 2.0, self.y + 12.0, class, label);
        for (index, value) in values.iter().enumerate() {
            let x = x + cell * index as f64;
            let y = self.y + 16.0;
            add(
                &mut self.body,
                format_args!(
                    "<rect class=\"cell\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{ROW}\"/>\n",
                    short(x),
                    short(y),
                    short(cell)
                ),
            );
            self.text(x + cell / 2.0, y + 17.0, "", &value.to_string());
        }
    }

    /// The tiles' states over time: a row for each change.
    fn states(&mut self, stage: &Stage) {
        let Some((Rows::Moment, tiles)) = stage.rows else {
            return;
        };
        self.text(0.0, self.y + 32.0, "name", &stage.name);
        for tile in 0..tiles {
            let x = LABELS + 60.0 * tile as f64 + 30.0;
            self.text(x, self.y + 12.0, "soft", &format!("tile {tile}"));
        }
        self.width = self.width.max(LABELS + 60.0 * tiles as f64);
        self.y += 16.0;
        for moment in stage.values.chunks(tiles.max(1)) {
            for (tile, &state) in moment.iter().enumerate() {
                let (letter, fill) = match state {
                    s if s == State::Inclusive as usize => ("I", "var(--c2)"),
                    s if s == State::Partial as usize => ("P", "var(--c1)"),
                    _ => ("", "var(--paper)"),
                };
                let x = LABELS + 60.0 * tile as f64;
                let y = self.y;
                add(
                    &mut self.body,
                    format_args!(
                        "<rect class=\"card\" x=\"{}\" y=\"{}\" width=\"60\" height=\"18\" \
                         style=\"fill:{fill}\"/>\n",
                        short(x),
                        short(y)
                    ),
                );
                self.text(x + 30.0, y + 13.5, "", letter);
            }
            self.y += 18.0;
        }
        let legend = "blank: nothing published; P: the tile's counts; I: the sum up to it";
        self.y += 16.0;
        let class = "soft\" style=\"text-anchor:start";
        self.text(LABELS, self.y, class, legend);
        self.y += 12.0;
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let class = match class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        let (x, y) = (short(x), short(y));
        let text = escaped(text);
        add(
            &mut self.body,
            format_args!("<text{class} x=\"{x}\" y=\"{y}\">{text}</text>\n"),
        );
    }

    fn finish(self, title: &str) -> String {
        let (width, height) = (self.width + 2.0 * MARGIN, self.y + MARGIN);
        let (width, height) = (short(width), short(height));
        let what: Vec<String> = self
            .pass
            .stages
            .iter()
            .map(|stage| {
                let values: Vec<String> = stage
                    .values
                    .iter()
                    .map(|&value| match stage.role {
                        Role::Keys => self.view.name(value),
                        _ => value.to_string(),
                    })
                    .collect();
                format!("{}: {}.", stage.name, values.join(" "))
            })
            .collect();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
             <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n<style>{STYLE}</style>\n\
             <rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n\
             <g transform=\"translate({MARGIN})\">\n{}</g>\n</svg>\n",
            escaped(title),
            escaped(&what.join(" ")),
            self.body
        )
    }
}

/// The places whose keys a step of the network exchanges.
fn swapped(network: &Network) -> Vec<usize> {
    let swapped = network.pairs.iter().filter(|(_, _, swapped)| *swapped);
    swapped.flat_map(|&(i, j, _)| [i, j]).collect()
}

/// Numbers with blanks between them.
fn joined(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    numbers.join(" ")
}

/// A coordinate with one decimal at most.
fn short(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn len(text: &str) -> f64 {
    text.chars().count() as f64
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn add(body: &mut String, more: std::fmt::Arguments<'_>) {
    body.write_fmt(more).expect("a string takes all");
}
