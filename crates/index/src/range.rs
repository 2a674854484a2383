//! Entries as keys, and predicates as ranges of such keys.
//!
//! ```text
//! entry := index id(8) | term | item number(8)
//! ```
//! No term is the beginning of another, so entries are ordered by index, then value, then item number. The term
//! of a composite index is that of each component, one after the other, every byte inverted for a descending one.
//!
//! A range is bounded by two cuts; a cut lies before or behind all keys with some beginning. Inverting every byte
//! turns the order round, and so a cut before into a cut behind: descending components need nothing else.

use std::ops::Bound;

use armilla_value::Value;
use armilla_value::key::{self, class};
use bytes::Bytes;

use crate::id::IndexId;
use crate::limits::TERM_CONTENT_BYTES_MAX as CUT;
use crate::term;

#[cfg(test)]
mod tests;

/// Bytes of the item number at the end of an entry.
pub const NUMBER_BYTES: usize = 8;

/// Returns the key of an entry.
pub fn entry_key(index: IndexId, term: &[u8], number: u64) -> Bytes {
    let mut key = Vec::with_capacity(IndexId::BYTES + term.len() + NUMBER_BYTES);
    key.extend_from_slice(&index.0.to_be_bytes());
    key.extend_from_slice(term);
    key.extend_from_slice(&number.to_be_bytes());
    key.into()
}

/// Splits the key of an entry into the index, the term and the item number.
pub fn split_entry(key: &[u8]) -> Option<(IndexId, &[u8], u64)> {
    let (index, rest) = key.split_first_chunk::<{ IndexId::BYTES }>()?;
    let (term, number) = rest.split_last_chunk::<NUMBER_BYTES>()?;
    Some((IndexId(u64::from_be_bytes(*index)), term, u64::from_be_bytes(*number)))
}

/// A range of whole entry keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRange {
    /// Where it begins.
    pub lower: Bound<Bytes>,
    /// Where it ends.
    pub upper: Bound<Bytes>,
}

impl KeyRange {
    /// Returns the range of all keys with a beginning.
    pub fn prefix(prefix: &[u8]) -> KeyRange {
        Cut::range(Cut::Before(prefix.to_vec()), Cut::Behind(prefix.to_vec()))
    }

    /// Returns a range that holds nothing.
    pub fn empty() -> KeyRange {
        KeyRange { lower: Bound::Included(Bytes::new()), upper: Bound::Excluded(Bytes::new()) }
    }

    /// Returns whether no key can lie in the range.
    pub fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
            (Bound::Included(lower) | Bound::Excluded(lower), Bound::Excluded(upper))
            | (Bound::Excluded(lower), Bound::Included(upper)) => lower >= upper,
            (Bound::Unbounded, Bound::Excluded(upper)) => upper.is_empty(),
            (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        }
    }

    /// Returns whether a key lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        let above = match &self.lower {
            Bound::Included(lower) => key >= &lower[..],
            Bound::Excluded(lower) => key > &lower[..],
            Bound::Unbounded => true,
        };
        above
            && match &self.upper {
                Bound::Included(upper) => key <= &upper[..],
                Bound::Excluded(upper) => key < &upper[..],
                Bound::Unbounded => true,
            }
    }
}

/// The entries that a predicate asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermSpan {
    /// Where they lie.
    pub range: KeyRange,
    /// Whether every entry there satisfies the predicate; if not, the item must be looked at.
    pub precise: bool,
}

impl TermSpan {
    fn empty() -> TermSpan {
        TermSpan { range: KeyRange::empty(), precise: true }
    }
}

