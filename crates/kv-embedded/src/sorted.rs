//! Reads the engine's lists of sorted files, and the sorted files themselves, without trusting a byte of them and without
//! changing one.
//!
//! A family has a folder. In it, `current` names the newest list and holds its sum: number(8) sum(16) kind(1), little-endian;
//! the list `v<number>` names the sorted files with their sums; `tables/<number>` are the files. Lists and files share a
//! container: sections one after the other, then a table of contents with a sum, then a trailer that says where that is.
//! A sorted file is a row of blocks, each with a head and a sum, data first.
//!
//! Blocks are decoded by the engine's own crate, once their sums have been found right.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use lsm_tree::coding::Decode as _;
use lsm_tree::table::block::{BlockOffset, BlockType, Header};
use lsm_tree::table::{Block, BlockHandle, DataBlock};
use lsm_tree::{CompressionType, ValueType};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use crate::limits::{ENGINE_LIST_BYTES_MAX, TABLE_TAIL_BYTES};

/// Why a file cannot be used. The text says what is wrong with it, without naming it.
pub(crate) type Readable<T> = std::result::Result<T, String>;

/// A sorted file as its family's list names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) id: u64,
    pub(crate) sum: u128,
    /// What is added to the sequence numbers in it.
    pub(crate) base_sequence: u64,
}

/// A family's newest list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) version: u64,
    pub(crate) tables: Vec<Listed>,
}

/// One entry of a sorted file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) sequence: u64,
    /// The value, or nothing where the key was removed.
    pub(crate) value: Option<Vec<u8>>,
}

/// Returns where a family's sorted file lies.
pub(crate) fn table_path(family: &Path, id: u64) -> PathBuf {
    family.join("tables").join(id.to_string())
}

/// Reads which list is the newest. The error names the file it is about, in the family's folder.
pub(crate) fn read_list(family: &Path) -> std::result::Result<List, (String, String)> {
    let of = |file: &str| {
        let file = file.to_owned();
        move |problem: String| (file, problem)
    };
    let current = read_small(&family.join("current")).map_err(of("current"))?;
    let (version, sum) = match current.len() {
        25 if current[24] == 0 => (little(&current[..8]) as u64, little(&current[8..24])),
        _ => return Err(("current".to_owned(), "it does not name a list of sorted files".to_owned())),
    };
    let name = format!("v{version}");
    let bytes = read_small(&family.join(&name)).map_err(of(&name))?;
    if xxh3_128(&bytes) != sum {
        return Err((name, "it is not the list that `current` names: their sums differ".to_owned()));
    }
    let tables = parse_list(&bytes).ok_or_else(|| (name, "it is not a list of sorted files".to_owned()))?;
    Ok(List { version, tables })
}

/// Reads a list whose sum is not known any more.
pub(crate) fn read_unnamed_list(path: &Path) -> Readable<Vec<Listed>> {
    parse_list(&read_small(path)?).ok_or_else(|| "it is not a list of sorted files".to_owned())
}

fn read_small(path: &Path) -> Readable<Vec<u8>> {
    let file = File::open(path).map_err(said)?;
    let mut bytes = Vec::new();
    file.take(ENGINE_LIST_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(said)?;
    if bytes.len() as u64 > ENGINE_LIST_BYTES_MAX {
        return Err("it is longer than any that the engine writes".to_owned());
    }
    Ok(bytes)
}

/// Says what went wrong with a file, in the words of a finding.
pub(crate) fn said(error: std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::NotFound {
        "it is missing".to_owned()
    } else {
        format!("it cannot be read: {error}")
    }
}

/// Bytes as a number, least significant first.
fn little(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, bytes: usize) -> Option<u64> {
        self.take(bytes).map(|bytes| little(bytes) as u64)
    }
}

/// Bytes of the trailer: magic, version, kind of sum, sum, position, length.
const TRAILER_BYTES: usize = 4 + 1 + 1 + 16 + 8 + 8;

/// Finds the sections of a container in its end, of which `end` are the last bytes. Each has a name, a place and a length.
fn sections(end: &[u8], file_bytes: u64) -> Option<Vec<(Vec<u8>, u64, u64)>> {
    let mut trailer = Cursor(end.get(end.len().checked_sub(TRAILER_BYTES)?..)?);
    if trailer.take(6)? != b"SFA!\x01\x00" {
        return None;
    }
    let sum = little(trailer.take(16)?);
    let position = trailer.number(8)?;
    let start = position.checked_sub(file_bytes - end.len() as u64)?;
    let contents = end.get(usize::try_from(start).ok()?..end.len() - TRAILER_BYTES)?;
    if xxh3_128(contents) != sum {
        return None;
    }
    let mut cursor = Cursor(contents);
    if cursor.take(4)? != b"TOC!" {
        return None;
    }
    let count = cursor.number(4)?;
    let mut sections = Vec::new();
    for _ in 0..count {
        let (position, length) = (cursor.number(8)?, cursor.number(8)?);
        let name_bytes = usize::try_from(cursor.number(2)?).ok()?;
        sections.push((cursor.take(name_bytes)?.to_vec(), position, length));
    }
    Some(sections)
}

