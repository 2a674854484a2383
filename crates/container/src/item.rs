//! One stored item: a fixed header followed by the stored form of its JSON.
//!
//! The header holds what the server adds to an item: its commit number, its item number, its moment. The system
//! properties that clients see are made from it when the item is written out; they are never stored.
//! Byte by byte: `docs/on-disk.md`.
//!
//! In this folder: the keys under which it lies (`keys`), its number (`number`), where moments come from (`moment`),
//! whether it has expired (`expiry`), changing parts of it (`patch`).

use std::fmt;

use armilla_value::rid::{ContainerRid, ItemRid};
use armilla_value::stored::Stored;
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::item::moment::{Moment, TICKS_PER_SECOND};

pub(crate) mod deleted_keys;
pub(crate) mod expiry;
pub(crate) mod keys;
pub(crate) mod moment;
pub(crate) mod number;
pub(crate) mod patch;

/// Properties of an item that belong to the server: dropped on the way in, added on the way out.
pub const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Bytes of the fields that every header begins with.
const FIXED_BYTES: usize = 28;

/// Bytes of the ticks of the second, of a stamp, and of the operation that is shown.
const TICKS_BYTES: usize = 4;
const STAMP_BYTES: usize = 8;
const SHOWN_OPERATION_BYTES: usize = 2;

/// The first version: its moment is known to the second only, as it is in the next two. None of the three is written any
/// more, but where an item is stored again as it is.
const FORMAT_VERSION: u8 = 1;

/// The version of an item whose header ends with a stamp.
const STAMPED_VERSION: u8 = 2;

/// The version of an item that another number stands for in its etag than that of its operation. Behind the fixed fields
/// it has a stamp, or zeros, and that number.
const RENUMBERED_VERSION: u8 = 3;

/// The version of an item that has a moment. Its second byte says what else is there. A program that knows of no moments
/// refuses it.
const MOMENT_VERSION: u8 = 4;

/// Set in the second byte where there is a stamp.
const STAMP_FLAG: u8 = 1;

/// Set in the second byte where another operation stands in the etag.
const SHOWN_OPERATION_FLAG: u8 = 2;

/// Set in every stamp, so that no stamp is a commit number.
const STAMP_BIT: u64 = 1 << 63;

/// The part of a stored item that the server adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemHeader {
    /// The commit that wrote this version.
    pub lsn: u64,
    /// Which operation of that commit.
    pub operation: u16,
    /// The item's number: unique in the container, growing in the order of insertion, for life.
    pub number: u64,
    /// Seconds since 1970 UTC when this version was written.
    pub ts: u32,
    /// How many ticks of 100 ns of that second had passed; `None` in a version from before that was kept.
    pub second_ticks: Option<u32>,
    /// The item's own time to live in seconds, -1 for never, 0 where it has none.
    pub ttl: i32,
    /// What stands in the etag in the place of the commit, where the version was shown before its commit was known.
    pub stamp: Option<Stamp>,
    /// What stands in the etag in the place of the operation, where two partitions were merged that both had an operation
    /// with the same numbers.
    pub shown_operation: Option<u16>,
}

/// A number that no other version of an item has, given when a version is drafted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    /// Makes a stamp of a number that is given once in a container.
    pub(crate) fn new(number: u64) -> Stamp {
        Stamp(number | STAMP_BIT)
    }

    /// Returns the number that the stamp was made of.
    pub fn number(self) -> u64 {
        self.0 & !STAMP_BIT
    }
}

impl ItemHeader {
    /// Returns what names this version: its commit, and which operation of it.
    pub(crate) fn version(&self) -> (u64, u16) {
        (self.lsn, self.operation)
    }

    /// Returns what names this version in whatever partition it comes to lie: what its etag is made of.
    pub(crate) fn lasting_version(&self) -> (u64, u64, u16) {
        (self.lsn, self.number, self.shown_operation.unwrap_or(self.operation))
    }

