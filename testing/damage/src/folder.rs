//! Copies of folders, and what tells whether one was changed.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use ring::digest::{Context, SHA256};

/// Bytes that are copied, or left out, at once.
const PIECE_BYTES: usize = 256 * 1024;

/// Copies a folder with everything in it to a place where nothing is. Journals are long and nearly empty: what is zero is
/// left out, and read as zero.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            copy_file(&entry.path(), &target)
                .with_context(|| format!("cannot copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}

pub(crate) fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let mut source = File::open(from)?;
    let mut target = File::create(to)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = source.read(&mut piece)?;
        if count == 0 {
            break;
        }
        if is_zero(&piece[..count]) {
            target.seek(SeekFrom::Current(count as i64))?;
        } else {
            target.write_all(&piece[..count])?;
        }
    }
    target.set_len(source.metadata()?.len())?;
    Ok(())
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |any, byte| any | byte) == 0
}

/// Returns where the last byte of a file lies that is not zero, and one more.
pub(crate) fn content_bytes(path: &Path) -> Result<u64> {
    let content = fs::read(path)?;
    Ok(content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last as u64 + 1))
}

/// Every file and folder below a folder, by its path from there, with what it holds and when it was changed.
pub(crate) type Fingerprint = Vec<(PathBuf, SystemTime, Vec<u8>)>;

/// Returns what tells whether a folder was changed.
pub(crate) fn fingerprint(folder: &Path) -> Result<Fingerprint> {
    let mut found = Vec::new();
    collect(folder, folder, &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(root: &Path, folder: &Path, found: &mut Fingerprint) -> Result<()> {
    let name = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
    found.push((name(folder), fs::metadata(folder)?.modified()?, Vec::new()));
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(root, &entry.path(), found)?;
        } else {
            let mut digest = Context::new(&SHA256);
            digest.update(&entry.metadata()?.len().to_be_bytes());
            let mut file = File::open(entry.path())?;
            let mut piece = vec![0; PIECE_BYTES];
            let mut at: u64 = 0;
            loop {
                let count = file.read(&mut piece)?;
                if count == 0 {
                    break;
                }
                if !is_zero(&piece[..count]) {
                    digest.update(&at.to_be_bytes());
                    digest.update(&piece[..count]);
                }
                at += count as u64;
            }
            found.push((
                name(&entry.path()),
                entry.metadata()?.modified()?,
                digest.finish().as_ref().to_vec(),
            ));
        }
    }
    Ok(())
}

/// Returns all files and folders below a folder, by their paths from there, in order.
pub(crate) fn list(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next)? {
            let entry = entry?;
            let name = entry.path().strip_prefix(folder)?.to_owned();
            if entry.file_type()?.is_dir() {
                left.push(entry.path());
                folders.push(name);
            } else {
                files.push(name);
            }
        }
    }
    files.sort();
    folders.sort();
    Ok((files, folders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_alike_and_changes_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("inner")).unwrap();
        let mut content = vec![0; 3 * PIECE_BYTES + 5];
        content[PIECE_BYTES + 7] = 9;
        fs::write(from.join("inner/file"), &content).unwrap();
        fs::write(from.join("empty"), "").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("inner/file")).unwrap(), content);
        assert_eq!(content_bytes(&to.join("inner/file")).unwrap(), PIECE_BYTES as u64 + 8);
        let before = fingerprint(&to).unwrap();
        assert_eq!(before, fingerprint(&to).unwrap());
        content[PIECE_BYTES + 7] = 8;
        fs::write(to.join("inner/file"), &content).unwrap();
        assert_ne!(before, fingerprint(&to).unwrap());
        let (files, folders) = list(&to).unwrap();
        assert_eq!((files.len(), folders.len()), (2, 1));
    }
}
