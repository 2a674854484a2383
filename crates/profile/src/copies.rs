//! Values of an item that are repeated in others, beside its id: `{"author": {"id": "7", "name": "Ann"}}`, or
//! `{"userId": "7", "userName": "Ann"}`.
//!
//! Of the items with the lowest hashes of their ids the small members are known, as hashes. An object in which a member
//! is such an id is compared with the item: what is equal in most of them, by the name of a member or by so many
//! different values that it is no chance, is a copy.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::hash;
use crate::limits::{COMPARED_MAX, COMPARED_MIN};
use crate::names::is_prefixed;
use crate::path::push_name;
use crate::profile::Profile;
use crate::sketches::{Card, Sketches};

/// Part of the objects in which a member of the same name must be equal: some copies may be out of step.
const EMBEDDED_SHARE_MIN: f64 = 0.5;

/// Part of the items in which a member beside a reference must be equal.
const FLAT_SHARE_MIN: f64 = 0.8;

/// The same where names have nothing in common, and how many comparisons that takes.
const UNNAMED_SHARE_MIN: f64 = 0.9;
const UNNAMED_COMPARED_MIN: u64 = 10;

/// How likely two of the values may be equal by chance: embedded, beside a reference, and without a common name.
const EMBEDDED_CHANCE_MAX: f64 = 0.9;
const FLAT_CHANCE_MAX: f64 = 0.5;
const UNNAMED_CHANCE_MAX: f64 = 0.2;

/// Values of items that are repeated in others.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Where the copies are: the container, by its place among those that were given, the sort of items, and the path of
    /// the object, or, where the copies stand beside a reference, the path of the reference.
    pub host: (usize, String, String),
    /// What is repeated: the container and the sort of items.
    pub source: (usize, String),
    /// The path whose value is the id of the item that is repeated.
    pub reference: String,
    /// The names of the members that are copies, in their order.
    pub members: Vec<String>,
    /// The names that those members have in the item itself, in the order of `members`.
    pub originals: Vec<String>,
    /// Items with copies that were compared with their source, of which [`COMPARED_MAX`] copies are looked at.
    pub items: u64,
    /// Part of the copies that were equal to their source in all of these members.
    pub in_step: f64,
}

/// Finds values that are repeated in other items, in the order of where they are. Containers are given with their names.
///
/// Where two containers hold the same items, the copies are taken to be in the one that has fewer of them, or comes
/// later.
pub fn copies(containers: &[(&str, &Profile, &Sketches)]) -> Vec<Copy> {
    let sources = Sources::of(containers);
    let mut found = Vec::new();
    for (container, (_, _, sketches)) in containers.iter().enumerate() {
        for (sort, entity) in &sketches.entities {
            let group =
                |path: &str, objects| Group { container, sort: sort.clone(), path: path.to_owned(), objects };
            let cards = entity.cards.iter().filter(|card| !card.is_ambiguous);
            let items = cards.map(|card| Occurrence { item: card.id, members: &card.members });
            found.extend(sources.copies_in(&group("", items.collect())));
            for (path, objects) in &entity.objects {
                let objects =
                    objects.iter().map(|object| Occurrence { item: object.item, members: &object.members });
                found.extend(sources.copies_in(&group(path, objects.collect())));
            }
        }
    }
    without_mirrored(found, containers)
}

/// An object that may repeat values: an item, or what is in it.
#[derive(Debug, Clone, Copy)]
struct Occurrence<'s> {
    item: u64,
    members: &'s [(u64, u64)],
}

/// The objects at a path of one sort of items; the items themselves are at the empty path.
struct Group<'s> {
    container: usize,
    sort: String,
    path: String,
    objects: Vec<Occurrence<'s>>,
}

impl Group<'_> {
    fn is_root(&self) -> bool {
        self.path.is_empty()
    }
}

/// One sort of items whose values may be repeated.
struct Source<'s> {
    container: usize,
    sort: &'s str,
}

/// What may be repeated.
struct Sources<'s> {
    containers: &'s [(&'s str, &'s Profile, &'s Sketches)],
    sources: Vec<Source<'s>>,
    /// Items by the hashes of their ids, with the place of their sort.
    cards: HashMap<u64, Vec<(usize, &'s Card)>>,
    /// Hashes of the names of members that are a partition key, by container.
    keys: Vec<Vec<u64>>,
}

/// An object with what it refers to.
type Match<'s> = (Occurrence<'s>, &'s Card);

/// A member and the one that it repeats, as hashes of names.
#[derive(Debug, Clone, Copy)]
struct Pair {
    member: u64,
    original: u64,
    relation: Relation,
}

/// What the names of a member and of the one that it repeats have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    None,
    /// One is the other with something before it.
    Prefixed,
    Same,
}

/// A member that refers to a sort of items, and what else is repeated of them.
struct Candidate {
    reference: u64,
    source: usize,
    pairs: Vec<Pair>,
    items: u64,
    in_step: f64,
}

