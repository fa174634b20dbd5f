//! Measured values, as data. Each names what it was weighed against; `docs/algorithms/cpu-weighed.md` has
//! the figures.

use std::time::Duration;

use crate::instructions::Instructions;

/// The most keys alone that are cut in parts where they lie: by one thread, and by two.
pub(crate) struct Cuts {
    /// However they are spread.
    pub(crate) any: [usize; 2],
    /// If a sample shows that they are not even: a partition would have to search for each one's
    /// bucket, and local sorts to cut most of them.
    pub(crate) skewed: [usize; 2],
    /// If it shows hardly any values: these a partition finds without a search, and only counts.
    pub(crate) few: [usize; 2],
}

/// What depends on the width of keys and on the instructions that sort them.
pub(crate) struct ByWidth {
    /// Up to so many register blocks of keys alone are joined, where these are all there are: more
    /// are faster in bins. (What is left of many keys is cut down to blocks, which takes less time
    /// there.)
    pub(crate) joined_blocks: usize,
    /// The same of floats. Those of 64 bits bins take as their codes, which crowd where floats are
    /// evenly spread.
    pub(crate) joined_float_blocks: usize,
    /// Up to so many bytes of keys alone are sorted by `quick` first: a block in registers, or a
    /// few. Bins take twice as long.
    pub(crate) quick_bytes: usize,
    /// Fewer are sorted in passes, not in bins. (Vectors that any machine has have two words of 64 bits.)
    pub(crate) bins_from: usize,
    /// By AVX-512 alone, which compresses. A cut of 64 bits takes twice as long as one of 32, a
    /// partition a fifth longer.
    pub(crate) cuts: Cuts,
}

/// No keys are cut.
const NO_CUTS: Cuts = Cuts {
    any: [0; 2],
    skewed: [0; 2],
    few: [0; 2],
};

/// The values for keys of so many bits, 32 or 64.
#[rustfmt::skip]
pub(crate) const fn by_width(instructions: Instructions, bits: u32) -> &'static ByWidth {
    use Instructions::{Avx2, Avx512, Portable};
    match (instructions, bits) {
        (Avx512, 32) => &ByWidth {
            joined_blocks: 8, joined_float_blocks: 8, quick_bytes: 7 << 9, bins_from: 0,
            cuts: Cuts {
                any: [4_000_000; 2],
                skewed: [usize::MAX; 2],
                few: [10_000_000; 2],
            },
        },
        (Avx512, _) => &ByWidth {
            joined_blocks: 4, joined_float_blocks: 8, quick_bytes: 2 << 10, bins_from: 0,
            cuts: Cuts {
                any: [640_000, 250_000],
                skewed: [usize::MAX, 6_000_000],
                few: [10_000_000, 500_000],
            },
        },
        (Avx2, 32) => &ByWidth {
            joined_blocks: 4, joined_float_blocks: 4, quick_bytes: 1 << 10, bins_from: 0, cuts: NO_CUTS,
        },
        (Avx2, _) => &ByWidth {
            joined_blocks: 4, joined_float_blocks: 8, quick_bytes: 1 << 10, bins_from: 0, cuts: NO_CUTS,
        },
        (Portable, 32) => &ByWidth {
            joined_blocks: 0, joined_float_blocks: 0, quick_bytes: 0, bins_from: 256, cuts: NO_CUTS,
        },
        (Portable, _) => &ByWidth {
            joined_blocks: 0, joined_float_blocks: 0, quick_bytes: 0, bins_from: 2048, cuts: NO_CUTS,
        },
    }
}

/// The most bits that number a partition's buckets. 256 of them keep the scatter's open cache lines within
/// a first level cache.
pub(crate) const PARTITION_BITS: u32 = 8;

/// The most bits of the first partition, where by [`PARTITION_BITS`] a bucket would be too large for a local
/// sort. 1024 buckets cost up to a third more a key than 256, and a second partition more than the first.
pub(crate) const FIRST_BITS: u32 = 11;

/// The most bits of a partition into buckets that a sample parts, where 128 of them are not too
/// large for the local sorts or too few for the workers: a tree of 127 bounds is searched faster
/// than one of 255, and has room in the registers (AVX-512) whatever the width.
pub(crate) const SAMPLED_BITS: u32 = 7;

/// A partition is made into buckets whose slots have so many bytes, where [`PARTITION_BITS`] allow: some
/// 20,000 keys of 32 bits or records of `local/pairs`, or 5000 others of 16 bytes.
pub(crate) const BUCKET_SLOTS_BYTES: usize = 264 << 10;

