//! The manifest: what must be in the store's folder.
//!
//! The engine deletes what it does not know and begins anew where a file is missing, so it must never see a folder from which
//! something was lost. This file, beside the engine's folder, says what must be there; `compare` holds it against what is
//! there, before the engine is opened.
//!
//! It is text, one fact a line, with a sum over all of them at the end, and is replaced as a whole. While a store is open the
//! engine adds and replaces files by itself, and the manifest follows behind (`watch`). So it is a lower bound: versions and
//! sequence numbers never go back, and a journal goes only when every family has what it held. After a clean end it is exact.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;

use armilla_kv::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::failure;
use crate::format::sync_folder;
use crate::limits::MANIFEST_BYTES_MAX;

pub(crate) const FILE: &str = "store.manifest";

const TITLE: &str = "armilla-manifest 1";

/// What a store was doing when it wrote its manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It was about to make the engine's files for the first time. No caller has been told of any commit yet.
    New,
    /// It was open.
    Open,
    /// It was closed cleanly: everything is in sorted files, and the journals are empty.
    Closed,
}

/// What must be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) state: State,
    /// Everything up to this group is in sorted files.
    pub(crate) flushed_group: u64,
    /// No sequence number up to that group is greater. What a journal says of its first batch cannot be checked otherwise.
    pub(crate) flushed_sequence: u64,
    pub(crate) families: Vec<Family>,
    pub(crate) journals: Vec<Journal>,
}

/// A family, or the engine's own list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Family {
    /// The engine's number of it, which names its folder.
    pub(crate) id: u64,
    pub(crate) name: String,
    /// Number of its newest list of sorted files.
    pub(crate) version: u64,
    /// Newest sequence number in its sorted files.
    pub(crate) newest_sequence: Option<u64>,
    pub(crate) tables: Vec<Table>,
}

/// A sorted file. It is never changed once it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) id: u64,
    /// The engine's sum of the whole file.
    pub(crate) sum: u128,
    pub(crate) bytes: u64,
    /// Our sum of its end, where it says what it is.
    pub(crate) tail_sum: u64,
}

/// A journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Journal {
    pub(crate) id: u64,
    /// What is known of it once no more is written to it.
    pub(crate) sealed: Option<Sealed>,
}

/// What a journal holds that is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) first_group: u64,
    pub(crate) last_group: u64,
    /// The newest sequence number in it of each family, by the engine's number of the family.
    pub(crate) newest_sequences: Vec<(u64, u64)>,
}

impl Manifest {
    /// Returns the manifest of a store that is about to be made.
    pub(crate) fn new() -> Manifest {
        Manifest {
            state: State::New,
            flushed_group: 0,
            flushed_sequence: 0,
            families: Vec::new(),
            journals: Vec::new(),
        }
    }

    fn encode(&self) -> String {
        let mut text = format!("{TITLE}\n");
        let state = match self.state {
            State::New => "new",
            State::Open => "open",
            State::Closed => "closed",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "state {state}\nflushed {} {}", self.flushed_group, self.flushed_sequence);
        for Family { id, name, version, newest_sequence, tables } in &self.families {
            let newest = newest_sequence.map_or_else(|| "-".to_owned(), |newest| newest.to_string());
            let _ = writeln!(text, "family {id} {name} {version} {newest}");
            for Table { id, sum, bytes, tail_sum } in tables {
                let _ = writeln!(text, "table {id} {sum:032x} {bytes} {tail_sum:016x}");
            }
        }
        for Journal { id, sealed } in &self.journals {
            let _ = write!(text, "journal {id}");
            if let Some(Sealed { first_group, last_group, newest_sequences }) = sealed {
                let _ = write!(text, " {first_group} {last_group}");
                for (family, sequence) in newest_sequences {
                    let _ = write!(text, " {family}:{sequence}");
                }
            }
            text.push('\n');
        }
        let sum = xxh3_64(text.as_bytes());
        let _ = writeln!(text, "sum {sum:016x}");
        text
    }

