//! Copying and measuring the folder that a server stores in.

use std::path::Path;

use anyhow::Result;

/// Copies a folder with everything in it to a place where nothing is, or where another copy was.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Returns the bytes of all files in a folder.
pub(crate) fn bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() { bytes(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_copied_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir_all(from.join("inner")).unwrap();
        std::fs::write(from.join("inner/file"), "xyz").unwrap();
        std::fs::write(from.join("file"), "x").unwrap();
        for _ in 0..2 {
            copy(&from, &to).unwrap();
            assert_eq!(std::fs::read_to_string(to.join("inner/file")).unwrap(), "xyz");
            assert_eq!(bytes(&to).unwrap(), 4);
        }
    }
}