/// And where there are no slots, into buckets of so many bytes.
pub(crate) const BUCKET_BYTES: usize = 64 << 10;

/// And into at least so many buckets for each worker.
pub(crate) const BUCKETS_PER_WORKER: usize = 4;

/// Keys a bin, on average: its columns then mostly have at most 16 rows.
pub(crate) const BIN_MEAN: usize = 8;

/// Keys a bin, on average, where memory for slots ends.
pub(crate) const BIN_MEAN_MAX: usize = 10;

/// How many records later the one comes whose place is fetched, where stores would wait. In bins so
/// many take their rows before one is put.
pub(crate) const FETCHED_LATER: usize = 24;

/// With up to so many buckets, a partition fetches their next lines to the first level cache, where
/// stores would wait. More lines than that are fetched to the second one, and from there just
/// before records are written to them.
pub(crate) const NEAR_BUCKETS: usize = 256;

/// Records that take their places before the first of them is stored. Where a machine does not let
/// a load pass a store whose place it does not know yet, each place would wait for the store
/// before. Eight together run out of registers.
pub(crate) const TOGETHER: usize = 4;

/// A bucket's records are fetched so many bytes before they are read. What is fetched a whole
/// bucket ahead takes room that slots want: on a Xeon a tenth of the time, if the second level
/// cache does not have all of it.
pub(crate) const READ_AHEAD_BYTES: usize = 8 << 10;

/// Up to so many bytes of records, what a local sort writes is all in a first level cache.
pub(crate) const IN_CACHE_BYTES: usize = 8 << 10;

/// Sorted records of which so many, or some more, are written together. Most of what tells their
/// order has long been stored then: what has just been, by several stores, one load would wait for
/// until all are done.
pub(crate) const WRITTEN_TOGETHER: usize = 512;

/// So many words before one is asked to show another window of its code, what that takes is fetched.
pub(crate) const FORESEEN: usize = 32;

/// Up to so many lanes, bins of which none has more than 12 keys are sorted as 12 rows: of more
/// bins one mostly has more.
pub(crate) const ROWS_12_LANES: usize = 8;

/// After a bucket whose keys crowd, at most so many go without a try in bins.
pub(crate) const BINS_SKIPPED_MAX: u32 = 16;

/// Up to so many keys of 32 bits alone take vectors of 256 bits, whatever others there are: wider
/// ones have no more keys to a step, and take longer from lane to lane.
pub(crate) const HALF_VECTORS_32: usize = 32;

/// The same where logic does not pay: on a Zen 4 a step of 512 bits takes as long as two of 256.
pub(crate) const HALF_VECTORS_32_ZEN: usize = 64;

/// Up to so many bytes of words for records are sorted by `quick` first. (Pairs of 64 bits are up
/// to a fifth slower by more.)
pub(crate) const QUICK_RECORDS_BYTES: usize = 1 << 10;

/// Bytes of a worker's memory for local sorts: slots for 200,000 keys of 32 bits alone, for half as
/// many records of 8 bytes, for a quarter of 16; room for 160,000 pairs of 64 bits each. So 10^8
/// records need one partition alone.
pub(crate) const LOCAL_BYTES: usize = 5 << 19;

/// Slots for a part of keys that are cut, and for a bucket of 32-bit keys alone if a first
/// partition can have more bits for it, are so many fourths of the second level cache. (Of 2 MiB
/// that is [`LOCAL_BYTES`].) Slots of half the width, which many keys have, fill five eighths of
/// it.
pub(crate) const LOCAL_CACHE_FOURTHS: usize = 5;

/// A smaller second level cache is taken to have so many bytes: none was tried.
pub(crate) const LOCAL_CACHE_MIN: usize = 1 << 20;

/// Up to so many bytes of slots, records are a single bucket where one thread sorts them: more were
/// slower than a partition, of 16 bytes each, and skewed ones of 8.
pub(crate) const ONE_BYTES: usize = 4 << 20;

/// The same for keys alone, which wait less, and where they crowd are fast without slots.
pub(crate) const ONE_KEYS_BYTES: usize = 8 << 20;

/// How far ahead of what a cut reads, from either end, the machine is told of it. Of skewed keys it
/// mostly reads the same end for a while, and then the other one.
pub(crate) const CUT_AHEAD_BYTES: usize = 1 << 10;

/// So many bytes of keys are cut by two workers at once, and in small parts even if the second one
/// has not come yet.
pub(crate) const CUT_SHARED_BYTES: usize = 1 << 20;

/// Fewer keys are not cut to share them.
pub(crate) const CUT_MIN: usize = 1 << 13;