    fn decode(text: &str) -> Option<Manifest> {
        let (content, end) = text.split_at(text.strip_suffix('\n')?.rfind('\n')? + 1);
        let sum = end.strip_prefix("sum ")?.strip_suffix('\n')?;
        if u64::from_str_radix(sum, 16).ok()? != xxh3_64(content.as_bytes()) {
            return None;
        }
        let mut lines = content.lines();
        if lines.next() != Some(TITLE) {
            return None;
        }
        let mut manifest = Manifest::new();
        for line in lines {
            let mut words = line.split(' ');
            match words.next()? {
                "state" => {
                    manifest.state = match words.next()? {
                        "new" => State::New,
                        "open" => State::Open,
                        "closed" => State::Closed,
                        _ => return None,
                    }
                }
                "flushed" => {
                    manifest.flushed_group = words.next()?.parse().ok()?;
                    manifest.flushed_sequence = words.next()?.parse().ok()?;
                }
                "family" => manifest.families.push(Family {
                    id: words.next()?.parse().ok()?,
                    name: words.next()?.to_owned(),
                    version: words.next()?.parse().ok()?,
                    newest_sequence: match words.next()? {
                        "-" => None,
                        number => Some(number.parse().ok()?),
                    },
                    tables: Vec::new(),
                }),
                "table" => manifest.families.last_mut()?.tables.push(Table {
                    id: words.next()?.parse().ok()?,
                    sum: u128::from_str_radix(words.next()?, 16).ok()?,
                    bytes: words.next()?.parse().ok()?,
                    tail_sum: u64::from_str_radix(words.next()?, 16).ok()?,
                }),
                "journal" => {
                    let id = words.next()?.parse().ok()?;
                    let sealed = match words.next() {
                        None => None,
                        Some(first_group) => Some(Sealed {
                            first_group: first_group.parse().ok()?,
                            last_group: words.next()?.parse().ok()?,
                            newest_sequences: words
                                .by_ref()
                                .map(|pair| {
                                    let (family, sequence) = pair.split_once(':')?;
                                    Some((family.parse().ok()?, sequence.parse().ok()?))
                                })
                                .collect::<Option<_>>()?,
                        }),
                    };
                    manifest.journals.push(Journal { id, sealed });
                }
                _ => return None,
            }
            if words.next().is_some() {
                return None;
            }
        }
        Some(manifest)
    }
}

/// Reads the manifest. Returns nothing if there is none, and fails with [`ErrorKind::Corrupt`] if it is damaged.
pub(crate) fn read(folder: &Path) -> Result<Option<Manifest>> {
    let path = folder.join(FILE);
    let mut bytes = Vec::new();
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure::of_file("read", &path, &error)),
    };
    let read = file.take(MANIFEST_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| failure::of_file("read", &path, &error))?;
    let decoded = std::str::from_utf8(&bytes).ok().filter(|_| bytes.len() as u64 <= MANIFEST_BYTES_MAX);
    match decoded.and_then(Manifest::decode) {
        Some(manifest) => Ok(Some(manifest)),
        None => Err(Error::new(ErrorKind::Corrupt, format!("{} is damaged", path.display()))),
    }
}

/// Writes the manifest, whole or not at all.
pub(crate) fn write(folder: &Path, manifest: &Manifest) -> Result<()> {
    let (path, next) = (folder.join(FILE), folder.join("store.manifest.next"));
    let written = File::create(&next)
        .and_then(|mut file| {
            file.write_all(manifest.encode().as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&next, &path))
        .and_then(|()| sync_folder(folder));
    written.map_err(|error| failure::of_file("write", &path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Manifest {
        let table = Table { id: 3, sum: 0x1234 << 64, bytes: 5_000, tail_sum: 77 };
        let family = |id: u64, newest_sequence| Family {
            id,
            name: format!("family-{id}"),
            version: id + 7,
            newest_sequence,
            tables: vec![table; id as usize],
        };
        let newest_sequences = vec![(1, 400), (6, 401)];
        Manifest {
            state: State::Open,
            flushed_group: 17,
            flushed_sequence: 90,
            families: vec![family(0, None), family(1, Some(12)), family(2, Some(0))],
            journals: vec![
                Journal { id: 4, sealed: Some(Sealed { first_group: 18, last_group: 30, newest_sequences }) },
                Journal { id: 5, sealed: None },
            ],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        for state in [State::New, State::Open, State::Closed] {
            for manifest in [Manifest { state, ..example() }, Manifest { state, ..Manifest::new() }] {
                write(folder.path(), &manifest).unwrap();
                assert_eq!(read(folder.path()).unwrap(), Some(manifest));
            }
        }
    }

    #[test]
    fn every_changed_or_missing_byte_is_noticed() {
        let whole = example().encode();
        assert_eq!(Manifest::decode(&whole), Some(example()));
        for at in 0..whole.len() {
            assert_eq!(Manifest::decode(&whole[..at]), None, "cut at {at}");
            for bit in 0..7 {
                let mut bytes = whole.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let text = String::from_utf8(bytes).unwrap();
                // The case of a digit of the sum says nothing.
                assert!(Manifest::decode(&text).is_none_or(|read| read == example()), "byte {at}, bit {bit}");
            }
        }
    }
}
