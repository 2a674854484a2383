//! Opening a folder: lock, examination, engine, mark, manifest.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use armilla_kv::{Error, ErrorKind, Result};

use crate::background::Background;
use crate::copy;
use crate::engine::{self, Engine};
use crate::examine::{Examined, Whole, examine, refusal};
use crate::failure;
use crate::format;
use crate::journal;
use crate::manifest::{self, Manifest, State};
use crate::mark::{self, Mark};
use crate::options::Options;
use crate::queue::Queue;
use crate::reclaim::Reclaim;
use crate::records;
use crate::replaced::Replaced;
use crate::retired::Retired;
use crate::runs::Runs;
use crate::shared::{Keeps, Shared};
use crate::spaces::Spaces;
use crate::stats::Counters;
use crate::survey::{self, Depth, ENGINE_FOLDER};
use crate::view::View;
use crate::watch::Watch;

const LOCK_FILE: &str = "store.lock";

/// What opening a folder yields beside the store itself.
pub(crate) struct Opened {
    pub(crate) shared: Shared,
    pub(crate) files: Files,
}

/// The files of a store, open.
pub(crate) struct Files {
    pub(crate) engine: Arc<Engine>,
    /// Nothing for a copy, which is not opened again.
    pub(crate) mark: Option<Mark>,
    /// Number of the newest group.
    pub(crate) group: u64,
    /// Index entries that are not in the tree yet.
    pub(crate) runs: Runs,
}

impl Files {
    fn new(engine: Engine, mark: Option<Mark>, group: u64) -> Result<Files> {
        let runs = Runs::load(&engine)?;
        Ok(Files { engine: Arc::new(engine), mark, group, runs })
    }
}

/// Opens a folder.
pub(crate) fn open(path: &Path, options: Options) -> Result<Opened> {
    std::fs::create_dir_all(path).map_err(|error| failure::of_file("make the folder", path, &error))?;
    let lock = lock(path, Existing::OrMade)?;
    let (files, loaded, manifest) = open_files(path, &options)?;
    let watch = Watch::new(Some(manifest));
    Ok(opened(path, options, Keeps::Lock(lock), files, loaded, watch))
}

/// Opens a copy of a folder, which is whole and stays as it is. Nothing that is written reaches the folder itself.
pub(crate) fn open_copy(path: &Path, scratch: &Path, options: Options) -> Result<Opened> {
    // Held until the copy is made: afterwards only sorted files are read, and those only if no other store has opened
    // it.
    let lock = lock(path, Existing::Only)?;
    let whole = match examine(path, Depth::Known, &mut |_, _| {})? {
        Examined::Older(whole) | Examined::Known(whole) => whole,
        Examined::New => {
            return Err(Error::new(ErrorKind::Corrupt, format!("{} holds no store", path.display())));
        }
        Examined::Damaged(findings) => return Err(refusal(path, &findings)),
    };
    let (copy, engine_path) = copy::make(path, scratch, &whole.survey)?;
    let (engine, loaded) = Engine::open(&engine_path, &options, engine::Background::Resting)?;
    let files = Files::new(engine, None, loaded.group.unwrap_or(0))?;
    let folder = copy.path().to_path_buf();
    Ok(opened(&folder, options, Keeps::Copy { _copy: copy, _lock: lock }, files, loaded, Watch::new(None)))
}

fn opened(
    path: &Path,
    options: Options,
    keeps: Keeps,
    files: Files,
    loaded: records::Loaded,
    watch: Watch,
) -> Opened {
    let shared = Shared {
        spaces: Spaces::new(loaded.dropped),
        queue: Queue::new(options.queue_bytes_max),
        reclaim: Reclaim::new(loaded.to_reclaim, loaded.gone),
        retired: Retired::default(),
        replaced: Replaced::default(),
        watch,
        counters: Counters::default(),
        background: Background::default(),
        run_bytes: AtomicU64::new(files.runs.bytes()),
        view: View::new(&files.engine, files.runs.set()),
        options,
        folder: path.to_path_buf(),
        engine_path: path.join(ENGINE_FOLDER),
        keeps,
    };
    Opened { shared, files }
}

