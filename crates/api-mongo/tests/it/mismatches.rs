//! What differs from the model, gathered so that a run tells of more than the first.

/// Mismatches that are told of.
const SHOWN_MAX: usize = 12;

#[derive(Debug, Default)]
pub(crate) struct Mismatches {
    found: Vec<String>,
    count: usize,
}

impl Mismatches {
    pub(crate) fn add(&mut self, text: String) {
        self.count += 1;
        if self.found.len() < SHOWN_MAX {
            self.found.push(text);
        }
    }

    #[track_caller]
    pub(crate) fn check(&self) {
        assert!(self.count == 0, "{} mismatches:\n{}", self.count, self.found.join("\n"));
    }
}
