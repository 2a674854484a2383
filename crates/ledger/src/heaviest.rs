//! The subjects with the most weight of many, found in bounded space (Space-Saving; Metwally, Agrawal, El Abbadi 2005):
//! one that is not counted yet takes the place of the lightest and begins with its weight, which is noted as what it may
//! be overestimated by.
//!
//! Columns rather than rows: a search walks the hashes alone, a replacement the weights alone.

/// Subjects with their weights.
#[derive(Debug)]
pub(crate) struct Heaviest<T> {
    hashes: Vec<u64>,
    weights: Vec<u64>,
    overestimates: Vec<u64>,
    subjects: Vec<T>,
}

/// How many more there is room for whenever there is none.
const GROWTH: usize = 4;

impl<T> Default for Heaviest<T> {
    fn default() -> Heaviest<T> {
        Heaviest { hashes: Vec::new(), weights: Vec::new(), overestimates: Vec::new(), subjects: Vec::new() }
    }
}

impl<T> Heaviest<T> {
    /// What one takes in memory, without what a subject has on the heap.
    pub(crate) const ENTRY_BYTES: usize = 3 * size_of::<u64>() + size_of::<T>();

    /// What the places take that may be there and not be used.
    pub(crate) const SPARE_BYTES: usize = (GROWTH - 1) * Self::ENTRY_BYTES;

    pub(crate) fn len(&self) -> usize {
        self.subjects.len()
    }

    /// Returns the place of a subject.
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        let mut from = 0;
        while let Some(next) = self.hashes[from..].iter().position(|known| *known == hash) {
            let place = from + next;
            if is_it(&self.subjects[place]) {
                return Some(place);
            }
            from = place + 1;
        }
        None
    }

    /// Adds weight to a subject, and hands it back.
    pub(crate) fn add(&mut self, place: usize, weight: u64) -> &mut T {
        self.weights[place] = self.weights[place].saturating_add(weight);
        &mut self.subjects[place]
    }

    /// Adds a subject.
    pub(crate) fn push(&mut self, hash: u64, weight: u64, overestimate: u64, subject: T) {
        if self.subjects.len() == self.subjects.capacity() {
            self.hashes.reserve_exact(GROWTH);
            self.weights.reserve_exact(GROWTH);
            self.overestimates.reserve_exact(GROWTH);
            self.subjects.reserve_exact(GROWTH);
        }
        self.hashes.push(hash);
        self.weights.push(weight);
        self.overestimates.push(overestimate);
        self.subjects.push(subject);
    }

    /// Returns the place of the lightest, the first among equals.
    pub(crate) fn lightest(&self) -> Option<usize> {
        let least = self.weights.iter().min()?;
        self.weights.iter().position(|weight| weight == least)
    }

    /// Returns the subject at a place, and its weight.
    pub(crate) fn at(&self, place: usize) -> (&T, u64) {
        (&self.subjects[place], self.weights[place])
    }

    /// Puts a subject in the place of another, whose weight it takes over.
    pub(crate) fn replace(&mut self, place: usize, hash: u64, weight: u64, subject: T) {
        let before = self.weights[place];
        self.hashes[place] = hash;
        self.weights[place] = before.saturating_add(weight);
        self.overestimates[place] = before;
        self.subjects[place] = subject;
    }

    /// Returns every subject with its weight and what that may be too high by.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&T, u64, u64)> {
        let figures = self.weights.iter().zip(&self.overestimates);
        self.subjects.iter().zip(figures).map(|(subject, (weight, over))| (subject, *weight, *over))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_are_kept_and_the_lightest_replaced() {
        let mut heaviest: Heaviest<&str> = Heaviest::default();
        heaviest.push(7, 10, 0, "a");
        heaviest.push(7, 5, 0, "b");
        heaviest.push(8, 5, 0, "c");
        assert_eq!(heaviest.find(7, |own| *own == "b"), Some(1));
        assert_eq!(heaviest.find(7, |own| *own == "c"), None);
        assert_eq!(heaviest.find(9, |_| true), None);
        assert_eq!(heaviest.lightest(), Some(1));
        assert_eq!(heaviest.at(1), (&"b", 5));
        heaviest.replace(1, 9, 3, "d");
        heaviest.add(2, 1);
        let all: Vec<_> = heaviest.iter().collect();
        assert_eq!(all, [(&"a", 10, 0), (&"d", 8, 5), (&"c", 6, 0)]);
        assert_eq!(Heaviest::<u8>::default().lightest(), None);
    }
}
