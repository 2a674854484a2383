//! Queries of entities: a filter, a selection, a page.
//!
//! The index narrows, the filter decides: a filter gives a condition that every match meets, by which the engine finds
//! items, and is then asked about those itself where the condition is not the same.
//!
//! Entities of one partition come in the order of their row keys. Those of several come as the engine finds them, but
//! for storage accounts: there they are in the order of both keys where only keys are asked for, or where the page is
//! all there is.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::plans::{BoundQuery, OrderKey};
use armilla_engine::{
    Error, IdRange, Item, ItemName, ListScope, PageRequest, Query, QueryRequest, RequestUnits,
};
use armilla_value::json;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderValue, StatusCode};

use crate::auth::Operation;
use crate::entity::{EntityContext, EntityView, MetadataLevel, row_id, write_entity};
use crate::failure::{Failure, Kind};
use crate::filter::{Filter, Lowered, property};
use crate::headers::names;
use crate::item_rows::{self, ItemRows};
use crate::limits::{PAGE_BYTES_ENOUGH, PAGE_SECONDS_MAX};
use crate::options::Flavour;
use crate::request::{Request, Table, is_missing_item, logical_partition};
use crate::response::Reply;
use crate::tables;

/// Returns a page of entities.
pub(crate) async fn query(request: &Request<'_>, table: &str) -> Result<Reply, Failure> {
    request.parameters.refuse_unknown()?;
    request.allow(Operation::QueryEntities, Some(table), None)?;
    let level = request.metadata_level()?;
    let page_size = request.parameters.page_size(request.flavour())?;
    let filter = filter(request)?;
    let table = request.table(table)?;
    let lowered = filter.as_ref().map_or_else(everything, Filter::lower);
    let plan = Plan::choose(request, &table, filter.as_ref(), &lowered);
    let mut page = Page::begin(request, &table, level, page_size);
    page.is_sortable = matches!(plan, Plan::Pages(Source::Query { is_ordered: false, .. }))
        && request.flavour() == Flavour::Storage
        && request.parameters.next_partition_key.is_none();
    match plan {
        Plan::Point { partition_key, row_key } => page.point(partition_key, row_key, filter.as_ref())?,
        Plan::Pages(source) => {
            let filter = filter.as_ref().filter(|_| !lowered.is_exact);
            page.fill(&source, filter).await?;
        }
    }
    Ok(page.finish())
}

/// What no filter at all lowers to.
fn everything() -> Lowered {
    Lowered { is_exact: true, ..Lowered::default() }
}

/// Reads the filter, together with what a signature leaves to see.
fn filter(request: &Request<'_>) -> Result<Option<Filter>, Failure> {
    let parse = |text: &str| Filter::parse(text).map_err(|error| Kind::Filter(error, text.to_owned()));
    let asked = request.parameters.filter.as_deref();
    let own = match asked {
        Some(text) => parse(text)?,
        None => None,
    };
    Ok(match (request.permit.range_filter(), asked, &own) {
        (None, ..) => own,
        (Some(range), Some(text), Some(_)) => parse(&format!("({range}) and ({text})"))?,
        (Some(range), ..) => parse(&range)?,
    })
}

/// How entities are found.
enum Plan<'f> {
    /// The only one that can match is read.
    Point { partition_key: &'f str, row_key: &'f str },
    /// Page by page.
    Pages(Source<'f>),
}

/// Where pages come from.
enum Source<'f> {
    /// One partition, as its entities lie: in the order of their row keys.
    Partition(&'f str),
    /// The engine's query.
    Query { plan: Arc<BoundQuery>, scope: ListScope, is_ordered: bool },
}

