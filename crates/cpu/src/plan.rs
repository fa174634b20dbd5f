//! What a sort will do and need, told beforehand by how many records there are and what they are.
//!
//! ```text
//! Record     a type's records: by what means can they be sorted, and how many fit some memory?
//! Measure    a sort of some of them: one bucket, parts where they lie, or a partition into how many? how much scratch?
//! ```

use std::ops::Range;
use std::time::Duration;

use sweepsort_core::{Digit, Word};

use crate::blocks::Layout;
use crate::classify::{BucketBits, Classifier};
use crate::columns::column_bytes;
use crate::fetch::LINE;
use crate::instructions::{Instructions, second_cache_bytes};
use crate::local::{pairs, passes, slots};
use crate::pool::Crew;
use crate::tuning::{
    ALONE_BYTES, BUCKET_BYTES, BUCKET_SLOTS_BYTES, BUCKETS_PER_WORKER, ByWidth, Cuts, FIRST_BITS,
    INSERTION_MAX, LATE_PS_A_KEY, LOCAL_BYTES, LOCAL_CACHE_FOURTHS, LOCAL_CACHE_MIN, MADE_BYTES,
    ONE_BYTES, ONE_KEYS_BYTES, ORDER_FROM, PARALLEL_FROM, PARTITION_BITS, PASSES_BYTES,
    SAMPLED_BITS, SHARING, SHARING_READ_AGAIN, STREAMED_CACHES, STREAMED_PAIRS_BYTES, Sharing,
    by_width,
};

/// Records of one type, as a sort sees them.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    /// Bytes of one.
    pub(crate) bytes: usize,
    /// Bytes of a slot for one that a partition has moved, maybe [side by side](crate::room::Room::BESIDE).
    slot: usize,
    /// Whether they are keys alone.
    keys: bool,
    /// Whether they can be sorted in bins.
    bins: bool,
    /// What is known of keys of such a width.
    tuned: &'static ByWidth,
    /// Whether they can be sorted by vectors that not every machine has.
    pub(crate) vectors: bool,
    /// Whether many are cut in parts for bins: keys alone, by vectors that compress.
    parts: bool,
    /// Whether buckets that a sample parts should be fewer. (By AVX2 keys of 64 bits lose as much
    /// in the local sorts.)
    fewer_sampled: bool,
}

impl Record {
    /// A key of `key` bytes and a payload of `payload`, `whole` if they are sorted by all bits of the key.
    pub(crate) fn new(instructions: Instructions, whole: bool, key: usize, payload: usize) -> Self {
        let vectors = whole && instructions > Instructions::Portable && (key == 4 || key == 8);
        let bins = vectors || whole && (key == 4 || key == 8 && matches!(payload, 0 | 4 | 8));
        Record {
            bytes: key + payload,
            slot: match (key, payload) {
                (4, 8) | (8, 4 | 8) if bins => pairs::SLOT_BYTES,
                (4, 4) if bins && !vectors => pairs::SLOT_BYTES,
                _ => key + payload,
            },
            keys: payload == 0,
            bins,
            tuned: by_width(instructions, 8 * key as u32),
            vectors,
            parts: vectors && payload == 0 && instructions == Instructions::Avx512,
            fewer_sampled: vectors && (key == 4 || instructions == Instructions::Avx512),
        }
    }

    /// Whether `n` of them are worth a try in bins.
    pub(crate) fn takes_bins(self, n: usize) -> bool {
        self.bins && n >= self.tuned.bins_from
    }

    /// Whether they are keys alone that can be sorted by vectors that not every machine has.
    pub(crate) fn is_keys_for_vectors(self) -> bool {
        self.vectors && self.keys
    }

    /// Bytes of memory for a local sort of a bucket of `n` records.
    pub(crate) fn local_bytes(self, n: usize) -> usize {
        let passes = n.saturating_mul(self.bytes).saturating_add(16);
        match self.takes_bins(n) {
            true if self.in_parts(n) => part_slots_bytes(),
            true => slots::bytes(n, self.bytes).max(passes),
            false => passes,
        }
    }

