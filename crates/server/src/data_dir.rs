//! The data folder: made when missing, held by one process at a time, of a format we know.
//!
//! Layout: `FORMAT` (which layout this is, text), `LOCK` (held while a process uses the folder), `store/`
//! (the stored data, see the store's own documents), `tls/` (the self-signed certificate).
//!
//! A new folder has format 1. Once there is a store in it, it has format 2, and then the store must be there: a folder whose
//! store is gone is not served as an empty one.
//!
//! Invariant: nothing is written to a folder that is not ours: it was empty, or has our `FORMAT`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use armilla_kv_embedded::EmbeddedStore;

/// The layout of a folder in which a store may have been made.
const FORMAT: u32 = 1;

/// The layout of a folder in which there is a store. The newest that this program knows.
const FORMAT_WITH_STORE: u32 = 2;

const FORMAT_FILE: &str = "FORMAT";
const FORMAT_TITLE: &str = "armilla data folder, format ";
const LOCK_FILE: &str = "LOCK";
const STORE_FOLDER: &str = "store";

/// Stands in a folder that a restore has begun to fill.
const RESTORING_FILE: &str = "RESTORING";

/// A folder that is to become a data folder: it has no `FORMAT` until everything else is there, so that no server
/// takes it before.
pub(crate) struct NewDataDir {
    path: PathBuf,
    _lock: File,
}

/// A data folder that this process holds.
pub(crate) struct DataDir {
    path: PathBuf,
    format: u32,
    // Held for its lock: the operating system lets go of it with the process, however that ends.
    _lock: File,
}

impl DataDir {
    /// Takes hold of a folder, making it when it is missing.
    pub(crate) fn open_or_create(path: &Path) -> Result<DataDir> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the data folder {}", path.display()))?;
        let has_format = path.join(FORMAT_FILE).try_exists().unwrap_or(true);
        if !has_format && path.join(RESTORING_FILE).exists() {
            bail!(
                "folder {} was being restored and is not complete: empty it and restore again",
                path.display()
            );
        }
        if !has_format && !is_empty(path)? {
            bail!(
                "folder {} is not empty and not a data folder of armilla: give another one with --data-dir",
                path.display()
            );
        }
        DataDir::hold(path)
    }

    /// Takes hold of a folder that must exist, to look at it: nothing in it is changed.
    pub(crate) fn look_at(path: &Path) -> Result<DataDir> {
        if !path.join(FORMAT_FILE).is_file() {
            bail!("{} is not a data folder of armilla: it has no file {FORMAT_FILE}", path.display());
        }
        // One without the file is in use nowhere. Holding the folder itself costs nothing and says nothing.
        let lock = File::open(path.join(LOCK_FILE)).or_else(|error| match error.kind() {
            ErrorKind::NotFound => File::open(path),
            _ => Err(error),
        });
        let lock = lock.with_context(|| format!("cannot read the data folder {}", path.display()))?;
        let taken = lock.try_lock_shared();
        let text = fs::read(path.join(FORMAT_FILE))
            .with_context(|| format!("cannot read the data folder {}", path.display()))?;
        DataDir::held(path, lock, taken, &text)
    }

    /// Takes hold of a folder that must exist, to repair it. A lost `FORMAT` is made anew where there is a store.
    pub(crate) fn open_to_repair(path: &Path) -> Result<DataDir> {
        let format = path.join(FORMAT_FILE);
        let is_known = fs::read(&format).is_ok_and(|text| read_format(&text).is_some());
        if !is_known {
            if !EmbeddedStore::exists(path.join(STORE_FOLDER)) {
                bail!("{} is not a data folder of armilla", path.display());
            }
            write_format(path, FORMAT_WITH_STORE)?;
        }
        DataDir::hold(path)
    }

    /// Refuses a folder in which something lies.
    pub(crate) fn check_new(path: &Path) -> Result<()> {
        if path.exists() && (path.join(FORMAT_FILE).exists() || !is_empty(path)?) {
            bail!("folder {} is not empty: give another one with --data-dir", path.display());
        }
        Ok(())
    }

    /// Makes a folder that no server takes until it is finished.
    pub(crate) fn begin_new(path: &Path) -> Result<NewDataDir> {
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the data folder {}", path.display()))?;
        DataDir::check_new(path)?;
        let lock = open_lock(path)?;
        check_taken(path, lock.try_lock())?;
        write_durably(&path.join(RESTORING_FILE), b"a restore is filling this folder\n", Readers::Everybody)
            .with_context(|| format!("cannot write to the data folder {}", path.display()))?;
        Ok(NewDataDir { path: path.to_path_buf(), _lock: lock })
    }

    fn hold(path: &Path) -> Result<DataDir> {
        let lock = open_lock(path)?;
        let taken = lock.try_lock();
        match fs::read(path.join(FORMAT_FILE)) {
            Ok(text) => DataDir::held(path, lock, taken, &text),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let new = DataDir::held(path, lock, taken, format!("{FORMAT_TITLE}{FORMAT}\n").as_bytes())?;
                write_format(path, FORMAT)?;
                Ok(new)
            }
            Err(error) => {
                Err(error).with_context(|| format!("cannot read the data folder {}", path.display()))
            }
        }
    }

    fn held(
        path: &Path,
        lock: File,
        taken: std::result::Result<(), TryLockError>,
        format: &[u8],
    ) -> Result<DataDir> {
        check_taken(path, taken)?;
        Ok(DataDir { path: path.to_path_buf(), format: check_format(path, format)?, _lock: lock })
    }

    /// Returns where the store keeps its files.
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join(STORE_FOLDER)
    }

    /// Fails if there was a store and it is gone.
    pub(crate) fn check_store_is_there(&self) -> Result<()> {
        if self.format >= FORMAT_WITH_STORE && !EmbeddedStore::exists(self.store()) {
            bail!(
                "data folder {} had a store, and {} is gone: is a disk not mounted? Put it back, or restore a backup",
                self.path.display(),
                self.store().display()
            );
        }
        Ok(())
    }

    /// Fails if there is a store, where another is to be served.
    pub(crate) fn check_has_no_store(&self) -> Result<()> {
        if self.format >= FORMAT_WITH_STORE {
            bail!(
                "data folder {} has an account of its own: with --store, give another folder with --data-dir",
                self.path.display()
            );
        }
        Ok(())
    }

    /// Notes that there is a store now, which must be there from here on.
    pub(crate) fn note_store(&mut self) -> Result<()> {
        if self.format < FORMAT_WITH_STORE {
            write_format(&self.path, FORMAT_WITH_STORE)?;
            self.format = FORMAT_WITH_STORE;
        }
        Ok(())
    }

    /// Returns where copies lie of what is in an object store.
    pub(crate) fn copies(&self) -> PathBuf {
        self.path.join("copies")
    }

    /// Returns where the self-signed certificate lies.
    pub(crate) fn tls(&self) -> PathBuf {
        self.path.join("tls")
    }
}

