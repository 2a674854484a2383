//! Copies of data folders that no server has open.

use std::path::Path;

use anyhow::{Context as _, Result};

/// Copies a folder with all files and folders in it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let entries = std::fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", from.display()))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match source.is_dir() {
            true => copy(&source, &target)?,
            false => {
                std::fs::copy(&source, &target)
                    .with_context(|| format!("cannot copy {}", source.display()))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_inside_come_along() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir_all(from.join("a/b")).unwrap();
        std::fs::write(from.join("x"), "1").unwrap();
        std::fs::write(from.join("a/b/y"), "2").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join("x")).unwrap(), "1");
        assert_eq!(std::fs::read_to_string(to.join("a/b/y")).unwrap(), "2");
        assert!(copy(&folder.path().join("none"), &to).is_err());
    }
}
