//! The store and the engine over it, opened and closed in the right order.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use armilla_env::Env;
use armilla_kv::Store;

use crate::api::Api;
use crate::data_dir::DataDir;
use crate::settings::{Data, Settings};

pub(crate) struct Storage {
    folder: Option<DataDir>,
    store: Arc<dyn Store>,
}

impl Storage {
    pub(crate) async fn open(settings: &Settings, _env: &Env) -> Result<Storage> {
        let folder = match &settings.data {
            Data::Memory => None,
            Data::Folder(path) => Some(DataDir::open_or_create(path)?),
        };
        Ok(Storage { folder, store: Arc::new(armilla_kv::memory::MemoryStore::new()) })
    }
    pub(crate) fn tls_folder(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(DataDir::tls)
    }
    pub(crate) fn api(&self, _settings: &Settings, _env: &Env) -> Result<Api> {
        Ok(Api)
    }
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }
    pub(crate) async fn close(self) -> Result<()> {
        self.store.close()?;
        Ok(())
    }
}
