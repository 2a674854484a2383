//! Look-ups: the items that have one of some values at a path, by the index alone, without a plan.
//!
//! A front end that asks for few items by equal values, again and again, spends more on a query's plan than on what is
//! read. A look-up is priced like the query that it stands for: the partitions that are visited, each path that the index
//! serves, the items that are wanted, and an entry for each that is not.
//!
//! It is bounded by the number of items, by time, and by the number of entries of one value: those that have more are
//! left to a query, which may know a better way to them.

use std::time::Duration;

use armilla_container::{ErrorKind, LookupPath, PartitionReader, QueryWork, RequestUnits, query_charge};
use armilla_index::paths::PathSegment;
use armilla_value::Value;

use crate::access::{Access, Action, Caller};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::Result;
use crate::{Item, ListScope, Made};

/// How many values are looked up before the clock is asked how long it took.
const VALUES_BETWEEN_CLOCKS: usize = 8;

/// Which items are looked up.
pub struct ItemLookup<'l> {
    /// Paths of members; an item is found that has the value at any of them.
    pub paths: &'l [Vec<PathSegment>],
    /// The values, each once. Not a number is none.
    pub values: &'l [Value],
    /// Where to look.
    pub scope: &'l ListScope,
    /// No further value is looked up once so many items were found.
    pub items_max: usize,
    /// Nor once it has taken so long: who asks may want to do something else before the next part.
    pub time_max: Duration,
    /// A value with more entries is left out: over all physical partitions and paths, or, where what was made of items is
    /// looked up, in one of them.
    pub entries_max: usize,
    /// Whether what is found is kept in memory for those who ask again.
    pub is_kept: bool,
    /// What look-ups before have done, of which this one is the next part.
    pub before: LookupWork,
}

/// What look-ups that belong together have done.
#[derive(Debug, Clone, Copy, Default)]
pub struct LookupWork(QueryWork);

/// What a look-up has come to.
pub struct LookedUp {
    /// How many of the values were looked up.
    pub done: usize,
    /// Whether the next value has too many entries.
    pub is_crowded: bool,
    /// What was wanted of their items.
    pub taken: Taken,
    /// What this and those before have done.
    pub work: LookupWork,
    /// What this one costs.
    pub charge: RequestUnits,
}

/// What was wanted of items.
#[derive(Debug, Clone, Copy, Default)]
pub struct Taken {
    /// How many were wanted.
    pub items: u64,
    /// The bytes of their JSON.
    pub bytes: u64,
    /// How many were not.
    pub rejected: u64,
}

impl Taken {
    fn add(&mut self, other: Taken) {
        self.items += other.items;
        self.bytes += other.bytes;
        self.rejected += other.rejected;
    }
}

/// Finds the items of a value that stands at a place of its look-up: adds how many each reader has had to a list, and
/// returns what of them was wanted; nothing where there are too many.
type Find<'f> = dyn FnMut(&Value, usize, &mut [u64]) -> armilla_container::Result<Option<Taken>> + 'f;

impl Engine {
    /// Looks items up; `keep` says of each whether it is wanted, and those are added to `out`. Returns nothing where the
    /// index does not have all paths.
    pub fn look_up_items(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        lookup: &ItemLookup<'_>,
        keep: &dyn Fn(&Item) -> bool,
        out: &mut Vec<Item>,
    ) -> Result<Option<LookedUp>> {
        let scope = seen_by(&caller.access, lookup.scope);
        let readers = container.container().readers(&scope, &caller.session);
        let readers = readers.map_err(|error| container.translate(error))?;
        let paths: Vec<LookupPath> =
            lookup.paths.iter().map(|path| LookupPath::new(path, lookup.is_kept)).collect();
        let mut find = |value: &Value, _: usize, found: &mut [u64]| {
            let (first, mut taken, mut entries) = (out.len(), Taken::default(), 0);
            for (reader, found) in readers.iter().zip(found) {
                let of_reader = out.len();
                for path in &paths {
                    let left = lookup.entries_max.saturating_sub(entries);
                    let show = |item: Item| {
                        entries += 1;
                        let is_same = |known: &Item| known.header().number == item.header().number;
                        if paths.len() > 1 && out[of_reader..].iter().any(is_same) {
                            return;
                        }
                        *found += 1;
                        if keep(&item) {
                            taken.items += 1;
                            taken.bytes += item.json_bytes(reader.identity()) as u64;
                            out.push(item);
                        } else {
                            taken.rejected += 1;
                        }
                    };
                    // What is kept in memory may be more than is left.
                    match reader.look_up(*path, value, left, show) {
                        Ok(true) if entries <= lookup.entries_max => {}
                        looked => {
                            out.truncate(first);
                            return looked.map(|_| None);
                        }
                    }
                }
            }
            Ok(Some(taken))
        };
        self.look_up(caller, container, lookup, &scope, &readers, &mut find)
    }

