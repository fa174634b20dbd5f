//! Which tiles a pass takes, by what a device has.
//!
//! The rows of [`TILES`] are tried in order; the first that fits the device's limits is taken. Where none
//! does by subgroups, whose counters take the more memory the narrower they are, it is tried without.

#[cfg(test)]
pub(crate) mod tests;

use sweepsort_core::{Error, Result};

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
    fn team_words(self) -> u32 {
        match self {
            Ranking::Subgroups { .. } => RADIX,
            Ranking::Barriers => 2 * RADIX,
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
}

/// Threads of a team where there are no subgroups.
pub(crate) const TEAM_SIZE: u32 = 32;

/// Digits of a pass at most.
pub(crate) const RADIX: u32 = 256;

/// Workgroup memory of a pass beside that for teams, threads and the tile: a word for each digit, and some
/// more.
const OTHER_BYTES: u32 = 4 * RADIX + 32;

/// Threads of a workgroup, and words of keys that a thread takes.
///
/// The first rows are those of an NVIDIA H200, for keys of one word with up to one word of value, for keys of
/// two words, and (256 threads, 14 words) for others. Its driver gives the workgroups of a multiprocessor 48 KiB together, so that two
/// of these run at a time; the more keys they have between them, the better.
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
    pub ranking: Ranking,
    pub threads: u32,
    /// Keys of a thread.
    pub items: u32,
    /// Teams of a workgroup at most.
    pub teams: u32,
}

impl Tiling {
    /// The tiles for keys of so many words with values of so many.
    ///
    /// # Errors
    /// [`Error::Unsupported`] that names the limit which is short.
    pub(crate) fn choose(room: &Room, key_words: u32, value_words: u32) -> Result<Tiling> {
        let of = |room, (threads, words)| Tiling::of(room, threads, words, key_words);
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
        let rows = room.tile.as_ref().map_or(rows, std::slice::from_ref);
        let found = [room, &without].into_iter().find_map(|room| {
            let mut tilings = rows.iter().map(|&row| of(room, row));
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

    fn of(room: &Room, threads: u32, words: u32, key_words: u32) -> Tiling {
        Tiling {
            ranking: room.ranking,
            threads,
            items: (words / key_words).max(1),
            teams: threads / room.team_size,
        }
    }

    /// Digits of a thread.
    pub(crate) fn shares(&self) -> u32 {
        RADIX.div_ceil(self.threads)
    }

    /// Keys of a tile.
    pub(crate) fn keys(&self) -> u32 {
        self.threads * self.items
    }

    /// Words of workgroup memory in which first the teams count and then the tile is put in order.
    pub(crate) fn room_words(&self, key_words: u32) -> u32 {
        (self.teams * self.ranking.team_words()).max(key_words * self.keys())
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
