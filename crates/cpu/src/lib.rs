//! The CPU engine of [Sweepsort](https://docs.rs/sweepsort): every core, no GPU.
//!
//! One algorithm serves keys, pairs and argsort, and it is stable throughout, so it also serves bit
//! ranges and ties:
//!
//! ```text
//! look       one read, as far as there is order: sorted, or nearly so?
//! partition  by a sample of the codes into buckets, without a count
//! finish     each bucket: in cache, if it fits (local); else partitioned again, counted
//! ```
//!
//! The data's way: `data → room` in the first partition, back and forth between the two in further
//! ones; a local sort reads a bucket from wherever it is, passes it through some of a worker's own
//! memory, and leaves it in `data`. Words become codes in the first read and words again when their
//! bucket is finished. An argsort's words, of code and position, are made in the first read; what is
//! sorted of them stays in a worker's memory, and the index is written from there.
//!
//! | file | what it holds |
//! |---|---|
//! | `engine` | tasks of any width, led to the algorithm for them |
//! | `plan` | what a sort will do, and the memory it needs |
//! | `hybrid` | the algorithm: small input and large |
//! | `job` | partitions and buckets, until all are finished |
//! | `order` | the first look: what order there is, and what follows from it |
//! | `mend` | few records out of place, put where they belong |
//! | `runs` | two runs, merged |
//! | `classify`, `blocks` | the first partition: by a sample, without a count |
//! | `sample`, `splitters` | some of the codes; buckets chosen by them |
//! | `sift` | frequent values, counted and not moved |
//! | `parts` | many keys alone, cut in parts where they lie, by one worker or two |
//! | `histogram`, `scan`, `scatter` | the stages of further partitions |
//! | `local` | a bucket sorted in cache: its own page has its ways |
//! | `placing` | places for keys, evenly over a range |
//! | `instructions`, `lanes` | what the machine has; vectors, and code compiled for each kind |
//! | `count` | keys alone of few codes side by side, as of 8 and 16 bits: counted, not moved |
//! | `argsort` | the index, sorted with the codes in one word |
//! | `source`, `reading` | where records come from; a word and its code |
//! | `sink`, `last_step` | where they go when they are in order; what is done to their words then |
//! | `columns`, `payload` | what travels: a column of keys, and beside it one of payloads |
//! | `room`, `pieces` | where partitions leave it |
//! | `fetch` | lines of the caches, fetched before they are used |
//! | `map` | work on each element by itself: fill, collect, permute |
//! | `pool`, `scratch`, `tuning` | threads, memory, measured values |

mod argsort;
mod blocks;
mod classify;
mod columns;
mod count;
mod engine;
mod fetch;
mod histogram;
mod hybrid;
mod instructions;
mod job;
// Machines other than x86-64 have no vectors here yet.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
mod lanes;
mod last_step;
mod local;
mod map;
mod mend;
mod order;
mod parts;
mod payload;
mod pieces;
mod placing;
mod plan;
mod pool;
mod reading;
mod room;
mod runs;
mod sample;
mod scan;
mod scatter;
mod scratch;
mod sift;
mod sink;
mod source;
mod splitters;
mod tuning;

pub use engine::{CpuEngine, Few};
pub use instructions::Instructions;