impl<'f> Plan<'f> {
    fn choose(
        request: &Request<'_>,
        table: &Table,
        filter: Option<&Filter>,
        lowered: &'f Lowered,
    ) -> Plan<'f> {
        let sorts_by_keys = || {
            request.flavour() == Flavour::Storage
                && filter.is_none_or(Filter::is_of_keys)
                && tables::has_key_order(table)
        };
        let (scope, order) = match (&lowered.partition_key, &lowered.row_key, &lowered.condition) {
            (Some(partition_key), Some(row_key), _) => return Plan::Point { partition_key, row_key },
            (Some(partition_key), None, None) => return Plan::Pages(Source::Partition(partition_key)),
            (Some(partition_key), None, Some(_)) => {
                (ListScope::PartitionKey(logical_partition(partition_key)), &["RowKey"][..])
            }
            (None, ..) if sorts_by_keys() => (ListScope::All, &["PartitionKey", "RowKey"][..]),
            (None, ..) => (ListScope::All, &[][..]),
        };
        let filter = lowered.condition.clone();
        let plan = BoundQuery { filter, order: order.iter().map(ascending).collect(), ..BoundQuery::items() };
        Plan::Pages(Source::Query { plan: Arc::new(plan), scope, is_ordered: !order.is_empty() })
    }
}

/// Orders by a property, from the lowest.
fn ascending(name: &&str) -> OrderKey {
    OrderKey { expr: property(&[name]), descending: false }
}

/// A page on its way.
struct Page<'p> {
    request: &'p Request<'p>,
    table: &'p Table,
    level: MetadataLevel,
    size: usize,
    text: Vec<u8>,
    count: usize,
    charge: RequestUnits,
    continuation: Option<String>,
    /// Whether entities are to be sorted if these are all.
    is_sortable: bool,
    /// Where each entity stands, with its keys, where they may be sorted.
    places: Vec<(String, String, Range<usize>)>,
}

