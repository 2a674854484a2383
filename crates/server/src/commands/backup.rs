//! `armilla backup`: a backup of a running server, or of a folder at rest; verifying, listing and removing backups.
//!
//! Progress goes to standard error, the result to standard output.

mod amounts;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_backup::{Folder, Frame, IndexEntry, Origin, Position, Taken, Taking, Verified};
use armilla_client::Client;
use armilla_engine::BackupSource;
use armilla_env::Env;
use armilla_kv_embedded::{EmbeddedStore, Options};
use bytes::Bytes;

use crate::commands::backup_options::{BackupCommand, BackupOptions, TakeOptions};
use crate::commands::progress::Telling;
use crate::data_dir::DataDir;
use crate::limits::{BACKUP_FRAMES_AHEAD, EXIT_PROBLEMS};
use crate::storage::store_failure;
pub(crate) use amounts::{bytes, count};

/// Carries out the command.
pub(crate) fn run(options: &BackupOptions, env: Env) -> Result<ExitCode> {
    match &options.command {
        None => take(&options.take, env),
        Some(BackupCommand::Verify(options)) => verify(&options.folder, options.backup.as_deref(), &env),
        Some(BackupCommand::List(options)) => list(&options.folder),
        Some(BackupCommand::Prune(options)) => prune(&options.folder, options.keep),
    }
}

fn say(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write the result")
}

fn take(options: &TakeOptions, env: Env) -> Result<ExitCode> {
    let Some(to) = &options.to else { bail!("give the folder of backups with --to FOLDER") };
    let start = env.clock.elapsed();
    let folder = Folder::open_to_write(to)?;
    let pace = Pace { env: env.clone(), start, megabytes_per_second: options.megabytes_per_second };
    let taken = match &options.data_dir {
        Some(data_dir) => at_rest(data_dir, folder, pace)?,
        None => of_server(&Client::new(&options.server, env.clone())?, folder, pace)?,
    };
    let seconds = env.clock.elapsed().saturating_sub(start).as_secs_f64();
    let Taken { name, spaces, entries, bytes: content, written, shared } = taken;
    say(&format!(
        "backup {name}: {} spaces, {} entries, {}; {} files written ({}), {} shared with earlier backups ({}), in \
         {seconds:.1} s",
        count(spaces),
        count(entries),
        bytes(content),
        count(written.0),
        bytes(written.1),
        count(shared.0),
        bytes(shared.1),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Sees to it that no more is read in a second than there may be.
struct Pace {
    env: Env,
    start: Duration,
    megabytes_per_second: Option<u64>,
}

impl Pace {
    /// Returns how long to wait after so many bytes.
    fn rest(&self, bytes_so_far: u64) -> Duration {
        let Some(rate) = self.megabytes_per_second else { return Duration::ZERO };
        let due = Duration::from_micros(bytes_so_far / rate);
        due.saturating_sub(self.env.clock.elapsed().saturating_sub(self.start))
    }
}

/// Backs up a running server: pieces are asked for here and written by a thread of their own.
fn of_server(client: &Client, folder: Folder, pace: Pace) -> Result<Taken> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(async {
        let mut backup = client.begin_backup().await?;
        let (account, program) = (backup.account.clone(), backup.program.clone());
        let taking = Taking::new(folder, Origin { account, moment_ms: backup.moment_ms, program })?;
        let (send, receive) = sync_channel(BACKUP_FRAMES_AHEAD);
        let telling = Telling::new(&pace.env);
        let spaces = backup.spaces;
        let writing = std::thread::spawn(move || write_frames(taking, &receive, spaces, telling));
        let read = read_frames(&mut backup, send, &pace).await;
        // Whatever became of it, the server need not keep the moment; and it forgets it by itself, too.
        let ended = backup.end().await;
        let taking = writing.join().map_err(|_| anyhow!("the thread that writes the backup has failed"))?;
        // What is wrong with the disk comes first: it may be why nothing more was read.
        let taking = taking?;
        read?;
        if let Err(error) = ended {
            tracing::debug!(%error, "the server could not be told that the backup has ended");
        }
        Ok(taking.finish()?)
    })
}

async fn read_frames(
    backup: &mut armilla_client::Backup,
    send: SyncSender<Bytes>,
    pace: &Pace,
) -> Result<()> {
    let mut so_far = 0;
    loop {
        let frame = backup.next_frame().await?;
        so_far += frame.len() as u64;
        let is_last = Frame::is_end(&frame);
        // Nobody takes it: the other thread has failed, and says why.
        let sent = send.send(frame);
        if is_last || sent.is_err() {
            return Ok(());
        }
        let rest = pace.rest(so_far);
        if !rest.is_zero() {
            pace.env.clock.sleep(rest).await;
        }
    }
}

fn write_frames(
    mut taking: Taking,
    frames: &Receiver<Bytes>,
    spaces: u64,
    mut telling: Telling,
) -> armilla_backup::Result<Taking> {
    for frame in frames {
        taking.add(&frame)?;
        telling.tell_part(taking.so_far().spaces, spaces, || progress(taking.so_far(), spaces));
    }
    Ok(taking)
}

fn progress(taken: &Taken, spaces: u64) -> String {
    format!(
        "space {} of {}: {} entries, {}; {} written, {} shared",
        count(taken.spaces),
        count(spaces),
        count(taken.entries),
        bytes(taken.bytes),
        bytes(taken.written.1),
        bytes(taken.shared.1)
    )
}

/// Backs up a folder that no server uses.
fn at_rest(path: &Path, folder: Folder, pace: Pace) -> Result<Taken> {
    let data_dir = DataDir::look_at(path).context("a server that runs is backed up without --data-dir")?;
    data_dir.check_store_is_there()?;
    // Of a copy, so that not a byte of the folder changes.
    let store = EmbeddedStore::open_copy(data_dir.store(), std::env::temp_dir(), Options::default())
        .map_err(|error| store_failure(path, &error))?;
    let moment_ms = pace.env.clock.now_ms();
    let source =
        BackupSource::new(&store).map_err(|error| anyhow!("cannot read {}: {error}", path.display()))?;
    let program = env!("CARGO_PKG_VERSION").to_owned();
    let mut taking = Taking::new(folder, Origin { account: source.account, moment_ms, program })?;
    let mut telling = Telling::new(&pace.env);
    let spaces = source.walk.space_count() as u64;
    let mut position = Position::START;
    let mut so_far = 0;
    while !position.is_over() {
        let (frame, next) = source.walk.frame(&position)?;
        so_far += frame.len() as u64;
        taking.add(&frame)?;
        telling.tell_part(taking.so_far().spaces, spaces, || progress(taking.so_far(), spaces));
        position = next;
        std::thread::sleep(pace.rest(so_far));
    }
    Ok(taking.finish()?)
}

fn verify(path: &Path, name: Option<&str>, env: &Env) -> Result<ExitCode> {
    let folder = match Folder::open(path) {
        Ok(folder) => folder,
        // An index that cannot be read is a finding: it is what a verification is for.
        Err(error) if error.kind() == armilla_backup::ErrorKind::Damaged => {
            say(&format!("{error}\nverify: no backup of {} can be used: 1 problem", path.display()))?;
            return Ok(ExitCode::from(EXIT_PROBLEMS));
        }
        Err(error) => return Err(error.into()),
    };
    let backups = match name {
        Some(_) => vec![folder.find(name)?.clone()],
        None => {
            folder.find(None)?;
            folder.backups().to_vec()
        }
    };
    let verified = read_all(&folder, &backups, env)?;
    tell_problems(&verified)?;
    let verdict = match verified.problems.len() {
        0 => "OK".to_owned(),
        1 => "1 problem".to_owned(),
        problems => format!("{problems} problems"),
    };
    say(&format!(
        "verify: {} of {} backups whole, {} files read, {}: {verdict}",
        verified.whole.len(),
        backups.len(),
        count(verified.segments),
        bytes(verified.bytes)
    ))?;
    Ok(if verified.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_PROBLEMS) })
}

