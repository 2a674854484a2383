//! Which partitions a query is about: what the request names, narrowed by what the filter says of the partition key.

use armilla_container::{Container, ContainerDefinition, ListScope, PartitionReader, Range, SessionToken};
use armilla_query::gateway::{KeyScope, PartitionKeyShape, partition_keys};
use armilla_query::{CompiledQuery, ResumeFilter};
use armilla_value::rid::ItemRid;
use armilla_value::{HashedKey, PartitionKey, Value, hashed_key, prefix_range};

use super::QueryRequest;
use crate::error::{Error, ErrorKind, Result};

/// Up to this many logical partitions are read one by one; beyond, the physical partitions that they lie in.
const LOGICAL_SCOPES_MAX: usize = 32;

/// The parts of a container that a query is about, in the order of the ring.
pub(super) struct Scopes {
    pub(super) scopes: Vec<ListScope>,
    /// Whether they lie in several physical partitions, and the request names none of them.
    pub(super) spans_partitions: bool,
    /// Whether neither the request nor the filter names one logical partition, or a physical one.
    pub(super) spans_keys: bool,
}

/// Returns the shape of a container's partition key.
pub(super) fn partition_key_shape(definition: &ContainerDefinition) -> PartitionKeyShape {
    let paths = definition.partition_key.paths.iter();
    PartitionKeyShape {
        paths: paths.map(|path| path.names().to_vec()).collect(),
        version: definition.partition_key.version,
    }
}

/// Finds out which parts of a container a query is about.
pub(super) fn narrow(
    definition: &ContainerDefinition,
    container: &Container,
    request: &QueryRequest,
    compiled: &CompiledQuery,
) -> Result<Scopes> {
    let shape = partition_key_shape(definition);
    let one =
        |scope: ListScope| Ok(Scopes { scopes: vec![scope], spans_partitions: false, spans_keys: false });
    if compiled.bound.sources.is_empty() {
        // One row, wherever it is made.
        return Ok(Scopes { scopes: Vec::new(), spans_partitions: false, spans_keys: false });
    }
    match &request.scope {
        ListScope::PartitionKey(key) if definition.partition_key.is_whole(key) => one(request.scope.clone()),
        ListScope::PartitionKey(_) => Ok(Scopes {
            scopes: vec![request.scope.clone()],
            spans_partitions: container.map().ranges.len() > 1,
            spans_keys: false,
        }),
        // The partition that was asked for must exist, whatever the filter says.
        ListScope::Range { id: Some(_), .. } => one(request.scope.clone()),
        ListScope::Range { .. } => Ok(Scopes {
            scopes: vec![request.scope.clone()],
            spans_partitions: container.map().ranges.len() > 1,
            spans_keys: false,
        }),
        ListScope::All => {
            let keys = partition_keys(&compiled.bound, &shape);
            let is_free = matches!(keys, KeyScope::All);
            // Without a key there is one logical partition.
            if is_free && !request.cross_partition && !definition.is_fixed() {
                return Err(Error::new(ErrorKind::CrossPartition, CROSS_PARTITION_DISABLED));
            }
            Ok(by_keys(keys, &shape, container))
        }
    }
}

const CROSS_PARTITION_DISABLED: &str = "the query is about more than one logical partition, which the request does not allow: name a partition key, or \
     allow it";

fn by_keys(keys: KeyScope, shape: &PartitionKeyShape, container: &Container) -> Scopes {
    let several = container.map().ranges.len() > 1;
    match keys {
        KeyScope::All => Scopes { scopes: vec![ListScope::All], spans_partitions: several, spans_keys: true },
        // An aggregate of nothing is a row, and so it has to be made somewhere: any one logical partition will do,
        // since the filter takes nothing from it.
        KeyScope::Nothing => {
            Scopes { scopes: first_range(container), spans_partitions: false, spans_keys: false }
        }
        KeyScope::Keys(keys) if keys.len() <= LOGICAL_SCOPES_MAX => {
            let definition = container.definition();
            let meant = keys.iter().map(|key| definition.partition_key.meant(key).into_owned());
            let mut hashed: Vec<(HashedKey, PartitionKey)> =
                meant.map(|key| (hashed_key(&key, shape.version), key)).collect();
            hashed.sort_by(|left, right| left.0.cmp(&right.0));
            // Two that are given may mean one.
            hashed.dedup();
            // Two keys with one hash would be read as one place on the ring, twice.
            let collide = hashed.windows(2).any(|pair| pair[0].0 == pair[1].0);
            if collide {
                return covering(hashed.iter().map(|(hash, _)| (hash.clone(), after(hash))), container);
            }
            let spans = hashed.len() > 1;
            let scopes = hashed.into_iter().map(|(_, key)| ListScope::PartitionKey(key)).collect();
            Scopes { scopes, spans_partitions: several && spans, spans_keys: spans }
        }
        KeyScope::Keys(keys) => {
            let points = keys.iter().map(|key| hashed_key(key, shape.version));
            covering(points.map(|hash| (hash.clone(), after(&hash))), container)
        }
        KeyScope::Prefixes(prefixes) => covering(prefixes.iter().map(prefix_range), container),
    }
}

/// Returns whole physical partitions that hold any of some parts of the ring.
fn covering(parts: impl Iterator<Item = (HashedKey, HashedKey)>, container: &Container) -> Scopes {
    let parts: Vec<(HashedKey, HashedKey)> = parts.collect();
    let ranges = container.map().ranges;
    let touched =
        ranges.iter().filter(|range| parts.iter().any(|(min, max)| *min < range.max && range.min < *max));
    let scopes: Vec<ListScope> = touched.map(arc_of).collect();
    Scopes { spans_partitions: scopes.len() > 1, spans_keys: true, scopes }
}

fn first_range(container: &Container) -> Vec<ListScope> {
    container.map().ranges.iter().take(1).map(arc_of).collect()
}

/// Returns the arc of a physical partition, which stays good if the partition is split before it is read.
fn arc_of(range: &Range) -> ListScope {
    ListScope::Range { id: None, min: Some(range.min.clone()), max: Some(range.max.clone()) }
}

/// Returns the first hashed key beyond another.
fn after(hash: &HashedKey) -> HashedKey {
    HashedKey::from_bytes(&[hash.as_bytes(), &[0]].concat())
}

/// Returns a reader of every physical partition that a scope touches, in parts where they must be cut.
pub(super) fn readers(
    container: &Container,
    scope: &ListScope,
    session: &SessionToken,
    cuts: &[HashedKey],
) -> armilla_container::Result<Vec<PartitionReader>> {
    let mut readers = Vec::new();
    for reader in container.readers(scope, session)? {
        let (min, max) = reader.bounds();
        let mut bounds = vec![min.clone()];
        bounds.extend(cuts.iter().filter(|cut| min < **cut && **cut < max).cloned());
        bounds.push(max);
        if bounds.len() == 2 || reader.logical() {
            readers.push(reader);
            continue;
        }
        for pair in bounds.windows(2) {
            let part = ListScope::Range { id: None, min: Some(pair[0].clone()), max: Some(pair[1].clone()) };
            readers.extend(container.readers(&part, session)?);
        }
    }
    Ok(readers)
}

/// Reads the position at which some clients let an ordered query begin.
pub(super) fn resume_filter(value: &Value) -> armilla_query::Result<ResumeFilter> {
    ResumeFilter::parse(value, |rid| ItemRid::parse(rid).map(|rid| rid.number()))
}