impl<'p> Page<'p> {
    fn begin(request: &'p Request<'p>, table: &'p Table, level: MetadataLevel, size: usize) -> Page<'p> {
        Page {
            request,
            table,
            level,
            size,
            text: BEGINNING.to_vec(),
            count: 0,
            charge: RequestUnits::ZERO,
            continuation: None,
            is_sortable: false,
            places: Vec::new(),
        }
    }

    /// Adds an entity if it is one and the filter lets it through.
    fn add(&mut self, view: Option<EntityView<'_>>, filter: Option<&Filter>) {
        let Some(view) = view else { return };
        if filter.is_some_and(|filter| !filter.matches(&view)) {
            return;
        }
        if self.count > 0 {
            self.text.push(b',');
        }
        self.count += 1;
        let context = EntityContext {
            level: self.level,
            account: self.request.account,
            table: &self.table.name,
            base_url: self.request.base_url,
            select: self.request.parameters.select.as_deref(),
            is_single: false,
            flavour: self.request.flavour(),
        };
        let start = self.text.len();
        write_entity(&mut self.text, &view, &context);
        if self.is_sortable {
            let keys = (view.partition_key().into_owned(), view.row_key().into_owned());
            self.places.push((keys.0, keys.1, start..self.text.len()));
        }
    }

    fn add_item(&mut self, item: &Item, filter: Option<&Filter>) {
        let stored = item.stored();
        self.add(EntityView::of(stored.text_bytes(), item.moment()), filter);
    }

    /// Looks at the only entity that can match.
    fn point(&mut self, partition_key: &str, row_key: &str, filter: Option<&Filter>) -> Result<(), Failure> {
        let (key, id) = (logical_partition(partition_key), row_id(row_key));
        let (caller, container) = (self.request.caller(), &self.table.container);
        match self.request.engine().read_item(&caller, container, ItemName::Id(&id), Some(&key), None) {
            Ok(found) => {
                self.charge += found.charge;
                self.add_item(&found.item, filter);
                Ok(())
            }
            Err(error) if is_missing_item(&error) => {
                self.charge += error.charge;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Fills the page with pages of the engine.
    async fn fill(&mut self, source: &Source<'_>, filter: Option<&Filter>) -> Result<(), Failure> {
        let clock = &self.request.shared.env.clock;
        let deadline = clock.elapsed() + Duration::from_secs(PAGE_SECONDS_MAX);
        let mut continuation = match &self.request.parameters.next_partition_key {
            Some(token) => Some(decode_token(token)?),
            None => None,
        };
        loop {
            match self.step(source, filter, continuation.take()).await {
                Ok(next) => self.continuation = next,
                Err(error) => {
                    let failure = Failure::from(error).and_charge(self.charge);
                    // What is there is given; the rest is asked for again.
                    if self.count > 0 && failure.retry_after_ms().is_some() {
                        break;
                    }
                    return Err(failure);
                }
            }
            let is_full = self.count >= self.size || self.text.len() >= PAGE_BYTES_ENOUGH;
            if is_full || self.continuation.is_none() || clock.elapsed() >= deadline {
                break;
            }
            continuation = self.continuation.clone();
        }
        Ok(())
    }

    /// Adds a page of the engine, and returns where the next one begins.
    async fn step(
        &mut self,
        source: &Source<'_>,
        filter: Option<&Filter>,
        continuation: Option<String>,
    ) -> Result<Option<String>, Error> {
        let (engine, caller, container) =
            (self.request.engine(), self.request.caller(), &self.table.container);
        let room = self.size - self.count;
        match source {
            Source::Partition(partition_key) => {
                let scope = ListScope::PartitionKey(logical_partition(partition_key));
                let list = PageRequest { scope, items_max: Some(room), continuation };
                let found = engine.list_items_by_id(&caller, container, list, &IdRange::ALL)?;
                self.charge += found.charge;
                for item in &found.items {
                    self.add_item(item, filter);
                }
                Ok(found.continuation)
            }
            Source::Query { plan, scope, .. } => {
                let query = QueryRequest {
                    scope: scope.clone(),
                    rows_max: Some(room),
                    form: Some(Arc::new(ItemRows)),
                    continuation,
                    ..QueryRequest::of(Query::Plan(plan.clone()))
                };
                let found = engine.query_items(&caller, container, query).await?;
                self.charge += found.charge;
                for row in found.each_row() {
                    self.add(
                        item_rows::read(row).and_then(|(text, moment)| EntityView::of(text, moment)),
                        filter,
                    );
                }
                Ok(found.continuation)
            }
        }
    }

    /// Puts the entities in the order of both keys.
    fn sort(&mut self) {
        let mut places = std::mem::take(&mut self.places);
        places.sort_unstable_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        let mut sorted = Vec::with_capacity(self.text.len());
        sorted.extend_from_slice(BEGINNING);
        for (position, (_, _, place)) in places.into_iter().enumerate() {
            if position > 0 {
                sorted.push(b',');
            }
            sorted.extend_from_slice(&self.text[place]);
        }
        self.text = sorted;
    }

    fn finish(mut self) -> Reply {
        if self.is_sortable && self.continuation.is_none() && self.count > 1 {
            self.sort();
        }
        let mut text = self.text;
        text.push(b']');
        if self.level != MetadataLevel::None {
            text.extend_from_slice(b",\"odata.metadata\":");
            let metadata = format!("{}$metadata#{}", self.request.base_url, self.table.name);
            json::write_string(&metadata, &mut text);
        }
        text.push(b'}');
        let flavour = self.request.flavour();
        let mut reply = Reply::json(StatusCode::OK, text, self.level, flavour, self.charge);
        if let Some(token) = self.continuation {
            reply.set_text(&names::NEXT_PARTITION_KEY, &URL_SAFE_NO_PAD.encode(token));
            reply.set(&names::NEXT_ROW_KEY, HeaderValue::from_static("NA"));
        }
        reply
    }
}

/// How the text of a page begins.
const BEGINNING: &[u8] = b"{\"value\":[";

fn decode_token(token: &str) -> Result<String, Failure> {
    let text = URL_SAFE_NO_PAD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| Kind::InvalidInput("The continuation was not given by this server.".into()).into())
}
