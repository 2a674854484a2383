//! Backups of an account that is being served: a moment of all spaces, read piece by piece by the client that takes it.
//!
//! A backup is begun, which fixes the moment, and then read frame by frame, each in a request of its own. So the engine
//! holds nothing of it but a position, nothing runs while no client asks, and one that no client asks for any more is
//! given up after [`BACKUP_IDLE_MAX`]. Writers are never held up: the moment is a view of the store that costs them
//! nothing.
//!
//! Spaces that the resource tree has noted as to be dropped, at that moment, are left out: those of containers that were
//! deleted, and of splits that were under way. Where a backup is restored the notes are still there, and mean nothing
//! then. All others belong to a container, or to the tree.
//!
//! Not here: the bytes of a frame, and what becomes of them (`backup`).

mod running;

use std::sync::{Arc, Weak};

use armilla_backup::Walk;
use armilla_kv::{Family, Scan, SpaceId, Store};
use bytes::Bytes;
use ring::digest::{Context, SHA256};

use crate::access::{Action, Caller};
use crate::engine::{Engine, WeakEngine};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::BACKUP_IDLE_MAX;
use crate::record::{self, ROOT_SPACE, tag};
use running::Running;

pub(crate) use running::Backups;

/// Bytes of the name of an account.
const ACCOUNT_BYTES: usize = 16;

/// What there is to back up of a store, at one moment.
pub struct BackupSource {
    /// Names the account, as long as it lives; nothing can be derived from it.
    pub account: String,
    /// Its spaces.
    pub walk: Walk,
}

impl BackupSource {
    /// Takes the present moment of a store that holds an account.
    pub fn new(store: &dyn Store) -> Result<BackupSource> {
        let snapshot = store.snapshot_all()?;
        let root = snapshot.space(ROOT_SPACE)?;
        let Some(secret) = root.get(Family::Meta, &record::key(tag::SECRET, b""))? else {
            return Err(Error::invalid("the store holds no account"));
        };
        let mut to_drop = Vec::new();
        let mut scan = Scan::prefix(Family::Meta, &[tag::SPACE_TO_DROP]);
        loop {
            let page = root.scan(&scan)?;
            let spaces = page.entries.iter().filter_map(|(key, _)| key.get(1..)?.try_into().ok());
            to_drop.extend(spaces.map(|id| SpaceId(u64::from_be_bytes(id))));
            match page.entries.last() {
                Some((key, _)) if page.more => scan = scan.after(&key.clone()),
                _ => break,
            }
        }
        drop(root);
        let walk = Walk::new(snapshot, &to_drop).map_err(failed)?;
        Ok(BackupSource { account: account_name(&secret), walk })
    }
}

/// Returns the name of an account: a sum of its secret, which cannot be turned back.
fn account_name(secret: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(b"armilla: the name of an account");
    context.update(secret);
    context.finish().as_ref()[..ACCOUNT_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A backup that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupBegun {
    /// Names it until it is ended.
    pub id: String,
    /// Names the account.
    pub account: String,
    /// The moment, in milliseconds since 1970.
    pub moment_ms: i64,
    /// How many spaces there are to read.
    pub spaces: usize,
}

impl Engine {
    /// Fixes the moment of a backup.
    ///
    /// Only for those who may do everything: what is read includes the secret with which resource tokens are made.
    pub async fn begin_backup(&self, caller: &Caller) -> Result<BackupBegun> {
        caller.access.check_account(Action::Write)?;
        if self.among().is_some() {
            return Err(Error::invalid(
                "no backup is taken of an account that several nodes serve: stop them, and start a server with --store and \
                 without --node for as long as it takes, or copy the prefix of the object store",
            ));
        }
        let store = self.store().clone();
        let moment_ms = self.env().clock.now_ms();
        let source = aside(move || BackupSource::new(&*store)).await??;
        let BackupSource { account, walk } = source;
        let spaces = walk.space_count();
        let running = Arc::new(Running::new(walk, self.env().clock.elapsed()));
        let id = self.env().guid();
        self.backups().add(id.clone(), running.clone())?;
        tokio::spawn(give_up_when_idle(self.downgrade(), id.clone(), Arc::downgrade(&running)));
        tracing::info!(id, spaces, "a backup has begun");
        Ok(BackupBegun { id, account, moment_ms, spaces })
    }

    /// Returns a frame of a backup: the one that was returned last, or the next. Returns nothing if there is no such
    /// backup, or not any more.
    pub async fn backup_frame(&self, caller: &Caller, id: &str, number: u64) -> Result<Option<Bytes>> {
        caller.access.check_account(Action::Write)?;
        let Some(running) = self.backups().lock().get(id).cloned() else { return Ok(None) };
        running.touch(self.env().clock.elapsed());
        let mut reading = running.reading.clone().lock_owned().await;
        if number == reading.number + 1
            && let Some(next) = reading.next.take()
        {
            reading.number = number;
            reading.here = next;
        }
        if number != reading.number || reading.here.is_over() {
            return Err(Error::invalid(format!(
                "the backup is at frame {}, frame {number} cannot be read",
                reading.number
            )));
        }
        let walking = running.clone();
        let made = aside(move || {
            let (frame, next) = walking.walk.frame(&reading.here)?;
            reading.next = Some(next);
            Ok::<Bytes, armilla_backup::Error>(frame)
        });
        let frame = made.await?.map_err(failed)?;
        running.touch(self.env().clock.elapsed());
        Ok(Some(frame))
    }

    /// Lets go of a backup's moment. Returns whether there was such a backup.
    pub async fn end_backup(&self, caller: &Caller, id: &str) -> Result<bool> {
        caller.access.check_account(Action::Write)?;
        let Some(running) = self.backups().lock().remove(id) else { return Ok(false) };
        let frames = running.reading.lock().await.number + 1;
        tracing::info!(id, frames, "a backup has ended");
        // Files that only it needed are deleted here.
        aside(move || drop(running)).await?;
        Ok(true)
    }
}

/// Lets go of a backup's moment when no client has asked for it for a while.
async fn give_up_when_idle(engine: WeakEngine, id: String, running: Weak<Running>) {
    loop {
        let wait = {
            let (Some(engine), Some(running)) = (engine.upgrade(), running.upgrade()) else { return };
            let now = engine.env().clock.elapsed();
            // A client that waits for a frame is not gone.
            let left = match running.reading.try_lock() {
                Ok(_) => running.idle_until().saturating_sub(now),
                Err(_) => BACKUP_IDLE_MAX,
            };
            if left.is_zero() {
                let given_up = engine.backups().lock().remove(&id);
                drop(running);
                if given_up.is_some() {
                    tracing::warn!(id, "a backup is given up, no client has asked for it");
                    let _ = aside(move || drop(given_up)).await;
                }
                return;
            }
            engine.env().clock.sleep(left)
        };
        wait.await;
    }
}

/// Runs something that reads or deletes for a while, on a thread that no request waits for.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|failure| Error::new(ErrorKind::Internal, format!("the backup was not read: {failure}")))
}

fn failed(error: armilla_backup::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the backup cannot go on: {error}"))
}
