//! How many entries of an index lie in a range, as far as that is worth knowing.
//!
//! Few entries are counted. Of many, the first ones are, and the rest is guessed: entries of one value are in the order
//! of insertion, so the numbers of the first ones and of the last tell how dense they lie; values between two others
//! are taken to be spread evenly.
//!
//! What was counted and guessed of a sample is told as what the whole has ([`Source::magnification`]).
//!
//! Invariants:
//! * a plan costs at most [`PROBES_MAX`] reads of at most [`COUNTED_ENTRIES_MAX`] entries, whatever the query;
//! * an index that was asked about [`SAMPLED_RANGES_MAX`] times is known well enough.

use std::collections::HashMap;

use armilla_index::{IndexId, KeyRange, split_entry, term};
use armilla_value::Value;
use armilla_value::key::class;
use bytes::Bytes;

use super::terms::Interval;
use crate::error::Result;
use crate::physical::{Begun, IndexSet};
use crate::source::{Direction, Source};

#[cfg(test)]
mod tests;

/// Up to this many entries of a range are counted.
pub(super) const COUNTED_ENTRIES_MAX: usize = 256;

/// Most reads of the index that making one plan may take.
const PROBES_MAX: usize = 192;

/// After this many ranges of single values, the next ones of the same index are taken to be like them.
const SAMPLED_RANGES_MAX: usize = 16;

/// The part of an index that one value is taken to have where nothing is known.
const GUESSED_EQUALITY_PART: u64 = 16;

/// The part of an index that a range is taken to have where nothing is known.
const GUESSED_RANGE_PART: u64 = 3;

/// Counts and guesses.
pub(super) struct Estimator<'s> {
    source: &'s dyn Source,
    magnification: u64,
    /// Beyond so many entries, the caller does not care how many there are.
    counted_max: usize,
    probes: usize,
    samples: HashMap<IndexId, Sample>,
    sizes: HashMap<IndexId, u64>,
    buffer: Vec<Bytes>,
    /// What was read of ranges to count them.
    read: Vec<(KeyRange, Begun)>,
}

/// What is known of the values of an index.
#[derive(Default)]
struct Sample {
    ranges: u64,
    entries: u64,
}

