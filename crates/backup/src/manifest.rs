//! One backup: of what, of when, and which segments make up which space.

use std::path::Path;

use armilla_kv::SpaceId;
use armilla_value::{Object, Value};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::frame::SpaceTotals;
use crate::limits::MANIFEST_BYTES_MAX;
use crate::sealed;

const KIND: &str = "manifest";

/// Whose state a backup is, and as of when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Names the account: the same as long as the account lives, and in what is restored from a backup.
    pub account: String,
    /// The moment of all spaces, in milliseconds since 1970.
    pub moment_ms: i64,
    /// The version of the program that sent it.
    pub program: String,
}

/// A segment of a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentRef {
    /// The sum of its file, which is also its name.
    pub digest: Digest,
    /// The length of its file.
    pub file_bytes: u64,
    /// Its entries.
    pub entries: u64,
}

/// A space of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceRecord {
    /// What it holds.
    pub totals: SpaceTotals,
    /// The sum of all its entries.
    pub content: Digest,
    /// Its segments, in order.
    pub segments: Vec<SegmentRef>,
}

/// One backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Its name.
    pub name: String,
    /// Whose state it is.
    pub origin: Origin,
    /// The spaces, in the order of their ids.
    pub spaces: Vec<SpaceRecord>,
}

impl Manifest {
    /// Returns the sum of the state: equal for equal states, whenever they were backed up.
    pub fn state(&self) -> Digest {
        let pieces: Vec<Vec<u8>> = self
            .spaces
            .iter()
            .map(|space| [&space.totals.space.0.to_be_bytes()[..], space.content.bytes()].concat())
            .collect();
        Digest::of_all(pieces.iter().map(Vec::as_slice))
    }

    /// Returns entries, and bytes of keys and values, of all spaces.
    pub fn totals(&self) -> (u64, u64) {
        let totals = self.spaces.iter().map(|space| space.totals);
        totals.fold((0, 0), |(entries, bytes), space| (entries + space.entries, bytes + space.bytes))
    }

    /// Returns all segments of all spaces.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &SegmentRef> {
        self.spaces.iter().flat_map(|space| &space.segments)
    }

    /// Returns the bytes of the files that the backup needs.
    pub fn file_bytes(&self) -> u64 {
        self.segments().map(|segment| segment.file_bytes).sum()
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        self.encode_within(MANIFEST_BYTES_MAX)
    }

    fn encode_within(&self, bytes_max: u64) -> Result<Vec<u8>> {
        let number = |number: u64| Value::from(number as i64);
        let mut object = Object::default();
        object.insert("name", self.name.as_str());
        object.insert("program", self.origin.program.as_str());
        object.insert("account", self.origin.account.as_str());
        object.insert("momentMs", self.origin.moment_ms);
        object.insert("state", self.state().to_string());
        let spaces = self.spaces.iter().map(|SpaceRecord { totals, content, segments }| {
            let mut space = Object::default();
            // As text: ids use all 64 bits.
            space.insert("space", totals.space.0.to_string());
            space.insert("entries", number(totals.entries));
            space.insert("bytes", number(totals.bytes));
            space.insert("content", content.to_string());
            let segments = segments.iter().map(|SegmentRef { digest, file_bytes, entries }| {
                Value::Array(vec![digest.to_string().into(), number(*file_bytes), number(*entries)])
            });
            space.insert("segments", Value::Array(segments.collect()));
            Value::Object(space)
        });
        object.insert("spaces", Value::Array(spaces.collect()));
        let bytes = sealed::seal(KIND, object);
        if bytes.len() as u64 > bytes_max {
            return Err(Error::refused(format!(
                "the backup has more segments than a manifest of {bytes_max} bytes can name"
            )));
        }
        Ok(bytes)
    }

    /// Reads a manifest whose sum is known.
    pub(crate) fn read(path: &Path, name: &str, expected: Digest) -> Result<Manifest> {
        let bytes = sealed::read(path, MANIFEST_BYTES_MAX)?;
        // Its own sum first: it says more about what is wrong.
        let object = sealed::unseal(KIND, path, &bytes)?;
        if Digest::of(&bytes) != expected {
            return Err(Error::damaged(format!("{} is not the one that the index names", path.display())));
        }
        let manifest = Manifest::of(&object).filter(|manifest| manifest.name == name);
        manifest.ok_or_else(|| Error::damaged(format!("{} cannot be read", path.display())))
    }

    fn of(object: &Object) -> Option<Manifest> {
        let text = |name: &str| object.get(name)?.as_str().map(str::to_owned);
        let spaces = object.get("spaces")?.as_array()?.iter().map(|space| {
            let segments = space.get("segments")?.as_array()?.iter().map(|segment| {
                let [digest, file_bytes, entries] = segment.as_array()? else { return None };
                Some(SegmentRef {
                    digest: Digest::parse(digest.as_str()?)?,
                    file_bytes: number(file_bytes)?,
                    entries: number(entries)?,
                })
            });
            Some(SpaceRecord {
                totals: SpaceTotals {
                    space: SpaceId(space.get("space")?.as_str()?.parse().ok()?),
                    entries: number(space.get("entries")?)?,
                    bytes: number(space.get("bytes")?)?,
                },
                content: Digest::parse(space.get("content")?.as_str()?)?,
                segments: segments.collect::<Option<_>>()?,
            })
        });
        let manifest = Manifest {
            name: text("name")?,
            origin: Origin {
                account: text("account")?,
                moment_ms: object.get("momentMs")?.as_i64()?,
                program: text("program")?,
            },
            spaces: spaces.collect::<Option<_>>()?,
        };
        let in_order = manifest.spaces.windows(2).all(|pair| pair[0].totals.space < pair[1].totals.space);
        (in_order && text("state")? == manifest.state().to_string()).then_some(manifest)
    }
}

fn number(value: &Value) -> Option<u64> {
    u64::try_from(value.as_i64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_manifest_that_is_too_long_is_refused() {
        let origin = Origin { account: "a".to_owned(), moment_ms: 0, program: "0.0.0".to_owned() };
        let segment = SegmentRef { digest: Digest::of(b"s"), file_bytes: 1, entries: 1 };
        let space = SpaceRecord {
            totals: SpaceTotals { space: SpaceId(1), entries: 3, bytes: 3 },
            content: Digest::of(b"c"),
            segments: vec![segment; 3],
        };
        let manifest = Manifest { name: "n".to_owned(), origin, spaces: vec![space] };
        let bytes = manifest.encode().unwrap();
        let length = bytes.len() as u64;
        assert_eq!(manifest.encode_within(length).unwrap(), bytes);
        let error = manifest.encode_within(length - 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    }
}
