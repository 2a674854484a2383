//! Records that were rejected: into a file, one JSON object a line, or the first of them on standard error.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use armilla_value::{Object, Value, json};

use crate::limits::{REJECT_TEXT_BYTES_MAX, REJECTS_TOLD_MAX};
use crate::state::replace;

/// A record that was rejected.
pub(crate) struct Reject<'r> {
    /// Which record of the input it was, from 1.
    pub(crate) record: u64,
    /// Its line in the input.
    pub(crate) line: u64,
    /// Why.
    pub(crate) why: &'r str,
    /// What the server said, if it did: status and sub-status.
    pub(crate) status: Option<(u16, u32)>,
    /// Its text.
    pub(crate) text: &'r [u8],
}

impl Reject<'_> {
    /// Returns the line about it.
    fn json(&self) -> Vec<u8> {
        let mut members = Object::default();
        members.insert("record", self.record as i64);
        members.insert("line", self.line as i64);
        members.insert("reason", self.why);
        if let Some((status, sub_status)) = self.status {
            members.insert("status", i64::from(status));
            if sub_status != 0 {
                members.insert("subStatus", i64::from(sub_status));
            }
        }
        let length = self.text.len().min(REJECT_TEXT_BYTES_MAX);
        members.insert("text", String::from_utf8_lossy(&self.text[..length]).into_owned());
        let mut line = json::to_string(&Value::Object(members)).into_bytes();
        line.push(b'\n');
        line
    }
}

/// Where rejected records go.
pub(crate) struct Rejects {
    file: Option<(PathBuf, BufWriter<File>)>,
    told: u64,
    has_news: bool,
}

impl Rejects {
    /// Opens the file. Of what an earlier run left in it, records stay up to the one from which this run goes on: those
    /// behind it are read again.
    pub(crate) fn open(path: Option<&Path>, records_done: u64) -> Result<Rejects> {
        let Some(path) = path else { return Ok(Rejects { file: None, told: 0, has_news: false }) };
        let cannot = || format!("cannot write rejected records to {}", path.display());
        let kept = match File::open(path) {
            Ok(file) if records_done > 0 => kept(file, records_done).with_context(cannot)?,
            _ => Vec::new(),
        };
        replace(path, &kept).with_context(cannot)?;
        let file = OpenOptions::new().append(true).open(path).with_context(cannot)?;
        Ok(Rejects { file: Some((path.to_owned(), BufWriter::new(file))), told: 0, has_news: false })
    }

    /// Takes a record.
    pub(crate) fn push(&mut self, reject: &Reject<'_>) -> Result<()> {
        self.told += 1;
        match &mut self.file {
            Some((path, file)) => {
                self.has_news = true;
                let written = file.write_all(&reject.json());
                written.with_context(|| format!("cannot write rejected records to {}", path.display()))
            }
            None => {
                if self.told <= REJECTS_TOLD_MAX {
                    let why = reject.why.replace('\n', " ");
                    let _ = writeln!(std::io::stderr(), "armilla: line {} is rejected: {why}", reject.line);
                }
                if self.told == REJECTS_TOLD_MAX + 1 {
                    let _ = writeln!(
                        std::io::stderr(),
                        "armilla: more are rejected; --rejects FILE has them all"
                    );
                }
                Ok(())
            }
        }
    }

    /// Makes durable what was taken.
    pub(crate) fn sync(&mut self) -> Result<()> {
        if let Some((path, file)) = &mut self.file
            && self.has_news
        {
            let synced = file.flush().and_then(|()| file.get_ref().sync_data());
            synced.with_context(|| format!("cannot write rejected records to {}", path.display()))?;
            self.has_news = false;
        }
        Ok(())
    }
}

/// Returns the lines about records up to a number; lines that are none, such as one that was cut off, go.
fn kept(file: File, records_done: u64) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(kept);
        }
        let record = json::parse(&line).ok().and_then(|value| value.get("record")?.as_i64());
        if line.ends_with(b"\n")
            && record
                .and_then(|record| u64::try_from(record).ok())
                .is_some_and(|record| record <= records_done)
        {
            kept.extend_from_slice(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reject<'r>(record: u64, text: &'r [u8]) -> Reject<'r> {
        Reject { record, line: record + 1, why: "no \"x\"", status: Some((400, 1_001)), text }
    }

    #[test]
    fn lines_say_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rejects.jsonl");
        let mut rejects = Rejects::open(Some(&path), 0).unwrap();
        rejects.push(&reject(1, b"{\xFF}")).unwrap();
        rejects.push(&Reject { status: None, ..reject(2, b"") }).unwrap();
        rejects.sync().unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "{\"record\":1,\"line\":2,\"reason\":\"no \\\"x\\\"\",\"status\":400,\"subStatus\":1001,\"text\":\"{\u{FFFD}}\"}\n\
             {\"record\":2,\"line\":3,\"reason\":\"no \\\"x\\\"\",\"text\":\"\"}\n"
        );
        let long = vec![b'x'; REJECT_TEXT_BYTES_MAX + 1];
        let line = reject(1, &long).json();
        let value = json::parse(&line).unwrap();
        assert_eq!(value.get("text").and_then(Value::as_str).map(str::len), Some(REJECT_TEXT_BYTES_MAX));
    }

    #[test]
    fn what_will_be_read_again_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rejects.jsonl");
        let mut rejects = Rejects::open(Some(&path), 0).unwrap();
        for record in [1, 3, 2, 5] {
            rejects.push(&reject(record, b"")).unwrap();
        }
        rejects.sync().unwrap();
        drop(rejects);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"record\":1,\"re").unwrap();
        let mut rejects = Rejects::open(Some(&path), 3).unwrap();
        rejects.push(&reject(4, b"")).unwrap();
        rejects.sync().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let records: Vec<i64> = text
            .lines()
            .map(|line| json::parse(line.as_bytes()).unwrap().get("record").and_then(Value::as_i64).unwrap())
            .collect();
        assert_eq!(records, [1, 3, 2, 4]);
        Rejects::open(Some(&path), 0).unwrap();
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "",
            "a run from the beginning has a file of its own"
        );
    }
}
