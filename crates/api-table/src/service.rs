//! What is XML: properties of the service, the state of its replication, access policies of tables, and what browsers
//! ask before they send requests of other pages.

use armilla_engine::RequestUnits;
use http::{HeaderMap, StatusCode};

use crate::Shared;
use crate::auth::Operation;
use crate::cors;
use crate::failure::{Failure, Kind};
use crate::headers::Verb;
use crate::options::Flavour;
use crate::request::Request;
use crate::response::Reply;
use crate::xml;

/// Serves the account itself.
pub(crate) async fn serve(request: &Request<'_>) -> Result<Reply, Failure> {
    let is_service = request.parameters.resource_type.as_deref() == Some("service");
    match request.parameters.component.as_deref() {
        Some("properties") if is_service => properties(request).await,
        Some("stats") if is_service => stats(request),
        _ => Err(Kind::UrlInvalid.into()),
    }
}

async fn properties(request: &Request<'_>) -> Result<Reply, Failure> {
    match request.verb {
        Verb::Get => {
            request.allow(Operation::ReadProperties, None, None)?;
            refuse_in_cosmos(request)?;
            let properties = request.shared.properties.read()?;
            let text = xml::write_properties(&properties, has_mark(request));
            Ok(Reply::xml(StatusCode::OK, text, RequestUnits::ZERO))
        }
        Verb::Put => {
            request.allow(Operation::WriteProperties, None, None)?;
            refuse_in_cosmos(request)?;
            let change = xml::read_properties(&request.body).map_err(Kind::Xml)?;
            request.shared.properties.write(change).await?;
            Ok(Reply::empty(StatusCode::ACCEPTED, RequestUnits::ZERO))
        }
        _ => Err(Kind::MethodNotAllowed("GET, PUT").into()),
    }
}

fn stats(request: &Request<'_>) -> Result<Reply, Failure> {
    if request.verb != Verb::Get {
        return Err(Kind::MethodNotAllowed("GET").into());
    }
    request.allow(Operation::ReadStats, None, None)?;
    refuse_in_cosmos(request)?;
    let text = xml::write_stats(request.shared.env.clock.now_ms(), has_mark(request));
    Ok(Reply::xml(StatusCode::OK, text, RequestUnits::ZERO))
}

/// Serves the access policies of a table.
pub(crate) async fn policies(request: &Request<'_>, table: &str) -> Result<Reply, Failure> {
    match request.verb {
        Verb::Get => {
            request.allow(Operation::ReadPolicies, Some(table), None)?;
            let table = request.table(table)?;
            let policies = request.shared.policies.read(&table.container)?;
            let text = xml::write_signed_identifiers(&policies, has_mark(request));
            Ok(Reply::xml(StatusCode::OK, text, RequestUnits::ZERO))
        }
        Verb::Put => {
            request.allow(Operation::WritePolicies, Some(table), None)?;
            let table = request.table(table)?;
            let policies = xml::read_signed_identifiers(&request.body).map_err(Kind::Xml)?;
            request.shared.policies.write(&table.container, policies).await?;
            Ok(Reply::empty(StatusCode::NO_CONTENT, RequestUnits::ZERO))
        }
        _ => Err(Kind::MethodNotAllowed("GET, PUT").into()),
    }
}

/// Answers a browser that asks what it may send.
pub(crate) fn preflight(shared: &Shared, headers: &HeaderMap) -> Result<Reply, Failure> {
    let properties = shared.properties.read()?;
    let answer = cors::preflight(&properties, headers).map_err(Kind::Cors)?;
    let mut reply = Reply::empty(StatusCode::OK, RequestUnits::ZERO);
    reply.headers = answer;
    Ok(reply)
}

/// Says whether documents begin with a byte order mark.
fn has_mark(request: &Request<'_>) -> bool {
    request.flavour() == Flavour::Storage
}

fn refuse_in_cosmos(request: &Request<'_>) -> Result<(), Failure> {
    match request.flavour() {
        Flavour::Cosmos => Err(Kind::NotImplemented("".into()).into()),
        Flavour::Storage => Ok(()),
    }
}
