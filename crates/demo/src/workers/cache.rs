//! Names of users, as far as they are remembered.
//!
//! An item may be written with the old name while its user gets a new one. This is why such an item ends up with the
//! new name all the same, whatever comes first. When the workers learn of a new name, they
//!
//! 1. forget the name here,
//! 2. then look for items with another name than the new one, and put them right.
//!
//! An item that was written before step 2 looked is found by it. An item that was written later comes through the feed
//! of posts later still, and is compared with the name remembered then. That one was read from the users after step 1,
//! hence after the new name was written: the item is found to be different, and put right. The only way to remember an
//! older name after step 1 would be a reading that began before it and is noted after it; [`NameCache::remember`]
//! refuses those.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::limits::NAMES_MAX;

/// Names by the ids of users.
#[derive(Default)]
pub(super) struct NameCache(Mutex<Names>);

#[derive(Default)]
struct Names {
    names: HashMap<Box<str>, Box<str>>,
    /// How often something was forgotten.
    era: u64,
}

/// The time at which a reading began, counted in what was forgotten before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Era(u64);

impl NameCache {
    /// Compares names with those that are remembered: calls `known` with each id and whether the name is the same, or
    /// nothing if it is not remembered. Returns the era in which it was.
    pub(super) fn compare<'a>(
        &self,
        items: impl Iterator<Item = (&'a str, &'a str)>,
        mut known: impl FnMut(usize, Option<bool>),
    ) -> Era {
        let names = self.lock();
        for (index, (user, name)) in items.enumerate() {
            known(index, names.names.get(user).map(|remembered| **remembered == *name));
        }
        Era(names.era)
    }

    /// Notes a name that was read, unless something was forgotten since the reading began.
    pub(super) fn remember(&self, era: Era, user: &str, name: &str) {
        let mut names = self.lock();
        if names.era != era.0 {
            return;
        }
        if names.names.len() >= NAMES_MAX {
            names.names.clear();
        }
        names.names.insert(user.into(), name.into());
    }

    /// Forgets a name.
    pub(super) fn forget(&self, user: &str) {
        let mut names = self.lock();
        names.era += 1;
        names.names.remove(user);
    }

    fn lock(&self) -> parking_lot::MutexGuard<'_, Names> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(cache: &NameCache, user: &str, name: &str) -> (Option<bool>, Era) {
        let mut answer = None;
        let era = cache.compare([(user, name)].into_iter(), |_, known| answer = known);
        (answer, era)
    }

    #[test]
    fn a_reading_that_began_before_the_name_was_forgotten_is_not_noted() {
        let cache = NameCache::default();
        let (answer, era) = ask(&cache, "1", "ada");
        assert_eq!(answer, None);
        cache.remember(era, "1", "ada");
        assert_eq!(ask(&cache, "1", "ada").0, Some(true));
        assert_eq!(ask(&cache, "1", "eve").0, Some(false));
        let (_, before) = ask(&cache, "1", "ada");
        cache.forget("1");
        cache.remember(before, "1", "ada");
        let (answer, after) = ask(&cache, "1", "ada");
        assert_eq!(answer, None);
        cache.remember(after, "1", "eve");
        assert_eq!(ask(&cache, "1", "eve").0, Some(true));
    }

    #[test]
    fn no_more_names_than_the_bound() {
        let cache = NameCache::default();
        let (_, era) = ask(&cache, "", "");
        for user in 0..=NAMES_MAX {
            cache.remember(era, &user.to_string(), "x");
        }
        assert_eq!(cache.lock().names.len(), 1);
    }
}
