//! Reading a change feed: which partitions a page reads, in which order, and how far it came in each.
//!
//! A scope may cover several physical partitions, and a position may be another in each. Which of them is read first
//! depends on the position, as if by chance, so that none waits for ever behind a busy one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use armilla_value::HashedKey;

use super::bounds::KeyBounds;
use super::page::FeedPageBuilder;
use super::time::commit_before;
use super::walk::{View, Walk, Walked};
use super::{FeedMode, FeedPage, FeedRequest, FeedStart, token};
use crate::compiled_definition::CompiledDefinition;
use crate::container::{Container, check_session};
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::keys::LogicalKey;
use crate::map::arcs;
use crate::map::{Map, Slot};
use crate::partition::Partition;
use crate::partition::counters::Counters;
use crate::read::list::ListScope;
use crate::read::page::PageMeter;
use crate::write;

/// The part of the ring that a scope covers.
pub(super) struct FeedScope {
    pub(super) min: HashedKey,
    pub(super) max: HashedKey,
    /// The one logical partition that it is.
    logical: Option<LogicalKey>,
}

/// A part of the scope that lies in one physical partition and has one position.
pub(super) struct FeedPart {
    pub(super) slot: Arc<Slot>,
    pub(super) arc: arcs::Arc,
    /// Whether there was nothing behind the position.
    is_end: bool,
}

impl Container {
    /// Returns a page of the change feed.
    ///
    /// Fails with [`ErrorKind::Invalid`] if the token is none of this scope, or all versions are asked for where they
    /// are not kept, and with [`ErrorKind::FeedExpired`] if some of those behind the start are not kept any more.
    pub fn read_feed(&self, request: &FeedRequest) -> Result<FeedPage> {
        self.settled(|| self.read_settled_feed(request))
    }

    fn read_settled_feed(&self, request: &FeedRequest) -> Result<FeedPage> {
        let compiled = self.compiled();
        check_mode(&compiled, request)?;
        let map = self.map_now();
        let scope = self.feed_scope(&compiled, &map, &request.scope)?;
        let start = match &request.start {
            FeedStart::Token(text) => token::read(text, &scope.min, &scope.max)?,
            _ => vec![arcs::Arc { min: scope.min.clone(), max: scope.max.clone(), after: 0 }],
        };
        let mut parts = feed_parts(&map, &start);
        let meter = PageMeter::new(self.identity(), request.items_max, request.cost);
        let mut page = FeedPageBuilder::new(meter);
        match request.start {
            FeedStart::Now => self.go_to_end(&mut parts, request, &scope, &mut page)?,
            FeedStart::Time(ts) => {
                for part in &mut parts {
                    let partition = self.partition(&part.slot)?;
                    part.arc.after = commit_before(&part.slot, &partition, ts)
                        .map_err(|error| self.failed(error, &partition))?;
                }
                self.fill(&compiled, &mut parts, request, &scope, &mut page)?;
            }
            FeedStart::Beginning | FeedStart::Token(_) => {
                self.fill(&compiled, &mut parts, request, &scope, &mut page)?;
            }
        }
        Ok(FeedPage {
            charge: page.meter.charge(),
            changes: page.changes,
            is_end: parts.iter().all(|part| part.is_end),
            token: token::write(parts.into_iter().map(|part| part.arc)),
            positions: page.meter.positions,
        })
    }

    pub(super) fn feed_scope(
        &self,
        compiled: &CompiledDefinition,
        map: &Map,
        scope: &ListScope,
    ) -> Result<FeedScope> {
        if let ListScope::PartitionKey(key) = scope
            && compiled.definition.partition_key.is_whole(key)
        {
            let (min, logical) = write::locate(compiled, key)?;
            let max = HashedKey::from_bytes(&[min.as_bytes(), &[0]].concat());
            return Ok(FeedScope { min, max, logical: Some(logical) });
        }
        let (min, max) = self.scope_bounds(compiled, map, scope)?;
        Ok(FeedScope { min, max, logical: None })
    }

    /// Puts every part behind all that is there. One partition is asked whether it may be read, and pays.
    fn go_to_end(
        &self,
        parts: &mut [FeedPart],
        request: &FeedRequest,
        scope: &FeedScope,
        page: &mut FeedPageBuilder<'_>,
    ) -> Result<()> {
        let logical = scope.logical.as_ref().map(|logical| &logical.as_bytes()[..]);
        if let Some(first) = parts.first() {
            self.visit(&first.slot, &request.session, request.claim, page, logical, |_, _| Ok(()))?;
        }
        for part in parts {
            let partition = self.partition(&part.slot)?;
            check_session(&part.slot, &partition, &request.session)?;
            let seen = request.session.lsn(part.slot.range.id, &part.slot.range.parents);
            part.arc.after = partition.fresh_position()?.lsn.max(seen);
            part.is_end = true;
        }
        Ok(())
    }

