//! The regions that an account says it has, so that clients can be tried with several: each has an address of its own,
//! and all of them serve the same data at once.
//!
//! A region can be taken offline, and then answers no request of data; and another can become the one that takes writes.
//! Both are for trying what clients make of it, and are forgotten at the next start.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Most regions of an account.
pub const REGIONS_MAX: usize = 32;

/// The regions of an account, at least one. The first of them is at the account's own address.
#[derive(Debug)]
pub struct Regions {
    list: Vec<Region>,
    /// The place of the one that takes writes, where only one does.
    writable: AtomicUsize,
    is_multi_write: bool,
}

/// One of them.
#[derive(Debug)]
struct Region {
    name: String,
    /// The port of its address; none for the first, whose address is that by which clients came.
    port: Option<u16>,
    is_offline: AtomicBool,
}

/// What a region is at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionState<'r> {
    /// Its name.
    pub name: &'r str,
    /// The port of its address, if it is not the account's own.
    pub port: Option<u16>,
    /// Whether it answers.
    pub is_online: bool,
    /// Whether it takes writes.
    pub is_writable: bool,
}

impl Regions {
    /// Returns an account's regions; the first takes writes, or all of them.
    pub fn new(first: &str, others: Vec<(String, u16)>, is_multi_write: bool) -> Regions {
        let region =
            |name: &str, port| Region { name: name.to_owned(), port, is_offline: AtomicBool::new(false) };
        let others = others.iter().map(|(name, port)| region(name, Some(*port)));
        let list = std::iter::once(region(first, None)).chain(others).collect();
        Regions { list, writable: AtomicUsize::new(0), is_multi_write }
    }

    /// Says whether all regions take writes.
    pub fn is_multi_write(&self) -> bool {
        self.is_multi_write
    }

    /// Returns what the region at a place is at present; nothing if there is none.
    pub fn get(&self, place: usize) -> Option<RegionState<'_>> {
        let region = self.list.get(place)?;
        Some(RegionState {
            name: &region.name,
            port: region.port,
            is_online: !region.is_offline.load(Ordering::Relaxed),
            is_writable: self.is_multi_write || self.writable.load(Ordering::Relaxed) == place,
        })
    }

    /// Returns what all of them are, those that take writes first, as clients are to try them.
    pub fn iter(&self) -> impl Iterator<Item = RegionState<'_>> {
        let all = (0..self.list.len()).filter_map(|place| self.get(place));
        let (writable, others): (Vec<_>, Vec<_>) = all.partition(|region| region.is_writable);
        writable.into_iter().chain(others)
    }

    /// Returns the place of a region, by its name as clients write it: with or without spaces, however cased.
    pub fn find(&self, name: &str) -> Option<usize> {
        let wanted = normalized(name);
        self.list.iter().position(|region| normalized(&region.name) == wanted)
    }

    /// Takes the region at a place offline, or lets it answer again.
    pub fn set_online(&self, place: usize, is_online: bool) {
        if let Some(region) = self.list.get(place) {
            region.is_offline.store(!is_online, Ordering::Relaxed);
        }
    }

    /// Lets the region at a place take the writes, instead of the one that did.
    pub fn set_writable(&self, place: usize) {
        if place < self.list.len() {
            self.writable.store(place, Ordering::Relaxed);
        }
    }
}

fn normalized(name: &str) -> String {
    name.chars().filter(|character| !character.is_whitespace()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(regions: &Regions, is_wanted: fn(&RegionState<'_>) -> bool) -> Vec<&str> {
        regions.iter().filter(is_wanted).map(|region| region.name).collect()
    }

    fn three(is_multi_write: bool) -> Regions {
        let others = vec![("East US".to_owned(), 8_082), ("North Europe".to_owned(), 8_083)];
        Regions::new("West US 2", others, is_multi_write)
    }

    #[test]
    fn one_of_them_takes_writes_and_is_named_first() {
        let regions = three(false);
        assert_eq!(names(&regions, |region| region.is_writable), ["West US 2"]);
        let place = regions.find("northeurope").unwrap();
        regions.set_writable(place);
        assert_eq!(names(&regions, |region| region.is_writable), ["North Europe"]);
        assert_eq!(names(&regions, |_| true), ["North Europe", "West US 2", "East US"]);
        let ports: Vec<_> = regions.iter().map(|region| region.port).collect();
        assert_eq!(ports, [Some(8_083), None, Some(8_082)]);
        assert_eq!(names(&three(true), |region| region.is_writable).len(), 3);
    }

    #[test]
    fn each_can_be_taken_offline() {
        let regions = three(false);
        let place = regions.find("EAST us").unwrap();
        regions.set_online(place, false);
        assert_eq!(names(&regions, |region| !region.is_online), ["East US"]);
        regions.set_online(place, true);
        assert!(names(&regions, |region| !region.is_online).is_empty());
        assert_eq!(regions.find("Mars"), None);
        assert_eq!(regions.get(3), None);
        // What is not there does not change anything.
        regions.set_online(7, false);
        regions.set_writable(7);
        assert_eq!(names(&regions, |region| region.is_writable && region.is_online), ["West US 2"]);
    }
}
