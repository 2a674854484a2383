//! The data folder: made when missing, held by one process at a time, of a format we know.
//!
//! Layout: `FORMAT` (which layout this is, text), `LOCK` (held while a process uses the folder), `store/`
//! (the stored data, see the store's own documents), `tls/` (the self-signed certificate).
//!
//! Invariant: nothing is written to a folder that is not ours: it was empty, or has our `FORMAT`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The newest layout of the folder this program knows, and the one it makes.
const FORMAT: u32 = 1;

const FORMAT_FILE: &str = "FORMAT";
const FORMAT_TITLE: &str = "armilla data folder, format ";
const LOCK_FILE: &str = "LOCK";

/// A data folder that this process holds.
pub(crate) struct DataDir {
    path: PathBuf,
    // Held for its lock: the operating system lets go of it with the process, however that ends.
    _lock: File,
}

impl DataDir {
    /// Takes hold of a folder, making it when it is missing.
    pub(crate) fn open_or_create(path: &Path) -> Result<DataDir> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the data folder {}", path.display()))?;
        let has_format = path.join(FORMAT_FILE).try_exists().unwrap_or(true);
        if !has_format && !is_empty(path)? {
            bail!(
                "folder {} is not empty and not a data folder of armilla: give another one with --data-dir",
                path.display()
            );
        }
        DataDir::hold(path)
    }

    /// Takes hold of a folder that must exist.
    pub(crate) fn open(path: &Path) -> Result<DataDir> {
        if !path.join(FORMAT_FILE).is_file() {
            bail!("{} is not a data folder of armilla", path.display());
        }
        DataDir::hold(path)
    }

    fn hold(path: &Path) -> Result<DataDir> {
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join(LOCK_FILE))
            .with_context(|| format!("cannot write to the data folder {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("data folder {} is in use by another armilla", path.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock the data folder {}", path.display()));
            }
        }
        match fs::read_to_string(path.join(FORMAT_FILE)) {
            Ok(text) => check_format(path, &text)?,
            Err(error) if error.kind() == ErrorKind::NotFound => write_durably(
                &path.join(FORMAT_FILE),
                format!("{FORMAT_TITLE}{FORMAT}\n").as_bytes(),
                Readers::Everybody,
            )
            .with_context(|| format!("cannot write to the data folder {}", path.display()))?,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read the data folder {}", path.display()));
            }
        }
        Ok(DataDir { path: path.to_path_buf(), _lock: lock })
    }

    /// Returns where the store keeps its files.
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join("store")
    }

    /// Returns where the self-signed certificate lies.
    pub(crate) fn tls(&self) -> PathBuf {
        self.path.join("tls")
    }
}

fn is_empty(path: &Path) -> Result<bool> {
    let entries =
        fs::read_dir(path).with_context(|| format!("cannot read the data folder {}", path.display()))?;
    for entry in entries {
        let name =
            entry.with_context(|| format!("cannot read the data folder {}", path.display()))?.file_name();
        // Left behind by a process that died between taking the lock and writing the format.
        if name != LOCK_FILE && name != format!("{FORMAT_FILE}.new").as_str() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn check_format(path: &Path, text: &str) -> Result<()> {
    let format: Option<u32> = text.strip_prefix(FORMAT_TITLE).and_then(|rest| rest.trim_end().parse().ok());
    match format {
        Some(FORMAT) => Ok(()),
        Some(newer) if newer > FORMAT => bail!(
            "data folder {} has format {newer}, this armilla knows formats up to {FORMAT}: use a newer armilla",
            path.display()
        ),
        _ => bail!("data folder {} has a FORMAT file that is damaged", path.display()),
    }
}

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Whoever the folder lets in.
    Everybody,
    /// The user of this process alone.
    Owner,
}

/// Replaces a file as a whole: after a crash it is the old one or the new one.
pub(crate) fn write_durably(path: &Path, bytes: &[u8], readers: Readers) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::OpenOptionsExt as _;
        // A file left behind would keep its old mode.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => options.mode(0o600),
        };
    }
    let mut file = options.open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        // A bare file name lies in the folder without a name.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<DataDir>) -> String {
        format!("{:#}", result.err().unwrap())
    }

    #[test]
    fn a_folder_is_made_held_and_held_again() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("deep/data");
        let first = DataDir::open_or_create(&path).unwrap();
        let second = message(DataDir::open_or_create(&path));
        assert_eq!(second, format!("data folder {} is in use by another armilla", path.display()));
        assert!(message(DataDir::open(&path)).contains("in use"));
        drop(first);
        DataDir::open(&path).unwrap();
    }

    #[test]
    fn foreign_newer_and_damaged_folders_are_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path();
        assert!(message(DataDir::open(path)).contains("not a data folder"));
        fs::write(path.join("holiday.jpg"), "x").unwrap();
        assert!(message(DataDir::open_or_create(path)).contains("not empty"));
        assert!(!path.join(LOCK_FILE).exists());
        fs::write(path.join(FORMAT_FILE), "armilla data folder, format 2\n").unwrap();
        let newer = message(DataDir::open_or_create(path));
        assert!(newer.contains("has format 2, this armilla knows formats up to 1"), "{newer}");
        for damaged in ["", "armilla data folder, format x", "armilla data folder, format 0", "hello"] {
            fs::write(path.join(FORMAT_FILE), damaged).unwrap();
            assert!(message(DataDir::open_or_create(path)).contains("damaged"));
        }
    }

    #[test]
    fn a_half_made_folder_is_finished() {
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join(LOCK_FILE), "").unwrap();
        fs::write(temporary.path().join("FORMAT.new"), "arm").unwrap();
        DataDir::open_or_create(temporary.path()).unwrap();
        DataDir::open(temporary.path()).unwrap();
    }
}