    fn fill(
        &self,
        compiled: &CompiledDefinition,
        parts: &mut [FeedPart],
        request: &FeedRequest,
        scope: &FeedScope,
        page: &mut FeedPageBuilder<'_>,
    ) -> Result<()> {
        let (first, count) = (first_to_read(parts), parts.len());
        let mut behind = Vec::with_capacity(count);
        for place in (0..count).map(|place| (first + place) % count) {
            let part = &mut parts[place];
            let partition = self.partition(&part.slot)?;
            let newest = partition.fresh_position()?.lsn;
            if part.arc.after > newest {
                check_not_ahead(part, &partition)?;
            }
            let seen = request.session.lsn(part.slot.range.id, &part.slot.range.parents);
            part.is_end = newest.max(seen) <= part.arc.after;
            if !part.is_end {
                behind.push(place);
            }
        }
        // One partition has to say whether the request may be served, and to pay for it.
        if behind.is_empty() && count > 0 {
            behind.push(first);
        }
        let mut views = HashMap::new();
        for place in behind {
            let part = &mut parts[place];
            if page.is_packed() {
                break;
            }
            match self.read_part(compiled, part, request, scope, &mut views, page) {
                Ok(Walked { after, is_end }) => {
                    part.arc.after = after;
                    part.is_end = is_end;
                }
                // What there is already is worth showing.
                Err(error) if error.kind == ErrorKind::Throttled && !page.changes.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read_part(
        &self,
        compiled: &CompiledDefinition,
        part: &FeedPart,
        request: &FeedRequest,
        scope: &FeedScope,
        views: &mut HashMap<u32, View>,
        page: &mut FeedPageBuilder<'_>,
    ) -> Result<Walked> {
        let logical = scope.logical.as_ref().map(|logical| &logical.as_bytes()[..]);
        let FeedPart { slot, arc, .. } = part;
        self.visit(slot, &request.session, request.claim, page, logical, |partition, page| {
            let key = &compiled.definition.partition_key;
            let bounds = match &scope.logical {
                Some(logical) => KeyBounds::Logical(logical.clone()),
                None if arc.min == slot.range.min && arc.max == slot.range.max => KeyBounds::All,
                None => KeyBounds::of_arc(&arc.min, &arc.max, key.version, key.paths.len()),
            };
            let time = match request.start {
                FeedStart::Time(ts) => Some(ts),
                _ => None,
            };
            let since = time.max(request.modified_since);
            let view = match views.entry(slot.range.id) {
                Entry::Occupied(taken) => taken.get().clone(),
                Entry::Vacant(none) => none.insert(View::take(compiled, slot, partition)?).clone(),
            };
            // What is shown may be a moment newer than what its writers were told.
            page.meter.note_position(Position { lsn: view.lsn, ..partition.position() });
            let walk = Walk { compiled, view, mode: request.mode, bounds, since };
            let after = match walk.mode {
                FeedMode::AllVersions => walk.complete_start(arc, &request.start)?,
                FeedMode::Latest => arc.after,
            };
            walk.fill(after, page)
        })
    }
}

/// Refuses a position that no page of this container can have had: a reader that holds it would miss everything up to there.
fn check_not_ahead(part: &FeedPart, partition: &Partition) -> Result<()> {
    // Who reads sees a commit as soon as it is durable, which may be a moment before its writers are told.
    let newest = Counters::load(partition.space().as_ref(), part.slot.range.lsn_base)?.lsn;
    if part.arc.after <= newest {
        return Ok(());
    }
    let (after, id) = (part.arc.after, part.slot.range.id);
    Err(Error::invalid(format!("the position {after} is ahead of range {id}, which is at {newest}")))
}

/// Returns which part is to be read first. The position changes with every page that shows something, and which part it
/// picks with it, each as often as the others.
fn first_to_read(parts: &[FeedPart]) -> usize {
    let sum = parts.iter().fold(0_u64, |sum, part| sum.wrapping_add(part.arc.after));
    // The finisher of SplitMix64: every bit of the sum has a say in the upper ones.
    let mixed = (sum ^ (sum >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed >> 33) as usize % parts.len().max(1)
}

fn check_mode(compiled: &CompiledDefinition, request: &FeedRequest) -> Result<()> {
    if request.mode == FeedMode::Latest {
        return Ok(());
    }
    if !compiled.keeps_all_versions {
        return Err(Error::invalid(
            "the container does not keep all versions: its 'changeFeedPolicy' has no 'retentionDuration', and the account \
             has no continuous backup",
        ));
    }
    Ok(())
}

/// Cuts arcs where physical partitions end.
pub(super) fn feed_parts(map: &Map, start: &[arcs::Arc]) -> Vec<FeedPart> {
    let mut parts = Vec::new();
    for arc in start {
        for slot in &map.slots {
            let (min, max) = ((&arc.min).max(&slot.range.min), (&arc.max).min(&slot.range.max));
            if min < max {
                let arc = arcs::Arc { min: min.clone(), max: max.clone(), after: arc.after };
                parts.push(FeedPart { slot: slot.clone(), arc, is_end: false });
            }
        }
    }
    parts
}