impl<'s> Sources<'s> {
    fn of(containers: &'s [(&'s str, &'s Profile, &'s Sketches)]) -> Sources<'s> {
        let mut sources = Vec::new();
        let mut cards: HashMap<u64, Vec<(usize, &Card)>> = HashMap::new();
        for (container, (_, _, sketches)) in containers.iter().enumerate() {
            for (sort, entity) in &sketches.entities {
                for card in entity.cards.iter().filter(|card| !card.is_ambiguous) {
                    cards.entry(card.id).or_default().push((sources.len(), card));
                }
                sources.push(Source { container, sort });
            }
        }
        let key_names = |sketches: &Sketches| {
            let names = sketches.key_paths.iter().filter_map(|path| path.strip_prefix('/'));
            names.map(|name| hash::of_bytes(name.as_bytes())).collect()
        };
        let keys = containers.iter().map(|(_, _, sketches)| key_names(sketches)).collect();
        Sources { containers, sources, cards, keys }
    }

    fn name_of(&self, container: usize, name: u64) -> &'s str {
        self.containers[container].2.names.get(&name).map_or("", String::as_str)
    }

    /// Finds the copies among the objects at a path.
    fn copies_in(&self, group: &Group<'s>) -> Vec<Copy> {
        let mut candidates: Vec<Candidate> = self
            .matches(group)
            .into_iter()
            .filter(|(_, matched)| matched.len() >= COMPARED_MIN)
            .filter_map(|((reference, source), matched)| self.candidate(group, reference, source, &matched))
            .collect();
        candidates.sort_by(|one, other| {
            let order = |candidate: &Candidate| (candidate.pairs.len(), candidate.items);
            let name = |candidate: &Candidate| self.name_of(group.container, candidate.reference);
            order(other).cmp(&order(one)).then_with(|| name(one).cmp(name(other)))
        });
        let mut told: BTreeSet<(usize, u64)> = BTreeSet::new();
        let mut found = Vec::new();
        for candidate in candidates {
            // What follows another reference to the same items is a copy once.
            let new = candidate.pairs.iter().map(|pair| told.insert((candidate.source, pair.member)));
            if new.fold(false, |any, is_new| any | is_new) {
                found.push(self.told(group, candidate));
            }
        }
        found.sort_by(|one, other| (&one.reference, &one.source).cmp(&(&other.reference, &other.source)));
        found
    }

    /// Finds for each member what its values are ids of.
    fn matches(&self, group: &Group<'s>) -> BTreeMap<(u64, usize), Vec<Match<'s>>> {
        let id_name = hash::of_bytes(b"id");
        let mut matches: BTreeMap<(u64, usize), Vec<Match<'s>>> = BTreeMap::new();
        for object in &group.objects {
            for (name, value) in object.members {
                for (source, card) in self.cards.get(value).map_or(&[][..], Vec::as_slice) {
                    let its = &self.sources[*source];
                    let is_within = its.container == group.container;
                    let is_itself = is_within && its.sort == group.sort && card.id == object.item;
                    // Items of two sorts may have one id without having anything to do with each other.
                    let is_own_id = group.is_root() && *name == id_name && is_within;
                    if is_itself || is_own_id {
                        continue;
                    }
                    let matched = matches.entry((*name, *source)).or_default();
                    if matched.len() < COMPARED_MAX {
                        matched.push((*object, *card));
                    }
                }
            }
        }
        matches
    }

    /// Compares objects with what a member of them refers to.
    fn candidate(
        &self,
        group: &Group<'s>,
        reference: u64,
        source: usize,
        matched: &[Match<'s>],
    ) -> Option<Candidate> {
        let pairs = self.pairs(group, reference, source, matched);
        let mut items = BTreeSet::new();
        let (mut compared, mut equal) = (0_u64, 0_u64);
        for (object, card) in matched {
            let both = pairs.iter().filter_map(|pair| values(pair, object, card));
            let (mut is_compared, mut is_equal) = (false, true);
            for (copy, original) in both {
                is_compared = true;
                is_equal &= copy == original;
            }
            if is_compared {
                items.insert(object.item);
                compared += 1;
                equal += u64::from(is_equal);
            }
        }
        (compared > 0).then(|| Candidate {
            reference,
            source,
            pairs,
            items: items.len() as u64,
            in_step: equal as f64 / compared as f64,
        })
    }

    /// Finds the members that repeat one of the item that is referred to: for each the one that fits best.
    fn pairs(&self, group: &Group<'s>, reference: u64, source: usize, matched: &[Match<'s>]) -> Vec<Pair> {
        let its_container = self.sources[source].container;
        let id_name = hash::of_bytes(b"id");
        let mut equal: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for (object, card) in matched {
            // A member that is the id as well is another reference.
            let members =
                object.members.iter().filter(|(name, value)| *name != reference && *value != card.id);
            for (member, value) in members {
                let originals = card.members.iter().filter(|(name, its)| its == value && *name != id_name);
                for (original, _) in originals {
                    *equal.entry((*member, *original)).or_insert(0) += 1;
                }
            }
        }
        let mut best: BTreeMap<u64, (Relation, u64, Pair)> = BTreeMap::new();
        for ((member, original), equal) in equal {
            let is_key = group.is_root() && self.keys[group.container].contains(&member);
            let is_its_key = member == original && self.keys[its_container].contains(&original);
            if is_key || is_its_key || equal < COMPARED_MIN as u64 {
                continue;
            }
            let relation = self.relation(group.container, member, its_container, original);
            let pair = Pair { member, original, relation };
            if !is_copy(&pair, group.is_root(), equal, matched) {
                continue;
            }
            let is_better = best.get(&member).is_none_or(|(known_relation, known_equal, _)| {
                (relation, equal) > (*known_relation, *known_equal)
            });
            if is_better {
                best.insert(member, (relation, equal, pair));
            }
        }
        best.into_values().map(|(_, _, pair)| pair).collect()
    }

    fn relation(&self, container: usize, member: u64, its_container: usize, original: u64) -> Relation {
        if member == original {
            return Relation::Same;
        }
        let (name, its) = (self.name_of(container, member), self.name_of(its_container, original));
        if is_prefixed(name, its) { Relation::Prefixed } else { Relation::None }
    }

    fn told(&self, group: &Group<'s>, candidate: Candidate) -> Copy {
        let source = &self.sources[candidate.source];
        let mut reference = group.path.clone();
        push_name(&mut reference, self.name_of(group.container, candidate.reference));
        let is_embedded =
            !group.is_root() && candidate.pairs.iter().all(|pair| pair.relation == Relation::Same);
        let mut names: Vec<(&str, &str)> = candidate
            .pairs
            .iter()
            .map(|pair| {
                (self.name_of(group.container, pair.member), self.name_of(source.container, pair.original))
            })
            .collect();
        names.sort_unstable();
        Copy {
            host: (
                group.container,
                group.sort.clone(),
                if is_embedded { group.path.clone() } else { reference.clone() },
            ),
            source: (source.container, source.sort.to_owned()),
            reference,
            members: names.iter().map(|(member, _)| (*member).to_owned()).collect(),
            originals: names.iter().map(|(_, original)| (*original).to_owned()).collect(),
            items: candidate.items,
            in_step: candidate.in_step,
        }
    }
}

