//! One permission of a user, and its record.

use armilla_value::rid::{ContainerRid, PermissionRid};
use armilla_value::{PartitionKey, Value};
use bytes::Bytes;

use crate::access::{Grant, GrantMode};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Record, Version};

/// One permission of a user.
#[derive(Debug, Clone)]
pub(crate) struct Permission {
    pub(crate) rid: PermissionRid,
    pub(crate) id: String,
    pub(crate) version: Version,
    /// The link as the caller gave it, without slashes at its ends.
    pub(super) resource: String,
    /// The mode as the caller wrote it.
    pub(super) mode_text: String,
    pub(super) grant: Grant,
}

impl Permission {
    pub(super) fn encode(&self) -> Bytes {
        let mut object = record::begin(self.version);
        object.insert("id", self.id.as_str());
        object.insert("resource", self.resource.as_str());
        object.insert("mode", self.mode_text.as_str());
        object.insert("container", self.grant.container.to_string());
        if let Some(item) = &self.grant.item {
            object.insert("item", item.as_str());
        }
        if let Some(partition_key) = &self.grant.partition_key {
            object.insert("partitionKey", partition_key.to_json());
        }
        record::encode(object)
    }

    pub(crate) fn decode(rid: PermissionRid, bytes: &[u8]) -> Result<Permission> {
        let record = Record::decode(bytes, "a permission")?;
        let damaged = |name: &str| Error::new(ErrorKind::Corrupt, format!("a permission: '{name}' is wrong"));
        let partition_key = match record.find("partitionKey") {
            None => None,
            Some(_) => {
                let text = record.text("partitionKey")?;
                Some(PartitionKey::from_json(text.as_bytes()).map_err(|_| damaged("partitionKey"))?)
            }
        };
        let mode_text = record.text("mode")?;
        let grant = Grant {
            mode: GrantMode::parse(&mode_text).ok_or_else(|| damaged("mode"))?,
            container: ContainerRid::parse(&record.text("container")?).ok_or_else(|| damaged("container"))?,
            item: record.find("item").and_then(Value::as_str).map(str::to_owned),
            partition_key,
        };
        Ok(Permission {
            rid,
            id: record.text("id")?,
            version: record.version()?,
            resource: record.text("resource")?,
            mode_text,
            grant,
        })
    }
}