/// A bucket of at most so many bytes (keys and payload) is sorted in passes in cache. It and the
/// worker's memory of the same size fill a second level cache of 1 MiB.
pub(crate) const PASSES_BYTES: usize = 512 << 10;

/// How the workers of a sort share [`SHARED_BYTES`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    /// All their memory for local sorts; with many workers each has less. What it leaves is for
    /// blocks that are not full.
    pub(crate) local_bytes: usize,
    /// The most buckets of all their first partitions for which there may be more bits than
    /// [`PARTITION_BITS`]: with more, blocks would be smaller than 1 KiB, or than what of it is a
    /// power of two of records.
    pub(crate) first_buckets: usize,
}

/// Bytes of scratch for all workers together, beside as much as the records take.
pub(crate) const SHARED_BYTES: usize = 64 << 20;

/// Sixteen workers have memory for local sorts of 10^8 records of 8 bytes in 1024 buckets, or of 4
/// in 512. (Keys in 2048 buckets each would take as long as by two partitions.)
pub(crate) const SHARING: Sharing = Sharing {
    local_bytes: 157 << 18,
    first_buckets: 1 << 14,
};

/// The same of records that a local sort reads again, where buckets as many as above do not fit the
/// second level cache, and twice as many do. Sixteen workers have enough for 10^8 records of 16
/// bytes in 2048 buckets.
pub(crate) const SHARING_READ_AGAIN: Sharing = Sharing {
    local_bytes: 62 << 18,
    first_buckets: 1 << 15,
};

/// A block of the first partition has at most so many bytes: a block's start is a miss that the one
/// before could not foretell.
pub(crate) const BLOCK_BYTES: usize = 16 << 10;

/// Blocks are taken in lots, of at most [`BLOCK_BYTES`], if so many eighths of all records can be
/// moved so.
pub(crate) const LOTS_EIGHTHS: usize = 7;

/// A bucket has at least so many blocks, on average: those left half empty take room and caches.
pub(crate) const BLOCKS_PER_BUCKET: usize = 4;

/// Bytes of scratch that an argsort may take for each key, beside what others may. What its words
/// leave of them is for local sorts.
pub(crate) const MADE_BYTES: usize = 32;

/// Up to so many workers, the room has a region for every two, where reads take lines over. More
/// were not tried there.
pub(crate) const REGION_WORKERS: usize = 2;

/// From so many blocks up, all workers bring those of a bucket together: one alone has a miss of
/// its caches for each.
pub(crate) const BLOCKS_SHARED_FROM: usize = 4096;

/// Codes in the sample of the first partition, for each bucket.
pub(crate) const SAMPLE_PER_BUCKET: usize = 16;

/// So many codes of a sample are read by one worker: some 10 us, mostly spent on misses of all caches.
pub(crate) const SAMPLED_TOGETHER: usize = 128;

/// Pairs of so many bytes, which are so many times as much as the workers' second level caches, are
/// written past these. (By sixteen workers of a Xeon 64 MB, twice their caches, took a tenth longer
/// so, and 160 MB 5 to 7 % less; by one or two 32 MB some percent longer, 64 MB some less.)
pub(crate) const STREAMED_PAIRS_BYTES: usize = 1 << 26;
pub(crate) const STREAMED_CACHES: usize = 4;

/// An index of so many bytes is written past the caches: it would not stay there.
pub(crate) const STREAMED_BYTES: usize = 1 << 25;

/// In a network of up to so many rows, rows are compared by a minimum and a maximum, which wait for
/// nothing but the rows: few rows leave little else to do meanwhile. In one of more, the maximum is
/// made of the rows and their minimum, by logic, which is less work for the machine, but waits for
/// the minimum (AVX-512). With eight rows that takes a tenth more.
pub(crate) const WAITING_ROWS: usize = 8;

/// The same for rows of 64 bits each, whose maximum is more work by itself.
pub(crate) const WAITING_ROWS_64: usize = 4;

/// Up to so many keys are sorted by insertion.
pub(crate) const INSERTION_MAX: usize = 20;

/// A local sort orders by as many bits as number its keys, and so many more: enough that few keys
/// still agree and are left to the fix-up.
pub(crate) const LOCAL_SPARE_BITS: u32 = 3;

/// Up to so many bits are sorted by in one local pass, more in two.
pub(crate) const LOCAL_ONE_PASS_BITS: u32 = 6;

/// Where the digits of two passes leave so many keys alike, on average, that are not the same,
/// there are more passes: to insert them in order takes longer.
pub(crate) const LOCAL_GROUP_MAX: f64 = 2.0;

