//! Frames become files, and at last a backup.
//!
//! Each segment is written to a file that is named by the sum of its bytes, unless that file is there already and holds
//! them. When the end has come and everything adds up, the manifest is written, and then the index that names it.
//! Each step is durable before the next begins.

use std::collections::BTreeSet;
use std::path::PathBuf;

use armilla_kv::Family;
use bytes::Bytes;
use ring::digest::{Context, SHA256};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::folder::{self, Folder};
use crate::frame::{Frame, SpaceTotals};
use crate::index::{IndexEntry, name_of_moment};
use crate::manifest::{Manifest, Origin, SegmentRef, SpaceRecord};
use crate::sealed;
use crate::segment::Segment;

/// A backup that is being taken. Dropped before it is finished it leaves nothing but files that no backup needs.
pub struct Taking {
    folder: Folder,
    origin: Origin,
    spaces: Vec<SpaceRecord>,
    /// The space that is under way: the sum of its entries so far, and the last of them.
    under_way: Option<(Context, Family, Bytes)>,
    /// Folders with names that are to be made durable.
    touched: BTreeSet<PathBuf>,
    taken: Taken,
    is_over: bool,
}

/// What a backup came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Its name.
    pub name: String,
    /// Spaces that hold something.
    pub spaces: u64,
    /// Entries of all spaces.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Segments that were written, and the bytes of their files.
    pub written: (u64, u64),
    /// Segments that were there from earlier backups, and the bytes of their files.
    pub shared: (u64, u64),
}

impl Taking {
    /// Begins a backup of an account in a folder that holds backups of the same account, or none.
    pub fn new(folder: Folder, origin: Origin) -> Result<Taking> {
        if let Some(account) = &folder.index.account
            && *account != origin.account
        {
            return Err(Error::refused(format!(
                "folder {} holds backups of another account: give each account a folder of its own",
                folder.path().display()
            )));
        }
        folder.remove_leftovers()?;
        let mut touched = BTreeSet::new();
        touched.insert(folder.path().join(folder::SEGMENTS));
        Ok(Taking {
            folder,
            origin,
            spaces: Vec::new(),
            under_way: None,
            touched,
            taken: Taken::default(),
            is_over: false,
        })
    }

    /// Takes the next frame. Returns whether it was the last.
    pub fn add(&mut self, frame: &Bytes) -> Result<bool> {
        if self.is_over {
            return Err(Error::malformed("something came after the end of the backup"));
        }
        match Frame::decode(frame)? {
            Frame::Segment(segment) => self.segment(&segment, frame)?,
            Frame::End(totals) => {
                self.end_of_space();
                self.check(&totals)?;
                self.is_over = true;
            }
        }
        Ok(self.is_over)
    }

    /// Returns what was taken so far.
    pub fn so_far(&self) -> &Taken {
        &self.taken
    }

    /// Makes it a backup.
    pub fn finish(mut self) -> Result<Taken> {
        if !self.is_over {
            return Err(Error::malformed("the end of the backup has not come"));
        }
        for folder in &self.touched {
            sealed::sync_folder(folder)?;
        }
        let name = self.free_name();
        let manifest = Manifest { name: name.clone(), origin: self.origin.clone(), spaces: self.spaces };
        let bytes = manifest.encode()?;
        sealed::write(&self.folder.manifest_path(&name), &bytes)?;
        sealed::sync_folder(&self.folder.manifests_path())?;
        self.folder.index.account = Some(self.origin.account);
        self.folder.index.backups.push(IndexEntry { name: name.clone(), manifest: Digest::of(&bytes) });
        self.folder.write_index()?;
        Ok(Taken { name, ..self.taken })
    }

    fn segment(&mut self, segment: &Segment, bytes: &Bytes) -> Result<()> {
        let space = segment.totals.space;
        let (Some(first), Some((last_family, last_key))) = (segment.first(), segment.last()) else {
            return Err(Error::malformed("a segment is empty"));
        };
        let current = self.spaces.last().map(|record| record.totals.space);
        let mut content = match (&mut self.under_way, current) {
            (under_way @ Some(_), Some(current)) if current == space => {
                let Some((content, family, key)) = under_way.take() else {
                    return Err(Error::malformed("a space has no beginning"));
                };
                if (family, &key) >= first {
                    return Err(Error::malformed(format!("segments of space {} are not in order", space.0)));
                }
                content
            }
            (_, Some(current)) if current >= space => {
                return Err(Error::malformed(format!("space {} comes after space {}", space.0, current.0)));
            }
            _ => {
                self.end_of_space();
                self.spaces.push(SpaceRecord {
                    totals: SpaceTotals { space, entries: 0, bytes: 0 },
                    content: Digest::of(b""),
                    segments: Vec::new(),
                });
                self.taken.spaces += 1;
                Context::new(&SHA256)
            }
        };
        content.update(Segment::body(bytes));
        let (last_family, last_key) = (last_family, Bytes::copy_from_slice(last_key));
        self.under_way = Some((content, last_family, last_key));
        let reference = self.store(bytes, segment.totals.entries)?;
        if let Some(record) = self.spaces.last_mut() {
            record.totals.entries += segment.totals.entries;
            record.totals.bytes += segment.totals.bytes;
            record.segments.push(reference);
        }
        self.taken.entries += segment.totals.entries;
        self.taken.bytes += segment.totals.bytes;
        Ok(())
    }

    fn end_of_space(&mut self) {
        if let (Some((content, ..)), Some(record)) = (self.under_way.take(), self.spaces.last_mut()) {
            record.content = Digest::of_context(content);
        }
    }

    /// Compares what came with what was sent.
    fn check(&self, totals: &[SpaceTotals]) -> Result<()> {
        let came: Vec<SpaceTotals> = self.spaces.iter().map(|record| record.totals).collect();
        if came == totals {
            return Ok(());
        }
        let differing = came.iter().zip(totals).find(|(came, sent)| came != sent);
        Err(Error::malformed(match differing {
            Some((came, sent)) => format!("what was sent adds up to {sent:?}, what came to {came:?}"),
            None => format!("{} spaces were sent, {} came", totals.len(), came.len()),
        }))
    }

    /// Writes a segment, unless it is there.
    fn store(&mut self, segment: &[u8], entries: u64) -> Result<SegmentRef> {
        let file = folder::compress(segment);
        let reference = SegmentRef { digest: Digest::of(&file), file_bytes: file.len() as u64, entries };
        let path = self.folder.segment_path(&reference.digest);
        if let Some(parent) = path.parent()
            && !self.touched.contains(parent)
        {
            folder::make_folder(parent)?;
            self.touched.insert(parent.to_path_buf());
        }
        // One that was damaged meanwhile is written again, for this backup and for those before it.
        let count = match self.holds(&reference) {
            true => &mut self.taken.shared,
            false => {
                sealed::write(&path, &file)?;
                &mut self.taken.written
            }
        };
        count.0 += 1;
        count.1 += reference.file_bytes;
        Ok(reference)
    }

    fn holds(&self, reference: &SegmentRef) -> bool {
        let path = self.folder.segment_path(&reference.digest);
        let is_there = path.metadata().is_ok_and(|metadata| metadata.len() == reference.file_bytes);
        is_there
            && sealed::read(&path, reference.file_bytes)
                .is_ok_and(|file| Digest::of(&file) == reference.digest)
    }

    fn free_name(&self) -> String {
        let name = name_of_moment(self.origin.moment_ms);
        let is_free = |name: &String| self.folder.backups().iter().all(|backup| backup.name != *name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
    }
}
