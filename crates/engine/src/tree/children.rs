//! Named things in the order of their making, and pages of them.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, Result};
use crate::limits::LIST_MAX;

/// Named things in the order of their making.
pub(crate) struct Children<T> {
    by_ordinal: BTreeMap<u64, T>,
    ordinals: HashMap<String, u64>,
}

impl<T> Default for Children<T> {
    fn default() -> Children<T> {
        Children { by_ordinal: BTreeMap::new(), ordinals: HashMap::new() }
    }
}

impl<T> Children<T> {
    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.by_ordinal.get(self.ordinals.get(id)?)
    }

    pub(crate) fn get_by_ordinal(&self, ordinal: u64) -> Option<&T> {
        self.by_ordinal.get(&ordinal)
    }

    pub(crate) fn by_ordinal_mut(&mut self, ordinal: u64) -> Option<&mut T> {
        self.by_ordinal.get_mut(&ordinal)
    }

    pub(crate) fn insert(&mut self, id: &str, ordinal: u64, child: T) {
        self.ordinals.insert(id.to_owned(), ordinal);
        self.by_ordinal.insert(ordinal, child);
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        self.by_ordinal.remove(&self.ordinals.remove(id)?)
    }

    /// Removes what has an ordinal. Its name stays with another that has it by now.
    pub(crate) fn remove_ordinal(&mut self, ordinal: u64) -> Option<T> {
        let removed = self.by_ordinal.remove(&ordinal)?;
        self.ordinals.retain(|_, of| *of != ordinal);
        Some(removed)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.by_ordinal.values()
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.ordinals.contains_key(id)
    }

    /// Returns a page of children and where the next begins.
    pub(crate) fn page(&self, page: &Page) -> (Vec<&T>, Option<String>) {
        page_of(&self.by_ordinal, page)
    }
}

/// A page of a list that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    after: u64,
    count_max: usize,
}

impl Page {
    /// Reads the continuation of a list: the ordinal after which it goes on.
    pub(crate) fn new(count_max: Option<usize>, continuation: Option<&str>) -> Result<Page> {
        let after = match continuation {
            None => 0,
            Some(token) => token
                .strip_prefix("R1;")
                .and_then(|ordinal| ordinal.parse().ok())
                .ok_or_else(|| Error::invalid("Invalid Continuation Token. It is not one of this list."))?,
        };
        Ok(Page { after, count_max: count_max.unwrap_or(LIST_MAX).clamp(1, LIST_MAX) })
    }
}

/// Returns a page of a map and where the next begins.
pub(crate) fn page_of<'m, K, T>(map: &'m BTreeMap<K, T>, page: &Page) -> (Vec<&'m T>, Option<String>)
where
    K: Ord + Copy + Into<u64>,
{
    let mut rest = map.iter().filter(|(ordinal, _)| (**ordinal).into() > page.after);
    let taken: Vec<(&K, &T)> = rest.by_ref().take(page.count_max).collect();
    let continuation = match (rest.next(), taken.last()) {
        (Some(_), Some((ordinal, _))) => {
            let ordinal: u64 = (**ordinal).into();
            Some(format!("R1;{ordinal}"))
        }
        _ => None,
    };
    (taken.into_iter().map(|(_, child)| child).collect(), continuation)
}
