//! How passes find where keys go, and which tiles they take, by what a device has.
//!
//! The rows of [`TILES`] are tried in order; the first that fits the device's limits is taken. Where none
//! does by subgroups, whose counters take the more memory the narrower they are, it is tried without.

#[cfg(test)]
pub(crate) mod tests;

use sweepsort_core::{Error, Result};

/// How a pass finds where the keys of a tile go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Method {
    /// Each tile looks back at those before it, while they are at work.
    Onesweep,
    /// Runs of tiles are counted and the counts scanned before any key moves.
    ReduceThenScan {
        /// Bits of a digit: 8, or 4.
        radix_bits: u32,
    },
}

/// Each method by its name.
pub(crate) const METHODS: [(&str, Method); 3] = [
    ("onesweep", Method::Onesweep),
    ("reduce-then-scan", Method::ReduceThenScan { radix_bits: 8 }),
    (
        "reduce-then-scan-4",
        Method::ReduceThenScan { radix_bits: 4 },
    ),
];

/// Runs of tiles at most.
const RUNS: u32 = 1024;

/// Workgroups of a pass up to which it is dispatched even if it turns out to move no keys. An H200 saves half a
/// microsecond a pass by it, which is what so many workgroups cost that return at once.
pub(crate) const DIRECT_GROUPS: u32 = 1024;

impl Method {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        let named = METHODS.iter().find(|(_, method)| *method == self);
        named.map_or("", |(name, _)| name)
    }

    /// Bits of a digit at most.
    pub(crate) fn radix_bits(self) -> u32 {
        match self {
            Method::Onesweep => 8,
            Method::ReduceThenScan { radix_bits } => radix_bits,
        }
    }

    /// Digits of a pass at most.
    pub(crate) fn radix(self) -> u32 {
        1 << self.radix_bits()
    }

    /// The shader files for it, with few tiles or many.
    pub(crate) fn files(self, few: bool) -> &'static [&'static str] {
        match (self, few) {
            (Method::Onesweep, true) => &["look_back", "leaps"],
            (Method::Onesweep, false) => &["look_back", "steps"],
            (Method::ReduceThenScan { .. }, _) => &["runs"],
        }
    }
}

/// How keys are ranked within a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ranking {
    /// By ballots of subgroups, which have at most so many threads.
    Subgroups {
        /// The widest that there can be.
        most: u32,
    },
    /// By words in workgroup memory, between barriers.
    Barriers,
}

impl Ranking {
    /// The shader files for it.
    pub(crate) fn files(self) -> &'static [&'static str] {
        match self {
            Ranking::Subgroups { most: ..=32 } => &["team_subgroup", "ballot_32"],
            Ranking::Subgroups { .. } => &["team_subgroup", "ballot_128"],
            Ranking::Barriers => &["team_barrier"],
        }
    }

    /// Words of workgroup memory for each team while it counts keys: counters, and ballots.
    fn team_words(self, radix: u32) -> u32 {
        match self {
            Ranking::Subgroups { .. } => radix,
            Ranking::Barriers => 2 * radix,
        }
    }

    /// Words of workgroup memory for the sums of so many threads in so many teams.
    fn sum_words(self, threads: u32, teams: u32) -> u32 {
        match self {
            Ranking::Subgroups { .. } => teams,
            Ranking::Barriers => 2 * threads,
        }
    }
}

/// What a device has that tiles depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Bytes of workgroup memory.
    pub storage: u32,
    /// Threads of a workgroup at most.
    pub threads: u32,
    /// How keys are ranked.
    pub ranking: Ranking,
    /// Threads of a team at least.
    pub team_size: u32,
    /// A row to take instead of those of [`TILES`].
    pub tile: Option<(u32, u32)>,
    /// Runs at most, instead of [`RUNS`].
    pub runs: Option<u32>,
    /// Whether the rows of [`FEW`] are left out.
    pub like_many: bool,
}

/// Threads of a team where there are no subgroups.
pub(crate) const TEAM_SIZE: u32 = 32;

/// Bytes of workgroup memory of a pass beside that for digits, teams, threads and the tile.
const OTHER_BYTES: u32 = 32;

/// Threads of a workgroup, and words of keys that a thread takes.
///
/// The first rows are those of an NVIDIA H200, for keys of one word with up to one word of value, for keys of
/// two words, and (256 threads, 14 words) for others. Its driver gives the workgroups of a multiprocessor
/// 48 KiB together, so that two of these run at a time; the more keys they have between them, the better.
const TILES: [(u32, u32); 11] = [
    (256, 22),
    (320, 18),
    (384, 15),
    (256, 14),
    (256, 10),
    (128, 16),
    (128, 12),
    (128, 8),
    (64, 12),
    (64, 8),
    (64, 4),
];

