//! `/offers` and one offer: the throughput of a database or container.

use armilla_engine::{LIST_MAX, ResourceKind};
use http::{HeaderValue, Method, StatusCode};

use crate::failure::Failure;
use crate::headers::names;
use crate::queries;
use crate::request::Request;
use crate::resource_text::{feed_reply, reply};
use crate::response::Reply;

/// Throughput changes at once.
const NOT_PENDING: HeaderValue = HeaderValue::from_static("false");

/// Serves `/offers`.
pub(crate) async fn feed(request: &Request<'_>) -> Result<Reply, Failure> {
    match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer = request.engine.list_offers(&request.caller, count_max, continuation)?;
            Ok(feed_reply(ResourceKind::Offer, &answer))
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                request.engine.list_offers(&request.caller, Some(LIST_MAX), continuation)
            };
            queries::resources(request, ResourceKind::Offer, list).await.map(|(reply, _)| reply)
        }
        _ => Err(request.verb_not_allowed("GET, POST")),
    }
}

/// Serves one offer.
pub(crate) async fn single(request: &Request<'_>, offer: &str) -> Result<Reply, Failure> {
    let answer = match *request.method {
        Method::GET => request.engine.read_offer(&request.caller, offer, request.known_version()?)?,
        Method::PUT => {
            for name in [&names::MIGRATE_TO_AUTOSCALE, &names::MIGRATE_TO_MANUAL] {
                if request.headers.flag(name)? {
                    return Err(Failure::not_implemented("a change between manual and autoscale throughput"));
                }
            }
            let (body, precondition) = (request.json_body()?, request.expected_version()?);
            request.engine.replace_offer(&request.caller, offer, &body, precondition).await?
        }
        _ => return Err(request.verb_not_allowed("GET, PUT")),
    };
    let mut reply = reply(StatusCode::OK, &answer);
    reply.set(&names::OFFER_REPLACE_PENDING, NOT_PENDING);
    reply.set(&names::MIN_THROUGHPUT, request.engine.minimum_throughput(offer)?);
    Ok(reply)
}
