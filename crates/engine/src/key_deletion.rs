//! Deleting all items of a logical partition: gone at once for everybody, taken away in the background.
//!
//! What is to be deleted is a record of the tree, so that it outlives the program; it says up to which commit the items go.
//! One task per container takes them away in small steps, with a tenth of the throughput, and removes the record when
//! nothing is left.
//!
//! Not here: hiding items, and what a step does (`container`).

use std::sync::Arc;
use std::time::Duration;

use armilla_container::{ErrorKind as Kind, KeyDeletion, KeysDeleted, Position, RequestUnits};
use armilla_env::Env;
use armilla_value::PartitionKey;
use armilla_value::rid::ContainerRid;
use bytes::Bytes;
use tokio::sync::watch;

use crate::access::{Action, Caller};
use crate::background::Touch;
use crate::containers::ContainerHandle;
use crate::engine::{Engine, WeakEngine};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::DELETED_KEYS_MAX;
use crate::record::{self, Record, Version, tag};
use crate::tree::Change;

/// How long is waited after a step that failed.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

/// How long others have the partition for themselves between two steps.
const STEP_PAUSE: Duration = Duration::from_millis(5);

/// What asking for it came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyDeleted {
    /// What it cost.
    pub charge: RequestUnits,
    /// Where it is stored.
    pub position: Position,
}

/// A logical partition that is being deleted, as it is kept.
pub(crate) struct DeletionRecord {
    pub(crate) container: ContainerRid,
    pub(crate) partition_key: PartitionKey,
    pub(crate) lsn: u64,
}

impl DeletionRecord {
    fn key(&self) -> Bytes {
        let mut rest = self.container.to_string().into_bytes();
        rest.push(b'/');
        rest.extend_from_slice(self.partition_key.to_json().as_bytes());
        record::key(tag::KEY_DELETION, &rest)
    }

    fn encode(&self, version: Version) -> Bytes {
        let mut object = record::begin(version);
        object.insert("container", self.container.to_string());
        object.insert("partitionKey", self.partition_key.to_json());
        object.insert("lsn", self.lsn as i64);
        record::encode(object)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<DeletionRecord> {
        let what = "the deletion of a partition key";
        let record = Record::decode(bytes, what)?;
        let damaged = |name: &str| Error::new(ErrorKind::Corrupt, format!("{what}: '{name}' is wrong"));
        Ok(DeletionRecord {
            container: ContainerRid::parse(&record.text("container")?).ok_or_else(|| damaged("container"))?,
            partition_key: PartitionKey::from_json(record.text("partitionKey")?.as_bytes())
                .map_err(|_| damaged("partitionKey"))?,
            lsn: record.number("lsn")?,
        })
    }
}

impl Engine {
    /// Deletes all items of a logical partition, which must be named by its whole key.
    pub async fn delete_partition_key(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
    ) -> Result<KeyDeleted> {
        caller.access.check_item(Action::Write, container.rid(), None, Some(partition_key))?;
        if !container.definition().partition_key.is_whole(partition_key) {
            return Err(Error::new(
                ErrorKind::PartitionKeyMismatch,
                "all items of a logical partition can be deleted, not those of the beginning of a key: give a value \
                 for each of the key's paths",
            ));
        }
        let mut writer = self.writer().await?;
        if container.is_deleted() {
            return Err(container.missing());
        }
        if container.container().deleted_key_count() >= DELETED_KEYS_MAX {
            return Err(Error::locked(format!(
                "{DELETED_KEYS_MAX} partition keys of this container are being deleted already: try again later"
            )));
        }
        // One form for each logical partition: a record has to be found again.
        let partition_key = &container.definition().partition_key.meant(partition_key).into_owned();
        let begun = container.container().begin_key_deletion(partition_key, caller.claim).await?;
        let KeyDeletion { lsn, charge, position } = begun;
        let deletion =
            DeletionRecord { container: container.rid(), partition_key: partition_key.clone(), lsn };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        change.put(deletion.key(), deletion.encode(version));
        change.commit().await?;
        container.container().hide_key(partition_key, lsn)?;
        Ok(KeyDeleted { charge, position })
    }

    /// Removes the record of a logical partition of which nothing is left.
    async fn end_key_deletion(
        &self,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        lsn: u64,
    ) -> Result<()> {
        let mut writer = self.writer().await?;
        // It may have been deleted anew, with all of the container, or with what came since.
        let is_same = |(key, known): &(PartitionKey, u64)| key == partition_key && *known == lsn;
        if container.is_deleted() || !container.container().deleted_keys().iter().any(is_same) {
            return Ok(());
        }
        let deletion =
            DeletionRecord { container: container.rid(), partition_key: partition_key.clone(), lsn };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.delete(deletion.key());
        change.commit().await?;
        container.container().forget_deleted_key(partition_key, lsn)?;
        Ok(())
    }
}

/// Removes the records of a container that is deleted itself.
pub(crate) fn forget(change: &mut Change<'_>, container: &ContainerHandle) {
    for (partition_key, lsn) in container.container().deleted_keys() {
        change.delete(DeletionRecord { container: container.rid(), partition_key, lsn }.key());
    }
}

/// Starts what takes away the items of a container's deleted logical partitions; it ends with the container.
pub(crate) fn start(container: &Arc<ContainerHandle>, engine: &Engine) {
    let (handle, env, ended) = (container.clone(), engine.env().clone(), container.ended());
    let (engine, touch) = (engine.downgrade(), Touch::new(engine));
    container.deleting().start(|_| look_after(handle, engine, env, touch, ended));
}

async fn look_after(
    container: Arc<ContainerHandle>,
    engine: WeakEngine,
    env: Env,
    touch: Touch,
    mut ended: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => return,
            () = touch.held() => {}
        }
        let pause = match step(&container, &engine).await {
            Ok(pause) => pause,
            Err(error) => {
                if *ended.borrow() {
                    return;
                }
                tracing::warn!(container = container.id(), %error, "deleting a partition key is put off");
                Some(RETRY_PERIOD)
            }
        };
        let wake = async {
            match pause {
                Some(pause) => env.clock.sleep(pause.max(STEP_PAUSE)).await,
                None => container.container().deletion_wanted().await,
            }
        };
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => return,
            () = wake => {}
        }
    }
}

/// Does one step. Returns how long to wait for the next; nothing where there is nothing to do.
async fn step(container: &Arc<ContainerHandle>, engine: &WeakEngine) -> Result<Option<Duration>> {
    let KeysDeleted { items, done, rest } = match container.container().delete_keys_step().await {
        Ok(step) => step,
        // It will be free, or is another's by now.
        Err(error) if matches!(error.kind, Kind::Throttled | Kind::RangeGone | Kind::Conflict) => {
            return Ok(Some(RETRY_PERIOD));
        }
        Err(error) => return Err(error.into()),
    };
    if items > 0 || !done.is_empty() {
        tracing::debug!(container = container.id(), items, done = done.len(), "a step of deleting keys");
    }
    for (partition_key, lsn) in &done {
        let Some(engine) = engine.upgrade() else { return Ok(None) };
        engine.end_key_deletion(container, partition_key, *lsn).await?;
    }
    Ok(rest)
}
