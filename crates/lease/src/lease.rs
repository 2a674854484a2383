//! Taking, keeping and giving up a lease.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use armilla_env::{Clock, Env};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use crate::record::Record;
use crate::register::{Register, RegisterError, Version};
use crate::standing::Standing;

/// A lease is written again after this part of its length.
const RENEWALS: u32 = 3;

/// One that waits for a lease looks at it after this part of its length.
const LOOKS: u32 = 6;

/// A write that failed is tried again after this part of the length.
const RETRIES: u32 = 20;

/// How a lease is asked for.
#[derive(Debug, Clone)]
pub struct LeaseOptions {
    /// A name for logs; what makes it the only one of its name is added.
    pub name: String,
    /// For how long it is valid.
    pub length: Duration,
    /// What is said of the holder in its first record.
    pub note: String,
}

/// A lease that this process has.
pub struct Lease {
    tenure: Tenure,
    record: Record,
    end: Option<oneshot::Sender<()>>,
    keeper: JoinHandle<Option<(Record, Version)>>,
    register: Register,
    lost: watch::Receiver<bool>,
    note: watch::Sender<String>,
}

/// Says, at any moment, whether a lease is valid. Asking costs next to nothing.
#[derive(Clone)]
pub struct Tenure {
    clock: Arc<dyn Clock>,
    /// Until when, in microseconds of the clock.
    until_us: Arc<AtomicU64>,
}

impl fmt::Debug for Tenure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenure").field("until_us", &self.until_us).finish_non_exhaustive()
    }
}

impl Tenure {
    /// Returns whether no other can have the lease yet.
    pub fn is_valid(&self) -> bool {
        let now = u64::try_from(self.clock.elapsed().as_micros()).unwrap_or(u64::MAX);
        now < self.until_us.load(Ordering::Acquire)
    }

    fn extend(&self, until: Duration) {
        let until = u64::try_from(until.as_micros()).unwrap_or(u64::MAX);
        self.until_us.fetch_max(until, Ordering::AcqRel);
    }

    fn end(&self) {
        self.until_us.store(0, Ordering::Release);
    }
}

impl Lease {
    /// Waits until no other has the lease, takes it, and keeps it. `waiting` is told, once for each holder, who has it.
    ///
    /// What keeps it runs on the runtime of the caller: let no other work hold that up. Fails with [`RegisterError::Other`] for
    /// one that was so slow that others have found it to have ended: it may ask again, and has another name then.
    pub async fn take(
        register: Register,
        options: &LeaseOptions,
        env: &Env,
        waiting: impl Fn(&Record),
    ) -> Result<Lease, RegisterError> {
        let holder = format!("{} {}", options.name.replace('\n', " "), env.guid());
        let clock = &env.clock;
        let mut standing = Standing::default();
        let mut told: Option<String> = None;
        let (record, version, sent) = loop {
            let found = register.read().await?;
            let read_at = clock.elapsed();
            let before = match &found {
                None => None,
                Some((bytes, _)) => {
                    let damaged = || RegisterError::Unknown("the lease is damaged: remove it".to_owned());
                    Some(Record::decode(bytes).ok_or_else(damaged)?)
                }
            };
            if before.as_ref().is_some_and(|before| before.holder == holder && before.is_released) {
                // An earlier write was done after all, and others have found since that its writer must have stopped.
                return Err(RegisterError::Other);
            }
            let version = found.map(|(_, version)| version);
            if let (Some(before), Some(version)) = (&before, &version)
                && !before.is_released
                && before.holder != holder
            {
                if told.as_ref() != Some(&before.holder) {
                    waiting(before);
                    told = Some(before.holder.clone());
                }
                let left = standing.left(version, before.length, read_at);
                if !left.is_zero() {
                    clock.sleep(left.min(options.length / LOOKS)).await;
                    continue;
                }
            }
            let record = Record::next(before.as_ref(), &holder, options.length).noting(&options.note);
            let sent = clock.elapsed();
            match register.replace(version.as_ref(), record.encode()).await {
                Ok(version) => break (record, version, sent),
                // Another was faster, or it is not known: the next look tells.
                Err(RegisterError::Other) => {}
                Err(RegisterError::Unknown(why)) => {
                    tracing::warn!(why, "a lease could not be written");
                    clock.sleep(options.length / RETRIES).await;
                }
            }
        };
        let tenure = Tenure { clock: clock.clone(), until_us: Arc::default() };
        tenure.extend(sent + options.length);
        let (end, ended) = oneshot::channel();
        let (tell_lost, lost) = watch::channel(false);
        let (note, noted) = watch::channel(options.note.clone());
        let keeper = Keeper {
            register: register.clone(),
            clock: clock.clone(),
            tenure: tenure.clone(),
            record: record.clone(),
            version,
            sent,
            noted,
        };
        let keeper = tokio::spawn(keeper.run(ended, tell_lost));
        Ok(Lease { tenure, record, end: Some(end), keeper, register, lost, note })
    }