/// Says whether so many equal values are a copy: most of those that were compared, and more than chance would have it.
fn is_copy(pair: &Pair, is_root: bool, equal: u64, matched: &[Match<'_>]) -> bool {
    let mut compared = 0_u64;
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for (copy, _) in matched.iter().filter_map(|(object, card)| values(pair, object, card)) {
        compared += 1;
        *counts.entry(copy).or_insert(0) += 1;
    }
    let part = |count: u64| count as f64 / compared.max(1) as f64;
    let chance: f64 = counts.values().map(|count| part(*count) * part(*count)).sum();
    let (share_min, chance_max) = match pair.relation {
        Relation::Same if !is_root => (EMBEDDED_SHARE_MIN, EMBEDDED_CHANCE_MAX),
        Relation::Same | Relation::Prefixed => (FLAT_SHARE_MIN, FLAT_CHANCE_MAX),
        Relation::None if compared < UNNAMED_COMPARED_MIN => return false,
        Relation::None => (UNNAMED_SHARE_MIN, UNNAMED_CHANCE_MAX),
    };
    part(equal) > share_min && chance <= chance_max
}

/// The hashes of a copy and of what it repeats, where both are there.
fn values(pair: &Pair, object: &Occurrence<'_>, card: &Card) -> Option<(u64, u64)> {
    Some((value_of(object.members, pair.member)?, value_of(&card.members, pair.original)?))
}

fn value_of(members: &[(u64, u64)], name: u64) -> Option<u64> {
    let place = members.binary_search_by_key(&name, |(own, _)| *own).ok()?;
    Some(members[place].1)
}

/// Leaves out of two containers with the same items the copies that are the other's source.
fn without_mirrored(found: Vec<Copy>, containers: &[(&str, &Profile, &Sketches)]) -> Vec<Copy> {
    let items = |container: usize, sort: &str| {
        containers[container].1.entities.get(sort).map_or(0, |entity| entity.items)
    };
    let rank = |container: usize, sort: &str| (items(container, sort), std::cmp::Reverse(container));
    let is_whole = |copy: &Copy| copy.reference == "/id" && copy.host.2 == copy.reference;
    let is_mirrored = |copy: &Copy| {
        let is_other = |other: &Copy| {
            is_whole(other)
                && (other.host.0, &other.host.1) == (copy.source.0, &copy.source.1)
                && (other.source.0, &other.source.1) == (copy.host.0, &copy.host.1)
        };
        is_whole(copy)
            && rank(copy.host.0, &copy.host.1) > rank(copy.source.0, &copy.source.1)
            && found.iter().any(is_other)
    };
    let is_left_out: Vec<bool> = found.iter().map(is_mirrored).collect();
    let pairs = found.into_iter().zip(is_left_out);
    pairs.filter(|(_, is_left_out)| !is_left_out).map(|(copy, _)| copy).collect()
}

#[cfg(test)]
mod tests;
