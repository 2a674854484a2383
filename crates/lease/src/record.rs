//! What is written about a lease.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;

/// Lines of a record, at most; what has more is not one.
const LINES_MAX: usize = 16;

/// Bytes that a holder may say of itself in its record. More is cut off.
pub const NOTE_BYTES_MAX: usize = 4_096;

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Who has the lease. No two processes have one name, not even one after the other.
    pub holder: String,
    /// How often the lease went from one holder to another.
    pub term: u64,
    /// How often this holder wrote it.
    pub beat: u64,
    /// For how long it is valid.
    pub length: Duration,
    /// Whether the holder has given it up, or others have found that it has ended.
    pub is_released: bool,
    /// What the holder says of itself: one line.
    pub note: String,
}

impl Record {
    /// Returns the record of a new holder, after the one of another.
    pub(crate) fn next(before: Option<&Record>, holder: &str, length: Duration) -> Record {
        let term = before.map_or(0, |before| before.term) + 1;
        Record { holder: holder.to_owned(), term, beat: 1, length, is_released: false, note: String::new() }
    }

    /// Returns the same holder's next record.
    pub(crate) fn again(&self) -> Record {
        Record { beat: self.beat + 1, ..self.clone() }
    }

    /// Returns the record with another note, as far as one is possible.
    pub(crate) fn noting(self, note: &str) -> Record {
        let cut = note.floor_char_boundary(NOTE_BYTES_MAX);
        Record { note: note[..cut].replace(['\n', '\r'], " "), ..self }
    }

    /// Returns the last record of a holder: its lease has ended.
    pub fn ended(&self) -> Record {
        Record { is_released: true, ..self.again() }
    }

    /// Writes the record.
    pub fn encode(&self) -> Bytes {
        let Record { holder, term, beat, length, is_released, note } = self;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "holder={holder}\nterm={term}\nbeat={beat}\nlength_ms={}\nreleased={is_released}\nnote={note}\n",
            length.as_millis()
        );
        text.into()
    }

    /// Reads a record; nothing where it is not one.
    pub fn decode(bytes: &[u8]) -> Option<Record> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut lines = text.lines().take(LINES_MAX).filter_map(|line| line.split_once('='));
        let mut field = |name: &str| lines.find(|(found, _)| *found == name).map(|(_, value)| value);
        Some(Record {
            holder: field("holder")?.to_owned(),
            term: field("term")?.parse().ok()?,
            beat: field("beat")?.parse().ok()?,
            length: Duration::from_millis(field("length_ms")?.parse().ok()?),
            is_released: field("released")?.parse().ok()?,
            // Records of before there were notes have none.
            note: field("note").unwrap_or_default().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_and_nothing_else_is_one() {
        let record = Record::next(None, "node 1 of host=a", Duration::from_secs(6)).again();
        assert_eq!(Record::decode(&record.encode()), Some(record.clone()));
        assert_eq!((record.term, record.beat), (1, 2));
        let after = Record::next(Some(&record), "node 2", Duration::from_secs(6));
        assert_eq!((after.term, after.beat), (2, 1));
        let noted = after.clone().noting("address=a:1 x\nterm=9");
        assert_eq!(noted.note, "address=a:1 x term=9");
        assert_eq!(Record::decode(&noted.encode()), Some(noted));
        let long = after.noting(&"\u{e9}".repeat(NOTE_BYTES_MAX));
        assert_eq!(long.note.len(), NOTE_BYTES_MAX);
        assert_eq!(Record::decode(&long.encode()), Some(long));
        let before = b"holder=a\nterm=1\nbeat=2\nlength_ms=3\nreleased=false\n";
        assert_eq!(Record::decode(before).unwrap().note, "");
        for other in [&b""[..], b"\xFF", b"holder=a\nterm=x\n", b"term=1\nholder=a\n"] {
            assert_eq!(Record::decode(other), None);
        }
    }
}
