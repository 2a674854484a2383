//! All spaces of a store at one moment, cut into segments.
//!
//! A walk goes forward frame by frame and keeps nothing but where it is, so what it takes of memory does not depend on
//! what there is to read. Where it is is a value of its own: a caller that lost a frame can have it made again.

use armilla_kv::{Family, Scan, SpaceId, StoreSnapshot};
use bytes::Bytes;

use crate::error::Result;
use crate::frame::{SpaceTotals, encode_end};
use crate::limits::{SCAN_BYTES_MAX, SCAN_ENTRIES_MAX};
use crate::segment::SegmentWriter;

/// A store at one moment, with the spaces that are walked over.
pub struct Walk {
    snapshot: Box<dyn StoreSnapshot>,
    spaces: Vec<SpaceId>,
}

/// How far a walk is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The space that is next or under way, by its place in the list.
    space_at: usize,
    /// The last entry before, in that space.
    after: Option<(Family, Bytes)>,
    /// What the spaces held that were begun.
    totals: Vec<SpaceTotals>,
    /// Whether the end was told.
    is_over: bool,
}

impl Position {
    /// The start of every walk.
    pub const START: Position = Position { space_at: 0, after: None, totals: Vec::new(), is_over: false };

    /// Returns whether there are no more frames.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns what was walked over, in each space that holds something.
    pub fn totals(&self) -> &[SpaceTotals] {
        &self.totals
    }
}

impl Walk {
    /// Walks over all spaces but some.
    pub fn new(snapshot: Box<dyn StoreSnapshot>, leave_out: &[SpaceId]) -> Result<Walk> {
        let mut spaces = snapshot.spaces()?;
        spaces.retain(|space| !leave_out.contains(space));
        Ok(Walk { snapshot, spaces })
    }

    /// Returns how many spaces are walked over.
    pub fn space_count(&self) -> usize {
        self.spaces.len()
    }

    /// Makes the frame at a position, and returns it with the position after it.
    pub fn frame(&self, position: &Position) -> Result<(Bytes, Position)> {
        let mut position = position.clone();
        while let Some(space) = self.spaces.get(position.space_at).copied() {
            if let Some(segment) = self.segment(space, &mut position)? {
                return Ok((segment, position));
            }
            position.space_at += 1;
            position.after = None;
        }
        position.is_over = true;
        Ok((encode_end(&position.totals), position))
    }

    /// Makes the next segment of a space, or nothing at its end.
    fn segment(&self, space: SpaceId, position: &mut Position) -> Result<Option<Bytes>> {
        let snapshot = self.snapshot.space(space)?;
        let mut writer = SegmentWriter::new(space);
        let first = position.after.as_ref().map_or(Family::ALL[0], |(family, _)| *family);
        'segment: for family in Family::ALL.into_iter().filter(|family| *family >= first) {
            let mut scan = Scan {
                entries_max: SCAN_ENTRIES_MAX,
                bytes_max: SCAN_BYTES_MAX,
                ..Scan::prefix(family, b"")
            };
            if let Some((_, key)) = position.after.as_ref().filter(|(last, _)| *last == family) {
                scan = scan.after(key);
            }
            loop {
                let page = snapshot.scan(&scan)?;
                let mut last = None;
                for (key, value) in page.entries {
                    let ends = writer.add(family, &key, &value)?;
                    last = Some(key);
                    if ends {
                        position.after = last.map(|key| (family, key));
                        break 'segment;
                    }
                }
                let Some(last) = last else { break };
                position.after = Some((family, last.clone()));
                if !page.more {
                    break;
                }
                scan = scan.after(&last);
            }
        }
        if writer.is_empty() {
            return Ok(None);
        }
        let (bytes, entries, content) = writer.finish();
        match position.totals.last_mut().filter(|totals| totals.space == space) {
            Some(totals) => {
                totals.entries += entries;
                totals.bytes += content;
            }
            None => position.totals.push(SpaceTotals { space, entries, bytes: content }),
        }
        Ok(Some(bytes))
    }
}
