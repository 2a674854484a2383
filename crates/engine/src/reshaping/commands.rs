//! Splits and merges that a caller asks for.

use std::sync::Arc;

use armilla_container::{CutBy, Range};
use armilla_kv::SpaceId;
use armilla_value::HashedKey;

use super::job::{Job, Reason};
use super::next::cut;
use crate::access::{Action, Caller};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::neighbours::Wish;

impl Engine {
    /// Begins to split a physical partition: the one that is named, or the widest; at a hashed key, in hexadecimal, or
    /// in the middle. It goes on in the background.
    pub async fn split(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        range: Option<u32>,
        at: Option<&str>,
    ) -> Result<()> {
        caller.access.check_account(Action::Write)?;
        let found = self.container(database, container)?.container;
        refuse_fixed(&found)?;
        let map = found.container().map();
        if map.ranges.len() >= self.limits().physical_partitions_max as usize {
            return Err(Error::invalid(format!(
                "the container has {} physical partitions already, as many as it may have",
                map.ranges.len()
            )));
        }
        let range_id = match range.or_else(|| found.container().widest_range()) {
            Some(range_id) => range_id,
            None => {
                return Err(Error::invalid(
                    "no physical partition of the container can be split any further",
                ));
            }
        };
        let range = map.ranges.iter().find(|range| range.id == range_id);
        let range = range.ok_or_else(|| Error::range_gone(range_id))?;
        let cut = match at {
            Some(at) => read_cut(at, range)?,
            None => cut(&found, range_id, CutBy::Arc)?.ok_or_else(|| {
                Error::invalid(format!("the partition key range '{range_id}' is too narrow to be split"))
            })?,
        };
        self.reshape_anywhere(&found, vec![range_id], Some(cut)).await
    }

    /// Begins to merge two neighbouring physical partitions. It goes on in the background.
    pub async fn merge(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        ranges: [u32; 2],
    ) -> Result<()> {
        caller.access.check_account(Action::Write)?;
        let found = self.container(database, container)?.container;
        let map = found.container().map();
        let mut places = Vec::with_capacity(2);
        for range_id in ranges {
            let place = map.ranges.iter().position(|range| range.id == range_id);
            places.push(place.ok_or_else(|| Error::range_gone(range_id))?);
        }
        places.sort_unstable();
        if places[0] + 1 != places[1] {
            return Err(Error::invalid(format!(
                "the partition key ranges '{}' and '{}' are no neighbours: only those can be merged",
                ranges[0], ranges[1]
            )));
        }
        let wanted = found.reshaping().state().partitions_wanted;
        if map.ranges.len() <= wanted {
            return Err(Error::invalid(format!(
                "the throughput of the container needs {wanted} physical partitions, and it has {}: lower it first",
                map.ranges.len()
            )));
        }
        let parents = places.iter().map(|place| map.ranges[*place].id).collect();
        self.reshape_anywhere(&found, parents, None).await
    }

    async fn reshape_anywhere(
        &self,
        container: &Arc<ContainerHandle>,
        parents: Vec<u32>,
        cut: Option<HashedKey>,
    ) -> Result<()> {
        if let Some(among) = self.among() {
            let map = container.container().map();
            let of_parents = map.ranges.iter().filter(|range| parents.contains(&range.id));
            let spaces: Vec<SpaceId> = of_parents.map(|range| range.space).collect();
            let wish = Wish { container: container.rid(), parents: parents.clone(), cut: cut.clone() };
            if among.clone().have_reshaped(spaces, wish).await? {
                return Ok(());
            }
        }
        container.reshape_by_command(parents, cut)
    }
}

impl ContainerHandle {
    /// Begins a split or merge of partitions that are this process's.
    pub(crate) fn reshape_by_command(&self, parents: Vec<u32>, cut: Option<HashedKey>) -> Result<()> {
        self.reshaping().command(Job { reason: Reason::Command, parents, cut })
    }
}

fn refuse_fixed(container: &Arc<ContainerHandle>) -> Result<()> {
    if container.is_fixed() {
        return Err(Error::invalid("a container without a partition key is one physical partition"));
    }
    Ok(())
}

fn read_cut(at: &str, range: &Range) -> Result<HashedKey> {
    let cut = HashedKey::from_hex(at).ok_or_else(|| {
        Error::invalid(format!("the place to split at, '{at}', is no hashed key in hexadecimal"))
    })?;
    // Clients compare bounds so that zeros at the end mean nothing.
    if cut.cmp_bounds(&range.min).is_le() || cut.cmp_bounds(&range.max).is_ge() {
        return Err(Error::invalid(format!(
            "the place to split at, '{cut}', does not lie inside of the partition key range '{}', which reaches from \
             '{}' to '{}'",
            range.id, range.min, range.max
        )));
    }
    Ok(cut)
}
