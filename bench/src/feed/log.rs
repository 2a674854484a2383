//! How large the change log is: after the first load, and after every item was overwritten some times.
//!
//! Records (entries, and images of versions that were replaced, where all are kept) are counted in the closed store.
//! Bytes on disk are those of the files of the log's family and of the whole store: of the running engine once nothing
//! changes any more, of the closed folder, and after the next start. A running store holds the newest part in memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use armilla_engine::{Engine, WriteMode};
use armilla_env::Env;
use armilla_kv::{Durability, Family, Store as _};
use tokio::runtime::Runtime;

use super::FeedOptions;
use super::drain::{spaces_with, walk};
use super::folder::write_all;
use crate::in_process::{Workers, create, definition, open, open_store};
use crate::items::{CONTAINER, DATABASE, Items};
use crate::server::{Setup, folder, store_options};

/// A folder counts as quiet when its size was the same for so long.
const QUIET: Duration = Duration::from_secs(3);

/// Longest time that is waited for that.
const QUIET_WAIT_MAX: Duration = Duration::from_secs(120);

/// How often a folder is looked at.
const POLL_PERIOD: Duration = Duration::from_millis(250);

/// Folders of the engine's families, inside of the store's folder. The engine numbers them as they are made.
const FAMILIES_FOLDER: &str = "fjall/keyspaces";
const FEED_FOLDER: &str = "5";

/// The policy that keeps all versions for a day.
const ALL_VERSIONS: &str = r#","changeFeedPolicy":{"retentionDuration":1440}}"#;

/// What the log keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    LatestVersions,
    AllVersions,
}

/// Bytes of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OnDisk {
    pub(super) log: u64,
    pub(super) store: u64,
}

/// One moment of one log.
pub(super) struct Sample {
    pub(super) kept: Kept,
    pub(super) overwrites: usize,
    /// Entries and images.
    pub(super) records: u64,
    /// Their keys and values, uncompressed.
    pub(super) record_bytes: u64,
    pub(super) quiet: OnDisk,
    pub(super) closed: OnDisk,
    pub(super) restarted: OnDisk,
}

/// Measures both kinds of logs.
pub(super) fn measure(options: &FeedOptions, env: &Env, items: Items) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for kept in [Kept::LatestVersions, Kept::AllVersions] {
        let setup = options.setup(options.cache_mb);
        let folder = folder(&setup)?;
        let log = Log {
            kept,
            setup,
            env: env.clone(),
            items,
            store: folder.path().join("store"),
            runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
        };
        eprintln!("log, {kept:?}: loading {} items", items.count);
        let engine = log.open()?;
        log.runtime.block_on(create(&engine, &log.definition(), 1))?;
        log.write(&engine, WriteMode::Create, 0)?;
        let (engine, sample) = log.sample(engine, 0)?;
        samples.push(sample);
        for overwrite in 1..=options.overwrites {
            eprintln!("log, {kept:?}: overwriting, {overwrite} of {}", options.overwrites);
            log.write(&engine, WriteMode::Upsert, overwrite)?;
        }
        let (engine, sample) = log.sample(engine, options.overwrites)?;
        samples.push(sample);
        log.runtime.block_on(engine.close()).context("cannot close the engine")?;
    }
    Ok(samples)
}

/// Returns the log's bytes on disk in relation to those after the first load: quiet, closed and restarted.
pub(super) fn growth(samples: &[Sample], sample: &Sample) -> Option<[f64; 3]> {
    let first = samples.iter().find(|own| own.kept == sample.kept && own.overwrites == 0)?;
    let ratio = |now: OnDisk, then: OnDisk| now.log as f64 / then.log.max(1) as f64;
    (sample.overwrites > 0).then(|| {
        [
            ratio(sample.quiet, first.quiet),
            ratio(sample.closed, first.closed),
            ratio(sample.restarted, first.restarted),
        ]
    })
}

struct Log {
    kept: Kept,
    setup: Setup,
    env: Env,
    items: Items,
    store: PathBuf,
    runtime: Runtime,
}

impl Log {
    fn definition(&self) -> String {
        let plain = definition("/customer", None);
        match self.kept {
            Kept::LatestVersions => plain,
            Kept::AllVersions => plain[..plain.len() - 1].to_owned() + ALL_VERSIONS,
        }
    }

    fn open(&self) -> Result<Engine> {
        // Nothing is lost with the items but the time to load them again.
        open(&self.setup, &self.env, &self.runtime, &self.store, Durability::Relaxed)
    }