    /// The most records that are sorted locally with so many bytes of memory.
    pub(crate) fn most_records(self, bytes: usize) -> usize {
        let passes = bytes.saturating_sub(16) / self.bytes;
        match slots::most_records(bytes, self.slot) {
            most if self.bins && most > 0 => most.min(passes),
            _ => passes.min(PASSES_BYTES / self.bytes),
        }
    }

    /// The same within a second level cache of `cache` bytes, where that has been found to matter.
    fn most_cached(self, bytes: usize, cache: usize) -> usize {
        let most = self.most_records(bytes);
        if self.bins && self.keys && self.bytes == 4 {
            return most.min(self.most_records(cached_slots_bytes(cache)));
        }
        match self.reads_again() {
            true => {
                most.min(cache.max(LOCAL_CACHE_MIN) / (self.bytes + slots::record_bytes(self.slot)))
            }
            false => most,
        }
    }

    /// Whether a local sort reads records again from where a partition left them.
    fn reads_again(self) -> bool {
        self.slot < self.bytes
    }

    /// Whether `n` records where they are to stay are cut in parts for bins.
    pub(crate) fn in_parts(self, n: usize) -> bool {
        self.parts && !slots::fits(n, part_slots_bytes(), self.bytes)
    }

    /// Whether `n` is no more than the most of those that are cut by so many workers. One sorts in
    /// bins what these take.
    fn is_cut(self, n: usize, threads: usize, most: impl Fn(&Cuts) -> [usize; 2]) -> bool {
        let most = most(&self.tuned.cuts);
        let most = most.get(threads - 1).copied().unwrap_or(0);
        self.parts && n <= most && (threads > 1 || self.in_parts(n))
    }

    /// Whether an input of `n` records is a single bucket, where one thread sorts it.
    fn fits_one(self, n: usize) -> bool {
        match self.bins {
            true if self.in_parts(n) => self.is_cut(n, 1, |cuts| cuts.any),
            true if self.keys => slots::fits(n, ONE_KEYS_BYTES, self.bytes),
            true => slots::fits(n, ONE_BYTES, self.bytes),
            false => n <= self.most_records(LOCAL_BYTES),
        }
    }

    /// Bits that number the buckets into which `n` records are best partitioned, by so many workers
    /// with `bytes` bytes of memory for local sorts each.
    pub(crate) fn partition_bits(self, n: usize, threads: usize, bytes: usize) -> BucketBits {
        self.with_sampled(self.even_bits(n, threads), n, threads, bytes)
    }

    /// As many as bring even buckets well into the cache and give every worker some.
    fn even_bits(self, n: usize, threads: usize) -> u32 {
        match self.bins {
            true => {
                let bucket = slots::most_records(BUCKET_SLOTS_BYTES, self.slot);
                bits_for(n, threads, bucket)
            }
            false => self.bits_for_passes(n, threads),
        }
    }

    /// The same for buckets that are sorted in passes.
    fn bits_for_passes(self, n: usize, threads: usize) -> u32 {
        bits_for(n, threads, BUCKET_BYTES / self.bytes)
    }

    /// Where a sample parts the buckets there are fewer, if a local sort takes each, though some
    /// are a quarter larger than others, and every worker has some even so. Where keys crowd, it
    /// has no use for smaller slots.
    fn with_sampled(self, even: u32, n: usize, threads: usize, bytes: usize) -> BucketBits {
        let few_do = n >> SAMPLED_BITS <= slots::most_records(bytes, self.bytes) / 5 * 4
            && threads * BUCKETS_PER_WORKER <= 1 << SAMPLED_BITS;
        let most = match self.fewer_sampled && few_do {
            true => SAMPLED_BITS,
            false => PARTITION_BITS,
        };
        // Without vectors for keys, crowded records leave their numbers for passes.
        let wanted = match self.reads_again() && !self.vectors {
            true => even.max(self.bits_for_passes(n, threads)),
            false => even,
        };
        BucketBits {
            even,
            sampled: wanted.min(most),
        }
    }
}

/// Bits that number buckets of so many of `n` records, or as many as give every worker some.
fn bits_for(n: usize, threads: usize, bucket: usize) -> u32 {
    let buckets = (n / bucket.max(1)).max(threads * BUCKETS_PER_WORKER);
    (buckets.max(1).ilog2() + 1).min(PARTITION_BITS)
}

