//! Unique keys that come and go while their container is in use.
//!
//! ```text
//! declare  the record says that a key is being built: every write keeps to it from here on
//! build    the items of before get their reservations; writers go on
//! hold     the record says that it holds, or, where two items have the same values, that it was dropped
//! sweep    the reservations of dropped keys are removed in the background, then their slots are free
//! ```
//! A crash before the key holds leaves a record of one that is being built, which the next start takes for dropped. The
//! container's definition is changed in memory after the record is stored, and both with the tree's writer locked, as
//! splits and merges are: so each of these sees one set of keys or gives itself up. Of several nodes one can take away what
//! another is building: then that one says that its keys could not be built.
//!
//! Not here: what is stored of a key (`definition` of the container), the steps (`unique_build` there).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{ContainerDefinition, Duplicate, UniqueKey};
use armilla_env::Env;
use tokio::sync::watch;

use super::handle::encode;
use super::{ContainerHandle, not_found_itself};
use crate::access::{Action, Caller};
use crate::background::Touch;
use crate::computed;
use crate::engine::{Engine, WeakEngine};
use crate::error::{Error, ErrorKind, Result};
use crate::record::Version;
use crate::tree::{Change, Writer};

/// How long is waited after something that failed.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

impl Engine {
    /// Gives a container these unique keys and no others. Keys that are new hold for all items, those of before included,
    /// once this is answered. Returns values that two items have, if that keeps a key from being: then nothing changed.
    pub async fn change_unique_keys(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        wanted: Vec<UniqueKey>,
    ) -> Result<Option<Duplicate>> {
        caller.access.check_account(Action::Write)?;
        let found = self.container(database, container).map_err(not_found_itself)?.container;
        let engine = self.clone();
        // The caller may go away in the middle, and a key that is half built must come to an end.
        let change = tokio::spawn(async move { engine.change_keys(&found, &wanted).await });
        change.await.unwrap_or_else(|failure| {
            Err(Error::new(ErrorKind::Internal, format!("changing unique keys was not finished: {failure}")))
        })
    }

    async fn change_keys(
        &self,
        container: &Arc<ContainerHandle>,
        wanted: &[UniqueKey],
    ) -> Result<Option<Duplicate>> {
        let _turn = container.unique_turn().lock().await;
        let declared = {
            let mut writer = self.writer().await?;
            let building = container.definition().building_unique_keys(wanted)?;
            let version = container.version();
            self.store_definition(&mut writer, container, building, version).await?;
            container.definition()
        };
        match self.build_and_hold(container, wanted, &declared).await {
            Ok(None) => Ok(None),
            failed => {
                // Where it cannot be stored now, the sweeper goes on with it.
                container.note_unswept();
                let mut writer = self.writer().await?;
                let left = container.definition().without_building_keys();
                let version = container.version();
                let stored = self.store_definition(&mut writer, container, left, version).await;
                if let Err(error) = stored
                    && !container.is_deleted()
                    && !*container.ended().borrow()
                {
                    tracing::warn!(container = container.id(), %error, "a unique key that cannot be is dropped later");
                }
                failed
            }
        }
    }

    async fn build_and_hold(
        &self,
        container: &Arc<ContainerHandle>,
        wanted: &[UniqueKey],
        declared: &ContainerDefinition,
    ) -> Result<Option<Duplicate>> {
        let mut done = BTreeSet::new();
        loop {
            if container.definition().is_building() {
                let built = container.container().build_unique_keys(&mut done).await;
                if let Some(duplicate) = built.map_err(|error| container.translate(error))? {
                    return Ok(Some(duplicate));
                }
            }
            let mut writer = self.writer().await?;
            let definition = container.definition();
            // Partitions may have taken the place of others just before.
            if definition.is_building() && !container.container().all_done(&done) {
                continue;
            }
            // Another node may have changed the keys since they were declared. What it took away is not there, and what it
            // began to build is not built by this.
            let is_built = |key: &UniqueKey| {
                declared.unique_keys.contains(key) || definition.held_unique_keys().any(|held| held == key)
            };
            let is_there = |key: &UniqueKey| {
                definition.unique_keys.iter().any(|known| known.is_like(key) && is_built(known))
            };
            if !wanted.iter().all(is_there) {
                return Err(Error::locked(
                    "another node has changed the unique keys of the container meanwhile: try again",
                ));
            }
            let held = definition.with_unique_keys(wanted);
            if held != *definition {
                let version = writer.next_version(self.env().clock.now_seconds());
                self.store_definition(&mut writer, container, held, version).await?;
                container.set_version(version);
                container.note_unswept();
            }
            return Ok(None);
        }
    }

