//! Finds what stands under a name in a list: one by one while that is cheap, by a table built on need.
//!
//! Names usually come in the order in which they are asked for, so the one behind the last find is tried first.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use super::limits::LINEAR_SEARCH_NAMES_MAX;
use super::members::RawString;

/// Values under names, in order.
#[derive(Debug)]
pub(crate) struct Lookup<'a, V> {
    entries: Vec<(RawString<'a>, V)>,
    /// Where the next name is expected.
    next: Cell<usize>,
    /// How often all names were gone through.
    searches: Cell<usize>,
    table: OnceCell<HashMap<Cow<'a, str>, usize>>,
}

impl<'a, V> Lookup<'a, V> {
    /// Begins with nothing, and room for so many.
    pub(crate) fn with_capacity(count: usize) -> Lookup<'a, V> {
        let entries = Vec::with_capacity(count);
        Lookup { entries, next: Cell::new(0), searches: Cell::new(0), table: OnceCell::new() }
    }

    /// Adds a value at the end.
    #[inline]
    pub(crate) fn push(&mut self, name: RawString<'a>, value: V) {
        self.entries.push((name, value));
        if self.table.get().is_some() {
            self.table.take();
        }
    }

    /// Returns the names and values in order.
    pub(crate) fn entries(&self) -> &[(RawString<'a>, V)] {
        &self.entries
    }

    /// Returns the value under a name; where it is there twice, any of them.
    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.find(name).map(|at| &self.entries[at].1)
    }

    /// Returns the place of a name; where it is there twice, of any of them.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let next = self.next.get();
        if self.entries.get(next).is_some_and(|(own, _)| own.is(name)) {
            self.next.set(next + 1);
            return Some(next);
        }
        let searches = self.searches.get();
        let is_linear = self.entries.len() <= LINEAR_SEARCH_NAMES_MAX || searches < LINEAR_SEARCH_NAMES_MAX;
        let found = if is_linear {
            self.searches.set(searches + 1);
            self.entries.iter().position(|(own, _)| own.is(name))
        } else {
            self.table().get(name).copied()
        };
        if let Some(at) = found {
            self.next.set(at + 1);
        }
        found
    }

    /// Returns a name that is there twice.
    pub(crate) fn duplicate(&self) -> Option<RawString<'a>> {
        let is_few = self.entries.len() <= LINEAR_SEARCH_NAMES_MAX;
        let is_repeated = |(at, name): &(usize, RawString<'a>)| {
            let Some(text) = name.unescape() else { return false };
            if is_few {
                self.entries[..*at].iter().any(|(own, _)| own.is(&text))
            } else {
                self.table().get(&text).is_some_and(|known| known != at)
            }
        };
        self.entries.iter().map(|(name, _)| *name).enumerate().find(is_repeated).map(|(_, name)| name)
    }

    fn table(&self) -> &HashMap<Cow<'a, str>, usize> {
        self.table.get_or_init(|| {
            let names = self.entries.iter().enumerate();
            names.filter_map(|(at, (name, _))| name.unescape().map(|name| (name, at))).collect()
        })
    }
}

#[cfg(test)]
mod tests;
