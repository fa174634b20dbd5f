//! A record as SVG: panels of throughput, one below the other.
//!
//! ```text
//! rows of one task and distribution, several sizes   → lines over size (logarithmic)
//! rows of one task and size, several blocks          → lines over the size of a block (logarithmic)
//! rows of one task and size, several distributions   → bars over distribution (logarithmic)
//! rows of one size and distribution, many types      → bars over type (logarithmic)
//! rows that are in none of these                     → bars, a contender each
//! ```
//! Ours is drawn strong, peers muted. A panel shows the seven fastest peers, ours apart, and says
//! so where there are more. Text is left to the viewer's sans-serif font.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::record::{Record, Row};
use super::table::grouped;

/// A drawing error in words.
type Result<T, E = String> = std::result::Result<T, E>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const WIDTH: u32 = 920;
const LEGEND_WIDTH: i32 = 190;
const HEADER_HEIGHT: u32 = 34;
const PANEL_HEIGHT: u32 = 380;

/// No more peers than this share a panel.
const PEERS_SHOWN: usize = 7;

/// So many types at least share a panel; fewer have one each.
const MANY_TYPES: usize = 4;

const INK: RGBColor = RGBColor(0x22, 0x28, 0x31);
const PALE_INK: RGBColor = RGBColor(0x6b, 0x72, 0x80);
const GRID: RGBColor = RGBColor(0xe5, 0xe7, 0xeb);
/// Ours: the contender itself, then its kin.
const OURS: [RGBColor; 4] = [
    RGBColor(0xd6, 0x2f, 0x3b),
    RGBColor(0xf0, 0x8a, 0x5d),
    RGBColor(0x9b, 0x1d, 0x5a),
    RGBColor(0xe9, 0xb0, 0xb4),
];
/// Peers: colours that people with any colour vision can tell apart (after Okabe and Ito).
const PEERS: [RGBColor; PEERS_SHOWN] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x7f, 0x7f, 0x7f),
    RGBColor(0x8c, 0x6d, 0x31),
];

/// Who draws a line or bars: contender, threads, and the method where that alone tells two apart. (An engine may take one algorithm for small inputs and another for large ones.)
type Who = (String, usize, Option<String>);

/// One contender in a panel.
struct Series<'a> {
    label: String,
    colour: RGBColor,
    strong: bool,
    rows: Vec<&'a Row>,
}

/// One chart.
struct Panel<'a> {
    title: String,
    rows: Vec<&'a Row>,
    kind: Kind,
}

enum Kind {
    Sizes,
    Blocks,
    Distributions,
    Types,
    Contenders,
}

/// Draws a record.
///
/// # Errors
/// What the drawing library says, and a record without any time in it.
pub fn draw(record: &Record) -> Result<String> {
    let panels = panels(&record.rows);
    if panels.is_empty() {
        return Err("there is nothing to draw: no contender came to its end".into());
    }
    let mut svg = String::new();
    {
        let height = HEADER_HEIGHT + PANEL_HEIGHT * panels.len() as u32;
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE).map_err(words)?;
        let (header, body) = root.split_vertically(HEADER_HEIGHT);
        let machine = &record.machine;
        let date = machine.date.split('T').next().unwrap_or_default();
        let mut caption = machine.cpu.clone();
        if let Some(gpu) = &machine.gpu {
            caption = format!("{gpu} · {caption}");
        }
        caption += &format!(" · {} · {} · {date}", machine.os, machine.commit);
        text(&header, caption, (16, 12), 13, PALE_INK, HPos::Left)?;
        for (panel, area) in panels.iter().zip(body.split_evenly((panels.len(), 1))) {
            panel.draw(&area)?;
        }
        root.present().map_err(words)?;
    }
    Ok(svg)
}

