//! Paths whose values are ids of other items, or values of a path that is different in each of them.
//!
//! Of a path and of what it may refer to, the values with the lowest hashes are known. Where both are known up to some
//! hash, the part of the one's values that is among the other's is the part of all of them.
//!
//! What is found by values alone may be chance where ids are small numbers: then every path with small numbers has its
//! values among all ids. Names decide there ([`affinity`]).

use std::collections::BTreeMap;

use crate::limits::{
    REFERENCE_SHARE_MIN, REFERENCE_TARGETS_MAX, REFERENCE_VALUES_MIN, TARGET_HASHES_MAX, UNIQUE_PATHS_MAX,
};
use crate::names::{Affinity, affinity, ends_alike};
use crate::profile::{Entity, PathProfile, Profile};
use crate::sketches::{PathSketch, Sketches};

/// Where the id of an item is.
const ID_PATH: &str = "/id";

/// A path whose values are found at another.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The container, by its place among those that were given, the sort of items and the path.
    pub from: (usize, String, String),
    /// What it refers to: the same of the target.
    pub to: (usize, String, String),
    /// Part of the different values that is found there.
    pub share: f64,
    /// Different values of the path.
    pub values: u64,
    /// Whether not all items of the target's container were looked at: then the true share is higher.
    pub is_estimate: bool,
}

/// Finds the paths that refer to items, in the order of containers, sorts and paths; for each path the best target is
/// the first. Containers are given with their names.
///
/// An id refers to nothing, and neither does a path that repeats the id of its own item.
pub fn references(containers: &[(&str, &Profile, &Sketches)]) -> Vec<Reference> {
    let targets = Targets::of(containers);
    let mut found = Vec::new();
    for (container, (_, profile, sketches)) in containers.iter().enumerate() {
        for (sort, entity) in &sketches.entities {
            let Some(told) = profile.entities.get(sort) else { continue };
            for (path, sketch) in &entity.paths {
                let Some(profile) = told.paths.get(path) else { continue };
                let source = Source { container, sort, path, profile, sketch };
                if source.may_refer() {
                    found.extend(targets.of_source(&source, containers));
                }
            }
        }
    }
    found
}

/// A path that may refer to something.
struct Source<'s> {
    container: usize,
    sort: &'s str,
    path: &'s str,
    profile: &'s PathProfile,
    sketch: &'s PathSketch,
}

impl Source<'_> {
    fn may_refer(&self) -> bool {
        self.path != ID_PATH
            && self.sketch.hashes.len() >= REFERENCE_VALUES_MIN
            && !self.sketch.is_own_id(self.profile.texts)
    }

    fn values(&self) -> u64 {
        let known = self.sketch.hashes.len() as u64;
        if self.sketch.is_complete() { known } else { self.profile.distinct.max(known) }
    }
}

/// A path that others may refer to.
struct Target<'s> {
    container: usize,
    sort: &'s str,
    path: &'s str,
    sketch: &'s PathSketch,
    /// Whether its container has items of this sort alone, so that the container's name is theirs.
    is_only_sort: bool,
}

struct Targets<'s> {
    targets: Vec<Target<'s>>,
    /// Each hash with the target that has it, in order.
    hashes: Vec<(u64, u32)>,
}

