//! Reads the engine's journal format, without trusting a byte of it.
//!
//! All numbers are little-endian. A batch is
//!
//! ```text
//! 01 count(4) sequence(8)
//! count times: 02 kind(1) compression(1) keyspace(8) key length(2) value length(4) stored length(4) key value
//!          or: 04 keyspace(8)
//! 03 sum(8) "FJL" 03
//! ```
//!
//! The sum is XXH3 over the entries; the head is not part of it, so a sequence number is believed only if it
//! goes on from the one before. A new journal is longer than its content and ends in zeros.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::records::GROUP;

const START: u8 = 1;
const ENTRY: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const TRAILER: [u8; 4] = *b"FJL\x03";

const BUFFER_BYTES: usize = 1024 * 1024;

/// Most entries of a batch that this store writes: a group of the most operations, or one batch of the most
/// operations, with the record of the group.
const ENTRIES_MAX: u32 = (armilla_kv::BATCH_OPS_MAX + crate::limits::GROUP_OPS_MAX + 1) as u32;

/// Largest step between the sequence numbers of two batches. The engine numbers flushes and compactions too,
/// but not billions of them between two commits.
const SEQUENCE_STEP_MAX: u64 = 1 << 32;

/// A whole batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchFound {
    /// The engine's sequence number.
    pub(crate) sequence: u64,
    /// The store's group number.
    pub(crate) group: u64,
}

pub(crate) struct JournalReader {
    file: BufReader<File>,
    position: u64,
    length: u64,
    end_of_batches: u64,
    /// The newest sequence number of each family in the batches that were read, by the engine's number of the family.
    newest_sequences: BTreeMap<u64, u64>,
}

/// One change in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The engine's number of the family.
    pub(crate) family: u64,
    pub(crate) key: Vec<u8>,
    /// The new value, or nothing where the key was removed.
    pub(crate) value: Option<Vec<u8>>,
}

