//! What an answer holds that may come back in a later request: the values of its rows, by path.
//!
//! A value is kept as its hash. The paths and rows that are counted are those that were looked at, within the bounds.
//!
//! Not here: what follows from an answer (`links`).

use std::collections::HashMap;

use armilla_value::json::slice;

use crate::entity::{self, SYSTEM};
use crate::limits::{
    ORIGIN_BYTES_MAX, ORIGIN_PATHS_MAX, ORIGIN_ROWS_MAX, ORIGIN_VALUES_MAX, PATH_BYTES_MAX, ROW_DEPTH_MAX,
    ROW_ELEMENTS_MAX, ROW_VALUES_MAX,
};
use crate::sizes::heap;
use crate::values;

/// The values of an answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) paths: Vec<AnswerPath>,
    pub(crate) entity: Entity,
    /// Sorted, each with a path in `places`.
    hashes: Vec<u64>,
    places: Vec<u16>,
    /// Where the hashes begin whose first byte is this one.
    starts: Vec<u16>,
}

/// A path at which an answer has values.
#[derive(Debug)]
pub(crate) struct AnswerPath {
    pub(crate) path: Box<str>,
    /// How many rows have it.
    pub(crate) rows: u64,
    /// The last row that had it.
    last: usize,
}

/// What items say they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Entity {
    /// None says anything.
    #[default]
    Unsaid,
    /// All that say anything say this.
    Said(Box<str>),
    /// They say different things.
    Mixed,
}

impl Entity {
    pub(crate) fn merge(&mut self, other: &Entity) {
        match (&*self, other) {
            (_, Entity::Unsaid) | (Entity::Mixed, _) => {}
            (Entity::Said(own), Entity::Said(others)) if own == others => {}
            (Entity::Unsaid, other) => *self = other.clone(),
            (Entity::Said(_), _) => *self = Entity::Mixed,
        }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Entity::Said(name) => Some(name),
            Entity::Unsaid | Entity::Mixed => None,
        }
    }
}

impl Answer {
    /// Reads rows, each the JSON text of a value.
    pub(crate) fn read<'r>(rows: impl Iterator<Item = &'r [u8]>) -> Answer {
        let mut reader = Reader::default();
        let mut bytes = 0;
        for row in rows.take(ORIGIN_ROWS_MAX) {
            bytes += row.len();
            if bytes > ORIGIN_BYTES_MAX || reader.values.len() >= ORIGIN_VALUES_MAX {
                break;
            }
            reader.row(row.trim_ascii());
        }
        reader.finish()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns the paths, by their places, at which a value is.
    pub(crate) fn paths_of(&self, hash: u64) -> impl Iterator<Item = u16> + '_ {
        let first = usize::from(first_byte(hash));
        let range = match (self.starts.get(first), self.starts.get(first + 1)) {
            (Some(from), Some(to)) => usize::from(*from)..usize::from(*to),
            _ => 0..0,
        };
        range.filter(move |at| self.hashes[*at] == hash).map(|at| self.places[at])
    }

    /// Returns what it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let paths = self.paths.iter().map(|path| heap(path.path.len()) + 2 * size_of::<AnswerPath>());
        heap(8 * self.hashes.len()) + heap(2 * self.places.len()) + heap(2 * 257) + paths.sum::<usize>()
    }
}

fn first_byte(hash: u64) -> u8 {
    (hash >> 56) as u8
}

/// An answer while it is being read.
#[derive(Debug, Default)]
struct Reader {
    paths: Vec<AnswerPath>,
    places: HashMap<Box<str>, u16>,
    values: Vec<(u64, u16)>,
    /// What the items say they are, and the name at which the first that says so does.
    entity: Entity,
    entity_name: Option<&'static str>,
    /// The row that is being read, from 1, with its values and where in it the reader stands.
    row: usize,
    outside: Vec<(u64, u16)>,
    inside: Vec<(u64, u16)>,
    path: String,
}

impl Reader {
    fn row(&mut self, row: &[u8]) {
        self.row += 1;
        if let Some(said) = entity::said(row) {
            self.entity.merge(&Entity::Said((*said.entity).into()));
            self.entity_name.get_or_insert(said.name);
        }
        self.outside.clear();
        self.inside.clear();
        self.path.clear();
        self.value(row, 0, false);
        let room = ROW_VALUES_MAX.min(ORIGIN_VALUES_MAX - self.values.len());
        self.values.extend(self.outside.iter().chain(&self.inside).take(room));
    }

    fn value(&mut self, value: &[u8], depth: usize, is_inside: bool) {
        match value.first() {
            Some(b'{') if depth < ROW_DEPTH_MAX => {
                for member in slice::members(value).into_iter().flatten() {
                    let Ok(member) = member else { return };
                    let Some(name) = slice::string(member.name) else { continue };
                    if SYSTEM.contains(&&*name) {
                        continue;
                    }
                    self.below(&name, member.value, depth, is_inside);
                }
            }
            Some(b'[') if depth < ROW_DEPTH_MAX => {
                for element in slice::elements(value).into_iter().flatten().take(ROW_ELEMENTS_MAX) {
                    let Ok(element) = element else { return };
                    self.below("[]", element, depth, true);
                }
            }
            _ => self.scalar(value, is_inside),
        }
    }

    fn below(&mut self, step: &str, value: &[u8], depth: usize, is_inside: bool) {
        let length = self.path.len();
        if length + 1 + step.len() > PATH_BYTES_MAX {
            return;
        }
        self.path.push('/');
        self.path.push_str(step);
        self.value(value, depth + 1, is_inside);
        self.path.truncate(length);
    }

    fn scalar(&mut self, token: &[u8], is_inside: bool) {
        let Some(hash) = values::of_token(token) else { return };
        let Some(place) = self.place() else { return };
        let path = &mut self.paths[usize::from(place)];
        if path.last != self.row {
            path.last = self.row;
            path.rows += 1;
        }
        let list = if is_inside { &mut self.inside } else { &mut self.outside };
        if list.len() < ROW_VALUES_MAX {
            list.push((hash, place));
        }
    }

    /// Returns the place of the path at which the reader stands.
    fn place(&mut self) -> Option<u16> {
        if let Some(place) = self.places.get(&*self.path) {
            return Some(*place);
        }
        if self.paths.len() >= ORIGIN_PATHS_MAX {
            return None;
        }
        let place = self.paths.len() as u16;
        let path: Box<str> = self.path.as_str().into();
        self.paths.push(AnswerPath { path: path.clone(), rows: 0, last: 0 });
        self.places.insert(path, place);
        Some(place)
    }

    fn finish(mut self) -> Answer {
        // What all items say they are leads nowhere: requests have it as a constant.
        if let (Entity::Said(entity), Some(name)) = (&self.entity, self.entity_name) {
            let hash = values::of_text(entity);
            let place = self.places.get(&*format!("/{name}")).copied();
            self.values.retain(|(own, at)| (Some(*own), Some(*at)) != (hash, place));
        }
        self.values.sort_unstable();
        self.values.dedup();
        let mut starts = vec![0_u16; 257];
        for (hash, _) in &self.values {
            starts[usize::from(first_byte(*hash)) + 1] += 1;
        }
        for first in 1..starts.len() {
            starts[first] += starts[first - 1];
        }
        self.paths.shrink_to_fit();
        Answer {
            paths: self.paths,
            entity: self.entity,
            hashes: self.values.iter().map(|(hash, _)| *hash).collect(),
            places: self.values.iter().map(|(_, place)| *place).collect(),
            starts,
        }
    }
}

#[cfg(test)]
mod tests;