impl<'s> Targets<'s> {
    /// Collects ids, then other paths with a value of its own in each item, as far as there is room.
    fn of(containers: &[(&'s str, &'s Profile, &'s Sketches)]) -> Targets<'s> {
        let mut targets = Vec::new();
        let mut others = Vec::new();
        for (container, (_, profile, sketches)) in containers.iter().enumerate() {
            let is_only_sort = sketches.entities.len() == 1;
            for (sort, entity) in &sketches.entities {
                let Some(told) = profile.entities.get(sort) else { continue };
                let target = |(path, sketch): (&'s String, &'s PathSketch)| Target {
                    container,
                    sort,
                    path,
                    sketch,
                    is_only_sort,
                };
                targets.extend(entity.paths.get_key_value(ID_PATH).map(target));
                let unique = entity.paths.iter().filter(|(path, sketch)| is_key_of(told, path, sketch));
                others.extend(unique.take(UNIQUE_PATHS_MAX).map(target));
            }
        }
        targets.extend(others);
        let mut room = TARGET_HASHES_MAX;
        targets.retain(|target| {
            let fits = target.sketch.hashes.len() <= room;
            room -= if fits { target.sketch.hashes.len() } else { 0 };
            fits
        });
        let mut hashes: Vec<(u64, u32)> = Vec::with_capacity(TARGET_HASHES_MAX - room);
        for (number, target) in targets.iter().enumerate() {
            hashes.extend(target.sketch.hashes.iter().map(|hash| (*hash, number as u32)));
        }
        hashes.sort_unstable();
        Targets { targets, hashes }
    }

    /// Finds what a path refers to, the best first.
    fn of_source(
        &self,
        source: &Source<'_>,
        containers: &[(&str, &Profile, &Sketches)],
    ) -> impl Iterator<Item = Reference> {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for hash in &source.sketch.hashes {
            let start = self.hashes.partition_point(|(known, _)| known < hash);
            for (_, target) in self.hashes[start..].iter().take_while(|(known, _)| known == hash) {
                *counts.entry(*target).or_insert(0) += 1;
            }
        }
        let mut found: Vec<(Affinity, bool, Reference)> = Vec::new();
        for (number, count) in counts {
            let target = &self.targets[number as usize];
            let (name, profile, sketches) = containers[target.container];
            let known = source.sketch.hashes.partition_point(|hash| *hash <= target.sketch.below);
            let share = count as f64 / known.max(1) as f64;
            if known < REFERENCE_VALUES_MIN || share < REFERENCE_SHARE_MIN {
                continue;
            }
            let is_id = target.path == ID_PATH;
            let told = profile.entities.get(target.sort).and_then(|entity| entity.paths.get(target.path));
            if !is_id && told.is_none_or(|told| !source.may_refer_to_unique(target, told)) {
                continue;
            }
            let container_affinity =
                if target.is_only_sort { affinity(source.path, name) } else { Affinity::None };
            let affinity = affinity(source.path, target.sort).max(container_affinity);
            let reference = Reference {
                from: (source.container, source.sort.to_owned(), source.path.to_owned()),
                to: (target.container, target.sort.to_owned(), target.path.to_owned()),
                share,
                values: source.values(),
                is_estimate: !sketches.is_whole,
            };
            found.push((affinity, is_id, reference));
        }
        found.sort_by(|(one_affinity, one_is_id, one), (other_affinity, other_is_id, other)| {
            let is_near = |reference: &Reference| reference.to.0 == reference.from.0;
            other_affinity
                .cmp(one_affinity)
                .then_with(|| other.share.total_cmp(&one.share))
                .then_with(|| other_is_id.cmp(one_is_id))
                .then_with(|| is_near(other).cmp(&is_near(one)))
                .then_with(|| one.to.cmp(&other.to))
        });
        // Where a name says what is meant, what others have in common with it is chance.
        let best = found.first().map_or(Affinity::None, |(affinity, _, _)| *affinity);
        found.retain(|(affinity, _, _)| best == Affinity::None || *affinity > Affinity::None);
        found.into_iter().map(|(_, _, reference)| reference).take(REFERENCE_TARGETS_MAX)
    }
}

impl Source<'_> {
    /// Says whether values that are found at a path other than an id may refer to its items. Two paths with a value of
    /// its own in each item that have one name are copies of each other; numbers are found among other numbers by
    /// chance, if the names do not speak against it.
    fn may_refer_to_unique(&self, target: &Target<'_>, told: &PathProfile) -> bool {
        let is_within = self.container == target.container && self.sort == target.sort;
        let is_alike = ends_alike(self.path, target.path);
        let is_copy = is_alike && is_unique(self.profile);
        !is_within && !is_copy && (is_alike || told.numbers == 0)
    }
}

/// Says whether a path beside the id has a value of its own in each item, so that others may refer to it.
fn is_key_of(entity: &Entity, path: &str, sketch: &PathSketch) -> bool {
    let Some(told) = entity.paths.get(path) else { return false };
    path != ID_PATH
        && !path.contains("/[]")
        && is_unique(told)
        && told.values >= REFERENCE_VALUES_MIN as u64
        && told.texts + told.numbers == told.values
        && told.dates <= told.texts / 2
        && !sketch.is_own_id(told.texts)
}

/// Says whether nearly all values of a path are different, as far as an estimate may say.
fn is_unique(told: &PathProfile) -> bool {
    told.distinct as f64 >= 0.95 * told.values as f64
}

#[cfg(test)]
mod tests;