    /// Returns the last second, since 1970 UTC, in which an item lives that has a time to live of its own, as long as
    /// its container has such times.
    pub(crate) fn own_expiry(&self) -> Option<u32> {
        last_second(self.ts, self.ttl)
    }

    /// Returns whether the item has expired in a container with this default, at a second since 1970 UTC. It lives for
    /// as many whole seconds as it was given, so it is there for the whole of its last one.
    pub fn is_expired(&self, default_ttl: Option<i32>, now: u32) -> bool {
        let Some(default_ttl) = default_ttl else { return false };
        let ttl = if self.ttl == 0 { default_ttl } else { self.ttl };
        last_second(self.ts, ttl).is_some_and(|last| now > last)
    }

    /// Returns when this version was written.
    pub fn moment(&self) -> Moment {
        match self.second_ticks {
            Some(ticks) => Moment::in_second(self.ts, ticks),
            None => self.etag(0).moment(),
        }
    }

    fn etag(&self, salt: u16) -> ETag {
        let first = self.stamp.map_or(self.lsn, |stamp| stamp.0);
        let operation = self.shown_operation.unwrap_or(self.operation);
        match self.second_ticks {
            Some(ticks) => {
                let moment = Moment::in_second(self.ts, ticks);
                ETag::new(moment.ticks(), operation, salt, first as u32)
            }
            None => ETag::new(first, operation, salt, self.ts),
        }
    }

    fn format_version(&self) -> u8 {
        match (self.second_ticks, self.stamp, self.shown_operation) {
            (Some(_), _, _) => MOMENT_VERSION,
            (None, _, Some(_)) => RENUMBERED_VERSION,
            (None, Some(_), None) => STAMPED_VERSION,
            (None, None, None) => FORMAT_VERSION,
        }
    }

    /// Returns whether there is room for a stamp: the version with another operation has it in any case, unless it has a
    /// moment.
    fn has_stamp_field(&self) -> bool {
        self.stamp.is_some() || self.format_version() == RENUMBERED_VERSION
    }

    /// Returns how many bytes stand before the stored form.
    pub(crate) fn bytes_len(&self) -> usize {
        let bytes_if = |is_there: bool, bytes: usize| if is_there { bytes } else { 0 };
        FIXED_BYTES
            + bytes_if(self.second_ticks.is_some(), TICKS_BYTES)
            + bytes_if(self.has_stamp_field(), STAMP_BYTES)
            + bytes_if(self.shown_operation.is_some(), SHOWN_OPERATION_BYTES)
    }

    /// Writes the header into the room before the stored form.
    pub(crate) fn write(&self, out: &mut [u8]) {
        let version = self.format_version();
        let flag_if = |is_there: bool, flag: u8| if is_there { flag } else { 0 };
        out[0] = version;
        out[1] = match version {
            MOMENT_VERSION => {
                flag_if(self.stamp.is_some(), STAMP_FLAG)
                    | flag_if(self.shown_operation.is_some(), SHOWN_OPERATION_FLAG)
            }
            _ => 0,
        };
        out[2..4].copy_from_slice(&self.operation.to_be_bytes());
        out[4..8].copy_from_slice(&self.ts.to_be_bytes());
        out[8..16].copy_from_slice(&self.lsn.to_be_bytes());
        out[16..24].copy_from_slice(&self.number.to_be_bytes());
        out[24..28].copy_from_slice(&self.ttl.to_be_bytes());
        let mut at = FIXED_BYTES;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        if let Some(ticks) = self.second_ticks {
            put(&ticks.to_be_bytes());
        }
        if self.has_stamp_field() {
            put(&self.stamp.map_or(0, |stamp| stamp.0).to_be_bytes());
        }
        if let Some(shown) = self.shown_operation {
            put(&shown.to_be_bytes());
        }
    }

