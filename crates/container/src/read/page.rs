//! What pages of items and of changes have in common: how full they are, what they cost, and who pays for it.
//!
//! A page may read several physical partitions. Each is asked whether it may be read, and pays for what it added.
//!
//! Not here: what is read (`list`, `feed`), prices (`throughput`).

use armilla_governor::{Claim, OperationKind};

use crate::container::{Container, check_session};
use crate::error::{Position, Result};
use crate::item::{ContainerIdentity, Item};
use crate::limits::{PAGE_BYTES_MAX, PAGE_ITEMS_MAX};
use crate::map::Slot;
use crate::partition::Partition;
use crate::read::session::SessionToken;
use crate::throughput::source::Admission;
use crate::throughput::{QueryWork, ReadCost, RequestUnits, Work, price, query_charge};

/// By which prices a page is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tariff {
    /// Each item as if it were read alone.
    Items,
    /// As a query of one logical partition that returns the items.
    Query,
}

/// How full a page is and what it cost, while it fills.
pub(crate) struct PageMeter<'a> {
    identity: &'a ContainerIdentity,
    item_bytes: Vec<usize>,
    bytes: usize,
    items_max: usize,
    pub(crate) entries_skipped: usize,
    pub(crate) positions: Vec<Position>,
    cost: ReadCost,
    tariff: Tariff,
    /// What the partition that is being read may still spend, where that counts.
    left: Option<RequestUnits>,
    /// What was read of it, about.
    used: RequestUnits,
    /// Items of the page when its turn came.
    items_before: usize,
    /// What the partitions before it cost.
    spent: RequestUnits,
}

impl<'a> PageMeter<'a> {
    pub(crate) fn new(identity: &'a ContainerIdentity, items_max: usize, cost: ReadCost) -> PageMeter<'a> {
        PageMeter {
            identity,
            item_bytes: Vec::new(),
            bytes: 0,
            items_max: items_max.clamp(1, PAGE_ITEMS_MAX),
            entries_skipped: 0,
            positions: Vec::new(),
            cost,
            tariff: Tariff::Items,
            left: None,
            used: RequestUnits::ZERO,
            items_before: 0,
            spent: RequestUnits::ZERO,
        }
    }

    /// Returns the meter with other prices.
    pub(crate) fn by(mut self, tariff: Tariff) -> PageMeter<'a> {
        self.tariff = tariff;
        self
    }

    /// Takes note that another partition is read from now on, and of what it may spend.
    fn begin_share(&mut self, left: Option<RequestUnits>) {
        self.left = left;
        self.used = RequestUnits::ZERO;
        self.items_before = self.item_bytes.len();
    }

    /// Returns what the partition that was read last cost.
    fn end_share(&mut self) -> RequestUnits {
        let total = self.charge();
        let before = std::mem::replace(&mut self.spent, total);
        RequestUnits::from_hundredths(total.hundredths().saturating_sub(before.hundredths()))
    }

    /// Returns what the page costs so far.
    pub(crate) fn charge(&self) -> RequestUnits {
        match self.tariff {
            Tariff::Items => {
                let (item_bytes, entries_skipped) = (self.item_bytes.clone(), self.entries_skipped);
                price(&Work::Page { item_bytes, entries_skipped }, self.cost)
            }
            Tariff::Query => {
                let work = QueryWork {
                    partitions: 1,
                    fetched: (self.item_bytes.len() + self.entries_skipped) as u64,
                    fetched_bytes: self.bytes as u64,
                    ..QueryWork::default()
                };
                query_charge(&QueryWork::default(), &work, self.cost)
            }
        }
    }

    /// Returns how many more items there is room for.
    pub(crate) fn room(&self) -> usize {
        self.items_max.saturating_sub(self.item_bytes.len())
    }

    /// Returns how many more bytes there is room for.
    pub(crate) fn room_bytes(&self) -> usize {
        PAGE_BYTES_MAX.saturating_sub(self.bytes)
    }

    /// Returns the size of the items so far: all of it, and how many they are.
    pub(crate) fn filled(&self) -> (usize, usize) {
        (self.bytes, self.item_bytes.len())
    }

    /// Returns whether there is no room for another item, however it is paid for.
    pub(crate) fn is_packed(&self) -> bool {
        self.room() == 0 || self.room_bytes() == 0
    }

    /// Returns whether the partition that is being read should add nothing more.
    pub(crate) fn is_full(&self) -> bool {
        let has_added = self.item_bytes.len() > self.items_before;
        self.is_packed() || (has_added && self.left.is_some_and(|left| self.used >= left))
    }

    /// Takes note of how far a partition is that is read.
    pub(crate) fn note_position(&mut self, position: Position) {
        match self.positions.iter_mut().find(|known| known.range_id == position.range_id) {
            Some(known) => known.lsn = known.lsn.max(position.lsn),
            None => self.positions.push(position),
        }
    }

    /// Returns the size of an item as it is shown.
    pub(crate) fn json_bytes(&self, item: &Item) -> usize {
        item.json_bytes(self.identity)
    }

    /// Takes note of an item of so many bytes.
    pub(crate) fn note(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.item_bytes.push(bytes);
        match self.tariff {
            Tariff::Items => self.used += price(&Work::Read { item_bytes: bytes }, self.cost),
            // Such a page reads one partition, so all of it is its share.
            Tariff::Query => self.used = self.charge(),
        }
    }
}

/// A page that has a meter.
pub(crate) trait Metered<'a> {
    fn meter(&mut self) -> &mut PageMeter<'a>;
}

impl Container {
    /// Reads in one partition, if that may be read now, and has it pay for what it added to the page.
    pub(crate) fn visit<'a, T, P: Metered<'a>>(
        &self,
        slot: &Slot,
        session: &SessionToken,
        claim: Claim,
        page: &mut P,
        logical: Option<&[u8]>,
        read: impl FnOnce(&Partition, &mut P) -> Result<T>,
    ) -> Result<T> {
        let partition = self.partition(slot)?;
        let clock = self.clock();
        let admission = Admission::ask(slot, clock, OperationKind::Read, claim, logical)?;
        page.meter().begin_share(admission.left);
        let done = check_session(slot, &partition, session).and_then(|()| {
            page.meter().note_position(partition.position());
            read(&partition, page).map_err(|error| self.failed(error, &partition))
        });
        let charge = page.meter().end_share();
        match &done {
            Err(error) if error.charge > charge => admission.spend(slot, logical, error.charge),
            _ => admission.spend(slot, logical, charge),
        }
        done
    }
}