impl<'s> Estimator<'s> {
    /// Makes an estimator that has asked nothing yet.
    pub(super) fn new(source: &'s dyn Source) -> Estimator<'s> {
        Estimator {
            source,
            magnification: source.magnification().max(1),
            counted_max: COUNTED_ENTRIES_MAX,
            probes: 0,
            samples: HashMap::new(),
            sizes: HashMap::new(),
            buffer: Vec::new(),
            read: Vec::new(),
        }
    }

    /// Says beyond how many entries it does not matter how many there are.
    pub(super) fn count_to(&mut self, entries: u64) {
        self.counted_max = usize::try_from(entries / self.magnification)
            .map_or(COUNTED_ENTRIES_MAX, |entries| entries.clamp(1, COUNTED_ENTRIES_MAX));
    }

    /// Returns how many entries an index has.
    pub(super) fn size(&mut self, index: IndexId) -> Result<u64> {
        Ok(self.size_here(index)?.saturating_mul(self.magnification))
    }

    fn size_here(&mut self, index: IndexId) -> Result<u64> {
        if let Some(size) = self.sizes.get(&index) {
            return Ok(*size);
        }
        let size = self.source.index_entries(index)?;
        self.sizes.insert(index, size);
        Ok(size)
    }

    /// Returns about how many entries of an index lie in some ranges; exact where they are few.
    pub(super) fn entries(
        &mut self,
        index: IndexId,
        intervals: &[Interval],
        is_composite: bool,
    ) -> Result<u64> {
        Ok(self.entries_here(index, intervals, is_composite)?.saturating_mul(self.magnification))
    }

    fn entries_here(&mut self, index: IndexId, intervals: &[Interval], is_composite: bool) -> Result<u64> {
        let covers_all = |interval: &Interval| {
            interval.low[..] <= [class::NULL][..] && interval.high[..] > [class::MAX_KEY][..]
        };
        if let [only] = intervals
            && self.probes < PROBES_MAX
        {
            // There are few most often, and then it does not matter how many there are of all.
            if only.is_point && !self.is_sampled(index) {
                return self.point(index, only, is_composite);
            }
            if !only.is_point && !covers_all(only) {
                return self.interval(index, only, is_composite);
            }
        }
        let size = self.size_here(index)?;
        if size == 0 {
            return Ok(0);
        }
        if intervals.iter().any(covers_all) {
            return Ok(size);
        }
        let mut counted = 0;
        for (done, interval) in intervals.iter().enumerate() {
            let left = (intervals.len() - done) as u64;
            let is_known = interval.is_point && self.is_sampled(index);
            if let Some(sample) = self.samples.get(&index).filter(|_| is_known) {
                // Rounded up: to look for nothing is no reason to believe that there is nothing.
                counted += (sample.entries * left).div_ceil(sample.ranges);
                break;
            }
            if self.probes >= PROBES_MAX || counted > size {
                let part = if interval.is_point { GUESSED_EQUALITY_PART } else { GUESSED_RANGE_PART };
                counted += (size / part).max(1).saturating_mul(left);
                break;
            }
            counted += match interval.is_point {
                true => self.point(index, interval, is_composite)?,
                false => self.interval(index, interval, is_composite)?,
            };
        }
        Ok(counted.min(size))
    }

    /// Returns whether so many single values of an index were counted that it is known well enough.
    fn is_sampled(&self, index: IndexId) -> bool {
        self.samples.get(&index).is_some_and(|sample| sample.ranges >= SAMPLED_RANGES_MAX as u64)
    }

    /// Returns about how many entries one value has, and takes note of it.
    fn point(&mut self, index: IndexId, value: &Interval, is_composite: bool) -> Result<u64> {
        let entries = self.interval(index, value, is_composite)?;
        let sample = self.samples.entry(index).or_default();
        sample.ranges += 1;
        sample.entries += entries;
        Ok(entries)
    }

    /// Hands over what was read of a set's ranges, so that it is not read again.
    pub(super) fn hand_over(&mut self, set: &mut IndexSet) {
        let range = match set {
            IndexSet::Range(range) => range,
            IndexSet::And(sets) | IndexSet::Or(sets) => {
                sets.iter_mut().for_each(|set| self.hand_over(set));
                return;
            }
        };
        if range.term_filter.is_some() || range.ranges.len() > SAMPLED_RANGES_MAX {
            return;
        }
        range.begun = range
            .ranges
            .iter()
            .map(|range| {
                let at = self.read.iter().position(|(read, _)| read == range)?;
                Some(self.read.swap_remove(at).1)
            })
            .collect();
    }

    /// Returns the first or last entry of an interval.
    pub(super) fn extreme(
        &mut self,
        index: IndexId,
        interval: &Interval,
        direction: Direction,
    ) -> Result<Option<Bytes>> {
        self.probes += 1;
        self.buffer.clear();
        self.source.entries(&interval.key_range(index), direction, 1, &mut self.buffer)?;
        Ok(self.buffer.pop())
    }

    fn interval(&mut self, index: IndexId, interval: &Interval, is_composite: bool) -> Result<u64> {
        self.probes += 1;
        let range = interval.key_range(index);
        let mut numbers = Vec::new();
        // One more than is counted tells whether there are more.
        let last = self.source.entry_numbers(&range, self.counted_max + 1, &mut numbers)?;
        let has_more = numbers.len() > self.counted_max;
        let counted = numbers.len().min(self.counted_max) as u64;
        let (first, last_counted) = (numbers.first().copied(), numbers[..counted as usize].last().copied());
        self.read.push((range, Begun { numbers, last }));
        if !has_more {
            return Ok(counted);
        }
        if self.counted_max < COUNTED_ENTRIES_MAX {
            return Ok(counted + 1);
        }
        let size = self.size_here(index)?;
        let number = |entry: &Bytes| split_entry(entry).map(|(_, _, number)| number);
        let guess = if interval.is_point {
            let last = self.extreme(index, interval, Direction::Reverse)?.as_ref().and_then(number);
            match (first, last_counted, last) {
                (Some(first), Some(counted_to), Some(last)) if first >> BIRTH_BITS == last >> BIRTH_BITS => {
                    let span = |to: u64| u128::from(to.saturating_sub(first)) + 1;
                    let guess = u128::from(counted) * span(last) / span(counted_to).max(1);
                    u64::try_from(guess).unwrap_or(u64::MAX)
                }
                _ => size / GUESSED_EQUALITY_PART,
            }
        } else {
            self.spread(index, interval, is_composite, size)?
        };
        Ok(guess.clamp(counted + 1, size.max(counted + 1)))
    }

    /// Guesses from where the range lies among all values of its type.
    fn spread(&mut self, index: IndexId, interval: &Interval, is_composite: bool, size: u64) -> Result<u64> {
        let types = [class::NUMBER..class::STRING, class::STRING..class::ARRAY];
        let first = interval.low.first().copied().unwrap_or_default();
        let own = types.into_iter().find(|own| own.contains(&first) && interval.high[..] <= [own.end][..]);
        // Of how many there are of each type, nothing is known; and composite indexes begin with other values.
        let Some(own) = own.filter(|_| !is_composite) else { return Ok(size / GUESSED_RANGE_PART) };
        let whole = Interval { low: vec![own.start], high: vec![own.end], is_point: false };
        let lowest = self.extreme(index, &whole, Direction::Forward)?;
        let highest = self.extreme(index, &whole, Direction::Reverse)?;
        let (Some(lowest), Some(highest)) = (lowest, highest) else { return Ok(0) };
        let term = |entry: &Bytes| split_entry(entry).map(|(_, term, _)| term.to_vec()).unwrap_or_default();
        let (lowest, highest) = (term(&lowest), term(&highest));
        let place = Places::between(&lowest, &highest);
        let low = if interval.low.len() > 1 { place.of(&interval.low) } else { 0.0 };
        let high = if interval.high.len() > 1 { place.of(&interval.high) } else { 1.0 };
        Ok(((high - low).clamp(0.0, 1.0) * size as f64) as u64)
    }
}

/// Bits of an item's number that count; those above tell where it was born.
const BIRTH_BITS: u32 = 40;

/// Where terms of one type lie between the lowest and the highest of them, from 0 to 1.
struct Places<'t> {
    lowest: &'t [u8],
    highest: &'t [u8],
    /// The two as numbers, if they are.
    numbers: Option<(f64, f64)>,
    /// How many bytes the two have in common.
    shared: usize,
}

