//! Continuation tokens: where a query goes on after a page.
//!
//! A token names a part of the ring and a position in key order, in the order of an index or in sort order, never a
//! physical partition. So it survives restarts and splits, and is good for any part of the range that it was made for.
//!
//! ```text
//! token    := base64url( version(1) query(8) work steps rows position checksum(4) )
//! position := 0                                       run again, and pass over as many rows as were given so far
//!           | 3 key identity(16) repeats              run again, and pass over the rows up to this one
//!           | 1 count (arc place partial)* count aggregate*
//!           | 2 key cut(1) count (arc number given)*  the sort key of the row given last, and the items with it
//! place    := 0                                       the arc was not begun
//!           | 1 number                                items up to this number are done
//!           | 2 mark                                  items up to this key are done
//!           | 3 mark                                  entries of an index up to this one are done
//! mark     := key cut(1) number
//! given    := rows tuples count place*               the place of the tuple that comes next in each join
//! ```
//! Left of the first arc everything is done (in sort order: up to and with the key), elsewhere nothing is (in sort order:
//! with the key, and behind it).
//! Long keys are cut, so that a token stays below a kilobyte; the item's number then helps to find the place again.
//!
//! Invariant: whatever is decoded is safe to use: bytes from a client give an error, or a position that may be wrong
//! for the query but breaks nothing.

mod bytes;
mod segments;

use armilla_value::{HashedKey, Value, fingerprint, json};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use self::bytes::{NUMBER_MAX, Reader, push_bytes, push_number};
pub(crate) use self::segments::{Arc, Segments, Side};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{CONTINUATION_BYTES_MAX, CONTINUATION_KEY_BYTES_MAX, JOINS_MAX};
use crate::tuples::TuplePath;
use crate::work::Work;

#[cfg(test)]
pub(crate) mod tests;

/// The version that is written.
pub(crate) const VERSION: u8 = 2;

/// The version before it, which knows neither steps nor the place of a tuple.
pub(crate) const VERSION_WITHOUT_PATHS: u8 = 1;

/// What a token says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// What earlier pages counted.
    pub(crate) work: Work,
    /// Steps that earlier pages took.
    pub(crate) steps: u64,
    /// Rows so far, those included that an offset passes over.
    pub(crate) rows: u64,
    /// Where to go on.
    pub(crate) position: Position,
}

/// Where a query goes on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Position {
    /// At the start, passing over the rows given so far.
    Rerun,
    /// At a place of one source.
    Unordered(Unordered),
    /// Behind a row, in sort order.
    Ordered(Ordered),
    /// Behind a row that stands for itself.
    Behind(Behind),
}

/// A row by what it is, whatever items it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Behind {
    /// Its sort key.
    pub(crate) key: Vec<u8>,
    /// Its fingerprint, by which rows with equal keys come.
    pub(crate) identity: u128,
    /// How many equal rows were given, this one included.
    pub(crate) repeats: u64,
}

/// A place among items that come in no order that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unordered {
    /// How far parts of the ring were read.
    pub(crate) segments: Segments<Spot>,
    /// What plain aggregates have gathered so far.
    pub(crate) aggregates: Vec<Value>,
}

/// How far a part of the ring was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// What is done.
    pub(crate) place: ArcProgress,
    /// The next item, where a part of its rows was given.
    pub(crate) partial: Option<Partial>,
}

/// A place in sort order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ordered {
    /// The sort key of the last row, or its beginning.
    pub(crate) key: Vec<u8>,
    /// Whether only the beginning is there.
    pub(crate) is_cut: bool,
    /// The items with that key up to which parts of the ring were read; the last row's is the first.
    pub(crate) ties: Segments<Tied>,
}

/// An item among those with equal sort keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tied {
    /// Its number.
    pub(crate) number: u64,
    /// What it has given, where there may be more.
    pub(crate) given: Option<Given>,
}

/// How far an arc was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ArcProgress {
    /// It was not begun.
    Fresh,
    /// Up to an item number, which is 0 at the start.
    Number(u64),
    /// Up to a key, which is empty at the start.
    Key(Mark),
    /// Up to an entry of an index, of which only the id is there at the start.
    Entry(Mark),
}

/// A key, cut where it is long, and the number of the item it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The key, or its beginning.
    pub(crate) bytes: Vec<u8>,
    /// Whether only the beginning is there.
    pub(crate) is_cut: bool,
    /// The item's number.
    pub(crate) number: u64,
}

impl Mark {
    /// Returns the mark of a key, cut where it is long.
    pub(crate) fn new(key: &[u8], number: u64) -> Mark {
        let is_cut = key.len() > CONTINUATION_KEY_BYTES_MAX;
        let bytes = if is_cut { &key[..CONTINUATION_KEY_BYTES_MAX] } else { key };
        Mark { bytes: bytes.to_vec(), is_cut, number }
    }
}

