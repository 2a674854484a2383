//! The items of a graph's container as one traversal reaches them: with its deadline, and counted.
//!
//! A traversal runs on a thread of its own, so everything here blocks; or it is tried in the task of its connection, where
//! what would wait ends the trial instead (`trials`).

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use armilla_engine::plans::BoundQuery;
use armilla_engine::{
    Caller, ContainerHandle, Engine, Error, ErrorKind, Item, ItemLookup, ItemName, ListScope, LookedUp, Made,
    Query, QueryPage, QueryRequest, RequestUnits, ResourceKind, Row, RowForm, RowResult, Taken, row_item,
};
use armilla_env::Clock;
use armilla_gremlin_machine::graph::{Figures, GraphError, GraphErrorKind, GraphResult};
use armilla_value::PartitionKey;
use bytes::Bytes;
use tokio::runtime::Handle;

use crate::trials::Trial;

/// Adds up what a request costs, for those who answer it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Charges(Arc<AtomicU64>);

impl Charges {
    pub(crate) fn add(&self, charge: RequestUnits) {
        self.0.fetch_add(charge.hundredths(), Ordering::Relaxed);
    }

    /// Returns the sum in request units.
    pub(crate) fn total(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 100.0
    }
}

/// Until when a traversal may go on.
#[derive(Clone)]
pub(crate) struct Deadline {
    pub(crate) clock: Arc<dyn Clock>,
    /// When it began, and when it has to end.
    pub(crate) began: Duration,
    pub(crate) end: Duration,
    /// Whether its client is gone.
    pub(crate) is_cancelled: Arc<AtomicBool>,
    /// Where it is tried.
    pub(crate) trial: Option<Trial>,
}

impl Deadline {
    /// Fails where the traversal is to end.
    pub(crate) fn check(&self) -> GraphResult<()> {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return Err(GraphError::new(GraphErrorKind::Cancelled, "the client is gone"));
        }
        let now = self.clock.elapsed();
        if now >= self.end {
            return Err(self.timed_out());
        }
        match &self.trial {
            Some(trial) if now >= trial.end => Err(given_up(trial)),
            _ => Ok(()),
        }
    }

    /// Fails where the traversal is only tried, since what it is about to do cannot be done then.
    pub(crate) fn check_may_wait(&self) -> GraphResult<()> {
        self.trial.as_ref().map_or(Ok(()), |trial| Err(given_up(trial)))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.elapsed().saturating_sub(self.began)
    }

    fn timed_out(&self) -> GraphError {
        let milliseconds = self.end.saturating_sub(self.began).as_millis();
        GraphError::new(
            GraphErrorKind::TimedOut,
            format!(
                "the traversal took longer than the {milliseconds} ms that it may: narrow it, or allow more time"
            ),
        )
    }
}

/// The items of a container.
pub(crate) struct Store {
    pub(crate) engine: Engine,
    pub(crate) caller: Caller,
    pub(crate) handle: Arc<ContainerHandle>,
    pub(crate) runtime: Handle,
    pub(crate) deadline: Deadline,
    pub(crate) charges: Charges,
    pub(crate) figures: Cell<Figures>,
}

/// A page of a query over items.
pub(crate) struct ItemPage {
    pub(crate) items: Vec<Item>,
    pub(crate) continuation: Option<String>,
}