/// Which charts the rows make.
fn panels(rows: &[Row]) -> Vec<Panel<'_>> {
    let rows = rows.iter().filter(|row| row.keys_per_s.is_some());
    // By first appearance, so that panels come in the order of the record.
    let mut groups: Vec<((String, &str), Vec<&Row>)> = Vec::new();
    for row in rows.clone() {
        let key = (what(row), row.distribution.as_str());
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    let mut drawn: Vec<&Row> = Vec::new();
    let mut panels = Vec::new();
    for ((task, distribution), group) in groups {
        let (title, kind) = if count(&group, |row| row.n) > 1 {
            (format!("{task}, {distribution}"), Kind::Sizes)
        } else if count(&group, |row| row.block) > 2 {
            let n = grouped(group[0].n);
            (format!("{task}, {n} keys, {distribution}"), Kind::Blocks)
        } else {
            continue;
        };
        drawn.extend(&group);
        panels.push(Panel {
            title,
            rows: group,
            kind,
        });
    }
    panels.extend(by_type(&rows.clone().collect::<Vec<_>>(), &mut drawn));
    let mut at_size: Vec<((String, usize), Vec<&Row>)> = Vec::new();
    for row in rows.clone() {
        let key = (what(row), row.n);
        match at_size.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(row),
            None => at_size.push((key, vec![row])),
        }
    }
    for ((task, n), group) in at_size {
        let kind = if count(&group, |row| row.distribution.clone()) > 1 {
            Kind::Distributions
        } else if group
            .iter()
            .all(|row| drawn.iter().any(|other| std::ptr::eq(*other, *row)))
        {
            continue;
        } else {
            Kind::Contenders
        };
        let distribution = match kind {
            Kind::Contenders => format!(", {}", group[0].distribution),
            _ => String::new(),
        };
        panels.push(Panel {
            title: format!("{task}, {} keys{distribution}", grouped(n)),
            rows: group,
            kind,
        });
    }
    panels
}

/// Panels of many types, of rows that are not in another: keys alone, pairs, and argsort apart.
fn by_type<'a>(rows: &[&'a Row], drawn: &mut Vec<&'a Row>) -> Vec<Panel<'a>> {
    let is_drawn = |row: &Row, drawn: &[&Row]| drawn.iter().any(|other| std::ptr::eq(*other, row));
    let distributions = |row: &Row| {
        let same = |other: &&&Row| what(other) == what(row) && other.n == row.n;
        let same: Vec<&Row> = rows.iter().filter(same).copied().collect();
        count(&same, |row| row.distribution.clone())
    };
    type What<'a> = (String, usize, &'a str);
    let mut groups: Vec<(What<'_>, Vec<&Row>)> = Vec::new();
    for &row in rows {
        if is_drawn(row, drawn) || distributions(row) > 1 {
            continue;
        }
        let kind = match row.value_type.as_deref() {
            None => "keys",
            Some("index") => "argsort",
            Some(_) => "pairs",
        };
        let key = (
            about(row, kind.to_owned()),
            row.n,
            row.distribution.as_str(),
        );
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    groups.retain(|(_, group)| count(group, |row| row.task()) >= MANY_TYPES);
    let panels = groups.into_iter().map(|((kind, n, distribution), group)| {
        drawn.extend(&group);
        Panel {
            title: format!("{kind} by type, {} keys, {distribution}", grouped(n)),
            rows: group,
            kind: Kind::Types,
        }
    });
    panels.collect()
}

/// What a row is about: a task, perhaps a stage of it, and where the keys lie unless on the host.
fn what(row: &Row) -> String {
    about(row, row.task())
}

/// The same with these words for the task.
fn about(row: &Row, task: String) -> String {
    let mut what = task;
    if let Some(stage) = &row.stage {
        what += &format!(", {stage}");
    }
    if let Some(place) = row.place() {
        what += &format!(" {place}");
    }
    what
}

fn count<T: Ord>(rows: &[&Row], of: impl Fn(&Row) -> T) -> usize {
    rows.iter()
        .map(|row| of(row))
        .collect::<BTreeSet<_>>()
        .len()
}

/// What a panel counts throughput in.
#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    keys_per_s: f64,
}

impl Unit {
    /// The one that makes whole numbers of two digits or more of this throughput, if one does.
    fn of(highest: f64) -> Unit {
        let (name, keys_per_s) = match highest {
            1e10.. => ("Gkeys/s", 1e9),
            _ => ("Mkeys/s", 1e6),
        };
        Unit { name, keys_per_s }
    }

