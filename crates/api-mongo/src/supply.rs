//! Where the documents of a cursor come from, batch after batch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use armilla_engine::plans::BoundQuery;
use armilla_engine::{Caller, Item};
use armilla_env::Clock;
use armilla_mongo_expression::{Error, codes};
use armilla_mongo_filter::{Projection, Sort, SortKey};
use armilla_mongo_pipeline::Documents;
use armilla_mongo_wire::bson;
use armilla_value::Object;
use bytes::Bytes;

use crate::Shared;
use crate::catalog::Collection;
use crate::changes::Stream;
use crate::data::{Charges, Data};
use crate::documents::{self, PartName};
use crate::failure::{Failure, Result};
use crate::limits::{BATCH_BYTES_ENOUGH, SORT_BYTES_MAX};
use crate::order::Walk;
use crate::pages::{DocumentRows, Shape, read_sorted};
use crate::search::Search;

/// Where documents come from.
pub(crate) enum Supply {
    /// They are there.
    List(VecDeque<Vec<u8>>),
    /// From a search.
    Find(Box<Find>),
    /// From a pipeline, with a document that did not fit into the batch before.
    Pipeline(Option<Documents>, Option<Vec<u8>>, Charges, Cancellation),
    /// From the changes of collections.
    Stream(Box<Stream>),
}

/// Tells a pipeline that no client waits for it any more, or that its time is over.
#[derive(Clone)]
pub(crate) struct Cancellation {
    is_cancelled: Arc<AtomicBool>,
    clock: Arc<dyn Clock>,
    /// When the batch that is computed has to be there, in milliseconds of elapsed time.
    deadline_ms: Arc<AtomicU64>,
    time_max: Duration,
}

/// A client that waits. Who goes away before the answer is there cancels.
struct Waiting(Option<Cancellation>);

impl Cancellation {
    pub(crate) fn new(clock: Arc<dyn Clock>, time_max: Duration) -> Cancellation {
        Cancellation {
            is_cancelled: Arc::default(),
            clock,
            deadline_ms: Arc::new(AtomicU64::new(u64::MAX)),
            time_max,
        }
    }

    fn while_waited_for(&self) -> Waiting {
        let deadline = self.clock.elapsed() + self.time_max;
        self.deadline_ms.store(u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
        Waiting(Some(self.clone()))
    }

    /// Says whether to go on.
    pub(crate) fn check(&self) -> std::result::Result<(), Error> {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return Err(Error::new(codes::INTERRUPTED, "operation was interrupted: its client has gone"));
        }
        if self.clock.elapsed().as_millis() >= u128::from(self.deadline_ms.load(Ordering::Relaxed)) {
            let seconds = self.time_max.as_secs();
            let message =
                format!("operation exceeded time limit: a batch of a pipeline may take {seconds} seconds");
            return Err(Error::new(codes::MAX_TIME_MS_EXPIRED, message));
        }
        Ok(())
    }
}

impl Waiting {
    fn end(mut self) {
        self.0 = None;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(cancellation) = &self.0 {
            cancellation.is_cancelled.store(true, Ordering::Relaxed);
        }
    }
}

/// A search that goes on.
pub(crate) struct Find {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Caller,
    pub(crate) collection: Collection,
    pub(crate) search: Search,
    pub(crate) projection: Option<Arc<Projection>>,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) state: FindState,
}

/// How far a search is.
pub(crate) enum FindState {
    Begin,
    /// More pages follow.
    Pages {
        query: Arc<BoundQuery>,
        form: Arc<DocumentRows>,
        continuation: Option<String>,
    },
    /// What is left is known.
    Rest,
}

/// Documents for a batch.
#[derive(Default)]
pub(crate) struct Portion {
    pub(crate) documents: Vec<Vec<u8>>,
    /// Whether there are no more.
    pub(crate) is_last: bool,
    /// What the cursor says besides.
    pub(crate) extra: Object,
}

/// How much a batch may have.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Room {
    pub(crate) documents: usize,
    /// How long to wait for the first, where more may come.
    pub(crate) wait: Duration,
}

