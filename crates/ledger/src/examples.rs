//! A few requests of a shape as they were: the first one, and of the others a sample in which each is as likely.

use armilla_value::Value;

use crate::chance::Chance;
use crate::limits::{EXAMPLE_BYTES_MAX, EXAMPLES_MAX};
use crate::note::{Act, Note, Outcome};
use crate::report::Example;
use crate::room::Room;
use crate::sizes::{self, heap};

/// The examples of a shape.
#[derive(Debug)]
pub(crate) struct Examples {
    kept: Vec<Example>,
    /// How many requests there were to choose from.
    offered: u64,
    chance: Chance,
    held: usize,
}

/// What is kept free for first examples, in a hundred.
const KEPT_BACK: usize = 25;

impl Examples {
    pub(crate) const fn new() -> Examples {
        Examples { kept: Vec::new(), offered: 0, chance: Chance::new(), held: 0 }
    }

    /// Keeps a request, perhaps.
    pub(crate) fn offer(&mut self, note: &Note<'_>, room: &Room) {
        // A page after the first says nothing new, and what was throttled took nothing.
        if note.took.is_continued || note.outcome == Outcome::Throttled {
            return;
        }
        self.offered = self.offered.saturating_add(1);
        let place = if self.kept.len() < EXAMPLES_MAX {
            self.kept.len()
        } else {
            let drawn = self.chance.below(self.offered - 1);
            match usize::try_from(drawn) {
                Ok(drawn) if drawn < EXAMPLES_MAX - 1 => drawn + 1,
                _ => return,
            }
        };
        let bytes = Parts::of(note).bytes();
        if bytes <= EXAMPLE_BYTES_MAX {
            self.put(place, bytes, || Parts::of(note).to_example(note), room);
        }
    }

    /// Adds what an earlier report has, which stands for so many requests.
    pub(crate) fn restore(&mut self, told: &[Example], count: u64, room: &Room) {
        self.offered = self.offered.saturating_add(count);
        for example in told {
            let bytes = bytes(example);
            if self.kept.len() < EXAMPLES_MAX && bytes <= EXAMPLE_BYTES_MAX {
                self.put(self.kept.len(), bytes, || example.clone(), room);
            }
        }
    }

    fn put(&mut self, place: usize, size: usize, make: impl FnOnce() -> Example, room: &Room) {
        let Some(before) = self.kept.get_mut(place) else {
            let kept_back = if place == 0 { 0 } else { KEPT_BACK };
            if room.take_but(kept_back, size) {
                self.kept.reserve_exact(1);
                self.kept.push(make());
                self.held += size;
            }
            return;
        };
        let size_before = bytes(before);
        if room.exchange(size_before, size) {
            *before = make();
            self.held = self.held - size_before + size;
        }
    }

    pub(crate) fn told(&self) -> &[Example] {
        &self.kept
    }

    pub(crate) fn give_back(&self, room: &Room) {
        room.give(self.held);
    }
}

/// What an example is made of.
struct Parts<'n> {
    id: Option<&'n str>,
    text: &'n str,
    parameters: &'n [(String, Value)],
    key_bytes: usize,
}

impl<'n> Parts<'n> {
    fn of(note: &Note<'n>) -> Parts<'n> {
        let (id, text, parameters): (_, _, &[(String, Value)]) = match note.act {
            Act::Read { id } | Act::Replace { id } | Act::Patch { id } | Act::Delete { id } => {
                (Some(id), "", &[])
            }
            Act::Query { text, parameters } => (None, text, parameters),
            Act::Procedure { name } => (None, name, &[]),
            Act::Create { .. } | Act::Batch | Act::List | Act::Changes => (None, "", &[]),
        };
        Parts { id, text, parameters, key_bytes: note.key.map_or(0, sizes::key) }
    }

    fn bytes(&self) -> usize {
        // A large text or a long list need not be added up to be too large.
        if self.text.len() > EXAMPLE_BYTES_MAX || size_of_val(self.parameters) > EXAMPLE_BYTES_MAX {
            return usize::MAX;
        }
        size_of::<Example>()
            + self.id.map_or(0, |id| heap(id.len()))
            + heap(self.text.len())
            + sizes::parameters(self.parameters)
            + self.key_bytes
    }

    fn to_example(&self, note: &Note<'_>) -> Example {
        Example {
            key: note.key.cloned(),
            id: self.id.map(str::to_owned),
            text: self.text.to_owned(),
            parameters: self.parameters.to_vec(),
            charge: note.took.charge,
            rows: note.took.rows,
        }
    }
}

fn bytes(example: &Example) -> usize {
    let parts = Parts {
        id: example.id.as_deref(),
        text: &example.text,
        parameters: &example.parameters,
        key_bytes: example.key.as_ref().map_or(0, sizes::key),
    };
    parts.bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Took;
    use crate::room::Rooms;

    fn read(id: &str) -> Note<'_> {
        let took = Took { charge: 100, rows: 1, ..Took::default() };
        Note { container: 1, act: Act::Read { id }, key: None, took, outcome: Outcome::Done }
    }

    fn ids(examples: &Examples) -> Vec<usize> {
        examples.told().iter().map(|example| example.id.as_deref().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn the_first_is_kept_and_the_others_are_a_sample() {
        let rooms = Rooms::new();
        let mut examples = Examples::new();
        for at in 0..100_000 {
            examples.offer(&read(&at.to_string()), &rooms.examples);
        }
        let ids = ids(&examples);
        assert_eq!(ids.len(), EXAMPLES_MAX);
        assert_eq!(ids[0], 0);
        let later = ids.iter().filter(|id| **id > 10_000).count();
        assert!((4..=7).contains(&later), "{ids:?}");
        examples.give_back(&rooms.examples);
        assert_eq!(rooms.examples.used(), 0);
    }

    #[test]
    fn large_requests_and_pages_after_the_first_are_no_examples() {
        let rooms = Rooms::new();
        let mut examples = Examples::new();
        let text = "x".repeat(EXAMPLE_BYTES_MAX);
        examples.offer(&read(&text), &rooms.examples);
        let query = Act::Query { text: &text, parameters: &[] };
        examples.offer(&Note { act: query, ..read("1") }, &rooms.examples);
        let list = [("@a".to_owned(), Value::from(vec![Value::from(1); 100]))];
        let query = Act::Query { text: "", parameters: &list };
        examples.offer(&Note { act: query, ..read("1") }, &rooms.examples);
        let took = Took { is_continued: true, ..Took::default() };
        examples.offer(&Note { took, ..read("1") }, &rooms.examples);
        examples.offer(&Note { outcome: Outcome::Throttled, ..read("1") }, &rooms.examples);
        assert!(examples.told().is_empty());
        examples.offer(&read("2"), &rooms.examples);
        assert_eq!(ids(&examples), [2]);
    }

    #[test]
    fn the_last_room_is_for_first_examples() {
        let rooms = Rooms::new();
        let id = "1".repeat(1_000);
        let kept: Vec<usize> = (0..2_500)
            .map(|_| {
                let mut examples = Examples::new();
                for _ in 0..4 {
                    examples.offer(&read(&id), &rooms.examples);
                }
                examples.told().len()
            })
            .collect();
        assert_eq!((kept[0], kept[2_000], kept[2_499]), (4, 1, 1));
    }
}
