//! What tells the sorts of items apart: a member that says it, and how many kinds of members there are.
//!
//! A member says the sort of an item if it has a usual name, or if the items of one value are more alike in which
//! members they have than items of different values are. Items are walked through twice, by cutting their texts alone.

use std::collections::{BTreeMap, BTreeSet};

use armilla_value::json::slice;

use crate::hash;
use crate::limits::{
    ENTITIES_MAX, FIELD_VALUE_BYTES_MAX, FIELDS_COMPARED, FIELDS_MAX, NAME_BYTES_MAX, SHAPE_MEMBERS_MAX,
    SHAPES_MAX, SORTS_MAX,
};

/// Names that a member has which says the sort of an item, letter case aside; the first has precedence.
const USUAL_NAMES: [&str; 8] =
    ["type", "_type", "kind", "doctype", "entitytype", "$type", "discriminator", "label"];

/// Part of all items that must have a member of a usual name.
const USUAL_PRESENCE: f64 = 0.5;

/// Part of all items that must have another.
const OTHER_PRESENCE: f64 = 0.9;

/// How much farther apart, on a scale to 1, items of different values must be than items of one. A member that only
/// brings one other with it, as a state may, stays below.
const APART_MIN: f64 = 0.25;

/// Kinds of members are one if they share this part of all of theirs.
const OVERLAP_MIN: f64 = 0.5;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The name of the member that says the sort of an item.
    pub(crate) discriminator: Option<String>,
    /// How many kinds of sets of members there are.
    pub(crate) sorts: usize,
}

/// Looks at the texts of items, written without white space and each name always spelled alike.
pub(crate) fn look<'t>(texts: impl Iterator<Item = &'t [u8]> + Clone) -> Found {
    let mut shapes = Shapes::default();
    let mut fields: BTreeMap<u64, Field> = BTreeMap::new();
    let mut places = Vec::new();
    for text in texts.clone() {
        places.push(shapes.place(text));
        for (name, token, value) in texts_of(text) {
            if fields.len() < FIELDS_MAX || fields.contains_key(&name) {
                let field = fields.entry(name).or_insert_with(|| Field::of(token));
                field.add(value);
            }
        }
    }
    let items = places.len() as u64;
    let mut fields: Vec<(u64, Field)> =
        fields.into_iter().filter(|(_, field)| field.may_tell(items)).collect();
    fields.sort_by(|(_, one), (_, other)| one.order().cmp(&other.order()));
    fields.truncate(FIELDS_COMPARED);

    let counts = count(texts.zip(&places), &fields);
    let mut best: Option<(Merit, &Field)> = None;
    for ((_, field), by_value) in fields.iter().zip(&counts) {
        let apart = shapes.apart(by_value);
        let Some(merit) = field.merit(items, apart) else { continue };
        if best.as_ref().is_none_or(|(known, _)| merit.is_above(known)) {
            best = Some((merit, field));
        }
    }
    Found { discriminator: best.map(|(_, field)| field.name.clone()), sorts: shapes.sorts() }
}

/// How items with a value are spread over the sets of members.
type ByShape = BTreeMap<u16, u64>;

/// Counts for each field and each of its values which sets of members the items have.
fn count<'t, 'p>(
    items: impl Iterator<Item = (&'t [u8], &'p Option<u16>)>,
    fields: &[(u64, Field)],
) -> Vec<Vec<ByShape>> {
    let values: Vec<Vec<u64>> =
        fields.iter().map(|(_, field)| field.values.iter().copied().collect()).collect();
    let mut counts: Vec<Vec<ByShape>> =
        values.iter().map(|values| vec![ByShape::new(); values.len()]).collect();
    for (text, shape) in items {
        let Some(shape) = shape else { continue };
        for (name, _, value) in texts_of(text) {
            let Some(field) = fields.iter().position(|(own, _)| *own == name) else { continue };
            if let Ok(place) = values[field].binary_search(&hash::of_bytes(value)) {
                *counts[field][place].entry(*shape).or_insert(0) += 1;
            }
        }
    }
    counts
}

/// The members of an item that are texts: hash of the name, name and value as they are spelled, with their quotes.
fn texts_of(text: &[u8]) -> impl Iterator<Item = (u64, &[u8], &[u8])> {
    let members = slice::members(text).into_iter().flatten().map_while(Result::ok);
    members
        .filter(|member| member.value.first() == Some(&b'"'))
        .map(|member| (hash::of_bytes(member.name), member.name, member.value))
}

/// A member that may say the sort of an item.
#[derive(Debug)]
struct Field {
    name: String,
    /// Items in which it is a text.
    items: u64,
    /// Hashes of its values; one more than there may be if there are more.
    values: BTreeSet<u64>,
    /// Whether it has a value that says no sort, or a name that cannot be told.
    is_out: bool,
}

impl Field {
    fn of(token: &[u8]) -> Field {
        let name = slice::string(token).filter(|name| name.len() <= NAME_BYTES_MAX);
        let is_out = name.is_none();
        Field { name: name.unwrap_or_default().into_owned(), items: 0, values: BTreeSet::new(), is_out }
    }

    fn add(&mut self, value: &[u8]) {
        self.items += 1;
        self.is_out |= value.len() > FIELD_VALUE_BYTES_MAX + 2;
        if !self.is_out && self.values.len() <= ENTITIES_MAX {
            self.values.insert(hash::of_bytes(value));
        }
    }

    /// Its place among the usual names.
    fn usual(&self) -> Option<usize> {
        USUAL_NAMES.iter().position(|usual| self.name.eq_ignore_ascii_case(usual))
    }

