//! Where a store lies.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use armilla_kv::{Error, ErrorKind, Result};
use armilla_lease::Register;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload, RetryConfig};

use crate::failure;
use crate::limits::{RETRIES_MAX, RETRY_TIME_MAX};

/// The object that says which form a store has.
pub(crate) const FORMAT_NAME: &str = "format";

/// An object store, and the prefix in it that a store has to itself.
///
/// Connections are kept and belong to the runtime on which they were made; copies of a place share them. What uses a place on
/// another runtime makes its own.
#[derive(Clone)]
pub struct Place {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    name: String,
    /// Where it is a folder, which has no conditional writes.
    folder: Option<PathBuf>,
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
        let place = Place::of(Arc::new(objects.with_fsync(true)), "", &name);
        Ok(Place { folder: Some(folder.to_owned()), ..place })
    }

    /// Returns the place that a URL names: `file:///folder`, `s3://bucket/prefix`, `az://container/prefix` or
    /// `gs://bucket/prefix`. Keys, regions and endpoints come from the environment variables of each service.
    pub fn of_url(url: &str) -> Result<Place> {
        let refused = |why: &str| Error::new(ErrorKind::Io, format!("cannot use the store '{url}': {why}"));
        let Some((scheme, rest)) = url.split_once("://") else {
            return Err(refused("it has no scheme: give file://, s3://, az:// or gs://"));
        };
        if scheme == "file" {
            return match rest.starts_with('/') {
                true => Place::folder(std::path::Path::new(rest)),
                false => Err(refused("the path has to begin at the root: file:///folder")),
            };
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(refused("it names no bucket"));
        }
        let prefix = Path::parse(prefix.trim_matches('/')).map_err(|error| refused(&error.to_string()))?;
        // Clients are built with the provider of the process, which may have been set before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry =
            RetryConfig { max_retries: RETRIES_MAX, retry_timeout: RETRY_TIME_MAX, ..RetryConfig::default() };
        let objects: object_store::Result<Arc<dyn ObjectStore>> = match scheme {
            "s3" => {
                let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
                builder.build().map(|objects| Arc::new(objects) as _)
            }
            "az" => {
                let builder = MicrosoftAzureBuilder::from_env().with_container_name(bucket).with_retry(retry);
                builder.build().map(|objects| Arc::new(objects) as _)
            }
            "gs" => {
                let builder =
                    GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket).with_retry(retry);
                builder.build().map(|objects| Arc::new(objects) as _)
            }
            _ => return Err(refused("its scheme is none of file, s3, az and gs")),
        };
        let objects = objects.map_err(|error| refused(&error.to_string()))?;
        Ok(Place { objects, prefix, name: url.to_owned(), folder: None })
    }

    /// Returns a place in an object store that was made elsewhere.
    pub fn of(objects: Arc<dyn ObjectStore>, prefix: &str, name: &str) -> Place {
        Place { objects, prefix: Path::from(prefix), name: name.to_owned(), folder: None }
    }

    /// Returns a register of the place, by which processes agree on who has what.
    pub fn register(&self, name: &str) -> Register {
        match &self.folder {
            Some(folder) => Register::file(folder.join(name)),
            None => Register::object(self.objects.clone(), self.path(&[name])),
        }
    }

    /// Returns the folder that it is, if it is one.
    pub fn as_folder(&self) -> Option<&std::path::Path> {
        self.folder.as_deref()
    }

    /// Returns the path of something that belongs to the place and is no part of the store.
    pub fn beside(&self, name: &str) -> Path {
        self.path(&[name])
    }

    /// Returns the object store.
    pub fn objects(&self) -> &Arc<dyn ObjectStore> {
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

    /// Returns whether there is a store.
    pub async fn has_store(&self) -> Result<bool> {
        self.has(&self.path(&[FORMAT_NAME])).await
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_name_no_place_are_refused_with_what_is_wrong() {
        for (url, why) in [
            ("folder", "has no scheme"),
            ("file://folder", "begin at the root"),
            ("s3://", "names no bucket"),
            ("s3:///prefix", "names no bucket"),
            ("ftp://host/folder", "none of file, s3, az and gs"),
            ("s3://bucket/a//b", "cannot use"),
        ] {
            let error = Place::of_url(url).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(why), "{url}: {error}");
        }
    }

    #[test]
    fn a_prefix_is_where_everything_lies() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("file://{}/deep/data", folder.path().display());
        let place = Place::of_url(&url).unwrap();
        assert_eq!(place.to_string(), url);
        assert!(folder.path().join("deep/data").is_dir());
        let bucket = Place::of_url("s3://bucket/team/account").unwrap();
        assert_eq!(bucket.space(7).as_ref(), "team/account/spaces/00000000000000000007");
    }
}
