//! Older backups go, with what only they need.

use std::collections::HashSet;

use crate::digest::Digest;
use crate::error::Result;
use crate::folder::{self, Folder};
use crate::sealed;

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The backups.
    pub backups: Vec<String>,
    /// Files of segments that no backup needs any more, and their bytes.
    pub segments: (u64, u64),
}

/// Keeps the newest backups of a folder, and removes the others and all files that nothing needs.
///
/// The backups that stay must be readable, or nothing is removed: what they need is in their manifests.
pub fn prune(mut folder: Folder, keep: usize) -> Result<Pruned> {
    let going = folder.backups().len().saturating_sub(keep);
    let mut needed: HashSet<Digest> = HashSet::new();
    for backup in &folder.backups()[going..] {
        needed.extend(folder.manifest(backup)?.segments().map(|segment| segment.digest));
    }
    let mut pruned = Pruned::default();
    if going > 0 {
        pruned.backups = folder.index.backups.drain(..going).map(|backup| backup.name).collect();
        // From here on they are no backups any more, however far this comes.
        folder.write_index()?;
    }
    folder.remove_leftovers()?;
    sealed::sync_folder(&folder.manifests_path())?;
    for path in folder.segment_folders()? {
        for file in folder::entries(&path)? {
            let name = file.file_name().and_then(|name| name.to_str()).and_then(Digest::parse);
            let Some(digest) = name.filter(|digest| !needed.contains(digest)) else { continue };
            let bytes = file.metadata().map_or(0, |metadata| metadata.len());
            folder::remove(&folder.segment_path(&digest))?;
            pruned.segments.0 += 1;
            pruned.segments.1 += bytes;
        }
    }
    Ok(pruned)
}
