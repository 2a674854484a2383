//! Sets of index terms: sorted ranges that do not overlap.
//!
//! A range goes from one beginning of terms to before another. Because no term is the beginning of another, that says
//! everything that predicates ask for: what equals a term lies from the term itself to before the next beginning.
//!
//! Bounds between two classes are moved up to the next class, of which nothing lies below; so ranges that touch in
//! meaning touch in their bytes, and become one.

use std::ops::Bound;

use armilla_index::{IndexId, KeyRange, TermRange};
use armilla_value::key::class;
use bytes::Bytes;

#[cfg(test)]
mod tests;

/// Every class byte that begins terms, in order, and one behind all.
const CLASSES: [u8; 21] = [
    class::UNDEFINED,
    class::NULL,
    class::FALSE,
    class::TRUE,
    class::NUMBER,
    class::STRING,
    class::ARRAY,
    class::OBJECT,
    class::MIN_KEY,
    class::BINARY,
    class::OBJECT_ID,
    class::DATE,
    class::TIMESTAMP,
    class::REGEX,
    class::DB_POINTER,
    class::CODE,
    class::CODE_WITH_SCOPE,
    class::SYMBOL,
    class::UNDEFINED_VALUE,
    class::MAX_KEY,
    END,
];

/// Behind all classes.
const END: u8 = class::MAX_KEY + 1;

/// The terms from one beginning to before another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interval {
    /// Where it begins.
    pub(super) low: Vec<u8>,
    /// Where it ends.
    pub(super) high: Vec<u8>,
    /// Whether it holds one term only, which then is `low`.
    pub(super) is_point: bool,
}

impl Interval {
    fn new(low: Vec<u8>, high: Vec<u8>, is_point: bool) -> Option<Interval> {
        (low < high).then(|| {
            let is_point = is_point || is_single_class(&low, &high);
            Interval { low, high, is_point }
        })
    }

    /// Returns the keys of the interval's entries in an index.
    pub(super) fn key_range(&self, index: IndexId) -> KeyRange {
        let key = |bound: &[u8]| Bytes::from([&index.0.to_be_bytes(), bound].concat());
        KeyRange { lower: Bound::Included(key(&self.low)), upper: Bound::Excluded(key(&self.high)) }
    }

    /// Returns the interval as a component of a composite index, behind those before it.
    pub(super) fn component(&self, prefix: &[u8], descending: bool) -> Interval {
        let (low, high) = if descending {
            (behind(&inverted(&self.high)), behind(&inverted(&self.low)))
        } else {
            (self.low.clone(), self.high.clone())
        };
        Interval {
            low: [prefix, &low].concat(),
            high: [prefix, &high].concat(),
            // One value of a component is one term only where no component follows; its owner knows.
            is_point: false,
        }
    }
}

/// Returns whether the terms between are those of a class that has one value only.
fn is_single_class(low: &[u8], high: &[u8]) -> bool {
    matches!(
        (low, high),
        ([class::UNDEFINED], [class::NULL])
            | ([class::NULL], [class::FALSE])
            | ([class::FALSE], [class::TRUE])
            | ([class::TRUE], [class::NUMBER])
    )
}

/// Returns every byte inverted.
pub(super) fn inverted(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

/// Returns the first beginning behind everything that begins so.
pub(super) fn behind(bytes: &[u8]) -> Vec<u8> {
    let Some(last) = bytes.iter().rposition(|byte| *byte != 0xFF) else {
        // Nothing lies behind; no class is that high.
        return vec![0xFF; bytes.len() + 1];
    };
    let mut next = bytes[..=last].to_vec();
    next[last] += 1;
    next
}

/// A set of terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TermSet {
    intervals: Vec<Interval>,
}

impl TermSet {
    /// Returns the set of all terms, that of undefined included.
    pub(super) fn everything() -> TermSet {
        TermSet::classes(class::UNDEFINED, END)
    }

    /// Returns the set of the terms of all values.
    pub(super) fn defined() -> TermSet {
        TermSet::classes(class::NULL, END)
    }

    /// Returns the set of the term that stands for no value.
    pub(super) fn undefined() -> TermSet {
        TermSet::classes(class::UNDEFINED, class::NULL)
    }

    fn classes(first: u8, end: u8) -> TermSet {
        TermSet { intervals: Interval::new(vec![first], vec![end], false).into_iter().collect() }
    }

