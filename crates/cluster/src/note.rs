//! What a node says of itself in its record.

use std::fmt::Write as _;

use crate::PartitionId;
use crate::limits::LOADS_MAX;
use crate::placement::Partition;

/// The note in the record of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    /// Where other nodes reach it: `host:port`.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// The assignment that it has adopted: it serves nothing that this one, or one before, took from it.
    pub adopted: u64,
    /// Whether it is about to end, and wants its partitions to be taken by others before.
    pub is_leaving: bool,
    /// What is asked of its partitions, of those of which most is: [`LOADS_MAX`] at most.
    pub loads: Vec<Partition>,
}

impl Note {
    /// Writes the note as one line.
    pub fn encode(&self) -> String {
        let Note { address, version, adopted, is_leaving, loads } = self;
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = write!(line, "address={} version={}", word(address), word(version));
        let _ = write!(line, " adopted={adopted} leaving={is_leaving}");
        let loads: Vec<String> =
            loads.iter().take(LOADS_MAX).map(|Partition { id, load }| format!("{}:{load}", id.0)).collect();
        if !loads.is_empty() {
            let _ = write!(line, " loads={}", loads.join(","));
        }
        line
    }

    /// Reads a note. What is not understood is left out: later versions may say more.
    pub fn decode(line: &str) -> Note {
        let mut note = Note::default();
        for (name, value) in line.split(' ').filter_map(|word| word.split_once('=')) {
            match name {
                "address" => note.address = value.to_owned(),
                "version" => note.version = value.to_owned(),
                "adopted" => note.adopted = value.parse().unwrap_or_default(),
                "leaving" => note.is_leaving = value == "true",
                "loads" => note.loads = value.split(',').take(LOADS_MAX).filter_map(load).collect(),
                _ => {}
            }
        }
        note
    }
}

fn load(text: &str) -> Option<Partition> {
    let (id, load) = text.split_once(':')?;
    Some(Partition { id: PartitionId(id.parse().ok()?), load: load.parse().ok()? })
}

/// A line is cut at its spaces.
fn word(text: &str) -> String {
    text.replace(char::is_whitespace, "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_back() {
        let note = Note {
            address: "[::1]:8443".to_owned(),
            version: "0.1.0".to_owned(),
            adopted: 71,
            is_leaving: true,
            loads: vec![
                Partition { id: PartitionId(3), load: 400 },
                Partition { id: PartitionId(u64::MAX), load: 1 },
            ],
        };
        assert_eq!(Note::decode(&note.encode()), note);
        assert_eq!(Note::decode(&Note::default().encode()), Note::default());
    }

    #[test]
    fn what_is_not_understood_is_left_out() {
        let note = Note::decode("address=a:1 colour=red adopted=x leaving loads=7,x:1,:,9:");
        assert_eq!(note, Note { address: "a:1".to_owned(), ..Note::default() });
        let spaced = Note { address: "a b=c".to_owned(), ..Note::default() };
        assert_eq!(Note::decode(&spaced.encode()).address, "a_b=c");
    }
}
