//! A backup becomes spaces of a new store.

use std::collections::VecDeque;

use armilla_kv::{Batch, CommitFuture, Space, Store, block_on};
use ring::digest::{Context, SHA256};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::frame::Frame;
use crate::limits::{RESTORE_BATCH_BYTES, RESTORE_BATCHES_AT_ONCE};
use crate::manifest::Manifest;
use crate::segment::Segment;
use crate::walk::{Position, Walk};

/// Writes all spaces of a backup to a store that is empty. `progress` is told the entries written so far.
pub fn restore(
    folder: &Folder,
    manifest: &Manifest,
    store: &dyn Store,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    if !store.snapshot_all()?.spaces()?.is_empty() {
        return Err(Error::refused("the store that a backup is restored to is not empty"));
    }
    let mut entries = 0;
    for space in &manifest.spaces {
        let opened = store.open_space(space.totals.space)?;
        let mut commits = Commits { space: &*opened, batch: Batch::new(), on_their_way: VecDeque::new() };
        for reference in &space.segments {
            let (segment, _) = folder.segment(reference)?;
            for (family, key, value) in segment.into_entries() {
                commits.batch.put(family, key, value);
                if commits.batch.bytes() >= RESTORE_BATCH_BYTES {
                    commits.send()?;
                }
            }
            entries += reference.entries;
            progress(entries);
        }
        commits.send()?;
        commits.wait(0)?;
    }
    Ok(())
}

/// Batches of one space, some of them on their way to the store.
struct Commits<'s> {
    space: &'s dyn Space,
    batch: Batch,
    on_their_way: VecDeque<CommitFuture>,
}

impl Commits<'_> {
    /// Sends what has been put together, once there is a place for it on the way.
    fn send(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.wait(RESTORE_BATCHES_AT_ONCE - 1)?;
        self.on_their_way.push_back(self.space.commit(std::mem::take(&mut self.batch)));
        Ok(())
    }

    /// Waits until no more than so many batches are on their way.
    fn wait(&mut self, on_their_way_max: usize) -> Result<()> {
        while self.on_their_way.len() > on_their_way_max
            && let Some(oldest) = self.on_their_way.pop_front()
        {
            block_on(oldest)?;
        }
        Ok(())
    }
}

/// Reads all spaces of a store and compares them with a backup, entry by entry. `progress` is told the entries read.
pub fn compare(manifest: &Manifest, store: &dyn Store, progress: &mut dyn FnMut(u64)) -> Result<()> {
    let walk = Walk::new(store.snapshot_all()?, &[])?;
    let mut position = Position::START;
    let mut contents: Vec<Context> = Vec::new();
    while !position.is_over() {
        let (bytes, next) = walk.frame(&position)?;
        if let Frame::Segment(_) = Frame::decode(&bytes)? {
            contents.resize_with(next.totals().len(), || Context::new(&SHA256));
            if let Some(content) = contents.last_mut() {
                content.update(Segment::body(&bytes));
            }
        }
        position = next;
        progress(position.totals().iter().map(|totals| totals.entries).sum());
    }
    let found = position.totals();
    if found.len() != manifest.spaces.len() {
        return Err(Error::damaged(format!(
            "{} spaces are there, the backup has {}",
            found.len(),
            manifest.spaces.len()
        )));
    }
    for ((found, content), expected) in found.iter().zip(contents).zip(&manifest.spaces) {
        if *found != expected.totals || Digest::of_context(content) != expected.content {
            return Err(Error::damaged(format!(
                "space {} has {} entries of {} bytes, in the backup it is space {} with {} of {}{}",
                found.space.0,
                found.entries,
                found.bytes,
                expected.totals.space.0,
                expected.totals.entries,
                expected.totals.bytes,
                if *found == expected.totals { ", and other content" } else { "" }
            )));
        }
    }
    Ok(())
}