    /// Returns the set of a predicate, and whether it is exactly that of the predicate.
    pub(super) fn of(range: TermRange<'_>) -> (TermSet, bool) {
        let is_equality = matches!(range, TermRange::Equal(_));
        let span = range.span(IndexId(0));
        if span.range.is_empty() {
            return (TermSet::default(), span.precise);
        }
        let bytes = |bound: &Bound<Bytes>| match bound {
            Bound::Included(key) | Bound::Excluded(key) => {
                key.get(IndexId::BYTES..).unwrap_or_default().to_vec()
            }
            Bound::Unbounded => Vec::new(),
        };
        let low = key_bound(bytes(&span.range.lower));
        let high = match bytes(&span.range.upper) {
            // Behind the whole index.
            end if end.is_empty() => vec![END],
            high => key_bound(high),
        };
        let interval = Interval::new(low, high, is_equality);
        (TermSet { intervals: interval.into_iter().collect() }, span.precise)
    }

    /// Returns the ranges, in order.
    pub(super) fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Returns whether nothing is in the set.
    pub(super) fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Returns whether everything is in the set.
    pub(super) fn is_everything(&self) -> bool {
        matches!(self.intervals.as_slice(), [all] if all.low == [class::UNDEFINED] && all.high == [END])
    }

    /// Returns whether every value is in the set.
    pub(super) fn has_all_values(&self) -> bool {
        matches!(self.intervals.as_slice(), [all] if all.low[..] <= [class::NULL][..] && all.high == [END])
    }

    /// Returns whether the lack of a value is in the set.
    pub(super) fn has_undefined(&self) -> bool {
        self.intervals.first().is_some_and(|first| first.low[..] <= [class::UNDEFINED][..])
    }

    /// Returns whether something other than a scalar is in the set.
    pub(super) fn has_structures(&self) -> bool {
        let reaches = |interval: &Interval| {
            interval.low[..] < [class::MIN_KEY][..] && interval.high[..] > [class::ARRAY][..]
        };
        self.intervals.iter().any(reaches)
    }

    /// Returns whether the set is a number of single terms.
    pub(super) fn is_points(&self) -> bool {
        !self.is_empty() && self.intervals.iter().all(|interval| interval.is_point)
    }

    /// Returns the one range from the lowest to the highest term of the set; nothing for the empty set.
    pub(super) fn hull(&self) -> Option<Interval> {
        let (first, last) = (self.intervals.first()?, self.intervals.last()?);
        let is_point = self.intervals.len() == 1 && first.is_point;
        Some(Interval { low: first.low.clone(), high: last.high.clone(), is_point })
    }

    /// Returns what is in one of the sets.
    pub(super) fn union(sets: impl IntoIterator<Item = TermSet>) -> TermSet {
        let intervals = sets.into_iter().flat_map(|set| set.intervals).collect();
        TermSet { intervals: merged(intervals) }
    }

    /// Returns what is in both sets.
    pub(super) fn intersection(&self, other: &TermSet) -> TermSet {
        let (mut left, mut right) = (self.intervals.iter().peekable(), other.intervals.iter().peekable());
        let mut intervals = Vec::new();
        while let (Some(one), Some(two)) = (left.peek(), right.peek()) {
            let low = one.low.clone().max(two.low.clone());
            let high = one.high.clone().min(two.high.clone());
            intervals.extend(Interval::new(low, high, one.is_point || two.is_point));
            if one.high <= two.high {
                left.next()
            } else {
                right.next()
            };
        }
        TermSet { intervals }
    }

    /// Returns what is not in the set, undefined included.
    pub(super) fn complement(&self) -> TermSet {
        let mut intervals = Vec::new();
        let mut low = vec![class::UNDEFINED];
        for interval in &self.intervals {
            intervals.extend(Interval::new(low, interval.low.clone(), false));
            low = interval.high.clone();
        }
        intervals.extend(Interval::new(low, vec![END], false));
        TermSet { intervals }
    }

    /// Returns what is in this set and not in another.
    pub(super) fn minus(&self, other: &TermSet) -> TermSet {
        self.intersection(&other.complement())
    }
}

/// Moves a bound between classes up to the next class.
fn key_bound(bound: Vec<u8>) -> Vec<u8> {
    match bound.as_slice() {
        [] => vec![class::UNDEFINED],
        [only] => vec![CLASSES.into_iter().find(|class| class >= only).unwrap_or(END)],
        _ => bound,
    }
}

/// Sorts intervals and puts those together that overlap or touch; two points that touch stay two.
pub(super) fn merged(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable_by(|left, right| left.low.cmp(&right.low).then(left.high.cmp(&right.high)));
    let mut all: Vec<Interval> = Vec::with_capacity(intervals.len());
    for next in intervals {
        match all.last_mut() {
            Some(last) if next == *last => {}
            Some(last)
                if next.low < last.high || (next.low == last.high && !(next.is_point && last.is_point)) =>
            {
                last.is_point = false;
                last.high = next.high.max(std::mem::take(&mut last.high));
            }
            _ => all.push(next),
        }
    }
    all
}
