//! Where an item differs from what it was.
//!
//! Texts are compared as what they say: white space, the order of members and the spelling of numbers are no difference.
//! What is equal byte for byte is not looked into. The work is bounded by the length of the texts, however they nest:
//! what is left over is one value.
//!
//! Not here: adding up (`changes`).

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};

use armilla_value::json::slice::{self, Member};

use crate::entity::SYSTEM;
use crate::limits::{
    COMPARED_DEPTH_MAX, COMPARED_PARTS_MAX, COMPARED_TIMES_MAX, ENTITY_PATHS_MAX, PATH_BYTES_MAX,
};

/// How what is at a path differs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// An array has more behind what it had.
    pub(crate) is_appended: bool,
    /// An array has fewer elements.
    pub(crate) is_shortened: bool,
    /// It differs in another way.
    pub(crate) is_other: bool,
}

impl Difference {
    const APPENDED: Difference = Difference { is_appended: true, is_shortened: false, is_other: false };
    const SHORTENED: Difference = Difference { is_appended: false, is_shortened: true, is_other: false };
    const OTHER: Difference = Difference { is_appended: false, is_shortened: false, is_other: true };

    fn merge(&mut self, other: Difference) {
        self.is_appended |= other.is_appended;
        self.is_shortened |= other.is_shortened;
        self.is_other |= other.is_other;
    }
}

/// The differences of an item from what it was.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub(crate) paths: BTreeMap<String, Difference>,
    /// Whether there are more of them than are told.
    pub(crate) has_more: bool,
    /// Bytes of the leaves that are other than before, or new, or gone.
    pub(crate) bytes: u64,
}

impl Differences {
    /// Tells whether an array was appended to and nothing else was done.
    pub(crate) fn is_append(&self) -> bool {
        self.is_alone() && self.paths.values().all(|difference| *difference == Difference::APPENDED)
    }

    /// Tells whether there is just one path.
    pub(crate) fn is_alone(&self) -> bool {
        self.paths.len() == 1 && !self.has_more
    }
}

/// Compares two items; `None` where one of them is none.
pub(crate) fn compare(before: &[u8], after: &[u8]) -> Option<Differences> {
    let bytes = before.len().saturating_add(after.len());
    let work = Work { left: Cell::new(bytes.saturating_mul(COMPARED_TIMES_MAX)) };
    let old = work.members(before.trim_ascii())?;
    let new = work.members(after.trim_ascii())?;
    let is_own = |member: &Member<'_>| !SYSTEM.iter().any(|name| member.is_named(name));
    let old: Vec<_> = old.into_iter().filter(is_own).collect();
    let new: Vec<_> = new.into_iter().filter(is_own).collect();
    let mut comparison = Comparison { found: Differences::default(), path: String::new(), work: &work };
    comparison.objects(&old, &new, 1);
    Some(comparison.found)
}

struct Comparison<'w> {
    found: Differences,
    path: String,
    work: &'w Work,
}

impl Comparison<'_> {
    fn objects(&mut self, old: &[Member<'_>], new: &[Member<'_>], depth: usize) {
        let work = self.work;
        let mut pairs = Pairs::new(old);
        for member in new {
            match pairs.partner(member) {
                Some(partner) => self.below(member, |own| own.values(partner.value, member.value, depth + 1)),
                None => self.below(member, |own| own.other(work.leaves(member.value, depth + 1))),
            }
        }
        for member in pairs.without_partner() {
            self.below(member, |own| own.other(work.leaves(member.value, depth + 1)));
        }
    }

    fn values(&mut self, before: &[u8], after: &[u8], depth: usize) {
        if before == after {
            return;
        }
        let work = self.work;
        if depth < COMPARED_DEPTH_MAX {
            if let (Some(old), Some(new)) = (work.members(before), work.members(after)) {
                return self.objects(&old, &new, depth);
            }
            if let (Some(old), Some(new)) = (work.elements(before), work.elements(after)) {
                return self.arrays(&old, &new, depth);
            }
        }
        if !work.is_same(before, after, depth) {
            self.other(work.leaves(after, depth));
        }
    }

    fn arrays(&mut self, old: &[&[u8]], new: &[&[u8]], depth: usize) {
        if old.len() == new.len() {
            return self.elements(old, new, depth);
        }
        let work = self.work;
        let shorter = old.len().min(new.len());
        let is_same = |one: &[u8], other: &[u8]| work.is_same(one, other, depth + 1);
        let front = (0..shorter).take_while(|at| is_same(old[*at], new[*at])).count();
        let is_same_from_back = |back: &usize| is_same(old[old.len() - 1 - back], new[new.len() - 1 - back]);
        let back = (0..shorter - front).take_while(is_same_from_back).count();
        let bytes = |parts: &[&[u8]]| parts.iter().map(|part| work.leaves(part, depth + 1)).sum::<u64>();
        let (gone, come) = (&old[front..old.len() - back], &new[front..new.len() - back]);
        if front == old.len() {
            self.tell(Difference::APPENDED, bytes(come));
        } else if new.len() < old.len() {
            self.tell(Difference::SHORTENED, bytes(come) + bytes(gone));
        } else if gone.is_empty() {
            // Put in before others, which moved and are the same.
            self.step("[]", |own| own.other(bytes(come)));
        } else {
            self.elements(old, new, depth);
        }
    }

    /// Compares elements one by one; there may be new ones behind.
    fn elements(&mut self, old: &[&[u8]], new: &[&[u8]], depth: usize) {
        let work = self.work;
        self.step("[]", |own| {
            for (before, after) in old.iter().zip(new) {
                own.values(before, after, depth + 1);
            }
            for added in new.iter().skip(old.len()) {
                own.other(work.leaves(added, depth + 1));
            }
        });
    }

    fn below(&mut self, member: &Member<'_>, compare: impl FnOnce(&mut Self)) {
        match slice::string(member.name) {
            Some(name) => self.step(&name, compare),
            None => self.step(&String::from_utf8_lossy(member.spelled_name()), compare),
        }
    }

    fn step(&mut self, name: &str, compare: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(name);
        compare(self);
        self.path.truncate(length);
    }

    fn other(&mut self, bytes: u64) {
        self.tell(Difference::OTHER, bytes);
    }

    fn tell(&mut self, difference: Difference, bytes: u64) {
        self.found.bytes += bytes;
        if let Some(known) = self.found.paths.get_mut(&self.path) {
            known.merge(difference);
        } else if self.found.paths.len() < ENTITY_PATHS_MAX && self.path.len() <= PATH_BYTES_MAX {
            self.found.paths.insert(self.path.clone(), difference);
        } else {
            self.found.has_more = true;
        }
    }
}

