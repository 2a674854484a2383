//! `/dbs/{database}/colls/{container}/docs` and one item.
//!
//! Items pass through as bytes: the body goes to the engine as it came, and comes back with the system
//! properties spliced in.
//!
//! Invariant: every reply names the container by name and by resource id, failures included, because
//! clients keep their session tokens by those headers.

pub(crate) mod patch_body;

use std::borrow::Cow;
use std::sync::Arc;

use armilla_engine::{
    Caller, ChangeKind, ContainerHandle, ETag, Error, ErrorKind, ItemBody, ItemName, ItemPage, ItemWritten,
    Located, PageRequest, Precondition, ReadItem, ResourceKind, WriteMode,
};
use armilla_value::PartitionKey;
use armilla_value::rid::ItemRid;
use http::{Method, StatusCode};

use crate::batches;
use crate::changes;
use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::feed_text::{begin_feed, end_feed, page_headers};
use crate::request::Request;
use crate::request::headers::{PostKind, Tag};
use crate::request::scope::{list_scope, operation_key};

use patch_body::PatchBody;

/// Serves the items of a container.
pub(crate) async fn feed(request: &Request<'_>, located: &Located) -> Result<Reply, Failure> {
    match *request.method {
        Method::GET => match request.headers.feed_mode()? {
            Some(mode) => Box::pin(changes::read(request, &located.container, mode)).await,
            None => list(request, &located.container),
        },
        Method::POST => match request.headers.post_kind()? {
            PostKind::QueryPlan => queries::plan(request, &located.container),
            PostKind::Query => Box::pin(queries::items(request, &located.container)).await,
            PostKind::Batch => Box::pin(batches::execute(request, &located.container)).await,
            PostKind::Upsert => create(request, &located.container, WriteMode::Upsert).await,
            PostKind::Create => create(request, &located.container, WriteMode::Create).await,
        },
        _ => Err(request.verb_not_allowed("GET, POST")),
    }
}

/// Reads one item.
pub(crate) fn read(request: &Request<'_>, located: &Located, item: &str) -> Result<Reply, Failure> {
    let container = &located.container;
    let caller = request.item_caller()?;
    let name = item_name(located, item)?;
    let partition_key = operation_key(request, container)?;
    read_named(request, &caller, container, name, partition_key.as_ref())
}

/// Changes one item.
pub(crate) async fn change(request: &Request<'_>, located: &Located, item: &str) -> Result<Reply, Failure> {
    let container = &located.container;
    let caller = request.item_caller()?;
    let name = item_name(located, item)?;
    let partition_key = operation_key(request, container)?;
    let partition_key = partition_key.as_ref();
    match *request.method {
        Method::PUT => {
            let triggers = request.headers.triggers()?;
            let (body, precondition) = (item_body(request)?, precondition(request)?);
            let written = request
                .engine
                .replace_item(&caller, container, name, partition_key, body, precondition, &triggers)
                .await?;
            written_reply(request, container, &written)
        }
        Method::PATCH => {
            request.headers.refuse_triggers("a patch")?;
            let (body, precondition) = (patch_body::parse(&request.body)?, precondition(request)?);
            let PatchBody { patch, condition } = body;
            let condition = condition.as_deref();
            let written = request
                .engine
                .patch_item(&caller, container, name, partition_key, patch, condition, precondition)
                .await?;
            written_reply(request, container, &written.into())
        }
        Method::DELETE => {
            let (triggers, precondition) = (request.headers.triggers()?, precondition(request)?);
            let written = request
                .engine
                .delete_item(&caller, container, name, partition_key, precondition, &triggers)
                .await?;
            let mut reply = Reply::empty(StatusCode::NO_CONTENT, written.charge);
            reply.position(written.position);
            Ok(reply)
        }
        _ => Err(request.verb_not_allowed("GET, PUT, PATCH, DELETE")),
    }
}

fn read_named(
    request: &Request<'_>,
    caller: &Caller,
    container: &ContainerHandle,
    name: ItemName<'_>,
    partition_key: Option<&PartitionKey>,
) -> Result<Reply, Failure> {
    let condition = request.headers.if_none_match()?;
    let known = match condition {
        Some(Tag::Exactly(tag)) => ETag::parse(tag),
        Some(Tag::Any) | None => None,
    };
    match request.engine.read_item(caller, container, name, partition_key, known) {
        Ok(ReadItem { item, charge, position }) => {
            let identity = container.identity();
            let mut reply = if condition == Some(Tag::Any) {
                Reply::empty(StatusCode::NOT_MODIFIED, charge)
            } else {
                let mut text = Vec::with_capacity(item.json_bytes(identity));
                item.write_json(identity, &mut text);
                Reply::json(StatusCode::OK, text, charge)
            };
            reply.etag(item.etag(identity));
            reply.item_lsn(item.header().lsn);
            reply.position(position);
            Ok(reply)
        }
        Err(Error { kind: ErrorKind::NotModified, charge, position, .. }) => {
            let mut reply = Reply::empty(StatusCode::NOT_MODIFIED, charge);
            if let Some(etag) = known {
                reply.etag(etag);
            }
            if let Some(position) = position {
                reply.position(position);
            }
            Ok(reply)
        }
        Err(error) => Err(error.into()),
    }
}