    /// Says whether it is worth a comparison.
    fn may_tell(&self, items: u64) -> bool {
        let values = self.values.len() as u64;
        // A value for each item says nothing of what they have in common, unless they are very few.
        let (presence, values_min, values_max) = match self.usual() {
            Some(_) => (USUAL_PRESENCE, 1, (self.items / 2).max(4)),
            None => (OTHER_PRESENCE, 2, self.items / 2),
        };
        !self.is_out
            && self.items as f64 > presence * items as f64
            && values >= values_min
            && values <= values_max.min(ENTITIES_MAX as u64)
    }

    /// Usual names first, then those with the fewest values.
    fn order(&self) -> (bool, usize, &str) {
        (self.usual().is_none(), self.values.len(), &self.name)
    }

    /// How well it tells sorts apart; none if it does not.
    fn merit(&self, items: u64, apart: f64) -> Option<Merit> {
        let is_apart = apart > APART_MIN && self.items as f64 > OTHER_PRESENCE * items as f64;
        match self.usual() {
            Some(place) => Some(Merit { rank: (true, is_apart, USUAL_NAMES.len() - place), apart: 0.0 }),
            None => is_apart.then_some(Merit { rank: (false, true, 0), apart }),
        }
    }
}

/// How well a member tells sorts apart. Of equal ones the first is taken, which has the fewest values.
#[derive(Debug)]
struct Merit {
    /// Whether its name is a usual one, whether its values part the items, and how usual the name is.
    rank: (bool, bool, usize),
    apart: f64,
}

impl Merit {
    fn is_above(&self, other: &Merit) -> bool {
        // Two members of which each follows from the other are as far apart but for rounding.
        const ROUNDING: f64 = 1e-9;
        self.rank > other.rank || (self.rank == other.rank && self.apart > other.apart + ROUNDING)
    }
}

/// The different sets of members that items have.
#[derive(Debug, Default)]
struct Shapes {
    places: BTreeMap<u64, u16>,
    shapes: Vec<Shape>,
}

#[derive(Debug)]
struct Shape {
    /// Hashes of names, in their order.
    names: Vec<u64>,
    items: u64,
}

impl Shapes {
    /// Finds the set of members of an item; none if there are too many sets.
    fn place(&mut self, text: &[u8]) -> Option<u16> {
        let members = slice::members(text).into_iter().flatten().map_while(Result::ok);
        let mut names: Vec<u64> =
            members.take(SHAPE_MEMBERS_MAX).map(|member| hash::of_bytes(member.name)).collect();
        names.sort_unstable();
        let key = names.iter().fold(0, |key, name| hash::mix(key, *name));
        if let Some(place) = self.places.get(&key) {
            self.shapes[usize::from(*place)].items += 1;
            return Some(*place);
        }
        let place = u16::try_from(self.shapes.len()).ok().filter(|place| usize::from(*place) < SHAPES_MAX)?;
        self.places.insert(key, place);
        self.shapes.push(Shape { names, items: 1 });
        Some(place)
    }

    /// How many kinds of sets there are: the most frequent set is one, and each that overlaps none of those before.
    fn sorts(&self) -> usize {
        let mut shapes: Vec<&Shape> = self.shapes.iter().collect();
        shapes.sort_by(|one, other| other.items.cmp(&one.items).then_with(|| one.names.cmp(&other.names)));
        let mut kinds: Vec<&Shape> = Vec::new();
        for shape in shapes {
            let is_known = kinds.iter().any(|kind| overlap(&kind.names, &shape.names) >= OVERLAP_MIN);
            if !is_known && kinds.len() < SORTS_MAX {
                kinds.push(shape);
            }
        }
        kinds.len()
    }

    /// How much farther apart items of different values are than items of one: the difference of the parts of all their
    /// members that two of them do not share, as it is to be expected.
    ///
    /// Everything follows from how many items of a value have a member. Sums over all pairs of values are taken member
    /// by member: the products of all pairs are half of the square of the sum less the sum of the squares.
    fn apart(&self, by_value: &[ByShape]) -> f64 {
        let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        let (mut shared_within, mut all_within) = (0.0, 0.0);
        let mut values = 0.0;
        for by_shape in by_value {
            let items: u64 = by_shape.values().sum();
            if items == 0 {
                continue;
            }
            values += 1.0;
            let mut having: BTreeMap<u64, u64> = BTreeMap::new();
            for (shape, count) in by_shape {
                for name in &self.shapes[usize::from(*shape)].names {
                    *having.entry(*name).or_insert(0) += count;
                }
            }
            for (name, count) in having {
                let part = count as f64 / items as f64;
                let (sum, squares) = sums.entry(name).or_insert((0.0, 0.0));
                *sum += part;
                *squares += part * part;
                if items > 1 {
                    // Two different items of the value, not one taken twice.
                    let both = part * (count - 1) as f64 / (items - 1) as f64;
                    shared_within += both;
                    all_within += 2.0 * part - both;
                }
            }
        }
        let (mut shared, mut all) = (0.0, 0.0);
        for (sum, squares) in sums.values() {
            let both = (sum * sum - squares) / 2.0;
            shared += both;
            all += (values - 1.0) * sum - both;
        }
        let distance = |shared: f64, all: f64| if all > 0.0 { 1.0 - shared / all } else { 0.0 };
        distance(shared, all) - distance(shared_within, all_within)
    }
}

/// The part of all members of two sets that both have.
fn overlap(one: &[u64], other: &[u64]) -> f64 {
    if one.is_empty() && other.is_empty() {
        return 1.0;
    }
    let (mut left, mut right, mut shared) = (0, 0, 0_usize);
    while let (Some(own), Some(its)) = (one.get(left), other.get(right)) {
        shared += usize::from(own == its);
        left += usize::from(own <= its);
        right += usize::from(its <= own);
    }
    shared as f64 / (one.len() + other.len() - shared) as f64
}

#[cfg(test)]
mod tests;
