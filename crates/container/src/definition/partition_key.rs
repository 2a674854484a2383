//! `partitionKey`: `{"paths": ["/tenant", "/user"], "kind": "MultiHash", "version": 2}`.
//!
//! A container made without a key gets the system's: `{"paths": ["/_partitionKey"], "systemKey": true}`. Its items have
//! no value there, unless a client wants to give them one; requests name that by `[]`. With `"joinsZeros": true`, an
//! extension of ours that is fixed when a container is made, `-0.0` is the same key as `0`.

use std::borrow::Cow;

use armilla_index::reader::Field;
use armilla_value::{Component, HashVersion, PartitionKey, PropertyPath, Value};

use super::json::{integer, object};
use super::{DefinitionError, limits, property_paths};

/// Where an item's partition key stands and how it is hashed.
#[derive(Debug, Clone)]
pub struct PartitionKeyDefinition {
    /// The paths as they were written: clients read names out of them, and not all undo escapes.
    texts: Vec<String>,
    /// The paths, outermost level first.
    pub paths: Vec<PropertyPath>,
    /// Which hash: version 1 or 2 of one path, or that of one to three paths.
    pub version: HashVersion,
    /// Whether the version was given; one that was not means 2 for a new container, and whichever it has for one
    /// that exists.
    pub(super) version_given: bool,
    /// Whether the key was given by the system to a container made without one.
    pub system_key: bool,
    /// Whether `-0.0` is the same key as `0`; an extension of ours.
    joins_zeros: bool,
}

/// Two keys are the same however they were written.
impl PartialEq for PartitionKeyDefinition {
    fn eq(&self, other: &PartitionKeyDefinition) -> bool {
        (&self.texts, &self.paths, self.version, self.system_key, self.joins_zeros)
            == (&other.texts, &other.paths, other.version, other.system_key, other.joins_zeros)
    }
}

impl Eq for PartitionKeyDefinition {}

/// Where the key of a container stands that was made without one.
const SYSTEM_PATH: &str = "/_partitionKey";

const HASH: &str = "Hash";
const MULTI_HASH: &str = "MultiHash";
/// The member that says that both zeros are one key.
const JOINS_ZEROS: &str = "joinsZeros";

pub(super) fn read(body: &Field<'_>) -> Result<PartitionKeyDefinition, DefinitionError> {
    let Some(field) = body.member("partitionKey") else { return system_key() };
    field.expect_object()?;
    let multiple = is_multiple(&field)?;
    let (texts, paths) = read_paths(&field, multiple)?;
    let number = field.member("version").map(|version| version_number(&version)).transpose()?;
    let version = match (number, multiple) {
        (None | Some(2), false) => HashVersion::V2,
        (None | Some(2), true) => HashVersion::MultiHash,
        (Some(1), false) => HashVersion::V1,
        (Some(other), _) => {
            let allowed = if multiple { "2, which the kind 'MultiHash' needs" } else { "1 or 2" };
            let message = format!("the partition key version {other} is not {allowed}");
            return Err(DefinitionError::new("partitionKey.version", message));
        }
    };
    let system_key = field.member("systemKey").map(|flag| flag.boolean()).transpose()?.unwrap_or(false);
    let joins_zeros = field.member(JOINS_ZEROS).map(|flag| flag.boolean()).transpose()?.unwrap_or(false);
    let version_given = number.is_some();
    Ok(PartitionKeyDefinition { texts, paths, version, version_given, system_key, joins_zeros })
}

/// Reads a version: a number, or its name, which is what one client sends.
fn version_number(field: &Field<'_>) -> Result<i64, DefinitionError> {
    match field.value().as_str() {
        Some("V1") => Ok(1),
        Some("V2") => Ok(2),
        _ => Ok(field.integer()?),
    }
}

/// Returns the key that the system gives to a container made without one.
fn system_key() -> Result<PartitionKeyDefinition, DefinitionError> {
    let path = property_paths::parse(SYSTEM_PATH)
        .map_err(|_| DefinitionError::new("partitionKey", "the system's partition key has no path"))?;
    Ok(PartitionKeyDefinition {
        texts: vec![SYSTEM_PATH.to_owned()],
        paths: vec![path],
        version: HashVersion::V2,
        version_given: false,
        system_key: true,
        joins_zeros: false,
    })
}