/// Examines a folder that is locked, and opens the engine in it. Returns what the manifest now says.
pub(crate) fn open_files(folder: &Path, options: &Options) -> Result<(Files, records::Loaded, Manifest)> {
    let engine_path = folder.join(ENGINE_FOLDER);
    let written = match examine(folder, Depth::Known, &mut |_, _| {})? {
        Examined::Damaged(findings) => return Err(refusal(folder, &findings)),
        Examined::New => return make(folder, options),
        Examined::Older(whole) | Examined::Known(whole) => ready(folder, &whole)?,
    };
    // Last: until it is written, a program without manifests can go on as well.
    let this = format::Written { format: format::FORMAT, durability: options.durability };
    if format::read(folder)? != Some(this) {
        format::write(folder, options.durability)?;
    }
    make_engine_lock(&engine_path)?;
    let (engine, loaded) = Engine::open(&engine_path, options, engine::Background::Working)?;
    let group = loaded.group.unwrap_or(0);
    // One that cannot be read was found to be needless by the comparison, after a clean end.
    let acknowledged = mark::read(folder).unwrap_or_default();
    if let Some(acknowledged) = acknowledged.filter(|acknowledged| *acknowledged > group) {
        let message =
            format!("the engine found commits up to group {group}, {acknowledged} were acknowledged");
        return Err(Error::new(ErrorKind::Corrupt, message));
    }
    let mark = Mark::open(folder, group)?;
    let manifest = with_all_families(folder, written)?;
    Ok((Files::new(engine, Some(mark), group)?, loaded, manifest))
}

/// Adds families to the manifest that an older program did not know, and that the engine has now made.
fn with_all_families(folder: &Path, mut manifest: Manifest) -> Result<Manifest> {
    let unknown = survey::unknown_families(folder, &manifest);
    if !unknown.is_empty() {
        manifest.families.extend(unknown);
        manifest::write(folder, &manifest)?;
    }
    Ok(manifest)
}

/// Cuts off what a crash left, and writes the manifest of a store that is open. Returns it.
fn ready(folder: &Path, whole: &Whole) -> Result<Manifest> {
    journal::cut_torn_end(&whole.survey.journals)?;
    let manifest = whole.survey.manifest(State::Open, whole.manifest.as_ref());
    if whole.manifest.is_none() {
        // The first mark before the first manifest, which asks for it. What is in the journals counts as acknowledged.
        Mark::open(folder, whole.survey.newest_group())?;
    }
    manifest::write(folder, &manifest)?;
    Ok(manifest)
}

/// Makes a store where there is none.
fn make(folder: &Path, options: &Options) -> Result<(Files, records::Loaded, Manifest)> {
    let engine_path = folder.join(ENGINE_FOLDER);
    remove_unfinished(&engine_path)?;
    manifest::write(folder, &Manifest::new())?;
    format::write(folder, options.durability)?;
    let (engine, loaded) = Engine::open(&engine_path, options, engine::Background::Working)?;
    let group = loaded.group.unwrap_or(0);
    let mark = Mark::open(folder, group)?;
    let survey = survey::survey(folder, None, options.durability, Depth::Known, &mut |_, _| {})?;
    if !survey.findings.is_empty() {
        return Err(refusal(folder, &survey.findings));
    }
    let manifest = survey.manifest(State::Open, None);
    manifest::write(folder, &manifest)?;
    Ok((Files::new(engine, Some(mark), group)?, loaded, manifest))
}

/// Whether a lock file may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is made if it is not there.
    OrMade,
    /// It is used if it is there, and not written to.
    Only,
}

/// Takes the lock on a folder.
pub(crate) fn lock(path: &Path, existing: Existing) -> Result<File> {
    let lock_path = path.join(LOCK_FILE);
    let opened = match existing {
        Existing::OrMade => File::options().create(true).truncate(false).write(true).open(&lock_path),
        // A folder without the file is open nowhere. Holding the folder itself costs nothing and says nothing.
        Existing::Only => File::open(&lock_path).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => File::open(path),
            _ => Err(error),
        }),
    };
    let file = opened.map_err(|error| failure::of_file("open", &lock_path, &error))?;
    let taken = match existing {
        Existing::OrMade => file.try_lock(),
        Existing::Only => file.try_lock_shared(),
    };
    match taken {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let message = format!("the store in {} is open in another process", path.display());
            Err(Error::new(ErrorKind::Locked, message))
        }
        Err(TryLockError::Error(error)) => Err(failure::of_file("lock", &lock_path, &error)),
    }
}

/// Removes what an interrupted first start left behind: the engine would stumble over its own files.
fn remove_unfinished(engine_path: &Path) -> Result<()> {
    match std::fs::remove_dir_all(engine_path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failure::of_file("clear the unfinished folder", engine_path, &error))
        }
        _ => Ok(()),
    }
}

/// Makes the engine's lock file if it is not there. It holds nothing, and the engine would not start without it.
fn make_engine_lock(engine_path: &Path) -> Result<()> {
    let path = engine_path.join("lock");
    let made = File::options().create(true).append(true).open(&path);
    made.map(|_| ()).map_err(|error| failure::of_file("make", &path, &error))
}
