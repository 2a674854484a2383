//! The file that keeps how far an import is.
//!
//! Invariant: the file is always whole: it is written beside itself, made durable, and put in place.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use armilla_value::{Object, Value, json};

use crate::limits::STATE_BYTES_MAX;
use crate::tracker::Position;

/// What stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) database: String,
    pub(crate) container: String,
    pub(crate) position: Position,
}

impl State {
    /// Reads the file, if it is there; it must be of the same container.
    pub(crate) fn read(path: &Path, database: &str, container: &str) -> Result<Option<State>> {
        let mut text = Vec::new();
        match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened
                .and_then(|file| file.take(STATE_BYTES_MAX + 1).read_to_end(&mut text))
                .with_context(|| format!("cannot read {}", path.display()))?,
        };
        let state = if text.len() as u64 > STATE_BYTES_MAX { None } else { parse(&text) };
        let state = state.ok_or_else(|| {
            anyhow!("{} keeps no state of an import: remove it, or name another file", path.display())
        })?;
        if state.database != database || state.container != container {
            bail!(
                "{} is about {}/{}, not about {database}/{container}: name another file",
                path.display(),
                state.database,
                state.container
            );
        }
        Ok(Some(state))
    }

    /// Writes the file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let mut members = Object::default();
        members.insert("import", 1);
        members.insert("database", self.database.as_str());
        members.insert("container", self.container.as_str());
        members.insert("records", self.position.records as i64);
        members.insert("fingerprint", format!("{:016x}", self.position.fingerprint));
        let mut text = json::to_string(&Value::Object(members));
        text.push('\n');
        replace(path, text.as_bytes())
            .with_context(|| format!("cannot keep the position in {}", path.display()))
    }
}

/// Puts a file in place of another, durably.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    sync_folder(path)
}

/// Makes a change of a file's name durable, where the system can.
#[cfg(unix)]
fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> std::io::Result<()> {
    Ok(())
}

fn parse(text: &[u8]) -> Option<State> {
    let value = json::parse(text).ok()?;
    let word = |name: &str| value.get(name).and_then(Value::as_str);
    if value.get("import").and_then(Value::as_i64) != Some(1) {
        return None;
    }
    Some(State {
        database: word("database")?.to_owned(),
        container: word("container")?.to_owned(),
        position: Position {
            records: u64::try_from(value.get("records")?.as_i64()?).ok()?,
            fingerprint: u64::from_str_radix(word("fingerprint")?, 16).ok()?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        assert_eq!(State::read(&path, "d", "c").unwrap(), None);
        for fingerprint in [0, 1, u64::MAX] {
            let position = Position { records: 7, fingerprint };
            let state = State { database: "d".to_owned(), container: "c".to_owned(), position };
            state.write(&path).unwrap();
            assert_eq!(State::read(&path, "d", "c").unwrap(), Some(state));
        }
        assert!(
            State::read(&path, "d", "x").unwrap_err().to_string().contains("is about d/c, not about d/x")
        );
        for text in [
            "",
            "{}",
            "{\"import\":2}",
            r#"{"import":1,"database":"d","container":"c","records":-1,"fingerprint":"0"}"#,
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(
                State::read(&path, "d", "c").unwrap_err().to_string().contains("no state of an import"),
                "{text}"
            );
        }
        let mut long =
            br#"{"import":1,"database":"d","container":"c","records":1,"fingerprint":"0"}"#.to_vec();
        long.resize(STATE_BYTES_MAX as usize, b' ');
        std::fs::write(&path, &long).unwrap();
        assert!(State::read(&path, "d", "c").is_ok());
        long.push(b' ');
        std::fs::write(&path, &long).unwrap();
        assert!(State::read(&path, "d", "c").is_err());
    }
}
