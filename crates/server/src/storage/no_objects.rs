//! A build without object storage: the settings refuse it before anything is opened.

use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use armilla_engine::{Among, Nodes};
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

/// There is none.
pub(crate) enum Node {}

pub(crate) async fn open(settings: &ObjectSettings<'_>, _: &Env) -> Result<(Arc<dyn Store>, Hold)> {
    Err(anyhow!("this armilla was built without object storage and cannot open {}", settings.url))
}

pub(crate) async fn join(
    settings: &ObjectSettings<'_>,
    _: SocketAddr,
    _: &str,
    env: &Env,
) -> Result<(Arc<dyn Store>, Hold)> {
    open(settings, env).await
}

impl Hold {
    pub(crate) fn as_node(&mut self) -> Option<&mut Node> {
        match *self {}
    }

    pub(crate) fn lost(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match *self {}
    }

    pub(crate) fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match *self {}
    }

    pub(crate) fn leave(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match *self {}
    }

    pub(crate) async fn release(self) {
        match self {}
    }
}

impl Node {
    pub(crate) fn nodes(&self) -> Arc<dyn Nodes> {
        match *self {}
    }

    pub(crate) fn begin(&mut self, _: &Arc<Among>) {
        match *self {}
    }
}