    fn read(bytes: &[u8]) -> Option<ItemHeader> {
        let (header, mut rest) = bytes.split_first_chunk::<FIXED_BYTES>()?;
        let mut read = ItemHeader {
            operation: u16::from_be_bytes([header[2], header[3]]),
            ts: u32_at(header, 4),
            second_ticks: None,
            lsn: u64_at(header, 8),
            number: u64_at(header, 16),
            ttl: u32_at(header, 24).cast_signed(),
            stamp: None,
            shown_operation: None,
        };
        match header[..2] {
            [FORMAT_VERSION, 0] => {}
            [STAMPED_VERSION, 0] => read.stamp = Some(read_stamp(&mut rest)?),
            [RENUMBERED_VERSION, 0] => {
                read.stamp = match rest.strip_prefix(&[0; STAMP_BYTES]) {
                    Some(behind) => {
                        rest = behind;
                        None
                    }
                    None => Some(read_stamp(&mut rest)?),
                };
                read.shown_operation = Some(read_shown_operation(&mut rest)?);
            }
            [MOMENT_VERSION, flags] if flags & !(STAMP_FLAG | SHOWN_OPERATION_FLAG) == 0 => {
                let ticks = u32::from_be_bytes(*split_first(&mut rest)?);
                read.second_ticks = Some(Some(ticks).filter(|ticks| *ticks < TICKS_PER_SECOND)?);
                if flags & STAMP_FLAG != 0 {
                    read.stamp = Some(read_stamp(&mut rest)?);
                }
                if flags & SHOWN_OPERATION_FLAG != 0 {
                    read.shown_operation = Some(read_shown_operation(&mut rest)?);
                }
            }
            _ => return None,
        }
        Some(read)
    }
}

fn u64_at(header: &[u8; FIXED_BYTES], at: usize) -> u64 {
    u64::from_be_bytes(header[at..at + 8].try_into().expect("eight bytes"))
}

fn u32_at(header: &[u8; FIXED_BYTES], at: usize) -> u32 {
    u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes"))
}

fn split_first<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(first)
}

fn read_stamp(rest: &mut &[u8]) -> Option<Stamp> {
    let stamp = u64::from_be_bytes(*split_first(rest)?);
    (stamp & STAMP_BIT != 0).then_some(Stamp(stamp))
}

fn read_shown_operation(rest: &mut &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(*split_first(rest)?))
}

/// Returns how many bytes stand before the stored form of a version that is about to be written.
pub(crate) fn new_header_bytes(has_stamp: bool) -> usize {
    FIXED_BYTES + TICKS_BYTES + if has_stamp { STAMP_BYTES } else { 0 }
}

/// Returns the last second in which something lives, given since when and for how long; nothing where it lives for ever,
/// which it also does if that is later than any time stamp can say.
fn last_second(ts: u32, ttl: i32) -> Option<u32> {
    (ttl > 0).then(|| ts.saturating_add(ttl.unsigned_abs()))
}

/// A stored item.
#[derive(Clone)]
pub struct Item {
    bytes: Bytes,
    header: ItemHeader,
}

impl Item {
    /// Opens the value of an item.
    pub(crate) fn open(bytes: Bytes) -> Result<Item> {
        let header = ItemHeader::read(&bytes)
            .ok_or_else(|| Error::corrupt("an item's header is cut short or of an unknown version"))?;
        let item = Item { bytes, header };
        Stored::open(&item.bytes[header.bytes_len()..])
            .map_err(|_| Error::corrupt(format!("the item with number {} is damaged", header.number)))?;
        Ok(item)
    }

    /// Returns what the server added to the item.
    pub fn header(&self) -> &ItemHeader {
        &self.header
    }

    /// Returns whether the item has expired: see [`ItemHeader::is_expired`].
    pub fn is_expired(&self, default_ttl: Option<i32>, now: u32) -> bool {
        self.header.is_expired(default_ttl, now)
    }