    /// A throughput in it.
    fn of_speed(self, keys_per_s: f64) -> f64 {
        keys_per_s / self.keys_per_s
    }
}

impl<'a> Panel<'a> {
    /// Contenders, the fastest first; ours always, and the fastest peers.
    fn series(&self) -> (Vec<Series<'a>>, usize) {
        let twins = self.rows.iter().enumerate().any(|(i, a)| {
            self.rows[..i].iter().any(|b| {
                a.same_input(b)
                    && (&a.contender, a.threads) == (&b.contender, b.threads)
                    && a.method() != b.method()
            })
        });
        let mut by: BTreeMap<Who, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            let method = match self.kind {
                // Blocks are points of a line.
                Kind::Blocks => Row {
                    block: None,
                    ..(*row).clone()
                }
                .method(),
                _ => row.method().filter(|_| twins),
            };
            let who = (row.contender.clone(), row.threads, method);
            by.entry(who).or_default().push(row);
        }
        let ours: Vec<Who> = by.keys().filter(|who| by[who][0].ours()).cloned().collect();
        let one_name = ours.iter().all(|who| who.0 == ours[0].0);
        let threads = ours.iter().map(|who| who.1).collect::<BTreeSet<_>>().len() > 1;
        let mut all: Vec<(Who, Vec<&Row>)> = by.into_iter().collect();
        // By the geometric mean of the throughput.
        let speed = |rows: &[&Row]| {
            let logs = rows.iter().filter_map(|row| row.keys_per_s).map(f64::ln);
            logs.sum::<f64>() / rows.len() as f64
        };
        all.sort_by(|(_, a), (_, b)| speed(b).total_cmp(&speed(a)));
        let mut peers = 0;
        let mut series = Vec::new();
        for (who, rows) in all {
            // By name, so that the colours are the same in every panel.
            let place = ours.iter().position(|other| *other == who);
            let strong = place.is_some();
            let colour = if let Some(place) = place {
                OURS[place % OURS.len()]
            } else {
                peers += 1;
                if peers > PEERS_SHOWN {
                    continue;
                }
                PEERS[peers - 1]
            };
            let (contender, n, method) = who;
            let mut label = match method {
                // The method says enough where all of ours are one contender.
                Some(method) if one_name => method,
                Some(method) => format!("{contender} ({method})"),
                None => contender,
            };
            if threads {
                label += &format!(" ×{n}");
            }
            if rows.iter().any(|row| !row.verified) {
                label += " WRONG";
            }
            series.push(Series {
                label,
                colour,
                strong,
                rows,
            });
        }
        (series, peers.saturating_sub(PEERS_SHOWN))
    }

    fn draw(&self, area: &Area) -> Result<()> {
        let (mut series, left_out) = self.series();
        text(area, self.title.clone(), (16, 8), 19, INK, HPos::Left)?;
        let (_, below) = area.split_vertically(36);
        let highest = series.iter().flat_map(|series| &series.rows);
        let highest = highest.filter_map(|row| row.keys_per_s).fold(0.0, f64::max);
        let unit = Unit::of(highest);
        text(
            &below,
            unit.name.to_owned(),
            (66, 2),
            12,
            PALE_INK,
            HPos::Right,
        )?;
        let (plot, legend) = below.split_horizontally(WIDTH as i32 - LEGEND_WIDTH);
        let axis = (unit, 0.0..unit.of_speed(highest) * 1.06);
        match self.kind {
            Kind::Sizes => self.lines(&plot, &series, axis, "keys", |row| row.n as f64)?,
            Kind::Blocks => {
                let block = |row: &Row| row.block.map_or(1.0, |block| block as f64);
                self.lines(&plot, &series, axis, "size of a block", block)?;
            }
            Kind::Distributions => {
                self.groups(&plot, &series, unit, |row| row.distribution.clone())?;
            }
            Kind::Types => self.groups(&plot, &series, unit, |row| {
                match row.value_type.as_deref() {
                    Some("index") => row.key_type.clone(),
                    _ => row.task(),
                }
            })?,
            Kind::Contenders => {
                // One bar each, named below it: no legend.
                let labels: Vec<String> =
                    series.iter().map(|series| series.label.clone()).collect();
                let names: Vec<&str> = labels.iter().map(String::as_str).collect();
                for one in &mut series {
                    one.rows.truncate(1);
                }
                return bars_by_contender(&below, &series, &names, axis);
            }
        }
        // The legend, in the order of the speeds.
        for (i, series) in series.iter().enumerate() {
            let y = 18 + 21 * i as i32;
            let style = series
                .colour
                .stroke_width(if series.strong { 4 } else { 2 });
            let swatch = PathElement::new(vec![(6, y), (26, y)], style);
            legend.draw(&swatch).map_err(words)?;
            let ink = if series.strong { INK } else { PALE_INK };
            text(
                &legend,
                series.label.clone(),
                (34, y - 8),
                14,
                ink,
                HPos::Left,
            )?;
        }
        if left_out > 0 {
            let y = 18 + 21 * series.len() as i32;
            let more = format!("and {left_out} slower");
            text(&legend, more, (34, y - 8), 13, PALE_INK, HPos::Left)?;
        }
        Ok(())
    }

    /// Groups of bars, by what `name` makes of a row.
    fn groups(
        &self,
        plot: &Area,
        series: &[Series],
        unit: Unit,
        name: impl Fn(&Row) -> String,
    ) -> Result<()> {
        let mut names: Vec<String> = Vec::new();
        for row in &self.rows {
            let name = name(row);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let at = |row: &Row| names.iter().position(|other| *other == name(row));
        bars(plot, series, &names, unit, at)
    }

    fn lines(
        &self,
        plot: &Area,
        series: &[Series],
        (unit, height): (Unit, Range<f64>),
        below: &str,
        at: impl Fn(&Row) -> f64,
    ) -> Result<()> {
        let sizes = self.rows.iter().map(|row| at(row));
        let (least, most) = sizes.fold((f64::MAX, 0.0f64), |(a, b), n| (a.min(n), b.max(n)));
        let mut chart = ChartBuilder::on(plot)
            .margin_right(14)
            .margin_top(26)
            .x_label_area_size(44)
            .y_label_area_size(72)
            .build_cartesian_2d((least..most).log_scale(), height)
            .map_err(words)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(GRID)
            .label_style(("sans-serif", 13).into_font().color(&PALE_INK))
            .x_desc(below)
            .x_labels(8)
            .x_label_formatter(&|n| short(*n))
            .y_label_formatter(&|speed| grouped(*speed as usize))
            .draw()
            .map_err(words)?;
        // Ours last, on top.
        for series in series
            .iter()
            .rev()
            .filter(|series| !series.strong)
            .chain(series.iter().rev().filter(|series| series.strong))
        {
            let mut points: Vec<(f64, f64)> = series
                .rows
                .iter()
                .filter_map(|row| Some((at(row), unit.of_speed(row.keys_per_s?))))
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (width, dot) = if series.strong { (3, 4) } else { (1, 2) };
            let style = series.colour.stroke_width(width);
            chart
                .draw_series(LineSeries::new(points.iter().copied(), style))
                .map_err(words)?;
            let dots = points
                .iter()
                .map(|&point| Circle::new(point, dot, series.colour.filled()));
            chart.draw_series(dots).map_err(words)?;
        }
        Ok(())
    }
}

