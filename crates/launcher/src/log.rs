//! Where a server's log goes, and its end for messages.

use std::fs::File;
use std::io::{Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context as _, Result};
use parking_lot::Mutex;

use crate::limits::{LOG_END_POLLS_MAX, LOG_TOLD_BYTES_MAX, POLL_PERIOD};

/// Where the log of a server goes.
#[derive(Debug, Clone, Copy)]
pub enum LogTo<'p> {
    /// Its end is kept in memory.
    Memory,
    /// It is appended to a file.
    File(&'p Path),
}

/// The log of a server that was started.
#[derive(Debug)]
pub(crate) enum Log {
    /// Its end, and the thread that reads it.
    Memory(Arc<Mutex<Tail>>, Option<JoinHandle<()>>),
    File(PathBuf),
}

impl Log {
    /// Opens a log; returns it with what the process gets as its standard error.
    pub(crate) fn open(to: LogTo<'_>) -> Result<(Log, Stdio)> {
        match to {
            LogTo::Memory => Ok((Log::Memory(Arc::default(), None), Stdio::piped())),
            LogTo::File(path) => {
                let file = File::options().create(true).append(true).open(path);
                let file = file.with_context(|| format!("cannot open {}", path.display()))?;
                Ok((Log::File(path.to_owned()), Stdio::from(file)))
            }
        }
    }

    /// Reads what a process writes, on a thread of its own, where the log is kept in memory.
    pub(crate) fn follow(&mut self, errors: Option<impl Read + Send + 'static>) {
        if let (Log::Memory(tail, reader), Some(errors)) = (self, errors) {
            let tail = tail.clone();
            *reader = Some(std::thread::spawn(move || keep_tail(errors, &tail)));
        }
    }

    /// Waits until all is read that a process wrote that has ended, unless others hold its output still.
    pub(crate) fn wait_for_end(&mut self) {
        let Log::Memory(_, Some(reader)) = self else { return };
        for _ in 0..LOG_END_POLLS_MAX {
            if reader.is_finished() {
                return;
            }
            std::thread::sleep(POLL_PERIOD);
        }
    }

    /// Returns the end of the log.
    pub(crate) fn tail(&self) -> String {
        match self {
            Log::Memory(tail, _) => {
                let tail = tail.lock();
                String::from_utf8_lossy(&tail.bytes).into_owned()
            }
            Log::File(path) => end_of_file(path).unwrap_or_default(),
        }
    }
}

fn end_of_file(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_TOLD_BYTES_MAX as u64)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last bytes of a log.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Twice as much before it is cut, so that most bytes are moved once.
        if self.bytes.len() > 2 * LOG_TOLD_BYTES_MAX {
            self.bytes.drain(..self.bytes.len() - LOG_TOLD_BYTES_MAX);
        }
    }
}

fn keep_tail(mut errors: impl Read, tail: &Mutex<Tail>) {
    let mut buffer = [0; 4_096];
    while let Ok(length) = errors.read(&mut buffer) {
        if length == 0 {
            return;
        }
        tail.lock().push(&buffer[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log() {
        let mut tail = Tail::default();
        let mut text = String::new();
        for number in 0..10_000 {
            let line = format!("{number}\n");
            tail.push(line.as_bytes());
            text.push_str(&line);
        }
        assert!(tail.bytes.ends_with(b"9999\n") && tail.bytes.len() <= 2 * LOG_TOLD_BYTES_MAX);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, &text).unwrap();
        let end = Log::File(path).tail();
        assert!(end.ends_with("9999\n") && end.len() == LOG_TOLD_BYTES_MAX);
        assert_eq!(Log::File(folder.path().join("none")).tail(), "");
    }
}
