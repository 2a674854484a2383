//! The folder in which backups of one account are kept.
//!
//! ```text
//! INDEX                     which backups there are
//! LOCK                      held while there is a writer, or readers, here
//! manifests/NAME.manifest   one backup
//! segments/AB/ABCD...       entries, in a file named by the sum of its bytes; shared by all backups that need them
//! ```
//!
//! Everything is for its owner alone: a backup holds what the data folder holds, the secret of resource tokens included.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::index::{Index, IndexEntry};
use crate::limits::{FRAME_BYTES_MAX, SEGMENT_FILE_BYTES_MAX};
use crate::manifest::{Manifest, SegmentRef};
use crate::sealed::{self, NEW_SUFFIX};
use crate::segment::Segment;

const INDEX: &str = "INDEX";
const LOCK: &str = "LOCK";
const MANIFESTS: &str = "manifests";
const MANIFEST_SUFFIX: &str = ".manifest";
pub(crate) const SEGMENTS: &str = "segments";

/// A folder of backups that is held: by readers together, by a writer alone.
pub struct Folder {
    path: PathBuf,
    pub(crate) index: Index,
    /// Held for its lock; the operating system lets go of it with the process, however that ends.
    _lock: Option<File>,
}

impl Folder {
    /// Takes hold of a folder to write backups to, making it when it is missing. One that is not empty must be ours.
    pub fn open_to_write(path: &Path) -> Result<Folder> {
        make_folder(path)?;
        let index_path = path.join(INDEX);
        let is_ours = index_path.try_exists().map_err(|error| Error::file("look into", path, &error))?;
        if !is_ours && !is_empty(path)? {
            return Err(Error::refused(format!(
                "folder {} is not empty and holds no backups: give another one",
                path.display()
            )));
        }
        let lock = lock(path, OpenOptions::new().create(true).truncate(false).write(true), File::try_lock)?;
        let index = if is_ours {
            Index::read(&index_path)?
        } else {
            Index::default().write(&index_path)?;
            Index::default()
        };
        make_folder(&path.join(MANIFESTS))?;
        make_folder(&path.join(SEGMENTS))?;
        sealed::sync_folder(path)?;
        Ok(Folder { path: path.to_path_buf(), index, _lock: lock })
    }

    /// Takes hold of a folder of backups to read them.
    pub fn open(path: &Path) -> Result<Folder> {
        let index_path = path.join(INDEX);
        if !path.is_dir() {
            return Err(Error::refused(format!("there is no folder {}", path.display())));
        }
        if matches!(index_path.try_exists(), Ok(false)) {
            return Err(Error::refused(format!(
                "folder {} has no INDEX: it is no folder of backups, or its INDEX was deleted",
                path.display()
            )));
        }
        let lock = lock(path, OpenOptions::new().read(true), File::try_lock_shared)?;
        Ok(Folder { index: Index::read(&index_path)?, path: path.to_path_buf(), _lock: lock })
    }

    /// Returns the backups that there are, oldest first.
    pub fn backups(&self) -> &[IndexEntry] {
        &self.index.backups
    }

    /// Returns the backup of a name, or the newest.
    pub fn find(&self, name: Option<&str>) -> Result<&IndexEntry> {
        let found = match name {
            Some(name) => self.index.backups.iter().find(|backup| backup.name == name),
            None => self.index.backups.last(),
        };
        found.ok_or_else(|| {
            Error::refused(match name {
                Some(name) => format!(
                    "folder {} has no backup {name}: `armilla backup list` shows those there are",
                    self.path.display()
                ),
                None => format!("folder {} holds no backup that was finished", self.path.display()),
            })
        })
    }

