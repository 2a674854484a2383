//! `/offers` and one offer: the throughput of a database or container.

use armilla_engine::{Access, Content, LIST_MAX, OfferChange, ResourceKind, Throughput};
use armilla_rest_wire::names;
use http::{HeaderValue, Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::resource_text::{feed_reply, reply};
use crate::request::Request;
use crate::resources::resource_body;

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
            let migration = request.headers.migration()?;
            let (body, precondition) = (request.json_body()?, request.expected_version()?);
            let is_foreign = body.get("_rid").is_some_and(|rid| rid.as_str() != Some(offer));
            // Who may not write, or names an offer that is not there, is told that.
            let may_write = matches!(request.caller.access, Access::Full);
            if is_foreign && may_write && request.engine.read_offer(&request.caller, offer, None).is_ok() {
                let message = format!("the '_rid' in the body is not that of the offer '{offer}'");
                return Err(Failure::bad_request(message));
            }
            let wanted = match migration {
                Some(migration) => OfferChange::Migrate(migration),
                None => resource_body::read_offer(&body)?,
            };
            check_kind(request, offer, wanted)?;
            request.engine.replace_offer(&request.caller, offer, wanted, precondition).await?
        }
        _ => return Err(request.verb_not_allowed("GET, PUT")),
    };
    let mut reply = reply(StatusCode::OK, &answer);
    let state = request.engine.offer_state(offer)?;
    reply.set(&names::OFFER_REPLACE_PENDING, pending(state.pending));
    reply.set(&names::MIN_THROUGHPUT, state.minimum);
    Ok(reply)
}

/// Refuses throughput of the other kind, in the words that clients look for: it takes a header to change the kind.
fn check_kind(request: &Request<'_>, offer: &str, wanted: OfferChange) -> Result<(), Failure> {
    let OfferChange::Set(wanted) = wanted else { return Ok(()) };
    // Callers who may not write, or name an offer that is not there, are told that.
    let current =
        match request.engine.read_offer(&request.caller, offer, None).map(|answer| answer.value.content) {
            Ok(Content::Offer(current)) if matches!(request.caller.access, Access::Full) => {
                current.throughput
            }
            _ => return Ok(()),
        };
    let (header, member, kind) = match (wanted, current) {
        (Throughput::Manual(_), Throughput::Autoscale { .. }) => {
            (&names::MIGRATE_TO_MANUAL, "offerThroughput", "autoscale")
        }
        (Throughput::Autoscale { .. }, Throughput::Manual(_)) => {
            (&names::MIGRATE_TO_AUTOSCALE, "autopilotSettings", "manual")
        }
        _ => return Ok(()),
    };
    Err(Failure::bad_request(format!(
        "{header} must be supplied and offercontent must not contain {member}. The throughput of the offer is {kind}, \
         and a replace does not change that."
    )))
}

/// Says whether partitions are still being split for the throughput that was asked for. The new offer stands already,
/// which is why clients are answered with 200; some ask again until they are told `false`.
fn pending(is_pending: bool) -> HeaderValue {
    HeaderValue::from_static(if is_pending { "true" } else { "false" })
}
