//! A build without object storage: the settings refuse it before anything is opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use armilla_env::Env;
use armilla_kv::{Durability, Store};

/// See the module of builds with object storage.
#[expect(dead_code, reason = "there is nothing to use them for")]
pub(crate) struct ObjectSettings<'s> {
    pub(crate) url: &'s str,
    pub(crate) lease: Duration,
    pub(crate) durability: Durability,
    pub(crate) block_cache_bytes: u64,
    pub(crate) disk_cache: Option<(&'s Path, u64)>,
    pub(crate) must_exist: bool,
}

/// There is none.
pub(crate) enum Hold {}

pub(crate) async fn open(settings: &ObjectSettings<'_>, _: &Env) -> Result<(Arc<dyn Store>, Hold)> {
    Err(anyhow!("this armilla was built without object storage and cannot open {}", settings.url))
}

impl Hold {
    pub(crate) fn lost(&self) -> impl Future<Output = ()> + Send + 'static {
        match *self {}
        #[expect(unreachable_code, reason = "it gives the type")]
        std::future::pending()
    }

    pub(crate) async fn release(self) {
        match self {}
    }
}
