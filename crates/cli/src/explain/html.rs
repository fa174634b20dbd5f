//! The explanation as a page to step through: the page's own files with the data put in.

use serde::Serialize;
use sweepsort::explain::{Detail, Does, Pass, ScanSteps, Stage, Tile};

use super::view::View;
use crate::exit::{Failure, Result};

const PAGE: &str = include_str!("page/page.html");

/// What is put where in the page. The data comes after these, for it may hold anything.
const PARTS: &[(&str, &str)] = &[
    ("/*STYLE*/", include_str!("page/page.css")),
    ("/*STEPS*/", include_str!("page/steps.js")),
    ("/*FIGURES*/", include_str!("page/figures.js")),
    ("/*SCRIPT*/", include_str!("page/page.js")),
];

/// The page.
///
/// # Errors
/// Where JSON cannot be written.
pub fn render(view: &View) -> Result<String> {
    let data = serde_json::to_string(&Data::of(view))
        .map_err(|error| Failure::system(format!("cannot write the page: {error}")))?;
    let title = format!("{} sorts {} keys", view.algorithm.name(), view.keys.len());
    let page = PAGE.replace("{{title}}", &title);
    let page = PARTS
        .iter()
        .fold(page, |page, (mark, part)| page.replace(mark, part));
    // Within a script element no tag may show.
    Ok(page.replace("/*DATA*/", &data.replace('<', "\\u003c")))
}

/// What the page's script reads.
#[derive(Serialize)]
struct Data<'a> {
    algorithm: &'static str,
    idea: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    width: u32,
    kind: &'static str,
    order: &'static str,
    nan: &'static str,
    bits: [u32; 2],
    radix_bits: u32,
    base: Option<u32>,
    block: usize,
    seed: u64,
    break_stability: bool,
    keys: Vec<KeyData<'a>>,
    passes: Vec<PassData<'a>>,
    output: &'a [usize],
    sorted: bool,
}

#[derive(Serialize)]
struct KeyData<'a> {
    text: &'a str,
    letter: Option<&'a str>,
    word: String,
    code: String,
}

#[derive(Serialize)]
struct PassData<'a> {
    digit: Option<usize>,
    bits: Option<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    before: &'a [usize],
    digits: Option<&'a [usize]>,
    stages: Vec<StageData<'a>>,
    rule: Option<&'static str>,
    sums: Option<&'a [String]>,
    scatters: Option<&'static str>,
}

#[derive(Serialize)]
struct StageData<'a> {
    name: &'a str,
    what: &'static str,
    role: &'static str,
    values: &'a [usize],
    columns: Option<usize>,
    rows: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<ScanData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tiles: Option<Vec<TileData<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    look_back: Option<LookBackData>,
}

#[derive(Serialize)]
struct ScanData<'a> {
    blocks: Vec<SweepsData<'a>>,
    sums: Option<Box<ScanData<'a>>>,
}

#[derive(Serialize)]
struct SweepsData<'a> {
    start: usize,
    up: &'a [Vec<usize>],
    down: &'a [Vec<usize>],
}

#[derive(Serialize)]
struct TileData<'a> {
    start: usize,
    passes: Vec<PassData<'a>>,
}

#[derive(Serialize)]
struct NetworkData {
    distance: usize,
    pairs: Vec<[usize; 2]>,
    swapped: Vec<bool>,
}

#[derive(Serialize)]
struct LookBackData {
    tiles: usize,
    events: Vec<EventData>,
}

#[derive(Serialize)]
struct EventData {
    tile: usize,
    does: &'static str,
    of: Option<usize>,
    states: Vec<u8>,
}

