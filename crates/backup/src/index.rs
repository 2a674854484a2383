//! Which backups a folder holds: the file that makes a backup one.
//!
//! It is written after everything that it names, so what it does not name is not there, whatever lies in the folder;
//! and what it names must be there, so a manifest that was deleted is missed, not passed over.

use std::path::Path;

use armilla_value::calendar::date_from_days;
use armilla_value::{Object, Value};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::limits::INDEX_BYTES_MAX;
use crate::sealed;

const KIND: &str = "index";

/// A backup that a folder holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    /// Its name: the moment, in UTC.
    pub name: String,
    /// The sum of its manifest.
    pub(crate) manifest: Digest,
}

/// What a folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Whose backups these are, once there is one.
    pub(crate) account: Option<String>,
    /// The backups, oldest first.
    pub(crate) backups: Vec<IndexEntry>,
}

impl Index {
    pub(crate) fn read(path: &Path) -> Result<Index> {
        let object = sealed::unseal(KIND, path, &sealed::read(path, INDEX_BYTES_MAX)?)?;
        Index::of(&object).ok_or_else(|| Error::damaged(format!("{} cannot be read", path.display())))
    }

    fn of(object: &Object) -> Option<Index> {
        let account = match object.get("account") {
            None => None,
            Some(account) => Some(account.as_str()?.to_owned()),
        };
        let backups = object.get("backups")?.as_array()?.iter().map(|entry| {
            let name = entry.get("name")?.as_str().filter(|name| is_name(name))?.to_owned();
            Some(IndexEntry { name, manifest: Digest::parse(entry.get("manifest")?.as_str()?)? })
        });
        Some(Index { account, backups: backups.collect::<Option<_>>()? })
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut object = Object::default();
        if let Some(account) = &self.account {
            object.insert("account", account.as_str());
        }
        let backups = self.backups.iter().map(|IndexEntry { name, manifest }| {
            let mut entry = Object::default();
            entry.insert("name", name.as_str());
            entry.insert("manifest", manifest.to_string());
            Value::Object(entry)
        });
        object.insert("backups", Value::Array(backups.collect()));
        let bytes = sealed::seal(KIND, object);
        if bytes.len() as u64 > INDEX_BYTES_MAX {
            return Err(Error::refused(
                "the folder holds too many backups: remove some with `armilla backup prune`",
            ));
        }
        sealed::write(path, &bytes)
    }
}

/// Whether a text can be the name of a backup, and so of a file.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the name of a backup of a moment, in milliseconds since 1970: the time in UTC.
pub fn name_of_moment(moment_ms: i64) -> String {
    let seconds = moment_ms.div_euclid(1_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date_from_days(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_names() {
        for (moment_ms, expected) in [
            (0, "19700101T000000Z"),
            (951_782_399_999, "20000228T235959Z"),
            (951_782_400_000, "20000229T000000Z"),
            (1_709_164_800_000, "20240229T000000Z"),
            (1_735_689_599_000, "20241231T235959Z"),
            (1_794_843_802_000, "20261116T154322Z"),
            (-1, "19691231T235959Z"),
        ] {
            assert_eq!(name_of_moment(moment_ms), expected);
            assert!(is_name(expected));
        }
        for text in ["", "..", "a/b", "a.manifest", "é", &"x".repeat(65)] {
            assert!(!is_name(text), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX");
        for index in [
            Index::default(),
            Index {
                account: Some("a".to_owned()),
                backups: vec![IndexEntry { name: "b-2".to_owned(), manifest: Digest::of(b"c") }],
            },
        ] {
            index.write(&path).unwrap();
            assert_eq!(Index::read(&path).unwrap(), index);
        }
        std::fs::remove_file(&path).unwrap();
        assert!(Index::read(&path).unwrap_err().to_string().ends_with("INDEX is missing"));
    }

    #[test]
    fn an_index_that_is_too_long_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("INDEX");
        let entry = |name: String| IndexEntry { name, manifest: Digest::of(b"c") };
        let mut index = Index { account: Some(String::new()), backups: vec![entry("a".repeat(64))] };
        let length = |index: &Index| {
            index.write(&path).unwrap();
            std::fs::metadata(&path).unwrap().len()
        };
        let one = length(&index);
        index.backups.push(index.backups[0].clone());
        let each = length(&index) - one;
        // As many as fit, and the account's name for the rest of it.
        let left = INDEX_BYTES_MAX - one;
        index.backups = vec![index.backups[0].clone(); 1 + (left / each) as usize];
        index.account = Some("a".repeat((left % each) as usize));
        assert!(index.backups.len() > 10_000);
        assert_eq!(length(&index), INDEX_BYTES_MAX);
        assert_eq!(Index::read(&path).unwrap(), index);
        let mut longer = index.clone();
        longer.account = index.account.as_ref().map(|account| format!("{account}a"));
        assert_eq!(longer.write(&path).unwrap_err().kind(), crate::ErrorKind::Refused);
        assert_eq!(Index::read(&path).unwrap(), index, "the index that was there is still there");
        let mut file = std::fs::read(&path).unwrap();
        file.push(b' ');
        std::fs::write(&path, &file).unwrap();
        let error = Index::read(&path).unwrap_err();
        assert!(error.to_string().contains("is longer than"), "{error}");
    }
}
