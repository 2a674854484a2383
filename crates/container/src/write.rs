//! Preparing a write: everything about it that does not depend on what is stored.
//!
//! Runs on the writer's own task, so that the committer, which all writers of a partition share, has little
//! left to do: check preconditions, give numbers, add up.
//!
//! In this folder: what an item is given as (`body`), several writes as one (`batch`, `transaction`), types that text cannot say
//! (`types`), what is queued for a committer and what it answers (`task`), what writers get back (`outcome`). Not here: what a write does to the stored state (`apply`).

use armilla_index::{Leaves, Part};
use armilla_value::stored::{Node, Stored};
use armilla_value::{Component, HashedKey, PartitionKey, Value, extract, hashed_key, stored};
use bytes::Bytes;

use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::index::entries::EntryList;
use crate::item::keys::LogicalKey;
use crate::item::moment::Moment;
use crate::item::patch::Patch;
use crate::item::{ContainerIdentity, ETag, Item, Stamp, new_header_bytes};
use crate::limits::{ITEM_ID_BYTES_MAX, Limits, PARTITION_KEY_BYTES_MAX};
use crate::throughput::{ReadCost, RequestUnits, Work, price};
use crate::unique::UniqueValues;
use crate::write::body::ItemBody;

pub(crate) mod batch;
pub(crate) mod body;
pub(crate) mod outcome;
pub(crate) mod step;
pub(crate) mod task;
pub(crate) mod transaction;
mod types;

/// What must hold of the stored item for a write to go ahead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing.
    #[default]
    None,
    /// It exists, in whatever version.
    Exists,
    /// It exists in this version; `None` is a version that never was.
    Version(Option<ETag>),
    /// It exists in the version that was written at this moment.
    WrittenAt(Moment),
    /// It does not exist.
    Missing,
}

impl Precondition {
    /// Says whether it holds for an item that exists.
    pub fn holds_for(self, item: &Item, identity: &ContainerIdentity) -> bool {
        match self {
            Precondition::None | Precondition::Exists => true,
            Precondition::Missing => false,
            Precondition::Version(etag) => etag == Some(item.etag(identity)),
            Precondition::WrittenAt(moment) => moment == item.moment(),
        }
    }
}

/// Which of the three writes of a whole item it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// The item must not exist.
    Create,
    /// The item may exist.
    Upsert,
    /// The item must exist.
    Replace,
    /// The item must exist, and what is written are changes to parts of it: the change log says so.
    Update,
}

/// The address of an item.
#[derive(Debug, Clone)]
pub(crate) struct ItemAddress {
    pub(crate) hashed: HashedKey,
    pub(crate) logical: LogicalKey,
    pub(crate) id: String,
    pub(crate) key: Bytes,
}

impl ItemAddress {
    pub(crate) fn new(
        compiled: &CompiledDefinition,
        partition_key: &PartitionKey,
        id: &str,
    ) -> Result<ItemAddress> {
        let (hashed, logical) = locate(compiled, partition_key)?;
        let key = logical.item(id);
        Ok(ItemAddress { hashed, logical, id: id.to_owned(), key })
    }
}

/// What clients look for in a refusal; details come after it.
const KEY_MISMATCH: &str = "Partition key provided either doesn't correspond to definition in the collection or \
     doesn't match partition key field values specified in the document.";

/// Returns the hash of a whole partition key and the key prefix of its logical partition.
pub(crate) fn locate(
    compiled: &CompiledDefinition,
    partition_key: &PartitionKey,
) -> Result<(HashedKey, LogicalKey)> {
    let definition = &compiled.definition.partition_key;
    let partition_key = &*definition.meant(partition_key);
    let levels = definition.paths.len();
    if partition_key.0.len() != levels {
        return Err(Error::new(
            ErrorKind::PartitionKeyMismatch,
            format!(
                "{KEY_MISMATCH} The container's key has {levels} path(s), the request gives {} value(s).",
                partition_key.0.len()
            ),
        ));
    }
    check_partition_key_size(partition_key)?;
    let hashed = hashed_key(partition_key, definition.version);
    let logical = LogicalKey::new(partition_key, &hashed, definition.version);
    Ok((hashed, logical))
}

/// With hash version 1, too: keys that begin with the same hundred characters have the same hash, and no more than that.
fn check_partition_key_size(partition_key: &PartitionKey) -> Result<()> {
    let bytes = partition_key.bytes_len();
    if bytes > PARTITION_KEY_BYTES_MAX {
        return Err(Error::invalid(format!(
            "the partition key value is {bytes} bytes long, the limit is {PARTITION_KEY_BYTES_MAX} bytes"
        )));
    }
    Ok(())
}

/// What was fixed about a version when it was drafted, and holds whenever it is committed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drafted {
    pub(crate) stamp: Stamp,
    pub(crate) moment: Moment,
    /// The number of an item that comes into being, once it is known that it does.
    pub(crate) number: Option<u64>,
    /// The opening of a partition of another process that gave the number, by its mark. No other may use it.
    pub(crate) opening: u64,
}

