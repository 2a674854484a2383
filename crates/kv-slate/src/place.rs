//! Where a store lies.

use std::fmt;
use std::sync::Arc;

use armilla_kv::{Error, ErrorKind, Result};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};

use crate::failure;

/// An object store, and the prefix in it that a store has to itself.
#[derive(Clone)]
pub struct Place {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    name: String,
}

impl Place {
    /// Returns a place in memory, for tests: it lasts as long as the place and its copies do.
    pub fn memory() -> Place {
        Place::of(Arc::new(InMemory::new()), "", "memory:")
    }

    /// Returns a folder, which is made if it is not there. What is put there is synced before the put is done.
    pub fn folder(folder: &std::path::Path) -> Result<Place> {
        let name = format!("file://{}", folder.display());
        let unusable = |why: String| Error::new(ErrorKind::Io, format!("cannot use {name}: {why}"));
        std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
        let objects =
            LocalFileSystem::new_with_prefix(folder).map_err(|error| unusable(error.to_string()))?;
        Ok(Place::of(Arc::new(objects.with_fsync(true)), "", &name))
    }

    /// Returns a place in an object store that was made elsewhere.
    pub fn of(objects: Arc<dyn ObjectStore>, prefix: &str, name: &str) -> Place {
        Place { objects, prefix: Path::from(prefix), name: name.to_owned() }
    }

    pub(crate) fn objects(&self) -> &Arc<dyn ObjectStore> {
        &self.objects
    }

    /// Returns the path of something under the prefix.
    pub(crate) fn path(&self, parts: &[&str]) -> Path {
        parts.iter().fold(self.prefix.clone(), |path, part| path.join(*part))
    }

    pub(crate) fn space(&self, id: u64) -> Path {
        self.path(&["spaces", &number(id)])
    }

    pub(crate) fn dropped(&self, id: u64) -> Path {
        self.path(&["dropped", &number(id)])
    }

    pub(crate) fn dropping(&self, id: u64) -> Path {
        self.path(&["dropping", &number(id)])
    }

    /// Returns whether an object is there.
    pub(crate) async fn has(&self, path: &Path) -> Result<bool> {
        match self.objects.head(path).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(failure::of_objects("look for an object", &error)),
        }
    }

    /// Puts a mark, if it is not there yet.
    pub(crate) async fn mark(&self, path: &Path, text: &'static str) -> Result<()> {
        let payload = PutPayload::from_static(text.as_bytes());
        match self.objects.put_opts(path, payload, PutMode::Create.into()).await {
            Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(failure::of_objects("put a mark", &error)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Ids have one length, so that lists are in their order.
fn number(id: u64) -> String {
    format!("{id:020}")
}

/// Returns the id that the last part of a path names.
pub(crate) fn id_of(path: &Path) -> Option<u64> {
    path.filename()?.parse().ok()
}