impl NewDataDir {
    /// Returns where the store keeps its files.
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join(STORE_FOLDER)
    }

    /// Makes it a data folder.
    pub(crate) fn finish(self) -> Result<()> {
        // In this order: in between it has neither, and is refused for what lies in it.
        fs::remove_file(self.path.join(RESTORING_FILE))
            .with_context(|| format!("cannot write to the data folder {}", self.path.display()))?;
        write_format(&self.path, FORMAT_WITH_STORE)
    }
}

fn open_lock(path: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.join(LOCK_FILE))
        .with_context(|| format!("cannot write to the data folder {}", path.display()))
}

fn check_taken(path: &Path, taken: std::result::Result<(), TryLockError>) -> Result<()> {
    match taken {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            bail!("data folder {} is in use by another armilla", path.display())
        }
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("cannot lock the data folder {}", path.display()))
        }
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

fn read_format(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    text.strip_prefix(FORMAT_TITLE).and_then(|rest| rest.trim_end().parse().ok())
}

fn check_format(path: &Path, text: &[u8]) -> Result<u32> {
    match read_format(text) {
        Some(format @ (FORMAT | FORMAT_WITH_STORE)) => Ok(format),
        Some(newer) if newer > FORMAT_WITH_STORE => bail!(
            "data folder {} has format {newer}, this armilla knows formats up to {FORMAT_WITH_STORE}: use a newer armilla",
            path.display()
        ),
        _ => bail!(
            "data folder {} has a FORMAT file that is damaged: `armilla repair` writes it anew",
            path.display()
        ),
    }
}

