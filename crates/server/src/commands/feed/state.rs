//! The file that keeps the position of a feed, so that another run goes on where one ended.
//!
//! Invariant: the file is replaced as a whole, and only after the changes before its position were printed. Whoever
//! goes on from it misses nothing, and may see again what was printed last.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use armilla_value::{Object, Value, json};

use super::start::is_position;
use super::{Mode, Scope};
use crate::data_dir::{Readers, write_durably};
use crate::limits::FEED_STATE_BYTES_MAX;

/// The layout of the file.
const FORMAT: i64 = 1;

/// What a run leaves for the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// Of which feed the position is.
    pub(super) scope: Scope,
    /// Which container of this name it was, as the server calls it.
    pub(super) rid: Option<String>,
    /// Changes from before this time are left out, in seconds since 1970.
    pub(super) since: Option<u64>,
    pub(super) position: String,
}

impl State {
    /// Reads the state of a feed; `None` if there is no file yet.
    pub(super) fn read(path: &Path, scope: &Scope) -> Result<Option<State>> {
        let mut text = Vec::new();
        match File::open(path).and_then(|file| file.take(FEED_STATE_BYTES_MAX + 1).read_to_end(&mut text)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            result => result.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let state = State::parse(&text)
            .with_context(|| format!("{} is no state of a feed: remove it to start again", path.display()))?;
        if state.scope != *scope {
            bail!(
                "{} is the state of {}, but this is {scope}: give another file, or remove it to start again",
                path.display(),
                state.scope
            );
        }
        Ok(Some(state))
    }

    /// Replaces the file.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        write_durably(path, self.text().as_bytes(), Readers::Everybody)
            .with_context(|| format!("cannot keep the position in {}", path.display()))
    }

    fn text(&self) -> String {
        let Scope { database, container, mode, partition_key } = &self.scope;
        let mut object = Object::default();
        object.insert("format", FORMAT);
        object.insert("database", database.as_str());
        object.insert("container", container.as_str());
        if let Some(rid) = &self.rid {
            object.insert("rid", rid.as_str());
        }
        object.insert("mode", mode.name());
        if let Some(key) = partition_key {
            object.insert("partitionKey", key.as_str());
        }
        if let Some(since) = self.since.and_then(|since| i64::try_from(since).ok()) {
            object.insert("since", since);
        }
        object.insert("position", self.position.as_str());
        json::to_string(&object.into()) + "\n"
    }

    fn parse(text: &[u8]) -> Result<State> {
        if text.len() as u64 > FEED_STATE_BYTES_MAX {
            bail!("it is larger than {FEED_STATE_BYTES_MAX} bytes");
        }
        let value = json::parse(text).map_err(|error| anyhow!("{error}"))?;
        match value.get("format").and_then(Value::as_i64) {
            Some(FORMAT) => {}
            Some(other) => bail!("it has format {other}, this armilla knows {FORMAT}"),
            None => bail!("it has no format"),
        }
        let optional = |name: &str| match value.get(name) {
            None => Ok(None),
            Some(value) => value
                .as_str()
                .map(|text| Some(text.to_owned()))
                .with_context(|| format!("its {name} is no text")),
        };
        let text = |name: &str| optional(name)?.with_context(|| format!("it has no {name}"));
        let mode = text("mode")?;
        let since = match value.get("since") {
            None => None,
            Some(since) => Some(
                since.as_i64().and_then(|since| u64::try_from(since).ok()).context("its since is no time")?,
            ),
        };
        Ok(State {
            scope: Scope {
                database: text("database")?,
                container: text("container")?,
                mode: Mode::named(&mode).with_context(|| format!("its mode is {mode}"))?,
                partition_key: optional("partitionKey")?,
            },
            rid: optional("rid")?,
            since,
            position: Some(text("position")?)
                .filter(|position| is_position(position))
                .context("its position is none")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope {
            database: "shop \"1\"".to_owned(),
            container: "ordørs".to_owned(),
            mode: Mode::Latest,
            partition_key: None,
        }
    }

    fn states() -> Vec<State> {
        let plain = State { scope: scope(), rid: None, since: None, position: "42".to_owned() };
        let full = State {
            scope: Scope { mode: Mode::AllVersions, partition_key: Some(r#"["a",1]"#.to_owned()), ..scope() },
            rid: Some("abc==".to_owned()),
            since: Some(1_794_754_165),
            position: "F1;-1F-7;1F-FF-12".to_owned(),
        };
        vec![plain, full]
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        for state in states() {
            assert_eq!(State::read(&path.with_extension("other"), &state.scope).unwrap(), None);
            state.write(&path).unwrap();
            assert_eq!(State::read(&path, &state.scope).unwrap(), Some(state));
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing else is left: {left:?}");
    }

    #[test]
    fn a_state_of_another_feed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        states()[0].write(&path).unwrap();
        for other in [
            Scope { database: "other".to_owned(), ..scope() },
            Scope { container: "other".to_owned(), ..scope() },
            Scope { mode: Mode::AllVersions, ..scope() },
            Scope { partition_key: Some("[1]".to_owned()), ..scope() },
        ] {
            let error = State::read(&path, &other).unwrap_err().to_string();
            assert!(error.contains("is the state of") && error.contains(&other.to_string()), "{error}");
        }
    }

    #[test]
    fn files_that_are_no_states() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        let good = states()[1].text();
        let long = " ".repeat(usize::try_from(FEED_STATE_BYTES_MAX).unwrap());
        for (text, expected) in [
            (String::new(), "remove it to start again"),
            (good[..good.len() / 2].to_owned(), "remove it to start again"),
            ("[]".to_owned(), "it has no format"),
            (good.replace("\"format\":1", "\"format\":2"), "it has format 2, this armilla knows 1"),
            (good.replace("allVersions", "some"), "its mode is some"),
            (good.replace("\"position\"", "\"pos\""), "it has no position"),
            (good.replace("F1;", "F1;\\n"), "its position is none"),
            (good.replace("1794754165", "-1"), "its since is no time"),
            (good.replace("\"abc==\"", "7"), "its rid is no text"),
            (long + " ", "it is larger than"),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = format!("{:#}", State::read(&path, &states()[1].scope).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        let error = State::read(folder.path(), &scope()).unwrap_err().to_string();
        assert!(error.contains("cannot read"), "{error}");
        let error = states()[0].write(&folder.path().join("missing/state.json")).unwrap_err().to_string();
        assert!(error.contains("cannot keep the position in"), "{error}");
    }
}
