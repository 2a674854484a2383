//! What is compared.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_kv::{Batch, Family, Space, SpaceId, Store};
use armilla_kv_embedded::EmbeddedStore;
use armilla_kv_slate::{Place, SlateOptions, SlateStore};
use bytes::Bytes;
use futures_util::future::try_join_all;
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use slatedb::{Db, Settings, WriteBatch};

/// How often SlateDB by itself puts what was written. Ours asks for each group.
const RAW_FLUSH: Duration = Duration::from_millis(1);

/// Entries of an index that come with an item.
const ENTRIES: u64 = 6;

/// Commits that load at once.
const LOADERS: u64 = 64;

/// One of those that are compared.
pub(crate) struct Side {
    pub(crate) name: String,
    kind: Kind,
}

enum Kind {
    Contract { space: Arc<dyn Space>, _store: Arc<dyn Store> },
    Raw(Db),
}

impl Side {
    fn contract(name: &str, store: Arc<dyn Store>) -> Result<Side> {
        let space = store.open_space(SpaceId(1))?;
        Ok(Side { name: name.to_owned(), kind: Kind::Contract { space, _store: store } })
    }

    pub(crate) fn embedded(folder: &Path) -> Result<Side> {
        Side::contract(
            "embedded",
            Arc::new(EmbeddedStore::open(folder, armilla_kv_embedded::Options::default())?),
        )
    }

    pub(crate) fn slate(name: &str, url: &str) -> Result<Side> {
        Side::contract(name, Arc::new(SlateStore::open(Place::of_url(url)?, &SlateOptions::default())?))
    }

    pub(crate) async fn raw(name: &str, folder: &Path) -> Result<Side> {
        std::fs::create_dir_all(folder)?;
        Side::raw_on(name, Arc::new(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true)), "raw").await
    }

    pub(crate) async fn raw_at(name: &str, url: &str) -> Result<Side> {
        let rest = url.strip_prefix("s3://").context("SlateDB itself is measured on s3:// alone")?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let objects = AmazonS3Builder::from_env().with_bucket_name(bucket).build()?;
        Side::raw_on(name, Arc::new(objects), &format!("{prefix}/raw")).await
    }

    async fn raw_on(name: &str, objects: Arc<dyn ObjectStore>, prefix: &str) -> Result<Side> {
        let settings = Settings { flush_interval: Some(RAW_FLUSH), ..Settings::default() };
        let db = Db::builder(prefix, objects).with_settings(settings).build().await?;
        Ok(Side { name: name.to_owned(), kind: Kind::Raw(db) })
    }

    /// Writes what is read later.
    pub(crate) async fn load(&self, count: u64) -> Result<()> {
        for first in (0..count).step_by(LOADERS as usize) {
            try_join_all((first..(first + LOADERS).min(count)).map(|number| self.commit(number))).await?;
        }
        Ok(())
    }

    /// Writes an item with what belongs to it, and waits until it is durable.
    pub(crate) async fn commit(&self, number: u64) -> Result<()> {
        match &self.kind {
            Kind::Contract { space, .. } => {
                let mut batch = Batch::new();
                for (family, key, value) in records(number) {
                    batch.put(family, key, value);
                }
                Ok(space.commit(batch).await?)
            }
            Kind::Raw(db) => {
                let mut batch = WriteBatch::new();
                for (family, key, value) in records(number) {
                    batch.put_bytes(raw_key(family, &key), value);
                }
                Ok(db.write(batch).await?.await_durable().await?)
            }
        }
    }

    /// Reads an item.
    pub(crate) async fn get(&self, number: u64) -> Result<()> {
        let key = item_key(number);
        let found = match &self.kind {
            Kind::Contract { space, .. } => space.get(Family::Item, &key)?.map(|value| value.len()),
            Kind::Raw(db) => db.get(raw_key(Family::Item, &key)).await?.map(|value| value.len()),
        };
        found.map(|_| ()).with_context(|| format!("item {number} is not there"))
    }
}

fn item_key(number: u64) -> Bytes {
    // Spread, as hashes are.
    Bytes::copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes())
}

fn raw_key(family: Family, key: &[u8]) -> Bytes {
    let mut bytes = vec![family as u8];
    bytes.extend_from_slice(key);
    bytes.into()
}

fn records(number: u64) -> Vec<(Family, Bytes, Bytes)> {
    let value = Bytes::from(vec![number as u8; 700]);
    let mut records = vec![
        (Family::Item, item_key(number), value),
        (Family::Number, Bytes::copy_from_slice(&number.to_be_bytes()), item_key(number)),
        (Family::Meta, Bytes::from("counters"), Bytes::copy_from_slice(&number.to_be_bytes())),
    ];
    for entry in 0..ENTRIES {
        let key = format!("{entry}/{}/{number:020}", number % 1_000);
        records.push((Family::Index, key.into(), Bytes::new()));
    }
    records
}
