//! `/dbs/{database}/colls` and one container.

use armilla_engine::{ContainerDefinition, Error, IndexingMode, LIST_MAX, ResourceKind};
use armilla_rest_wire::names;
use http::{HeaderValue, Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::resource_text::{feed_reply, reply, reply_with};
use crate::request::Request;
use crate::resources::offer_headers;
use crate::resources::usage::PartitionUsages;

/// There is no lazy indexing, though a container may have been made for it: each write brings its own index entries along.
const LAZY_INDEXING_DONE: HeaderValue = HeaderValue::from_static("100");

/// Serves the containers of a database.
pub(crate) async fn feed(request: &Request<'_>, database: &str) -> Result<Reply, Failure> {
    let names = format!("dbs/{database}");
    match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer =
                request.engine.list_containers(&request.caller, database, count_max, continuation)?;
            let mut reply = feed_reply(ResourceKind::Container, &answer);
            reply.content_path(names, &answer.value.parent_rid);
            Ok(reply)
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                request.engine.list_containers(&request.caller, database, Some(LIST_MAX), continuation)
            };
            let (mut reply, rid) = queries::resources(request, ResourceKind::Container, list).await?;
            reply.content_path(names, rid);
            Ok(reply)
        }
        Method::POST => {
            let definition = definition(request)?;
            let throughput = offer_headers::throughput(request.headers)?;
            let answer =
                request.engine.create_container(&request.caller, database, definition, throughput).await?;
            let mut reply = reply(StatusCode::CREATED, &answer);
            reply.content_path(names, &answer.value.parent_rid);
            Ok(reply)
        }
        _ => Err(request.verb_not_allowed("GET, POST")),
    }
}

/// Serves one container.
pub(crate) async fn single(request: &Request<'_>, database: &str, container: &str) -> Result<Reply, Failure> {
    let answer = match *request.method {
        Method::GET => {
            let known = request.known_version()?;
            request.engine.read_container(&request.caller, database, container, known)?
        }
        Method::PUT => {
            let (definition, precondition) = (definition(request)?, request.expected_version()?);
            request
                .engine
                .replace_container(&request.caller, database, container, definition, precondition)
                .await?
        }
        Method::DELETE => {
            let precondition = request.expected_version()?;
            let answer =
                request.engine.delete_container(&request.caller, database, container, precondition).await?;
            return Ok(Reply::empty(StatusCode::NO_CONTENT, answer.charge));
        }
        _ => return Err(request.verb_not_allowed("GET, PUT, DELETE")),
    };
    let found = request.engine.container(database, container)?.container;
    // A caller who may see a part of a container is told nothing of the rest, not even how much it is.
    let is_told = !request.caller.access.is_of_part();
    let wants_quota = request.headers.flag(&names::POPULATE_QUOTA_INFO)? && is_told;
    let wants_statistics = *request.method == Method::GET
        && request.headers.flag(&names::POPULATE_PARTITION_STATISTICS)?
        && is_told;
    let usages = match wants_quota || wants_statistics {
        true => Some(PartitionUsages::of(&found, &request.caller)?),
        false => None,
    };
    let mut reply = match &usages {
        Some(usages) if wants_statistics => reply_with(&answer, |text| usages.push_statistics(text)),
        _ => reply(StatusCode::OK, &answer),
    };
    reply.content_path(format!("dbs/{database}"), &answer.value.parent_rid);
    let progress = request.engine.index_progress(&found)?;
    reply.set(&names::INDEX_TRANSFORMATION_PROGRESS, u16::from(progress));
    if found.definition().indexing.mode == IndexingMode::Lazy {
        reply.set(&names::LAZY_INDEXING_PROGRESS, LAZY_INDEXING_DONE);
    }
    if let Some(usages) = usages.filter(|_| wants_quota) {
        usages.tell(&mut reply, &found);
    }
    Ok(reply)
}

fn definition(request: &Request<'_>) -> Result<ContainerDefinition, Failure> {
    Ok(ContainerDefinition::from_value(&request.json_body()?).map_err(Error::from)?)
}
