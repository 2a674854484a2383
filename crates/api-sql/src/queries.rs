//! Queries of items and of every other feed, and the plans that clients ask for.
//!
//! One request is one page. Where it may look follows from headers, as for reading a feed; what it looks for stands in
//! the body.
//!
//! ```text
//! body                                what stands in the body of a request
//! metrics, index_utilization          headers that tell of a query's work
//! explain_text, plan_text             how a query is answered: for people, and for clients that merge by themselves
//! errors, needs_plan                  what is wrong with a query, and why a client has to merge by itself
//! ```
//!
//! Not here: what a query means and how it is run (the engine).

mod body;
pub(crate) mod errors;
mod explain_text;
mod index_utilization;
mod metrics;
pub(crate) mod needs_plan;
mod plan_text;

use std::sync::Arc;

use armilla_engine::gateway::Features;
use armilla_engine::{
    Answer, ContainerHandle, Error, ErrorKind, Feed, ListScope, QueryPage, QueryRequest, RequestUnits,
    ResourceKind,
};
use armilla_rest_wire::names;
use armilla_value::Value;
use http::{HeaderValue, StatusCode};

use crate::options::CrossPartitionQueries;
use crate::reply::Reply;
use crate::reply::failure::{Failure, Origin};
use crate::reply::feed_text::{begin_feed, end_feed, page_headers};
use crate::reply::resource_text::{document, feed_name};
use crate::request::Request;
use crate::request::headers::{Explain, IndexMetricsForm};
use crate::request::scope::list_scope;

use body::QueryBody;

/// Returns a page of a query of items.
pub(crate) async fn items(request: &Request<'_>, container: &Arc<ContainerHandle>) -> Result<Reply, Failure> {
    let caller = request.item_caller()?;
    let mut query = QueryRequest { scope: list_scope(request)?, ..query_request(request)? };
    if !query.cross_partition && matches!(query.scope, ListScope::All) {
        // Where there is no key, there are no partitions to cross.
        query.cross_partition = container.is_fixed();
    }
    let is_of_key = matches!(query.scope, ListScope::PartitionKey(_));
    let wants_metrics = request.headers.flag(&names::POPULATE_QUERY_METRICS)?;
    let index_metrics = request.headers.index_metrics()?;
    let explanation = match request.headers.explain()? {
        None => None,
        Some(explain) => {
            let explanation = request.engine.explain(&caller, container, query.clone()).await?;
            if explain == Explain::Plan {
                return Ok(Reply::json(StatusCode::OK, explain_text::plan(&explanation), RequestUnits::ZERO));
            }
            Some(explanation)
        }
    };
    let page = request.engine.query_items(&caller, container, query).await?;

    let explained = explanation.map(|explanation| explain_text::run(&explanation, &page));
    let mut reply = page_reply(&page, "Documents", &container.rid().to_string(), explained.as_deref());
    reply.positions(&page.positions);
    if page.is_ordered {
        reply.set(&names::QUERY_EXECUTION_INFO, execution_info(&page));
    }
    if wants_metrics {
        reply.set_text(&names::QUERY_METRICS, metrics::execution(&page.metrics));
    }
    if let Some(form) = index_metrics {
        let of_key = match is_of_key {
            true => index_utilization::of_partition_key(&container.definition()),
            false => Vec::new(),
        };
        // Nothing is told of a page that looked at no item.
        let has_items = page.metrics.retrieved_count > 0 || page.row_count() > 0;
        let json = has_items.then(|| match form {
            IndexMetricsForm::First => index_utilization::first(&page.plans, &of_key),
            IndexMetricsForm::Second => index_utilization::second(&page.plans, &of_key),
        });
        let text = json.as_deref().and_then(|json| metrics::index_utilization(form, json));
        if let Some(text) = text {
            reply.set_text(&names::INDEX_UTILIZATION, text);
        }
    }
    Ok(reply)
}

