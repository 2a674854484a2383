//! Adding up what requests took.

use crate::note::{Note, Outcome};
use crate::report::Tally;
use crate::weight::Weight;

impl Tally {
    /// Adds what other requests took.
    pub fn add(&mut self, other: &Tally) {
        self.count = self.count.saturating_add(other.count);
        self.charge = self.charge.saturating_add(other.charge);
        self.micros = self.micros.saturating_add(other.micros);
        self.micros_max = self.micros_max.max(other.micros_max);
        self.items = self.items.saturating_add(other.items);
        self.entries = self.entries.saturating_add(other.entries);
        self.rows = self.rows.saturating_add(other.rows);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.partitions = self.partitions.saturating_add(other.partitions);
        self.keyed = self.keyed.saturating_add(other.keyed);
        self.ranged = self.ranged.saturating_add(other.ranged);
        self.throttled = self.throttled.saturating_add(other.throttled);
        self.refused = self.refused.saturating_add(other.refused);
    }
}

/// Returns what one request adds to the tallies of its shape.
pub(crate) fn of_request(weight: Weight, note: &Note<'_>) -> Tally {
    if note.outcome == Outcome::Throttled {
        // It did nothing, and will come again.
        return Tally { throttled: weight.count(), ..Tally::default() };
    }
    let took = note.took;
    let page = Tally {
        charge: weight.times(took.charge),
        micros: weight.times(took.micros),
        micros_max: took.micros,
        items: weight.times(took.items),
        entries: weight.times(took.entries),
        rows: weight.times(took.rows),
        bytes: weight.times(took.bytes),
        ..Tally::default()
    };
    if took.is_continued {
        return page;
    }
    let if_so = |is_so: bool| if is_so { weight.count() } else { 0 };
    Tally {
        count: weight.count(),
        partitions: weight.times(u64::from(took.partitions)),
        keyed: if_so(note.key.is_some()),
        ranged: if_so(took.is_ranged),
        refused: if_so(note.outcome == Outcome::Refused),
        ..page
    }
}