fn parse_list(bytes: &[u8]) -> Option<Vec<Listed>> {
    let sections = sections(bytes, bytes.len() as u64)?;
    let section = |name: &[u8]| {
        let (_, position, length) = sections.iter().find(|(found, ..)| found == name)?;
        let start = usize::try_from(*position).ok()?;
        bytes.get(start..start.checked_add(usize::try_from(*length).ok()?)?)
    };
    if section(b"format_version")? != [3] || section(b"level_count")? != [7] {
        return None;
    }
    let mut cursor = Cursor(section(b"tables")?);
    let mut tables = Vec::new();
    for _level in 0..cursor.number(1)? {
        for _run in 0..cursor.number(1)? {
            for _table in 0..cursor.number(4)? {
                let id = cursor.number(8)?;
                if cursor.number(1)? != 0 {
                    return None;
                }
                let sum = little(cursor.take(16)?);
                tables.push(Listed { id, sum, base_sequence: cursor.number(8)? });
            }
        }
    }
    Some(tables)
}

/// What the end of a sorted file says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) bytes: u64,
    /// A sum of the end.
    pub(crate) sum: u64,
    /// The newest sequence number in it, before the list's is added.
    pub(crate) newest_sequence: u64,
    pub(crate) compression: CompressionType,
    /// Where its data ends, and what leads to it begins.
    pub(crate) data_end: u64,
}

/// Reads the end of a sorted file.
pub(crate) fn read_ending(path: &Path) -> Readable<Ending> {
    let mut file = File::open(path).map_err(said)?;
    let bytes = file.metadata().map_err(said)?.len();
    let mut end = vec![0; usize::try_from(bytes.min(TABLE_TAIL_BYTES)).unwrap_or_default()];
    file.seek(SeekFrom::Start(bytes - end.len() as u64)).map_err(said)?;
    file.read_exact(&mut end).map_err(said)?;
    let damaged = || "its end is damaged or cut off".to_owned();
    let sections = sections(&end, bytes).ok_or_else(damaged)?;
    let (_, position, length) = sections.iter().find(|(name, ..)| name == b"meta").ok_or_else(damaged)?;
    let length =
        u32::try_from(*length).ok().filter(|_| position.checked_add(*length).is_some_and(|end| end <= bytes));
    let handle = BlockHandle::new(BlockOffset(*position), length.ok_or_else(damaged)?);
    let block = Block::from_file(&file, handle, CompressionType::None).map_err(|_| damaged())?;
    if block.header.block_type != BlockType::Meta {
        return Err(damaged());
    }
    let block = DataBlock::new(block);
    let property = |name: &[u8]| block.point_read(name, lsm_tree::SeqNo::MAX).map(|found| found.value);
    let newest = property(b"seqno#max").filter(|value| value.len() == 8).ok_or_else(damaged)?;
    let compression = property(b"compression#data").ok_or_else(damaged)?;
    let compression = CompressionType::decode_from(&mut &compression[..]).map_err(|_| damaged())?;
    let data = sections.iter().find(|(name, ..)| name == b"data").ok_or_else(damaged)?;
    Ok(Ending {
        bytes,
        sum: xxh3_64(&end),
        newest_sequence: little(&newest) as u64,
        compression,
        data_end: (data.1 + data.2).min(bytes),
    })
}

/// Returns the engine's sum of a whole file.
pub(crate) fn sum_of(path: &Path, mut each: impl FnMut(u64)) -> Readable<u128> {
    let mut file = File::open(path).map_err(said)?;
    let mut sum = Xxh3::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(sum.digest128()),
            Ok(bytes) => {
                sum.update(&buffer[..bytes]);
                each(bytes as u64);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(said(error)),
        }
    }
}

/// A part of a sorted file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hole {
    pub(crate) bytes: std::ops::Range<u64>,
    /// The last key before it.
    pub(crate) after: Option<Vec<u8>>,
    /// The first key behind it.
    pub(crate) before: Option<Vec<u8>>,
}

/// Walks over the entries of a sorted file, in the order of their keys, past what cannot be read.
pub(crate) struct Walk {
    file: BufReader<File>,
    /// Where the data ends, or the file if it does not say so any more.
    file_bytes: u64,
    position: u64,
    /// What blocks are compressed with, if the file still says it.
    compression: Option<CompressionType>,
    base_sequence: u64,
    entries: std::vec::IntoIter<Entry>,
    last_key: Option<Vec<u8>>,
    /// The part that could not be read, up to the next block that can be.
    hole: Option<Hole>,
    pub(crate) holes: Vec<Hole>,
}

/// Bytes in front of a block: magic, kind, sum, length, length when decompressed, sum of these.
const HEAD_BYTES: usize = 4 + 1 + 16 + 4 + 4 + 4;

