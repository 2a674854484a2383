//! One object that is replaced only by those who know what is in it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{
    Error as ObjectError, GetOptions, GetResult, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
    UpdateVersion,
};

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
                Ok(found) => read_object(found).await.map(Some),
                Err(ObjectError::NotFound { .. }) => Ok(None),
                Err(error) => Err(unknown(error)),
            },
            Home::File(path) => in_file(path.clone(), |path| Ok(read_file(path)?.map(seen))).await,
        }
    }

    /// Returns what is in it, unless that is still what was seen.
    pub async fn read_unless(&self, seen: &Version) -> Result<Option<(Bytes, Version)>, RegisterError> {
        let (Home::Object(objects, path), Inner::Object { e_tag: Some(e_tag), .. }) = (&self.0, &seen.0)
        else {
            return Ok(self.read().await?.filter(|(_, version)| version != seen));
        };
        let options = GetOptions { if_none_match: Some(e_tag.clone()), ..GetOptions::default() };
        match objects.get_opts(path, options).await {
            Ok(found) => read_object(found).await.map(Some),
            Err(ObjectError::NotModified { .. } | ObjectError::NotFound { .. }) => Ok(None),
            Err(error) => Err(unknown(error)),
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
                    // What was to be replaced has been removed.
                    Err(ObjectError::NotFound { .. }) if seen.is_some() => Err(RegisterError::Other),
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

async fn read_object(found: GetResult) -> Result<(Bytes, Version), RegisterError> {
    let (e_tag, version) = (found.meta.e_tag.clone(), found.meta.version.clone());
    let bytes = found.bytes().await.map_err(unknown)?;
    Ok((bytes, Version(Inner::Object { e_tag, version })))
}

fn unknown(error: impl std::fmt::Display) -> RegisterError {
    RegisterError::Unknown(error.to_string())
}

fn seen(bytes: Bytes) -> (Bytes, Version) {
    (bytes.clone(), Version(Inner::File(bytes)))
}

/// Registers with names, side by side.
#[derive(Clone)]
pub struct Registers(Homes);

#[derive(Clone)]
enum Homes {
    Objects(Arc<dyn ObjectStore>, Path),
    Folder(PathBuf),
}

/// What a list tells of a register: another mark means that something else is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Two marks of one register are equal as long as the same is in it.
    pub mark: String,
}

impl Registers {
    /// Returns the registers under a path of an object store, which has to replace objects conditionally.
    pub fn objects(objects: Arc<dyn ObjectStore>, path: Path) -> Registers {
        Registers(Homes::Objects(objects, path))
    }

    /// Returns the registers in a folder, which has to be there.
    pub fn folder(path: PathBuf) -> Registers {
        Registers(Homes::Folder(path))
    }

    /// Returns the register of a name, which is made of letters, digits and hyphens.
    pub fn register(&self, name: &str) -> Register {
        match &self.0 {
            Homes::Objects(objects, path) => Register::object(objects.clone(), path.clone().join(name)),
            Homes::Folder(path) => Register::file(path.join(format!("{name}.{RECORD}"))),
        }
    }

    /// Lists what there is, in the order of names.
    pub async fn list(&self) -> Result<Vec<Listed>, RegisterError> {
        let mut all = match &self.0 {
            Homes::Objects(objects, path) => {
                let mut all = Vec::new();
                let mut found = objects.list(Some(path));
                while let Some(meta) = found.next().await {
                    let meta = meta.map_err(unknown)?;
                    let mark = meta.e_tag.or(meta.version).unwrap_or_else(|| meta.last_modified.to_string());
                    all.extend(meta.location.filename().map(|name| Listed { name: name.to_owned(), mark }));
                }
                all
            }
            Homes::Folder(path) => {
                let path = path.clone();
                tokio::task::spawn_blocking(move || list_folder(&path))
                    .await
                    .map_err(unknown)?
                    .map_err(unknown)?
            }
        };
        all.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(all)
    }

    /// Removes a register that no process will write again.
    pub async fn remove(&self, name: &str) -> Result<(), RegisterError> {
        match &self.0 {
            Homes::Objects(objects, path) => match objects.delete(&path.clone().join(name)).await {
                Ok(()) | Err(ObjectError::NotFound { .. }) => Ok(()),
                Err(error) => Err(unknown(error)),
            },
            Homes::Folder(path) => {
                let path = path.join(format!("{name}.{RECORD}"));
                in_file(path, |path| match fs::remove_file(path) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                })
                .await
            }
        }
    }
}

/// What the names of registers in a folder end with, unlike those of their locks.
const RECORD: &str = "record";

fn list_folder(path: &FilePath) -> std::io::Result<Vec<Listed>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        let is_record = path.extension().is_some_and(|extension| extension == RECORD);
        // One that was removed since it was listed is not there.
        if is_record && let (Some(name), Some(bytes)) = (path.file_stem(), read_file(&path)?) {
            let mark = format!("{:08x}-{}", crc32c::crc32c(&bytes), bytes.len());
            all.push(Listed { name: name.to_string_lossy().into_owned(), mark });
        }
    }
    Ok(all)
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