impl JournalReader {
    pub(crate) fn open(path: &Path) -> Result<JournalReader> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(JournalReader {
            file: BufReader::with_capacity(BUFFER_BYTES, file),
            position: 0,
            length,
            end_of_batches: 0,
            newest_sequences: BTreeMap::new(),
        })
    }

    /// Returns the newest sequence number of each family in the batches that were read.
    pub(crate) fn newest_sequences(&self) -> &BTreeMap<u64, u64> {
        &self.newest_sequences
    }

    /// Goes on behind a place without a batch, where one was found.
    pub(crate) fn skip_to(&mut self, place: u64) -> Result<()> {
        self.seek(place)?;
        self.end_of_batches = place;
        Ok(())
    }

    /// Returns the changes of the batch that lies between two places, which was found to be whole.
    pub(crate) fn changes(&mut self, place: std::ops::Range<u64>) -> Result<Vec<Change>> {
        let back_to = self.position;
        self.seek(place.start)?;
        let changes = self.read_changes(place.end);
        self.seek(back_to)?;
        changes
    }

    fn read_changes(&mut self, end: u64) -> Result<Vec<Change>> {
        self.byte()?;
        let count = u32::from_le_bytes(self.bytes()?);
        let _sequence: [u8; 8] = self.bytes()?;
        let mut changes = Vec::new();
        for _ in 0..count {
            if self.byte()? != ENTRY {
                self.bytes::<8>()?;
                continue;
            }
            let head: [u8; 20] = self.bytes()?;
            let [kind, compression, ..] = head;
            let key_bytes = usize::from(u16::from_le_bytes([head[10], head[11]]));
            let stored_bytes = u32::from_le_bytes([head[16], head[17], head[18], head[19]]) as usize;
            if self.position + (key_bytes + stored_bytes) as u64 > end || compression != 0 {
                return Err(ErrorKind::InvalidData.into());
            }
            let mut bytes = vec![0; key_bytes + stored_bytes];
            self.file.read_exact(&mut bytes)?;
            self.position += bytes.len() as u64;
            let value = bytes.split_off(key_bytes);
            changes.push(Change {
                family: family_of(&head),
                key: bytes,
                value: (kind == 0).then_some(value),
            });
        }
        Ok(changes)
    }

    /// Returns where the last whole batch ends that was read.
    pub(crate) fn end_of_batches(&self) -> u64 {
        self.end_of_batches
    }

    /// Returns the next batch, or nothing if there is none at this place.
    pub(crate) fn next_batch(&mut self, before: Option<BatchFound>) -> Result<Option<BatchFound>> {
        let found = match self.batch(before) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
            other => other?,
        };
        if found.is_some() {
            self.end_of_batches = self.position;
        }
        Ok(found)
    }

    /// Returns whether only zeros follow.
    pub(crate) fn is_zero_from(&mut self, from: u64) -> Result<bool> {
        self.seek(from)?;
        loop {
            let buffer = self.file.fill_buf()?;
            if buffer.is_empty() {
                return Ok(true);
            }
            // Without a way out of the middle, so that many bytes are looked at at once: most of a new journal is zeros.
            if buffer.iter().fold(0, |any, byte| any | byte) != 0 {
                return Ok(false);
            }
            let bytes = buffer.len();
            self.consume(bytes);
        }
    }

    /// Returns where the first whole batch lies behind a place without one.
    pub(crate) fn find_batch_after(&mut self, from: u64, before: Option<BatchFound>) -> Result<Option<u64>> {
        let mut candidate = from;
        loop {
            candidate += 1;
            self.seek(candidate)?;
            // Most bytes cannot begin a batch: skip them without trying.
            loop {
                let buffer = self.file.fill_buf()?;
                if buffer.is_empty() {
                    return Ok(None);
                }
                let skipped = buffer.iter().position(|byte| *byte == START);
                let bytes = skipped.unwrap_or(buffer.len());
                self.consume(bytes);
                if skipped.is_some() {
                    break;
                }
            }
            candidate = self.position;
            let attempt = self.batch(before);
            match attempt {
                Ok(Some(_)) => return Ok(Some(candidate)),
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn batch(&mut self, before: Option<BatchFound>) -> Result<Option<BatchFound>> {
        if self.byte()? != START {
            return Ok(None);
        }
        let count = u32::from_le_bytes(self.bytes()?);
        let sequence = u64::from_le_bytes(self.bytes()?);
        if count == 0 || count > ENTRIES_MAX || !follows(before, sequence) {
            return Ok(None);
        }
        let mut sum = Xxh3::new();
        let mut group = None;
        // Few: the families, and those in the order in which they are written.
        let mut families: Vec<u64> = Vec::new();
        for _ in 0..count {
            let tag = self.byte()?;
            sum.update(&[tag]);
            match tag {
                ENTRY => {
                    let head: [u8; 20] = self.bytes()?;
                    sum.update(&head);
                    let [kind, compression, ..] = head;
                    let key_bytes = u64::from(u16::from_le_bytes([head[10], head[11]]));
                    let stored_bytes =
                        u64::from(u32::from_le_bytes([head[16], head[17], head[18], head[19]]));
                    if !matches!(kind, 0 | 1 | 2 | 4) || compression > 1 {
                        return Ok(None);
                    }
                    let family = family_of(&head);
                    if families.last() != Some(&family) {
                        families.push(family);
                    }
                    // Before anything of that size is read.
                    if self.position + key_bytes + stored_bytes > self.length {
                        return Ok(None);
                    }
                    // Keys of the families are longer, so this key belongs to the store's own records.
                    if key_bytes == GROUP.len() as u64 && stored_bytes == 8 {
                        let record: [u8; 9] = self.bytes()?;
                        sum.update(&record);
                        let (key, value) = record.split_at(GROUP.len());
                        if key == GROUP {
                            group = value.try_into().ok().map(u64::from_be_bytes);
                        }
                    } else {
                        self.sum_up(key_bytes + stored_bytes, &mut sum)?;
                    }
                }
                CLEAR => sum.update(&self.bytes::<8>()?),
                _ => return Ok(None),
            }
        }
        let is_whole = self.byte()? == END
            && u64::from_le_bytes(self.bytes()?) == sum.digest()
            && self.bytes()? == TRAILER;
        let found = group.filter(|_| is_whole).map(|group| BatchFound { sequence, group });
        if found.is_some() {
            self.newest_sequences.extend(families.into_iter().map(|family| (family, sequence)));
        }
        Ok(found)
    }

    fn sum_up(&mut self, bytes: u64, sum: &mut Xxh3) -> Result<()> {
        let mut left = bytes;
        while left > 0 {
            let buffer = self.file.fill_buf()?;
            if buffer.is_empty() {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let taken = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            sum.update(&buffer[..taken]);
            left -= taken as u64;
            self.consume(taken);
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8> {
        let [byte] = self.bytes()?;
        Ok(byte)
    }

    fn bytes<const COUNT: usize>(&mut self) -> Result<[u8; COUNT]> {
        // A read that fails half-way would leave the file at an unknown place.
        if self.position + COUNT as u64 > self.length {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = [0; COUNT];
        self.file.read_exact(&mut bytes)?;
        self.position += COUNT as u64;
        Ok(bytes)
    }

    fn consume(&mut self, bytes: usize) {
        self.file.consume(bytes);
        self.position += bytes as u64;
    }

    fn seek(&mut self, to: u64) -> Result<()> {
        // Relative, because that keeps the buffer where it can.
        match i64::try_from(i128::from(to) - i128::from(self.position)) {
            Ok(offset) => self.file.seek_relative(offset)?,
            Err(_) => {
                self.file.seek(SeekFrom::Start(to))?;
            }
        }
        self.position = to;
        Ok(())
    }
}

/// The engine's number of the family, in the head of an entry.
fn family_of(head: &[u8; 20]) -> u64 {
    head[2..10].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn follows(before: Option<BatchFound>, sequence: u64) -> bool {
    match before {
        Some(before) => sequence > before.sequence && sequence - before.sequence <= SEQUENCE_STEP_MAX,
        None => true,
    }
}