    /// Returns the item's content.
    pub fn stored(&self) -> Stored<'_> {
        Stored::open(&self.bytes[self.header.bytes_len()..]).expect("checked when the item was opened")
    }

    /// Returns the item as it is with another number for its operation, and the etag that it has.
    pub(crate) fn renumbered(&self, operation: u16) -> Item {
        let before = &self.header;
        if operation == before.operation {
            return self.clone();
        }
        let shown = before.shown_operation.unwrap_or(before.operation);
        let header =
            ItemHeader { operation, shown_operation: (shown != operation).then_some(shown), ..*before };
        let content = &self.bytes[before.bytes_len()..];
        let mut bytes = vec![0; header.bytes_len()];
        header.write(&mut bytes);
        bytes.extend_from_slice(content);
        Item { bytes: bytes.into(), header }
    }

    /// Returns the stored bytes.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the stored bytes, and where the content begins in them.
    pub fn raw(&self) -> (&Bytes, usize) {
        (&self.bytes, self.header.bytes_len())
    }

    /// Makes an item of bytes that came from [`Item::raw`].
    pub fn from_raw(bytes: Bytes) -> Option<Item> {
        ItemHeader::read(&bytes).map(|header| Item { bytes, header })
    }

    /// Returns the item's etag in a container.
    pub fn etag(&self, identity: &ContainerIdentity) -> ETag {
        self.header.etag(identity.etag_salt)
    }

    /// Returns when this version was written: the moment of its etag.
    pub fn moment(&self) -> Moment {
        self.header.moment()
    }

    /// Returns the item's resource id in a container.
    pub fn rid(&self, identity: &ContainerIdentity) -> ItemRid {
        ItemRid::new(identity.rid, self.header.number).expect("item numbers have 60 bits")
    }

    /// Returns the item's link in a container.
    pub fn self_link(&self, identity: &ContainerIdentity) -> String {
        format!("{}{}/", identity.items_link, self.rid(identity))
    }

    /// Returns the size of the item's JSON with its system properties, which is what it is charged by.
    pub fn json_bytes(&self, identity: &ContainerIdentity) -> usize {
        self.stored().text_bytes().len() + identity.system_property_bytes(self.header.ts)
    }

    /// Writes the item's JSON with its system properties.
    pub fn write_json(&self, identity: &ContainerIdentity, out: &mut Vec<u8>) {
        let stored = self.stored();
        let text = stored.text_bytes();
        let rid = self.rid(identity).text();
        out.reserve(text.len() + identity.system_property_bytes(self.header.ts));
        out.extend_from_slice(&text[..text.len() - 1]);
        out.extend_from_slice(b",\"_rid\":\"");
        out.extend_from_slice(&rid);
        out.extend_from_slice(b"\",\"_self\":\"");
        out.extend_from_slice(identity.items_link.as_bytes());
        out.extend_from_slice(&rid);
        out.extend_from_slice(b"/\",\"_etag\":\"\\\"");
        out.extend_from_slice(&self.etag(identity).text());
        out.extend_from_slice(b"\\\"\",\"_attachments\":\"attachments/\",\"_ts\":");
        write_decimal(self.header.ts, out);
        out.push(b'}');
    }
}

fn write_decimal(value: u32, out: &mut Vec<u8>) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// What an item needs to know of its container to show itself.
#[derive(Debug, Clone)]
pub struct ContainerIdentity {
    /// The container's resource id.
    pub rid: ContainerRid,
    /// The link under which items lie: `dbs/{rid}/colls/{rid}/docs/`.
    items_link: String,
    etag_salt: u16,
}

impl ContainerIdentity {
    /// Returns the identity of a container.
    pub fn new(rid: ContainerRid) -> ContainerIdentity {
        let items_link = format!("dbs/{}/colls/{}/docs/", rid.database(), rid);
        // An etag of a container that was deleted and made again must not match by accident.
        let number = rid.number();
        let etag_salt = (number ^ (number >> 16)) as u16;
        ContainerIdentity { rid, items_link, etag_salt }
    }