impl Supply {
    /// Returns the bytes of documents that it holds.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Supply::List(documents) => documents.iter().map(Vec::len).sum(),
            Supply::Pipeline(_, left, ..) => left.as_ref().map_or(0, Vec::len),
            Supply::Find(_) | Supply::Stream(_) => 0,
        }
    }

    /// Takes the next documents.
    pub(crate) async fn take(
        &mut self,
        room: Room,
        charges: &Charges,
        shared: &Arc<Shared>,
    ) -> Result<Portion> {
        match self {
            Supply::List(documents) => {
                let taken = take_from(documents, room);
                Ok(Portion { is_last: documents.is_empty(), documents: taken, ..Portion::default() })
            }
            Supply::Find(find) => find.take(room, charges).await,
            Supply::Stream(stream) => stream.take(room, charges).await,
            Supply::Pipeline(documents, left, own, cancellation) => {
                let Some(mut stream) = documents.take() else {
                    let documents = left.take().into_iter().collect();
                    return Ok(Portion { documents, is_last: true, ..Portion::default() });
                };
                let first = left.take();
                let place = shared.pipelines.clone().acquire_owned().await;
                let _place = place
                    .map_err(|_| Failure::new(codes::INTERRUPTED_AT_SHUTDOWN, "the server is ending"))?;
                let waiting = cancellation.while_waited_for();
                let computed = tokio::task::spawn_blocking(move || {
                    let portion = pull(&mut stream, first, room);
                    (stream, portion)
                });
                let (stream, portion) = computed
                    .await
                    .map_err(|_| Failure::new(codes::INTERNAL_ERROR, "the pipeline could not be computed"))?;
                waiting.end();
                charges.add(own.take());
                let (portion, unfit) = portion?;
                *left = unfit;
                if !portion.is_last {
                    *documents = Some(stream);
                }
                Ok(portion)
            }
        }
    }
}

/// Takes documents out of a pipeline: as many as there is room for, and one that is too much.
fn pull(
    stream: &mut Documents,
    first: Option<Vec<u8>>,
    room: Room,
) -> std::result::Result<(Portion, Option<Vec<u8>>), Error> {
    let mut portion = Portion::default();
    let mut bytes = 0;
    if let Some(first) = first {
        bytes += first.len();
        portion.documents.push(first);
    }
    while portion.documents.len() < room.documents {
        let Some(document) = stream.next() else {
            portion.is_last = true;
            break;
        };
        let mut encoded = Vec::new();
        bson::encode(&document?, &mut encoded).map_err(|error| Error::new(error.code, error.message))?;
        if encoded.len() > crate::limits::DOCUMENT_BYTES_MAX {
            return Err(Error::new(
                codes::BSON_OBJECT_TOO_LARGE,
                format!(
                    "BSONObj size: {} is invalid. Size must be between 0 and 16793600(16MB)",
                    encoded.len()
                ),
            ));
        }
        if !portion.documents.is_empty() && bytes + encoded.len() > BATCH_BYTES_ENOUGH {
            return Ok((portion, Some(encoded)));
        }
        bytes += encoded.len();
        portion.documents.push(encoded);
    }
    Ok((portion, None))
}

fn take_from(documents: &mut VecDeque<Vec<u8>>, room: Room) -> Vec<Vec<u8>> {
    let mut taken = Vec::new();
    let mut bytes = 0;
    while taken.len() < room.documents {
        let Some(next) = documents.front() else { break };
        if !taken.is_empty() && bytes + next.len() > BATCH_BYTES_ENOUGH {
            break;
        }
        bytes += next.len();
        taken.extend(documents.pop_front());
    }
    taken
}

impl Find {
    async fn take(&mut self, room: Room, charges: &Charges) -> Result<Portion> {
        let mut taken = Portion::default();
        let mut bytes = 0;
        if self.limit == Some(0) {
            return Ok(Portion { is_last: true, ..Portion::default() });
        }
        loop {
            let wanted = room.documents - taken.documents.len();
            if wanted == 0 || bytes >= BATCH_BYTES_ENOUGH {
                return Ok(taken);
            }
            let mut data = Data {
                engine: &self.shared.engine,
                caller: &self.caller,
                handle: &self.collection.handle,
                charges,
                transaction: None,
                written: None,
                patience: self.shared.patience(),
            };
            let (query, form, continuation) = match &mut self.state {
                FindState::Begin => {
                    self.state = self.pages();
                    continue;
                }
                FindState::Rest => {
                    taken.is_last = true;
                    return Ok(taken);
                }
                FindState::Pages { query, form, continuation } => {
                    (query.clone(), form.clone(), continuation.take())
                }
            };
            let most = self.limit.map_or(u64::MAX, |limit| limit.saturating_add(self.skip));
            let rows = usize::try_from(most.min((wanted as u64).saturating_add(self.skip)))
                .unwrap_or(usize::MAX)
                .clamp(1, 1_000);
            let page = data.query(self.search.request(&query, &form, Some(rows), continuation)).await?;
            form.check()?;
            for row in page.each_row() {
                if self.skip > 0 {
                    self.skip -= 1;
                    continue;
                }
                if self.limit == Some(0) {
                    break;
                }
                self.limit = self.limit.map(|limit| limit - 1);
                bytes += row.len();
                taken.documents.push(row.to_vec());
            }
            match page.continuation {
                Some(next) if self.limit != Some(0) => {
                    self.state = FindState::Pages { query, form, continuation: Some(next) };
                }
                _ => {
                    self.state = FindState::Rest;
                    taken.is_last = true;
                    return Ok(taken);
                }
            }
        }
    }