/// A predicate on one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TermRange<'a> {
    /// The value equals this one; nothing equals NaN.
    Equal(&'a Value),
    /// There is no value.
    Undefined,
    /// The value is of the bounds' type and between them. Nothing where the two are of different types, neither
    /// is given, or the type has no order (arrays, objects).
    Between {
        /// The lower bound.
        lower: Bound<&'a Value>,
        /// The upper bound.
        upper: Bound<&'a Value>,
    },
    /// The value is a string that begins so.
    Prefix(&'a str),
    /// The value's class byte (`armilla_value::key::class`) is between these two, both included.
    Classes {
        /// The first class.
        first: u8,
        /// The last class.
        last: u8,
    },
    /// There is a value.
    Defined,
    /// There is an entry, for a value or for the lack of one.
    All,
}

impl TermRange<'_> {
    /// Booleans.
    pub const BOOLEANS: TermRange<'static> = TermRange::Classes { first: class::FALSE, last: class::TRUE };
    /// Null.
    pub const NULLS: TermRange<'static> = TermRange::Classes { first: class::NULL, last: class::NULL };
    /// Numbers.
    pub const NUMBERS: TermRange<'static> = TermRange::Classes { first: class::NUMBER, last: class::NUMBER };
    /// Strings.
    pub const STRINGS: TermRange<'static> = TermRange::Classes { first: class::STRING, last: class::STRING };
    /// Arrays.
    pub const ARRAYS: TermRange<'static> = TermRange::Classes { first: class::ARRAY, last: class::ARRAY };
    /// Objects.
    pub const OBJECTS: TermRange<'static> = TermRange::Classes { first: class::OBJECT, last: class::OBJECT };
    /// Null, booleans, numbers and strings.
    pub const PRIMITIVES: TermRange<'static> = TermRange::Classes { first: class::NULL, last: class::STRING };

    /// Returns where the predicate's entries lie in the index of a path.
    pub fn span(self, index: IndexId) -> TermSpan {
        self.span_behind(&index.0.to_be_bytes(), false)
    }

    /// Returns whether a term satisfies the predicate; where the predicate is not precise, whether it may.
    pub fn matches(self, term: &[u8]) -> bool {
        self.span_behind(&[], false).range.contains(term)
    }

    fn span_behind(self, prefix: &[u8], descending: bool) -> TermSpan {
        let Some((lower, upper, precise)) = self.cuts() else { return TermSpan::empty() };
        let (lower, upper) = if descending { (upper.inverted(), lower.inverted()) } else { (lower, upper) };
        TermSpan { range: Cut::range(lower.behind(prefix), upper.behind(prefix)), precise }
    }

    /// Returns the two cuts between which the terms lie; nothing where there are none.
    fn cuts(self) -> Option<(Cut, Cut, bool)> {
        let classes = |first: u8, last: u8| (Cut::Before(vec![first]), Cut::Behind(vec![last]), true);
        match self {
            TermRange::Equal(value) => {
                if is_nan(value) {
                    return None;
                }
                let term = term::of(Some(value));
                Some((Cut::Before(term.clone()), Cut::Behind(term), term::is_exact_value(value)))
            }
            TermRange::Undefined => Some(classes(class::UNDEFINED, class::UNDEFINED)),
            TermRange::Between { lower, upper } => between(lower, upper),
            TermRange::Prefix(text) => {
                let content = content(text);
                Some((Cut::Before(content.clone()), Cut::Behind(content), text.len() <= CUT))
            }
            TermRange::Classes { first, last } => Some(classes(first, last)),
            TermRange::Defined => Some((Cut::Behind(vec![class::UNDEFINED]), Cut::Behind(Vec::new()), true)),
            TermRange::All => Some((Cut::Before(Vec::new()), Cut::Behind(Vec::new()), true)),
        }
    }
}

/// Returns the entries of a composite index whose first components equal `equal`, undefined where `None`, and
/// whose next one satisfies `next`. `descending` tells the direction of each component of the index.
///
/// Components hold scalars only: an array or object among the values finds nothing.
pub fn composite_span(
    index: IndexId,
    descending: &[bool],
    equal: &[Option<&Value>],
    next: Option<TermRange<'_>>,
) -> TermSpan {
    debug_assert!(equal.len() + usize::from(next.is_some()) <= descending.len(), "one value a component");
    let mut prefix = index.0.to_be_bytes().to_vec();
    let mut precise = true;
    for (value, descending) in equal.iter().zip(descending) {
        if value.is_some_and(|value| is_nan(value) || matches!(value, Value::Array(_) | Value::Object(_))) {
            return TermSpan::empty();
        }
        precise &= value.is_none_or(term::is_exact_value);
        let start = prefix.len();
        term::push_option(*value, &mut prefix);
        if *descending {
            invert(&mut prefix[start..]);
        }
    }
    match (next, descending.get(equal.len())) {
        (Some(next), Some(descending)) => {
            let mut span = next.span_behind(&prefix, *descending);
            span.precise &= precise;
            span
        }
        _ => TermSpan { range: KeyRange::prefix(&prefix), precise },
    }
}

/// Splits the term of a composite index into the terms of its components, as they are in an ascending one.
pub fn composite_terms_of(term: &[u8], descending: &[bool]) -> Option<Vec<Vec<u8>>> {
    let mut rest = term;
    let mut components = Vec::with_capacity(descending.len());
    for descending in descending {
        let mut component = rest.to_vec();
        if *descending {
            invert(&mut component);
        }
        let length = term::length(&component)?;
        component.truncate(length);
        components.push(component);
        rest = &rest[length..];
    }
    rest.is_empty().then_some(components)
}