impl Store {
    /// Reads an item; none where there is no such.
    pub(crate) fn read(&self, key: &PartitionKey, id: &str) -> GraphResult<Option<Item>> {
        // No item has such an id, and the engine would say so less kindly.
        if id.is_empty() {
            return Ok(None);
        }
        let read = self.engine.read_item(&self.caller, &self.handle, ItemName::Id(id), Some(key), None);
        match read {
            Ok(read) => {
                self.count(read.charge, 1, read.item.raw().0.len());
                Ok(Some(read.item))
            }
            Err(error) if error.kind == ErrorKind::NotFound(ResourceKind::Item) => {
                self.count(error.charge, 0, 0);
                Ok(None)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Returns a page of a query whose rows are items.
    pub(crate) fn items(
        &self,
        query: &Arc<BoundQuery>,
        scope: &ListScope,
        rows_max: usize,
        continuation: Option<String>,
    ) -> GraphResult<ItemPage> {
        let page = self.page(query, scope, Arc::new(ItemRows), Some(rows_max), continuation)?;
        let rows = Bytes::from(page.rows);
        let mut items = Vec::with_capacity(page.row_ends.len());
        let mut start = 0;
        for end in page.row_ends {
            let end = end as usize;
            if start <= end
                && end <= rows.len()
                && let Some(item) = Item::from_raw(rows.slice(start..end))
            {
                items.push(item);
            }
            start = end;
        }
        Ok(ItemPage { items, continuation: page.continuation })
    }

    /// Looks items up by equal values, and adds those to `out` that are wanted; none where the index cannot.
    pub(crate) fn look_up(
        &self,
        lookup: &ItemLookup<'_>,
        keep: &dyn Fn(&Item) -> bool,
        out: &mut Vec<Item>,
    ) -> GraphResult<Option<LookedUp>> {
        self.deadline.check()?;
        self.looked_up(self.engine.look_up_items(&self.caller, &self.handle, lookup, keep, out))
    }

    /// The same for what is made of the items of each value.
    pub(crate) fn look_up_made(
        &self,
        lookup: &ItemLookup<'_>,
        make: &dyn Fn(&[Item]) -> (Made, usize),
        take: &mut dyn FnMut(usize, &Made) -> Taken,
    ) -> GraphResult<Option<LookedUp>> {
        self.deadline.check()?;
        self.looked_up(self.engine.look_up_made(&self.caller, &self.handle, lookup, make, take))
    }

    fn looked_up(&self, found: armilla_engine::Result<Option<LookedUp>>) -> GraphResult<Option<LookedUp>> {
        let found = found.map_err(|error| self.failed(error))?;
        if let Some(found) = found.as_ref().filter(|found| found.done > 0) {
            self.count(found.charge, found.taken.items as usize, found.taken.bytes as usize);
        }
        Ok(found)
    }

    /// Returns all rows of a query, each as JSON.
    pub(crate) fn values(
        &self,
        query: &Arc<BoundQuery>,
        scope: &ListScope,
    ) -> GraphResult<Vec<armilla_value::Value>> {
        let mut values = Vec::new();
        let mut continuation = None;
        loop {
            let page = self.page(query, scope, Arc::new(ValueRows), None, continuation)?;
            values.extend(page.each_row().filter_map(|row| armilla_value::json::parse(row).ok()));
            match page.continuation {
                Some(next) => continuation = Some(next),
                None => return Ok(values),
            }
        }
    }

    fn page(
        &self,
        query: &Arc<BoundQuery>,
        scope: &ListScope,
        form: Arc<dyn RowForm>,
        rows_max: Option<usize>,
        continuation: Option<String>,
    ) -> GraphResult<QueryPage> {
        self.deadline.check()?;
        let request = QueryRequest {
            scope: scope.clone(),
            rows_max,
            form: Some(form),
            continuation,
            ..QueryRequest::of(Query::Plan(query.clone()))
        };
        let page = self.wait(self.engine.query_items(&self.caller, &self.handle, request))?;
        match page {
            Ok(page) => {
                self.count(page.charge, page.row_count(), page.rows.len());
                Ok(page)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Waits for something, but not beyond the deadline.
    fn wait<T>(&self, future: impl Future<Output = T>) -> GraphResult<T> {
        if let Some(trial) = &self.deadline.trial {
            // Most is done at once. What is not is given up with its future, and asked for again elsewhere.
            return match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(done) => Ok(done),
                Poll::Pending => Err(given_up(trial)),
            };
        }
        let left = self.deadline.end.saturating_sub(self.deadline.clock.elapsed());
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                done = future => Ok(done),
                () = self.deadline.clock.sleep(left) => Err(self.deadline.timed_out()),
            }
        })
    }

    /// Counts an operation.
    pub(crate) fn count(&self, charge: RequestUnits, items: usize, bytes: usize) {
        self.charges.add(charge);
        let mut figures = self.figures.get();
        figures.operations += 1;
        figures.items += items as u64;
        figures.bytes += bytes as u64;
        figures.partitions += 1;
        figures.request_units += charge.hundredths() as f64 / 100.0;
        self.figures.set(figures);
    }

    /// Counts a failed operation, and makes a failure of the graph of it.
    pub(crate) fn failed(&self, error: Error) -> GraphError {
        self.count(error.charge, 0, 0);
        failure(error)
    }
}

/// Gives a trial up; what it ends with is not seen by any client.
fn given_up(trial: &Trial) -> GraphError {
    trial.give_up();
    GraphError::new(GraphErrorKind::Cancelled, "the traversal is begun again on a thread of its own")
}

/// Makes a failure of the graph of one of the engine.
pub(crate) fn failure(error: Error) -> GraphError {
    let kind = match error.kind {
        ErrorKind::QueryTimeout | ErrorKind::TransactionExpired => GraphErrorKind::TimedOut,
        _ => GraphErrorKind::Storage,
    };
    GraphError { kind, message: error.message.clone(), cause: Some(Box::new(error)) }
}

/// Rows that are items as they are stored.
struct ItemRows;

impl RowForm for ItemRows {
    fn write(&self, row: &Row<'_>, out: &mut Vec<u8>) -> RowResult<bool> {
        let Some(item) = row_item(row) else { return Ok(false) };
        out.extend_from_slice(item.raw().0);
        Ok(true)
    }
}

/// Rows that are JSON, with nothing between them.
struct ValueRows;

impl RowForm for ValueRows {
    fn write(&self, row: &Row<'_>, out: &mut Vec<u8>) -> RowResult<bool> {
        row.write_json(out)
    }
}