/// Groups of bars: a group for each name, a bar for each series. The scale is logarithmic, since
/// presorted input is often many times faster.
fn bars(
    plot: &Area,
    series: &[Series],
    names: &[&str],
    unit: Unit,
    at: impl Fn(&Row) -> Option<usize>,
) -> Result<()> {
    let speeds = series.iter().flat_map(|series| &series.rows);
    let speeds = speeds.filter_map(|row| Some(unit.of_speed(row.keys_per_s?)));
    let (least, most) = speeds.fold((f64::MAX, 0.0f64), |(a, b), s| (a.min(s), b.max(s)));
    // From a round number below the slowest.
    let ticks = (-6..9).flat_map(|power| [1.0, 2.0, 5.0].map(|m: f64| m * 10f64.powi(power)));
    let ticks: Vec<f64> = ticks
        .filter(|tick| (least * 0.39..most * 1.2).contains(tick))
        .collect();
    let floor = ticks
        .first()
        .copied()
        .unwrap_or(least / 2.0)
        .min(least)
        .log10();
    let mut chart = axes(plot, names, floor..(most * 1.15).log10(), false)?;
    for tick in ticks {
        let line = [(0.0, tick.log10()), (names.len() as f64, tick.log10())];
        let line = PathElement::new(line, GRID.stroke_width(1));
        chart.draw_series([line]).map_err(words)?;
        let (_, y) = chart.backend_coord(&(0.0, tick.log10()));
        let place = (66, y - plot.get_base_pixel().1 - 7);
        let label = match tick {
            1.0.. => grouped(tick as usize),
            _ => tick.to_string(),
        };
        text(plot, label, place, 13, PALE_INK, HPos::Right)?;
    }
    let bar = 0.84 / series.len() as f64;
    for (i, series) in series.iter().enumerate() {
        let bars = series.rows.iter().filter_map(|row| {
            let left = at(row)? as f64 + 0.08 + i as f64 * bar;
            let top = unit.of_speed(row.keys_per_s?).log10();
            let corners = [(left, floor), (left + bar * 0.94, top)];
            Some(Rectangle::new(corners, series.colour.filled()))
        });
        chart.draw_series(bars).map_err(words)?;
    }
    Ok(())
}