    /// Returns what says whether the lease is valid.
    pub fn tenure(&self) -> Tenure {
        self.tenure.clone()
    }

    /// Returns how often the lease had gone from one holder to another when this one took it.
    pub fn term(&self) -> u64 {
        self.record.term
    }

    /// Says something else of this holder, in a record that is written at once.
    pub fn set_note(&self, note: String) {
        self.note.send_if_modified(|before| {
            let is_new = *before != note;
            *before = note;
            is_new
        });
    }

    /// Waits until another has the lease.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut lost = self.lost.clone();
        async move {
            // It is never dropped before it was said, but by a runtime that ends.
            let _ = lost.wait_for(|lost| *lost).await;
        }
    }

    /// Gives the lease up, so that another need not wait. From now on it is not valid.
    pub async fn release(mut self) {
        self.tenure.end();
        drop(self.end.take());
        let kept = self.keeper.await;
        // A renewal that was on its way has made it longer.
        self.tenure.end();
        if let Ok(Some((record, version))) = kept
            && let Err(error) = self.register.replace(Some(&version), record.ended().encode()).await
        {
            tracing::warn!(%error, "a lease could not be given up: another has to wait for its end");
        }
    }
}

/// What keeps a lease.
struct Keeper {
    register: Register,
    clock: Arc<dyn Clock>,
    tenure: Tenure,
    record: Record,
    version: Version,
    /// When the record was sent.
    sent: Duration,
    /// What the record is to say of the holder.
    noted: watch::Receiver<String>,
}

impl Keeper {
    /// Writes the record again and again; returns the last one unless the lease is lost.
    async fn run(
        mut self,
        mut ended: oneshot::Receiver<()>,
        lost: watch::Sender<bool>,
    ) -> Option<(Record, Version)> {
        let length = self.record.length;
        let mut pause = length / RENEWALS;
        loop {
            let clock = self.clock.clone();
            tokio::select! {
                // In this order, so that what is simulated happens again.
                biased;
                _ = &mut ended => return Some((self.record, self.version)),
                () = clock.sleep(pause) => {}
                // After a write that failed, too: what another waits for is tried at once, and then again as everything.
                Ok(()) = self.noted.changed() => {}
            }
            pause = match self.renew().await {
                Ok(()) => (length / RENEWALS).saturating_sub(self.clock.elapsed().saturating_sub(self.sent)),
                Err(RegisterError::Unknown(why)) => {
                    tracing::warn!(why, "a lease could not be renewed");
                    length / RETRIES
                }
                Err(RegisterError::Other) => {
                    self.tenure.end();
                    lost.send_replace(true);
                    return None;
                }
            };
        }
    }

    async fn renew(&mut self) -> Result<(), RegisterError> {
        let record = self.record.again().noting(&self.noted.borrow_and_update());
        let sent = self.clock.elapsed();
        match self.register.replace(Some(&self.version), record.encode()).await {
            Ok(version) => {
                (self.record, self.version, self.sent) = (record, version, sent);
                self.tenure.extend(sent + self.record.length);
                Ok(())
            }
            Err(RegisterError::Other) => {
                // It may be an earlier write of this very process, whose answer was lost.
                let found = self.register.read().await?;
                match found.and_then(|(bytes, version)| Some((Record::decode(&bytes)?, version))) {
                    // Unless others have found that it had ended.
                    Some((found, version)) if found.holder == self.record.holder && !found.is_released => {
                        // When that one was sent is not known: the next one counts.
                        (self.record, self.version) = (found, version);
                        Err(RegisterError::Unknown("an earlier answer was lost".to_owned()))
                    }
                    _ => Err(RegisterError::Other),
                }
            }
            Err(error) => Err(error),
        }
    }
}