impl<'t> Places<'t> {
    fn between(lowest: &'t [u8], highest: &'t [u8]) -> Places<'t> {
        let shared = lowest.iter().zip(highest).take_while(|(left, right)| left == right).count();
        Places { lowest, highest, numbers: number(lowest).zip(number(highest)), shared }
    }

    fn of(&self, bound: &[u8]) -> f64 {
        if bound <= self.lowest {
            return 0.0;
        }
        if bound > self.highest {
            return 1.0;
        }
        let place = match self.numbers {
            Some((lowest, highest)) => {
                let at = number(bound).or_else(|| before(bound).and_then(|bound| number(&bound)));
                at.map_or(f64::NAN, |at| (at - lowest) / (highest - lowest))
            }
            None => {
                let tails = [bound, self.lowest, self.highest]
                    .map(|term| term.get(self.shared..).unwrap_or_default());
                let alphabet = Alphabet::of(&tails);
                let [at, lowest, highest] = tails.map(|tail| alphabet.fraction(tail));
                (at - lowest) / (highest - lowest)
            }
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.5 }
    }
}

/// Returns the number of a term.
fn number(term: &[u8]) -> Option<f64> {
    if term.first() != Some(&class::NUMBER) {
        return None;
    }
    term::decode(term).flatten().as_ref().and_then(Value::as_f64).filter(|number| number.is_finite())
}

fn before(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    let last = bytes.last_mut().filter(|last| **last > 0)?;
    *last -= 1;
    Some(bytes)
}

/// The bytes that some texts are made of: between their lowest and their highest, and whole kinds of characters.
struct Alphabet {
    first: u8,
    last: u8,
}

impl Alphabet {
    fn of(texts: &[&[u8]]) -> Alphabet {
        // Below stand the marks of ends and escapes.
        let bytes = texts.iter().flat_map(|text| text.iter().copied()).filter(|byte| *byte >= b' ');
        let (mut first, mut last) =
            bytes.fold((u8::MAX, 0), |(first, last), byte| (first.min(byte), last.max(byte)));
        for kind in [b'0'..=b'9', b'A'..=b'Z', b'a'..=b'z'] {
            if first <= *kind.end() && last >= *kind.start() {
                (first, last) = (first.min(*kind.start()), last.max(*kind.end()));
            }
        }
        if first < last { Alphabet { first, last } } else { Alphabet { first: 0, last: u8::MAX } }
    }

    /// Returns a text as a number from 0 to 1, its bytes taken for digits.
    fn fraction(&self, text: &[u8]) -> f64 {
        let base = f64::from(self.last - self.first) + 1.0;
        let digit = |byte: u8| f64::from(byte.clamp(self.first, self.last) - self.first);
        text.iter().take(DIGITS).rev().fold(0.0, |fraction, byte| (fraction + digit(*byte)) / base)
    }
}

/// Bytes of a text that matter for where it lies.
const DIGITS: usize = 12;