/// One bar for each contender.
fn bars_by_contender(
    plot: &Area,
    series: &[Series],
    names: &[&str],
    (unit, height): (Unit, Range<f64>),
) -> Result<()> {
    let mut chart = axes(plot, names, height, true)?;
    for (i, series) in series.iter().enumerate() {
        let bars = series.rows.iter().filter_map(|row| {
            let left = i as f64 + 0.15;
            let corners = [(left, 0.0), (left + 0.7, unit.of_speed(row.keys_per_s?))];
            Some(Rectangle::new(corners, series.colour.filled()))
        });
        chart.draw_series(bars).map_err(words)?;
    }
    Ok(())
}

type Bars<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Axes with a name below each stretch of 1, and with a linear scale if `scale`.
fn axes<'a, 'b>(
    plot: &'a Area<'b>,
    names: &[&str],
    height: Range<f64>,
    scale: bool,
) -> Result<Bars<'a, 'b>> {
    let floor = height.start;
    let mut chart = ChartBuilder::on(plot)
        .margin_right(14)
        .margin_top(26)
        .x_label_area_size(66)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..names.len() as f64, height)
        .map_err(words)?;
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(GRID)
        .label_style(("sans-serif", 13).into_font().color(&PALE_INK))
        .x_labels(0);
    if scale {
        mesh.y_label_formatter(&|speed| grouped(*speed as usize));
    } else {
        mesh.disable_y_mesh().y_labels(0);
    }
    mesh.draw().map_err(words)?;
    for (i, name) in names.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(i as f64 + 0.5, floor));
        let base = plot.get_base_pixel();
        // Alternating lines keep long names apart.
        let drop = if names.len() > 6 && i % 2 == 1 { 24 } else { 8 };
        let place = (x - base.0, y - base.1 + drop);
        text(plot, (*name).to_owned(), place, 13, PALE_INK, HPos::Center)?;
    }
    Ok(chart)
}

fn text(
    area: &Area,
    text: String,
    place: (i32, i32),
    size: i32,
    ink: RGBColor,
    align: HPos,
) -> Result<()> {
    let style = ("sans-serif", size).into_font().color(&ink);
    let style = style.pos(Pos::new(align, VPos::Top));
    area.draw(&Text::new(text, place, style)).map_err(words)
}

/// `100`, `10k`, `1M`.
fn short(n: f64) -> String {
    let (scale, unit) = match n {
        ..1e3 => (1.0, ""),
        ..1e6 => (1e3, "k"),
        ..1e9 => (1e6, "M"),
        _ => (1e9, "G"),
    };
    let scaled = format!("{:.1}", n / scale);
    format!("{}{unit}", scaled.trim_end_matches(".0"))
}

fn words(error: impl std::fmt::Display) -> String {
    format!("cannot draw the chart: {error}")
}
