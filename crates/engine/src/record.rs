//! The records of the resource tree: a version byte and JSON, in the meta family of the root space.
//!
//! JSON, because these records are few, change shape with the product, and are read by people in need.
//! Keys and members: `docs/on-disk.md`.

use std::collections::BTreeMap;

use armilla_container::{FIRST_MAP_VERSION, PartitionMap, Range};
use armilla_kv::{Family, Scan, Snapshot, SpaceId};
use armilla_value::HashedKey;
use armilla_value::{Object, Value, json};
use bytes::Bytes;

use crate::error::{Error, ErrorKind, Result};
use crate::throughput::Throughput;

/// Reads all records of the tree.
pub(crate) fn read_all(snapshot: &dyn Snapshot) -> Result<BTreeMap<Bytes, Bytes>> {
    let mut records = BTreeMap::new();
    let mut scan = Scan::prefix(Family::Meta, b"");
    loop {
        let page = snapshot.scan(&scan)?;
        let last = page.entries.last().map(|(key, _)| key.clone());
        records.extend(page.entries);
        match last {
            Some(last) if page.more => scan = scan.after(&last),
            _ => return Ok(records),
        }
    }
}

/// The space of the resource tree.
pub(crate) const ROOT_SPACE: SpaceId = SpaceId(0);

const FORMAT_VERSION: u8 = 1;

/// What the keys of each kind of record begin with.
pub(crate) mod tag {
    pub(crate) const COUNTERS: u8 = b'c';
    pub(crate) const SECRET: u8 = b's';
    pub(crate) const DATABASE: u8 = b'd';
    pub(crate) const ENCRYPTION_KEY: u8 = b'e';
    pub(crate) const USER_FUNCTION: u8 = b'f';
    pub(crate) const STORED_PROCEDURE: u8 = b'r';
    pub(crate) const TRIGGER: u8 = b't';
    pub(crate) const CONTAINER: u8 = b'k';
    pub(crate) const OFFER: u8 = b'o';
    pub(crate) const USER: u8 = b'u';
    pub(crate) const PERMISSION: u8 = b'p';
    pub(crate) const SPACE_TO_DROP: u8 = b'x';
    pub(crate) const KEY_DELETION: u8 = b'y';
}

/// Returns the key of a record.
pub(crate) fn key(tag: u8, rest: &[u8]) -> Bytes {
    [&[tag], rest].concat().into()
}

/// A version of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    /// Counts all changes of the tree.
    pub(crate) number: u64,
    pub(crate) ts: u32,
}

/// Numbers that are given once and never again.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeCounters {
    pub(crate) version: u64,
    pub(crate) database: u32,
    pub(crate) container: u32,
    pub(crate) user: u32,
    pub(crate) permission: u64,
    pub(crate) offer: u32,
    pub(crate) space: u64,
    /// The newest commit of any partition that was deleted. Those of new partitions begin above it, because a
    /// client may come to a container with a session token of one that had its name before.
    pub(crate) lsn_floor: u64,
}

impl TreeCounters {
    pub(crate) fn encode(&self) -> Bytes {
        let mut record = Object::default();
        record.insert("version", self.version as i64);
        record.insert("database", i64::from(self.database));
        record.insert("container", i64::from(self.container));
        record.insert("user", i64::from(self.user));
        record.insert("permission", self.permission as i64);
        record.insert("offer", i64::from(self.offer));
        record.insert("space", self.space as i64);
        record.insert("lsnFloor", self.lsn_floor as i64);
        encode(record)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<TreeCounters> {
        let record = Record::decode(bytes, "the tree's counters")?;
        Ok(TreeCounters {
            version: record.number("version")?,
            database: record.number("database")?,
            container: record.number("container")?,
            user: record.number("user")?,
            permission: record.number("permission")?,
            offer: record.number("offer")?,
            space: record.number("space")?,
            lsn_floor: record.number("lsnFloor")?,
        })
    }
}

/// Returns a record's bytes.
pub(crate) fn encode(record: Object) -> Bytes {
    let mut bytes = vec![FORMAT_VERSION];
    json::write(&Value::Object(record), &mut bytes);
    bytes.into()
}

/// Begins a record with the version of its resource.
pub(crate) fn begin(version: Version) -> Object {
    let mut record = Object::default();
    record.insert("version", version.number as i64);
    record.insert("ts", i64::from(version.ts));
    record
}

/// A record that is being read.
pub(crate) struct Record<'a> {
    object: Object,
    what: &'a str,
}