/// Bytes of slots that a second level cache of so many bytes has well enough.
fn cached_slots_bytes(cache: usize) -> usize {
    cache.max(LOCAL_CACHE_MIN) / 4 * LOCAL_CACHE_FOURTHS
}

/// Bytes of slots for a part of many keys alone.
fn part_slots_bytes() -> usize {
    cached_slots_bytes(second_cache_bytes()).min(LOCAL_BYTES)
}

/// What decides about a sort's way and memory.
#[derive(Clone, Copy)]
pub(crate) struct Measure {
    pub(crate) n: usize,
    pub(crate) record: Record,
    /// Whether the records themselves need a place, too.
    pub(crate) made: bool,
    /// Bytes of a core's second level cache.
    pub(crate) cache: usize,
    /// How many workers there are.
    pub(crate) threads: usize,
}

impl Measure {
    /// Bytes of scratch, at most.
    pub(crate) fn workspace(&self) -> usize {
        let data = if self.made { self.column_bytes() } else { 0 };
        let one = match self.record.fits_one(self.n) {
            true => self.one_bytes(),
            false => 0,
        };
        let many = match self.is_one() {
            true => 0,
            false if self.is_cut() => self.cut_bytes(),
            false if self.is_short() => self.many_bytes().max(self.alone().many_bytes()),
            false => self.many_bytes(),
        };
        // Two runs are merged to another place.
        let merged = match self.merges() {
            true => self.column_bytes(),
            false => 0,
        };
        data.saturating_add(one.max(many).max(merged))
    }

    /// Whether runs of such records can be merged where there are vectors.
    fn merges(&self) -> bool {
        !self.made && self.record.is_keys_for_vectors() && self.n >= ORDER_FROM
    }

    /// Whether an input is planned as a single bucket, which one thread sorts: some others are, too.
    pub(crate) fn is_one(&self) -> bool {
        self.record.fits_one(self.n) && (self.threads == 1 || self.n < PARALLEL_FROM)
    }

    /// Whether a caller whom nobody joins sorts an input sooner alone than as one of several.
    fn is_short(&self) -> bool {
        self.record.fits_one(self.n) || self.column_bytes() <= ALONE_BYTES
    }

    /// Whether a caller had better sort an input alone, for nobody joins it.
    pub(crate) fn is_for_caller(&self, crew: Crew<'_>) -> bool {
        let late = Duration::from_nanos(self.n as u64 * LATE_PS_A_KEY / 1000);
        self.is_short() && !crew.has_help(late)
    }

    /// Whether an input is cut in parts where it lies, however its keys are spread. None that is
    /// made: of its words some may tie, and have to come together.
    pub(crate) fn is_cut(&self) -> bool {
        let several = self.threads == 1 || self.n >= PARALLEL_FROM;
        several && !self.made && self.record.is_cut(self.n, self.threads, |cuts| cuts.any)
    }

    /// The same of one that a sample parts: skewed keys, or those of hardly any values.
    pub(crate) fn is_cut_by<W: Word>(&self, classifier: &Classifier<W>) -> bool {
        let few = classifier.common().is_some();
        let most = |cuts: &Cuts| if few { cuts.few } else { cuts.skewed };
        !self.made && !classifier.is_even() && self.record.is_cut(self.n, self.threads, most)
    }

    /// The same sort by the caller alone.
    pub(crate) fn alone(self) -> Self {
        Measure { threads: 1, ..self }
    }

    /// Bytes of memory for a local sort of an input that is a single bucket, or of a part of it.
    pub(crate) fn one_bytes(&self) -> usize {
        match self.n {
            ..=INSERTION_MAX => 0,
            n => self.record.local_bytes(n).next_multiple_of(LINE),
        }
    }

    /// Bytes of scratch for an input that workers cut in parts.
    pub(crate) fn cut_bytes(&self) -> usize {
        self.threads * self.one_bytes()
    }

    /// Bytes of scratch for an input of many buckets, but for the records' own place.
    pub(crate) fn many_bytes(&self) -> usize {
        let room = column_bytes(self.room(), self.record.bytes);
        room.saturating_add(self.threads * (self.local_bytes() + self.sorted_bytes()))
    }

