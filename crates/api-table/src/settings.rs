//! Settings that outlive a request: documents in a container of their own, beside the tables.
//!
//! Each setting is one item with the document's text in it, and can be seen through the other APIs. The container is
//! made by the first write. What was read is remembered for a short while, so that a setting that is looked at with
//! every request costs nothing.
//!
//! Invariant: after a write, readers of the same `Settings` see what was written, also those that read meanwhile.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    Caller, ContainerDefinition, ContainerHandle, Engine, Error, ErrorKind, ItemName, Precondition,
    ResourceKind, Triggers, WriteMode,
};
use armilla_env::Env;
use armilla_value::{Component, Object, PartitionKey, Value, json};
use parking_lot::{Mutex, MutexGuard};

use crate::tables::DATABASE;

/// The container of the settings. It is no table: those are partitioned by something else.
pub(crate) const CONTAINER: &str = "$TableSettings";
/// How long what was read is believed, at most. The service takes as long to notice a change.
pub(crate) const REMEMBERED_MAX: Duration = Duration::from_secs(30);
/// Settings that are remembered.
pub(crate) const REMEMBERED_COUNT_MAX: usize = 10_000;

/// Settings of one kind. One that was never written is the default of its kind.
pub(crate) struct Settings<T> {
    engine: Engine,
    env: Env,
    parse: fn(&str) -> Option<T>,
    remembered: Mutex<Remembered<T>>,
}

struct Remembered<T> {
    by_id: HashMap<String, (Duration, Arc<T>)>,
    /// Counts writes: what was read before one must not be remembered after it.
    write_count: u64,
}

impl<T: Default> Settings<T> {
    /// Returns the settings of a kind. `parse` reads the text that `write` was given.
    pub(crate) fn new(engine: Engine, env: Env, parse: fn(&str) -> Option<T>) -> Settings<T> {
        let remembered = Mutex::new(Remembered { by_id: HashMap::new(), write_count: 0 });
        Settings { engine, env, parse, remembered }
    }

    /// Reads a setting.
    pub(crate) fn read(&self, id: &str) -> Result<Arc<T>, Error> {
        let now = self.env.clock.elapsed();
        let write_count = {
            let remembered = self.remembered();
            if let Some((read_at, value)) = remembered.by_id.get(id)
                && now.saturating_sub(*read_at) < REMEMBERED_MAX
            {
                return Ok(value.clone());
            }
            remembered.write_count
        };
        let value = Arc::new(self.load(id)?);
        let mut remembered = self.remembered();
        if remembered.write_count == write_count {
            remembered.insert(id, now, value.clone());
        }
        Ok(value)
    }

    /// Writes a setting, and its text.
    pub(crate) async fn write(&self, id: &str, text: String, value: T) -> Result<(), Error> {
        let container = self.container_for_writing().await?;
        let mut body = Object::with_capacity(2);
        body.insert("id", id);
        body.insert("text", text);
        let partition_key = partition_key(id);
        let (caller, triggers) = (Caller::full(), Triggers::default());
        let written = self.engine.write_item(
            &caller,
            &container,
            WriteMode::Upsert,
            Some(&partition_key),
            Value::Object(body).into(),
            Precondition::None,
            &triggers,
        );
        let result = written.await;
        self.wrote(id, result.is_ok().then_some(value));
        result.map(|_| ())
    }

    /// Removes a setting, if there is one.
    pub(crate) async fn remove(&self, id: &str) -> Result<(), Error> {
        let Some(container) = self.container()? else { return Ok(()) };
        let partition_key = partition_key(id);
        let name = ItemName::Id(id);
        let (caller, triggers) = (Caller::full(), Triggers::default());
        let deleted = self.engine.delete_item(
            &caller,
            &container,
            name,
            Some(&partition_key),
            Precondition::None,
            &triggers,
        );
        let result = match deleted.await {
            Ok(_) => Ok(()),
            Err(error) if error.kind == ErrorKind::NotFound(ResourceKind::Item) => Ok(()),
            Err(error) => Err(error),
        };
        self.wrote(id, result.is_ok().then(T::default));
        result
    }

    /// Remembers what was written, or forgets what it was if that is not known.
    fn wrote(&self, id: &str, value: Option<T>) {
        let now = self.env.clock.elapsed();
        let mut remembered = self.remembered();
        remembered.write_count += 1;
        match value {
            Some(value) => remembered.insert(id, now, Arc::new(value)),
            None => {
                remembered.by_id.remove(id);
            }
        }
    }

    fn load(&self, id: &str) -> Result<T, Error> {
        let Some(container) = self.container()? else { return Ok(T::default()) };
        let partition_key = partition_key(id);
        let name = ItemName::Id(id);
        let read = match self.engine.read_item(&Caller::full(), &container, name, Some(&partition_key), None)
        {
            Ok(read) => read,
            Err(error) if error.kind == ErrorKind::NotFound(ResourceKind::Item) => return Ok(T::default()),
            Err(error) => return Err(error),
        };
        let root = read.item.stored().root();
        let parsed = root.get("text").and_then(|text| text.as_str()).and_then(|text| (self.parse)(&text));
        if parsed.is_none() {
            tracing::warn!(
                id,
                "a setting of the tables was changed from outside and cannot be read; it counts as unset"
            );
        }
        Ok(parsed.unwrap_or_default())
    }

    fn container(&self) -> Result<Option<Arc<ContainerHandle>>, Error> {
        match self.engine.container(DATABASE, CONTAINER) {
            Ok(located) => Ok(Some(located.container)),
            Err(error) if matches!(error.kind, ErrorKind::OwnerNotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn container_for_writing(&self) -> Result<Arc<ContainerHandle>, Error> {
        if let Some(container) = self.container()? {
            return Ok(container);
        }
        let caller = Caller::full();
        already_there(self.engine.create_database(&caller, DATABASE, None).await)?;
        let definition = json::parse(
            format!(r#"{{"id":"{CONTAINER}","partitionKey":{{"paths":["/id"],"kind":"Hash","version":2}}}}"#)
                .as_bytes(),
        )
        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        let definition = ContainerDefinition::from_value(&definition)?;
        already_there(self.engine.create_container(&caller, DATABASE, definition, None).await)?;
        self.engine.container(DATABASE, CONTAINER).map(|located| located.container)
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered<T>> {
        self.remembered.lock()
    }
}

impl<T> Remembered<T> {
    fn insert(&mut self, id: &str, now: Duration, value: Arc<T>) {
        if self.by_id.len() >= REMEMBERED_COUNT_MAX && !self.by_id.contains_key(id) {
            self.by_id.retain(|_, (read_at, _)| now.saturating_sub(*read_at) < REMEMBERED_MAX);
            if self.by_id.len() >= REMEMBERED_COUNT_MAX {
                self.by_id.clear();
            }
        }
        self.by_id.insert(id.to_owned(), (now, value));
    }
}

fn partition_key(id: &str) -> PartitionKey {
    PartitionKey(vec![Component::String(id.to_owned())])
}

/// Somebody else may have made it in the same moment.
fn already_there<T>(created: Result<T, Error>) -> Result<(), Error> {
    match created {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.kind, ErrorKind::AlreadyExists(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
pub(crate) mod tests;