/// But not with fewer keys: counters would take as long as what they save.
pub(crate) const LOCAL_MORE_FROM: usize = 1 << 11;

/// So many keys are looked at to tell whether those that are alike are the same.
pub(crate) const LOCAL_LOOKED_AT: usize = 1 << 10;

/// The most bits of a local pass: its table of counters fits a first level cache.
pub(crate) const LOCAL_DIGIT_BITS: u32 = 11;

/// Below so many keys a single thread is faster than several.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;

/// A chunk that one worker reads at a time has at least so many keys.
pub(crate) const CHUNK_MIN: usize = 1 << 14;

/// And where nothing is counted before, at most so many: as long as it takes one worker, all may
/// wait in the end.
pub(crate) const STRETCH: usize = 1 << 15;

/// Chunks for each worker: more even out an unlucky one, and cost counters.
pub(crate) const CHUNKS_PER_WORKER: usize = 4;

/// A bucket is partitioned by a sample if it took part in fewer partitions than that.
pub(crate) const SAMPLED_PASSES: u32 = 4;

/// Of keys that are counted, up to so many values are looked for before buckets are: half as many
/// as there are slots for them.
pub(crate) const COMMON_MAX: usize = 16;

/// And only such as one key in so many has.
pub(crate) const COMMON_ONE_IN: usize = 128;

/// And only where all others are at most one key in so many: where half of the keys were others, it
/// was no gain on a Zen 4 and a loss of 5 % on a Xeon.
pub(crate) const COMMON_PART: usize = 4;

/// From so many keys up, 16-bit keys alone are counted: 2^16 counters a worker must pay.
pub(crate) const COUNT_16_FROM: usize = 1 << 17;

/// From so many keys up, 8-bit keys alone are counted.
pub(crate) const COUNT_8_FROM: usize = 64;

/// Keys that a sample shows to have fewer codes than that, from the least to the greatest, are counted.
pub(crate) const COUNT_MOST_CODES: usize = 1 << 17;

/// And only so many keys for each of these codes.
pub(crate) const COUNT_KEYS_A_CODE: usize = 8;

/// Up to so many bytes of scratch lie on the stack, and no memory is asked for.
pub(crate) const STACK_BYTES: usize = 20 << 10;

/// Inputs of fewer keys are sorted without reading the clock.
pub(crate) const TIMED_FROM: usize = 1 << 12;

/// From so many keys up, order is looked for that is not the whole input's.
pub(crate) const ORDER_FROM: usize = 1 << 12;

/// Up to so many records of a chunk may be out of place from its start on, and one more of every
/// [`OUT_ONE_IN`].
pub(crate) const OUT_ALLOWED: usize = 4;

/// See [`OUT_ALLOWED`]: putting a record back costs as much as sorting about a hundred.
pub(crate) const OUT_ONE_IN: usize = 256;

/// Up to so many records out of place side by side are told from those around them, whether they are
/// too high or too low.
pub(crate) const OUT_TOGETHER: usize = 8;

/// If the last helper took so many picoseconds a key to join, others are taken to have the cores.
/// Then the caller sorts alone what fits a single bucket, and up to [`ALONE_BYTES`]. So much is a
/// quarter of what the sort takes alone. To wake a helper takes 50 us.
pub(crate) const LATE_PS_A_KEY: u64 = 500;

/// A helper who takes so long to join is late, however long the sort is.
pub(crate) const LATE: Duration = Duration::from_micros(200);

/// Where helpers come late, one caller of so many asks for them before it knows that there is work for them: to
/// ask takes it some 20 us.
pub(crate) const ASKED_ONE_IN: usize = 4;

/// More bytes of records than these are shared though helpers come late. What they take, some 4 ms, is as long
/// as Linux lets a thread run if others want to: who does not run holds up a shorter sort longer than it
/// helps, and the more threads want cores, the sooner the caller is without one itself.
pub(crate) const ALONE_BYTES: usize = 10 << 20;

/// How long a worker that has nothing to do asks again and again for something before it leaves: longer than
/// what one worker does alone between two stages, as a rule. To come back takes 50 us.
pub(crate) const SPIN: Duration = Duration::from_micros(200);

/// And how long before it offers its core to others between two questions: a stretch takes others as long.
pub(crate) const SPIN_ALONE: Duration = Duration::from_micros(50);

/// After so long a helper offers its core to others, between two items: sooner than Linux would
/// take it away amid one, which on two cores lets a thread run for 1.4 ms if others want to.
pub(crate) const TURN: Duration = Duration::from_millis(1);