    /// Whether records that are written in order do not stay in the caches, those of all workers together.
    /// (Where they are made, each worker writes to memory of its own, which does.)
    pub(crate) fn streams(&self) -> bool {
        let caches = STREAMED_CACHES * self.threads * self.cache;
        !self.made && self.column_bytes() >= STREAMED_PAIRS_BYTES.max(caches)
    }

    /// Bytes of all records in columns.
    pub(crate) fn column_bytes(&self) -> usize {
        column_bytes(self.n, self.record.bytes)
    }

    /// Bytes of a worker's memory for a local sort itself: slots, or room for a bucket.
    pub(crate) fn local_bytes(&self) -> usize {
        self.local_bytes_of(self.sharing())
    }

    /// The same by one way of sharing.
    fn local_bytes_of(&self, sharing: Sharing) -> usize {
        // Words that are made lie in two columns at most.
        let left = match self.made {
            true => self
                .n
                .saturating_mul(MADE_BYTES)
                .saturating_sub(self.column_bytes().saturating_mul(2)),
            false => 0,
        };
        let share = (sharing.local_bytes + left) / self.threads;
        let bytes = match self.made {
            // Slots take three times as much as what they sort, passes as much.
            true => match share / 4 * 3 {
                slots if slots + self.sorted_bytes_beside(slots) <= share => slots,
                _ => share / 5 * 2,
            },
            false => share,
        };
        LOCAL_BYTES.min(bytes).next_multiple_of(LINE)
    }

    /// And for what it has sorted, if that has no place.
    pub(crate) fn sorted_bytes(&self) -> usize {
        match self.made {
            true => self.sorted_bytes_beside(self.local_bytes()),
            false => 0,
        }
    }

    /// Bytes for the records that are sorted with so many bytes of memory.
    fn sorted_bytes_beside(&self, bytes: usize) -> usize {
        let most = self.record.most_records(bytes);
        column_bytes(most, self.record.bytes).next_multiple_of(LINE)
    }

    /// How the workers share memory: see [`SHARING_READ_AGAIN`].
    fn sharing(&self) -> Sharing {
        let fits = |sharing| {
            let cached = self.most_cached(sharing);
            fits_even(self.n, self.first_bits_most(sharing), cached)
        };
        let again = self.record.reads_again() && !fits(SHARING) && fits(SHARING_READ_AGAIN);
        if again { SHARING_READ_AGAIN } else { SHARING }
    }

    /// The most records that are sorted locally, and in cache.
    fn most_cached(&self, sharing: Sharing) -> usize {
        let bytes = self.local_bytes_of(sharing);
        self.record.most_cached(bytes, self.cache)
    }

    /// Bits that number the buckets of the first partition, which may have more than a further one:
    /// so many that a local sort takes each bucket, with some to spare for one that is larger than
    /// others. Where none are enough, there is a second partition in any case.
    pub(crate) fn first_bits(&self) -> BucketBits {
        let (n, record, threads, sharing) = (self.n, self.record, self.threads, self.sharing());
        let (bytes, cached) = (self.local_bytes(), self.most_cached(sharing));
        let bits = record.even_bits(n, threads);
        let mut possible = bits..=self.first_bits_most(sharing);
        let found = possible.clone().find(|&bits| fits_even(n, bits, cached));
        let most = record.most_records(bytes);
        let last = || {
            possible
                .next_back()
                .filter(|&bits| fits_even(n, bits, most))
        };
        record.with_sampled(found.or_else(last).unwrap_or(bits), n, threads, bytes)
    }

    /// The most that there may be.
    fn first_bits_most(&self, sharing: Sharing) -> u32 {
        let buckets = sharing.first_buckets / self.threads;
        buckets.max(1).ilog2().min(FIRST_BITS)
    }

    /// Records that the first partition's room has places for.
    pub(crate) fn room(&self) -> usize {
        let BucketBits { even, sampled } = self.first_bits();
        // Where keys are skewed, there are fewer buckets, and larger blocks.
        [even, sampled]
            .map(|bits| self.layout(bits).room())
            .into_iter()
            .fold(0, usize::max)
    }

    /// The first partition's blocks, by so many bits.
    pub(crate) fn layout(&self, bits: u32) -> Layout {
        let record = self.record.bytes;
        Layout::new(self.n, record, self.threads, 1 << bits, self.sharing())
    }