/// Returns what a client needs to run a query on every partition by itself.
pub(crate) fn plan(request: &Request<'_>, container: &ContainerHandle) -> Result<Reply, Failure> {
    let features = request.headers.supported_query_features()?;
    let QueryBody { text, parameters, .. } = body::parse(&request.body)?;
    let features = Features::parse(features);
    let plan = request.engine.query_plan(&request.caller, container, &text, &parameters, features);
    let plan = plan.map_err(|error| match error.kind {
        ErrorKind::BadQuery | ErrorKind::Invalid => no_plan(error.into()),
        _ => error.into(),
    })?;
    Ok(Reply::json(StatusCode::OK, plan_text::to_json(&plan), RequestUnits::ZERO))
}

/// Returns a page of a query of resources, and the resource id of what they lie in. `list` returns a page of them all.
pub(crate) async fn resources(
    request: &Request<'_>,
    kind: ResourceKind,
    list: impl Fn(Option<&str>) -> Result<Answer<Feed>, Error>,
) -> Result<(Reply, String), Failure> {
    let mut feed = list(None)?.value;
    let mut resources: Vec<Value> = feed.resources.iter().map(document).collect();
    while let Some(continuation) = feed.continuation {
        feed = list(Some(&continuation))?.value;
        resources.extend(feed.resources.iter().map(document));
    }
    let reply = documents(request, feed_name(kind), &feed.parent_rid, resources).await?;
    Ok((reply, feed.parent_rid))
}

/// Returns a page of a query of documents that are no items.
pub(crate) async fn documents(
    request: &Request<'_>,
    feed_name: &str,
    parent_rid: &str,
    documents: Vec<Value>,
) -> Result<Reply, Failure> {
    let query = query_request(request)?;
    let page = request.engine.query_documents(documents, query).await?;
    Ok(page_reply(&page, feed_name, parent_rid, None))
}

/// Returns the query in the body, of all partitions, for the page that the headers ask for.
fn query_request(request: &Request<'_>) -> Result<QueryRequest, Failure> {
    let headers = request.headers;
    let QueryBody { text, parameters, resume_filter } = body::parse(&request.body)?;
    Ok(QueryRequest {
        cross_partition: headers.flag(&names::ENABLE_CROSS_PARTITION_QUERY)?,
        merge: match request.cross_partition_queries {
            CrossPartitionQueries::Merge => true,
            CrossPartitionQueries::Plan => false,
        },
        rows_max: headers.page_rows_max()?,
        continuation: headers.continuation()?.map(str::to_owned),
        resume_filter,
        ..QueryRequest::with_parameters(text, parameters)
    })
}

fn page_reply(page: &QueryPage, feed_name: &str, parent_rid: &str, explained: Option<&[u8]>) -> Reply {
    let mut text = Vec::with_capacity(page.rows.len() + 128);
    begin_feed(&mut text, parent_rid, feed_name);
    text.extend_from_slice(&page.rows);
    end_feed(&mut text, page.row_count());
    if let Some(explained) = explained {
        // One more member of the object that has just ended.
        text.pop();
        text.extend_from_slice(b",\"explain\":");
        text.extend_from_slice(explained);
        text.push(b'}');
    }
    let mut reply = Reply::json(StatusCode::OK, text, page.charge);
    page_headers(&mut reply, page.row_count(), page.continuation.as_deref());
    reply
}

/// Says in which order of resource ids rows come whose keys are equal. Without it clients take it from the first
/// direction of the order.
fn execution_info(page: &QueryPage) -> HeaderValue {
    HeaderValue::from_static(if page.reverse_scan {
        r#"{"reverseRidEnabled":false,"reverseIndexScan":true}"#
    } else {
        r#"{"reverseRidEnabled":false,"reverseIndexScan":false}"#
    })
}

/// Returns the refusal of a plan in the words of the service, whose gateway asks another program for it.
fn no_plan(failure: Failure) -> Failure {
    let message = format!("Gateway Failed to Retrieve Query Plan: {}", failure.shaped_message());
    Failure { message: message.into(), origin: Origin::Gateway, ..failure }
}
