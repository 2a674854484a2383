//! Small files of text that are read as a whole or not at all.
//!
//! ```text
//! armilla backup index, format 1
//! {"account":"...","backups":[...]}
//! sha256 <of the two lines above>
//! ```
//!
//! The format comes first and is looked at first, so that a file of another version is refused as what it is.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use armilla_value::{Object, Value, json};

use crate::digest::Digest;
use crate::error::{Error, Result};

/// The format of everything in a folder of backups that this program writes, and the one that it reads.
pub(crate) const FORMAT: u32 = 1;

const TITLE: &str = "armilla backup ";
const SUM_TITLE: &str = "sha256 ";

/// Returns the bytes of a file of a kind.
pub(crate) fn seal(kind: &str, content: Object) -> Vec<u8> {
    let mut bytes = format!("{TITLE}{kind}, format {FORMAT}\n").into_bytes();
    json::write(&Value::Object(content), &mut bytes);
    bytes.push(b'\n');
    let sum = Digest::of(&bytes);
    bytes.extend_from_slice(format!("{SUM_TITLE}{sum}\n").as_bytes());
    bytes
}

/// Reads the bytes of a file of a kind.
pub(crate) fn unseal(kind: &str, path: &Path, bytes: &[u8]) -> Result<Object> {
    let damaged = |what: &str| Error::damaged(format!("{} {what}", path.display()));
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("is no text"))?;
    let (title, rest) = text.split_once('\n').ok_or_else(|| damaged("has been cut off"))?;
    let format = title
        .strip_prefix(TITLE)
        .and_then(|rest| rest.strip_prefix(kind)?.strip_prefix(", format ")?.parse::<u32>().ok())
        .ok_or_else(|| damaged(&format!("is no {kind} of backups")))?;
    if format != FORMAT {
        let what_to_do =
            if format > FORMAT { "use a newer armilla" } else { "use the armilla that wrote it" };
        return Err(Error::refused(format!(
            "{} has format {format}, this armilla reads format {FORMAT}: {what_to_do}",
            path.display()
        )));
    }
    let (content, sum_line) = rest
        .strip_suffix('\n')
        .and_then(|rest| rest.rsplit_once('\n'))
        .ok_or_else(|| damaged("has been cut off"))?;
    let summed = &bytes[..bytes.len() - sum_line.len() - 1];
    let sum = sum_line.strip_prefix(SUM_TITLE).and_then(Digest::parse);
    if sum != Some(Digest::of(summed)) {
        return Err(damaged("fails its sum"));
    }
    match json::parse(content.as_bytes()) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(damaged("holds no JSON object")),
    }
}

/// Reads a file that must be there, up to a length.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Error::damaged(format!("{} is missing", path.display())));
        }
        Err(error) => return Err(Error::file("open", path, &error)),
    };
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| Error::file("read", path, &error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(Error::damaged(format!("{} is longer than {bytes_max} bytes", path.display())));
    }
    Ok(bytes)
}

/// Makes or replaces a file as a whole, for its owner alone. Its name is durable once the folder is.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = new_path(path);
    let write = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| Error::file("write", path, &error))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    // Windows has no such operation and needs none.
    if cfg!(windows) {
        return Ok(());
    }
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| Error::file("sync", path, &error))
}

/// What a file is called while it is being written.
pub(crate) const NEW_SUFFIX: &str = ".new";

fn new_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(NEW_SUFFIX);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn content() -> Object {
        let mut content = Object::default();
        content.insert("name", "a\nb");
        content.insert("count", 7);
        content
    }

    #[test]
    fn what_is_sealed_is_read() {
        let bytes = seal("index", content());
        let read = unseal("index", Path::new("x"), &bytes).unwrap();
        assert_eq!(read.get("name").and_then(Value::as_str), Some("a\nb"));
    }

    #[test]
    fn files_are_read_up_to_their_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write(&path, &[7; 100]).unwrap();
        assert_eq!(read(&path, 100).unwrap(), [7; 100]);
        assert_eq!(read(&path, 99).unwrap_err().kind(), ErrorKind::Damaged);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let whole = seal("index", content());
        for length in 0..whole.len() {
            assert!(unseal("index", Path::new("x"), &whole[..length]).is_err(), "cut to {length}");
        }
        for position in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.clone();
                bytes[position] ^= 1 << bit;
                assert!(unseal("index", Path::new("x"), &bytes).is_err(), "byte {position}, bit {bit}");
            }
        }
    }

    #[test]
    fn other_kinds_and_formats_are_refused() {
        let text = String::from_utf8(seal("index", content())).unwrap();
        for (text, kind, message) in [
            (
                text.replace("format 1", "format 2"),
                ErrorKind::Refused,
                "x has format 2, this armilla reads format 1: use a newer armilla",
            ),
            (text.replace("format 1", "format 0"), ErrorKind::Refused, "use the armilla that wrote it"),
            (text.replace("index", "manifest"), ErrorKind::Damaged, "x is no index of backups"),
            (text.replace("format 1", "format one"), ErrorKind::Damaged, "x is no index of backups"),
            (text.replace("count", "count2"), ErrorKind::Damaged, "x fails its sum"),
        ] {
            let error = unseal("index", Path::new("x"), text.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