/// Inverts every byte, which turns the order round.
pub(crate) fn invert(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

fn is_nan(value: &Value) -> bool {
    term::class_of(value) == class::NUMBER && term::of(Some(value)) == NAN
}

/// The term of NaN, below those of all other numbers.
const NAN: [u8; 3] = [class::NUMBER, 0, 0];

fn between(lower: Bound<&Value>, upper: Bound<&Value>) -> Option<(Cut, Cut, bool)> {
    let value_of = |bound: Bound<&Value>| match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value.clone()),
        Bound::Unbounded => None,
    };
    let (low, high) = (value_of(lower), value_of(upper));
    let (first, last) = term::class_range(term::class_of(low.as_ref().or(high.as_ref())?));
    for value in [&low, &high].into_iter().flatten() {
        let ordered = !matches!(value, Value::Array(_) | Value::Object(_));
        if !ordered || is_nan(value) || term::class_range(term::class_of(value)) != (first, last) {
            return None;
        }
    }
    let precise = [&low, &high].into_iter().flatten().all(term::is_exact_value);
    let lower = match lower {
        Bound::Included(value) => Cut::Before(comparable(value)),
        Bound::Excluded(value) if term::is_exact_value(value) => Cut::Behind(comparable(value)),
        Bound::Excluded(value) => Cut::Before(comparable(value)),
        // No number is above or below NaN.
        Bound::Unbounded if first == class::NUMBER => Cut::Behind(NAN.to_vec()),
        Bound::Unbounded => Cut::Before(vec![first]),
    };
    let upper = match upper {
        Bound::Included(value) => Cut::Behind(comparable(value)),
        Bound::Excluded(value) if term::is_exact_value(value) => Cut::Before(comparable(value)),
        Bound::Excluded(value) => Cut::Behind(comparable(value)),
        Bound::Unbounded => Cut::Behind(vec![last]),
    };
    Some((lower, upper, precise))
}

/// Returns the part of a scalar's term whose order is exact: all of it, or what stands before the fingerprint.
fn comparable(value: &Value) -> Vec<u8> {
    if matches!(value, Value::Regex { .. }) && !term::is_exact_value(value) {
        // What comes behind a cut pattern is ordered by the options first.
        return vec![class::REGEX];
    }
    let mut term = term::of(Some(value));
    if !term::is_exact_value(value) {
        term.truncate(term.len() - term::FINGERPRINT_BYTES);
    }
    term
}

/// Returns how the terms of all strings with a beginning begin.
fn content(text: &str) -> Vec<u8> {
    let mut content = Vec::new();
    if text.len() > CUT {
        term::push_cut_content(text, &mut content);
    } else {
        key::encode_string(text, &mut content);
        // Without the mark of the end.
        content.truncate(content.len() - 2);
    }
    content
}

/// A place between keys: before or behind all that begin so.
#[derive(Debug, Clone)]
enum Cut {
    Before(Vec<u8>),
    Behind(Vec<u8>),
}

impl Cut {
    fn inverted(self) -> Cut {
        match self {
            Cut::Before(mut bytes) => {
                invert(&mut bytes);
                Cut::Behind(bytes)
            }
            Cut::Behind(mut bytes) => {
                invert(&mut bytes);
                Cut::Before(bytes)
            }
        }
    }

    fn behind(self, prefix: &[u8]) -> Cut {
        match self {
            Cut::Before(bytes) => Cut::Before([prefix, &bytes].concat()),
            Cut::Behind(bytes) => Cut::Behind([prefix, &bytes].concat()),
        }
    }

    /// Returns the smallest key that is not below the cut; nothing where every key is.
    fn key(self) -> Option<Bytes> {
        match self {
            Cut::Before(bytes) => Some(bytes.into()),
            Cut::Behind(mut bytes) => {
                let last = bytes.iter().rposition(|byte| *byte != 0xFF)?;
                bytes.truncate(last + 1);
                bytes[last] += 1;
                Some(bytes.into())
            }
        }
    }

    fn range(lower: Cut, upper: Cut) -> KeyRange {
        let Some(lower) = lower.key() else { return KeyRange::empty() };
        let upper = upper.key().map_or(Bound::Unbounded, Bound::Excluded);
        KeyRange { lower: Bound::Included(lower), upper }
    }
}