    /// Begins to take pages.
    fn pages(&self) -> FindState {
        let shape = Shape::Documents(self.projection.clone());
        // A projection may ask which element matched.
        let filter = match (&self.projection, self.search.residual()) {
            (Some(_), None) => Some(self.search.filter.clone()),
            (_, residual) => residual,
        };
        let form = DocumentRows::new(filter, shape, self.search.environment.clone());
        let query = self.search.query();
        FindState::Pages { query: Arc::new(query), form: Arc::new(form), continuation: None }
    }
}

/// Finds documents in an order: from an index that has it, or by sorting them.
///
/// Nothing is given before all is known: equal documents come in another order from an index than from a sort, so that
/// a walk that cannot go on is begun anew as a sort.
pub(crate) async fn ordered(
    data: &mut Data<'_>,
    collection: &Collection,
    search: &Search,
    sort: &Arc<Sort>,
    projection: Option<&Arc<Projection>>,
    skip: u64,
    limit: Option<u64>,
) -> Result<VecDeque<Vec<u8>>> {
    let most = limit.map(|limit| limit.saturating_add(skip));
    if let Some(walk) = search.walk(collection, sort, most)
        && !search.has_odd(&walk, data).await?
        && let Some(documents) = walked(data, search, walk, projection, skip, most).await?
    {
        return Ok(documents);
    }
    sorted(data, search, sort, projection, skip, limit).await
}

/// Finds documents in the order of an index; nothing where that is not the one that is asked for.
async fn walked(
    data: &mut Data<'_>,
    search: &Search,
    walk: Arc<Walk>,
    projection: Option<&Arc<Projection>>,
    mut skip: u64,
    most: Option<u64>,
) -> Result<Option<VecDeque<Vec<u8>>>> {
    let filter = match (projection, search.residual()) {
        (Some(_), None) => Some(search.filter.clone()),
        (_, residual) => residual,
    };
    let query = Arc::new(search.walked(&walk, most));
    let shape = Shape::Walked(walk, projection.cloned());
    let form = Arc::new(DocumentRows::new(filter, shape, search.environment.clone()));
    let rows = most.map_or(1_000, |most| usize::try_from(most).unwrap_or(usize::MAX).clamp(1, 1_000));
    let mut documents = VecDeque::new();
    let (mut bytes, mut continuation) = (0, None);
    loop {
        let page = data.query(search.request(&query, &form, Some(rows), continuation)).await;
        // Another API may have given the container another policy, which does not have the order.
        let Ok(page) = page else { return Ok(None) };
        form.check()?;
        if form.is_odd() {
            return Ok(None);
        }
        for row in page.each_row() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            bytes += row.len();
            documents.push_back(row.to_vec());
        }
        if bytes > SORT_BYTES_MAX {
            return Err(too_much());
        }
        match page.continuation {
            Some(next) => continuation = Some(next),
            None => return Ok(Some(documents)),
        }
    }
}

/// Finds documents in an order: all that match, or as many as are asked for.
async fn sorted(
    data: &mut Data<'_>,
    search: &Search,
    sort: &Arc<Sort>,
    projection: Option<&Arc<Projection>>,
    skip: u64,
    limit: Option<u64>,
) -> Result<VecDeque<Vec<u8>>> {
    let filter = match (projection, search.residual()) {
        (Some(_), None) => Some(search.filter.clone()),
        (_, residual) => residual,
    };
    let shape = Shape::Sorted(sort.clone(), projection.cloned());
    let form = Arc::new(DocumentRows::new(filter, shape, search.environment.clone()));
    let query = Arc::new(search.query());
    let most = limit.map(|limit| usize::try_from(limit.saturating_add(skip)).unwrap_or(usize::MAX));
    let mut gathered = Gathered { sort, documents: Vec::new(), bytes: 0, most };
    let mut continuation = None;
    loop {
        let page = data.query(search.request(&query, &form, Some(1_000), continuation)).await?;
        form.check()?;
        for row in page.each_row() {
            let (key, document) = read_sorted(row)?;
            gathered.add(SortKey(key), document)?;
        }
        match page.continuation {
            Some(next) => continuation = Some(next),
            None => break,
        }
    }
    Ok(gathered.finish(skip))
}