/// Rows to be tried first where there are so few keys that they make no more than [`FEW_TILES`] tiles. An H200 has
/// all of these at work at once, and the fewer keys each of them has, the sooner it is done.
const FEW: [(u32, u32); 3] = [(256, 8), (256, 12), (256, 16)];
const FEW_TILES: usize = 256;

/// The first row of [`TILES`] for keys and values of so many words.
fn first_row(key_words: u32, value_words: u32) -> usize {
    match (key_words, value_words) {
        (1, 0 | 1) => 0,
        (2, _) => 1,
        _ => 3,
    }
}

/// A pass's tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tiling {
    pub method: Method,
    pub ranking: Ranking,
    pub threads: u32,
    /// Keys of a thread.
    pub items: u32,
    /// Teams of a workgroup at most.
    pub teams: u32,
    /// Whether there are so few tiles that all are at work at once.
    pub few: bool,
    /// Runs that the tiles are put into at most; where each is on its own, as many as there can be.
    pub runs: u32,
}

impl Tiling {
    /// The tiles of a method for so many keys of so many words with values of so many.
    ///
    /// # Errors
    /// [`Error::Unsupported`] that names the limit which is short.
    pub(crate) fn choose(
        room: &Room,
        method: Method,
        keys: usize,
        key_words: u32,
        value_words: u32,
    ) -> Result<Tiling> {
        let of = |room: &Room, (threads, words): (u32, u32)| Tiling {
            method,
            ranking: room.ranking,
            threads,
            items: (words / key_words).max(1),
            teams: threads / room.team_size,
            few: false,
            runs: match method {
                Method::Onesweep => u32::MAX,
                Method::ReduceThenScan { .. } => room.runs.unwrap_or(RUNS),
            },
        };
        let fits = |room: &Room, tiling: &Tiling| {
            tiling.threads <= room.threads
                && tiling.threads.is_multiple_of(room.most_team_size())
                && tiling.storage(key_words) <= room.storage
        };
        let without = Room {
            ranking: Ranking::Barriers,
            team_size: TEAM_SIZE,
            ..*room
        };
        let rows = &TILES[first_row(key_words, value_words)..];
        let (few, rows) = match &room.tile {
            Some(row) => (&[][..], std::slice::from_ref(row)),
            None if room.like_many => (&[][..], rows),
            None => (&FEW[..], rows),
        };
        let few = few.iter().filter(|(_, words)| *words <= rows[0].1);
        let found = [room, &without].into_iter().find_map(|room| {
            let few = few.clone().map(|&row| Tiling {
                few: true,
                ..of(room, row)
            });
            let few = few.filter(|tiling| keys.div_ceil(tiling.keys() as usize) <= FEW_TILES);
            let mut tilings = few.chain(rows.iter().map(|&row| of(room, row)));
            tilings.find(|tiling| fits(room, tiling))
        });
        found.ok_or_else(|| {
            let least = of(&without, rows[rows.len() - 1]);
            Error::Unsupported {
                engine: "wgpu",
                what: format!(
                    "a device with {} bytes of workgroup memory \
                     (max_compute_workgroup_storage_size) and {} threads a workgroup \
                     (max_compute_invocations_per_workgroup)",
                    room.storage, room.threads
                ),
                instead: format!(
                    "one with {} bytes and {} threads",
                    least.storage(key_words),
                    least.threads
                ),
            }
        })
    }

    /// Digits of a thread.
    pub(crate) fn shares(&self) -> u32 {
        self.method.radix().div_ceil(self.threads)
    }

    /// Keys of a tile.
    pub(crate) fn keys(&self) -> u32 {
        self.threads * self.items
    }

    /// Words of workgroup memory for all teams while they count.
    pub(crate) fn team_words(&self) -> u32 {
        self.teams * self.ranking.team_words(self.method.radix())
    }

    /// Workgroups of a pass over so many tiles, at most.
    pub(crate) fn groups(&self, tiles: u64) -> u64 {
        tiles.min(self.runs.into())
    }

    /// Words of workgroup memory in which the teams count, then the tile is put in order, then the digits'
    /// bases are.
    pub(crate) fn room_words(&self, key_words: u32) -> u32 {
        let tile = key_words * self.keys();
        self.team_words().max(tile).max(self.method.radix())
    }

    /// Bytes of workgroup memory.
    pub(crate) fn storage(&self, key_words: u32) -> u32 {
        let sums = self.ranking.sum_words(self.threads, self.teams);
        4 * (self.room_words(key_words) + sums) + OTHER_BYTES
    }
}

impl Room {
    /// Threads of a team at most.
    fn most_team_size(&self) -> u32 {
        match self.ranking {
            Ranking::Subgroups { most } => most,
            Ranking::Barriers => self.team_size,
        }
    }
}
