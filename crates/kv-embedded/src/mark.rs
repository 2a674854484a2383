//! The acknowledged mark: up to which group commits were told that they are durable.
//!
//! A journal that ends in the middle of a batch was either torn by a crash, before any caller was told of that batch,
//! or was damaged afterwards. Its own bytes cannot tell the two apart. So, after every durability wait and before any
//! caller is told, the number of the group is written here. There is no second wait for the disk: whatever ends the
//! process leaves the mark exact, because the system keeps what was written; a loss of power may leave it some seconds
//! behind, never ahead, because nothing is written before the journal is durable. A mark that is behind makes no
//! journal look damaged.
//!
//! Two places in the file take turns, each in a sector of its own with a sum of its own, so that a torn write spoils one at
//! most. The greater of those that can be read counts.

use std::fs::File;
use std::path::Path;

use armilla_kv::{Error, ErrorKind, Result};
use xxhash_rust::xxh3::xxh3_64;

use crate::failure;
use crate::format::sync_folder;

pub(crate) const FILE: &str = "store.acknowledged";

const MAGIC: [u8; 8] = *b"ARMMARK1";

/// Bytes from one place to the next: no device writes less than a sector at once, and few write less than this.
const PLACE_BYTES: u64 = 4096;

const RECORD_BYTES: usize = 24;

/// The file, open for writing.
pub(crate) struct Mark {
    file: File,
}

impl Mark {
    /// Opens the file to note groups from here on, making it if it is not there. What is noted here is durable on return.
    pub(crate) fn open(folder: &Path, group: u64) -> Result<Mark> {
        let path = folder.join(FILE);
        let opened = || -> std::io::Result<Mark> {
            let is_new = !path.try_exists()?;
            let file = File::options().create(true).truncate(false).write(true).open(&path)?;
            let mark = Mark { file };
            mark.file.set_len(2 * PLACE_BYTES)?;
            // In both places: one that was damaged must not stay so until its turn comes.
            for group in [group.saturating_sub(1), group] {
                mark.write(group)?;
            }
            mark.file.sync_all()?;
            if is_new {
                sync_folder(folder)?;
            }
            Ok(mark)
        };
        opened().map_err(|error| failure::of_file("write", &path, &error))
    }

    /// Notes that everything up to a group is durable.
    pub(crate) fn note(&self, group: u64) -> std::io::Result<()> {
        self.write(group)
    }

    /// Makes the newest note durable.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.file.sync_all()
    }

    fn write(&self, group: u64) -> std::io::Result<()> {
        let mut record = [0; RECORD_BYTES];
        record[..8].copy_from_slice(&MAGIC);
        record[8..16].copy_from_slice(&group.to_be_bytes());
        let sum = xxh3_64(&record[..16]);
        record[16..].copy_from_slice(&sum.to_be_bytes());
        write_at(&self.file, &record, group % 2 * PLACE_BYTES)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Reads the mark. Returns nothing if there is no such file, and fails with [`ErrorKind::Corrupt`] if neither place in it can
/// be read.
pub(crate) fn read(folder: &Path) -> Result<Option<u64>> {
    let path = folder.join(FILE);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failure::of_file("read", &path, &error)),
    };
    let places = [0, PLACE_BYTES as usize];
    let newest = places.iter().filter_map(|place| group_at(bytes.get(*place..*place + RECORD_BYTES)?)).max();
    match newest {
        Some(group) => Ok(Some(group)),
        None => Err(Error::new(ErrorKind::Corrupt, format!("{} holds no readable mark", path.display()))),
    }
}

fn group_at(record: &[u8]) -> Option<u64> {
    let (content, sum) = record.split_at_checked(16)?;
    let is_whole = content.starts_with(&MAGIC) && sum == xxh3_64(content).to_be_bytes();
    is_whole.then(|| content[8..].try_into().ok().map(u64::from_be_bytes)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_note_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        let mark = Mark::open(folder.path(), 0).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(0));
        for group in 1..=5 {
            mark.note(group).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(group));
        }
        drop(mark);
        Mark::open(folder.path(), 5).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(5));
    }

    #[test]
    fn a_torn_note_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let mark = Mark::open(folder.path(), 6).unwrap();
        mark.note(7).unwrap();
        let path = folder.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        for torn in 0..RECORD_BYTES {
            let mut bytes = whole.clone();
            bytes[PLACE_BYTES as usize + torn] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(6));
        }
        for damaged in [Vec::new(), vec![0; whole.len()], whole[..10].to_vec()] {
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(read(folder.path()).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