    /// The digits that stand for the passes of a sort of evenly spread keys: partitions from the top until a
    /// bucket fits the cache, then one or two local passes.
    pub(crate) fn digits(&self, bits: Range<u32>) -> Vec<Digit> {
        let mut digits = Vec::new();
        let (mut bucket, mut top) = (self.n, bits.end);
        if self.n < 2 || bits.is_empty() {
            return digits;
        }
        if !self.is_one() && !self.is_cut() {
            let most = self.record.most_records(self.local_bytes());
            let mut wanted = self.first_bits().even;
            loop {
                let digit = digit_below(top, bits.start, wanted);
                digits.push(digit);
                (bucket, top) = (bucket.div_ceil(digit.radix()), digit.shift);
                wanted = self.record.even_bits(bucket, self.threads);
                if bucket <= most || top == bits.start {
                    break;
                }
            }
        }
        digits.extend(
            passes::digits(bucket, bits.start..top)
                .into_iter()
                .filter(|d| d.bits > 0),
        );
        digits
    }
}

/// Whether each of so many even buckets has no more than `most` records, with some to spare.
fn fits_even(n: usize, bits: u32, most: usize) -> bool {
    n >> bits <= most / 64 * 63
}

/// The digit of up to `bits` bits just below bit `top`, not reaching below bit `low`.
fn digit_below(top: u32, low: u32, bits: u32) -> Digit {
    let bits = bits.min(top - low);
    Digit {
        shift: top - bits,
        bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::SHARED_BYTES;

    /// A sort of `n` records that lie in memory.
    fn of(record: Record, n: usize, threads: usize, cache: usize) -> Measure {
        Measure {
            n,
            record,
            made: false,
            cache,
            threads,
        }
    }

    /// Where the caches of all workers may hold a good part of them, records are written to these; so are
    /// those that are made.
    #[test]
    fn many_records_are_written_past_the_caches() {
        let record = Record::new(Instructions::Avx512, true, 8, 8);
        let least = |threads, cache| {
            let streams = |&n: &usize| of(record, n, threads, cache).streams();
            let mut sizes = (0..=32).map(|bits| 1 << bits);
            sizes.find(streams).map(|n: usize| n * record.bytes)
        };
        for (threads, cache, expected) in [
            (1, 1 << 20, 64 << 20),
            (2, 1 << 20, 64 << 20),
            (8, 2 << 20, 64 << 20),
            (16, 2 << 20, 128 << 20),
            (64, 1 << 20, 256 << 20),
        ] {
            let what = format!("{threads} workers, caches of {cache} bytes");
            assert_eq!(least(threads, cache), Some(expected), "{what}");
        }
        let made = Measure {
            made: true,
            ..of(record, 1 << 32, 1, 1 << 20)
        };
        assert!(!made.streams());
    }

    /// As much as the records and what all workers share, however many these are and whatever their caches.
    #[test]
    fn memory_is_bounded_with_any_cache() {
        use Instructions::{Avx512, Portable};
        for (instructions, key, payload) in [
            (Avx512, 4, 0),
            (Avx512, 8, 0),
            (Avx512, 4, 4),
            (Avx512, 8, 4),
            (Avx512, 8, 8),
            (Avx512, 8, 16),
            (Portable, 4, 4),
            (Portable, 8, 8),
        ] {
            let record = Record::new(instructions, true, key, payload);
            for cache in [1 << 19, 1 << 20, 2 << 20, 4 << 20] {
                for n in (20..28).flat_map(|bits| [4 << bits, 5 << bits, 6 << bits, 7 << bits]) {
                    for threads in 1..=64 {
                        let bytes = of(record, n, threads, cache).workspace();
                        let more = bytes as i64 - (n * record.bytes) as i64;
                        let what = format!("{n} of {key} + {payload}, {threads} threads, {cache}");
                        assert!(more <= SHARED_BYTES as i64, "{what}: {more}");
                    }
                }
            }
        }
    }

    /// No more first buckets than bring each to a size that a local sort takes in cache, up to the
    /// last record that they do; then as many as there may be, while it takes each; then as many as
    /// of a further partition.
    #[test]
    fn first_buckets_are_as_many_as_need_be() {
        for (bytes, threads, cache, cached, most, bits_most) in [
            (4, 1, 4 << 20, 199_710, 199_710, 11),
            (4, 1, 2 << 20, 199_710, 199_710, 11),
            (4, 1, 1 << 20, 99_855, 199_710, 11),
            (4, 1, 1 << 19, 99_855, 199_710, 11),
            (8, 1, 1 << 20, 100_170, 100_170, 11),
            (8, 2, 2 << 20, 100_170, 100_170, 11),
            (16, 2, 1 << 20, 36_855, 161_217, 11),
            (16, 8, 2 << 20, 73_710, 161_217, 11),
            (8, 16, 1 << 20, 98_280, 98_280, 10),
            (8, 64, 1 << 20, 24_255, 24_255, 8),
        ] {
            let key = bytes.min(8);
            let record = Record::new(Instructions::Avx512, true, key, bytes - key);
            // The most records in so many bits, and the bits for one more.
            let ends = (8..bits_most).map(|bits| (cached, bits, bits + 1));
            let in_cache = match cached < most {
                true => bits_most,
                false => 8,
            };
            let last = [(cached, bits_most, in_cache), (most, bits_most, 8)];
            for (bucket, bits, next) in ends.chain(last) {
                let n = ((bucket + 1) << bits) - 1;
                let found = [n, n + 1].map(|n| of(record, n, threads, cache).first_bits().even);
                assert_eq!(found, [bits, next], "{n} records of {bytes}, {threads}");
            }
        }
    }

    /// Where workers are so many that their buckets of records that are read again do not fit the
    /// second level cache, they have twice as many, if these do.
    #[test]
    fn more_buckets_where_records_are_read_again() {
        for (bytes, n, threads, many, bits) in [
            (16, 70_000_000, 16, false, 10),
            (16, 80_000_000, 16, true, 11),
            (16, 120_000_000, 16, true, 11),
            (16, 200_000_000, 16, false, 8),
            (16, 80_000_000, 8, false, 11),
            (16, 40_000_000, 32, false, 9),
            (8, 100_000_000, 16, false, 10),
        ] {
            let record = Record::new(Instructions::Avx512, true, bytes / 2, bytes / 2);
            let measure = of(record, n, threads, 2 << 20);
            let expected = if many { SHARING_READ_AGAIN } else { SHARING };
            let found = (measure.sharing().first_buckets, measure.first_bits().even);
            let expected = (expected.first_buckets, bits);
            assert_eq!(found, expected, "{n} records of {bytes}, {threads}");
        }
    }

    /// Buckets that a sample parts are fewer where vectors search for them, unless a local sort
    /// would not take them or workers have too few; and more where crowded records go in passes.
    #[test]
    fn sampled_buckets_are_as_many_as_is_fastest() {
        use Instructions::{Avx2, Avx512, Portable};
        for (instructions, key, payload, n, threads, expected) in [
            (Avx512, 4, 0, 100_000, 1, (3, 3)),
            (Avx512, 4, 0, 10_000_000, 2, (8, 7)),
            (Avx512, 8, 0, 10_000_000, 2, (8, 7)),
            (Avx512, 8, 0, 13_000_000, 2, (8, 8)),
            (Avx512, 8, 0, 100_000_000, 2, (10, 8)),
            (Avx512, 4, 0, 10_000_000, 33, (8, 8)),
            (Avx512, 8, 8, 1_000_000, 1, (6, 6)),
            (Avx2, 4, 0, 10_000_000, 2, (8, 7)),
            (Avx2, 8, 0, 10_000_000, 2, (8, 8)),
            (Portable, 4, 0, 10_000_000, 2, (8, 8)),
            (Portable, 8, 8, 300_000, 1, (4, 7)),
            (Portable, 8, 8, 1_000_000, 1, (6, 8)),
            (Portable, 8, 8, 100_000_000, 2, (11, 8)),
        ] {
            let record = Record::new(instructions, true, key, payload);
            let found = of(record, n, threads, 2 << 20).first_bits();
            let found = (found.even, found.sampled);
            let what = format!("{instructions:?} {key} {payload} {n} {threads}");
            assert_eq!(found, expected, "{what}");
        }
    }
}