    /// Looks up what was made of the items that have a value at the first path of a look-up, each value apart, and hands it
    /// over with the place of the value, for `take` to say what was wanted of it. Items of other logical partitions than
    /// that of the scope may be among them. Returns nothing where the index does not have the path.
    ///
    /// `make` returns what it has made with the bytes that it takes. That is kept: all who ask for values of the path must
    /// make the same.
    pub fn look_up_made(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        lookup: &ItemLookup<'_>,
        make: &dyn Fn(&[Item]) -> (Made, usize),
        take: &mut dyn FnMut(usize, &Made) -> Taken,
    ) -> Result<Option<LookedUp>> {
        let scope = seen_by(&caller.access, lookup.scope);
        let (all, session) = (container.container(), &caller.session);
        let readers = match &scope {
            // What is kept is of whole partitions. Who may see a part of one alone reads that part.
            ListScope::PartitionKey(key)
                if !matches!(caller.access, Access::Granted(_))
                    && all.definition().partition_key.is_whole(key) =>
            {
                all.reader_around(key, session).map(|reader| vec![reader])
            }
            scope => all.readers(scope, session),
        };
        let readers = readers.map_err(|error| container.translate(error))?;
        let Some(path) = lookup.paths.first().map(|path| LookupPath::new(path, lookup.is_kept)) else {
            return Ok(None);
        };
        let mut all_made: Vec<Made> = Vec::with_capacity(readers.len());
        let mut find = |value: &Value, place: usize, found: &mut [u64]| {
            all_made.clear();
            for reader in &readers {
                match reader.look_up_made(path, value, lookup.entries_max, make)? {
                    Some(made) => all_made.push(made),
                    None => return Ok(None),
                }
            }
            let mut sum = Taken::default();
            for (made, found) in all_made.iter().zip(found) {
                let taken = take(place, made);
                *found += taken.items + taken.rejected;
                sum.add(taken);
            }
            Ok(Some(sum))
        };
        self.look_up(caller, container, lookup, &scope, &readers, &mut find)
    }

    /// Looks values up one after the other.
    fn look_up(
        &self,
        caller: &Caller,
        container: &ContainerHandle,
        lookup: &ItemLookup<'_>,
        scope: &ListScope,
        readers: &[PartitionReader],
        find: &mut Find<'_>,
    ) -> Result<Option<LookedUp>> {
        let cost = caller.read_cost(self.consistency())?;
        let partition_key = match scope {
            ListScope::PartitionKey(partition_key) => Some(partition_key),
            ListScope::All | ListScope::Range { .. } => None,
        };
        caller.access.check_item(Action::Read, container.rid(), None, partition_key)?;
        let clock = &self.env().clock;
        let began = clock.elapsed();
        let noting = self.noting();
        let is_usable =
            |reader: &PartitionReader| lookup.paths.iter().all(|path| reader.usable().is_path_usable(path));
        if !readers.iter().all(is_usable) {
            return Ok(None);
        }
        for reader in readers {
            if let Err(error) = reader.admit(caller.claim) {
                return match error.kind {
                    ErrorKind::Moved => Ok(None),
                    _ => Err(container.translate(error)),
                };
            }
        }
        let mut found = vec![0; readers.len()];
        let (mut done, mut is_crowded, mut sum) = (0, false, Taken::default());
        for (place, value) in lookup.values.iter().enumerate() {
            let is_long = || clock.elapsed().saturating_sub(began) > lookup.time_max;
            if sum.items >= lookup.items_max as u64
                || (place > 0 && place % VALUES_BETWEEN_CLOCKS == 0 && is_long())
            {
                break;
            }
            match find(value, place, &mut found) {
                Ok(Some(taken)) => sum.add(taken),
                Ok(None) => {
                    is_crowded = true;
                    break;
                }
                // A query waits for partitions that go from one process to another.
                Err(error) if error.kind == ErrorKind::Moved => {
                    is_crowded = true;
                    break;
                }
                Err(error) => return Err(container.translate(error)),
            }
            done += 1;
        }
        if done == 0 && is_crowded {
            // The query that is asked instead pays for all.
            let (work, charge) = (lookup.before, RequestUnits::ZERO);
            return Ok(Some(LookedUp { done, is_crowded, taken: sum, work, charge }));
        }
        let mut work = lookup.before.0;
        if work == QueryWork::default() {
            work.partitions = readers.len() as u64;
            work.seeks = (readers.len() * lookup.paths.len()) as u64;
        }
        work.fetched += sum.items;
        work.fetched_bytes += sum.bytes;
        work.entries += sum.rejected;
        let charge = query_charge(&lookup.before.0, &work, cost);
        let took = clock.elapsed().saturating_sub(began);
        let total = found.iter().sum::<u64>() + found.len() as u64;
        let mut left = charge.hundredths();
        for (place, (reader, found)) in readers.iter().zip(&found).enumerate() {
            // Each pays its part, and the last what is left of rounding.
            let part = match place + 1 == readers.len() {
                true => left,
                false => (charge.hundredths().saturating_mul(found + 1) / total).min(left),
            };
            left -= part;
            reader.spend(caller.claim, RequestUnits::from_hundredths(part), took);
        }
        let looked = LookedUp { done, is_crowded, taken: sum, work: LookupWork(work), charge };
        if let Some(noting) = noting {
            let is_first = lookup.before.0 == QueryWork::default();
            noting.look_up(container, lookup, partition_key, readers.len(), is_first, &looked);
        }
        Ok(Some(looked))
    }
}

/// Returns the scope as a query of the caller would have it.
fn seen_by(access: &Access, scope: &ListScope) -> ListScope {
    match (access, scope) {
        (Access::Granted(grant), ListScope::All) => {
            grant.partition_key.clone().map_or(ListScope::All, ListScope::PartitionKey)
        }
        (_, scope) => scope.clone(),
    }
}