/// A whole item, ready to be committed.
#[derive(Clone)]
pub(crate) struct PreparedItem {
    pub(crate) address: ItemAddress,
    /// The item's value with room for its header.
    pub(crate) value: Vec<u8>,
    pub(crate) leaves: Leaves,
    pub(crate) composites: Leaves,
    /// The index entries of its content, under the layout of the compiled definition.
    pub(crate) entries: EntryList,
    /// Its computed properties, where some have entries.
    pub(crate) computed: Vec<(String, Option<Value>)>,
    /// Its values of the unique keys of the compiled definition.
    pub(crate) unique: Vec<UniqueValues>,
    pub(crate) ttl: i32,
    /// Set where the version was drafted by a transaction.
    pub(crate) drafted: Option<Drafted>,
    /// Whether it was text that cannot say all types, so that numbers which are what they were keep theirs.
    pub(crate) keeps_types: bool,
}

/// Reads a body and checks it against the container's definition and the partition key of the request.
pub(crate) fn prepare(
    compiled: &CompiledDefinition,
    limits: &Limits,
    body: &ItemBody,
    expected: &PartitionKey,
    drafted: Option<Drafted>,
) -> Result<PreparedItem> {
    let has_extended_types = compiled.definition.has_extended_types();
    let encoded = body.encode(has_extended_types)?;
    let prepared = prepare_stored(compiled, limits, &encoded, expected, drafted)?;
    let keeps_types = has_extended_types && matches!(body, ItemBody::Json(_));
    Ok(PreparedItem { keeps_types, ..prepared })
}

/// Gives numbers of an item that was text the types that they had in the version before, where they are the same.
pub(crate) fn keep_types(
    compiled: &CompiledDefinition,
    limits: &Limits,
    old: &Item,
    item: PreparedItem,
) -> Result<PreparedItem> {
    let content = &item.value[new_header_bytes(item.drafted.is_some())..];
    let new = Stored::open(content)
        .map_err(|_| Error::new(ErrorKind::Internal, "an item just encoded cannot be read"))?;
    let Some(value) = types::with_types_of(old.stored().root(), new.root()) else { return Ok(item) };
    let encoded = stored::encode_value(&value, &[])
        .map_err(|error| Error::invalid(format!("the item is not valid: {error}")))?;
    let retyped = Stored::open(&encoded)
        .map_err(|_| Error::new(ErrorKind::Internal, "an item just encoded cannot be read"))?;
    let partition_key = extract(retyped.root(), &compiled.definition.partition_key.paths);
    let retyped = prepare_stored(compiled, limits, &encoded, &partition_key, item.drafted)?;
    // Both lie where the version before lies.
    if retyped.address.key != item.address.key {
        return Ok(item);
    }
    Ok(retyped)
}

/// The same for an item that is in its stored form already.
pub(crate) fn prepare_stored(
    compiled: &CompiledDefinition,
    limits: &Limits,
    encoded: &[u8],
    expected: &PartitionKey,
    drafted: Option<Drafted>,
) -> Result<PreparedItem> {
    let stored = Stored::open(encoded)
        .map_err(|_| Error::new(ErrorKind::Internal, "an item just encoded cannot be read"))?;
    let text_bytes = stored.text_bytes().len();
    if text_bytes > limits.item_bytes_max {
        return Err(Error::new(
            ErrorKind::ItemTooLarge,
            format!(
                "Request size is too large. The item is {text_bytes} bytes long, the limit is {} bytes.",
                limits.item_bytes_max
            ),
        ));
    }
    let root = stored.root();
    let id = item_id(root)?;
    let ttl = item_ttl(root)?;
    let definition = &compiled.definition.partition_key;
    let actual = definition.meant(&extract(root, &definition.paths)).into_owned();
    if !same_partition_key(&actual, &definition.meant(expected)) {
        return Err(Error::new(
            ErrorKind::PartitionKeyMismatch,
            format!(
                "{KEY_MISMATCH} The item has {}, the request has {}.",
                actual.to_json(),
                expected.to_json()
            ),
        ));
    }
    let address = ItemAddress::new(compiled, &actual, &id)?;
    let leaves = armilla_index::leaves(compiled.matcher(), root);
    let composites = armilla_index::composite_terms(compiled.matcher(), root);
    let entries = EntryList::of(&compiled.layout, Part::Content, root, 0, &[]);
    let computed = compiled.computed(root);
    let unique = compiled.unique.values(root);
    let header_bytes = new_header_bytes(drafted.is_some());
    let mut value = Vec::with_capacity(header_bytes + encoded.len());
    value.resize(header_bytes, 0);
    value.extend_from_slice(encoded);
    Ok(PreparedItem {
        address,
        leaves,
        composites,
        entries,
        computed,
        unique,
        ttl,
        value,
        drafted,
        keeps_types: false,
    })
}

