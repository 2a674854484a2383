//! The file that says in which format a folder is written.
//!
//! It is read before the engine touches anything, so that a folder of a newer version is refused, not
//! misread. One line: `armilla-store <format> <durability>`. Since format 2 there is a manifest beside it (`manifest`);
//! since format 3 index entries may be in records of their own (`runs`). The durability is that of the store which wrote
//! last: it says how much of a journal's end may be missing after a crash.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use armilla_kv::{Durability, Error, ErrorKind, Result};

use crate::failure;

/// The format that this version writes. It reads those before as well.
pub(crate) const FORMAT: u32 = 3;

/// The first format with a manifest.
pub(crate) const WITH_MANIFEST: u32 = 2;

pub(crate) const FILE: &str = "store.format";

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) format: u32,
    /// With which durability the folder was written last.
    pub(crate) durability: Durability,
}

/// Reads the file. Returns nothing for a new folder.
pub(crate) fn read(folder: &Path) -> Result<Option<Written>> {
    let path = folder.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => String::new(),
        Err(error) => return Err(failure::of_file("read", &path, &error)),
    };
    let mut words = text.split_whitespace();
    let (Some("armilla-store"), Some(Ok(format))) = (words.next(), words.next().map(str::parse::<u32>))
    else {
        return Err(Error::new(ErrorKind::Corrupt, format!("{} is not a format file", path.display())));
    };
    if format > FORMAT {
        return Err(Error::new(
            ErrorKind::NewerFormat,
            format!("{} says format {format}, this version reads up to {FORMAT}", path.display()),
        ));
    }
    match words.next() {
        Some("strict") if format > 0 => Ok(Some(Written { format, durability: Durability::Strict })),
        Some("relaxed") if format > 0 => Ok(Some(Written { format, durability: Durability::Relaxed })),
        _ => Err(Error::new(ErrorKind::Corrupt, format!("{} names no durability", path.display()))),
    }
}

/// Writes the file, whole or not at all.
pub(crate) fn write(folder: &Path, durability: Durability) -> Result<()> {
    let word = match durability {
        Durability::Strict => "strict",
        Durability::Relaxed => "relaxed",
    };
    let (path, next) = (folder.join(FILE), folder.join("store.format.next"));
    let written = File::create(&next)
        .and_then(|mut file| {
            writeln!(file, "armilla-store {FORMAT} {word}")?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&next, &path))
        .and_then(|()| sync_folder(folder));
    written.map_err(|error| failure::of_file("write", &path, &error))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    // Windows has no such operation and needs none.
    if cfg!(windows) { Ok(()) } else { File::open(folder)?.sync_all() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(folder.path()).unwrap(), None);
        for durability in [Durability::Strict, Durability::Relaxed] {
            write(folder.path(), durability).unwrap();
            assert_eq!(read(folder.path()).unwrap(), Some(Written { format: FORMAT, durability }));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (text, kind) in [
            ("armilla-store 4 strict", ErrorKind::NewerFormat),
            ("armilla-store 4294967295 whatever", ErrorKind::NewerFormat),
            ("armilla-store 0 strict", ErrorKind::Corrupt),
            ("armilla-store 1 lazy", ErrorKind::Corrupt),
            ("armilla-store one strict", ErrorKind::Corrupt),
            ("", ErrorKind::Corrupt),
            ("something else", ErrorKind::Corrupt),
        ] {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            assert_eq!(read(folder.path()).unwrap_err().kind(), kind, "{text}");
        }
    }
}