async fn create(
    request: &Request<'_>,
    container: &Arc<ContainerHandle>,
    mode: WriteMode,
) -> Result<Reply, Failure> {
    let triggers = request.headers.triggers()?;
    let caller = request.item_caller()?;
    let partition_key = operation_key(request, container)?;
    let precondition = match mode {
        // What does not exist yet has no version to match.
        WriteMode::Create => missing_only(request)?,
        WriteMode::Upsert | WriteMode::Replace | WriteMode::Update => match precondition(request)? {
            Precondition::None => missing_only(request)?,
            precondition => precondition,
        },
    };
    let body = item_body(request)?;
    let written = request
        .engine
        .write_item(&caller, container, mode, partition_key.as_ref(), body, precondition, &triggers)
        .await?;
    written_reply(request, container, &written)
}

fn written_reply(
    request: &Request<'_>,
    container: &ContainerHandle,
    written: &ItemWritten,
) -> Result<Reply, Failure> {
    let status = match written.kind {
        ChangeKind::Create => StatusCode::CREATED,
        ChangeKind::Replace | ChangeKind::Update | ChangeKind::Delete | ChangeKind::Expire => StatusCode::OK,
    };
    let identity = container.identity();
    let mut reply = if request.headers.prefers_minimal()? {
        Reply::empty(status, written.charge)
    } else if let Some(text) = &written.response_body {
        Reply::json(status, text.clone(), written.charge)
    } else {
        let mut text = Vec::with_capacity(written.item.json_bytes(container.identity()));
        written.item.write_json(identity, &mut text);
        Reply::json(status, text, written.charge)
    };
    reply.etag(written.item.etag(identity));
    reply.item_lsn(written.position.lsn);
    reply.position(written.position);
    Ok(reply)
}

fn list(request: &Request<'_>, container: &ContainerHandle) -> Result<Reply, Failure> {
    let caller = request.item_caller()?;
    let (items_max, continuation) = request.page()?;
    let continuation = continuation.map(str::to_owned);
    let page = PageRequest { scope: list_scope(request)?, items_max, continuation };
    let page: ItemPage = request.engine.list_items(&caller, container, page)?;

    let identity = container.identity();
    let bytes: usize = page.items.iter().map(|item| item.json_bytes(identity) + 1).sum();
    let mut text = Vec::with_capacity(bytes + 64);
    begin_feed(&mut text, &container.rid().to_string(), "Documents");
    for (index, item) in page.items.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        item.write_json(identity, &mut text);
    }
    end_feed(&mut text, page.items.len());

    let mut reply = Reply::json(StatusCode::OK, text, page.charge);
    page_headers(&mut reply, page.items.len(), page.continuation.as_deref());
    reply.positions(&page.positions);
    Ok(reply)
}

fn item_name<'i>(located: &Located, item: &'i str) -> Result<ItemName<'i>, Failure> {
    if !located.by_rid {
        return Ok(ItemName::Id(item));
    }
    match ItemRid::parse(item) {
        Some(rid) if rid.container() == located.container.rid() => Ok(ItemName::Rid(rid)),
        Some(_) => Err(Error::new(
            ErrorKind::NotFound(ResourceKind::Item),
            format!("entity with the specified id does not exist in the system: item '{item}'"),
        )
        .into()),
        None => Err(Failure::bad_request(format!("Failed to parse the value '{item}' as ResourceId"))),
    }
}

/// Returns the condition of a write on what is there.
fn precondition(request: &Request<'_>) -> Result<Precondition, Failure> {
    Ok(match request.headers.if_match()? {
        Some(Tag::Any) => Precondition::Exists,
        Some(Tag::Exactly(tag)) => Precondition::Version(ETag::parse(tag)),
        None => Precondition::None,
    })
}

/// Returns the condition that nothing is there yet.
fn missing_only(request: &Request<'_>) -> Result<Precondition, Failure> {
    Ok(match request.headers.if_none_match()? {
        Some(Tag::Any) => Precondition::Missing,
        Some(Tag::Exactly(_)) | None => Precondition::None,
    })
}

/// Returns the item in the body as JSON text.
fn item_body(request: &Request<'_>) -> Result<ItemBody, Failure> {
    request.headers.indexing_directive()?;
    Ok(match request.body_text()? {
        Cow::Borrowed(_) => ItemBody::Json(request.body.clone()),
        Cow::Owned(text) => ItemBody::Json(text.into()),
    })
}