    /// Stores a definition, and lets it hold from then on.
    async fn store_definition(
        &self,
        writer: &mut Writer,
        container: &Arc<ContainerHandle>,
        definition: ContainerDefinition,
        version: Version,
    ) -> Result<()> {
        if container.is_deleted() {
            return Err(container.missing());
        }
        if definition == *container.definition() {
            return Ok(());
        }
        let mut change = Change::begin(writer, self.env().clock.now_seconds());
        change.put(container.record_key(), encode(version, &definition, &container.container().map()));
        change.commit().await?;
        let evaluator = computed::evaluator(&definition);
        container.container().set_definition(definition, evaluator);
        Ok(())
    }

    /// Removes what dropped keys left behind, if there is something.
    async fn sweep_unique_keys(&self, container: &Arc<ContainerHandle>) -> Result<()> {
        let _turn = container.unique_turn().lock().await;
        {
            // No build is on its way: what looks like one could not be ended.
            let mut writer = self.writer().await?;
            let left = container.definition().without_building_keys();
            let version = container.version();
            self.store_definition(&mut writer, container, left, version).await?;
        }
        let slots = container.definition().dropped_slots().to_vec();
        if slots.is_empty() {
            return Ok(());
        }
        let mut done = BTreeSet::new();
        loop {
            let swept = container.container().drop_reservations(&slots, &mut done).await;
            swept.map_err(|error| container.translate(error))?;
            let mut writer = self.writer().await?;
            if !container.container().all_done(&done) {
                continue;
            }
            let left = container.definition().without_slots(&slots);
            let version = container.version();
            self.store_definition(&mut writer, container, left, version).await?;
            tracing::info!(container = container.id(), slots = slots.len(), "dropped unique keys are gone");
            return Ok(());
        }
    }
}

/// Starts what removes what dropped keys left behind; it ends with the container.
pub(crate) fn start(container: &Arc<ContainerHandle>, engine: &Engine) {
    let (handle, env, ended) = (container.clone(), engine.env().clone(), container.ended());
    let (engine, touch) = (engine.downgrade(), Touch::new(engine));
    container.unique_sweeping().start(|_| look_after(handle, engine, env, touch, ended));
}

async fn look_after(
    container: Arc<ContainerHandle>,
    engine: WeakEngine,
    env: Env,
    touch: Touch,
    mut ended: watch::Receiver<bool>,
) {
    let mut is_wanted = !container.definition().dropped_slots().is_empty();
    loop {
        if is_wanted {
            tokio::select! {
                _ = ended.wait_for(|ended| *ended) => return,
                () = touch.held() => {}
            }
            let Some(engine) = engine.upgrade() else { return };
            let swept = tokio::select! {
                biased;
                _ = ended.wait_for(|ended| *ended) => return,
                swept = engine.sweep_unique_keys(&container) => swept,
            };
            is_wanted = false;
            if let Err(error) = swept {
                if *ended.borrow() || container.is_deleted() {
                    return;
                }
                tracing::warn!(container = container.id(), %error, "removing a dropped unique key is put off");
                is_wanted = true;
            }
        }
        let wake = async {
            match is_wanted {
                true => env.clock.sleep(RETRY_PERIOD).await,
                false => container.unswept().await,
            }
        };
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => return,
            () = wake => is_wanted = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use armilla_kv::memory::MemoryStore;
    use armilla_value::{PropertyPath, json};

    use super::*;
    use crate::EngineOptions;

    #[tokio::test]
    async fn a_key_that_was_taken_away_while_it_was_built_does_not_hold() {
        let (env, _clock) = Env::simulated(1);
        let engine = Engine::open(Arc::new(MemoryStore::new()), env, EngineOptions::default()).await.unwrap();
        let caller = Caller::full();
        engine.create_database(&caller, "d", None).await.unwrap();
        let definition = json::parse(br#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).unwrap();
        let definition = ContainerDefinition::from_value(&definition).unwrap();
        engine.create_container(&caller, "d", definition, None).await.unwrap();
        let container = engine.container("d", "c").unwrap().container;
        let wanted = [UniqueKey::new(vec![PropertyPath::parse("/u").unwrap()], false)];
        // The sweeper waits for those who change keys.
        let _turn = container.unique_turn().lock().await;
        let store = async |definition: ContainerDefinition| {
            let mut writer = engine.writer().await.unwrap();
            let version = container.version();
            engine.store_definition(&mut writer, &container, definition, version).await.unwrap();
            container.definition()
        };
        // As another node does that changes keys at the same time: takes it away, or begins to build it anew.
        let declared = store(container.definition().building_unique_keys(&wanted).unwrap()).await;
        store(container.definition().without_building_keys()).await;
        let gone = engine.build_and_hold(&container, &wanted, &declared).await;
        assert_eq!(gone.unwrap_err().kind, ErrorKind::Locked);
        store(container.definition().building_unique_keys(&wanted).unwrap()).await;
        let another = engine.build_and_hold(&container, &wanted, &declared).await;
        assert_eq!(another.unwrap_err().kind, ErrorKind::Locked);
        let declared = container.definition();
        assert!(engine.build_and_hold(&container, &wanted, &declared).await.unwrap().is_none());
        assert_eq!(container.definition().held_unique_keys().count(), 1);
    }
}
