//! `/_armilla/nodes`: the nodes that serve the account, and asking one to end.

use armilla_value::{Object, Value, json};
use http::StatusCode;

use crate::body::refuse_unknown_members;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

/// Tells of all nodes; of none where this server serves the account alone.
pub(crate) fn list(request: &Request<'_>) -> Result<Reply, Failure> {
    request.expect_verb("GET")?;
    let nodes = request.engine.nodes(&request.caller)?.into_iter().map(|node| {
        let mut object = Object::default();
        object.insert("name", node.name);
        object.insert("address", node.address);
        object.insert("version", node.version);
        object.insert("partitions", i64::try_from(node.partitions).unwrap_or(i64::MAX));
        object.insert("self", node.is_self);
        object
    });
    let mut document = Object::default();
    document.insert("nodes", nodes.collect::<Vec<Object>>());
    Ok(Reply::json(StatusCode::OK, json::to_string(&document.into())))
}

/// Asks a node to end once others have taken what it has. It is answered when it has begun (202): a node that has ended is
/// not among the nodes any more.
pub(crate) fn drain(request: &Request<'_>) -> Result<Reply, Failure> {
    request.expect_verb("POST")?;
    let body = match request.body.is_empty() {
        true => Object::default(),
        false => request.json_object("a request to drain a node")?,
    };
    refuse_unknown_members(&body, &["node"])?;
    let name = match body.get("node") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name.as_str()),
        Some(_) => {
            return Err(Failure::bad_request("'node' is no text: it is the name or the address of a node"));
        }
    };
    let name = request.engine.drain_node(&request.caller, name)?;
    let mut document = Object::default();
    document.insert("node", name);
    Ok(Reply::json(StatusCode::ACCEPTED, json::to_string(&document.into())))
}