    /// Writes every item once; each pass has an order of its own, as writes of many clients have.
    fn write(&self, engine: &Engine, mode: WriteMode, pass: usize) -> Result<()> {
        let container = engine.container(DATABASE, CONTAINER)?.container;
        let workers = Workers {
            env: self.env.clone(),
            engine: engine.clone(),
            container,
            items: self.items,
            count: self.setup.connections,
        };
        self.runtime.block_on(write_all(&workers, mode, Some(pass), pass as u64))
    }

    /// Looks at the log of a running engine, closes it, looks again, and once more after the next start.
    fn sample(&self, engine: Engine, overwrites: usize) -> Result<(Engine, Sample)> {
        let quiet = self.quiet()?;
        self.runtime.block_on(engine.close()).context("cannot close the engine")?;
        drop(engine);
        let closed = self.on_disk()?;
        let store = open_store(&self.store, &store_options(&self.setup))?;
        let spaces = spaces_with(&store, Family::Feed)?;
        let counted = walk(&spaces, Family::Feed)?;
        drop(spaces);
        store.close().context("cannot close the store")?;
        drop(store);
        let engine = self.open()?;
        let restarted = self.quiet()?;
        let sample = Sample {
            kept: self.kept,
            overwrites,
            records: counted.items,
            record_bytes: counted.bytes,
            quiet,
            closed,
            restarted,
        };
        eprintln!(
            "  {} records, {} bytes on disk, {} closed, {} restarted",
            sample.records, quiet.log, closed.log, restarted.log
        );
        Ok((engine, sample))
    }

    /// Waits until the log's files do not change any more, and returns their size.
    fn quiet(&self) -> Result<OnDisk> {
        let begin = self.env.clock.elapsed();
        let (mut size, mut since) = (self.on_disk()?, begin);
        loop {
            std::thread::sleep(POLL_PERIOD);
            let (now, new) = (self.env.clock.elapsed(), self.on_disk()?);
            if new != size {
                (size, since) = (new, now);
            } else if now - since >= QUIET {
                return Ok(size);
            }
            ensure!(now - begin < QUIET_WAIT_MAX, "the store is not quiet after {QUIET_WAIT_MAX:?}");
        }
    }

    fn on_disk(&self) -> Result<OnDisk> {
        let log = self.store.join(FAMILIES_FOLDER).join(FEED_FOLDER);
        ensure!(log.is_dir(), "{} is not there", log.display());
        Ok(OnDisk { log: folder_bytes(&log)?, store: folder_bytes(&self.store)? })
    }
}

/// Returns the bytes of all files in a folder and those inside of it.
fn folder_bytes(path: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))? {
        let entry = entry?;
        bytes += match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path())?,
            Ok(metadata) => metadata.len(),
            // The store removes files while it is looked at.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error.into()),
        };
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn folders_are_as_large_as_their_files() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(folder_bytes(folder.path()).unwrap(), 0);
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        for (name, bytes) in [("x", 3), ("a/y", 10), ("a/b/z", 100)] {
            std::fs::write(folder.path().join(name), vec![0; bytes]).unwrap();
        }
        assert_eq!(folder_bytes(folder.path()).unwrap(), 113);
        assert!(folder_bytes(&folder.path().join("nowhere")).is_err());
    }

    #[test]
    fn growth_is_that_of_the_same_log() {
        let sample = |kept, overwrites, bytes| {
            let size = OnDisk { log: bytes, store: 2 * bytes };
            let (quiet, closed, restarted) = (size, size, size);
            Sample { kept, overwrites, records: 1, record_bytes: 1, quiet, closed, restarted }
        };
        let samples = [
            sample(Kept::LatestVersions, 0, 100),
            sample(Kept::LatestVersions, 10, 110),
            sample(Kept::AllVersions, 0, 10),
            sample(Kept::AllVersions, 10, 110),
        ];
        assert_eq!(growth(&samples, &samples[0]), None);
        assert_eq!(growth(&samples, &samples[1]), Some([1.1; 3]));
        assert_eq!(growth(&samples, &samples[3]), Some([11.0; 3]));
    }

    #[test]
    fn definitions_are_json() {
        let text = definition("/customer", None);
        let text = text[..text.len() - 1].to_owned() + ALL_VERSIONS;
        let parsed = json::parse(text.as_bytes()).unwrap();
        assert!(parsed.get("changeFeedPolicy").unwrap().get("retentionDuration").is_some());
    }
}