/// Reads every byte of some backups.
pub(crate) fn read_all(folder: &Folder, backups: &[IndexEntry], env: &Env) -> Result<Verified> {
    let mut telling = Telling::new(env);
    Ok(armilla_backup::verify(folder, backups, &mut |read| {
        telling.tell(|| format!("verifying: {} read", bytes(read)));
    })?)
}

/// Lists what is wrong, one line each.
pub(crate) fn tell_problems(verified: &Verified) -> Result<()> {
    for problem in &verified.problems {
        say(&format!("backup {}: {}", problem.backup, problem.message.replace('\n', " ")))?;
    }
    Ok(())
}

fn list(path: &Path) -> Result<ExitCode> {
    let folder = Folder::open(path)?;
    for backup in folder.backups() {
        let line = match folder.manifest(backup) {
            Ok(manifest) => {
                let (entries, content) = manifest.totals();
                format!(
                    "{}  {} spaces, {} entries, {}, {} in files, of armilla {}, state {}",
                    backup.name,
                    count(manifest.spaces.len() as u64),
                    count(entries),
                    bytes(content),
                    bytes(manifest.file_bytes()),
                    manifest.origin.program,
                    &manifest.state().to_string()[..16],
                )
            }
            Err(error) => format!("{}  damaged: {error}", backup.name),
        };
        say(&line)?;
    }
    if folder.backups().is_empty() {
        say("no backups")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn prune(path: &Path, keep: u32) -> Result<ExitCode> {
    // Only a folder that is there: one to write to would be made.
    drop(Folder::open(path)?);
    let pruned = armilla_backup::prune(Folder::open_to_write(path)?, keep as usize)?;
    for name in &pruned.backups {
        say(&format!("removed {name}"))?;
    }
    say(&format!(
        "prune: {} backups and {} files removed, {}",
        pruned.backups.len(),
        count(pruned.segments.0),
        bytes(pruned.segments.1)
    ))?;
    Ok(ExitCode::SUCCESS)
}