/// What one item has given so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Given {
    /// How many of its rows were dealt with.
    pub(crate) rows: u64,
    /// How many tuples of its joins were counted.
    pub(crate) tuples: u64,
    /// The tuple that comes next, counted already; empty where it must be found by counting rows.
    pub(crate) path: TuplePath,
}

/// An item that has given a part of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Partial {
    /// The item's number.
    pub(crate) number: u64,
    /// What it has given.
    pub(crate) given: Given,
}

/// Returns where on the ring sources must be cut to go on with a token.
///
/// Sources that became smaller since, as in a split, lie between these cuts already; those that became larger do not.
pub fn continuation_cuts(token: &str, query_fingerprint: u64) -> Result<Vec<HashedKey>> {
    fn cuts<P>(segments: &Segments<P>) -> Vec<HashedKey> {
        segments.0.iter().flat_map(|(arc, _)| [arc.min.clone(), arc.max.clone()]).collect()
    }
    let mut cuts = match &Token::decode(token, query_fingerprint)?.position {
        Position::Rerun | Position::Behind(_) => Vec::new(),
        Position::Unordered(position) => cuts(&position.segments),
        Position::Ordered(position) => cuts(&position.ties),
    };
    cuts.dedup();
    Ok(cuts)
}

impl Token {
    /// Returns the token as clients see it.
    pub(crate) fn encode(&self, query_fingerprint: u64) -> String {
        let mut out = vec![VERSION];
        out.extend_from_slice(&query_fingerprint.to_be_bytes());
        for number in work_fields(&mut self.work.clone()) {
            push_number(*number, &mut out);
        }
        push_number(self.steps.min(NUMBER_MAX), &mut out);
        push_number(self.rows, &mut out);
        match &self.position {
            Position::Rerun => out.push(0),
            Position::Unordered(position) => push_unordered(position, &mut out),
            Position::Ordered(position) => push_ordered(position, &mut out),
            Position::Behind(position) => {
                out.push(3);
                push_bytes(&position.key, &mut out);
                out.extend_from_slice(&position.identity.to_be_bytes());
                push_number(position.repeats, &mut out);
            }
        }
        let checksum = checksum(&out);
        out.extend_from_slice(&checksum);
        URL_SAFE_NO_PAD.encode(out)
    }

    /// Reads a token that was made for a query.
    pub(crate) fn decode(text: &str, query_fingerprint: u64) -> Result<Token> {
        if text.len() > CONTINUATION_BYTES_MAX {
            return Err(invalid_token("It is too long."));
        }
        let malformed = || invalid_token("It is malformed.");
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| malformed())?;
        let has_paths = match bytes.first() {
            Some(&VERSION) => true,
            Some(&VERSION_WITHOUT_PATHS) => false,
            Some(version) if *version > VERSION => {
                return Err(invalid_token("It was made by a later version."));
            }
            _ => return Err(malformed()),
        };
        let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(malformed)?;
        if checksum(body) != *sum {
            return Err(malformed());
        }
        let (query, rest) =
            body.get(1..).and_then(|rest| rest.split_first_chunk::<8>()).ok_or_else(malformed)?;
        if u64::from_be_bytes(*query) != query_fingerprint {
            return Err(invalid_token("It belongs to another query."));
        }
        let mut reader = Reader::new(rest, has_paths);
        let token = read_token(&mut reader).ok_or_else(malformed)?;
        if !reader.is_at_end() {
            return Err(malformed());
        }
        Ok(token)
    }
}

/// Makes an error about a token. Clients look for the first words.
pub(crate) fn invalid_token(why: &str) -> Error {
    invalid(&format!("Invalid Continuation Token. {why}"))
}

/// Makes an error about where a page is to begin.
pub(crate) fn invalid(message: &str) -> Error {
    Error::new(ErrorKind::Continuation, message)
}

pub(crate) fn checksum(bytes: &[u8]) -> [u8; 4] {
    (fingerprint(bytes) as u32).to_be_bytes()
}

fn work_fields(work: &mut Work) -> [&mut u64; 9] {
    let Work {
        partitions,
        seeks,
        fetched,
        fetched_bytes,
        scanned,
        scanned_bytes,
        entries,
        aggregate_rows,
        join_tuples,
    } = work;
    [partitions, seeks, fetched, fetched_bytes, scanned, scanned_bytes, entries, aggregate_rows, join_tuples]
}

fn push_unordered(position: &Unordered, out: &mut Vec<u8>) {
    out.push(1);
    push_number(position.segments.0.len() as u64, out);
    for (arc, Spot { place, partial }) in &position.segments.0 {
        push_arc(arc, out);
        push_place(place, out);
        out.push(u8::from(partial.is_some()));
        if let Some(Partial { number, given }) = partial {
            push_number(*number, out);
            push_given(given, out);
        }
    }
    push_number(position.aggregates.len() as u64, out);
    for aggregate in &position.aggregates {
        push_bytes(json::to_string(aggregate).as_bytes(), out);
    }
}