fn write_format(path: &Path, format: u32) -> Result<()> {
    let text = format!("{FORMAT_TITLE}{format}\n");
    write_durably(&path.join(FORMAT_FILE), text.as_bytes(), Readers::Everybody)
        .with_context(|| format!("cannot write to the data folder {}", path.display()))
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
        assert!(message(DataDir::look_at(&path)).contains("in use"));
        drop(first);
        DataDir::look_at(&path).unwrap();
    }

    #[test]
    fn foreign_newer_and_damaged_folders_are_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path();
        assert!(message(DataDir::look_at(path)).contains("not a data folder"));
        fs::write(path.join("holiday.jpg"), "x").unwrap();
        assert!(message(DataDir::open_or_create(path)).contains("not empty"));
        assert!(!path.join(LOCK_FILE).exists());
        fs::write(path.join(FORMAT_FILE), "armilla data folder, format 3\n").unwrap();
        let newer = message(DataDir::open_or_create(path));
        assert!(newer.contains("has format 3, this armilla knows formats up to 2"), "{newer}");
        for damaged in ["", "armilla data folder, format x", "armilla data folder, format 0", "hello"] {
            fs::write(path.join(FORMAT_FILE), damaged).unwrap();
            assert!(message(DataDir::open_or_create(path)).contains("damaged"));
        }
    }

    #[test]
    fn a_folder_that_is_being_restored_is_no_data_folder() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("new");
        let new = DataDir::begin_new(&path).unwrap();
        fs::create_dir(new.store()).unwrap();
        let held = DataDir::begin_new(&path).err().unwrap().to_string();
        assert!(held.contains("is not empty"), "{held}");
        // Cut off here: nobody takes it, for serving or for anything else.
        drop(new);
        assert!(message(DataDir::open_or_create(&path)).contains("was being restored and is not complete"));
        assert!(message(DataDir::look_at(&path)).contains("not a data folder"));
        assert!(DataDir::check_new(&path).is_err());
        // Cut off between the last two steps.
        fs::remove_file(path.join(RESTORING_FILE)).unwrap();
        assert!(message(DataDir::open_or_create(&path)).contains("is not empty"));
        fs::remove_dir(path.join(STORE_FOLDER)).unwrap();
        // A folder that is there and empty serves as well.
        let new = DataDir::begin_new(&path).unwrap();
        fs::create_dir(new.store()).unwrap();
        new.finish().unwrap();
        DataDir::look_at(&path).unwrap();
        assert!(!path.join(RESTORING_FILE).exists());
        assert!(DataDir::check_new(&path).unwrap_err().to_string().contains("is not empty"));
        fs::write(temporary.path().join("file"), "x").unwrap();
        assert!(DataDir::check_new(&temporary.path().join("file")).is_err());
    }

    #[test]
    fn a_half_made_folder_is_finished() {
        let temporary = tempfile::tempdir().unwrap();
        fs::write(temporary.path().join(LOCK_FILE), "").unwrap();
        fs::write(temporary.path().join("FORMAT.new"), "arm").unwrap();
        DataDir::open_or_create(temporary.path()).unwrap();
        DataDir::look_at(temporary.path()).unwrap();
    }

    #[test]
    fn a_store_that_was_there_must_stay() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path();
        let mut folder = DataDir::open_or_create(path).unwrap();
        folder.check_store_is_there().unwrap();
        fs::create_dir_all(folder.store().join("fjall")).unwrap();
        folder.note_store().unwrap();
        drop(folder);
        DataDir::open_or_create(path).unwrap().check_store_is_there().unwrap();
        fs::remove_dir_all(path.join("store")).unwrap();
        let gone = DataDir::open_or_create(path).unwrap().check_store_is_there().unwrap_err().to_string();
        assert!(gone.contains("is gone"), "{gone}");
        fs::create_dir_all(path.join("store")).unwrap();
        assert!(DataDir::look_at(path).unwrap().check_store_is_there().is_err());
    }

    #[test]
    fn looking_changes_nothing_and_repairing_finds_a_folder_without_a_format() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path();
        assert!(message(DataDir::open_to_repair(path)).contains("not a data folder"));
        fs::create_dir_all(path.join("store/fjall")).unwrap();
        assert!(message(DataDir::look_at(path)).contains("no file FORMAT"));
        assert!(!path.join(LOCK_FILE).exists() && !path.join(FORMAT_FILE).exists());
        DataDir::open_to_repair(path).unwrap();
        fs::write(path.join(FORMAT_FILE), [0xFF, 0]).unwrap();
        assert!(message(DataDir::look_at(path)).contains("damaged"));
        DataDir::open_to_repair(path).unwrap();
        DataDir::look_at(path).unwrap();
    }
}