impl Walk {
    pub(crate) fn new(path: &Path, base_sequence: u64) -> Readable<Walk> {
        let ending = read_ending(path).ok();
        let compression = ending.map(|ending| ending.compression);
        let file = File::open(path).map_err(said)?;
        let file_bytes = file.metadata().map_err(said)?.len();
        let file_bytes = ending.map_or(file_bytes, |ending| ending.data_end.min(file_bytes));
        Ok(Walk {
            file: BufReader::with_capacity(256 * 1024, file),
            file_bytes,
            position: 0,
            compression,
            base_sequence,
            entries: Vec::new().into_iter(),
            last_key: None,
            hole: None,
            holes: Vec::new(),
        })
    }

    /// Reads the block at the present place. Returns nothing if there is none.
    fn block(&mut self) -> Option<(Header, Vec<u8>)> {
        if self.position + HEAD_BYTES as u64 > self.file_bytes {
            return None;
        }
        self.file.seek(SeekFrom::Start(self.position)).ok()?;
        let mut head = [0; HEAD_BYTES];
        self.file.read_exact(&mut head).ok()?;
        let header = Header::decode_from(&mut &head[..]).ok()?;
        let end = self.position + HEAD_BYTES as u64 + u64::from(header.data_length);
        if end > self.file_bytes {
            return None;
        }
        let mut bytes = head.to_vec();
        bytes.resize(HEAD_BYTES + header.data_length as usize, 0);
        self.file.read_exact(&mut bytes[HEAD_BYTES..]).ok()?;
        (xxh3_128(&bytes[HEAD_BYTES..]) == header.checksum.into_u128()).then_some((header, bytes))
    }

    fn decoded(&self, header: &Header, bytes: &[u8]) -> Option<Vec<Entry>> {
        let compression = self.compression.unwrap_or(if header.data_length == header.uncompressed_length {
            CompressionType::None
        } else {
            CompressionType::Lz4
        });
        let block = Block::from_reader(&mut &bytes[..], compression).ok()?;
        let block = DataBlock::new(block);
        let data = block.as_slice();
        let mut entries = Vec::new();
        for item in block.iter() {
            let mut key = Vec::new();
            if let Some(prefix) = &item.prefix {
                key.extend_from_slice(data.get(prefix.0..prefix.1)?);
            }
            key.extend_from_slice(data.get(item.key.0..item.key.1)?);
            let value = match (item.value_type, &item.value) {
                (ValueType::Value, Some(value)) => Some(data.get(value.0..value.1)?.to_vec()),
                (ValueType::Value, None) => Some(Vec::new()),
                _ => None,
            };
            entries.push(Entry { key, sequence: item.seqno + self.base_sequence, value });
        }
        Some(entries)
    }

    /// Goes to the next block of data. Returns whether there is one.
    fn advance(&mut self) -> bool {
        loop {
            if self.position >= self.file_bytes {
                self.close_hole(None);
                return false;
            }
            match self.block() {
                Some((header, bytes)) if header.block_type == BlockType::Data => {
                    match self.decoded(&header, &bytes) {
                        Some(entries) => {
                            self.close_hole(entries.first().map(|entry| entry.key.clone()));
                            self.position += bytes.len() as u64;
                            self.entries = entries.into_iter();
                            return true;
                        }
                        None => self.open_hole(self.position + bytes.len() as u64),
                    }
                }
                // What follows the data, which leads to it and says nothing itself.
                Some(_) => {
                    self.close_hole(None);
                    self.position = self.file_bytes;
                    return false;
                }
                None => match self.next_head() {
                    Some(next) => self.open_hole(next),
                    None => self.open_hole(self.file_bytes),
                },
            }
        }
    }

    /// Looks for the next bytes that begin a block.
    fn next_head(&mut self) -> Option<u64> {
        const MAGIC: [u8; 4] = *b"LSM\x03";
        let mut at = self.position + 1;
        self.file.seek(SeekFrom::Start(at)).ok()?;
        let mut window = Vec::new();
        loop {
            let mut chunk = [0; 64 * 1024];
            let count = self.file.read(&mut chunk).ok()?;
            window.extend_from_slice(&chunk[..count]);
            if let Some(found) = window.windows(MAGIC.len()).position(|bytes| bytes == MAGIC) {
                return Some(at + found as u64);
            }
            if count == 0 {
                return None;
            }
            let kept = window.len().saturating_sub(MAGIC.len() - 1);
            at += kept as u64;
            window.drain(..kept);
        }
    }

    fn open_hole(&mut self, to: u64) {
        let hole = self.hole.get_or_insert_with(|| Hole {
            bytes: self.position..to,
            after: self.last_key.clone(),
            before: None,
        });
        hole.bytes.end = to;
        self.position = to;
    }

    fn close_hole(&mut self, before: Option<Vec<u8>>) {
        if let Some(hole) = self.hole.take() {
            self.holes.push(Hole { before, ..hole });
        }
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.entries.next() {
                if self.last_key.as_deref() != Some(&entry.key[..]) {
                    self.last_key = Some(entry.key.clone());
                }
                return Some(entry);
            }
            if !self.advance() {
                return None;
            }
        }
    }
}