/// Finds the members of an object that have the names of others, which mostly come in the same order.
struct Pairs<'m, 't> {
    members: &'m [Member<'t>],
    has_partner: Vec<bool>,
    next: usize,
    /// Made when the order is another one.
    places: Option<HashMap<&'t [u8], usize>>,
}

impl<'m, 't> Pairs<'m, 't> {
    fn new(members: &'m [Member<'t>]) -> Pairs<'m, 't> {
        Pairs { members, has_partner: vec![false; members.len()], next: 0, places: None }
    }

    fn partner(&mut self, member: &Member<'_>) -> Option<&'m Member<'t>> {
        let members = self.members;
        let is_next = members.get(self.next).is_some_and(|next| next.name == member.name);
        let at = if is_next {
            self.next
        } else {
            let places = self.places.get_or_insert_with(|| {
                members.iter().enumerate().map(|(at, member)| (member.name, at)).collect()
            });
            *places.get(member.name)?
        };
        self.next = at + 1;
        self.has_partner[at] = true;
        Some(&members[at])
    }

    fn without_partner(&self) -> impl Iterator<Item = &'m Member<'t>> {
        self.members.iter().zip(&self.has_partner).filter(|(_, has)| !**has).map(|(member, _)| member)
    }
}

/// How many bytes may still be cut into parts.
struct Work {
    left: Cell<usize>,
}

impl Work {
    /// Tells whether a text may be cut.
    fn allows(&self, text: &[u8], bracket: u8) -> bool {
        let left = self.left.get();
        let is_allowed = text.first() == Some(&bracket) && text.len() <= left;
        if is_allowed {
            self.left.set(left - text.len());
        }
        is_allowed
    }

    fn members<'t>(&self, text: &'t [u8]) -> Option<Vec<Member<'t>>> {
        if self.allows(text, b'{') { all(slice::members(text).ok()?) } else { None }
    }

    fn elements<'t>(&self, text: &'t [u8]) -> Option<Vec<&'t [u8]>> {
        if self.allows(text, b'[') { all(slice::elements(text).ok()?) } else { None }
    }

    /// Tells whether two values say the same.
    fn is_same(&self, one: &[u8], other: &[u8], depth: usize) -> bool {
        if one == other {
            return true;
        }
        let (Some(first), Some(other_first)) = (one.first(), other.first()) else { return false };
        match (first, other_first) {
            (b'"', b'"') => match (slice::string(one), slice::string(other)) {
                (Some(one), Some(other)) => one == other,
                _ => false,
            },
            (b'-' | b'0'..=b'9', b'-' | b'0'..=b'9') => is_same_number(one, other),
            _ if depth >= COMPARED_DEPTH_MAX => false,
            (b'[', b'[') => match (self.elements(one), self.elements(other)) {
                (Some(one), Some(other)) => {
                    let mut pairs = one.iter().zip(&other);
                    one.len() == other.len() && pairs.all(|(one, other)| self.is_same(one, other, depth + 1))
                }
                _ => false,
            },
            (b'{', b'{') => match (self.members(one), self.members(other)) {
                (Some(one), Some(other)) => {
                    let mut pairs = Pairs::new(&one);
                    one.len() == other.len()
                        && other.iter().all(|member| {
                            let partner = pairs.partner(member);
                            partner.is_some_and(|own| self.is_same(own.value, member.value, depth + 1))
                        })
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns the bytes of the scalars in a value; empty objects and arrays count as such.
    fn leaves(&self, value: &[u8], depth: usize) -> u64 {
        let mut sum = 0;
        if depth < COMPARED_DEPTH_MAX {
            for member in self.members(value).into_iter().flatten() {
                sum += self.leaves(member.value, depth + 1);
            }
            for element in self.elements(value).into_iter().flatten() {
                sum += self.leaves(element, depth + 1);
            }
        }
        if sum == 0 { value.len() as u64 } else { sum }
    }
}

/// Collects parts if there are not too many, and the text could be cut to its end.
fn all<T, E>(mut parts: impl Iterator<Item = Result<T, E>>) -> Option<Vec<T>> {
    let all: Vec<T> = parts.by_ref().take(COMPARED_PARTS_MAX).collect::<Result<_, _>>().ok()?;
    parts.next().is_none().then_some(all)
}

fn is_same_number(one: &[u8], other: &[u8]) -> bool {
    let (Ok(one), Ok(other)) = (std::str::from_utf8(one), std::str::from_utf8(other)) else { return false };
    match (one.parse::<i64>(), other.parse::<i64>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests;