    /// Reads the manifest of a backup.
    pub fn manifest(&self, backup: &IndexEntry) -> Result<Manifest> {
        Manifest::read(&self.manifest_path(&backup.name), &backup.name, backup.manifest)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn index_path(&self) -> PathBuf {
        self.path.join(INDEX)
    }

    pub(crate) fn manifests_path(&self) -> PathBuf {
        self.path.join(MANIFESTS)
    }

    pub(crate) fn manifest_path(&self, name: &str) -> PathBuf {
        self.manifests_path().join(format!("{name}{MANIFEST_SUFFIX}"))
    }

    pub(crate) fn segment_path(&self, digest: &Digest) -> PathBuf {
        let name = digest.to_string();
        self.path.join(SEGMENTS).join(&name[..2]).join(name)
    }

    /// Returns the folders in which segments lie.
    pub(crate) fn segment_folders(&self) -> Result<Vec<PathBuf>> {
        let mut folders = entries(&self.path.join(SEGMENTS))?;
        folders.retain(|path| path.is_dir());
        Ok(folders)
    }

    /// Writes the index that is held.
    pub(crate) fn write_index(&self) -> Result<()> {
        self.index.write(&self.index_path())?;
        sealed::sync_folder(&self.path)
    }

    /// Removes what is not named by the index: manifests of backups that were cut off, and files half written.
    pub(crate) fn remove_leftovers(&self) -> Result<()> {
        for path in entries(&self.manifests_path())? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_named = self
                .index
                .backups
                .iter()
                .any(|backup| name.strip_suffix(MANIFEST_SUFFIX).is_some_and(|name| name == backup.name));
            let is_ours = name.ends_with(MANIFEST_SUFFIX) || name.ends_with(NEW_SUFFIX);
            if is_ours && !is_named {
                remove(&path)?;
            }
        }
        for folder in self.segment_folders()? {
            for path in entries(&folder)? {
                if path.extension().is_some_and(|extension| extension == &NEW_SUFFIX[1..]) {
                    remove(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a segment, and checks that it is the one that was written. Returns its bytes as well.
    pub(crate) fn segment(&self, reference: &SegmentRef) -> Result<(Segment, Bytes)> {
        let path = self.segment_path(&reference.digest);
        let file = sealed::read(&path, SEGMENT_FILE_BYTES_MAX)?;
        let damaged = |what: &str| Error::damaged(format!("{} {what}", path.display()));
        if file.len() as u64 != reference.file_bytes {
            return Err(damaged(&format!("has {} bytes instead of {}", file.len(), reference.file_bytes)));
        }
        if Digest::of(&file) != reference.digest {
            return Err(damaged("fails its sum"));
        }
        // From here on the bytes are those that were written: what is wrong now was wrong then.
        let bytes = decompress(&file).ok_or_else(|| damaged("cannot be decompressed"))?;
        let segment = Segment::decode(&bytes).map_err(|error| damaged(&format!("is wrong: {error}")))?;
        if segment.totals.entries != reference.entries {
            return Err(damaged(&format!(
                "has {} entries, the manifest says {}",
                segment.totals.entries, reference.entries
            )));
        }
        Ok((segment, bytes))
    }
}

/// Returns the bytes of a segment's file.
pub(crate) fn compress(segment: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress_prepend_size(segment)
}

fn decompress(file: &[u8]) -> Option<Bytes> {
    let (bytes, rest) = lz4_flex::block::uncompressed_size(file).ok()?;
    if bytes > FRAME_BYTES_MAX {
        return None;
    }
    lz4_flex::block::decompress(rest, bytes).ok().map(Bytes::from)
}

/// Makes a folder for its owner alone, unless it is there.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| Error::file("make the folder", path, &error))
}

pub(crate) fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| Error::file("remove", path, &error))
}

/// Returns what lies in a folder, in the order of names.
pub(crate) fn entries(path: &Path) -> Result<Vec<PathBuf>> {
    let fail = |error: std::io::Error| Error::file("look into", path, &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(fail)? {
        entries.push(entry.map_err(fail)?.path());
    }
    entries.sort();
    Ok(entries)
}

/// Whether nothing lies in a folder but what a process leaves that died while it made it.
fn is_empty(path: &Path) -> Result<bool> {
    let left = [LOCK.to_owned(), format!("{INDEX}{NEW_SUFFIX}")];
    Ok(entries(path)?.iter().all(|entry| left.iter().any(|name| entry.ends_with(name))))
}

fn lock(
    path: &Path,
    options: &mut OpenOptions,
    take: fn(&File) -> std::result::Result<(), TryLockError>,
) -> Result<Option<File>> {
    let lock_path = path.join(LOCK);
    let file = match options.open(&lock_path) {
        Ok(file) => file,
        // A copy of a folder may have none, and then it has no writer.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::file("open", &lock_path, &error)),
    };
    match take(&file) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => {
            Err(Error::refused(format!("folder {} is in use by another armilla", path.display())))
        }
        Err(TryLockError::Error(error)) => Err(Error::file("lock", &lock_path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_decompressed_than_a_frame_has() {
        let longest = vec![7; FRAME_BYTES_MAX + 1];
        let file = compress(&longest[1..]);
        assert!((file.len() as u64) < SEGMENT_FILE_BYTES_MAX);
        assert_eq!(decompress(&file).unwrap(), longest[1..]);
        assert_eq!(decompress(&compress(&longest)), None);
        // What a file says of itself is not believed before it is looked at.
        let mut file = compress(b"short");
        file[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(decompress(&file), None);
    }
}