impl PartitionKeyDefinition {
    /// Returns the key that a request or an item means by the values it has. In a container made without a key, no value
    /// at all means the items that have none; where both zeros are one key, each means that.
    pub fn meant<'a>(&self, given: &'a PartitionKey) -> Cow<'a, PartitionKey> {
        if self.system_key && given.0.is_empty() {
            return Cow::Owned(PartitionKey(vec![Component::Undefined; self.paths.len()]));
        }
        let is_negative_zero =
            |component: &Component| matches!(component, Component::Number(number) if is_signed_zero(*number));
        if self.joins_zeros && given.0.iter().any(is_negative_zero) {
            let joined = given.0.iter().map(|component| match component {
                Component::Number(number) if is_signed_zero(*number) => Component::Number(0.0),
                other => other.clone(),
            });
            return Cow::Owned(PartitionKey(joined.collect()));
        }
        Cow::Borrowed(given)
    }

    /// Returns whether a request names one logical partition by the values it gives.
    pub fn is_whole(&self, given: &PartitionKey) -> bool {
        self.meant(given).0.len() == self.paths.len()
    }
}

fn is_signed_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}

/// Returns whether the kind is `MultiHash`; without a kind it is `Hash`.
fn is_multiple(field: &Field<'_>) -> Result<bool, DefinitionError> {
    let Some(kind) = field.member("kind") else { return Ok(false) };
    let word = kind.text()?;
    let message = if word.eq_ignore_ascii_case(HASH) {
        return Ok(false);
    } else if word.eq_ignore_ascii_case(MULTI_HASH) {
        return Ok(true);
    } else if word.eq_ignore_ascii_case("Range") {
        "the partition key kind 'Range' is no longer supported; use 'Hash'".to_owned()
    } else {
        format!("the partition key kind '{word}' is neither 'Hash' nor 'MultiHash'")
    };
    Err(DefinitionError::new(kind.path(), message))
}

fn read_paths(
    field: &Field<'_>,
    multiple: bool,
) -> Result<(Vec<String>, Vec<PropertyPath>), DefinitionError> {
    let Some(list) = field.member("paths") else {
        let message = "partition key must be specified: 'partitionKey.paths' is missing";
        return Err(DefinitionError::new("partitionKey.paths", message));
    };
    let elements = list.elements()?;
    let path_count_max = if multiple { limits::PARTITION_KEY_PATHS_MAX } else { 1 };
    if elements.is_empty() || elements.len() > path_count_max {
        let (kind, rule) =
            if multiple { (MULTI_HASH, "one to three paths") } else { (HASH, "exactly one path") };
        let message =
            format!("a partition key of kind '{kind}' has {rule}, but {} are given", elements.len());
        return Err(DefinitionError::new(list.path(), message));
    }
    let mut texts = Vec::new();
    let mut paths = Vec::new();
    for element in elements {
        let text = element.text()?;
        let path = property_paths::parse(text).map_err(|position| bad_path(&element, text, position))?;
        if paths.contains(&path) {
            let message = format!("the partition key path '{text}' is given more than once");
            return Err(DefinitionError::new(element.path(), message));
        }
        texts.push(text.to_owned());
        paths.push(path);
    }
    Ok((texts, paths))
}

fn bad_path(element: &Field<'_>, text: &str, position: usize) -> DefinitionError {
    DefinitionError::new(
        element.path(),
        format!(
            "The partition key component definition path '{text}' could not be accepted, failed near \
             position '{position}'. Partition key paths must contain only valid characters and not contain \
             a trailing slash or wildcard character."
        ),
    )
}

pub(super) fn write(key: &PartitionKeyDefinition) -> Value {
    let paths = key.texts.iter().map(|text| Value::from(text.as_str()));
    let (kind, version) = match key.version {
        HashVersion::V1 => (HASH, 1),
        HashVersion::V2 => (HASH, 2),
        HashVersion::MultiHash => (MULTI_HASH, 2),
    };
    let mut members =
        vec![("paths", Value::Array(paths.collect())), ("kind", kind.into()), ("version", integer(version))];
    if key.system_key {
        members.push(("systemKey", true.into()));
    }
    if key.joins_zeros {
        members.push((JOINS_ZEROS, true.into()));
    }
    object(members)
}

/// Paths, kind and version must stay. Clients that leave the version out mean whichever the container has.
pub(super) fn replace(
    old: &PartitionKeyDefinition,
    new: &PartitionKeyDefinition,
) -> Result<PartitionKeyDefinition, DefinitionError> {
    let is_multiple = |key: &PartitionKeyDefinition| key.version == HashVersion::MultiHash;
    let same_version = old.version == new.version || !new.version_given;
    if old.paths == new.paths && is_multiple(old) == is_multiple(new) && same_version {
        Ok(old.clone())
    } else {
        Err(DefinitionError::new("partitionKey", "Document collection partition key cannot be changed."))
    }
}