fn too_much() -> Failure {
    Failure::new(
        codes::QUERY_EXCEEDED_MEMORY_LIMIT,
        format!(
            "Executor error during find command: Sort exceeded memory limit of {SORT_BYTES_MAX} bytes, and documents are \
             not sorted on disk here: add a limit, or a filter"
        ),
    )
}

/// Documents with their keys, as many as are needed.
struct Gathered<'s> {
    sort: &'s Sort,
    documents: Vec<(SortKey, Vec<u8>)>,
    bytes: usize,
    most: Option<usize>,
}

impl Gathered<'_> {
    fn add(&mut self, key: SortKey, document: Vec<u8>) -> Result<()> {
        self.bytes += document.len() + 64 * key.0.len();
        self.documents.push((key, document));
        // Sorting now and then keeps what can still be among the first.
        if let Some(most) = self.most
            && self.documents.len() >= most.saturating_mul(2).max(1_024)
        {
            self.cut(most);
        }
        if self.bytes > SORT_BYTES_MAX {
            return Err(too_much());
        }
        Ok(())
    }

    fn cut(&mut self, most: usize) {
        self.documents.sort_by(|a, b| self.sort.compare(&a.0, &b.0));
        self.documents.truncate(most);
        self.bytes = self.documents.iter().map(|(key, document)| document.len() + 64 * key.0.len()).sum();
    }

    fn finish(mut self, skip: u64) -> VecDeque<Vec<u8>> {
        self.cut(self.most.unwrap_or(usize::MAX));
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        self.documents.into_iter().skip(skip).map(|(_, document)| document).collect()
    }
}

/// Documents of a page for a pipeline: whole ones, and parts of them.
const SCANNED_ITEMS: usize = 1_000;
const SCANNED_PARTS: usize = 5_000;

/// Documents of a search, one after the other, for a pipeline. It blocks its thread while it waits for a page.
pub(crate) struct Scan {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Caller,
    pub(crate) collection: Collection,
    pub(crate) search: Search,
    pub(crate) charges: Charges,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) query: Arc<BoundQuery>,
    pub(crate) form: Arc<DocumentRows>,
    pub(crate) continuation: Option<String>,
    pub(crate) buffer: VecDeque<Object>,
    pub(crate) is_done: bool,
    /// Whether rows are members that are needed, and not whole items.
    is_parts: bool,
}

impl Scan {
    pub(crate) fn new(
        shared: Arc<Shared>,
        caller: Caller,
        collection: Collection,
        search: Search,
        charges: Charges,
        runtime: tokio::runtime::Handle,
        needed: Option<Vec<String>>,
    ) -> Scan {
        let is_parts = needed.is_some();
        let shape = needed
            .map_or(Shape::Items, |needed| Shape::Parts(needed.into_iter().map(PartName::new).collect()));
        let form = DocumentRows::new(search.residual(), shape, search.environment.clone());
        Scan {
            query: Arc::new(search.query()),
            form: Arc::new(form),
            shared,
            caller,
            collection,
            search,
            charges,
            runtime,
            continuation: None,
            buffer: VecDeque::new(),
            is_done: false,
            is_parts,
        }
    }

    fn fill(&mut self) -> Result<()> {
        let mut data = Data {
            engine: &self.shared.engine,
            caller: &self.caller,
            handle: &self.collection.handle,
            charges: &self.charges,
            transaction: None,
            written: None,
            patience: self.shared.patience(),
        };
        if self.search.points().is_some() {
            self.is_done = true;
            let found = self.runtime.block_on(self.search.read_points(&mut data))?;
            self.buffer.extend(found.into_iter().map(|(_, document, _)| document));
            return Ok(());
        }
        let rows = if self.is_parts { SCANNED_PARTS } else { SCANNED_ITEMS };
        let request = self.search.request(&self.query, &self.form, Some(rows), self.continuation.take());
        let page = self.runtime.block_on(data.query(request))?;
        self.form.check()?;
        if self.is_parts {
            self.buffer.extend(self.form.take_parts(page.each_row()));
        } else {
            let items = page.each_row().filter_map(|row| Item::from_raw(Bytes::copy_from_slice(row)));
            self.buffer.extend(items.map(|item| documents::of_item(&item)));
        }
        self.continuation = page.continuation;
        self.is_done = self.continuation.is_none();
        Ok(())
    }
}

impl Iterator for Scan {
    type Item = std::result::Result<Object, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(document) = self.buffer.pop_front() {
                return Some(Ok(document));
            }
            if self.is_done {
                return None;
            }
            if let Err(failure) = self.fill() {
                self.is_done = true;
                return Some(Err(Error::new(failure.code, failure.message)));
            }
        }
    }
}
