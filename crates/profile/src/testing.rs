//! Samples made by hand, for tests.

use crate::profile::Profile;
use crate::sampler::Sampler;
use crate::sketches::Sketches;

/// The steps of partition key paths.
pub(crate) fn key_paths(paths: &[&[&str]]) -> Vec<Vec<String>> {
    paths.iter().map(|names| names.iter().map(|name| (*name).to_owned()).collect()).collect()
}

/// What these items of a container show.
#[track_caller]
pub(crate) fn sample(key: &[&[&str]], items: &[impl AsRef<[u8]>]) -> (Profile, Sketches) {
    let mut sampler = Sampler::new(&key_paths(key));
    for item in items {
        sampler.add(item.as_ref()).unwrap();
    }
    sampler.finish()
}

/// The same where they are all that the container has.
#[track_caller]
pub(crate) fn whole_sample(key: &[&[&str]], items: &[impl AsRef<[u8]>]) -> (Profile, Sketches) {
    let mut sampler = Sampler::new(&key_paths(key));
    sampler.set_whole(true);
    for item in items {
        sampler.add(item.as_ref()).unwrap();
    }
    sampler.finish()
}

/// Numbers that look random and are the same in every run.
#[derive(Debug)]
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// Returns a number below this one.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = crate::hash::mix(self.0, 1);
        self.0 % bound
    }

    /// Puts a list into another order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            list.swap(last, other);
        }
    }
}