/// Prepares the write of a whole item. `id` is the item that a replace names, which may get another id by it.
pub(crate) fn prepare_put(
    compiled: &CompiledDefinition,
    limits: &Limits,
    mode: WriteMode,
    id: Option<&str>,
    body: &ItemBody,
    expected: &PartitionKey,
    precondition: Precondition,
) -> Result<Intent> {
    let item = prepare(compiled, limits, body, expected, None)?;
    Ok(match id {
        Some(id) if id != item.address.id => {
            let ItemAddress { hashed, logical, .. } = item.address.clone();
            let key = logical.item(id);
            Intent::Rename {
                from: ItemAddress { hashed, logical, id: id.to_owned(), key },
                item,
                precondition,
            }
        }
        _ => Intent::Put { mode, item, precondition },
    })
}

/// Prepares the write of a whole item by a transaction, in which items keep their ids.
pub(crate) fn prepare_drafted(
    compiled: &CompiledDefinition,
    limits: &Limits,
    id: Option<&str>,
    body: &ItemBody,
    expected: &PartitionKey,
    drafted: Drafted,
) -> Result<PreparedItem> {
    let item = prepare(compiled, limits, body, expected, Some(drafted))?;
    match id {
        Some(id) if id != item.address.id => Err(Error::invalid(format!(
            "an item's id cannot be changed by a script, or where triggers run: the link names '{id}', the body has '{}'",
            item.address.id
        ))),
        _ => Ok(item),
    }
}

/// Adds what it costs to have a request refused that was routed, but did not get as far as its committer.
pub(crate) fn refused(error: Error) -> Error {
    let charge = match error.kind {
        ErrorKind::ItemTooLarge => RequestUnits::ZERO,
        _ => price(&Work::Refused, ReadCost::Single),
    };
    Error { charge, ..error }
}

/// Whether the key in the request is that of the item.
///
/// One SDK sends null for a missing level of a hierarchical key. That is let through, since the item's own
/// key decides where it is stored.
fn same_partition_key(actual: &PartitionKey, expected: &PartitionKey) -> bool {
    let hierarchical = actual.0.len() > 1;
    actual.0.len() == expected.0.len()
        && actual.0.iter().zip(&expected.0).all(|(actual, expected)| {
            actual == expected
                || (hierarchical && (actual, expected) == (&Component::Undefined, &Component::Null))
        })
}

fn item_id(root: Node<'_>) -> Result<String> {
    let Some(node) = root.get("id") else {
        return Err(Error::invalid(
            "the input content is invalid because the required properties - 'id; ' - are missing",
        ));
    };
    let Some(id) = node.as_str() else {
        return Err(Error::invalid(format!(
            "the item's id must be a string, it is {}",
            shortened(node.raw())
        )));
    };
    validate_item_id(&id)?;
    Ok(id.into_owned())
}

/// Checks an item id: not empty, and not too long. Characters that some clients cannot carry in a path are no reason to
/// refuse it: the service takes them.
pub fn validate_item_id(id: &str) -> Result<()> {
    if id.is_empty() {
        return Err(Error::invalid("the item's id must not be empty"));
    }
    if id.len() > ITEM_ID_BYTES_MAX {
        return Err(Error::invalid(format!(
            "the item's id is {} bytes long, the limit is {ITEM_ID_BYTES_MAX} bytes",
            id.len()
        )));
    }
    Ok(())
}

/// Returns the item's own time to live, 0 where it has none.
fn item_ttl(root: Node<'_>) -> Result<i32> {
    let Some(node) = root.get("ttl") else { return Ok(0) };
    match node.as_i64() {
        Some(-1) => Ok(-1),
        Some(seconds @ 1..=0x7FFF_FFFF) => Ok(seconds as i32),
        _ => Err(Error::invalid(format!(
            "the input ttl '{}' is invalid. Ensure to provide a nonzero positive integer less than or equal \
             to '2147483647', or -1 for an item that never expires",
            shortened(node.raw())
        ))),
    }
}

fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 60;
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// One write on its way to the committer.
pub(crate) enum Intent {
    Put {
        mode: WriteMode,
        item: PreparedItem,
        precondition: Precondition,
    },
    /// A replace that gives the item another id.
    Rename {
        from: ItemAddress,
        item: PreparedItem,
        precondition: Precondition,
    },
    Delete {
        address: ItemAddress,
        precondition: Precondition,
    },
    Patch {
        address: ItemAddress,
        partition_key: PartitionKey,
        patch: Patch,
        precondition: Precondition,
    },
}

impl Intent {
    /// Returns about how much memory the write holds while it waits.
    pub(crate) fn bytes(&self) -> usize {
        const FIXED: usize = 512;
        FIXED
            + match self {
                Intent::Put { item, .. } | Intent::Rename { item, .. } => {
                    item.value.len() + item.entries.bytes()
                }
                Intent::Delete { .. } => 0,
                Intent::Patch { patch, .. } => patch.bytes(),
            }
    }

    pub(crate) fn address(&self) -> &ItemAddress {
        match self {
            Intent::Put { item, .. } | Intent::Rename { item, .. } => &item.address,
            Intent::Delete { address, .. } | Intent::Patch { address, .. } => address,
        }
    }
}