fn push_place(place: &ArcProgress, out: &mut Vec<u8>) {
    match place {
        ArcProgress::Fresh => out.push(0),
        ArcProgress::Number(number) => {
            out.push(1);
            push_number(*number, out);
        }
        ArcProgress::Key(mark) => {
            out.push(2);
            push_mark(mark, out);
        }
        ArcProgress::Entry(mark) => {
            out.push(3);
            push_mark(mark, out);
        }
    }
}

fn push_ordered(position: &Ordered, out: &mut Vec<u8>) {
    out.push(2);
    push_bytes(&position.key, out);
    out.push(u8::from(position.is_cut));
    push_number(position.ties.0.len() as u64, out);
    for (arc, Tied { number, given }) in &position.ties.0 {
        push_arc(arc, out);
        push_number(*number, out);
        out.push(u8::from(given.is_some()));
        if let Some(given) = given {
            push_given(given, out);
        }
    }
}

fn push_arc(arc: &Arc, out: &mut Vec<u8>) {
    push_bytes(arc.min.as_bytes(), out);
    push_bytes(arc.max.as_bytes(), out);
}

fn push_mark(mark: &Mark, out: &mut Vec<u8>) {
    push_bytes(&mark.bytes, out);
    out.push(u8::from(mark.is_cut));
    push_number(mark.number, out);
}

fn push_given(given: &Given, out: &mut Vec<u8>) {
    push_number(given.rows, out);
    push_number(given.tuples, out);
    let places = given.path.places();
    push_number(places.len() as u64, out);
    places.iter().for_each(|place| push_number(*place, out));
}

fn read_token(reader: &mut Reader<'_>) -> Option<Token> {
    let mut work = Work::default();
    for field in work_fields(&mut work) {
        *field = reader.number()?;
    }
    let steps = if reader.has_paths { reader.number()? } else { 0 };
    let rows = reader.number()?;
    let position = match reader.byte()? {
        0 => Position::Rerun,
        1 => Position::Unordered(read_unordered(reader)?),
        2 => Position::Ordered(read_ordered(reader)?),
        3 => Position::Behind(Behind {
            key: reader.bytes()?.to_vec(),
            identity: u128::from_be_bytes(reader.array()?),
            repeats: reader.number()?,
        }),
        _ => return None,
    };
    Some(Token { work, steps, rows, position })
}

fn read_unordered(reader: &mut Reader<'_>) -> Option<Unordered> {
    let mut segments = Vec::new();
    for _ in 0..reader.number()? {
        let arc = read_arc(reader)?;
        let place = match reader.byte()? {
            0 => ArcProgress::Fresh,
            1 => ArcProgress::Number(reader.wide_number()?),
            2 => ArcProgress::Key(read_mark(reader)?),
            3 => ArcProgress::Entry(read_mark(reader)?),
            _ => return None,
        };
        let partial = match read_flag(reader)? {
            false => None,
            true => Some(Partial { number: reader.wide_number()?, given: read_given(reader)? }),
        };
        segments.push((arc, Spot { place, partial }));
    }
    let mut aggregates = Vec::new();
    for _ in 0..reader.number()? {
        aggregates.push(json::parse_extended(reader.bytes()?).ok()?);
    }
    Some(Unordered { segments: Segments(segments), aggregates })
}

fn read_ordered(reader: &mut Reader<'_>) -> Option<Ordered> {
    let key = reader.bytes()?.to_vec();
    let is_cut = read_flag(reader)?;
    let mut ties = Vec::new();
    for _ in 0..reader.number()? {
        let arc = read_arc(reader)?;
        let number = reader.wide_number()?;
        let given = match read_flag(reader)? {
            false => None,
            true => Some(read_given(reader)?),
        };
        ties.push((arc, Tied { number, given }));
    }
    Some(Ordered { key, is_cut, ties: Segments(ties) })
}

fn read_arc(reader: &mut Reader<'_>) -> Option<Arc> {
    Some(Arc { min: HashedKey::from_bytes(reader.bytes()?), max: HashedKey::from_bytes(reader.bytes()?) })
}

fn read_mark(reader: &mut Reader<'_>) -> Option<Mark> {
    Some(Mark { bytes: reader.bytes()?.to_vec(), is_cut: read_flag(reader)?, number: reader.wide_number()? })
}

fn read_given(reader: &mut Reader<'_>) -> Option<Given> {
    let (rows, tuples) = (reader.number()?, reader.number()?);
    let mut places = Vec::new();
    if reader.has_paths {
        for _ in 0..reader.number().filter(|count| *count <= JOINS_MAX as u64)? {
            places.push(reader.number()?);
        }
    }
    Some(Given { rows, tuples, path: TuplePath::new(&places)? })
}

fn read_flag(reader: &mut Reader<'_>) -> Option<bool> {
    match reader.byte()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}