impl<'a> Data<'a> {
    fn of(view: &'a View) -> Data<'a> {
        let keys = view.keys.iter().enumerate();
        Data {
            algorithm: view.algorithm.name(),
            idea: view.algorithm.idea(),
            ty: view.ty.name(),
            width: view.width,
            kind: view.kind_name(),
            order: view.order.name(),
            nan: view.nan.name(),
            bits: [view.bits.start, view.bits.end],
            radix_bits: view.radix_bits,
            base: view.base,
            block: view.block,
            seed: view.seed,
            break_stability: view.break_stability,
            keys: keys
                .map(|(position, key)| KeyData {
                    text: &view.texts[position],
                    letter: view.letters[position].as_deref(),
                    word: view.bits_of(key.word),
                    code: view.bits_of(key.code),
                })
                .collect(),
            passes: (0..view.passes.len())
                .map(|number| PassData::of(&view.passes[number], Some(view.title(number))))
                .collect(),
            output: &view.output,
            sorted: view.sorted,
        }
    }
}

impl<'a> PassData<'a> {
    fn of(pass: &'a Pass, title: Option<String>) -> PassData<'a> {
        let scatter = pass.scatter.as_ref();
        PassData {
            digit: pass.digit,
            bits: pass.bits.as_ref().map(|bits| [bits.start, bits.end]),
            title,
            before: &pass.before,
            digits: pass.digits.as_deref(),
            stages: pass.stages.iter().map(StageData::of).collect(),
            rule: scatter.map(|scatter| scatter.rule),
            sums: scatter.and_then(|scatter| scatter.sums.as_deref()),
            scatters: scatter.map(|scatter| scatter.stage.unwrap_or("before")),
        }
    }
}

impl<'a> StageData<'a> {
    fn of(stage: &'a Stage) -> StageData<'a> {
        let mut data = StageData {
            name: &stage.name,
            what: stage.what,
            role: stage.role.name(),
            values: &stage.values,
            columns: stage.rows.map(|(_, columns)| columns),
            rows: stage.rows.map(|(rows, _)| rows.name()),
            scan: None,
            tiles: None,
            network: None,
            look_back: None,
        };
        match &stage.detail {
            None => {}
            Some(Detail::Scan(steps)) => data.scan = Some(ScanData::of(steps)),
            Some(Detail::Tiles(tiles)) => {
                data.tiles = Some(tiles.iter().map(TileData::of).collect());
            }
            Some(Detail::Network(network)) => {
                data.network = Some(NetworkData {
                    distance: network.distance,
                    pairs: network.pairs.iter().map(|&(i, j, _)| [i, j]).collect(),
                    swapped: network
                        .pairs
                        .iter()
                        .map(|&(_, _, swapped)| swapped)
                        .collect(),
                });
            }
            Some(Detail::LookBack(events)) => {
                data.look_back = Some(LookBackData {
                    tiles: events.first().map_or(0, |event| event.states.len()),
                    events: events
                        .iter()
                        .map(|event| EventData {
                            tile: event.tile,
                            does: match event.does {
                                Does::Partial => "partial",
                                Does::Reads(_) => "reads",
                                Does::Waits(_) => "waits",
                                Does::Inclusive => "inclusive",
                            },
                            of: match event.does {
                                Does::Reads(tile) | Does::Waits(tile) => Some(tile),
                                Does::Partial | Does::Inclusive => None,
                            },
                            states: event.states.iter().map(|&state| state as u8).collect(),
                        })
                        .collect(),
                });
            }
        }
        data
    }
}

impl<'a> ScanData<'a> {
    fn of(steps: &'a ScanSteps) -> ScanData<'a> {
        let blocks = steps.blocks.iter();
        ScanData {
            blocks: blocks
                .map(|sweeps| SweepsData {
                    start: sweeps.start,
                    up: &sweeps.up,
                    down: &sweeps.down,
                })
                .collect(),
            sums: steps
                .sums
                .as_deref()
                .map(|sums| Box::new(ScanData::of(sums))),
        }
    }
}

impl<'a> TileData<'a> {
    fn of(tile: &'a Tile) -> TileData<'a> {
        let passes = tile.passes.iter();
        TileData {
            start: tile.start,
            passes: passes.map(|pass| PassData::of(pass, None)).collect(),
        }
    }
}
