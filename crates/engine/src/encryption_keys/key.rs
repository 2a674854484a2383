//! One client encryption key, and its record.

use armilla_value::rid::UserRid;
use armilla_value::{Object, Value, json};
use bytes::Bytes;

use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Record, Version, tag};
use crate::resource::{Content, Resource, ResourceKind, etag};

/// A client encryption key with its name.
pub(crate) struct EncryptionKey {
    /// Users and keys of a database are numbered together.
    pub(crate) rid: UserRid,
    pub(crate) id: String,
    pub(super) version: Version,
    pub(super) members: Object,
}

impl EncryptionKey {
    pub(super) const KIND: ResourceKind = ResourceKind::EncryptionKey;

    pub(super) fn resource(&self) -> Resource {
        let database = self.rid.database();
        Resource {
            kind: EncryptionKey::KIND,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: database.to_string(),
            self_link: format!("dbs/{database}/clientencryptionkeys/{}/", self.rid),
            etag: etag(EncryptionKey::KIND, self.version),
            ts: self.version.ts,
            content: Content::EncryptionKey(self.members.clone()),
        }
    }

    /// Returns the key of its record.
    pub(crate) fn key(&self) -> Bytes {
        record::key(tag::ENCRYPTION_KEY, self.rid.to_string().as_bytes())
    }

    pub(super) fn encode(&self) -> Bytes {
        let mut object = record::begin(self.version);
        object.insert("id", self.id.as_str());
        object.insert("members", json::to_string(&Value::Object(self.members.clone())));
        record::encode(object)
    }

    pub(crate) fn decode(rid: UserRid, value: &[u8]) -> Result<EncryptionKey> {
        const WHAT: &str = "a client encryption key";
        let record = Record::decode(value, WHAT)?;
        let Ok(Value::Object(members)) = json::parse(record.text("members")?.as_bytes()) else {
            return Err(Error::new(ErrorKind::Corrupt, format!("{WHAT}: 'members' is wrong")));
        };
        Ok(EncryptionKey { rid, id: record.text("id")?, version: record.version()?, members })
    }
}
