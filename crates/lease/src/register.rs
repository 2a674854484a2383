//! One object that is replaced only by those who know what is in it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error as ObjectError, ObjectStore, ObjectStoreExt, PutMode, PutPayload, UpdateVersion};

/// Why a register was not read or written.
#[derive(Debug)]
pub enum RegisterError {
    /// Something else is in it than what the writer has seen.
    Other,
    /// It is not known whether it was written.
    Unknown(String),
}

impl std::error::Error for RegisterError {}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Other => f.write_str("another has written it meanwhile"),
            RegisterError::Unknown(why) => f.write_str(why),
        }
    }
}

/// What a register held at a moment, by which it can be replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Version(Inner);

#[derive(Debug, Clone, PartialEq)]
enum Inner {
    Object { e_tag: Option<String>, version: Option<String> },
    File(Bytes),
}

/// An object with the operation *replace what I have seen*.
#[derive(Clone)]
pub struct Register(Home);

#[derive(Clone)]
enum Home {
    /// In an object store that has conditional writes.
    Object(Arc<dyn ObjectStore>, Path),
    /// A file. It is changed under a lock of the operating system's, so that all processes are on one machine.
    File(PathBuf),
}

impl Register {
    /// Returns the register at a path of an object store, which has to replace objects conditionally.
    pub fn object(objects: Arc<dyn ObjectStore>, path: Path) -> Register {
        Register(Home::Object(objects, path))
    }

    /// Returns the register in a file, whose folder has to be there.
    pub fn file(path: PathBuf) -> Register {
        Register(Home::File(path))
    }

    /// Returns what is in it, if it was ever written.
    pub async fn read(&self) -> Result<Option<(Bytes, Version)>, RegisterError> {
        match &self.0 {
            Home::Object(objects, path) => match objects.get(path).await {
                Ok(found) => {
                    let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
                    let bytes = found.bytes().await.map_err(unknown)?;
                    Ok(Some((bytes, Version(Inner::Object { e_tag, version }))))
                }
                Err(ObjectError::NotFound { .. }) => Ok(None),
                Err(error) => Err(unknown(error)),
            },
            Home::File(path) => in_file(path.clone(), |path| Ok(read_file(path)?.map(seen))).await,
        }
    }

    /// Replaces what the writer has seen, or writes what was never written.
    pub async fn replace(&self, seen: Option<&Version>, bytes: Bytes) -> Result<Version, RegisterError> {
        match &self.0 {
            Home::Object(objects, path) => {
                let mode = match seen.map(|version| &version.0) {
                    None => PutMode::Create,
                    Some(Inner::Object { e_tag, version }) => {
                        PutMode::Update(UpdateVersion { e_tag: e_tag.clone(), version: version.clone() })
                    }
                    Some(Inner::File(_)) => return Err(RegisterError::Other),
                };
                match objects.put_opts(path, PutPayload::from_bytes(bytes), mode.into()).await {
                    Ok(put) => Ok(Version(Inner::Object { e_tag: put.e_tag, version: put.version })),
                    Err(ObjectError::AlreadyExists { .. } | ObjectError::Precondition { .. }) => {
                        Err(RegisterError::Other)
                    }
                    Err(error) => Err(unknown(error)),
                }
            }
            Home::File(path) => {
                let seen = seen.cloned();
                let replaced = in_file(path.clone(), move |path| {
                    let found = read_file(path)?.map(|found| Version(Inner::File(found)));
                    if found != seen {
                        return Ok(None);
                    }
                    write_file(path, &bytes)?;
                    Ok(Some(Version(Inner::File(bytes))))
                });
                replaced.await?.ok_or(RegisterError::Other)
            }
        }
    }
}

fn unknown(error: impl std::fmt::Display) -> RegisterError {
    RegisterError::Unknown(error.to_string())
}

fn seen(bytes: Bytes) -> (Bytes, Version) {
    (bytes.clone(), Version(Inner::File(bytes)))
}

/// Does something with a file that no other process does at the same time.
async fn in_file<T: Send + 'static>(
    path: PathBuf,
    work: impl FnOnce(&FilePath) -> std::io::Result<T> + Send + 'static,
) -> Result<T, RegisterError> {
    let locked = move || {
        let lock = path.with_extension("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(lock)?;
        lock.lock()?;
        work(&path)
    };
    tokio::task::spawn_blocking(locked).await.map_err(unknown)?.map_err(unknown)
}

fn read_file(path: &FilePath) -> std::io::Result<Option<Bytes>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes.into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a file as a whole.
fn write_file(path: &FilePath, bytes: &[u8]) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)
}