    fn system_property_bytes(&self, ts: u32) -> usize {
        const FIXED: usize = ",\"_rid\":\"\",\"_self\":\"/\",\"_etag\":\"\\\"\\\"\",\"_attachments\":\"attachments/\",\"_ts\":".len();
        let digits = ts.checked_ilog10().map_or(1, |log| log as usize + 1);
        FIXED + 2 * ItemRid::TEXT_BYTES + self.items_link.len() + ETag::TEXT_BYTES + digits
    }
}

/// The version of a resource: different for every write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ETag([u8; 16]);

/// How many ticks lie between two commits where those of a second are made up, so that operations find room between.
const OPERATIONS_APART: u64 = 1_024;

impl ETag {
    const TEXT_BYTES: usize = 36;

    /// Makes an etag from what makes a version unique. An item's begins with the ticks of its moment and ends with the
    /// low half of its commit number or stamp; an older one, and that of any other resource, begins with a number that
    /// counts versions, or a stamp, and ends with its time stamp.
    pub fn new(first: u64, operation: u16, salt: u16, last: u32) -> ETag {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first.to_be_bytes());
        bytes[8..10].copy_from_slice(&operation.to_be_bytes());
        bytes[10..12].copy_from_slice(&salt.to_be_bytes());
        bytes[12..].copy_from_slice(&last.to_be_bytes());
        ETag(bytes)
    }

    /// Returns when the version was written. Where the etag says the second only, the ticks in it are made from what
    /// tells its versions apart: the same for the same etag, and nearly always others for another.
    pub fn moment(&self) -> Moment {
        let [first @ .., _, _, _, _, _, _, _, _] = self.0;
        let first = u64::from_be_bytes(first);
        // No moment of our era begins with a zero, no number of versions with anything else, and every stamp with its bit.
        if matches!(self.0[0], 0x01..=0x7F) {
            return Moment::from_ticks(first);
        }
        let operation = u16::from_be_bytes([self.0[8], self.0[9]]);
        let ts = u32::from_be_bytes([self.0[12], self.0[13], self.0[14], self.0[15]]);
        let ticks_max = u64::from(TICKS_PER_SECOND);
        let number = (first & !STAMP_BIT) % ticks_max * OPERATIONS_APART + u64::from(operation);
        Moment::in_second(ts, (number % ticks_max) as u32)
    }

    /// Reads an etag as clients send it, with or without double quotes. `None` for one that we never gave.
    pub fn parse(text: &str) -> Option<ETag> {
        let text = text.trim();
        let text = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
        if text.len() != Self::TEXT_BYTES {
            return None;
        }
        let mut bytes = [0u8; 16];
        let mut count = 0;
        for (position, byte) in text.bytes().enumerate() {
            if matches!(position, 8 | 13 | 18 | 23) {
                if byte != b'-' {
                    return None;
                }
                continue;
            }
            let digit = char::from(byte).to_digit(16)? as u8;
            bytes[count / 2] = bytes[count / 2] << 4 | digit;
            count += 1;
        }
        Some(ETag(bytes))
    }

    /// Returns the text without quotes.
    pub fn text(&self) -> [u8; ETag::TEXT_BYTES] {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [b'-'; ETag::TEXT_BYTES];
        let mut at = 0;
        for (position, byte) in self.0.iter().enumerate() {
            if matches!(position, 4 | 6 | 8 | 10) {
                at += 1;
            }
            text[at] = HEX[usize::from(byte >> 4)];
            text[at + 1] = HEX[usize::from(byte & 15)];
            at += 2;
        }
        text
    }
}

/// With the double quotes that are part of an etag on the wire.
impl fmt::Display for ETag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        write!(f, "\"{}\"", std::str::from_utf8(&text).expect("hexadecimal digits and hyphens"))
    }
}

#[cfg(test)]
mod tests;