impl<'a> Record<'a> {
    pub(crate) fn decode(bytes: &[u8], what: &'a str) -> Result<Record<'a>> {
        let damaged = |why: &str| Error::new(ErrorKind::Corrupt, format!("{what}: {why}"));
        let (version, text) = bytes.split_first().ok_or_else(|| damaged("the record is empty"))?;
        if *version != FORMAT_VERSION {
            return Err(damaged(&format!("the record has the unknown version {version}")));
        }
        match json::parse(text) {
            Ok(Value::Object(object)) => Ok(Record { object, what }),
            Ok(_) => Err(damaged("the record is not an object")),
            Err(error) => Err(damaged(&error.to_string())),
        }
    }

    fn damaged(&self, name: &str) -> Error {
        Error::new(ErrorKind::Corrupt, format!("{}: '{name}' is missing or wrong", self.what))
    }

    pub(crate) fn get(&self, name: &str) -> Result<&Value> {
        self.object.get(name).ok_or_else(|| self.damaged(name))
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Value> {
        self.object.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Result<String> {
        Ok(self.get(name)?.as_str().ok_or_else(|| self.damaged(name))?.to_owned())
    }

    pub(crate) fn number<T: TryFrom<i64>>(&self, name: &str) -> Result<T> {
        let number = self.get(name)?.as_i64().ok_or_else(|| self.damaged(name))?;
        T::try_from(number).map_err(|_| self.damaged(name))
    }

    pub(crate) fn version(&self) -> Result<Version> {
        Ok(Version { number: self.number("version")?, ts: self.number("ts")? })
    }

    /// Returns the partition map of a container. Records of older versions do not say when their ranges were made:
    /// with the container, whose time stamp is given.
    pub(crate) fn map(&self, container_ts: u32) -> Result<PartitionMap> {
        let damaged = || self.damaged("ranges");
        let ranges = self.get("ranges")?.as_array().ok_or_else(damaged)?;
        let ranges: Vec<Range> = ranges
            .iter()
            .map(|range| decode_range(range, container_ts).ok_or_else(damaged))
            .collect::<Result<_>>()?;
        let whole = ranges.first().is_some_and(|first| first.min == HashedKey::MIN)
            && ranges.last().is_some_and(|last| last.max == HashedKey::MAX)
            && ranges.windows(2).all(|pair| pair[0].max == pair[1].min);
        // A map with a gap would lose items without a word.
        if !whole {
            return Err(damaged());
        }
        let version = match self.find("mapVersion") {
            Some(_) => self.number("mapVersion")?,
            None => FIRST_MAP_VERSION,
        };
        Ok(PartitionMap { version, ranges })
    }

    pub(crate) fn throughput(&self) -> Result<Throughput> {
        match self.find("autoscale") {
            Some(_) => Ok(Throughput::Autoscale {
                max: self.number("autoscale")?,
                increment_percent: match self.find("incrementPercent") {
                    Some(_) => Some(self.number("incrementPercent")?),
                    None => None,
                },
            }),
            None => Ok(Throughput::Manual(self.number("manual")?)),
        }
    }
}

/// Adds a throughput to a record.
pub(crate) fn put_throughput(record: &mut Object, throughput: Throughput) {
    match throughput {
        Throughput::Manual(value) => {
            record.insert("manual", i64::from(value));
        }
        Throughput::Autoscale { max, increment_percent } => {
            record.insert("autoscale", i64::from(max));
            if let Some(percent) = increment_percent {
                record.insert("incrementPercent", i64::from(percent));
            }
        }
    }
}

/// Adds a partition map to a record.
pub(crate) fn put_map(record: &mut Object, map: &PartitionMap) {
    let ranges = map.ranges.iter().map(|range| {
        let mut object = Object::default();
        object.insert("id", i64::from(range.id));
        object.insert("min", range.min.to_hex());
        object.insert("max", range.max.to_hex());
        object
            .insert("parents", Value::Array(range.parents.iter().map(|id| i64::from(*id).into()).collect()));
        object.insert("space", range.space.0 as i64);
        object.insert("lsnBase", range.lsn_base as i64);
        object.insert("mapVersion", range.map_version as i64);
        object.insert("ts", i64::from(range.ts));
        Value::Object(object)
    });
    let ranges = Value::Array(ranges.collect());
    record.insert("mapVersion", map.version as i64);
    record.insert("ranges", ranges);
}

fn decode_range(range: &Value, container_ts: u32) -> Option<Range> {
    let parents = range.get("parents")?.as_array()?;
    let (map_version, ts) = match (range.get("mapVersion"), range.get("ts")) {
        (None, None) => (FIRST_MAP_VERSION, container_ts),
        (version, ts) => (u64::try_from(version?.as_i64()?).ok()?, u32::try_from(ts?.as_i64()?).ok()?),
    };
    Some(Range {
        id: u32::try_from(range.get("id")?.as_i64()?).ok()?,
        min: HashedKey::from_hex(range.get("min")?.as_str()?)?,
        max: HashedKey::from_hex(range.get("max")?.as_str()?)?,
        parents: parents.iter().map(|id| u32::try_from(id.as_i64()?).ok()).collect::<Option<_>>()?,
        space: SpaceId(u64::try_from(range.get("space")?.as_i64()?).ok()?),
        lsn_base: u64::try_from(range.get("lsnBase")?.as_i64()?).ok()?,
        map_version,
        ts,
    })
}

#[cfg(test)]
mod tests;
