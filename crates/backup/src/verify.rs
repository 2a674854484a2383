//! Every byte of a backup is read and compared.

use std::collections::HashSet;

use ring::digest::{Context, SHA256};

use crate::digest::Digest;
use crate::error::{ErrorKind, Result};
use crate::folder::Folder;
use crate::frame::SpaceTotals;
use crate::index::IndexEntry;
use crate::limits::PROBLEMS_MAX;
use crate::manifest::{Manifest, SpaceRecord};
use crate::segment::Segment;

/// Something that is wrong with a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The backup.
    pub backup: String,
    /// What is wrong, and with which file.
    pub message: String,
}

/// What a verification found.
#[derive(Debug, Clone, Default)]
pub struct Verified {
    /// The backups that are whole.
    pub whole: Vec<Manifest>,
    /// Files of segments that were read.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Reads everything that some backups of a folder need. `progress` is told the bytes read so far.
///
/// Fails where the disk does; what is missing or wrong is a finding.
pub fn verify(folder: &Folder, backups: &[IndexEntry], progress: &mut dyn FnMut(u64)) -> Result<Verified> {
    let mut verified = Verified::default();
    // What backups share is read once. That its space is in order was found with the first.
    let mut known: HashSet<Digest> = HashSet::new();
    for backup in backups {
        let mut problems = Vec::new();
        let manifest = match folder.manifest(backup) {
            Ok(manifest) => Some(manifest),
            Err(error) if error.kind() == ErrorKind::Io => return Err(error),
            Err(error) => {
                problems.push(error.to_string());
                None
            }
        };
        for space in manifest.iter().flat_map(|manifest| &manifest.spaces) {
            check_space(folder, space, &mut known, &mut verified, &mut problems, progress)?;
        }
        if let Some(manifest) = manifest
            && problems.is_empty()
        {
            verified.whole.push(manifest);
        }
        let named = |message| Problem { backup: backup.name.clone(), message };
        verified.problems.extend(problems.into_iter().map(named));
    }
    Ok(verified)
}

fn check_space(
    folder: &Folder,
    space: &SpaceRecord,
    known: &mut HashSet<Digest>,
    verified: &mut Verified,
    problems: &mut Vec<String>,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let id = space.totals.space;
    let mut content = Context::new(&SHA256);
    let mut seen = SpaceTotals { space: id, entries: 0, bytes: 0 };
    // Only where all of its segments are read here can the whole be compared.
    let mut is_read = true;
    for reference in &space.segments {
        if known.contains(&reference.digest) {
            is_read = false;
            continue;
        }
        match folder.segment(reference) {
            Ok((segment, bytes)) => {
                content.update(Segment::body(&bytes));
                if segment.totals.space != id {
                    let other = segment.totals.space.0;
                    list(problems, format!("a segment of space {other} is named by space {}", id.0));
                    is_read = false;
                }
                seen.entries += segment.totals.entries;
                seen.bytes += segment.totals.bytes;
                known.insert(reference.digest);
                verified.segments += 1;
                verified.bytes += reference.file_bytes;
                progress(verified.bytes);
            }
            Err(error) if error.kind() == ErrorKind::Io => return Err(error),
            Err(error) => {
                is_read = false;
                list(problems, error.to_string());
            }
        }
    }
    if is_read && (seen != space.totals || Digest::of_context(content) != space.content) {
        let SpaceTotals { entries, bytes, .. } = space.totals;
        let space = id.0;
        list(
            problems,
            format!(
                "the segments of space {space} do not add up to what the manifest says: {entries} entries, {bytes} bytes"
            ),
        );
    }
    Ok(())
}

/// Lists a problem, unless there are many already.
fn list(problems: &mut Vec<String>, problem: String) {
    if problems.len() < PROBLEMS_MAX {
        problems.push(problem);
    }
}
