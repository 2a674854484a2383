//! `/dbs/{database}/clientencryptionkeys` and one key.

use armilla_engine::{EncryptionKeyDefinition, LIST_MAX, ResourceKind};
use armilla_value::{Object, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::resource_text::{feed_reply, reply};
use crate::request::Request;

/// What a key consists of beside its id.
const MEMBERS: [&str; 3] = ["encryptionAlgorithm", "wrappedDataEncryptionKey", "keyWrapMetadata"];

/// Serves the client encryption keys of a database.
pub(crate) async fn feed(request: &Request<'_>, database: &str) -> Result<Reply, Failure> {
    let caller = &request.caller;
    let kind = ResourceKind::EncryptionKey;
    let (mut reply, parent_rid) = match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer = request.engine.list_encryption_keys(caller, database, count_max, continuation)?;
            (feed_reply(kind, &answer), answer.value.parent_rid)
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                request.engine.list_encryption_keys(caller, database, Some(LIST_MAX), continuation)
            };
            queries::resources(request, kind, list).await?
        }
        Method::POST => {
            let definition = definition(&request.json_object("a client encryption key")?)?;
            let answer = request.engine.create_encryption_key(caller, database, &definition).await?;
            (reply(StatusCode::CREATED, &answer), answer.value.parent_rid)
        }
        _ => return Err(request.verb_not_allowed("GET, POST")),
    };
    reply.content_path(format!("dbs/{database}"), &parent_rid);
    Ok(reply)
}

/// Serves one client encryption key.
pub(crate) async fn single(request: &Request<'_>, database: &str, key: &str) -> Result<Reply, Failure> {
    let caller = &request.caller;
    let answer = match *request.method {
        Method::GET => request.engine.read_encryption_key(caller, database, key, request.known_version()?)?,
        Method::PUT => {
            let definition = definition(&request.json_object("a client encryption key")?)?;
            let precondition = request.expected_version()?;
            request.engine.replace_encryption_key(caller, database, key, &definition, precondition).await?
        }
        _ => return Err(request.verb_not_allowed("GET, PUT")),
    };
    let mut reply = reply(StatusCode::OK, &answer);
    reply.content_path(format!("dbs/{database}"), &answer.value.parent_rid);
    Ok(reply)
}

/// Reads what a key is to be. What it holds is the clients' affair, as far as it has the form that they rely on.
fn definition(body: &Object) -> Result<EncryptionKeyDefinition, Failure> {
    let refused =
        |what: &str| Failure::bad_request(format!("the client encryption key is not valid: {what}"));
    let id = body.get("id").and_then(Value::as_str);
    let id = id.ok_or_else(|| Failure::missing_id("a client encryption key"))?.to_owned();
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    if text("encryptionAlgorithm").is_none_or(str::is_empty) {
        return Err(refused("'encryptionAlgorithm' is missing"));
    }
    let wrapped = text("wrappedDataEncryptionKey").filter(|text| !text.is_empty());
    if wrapped.is_none_or(|text| STANDARD.decode(text).is_err()) {
        return Err(refused("'wrappedDataEncryptionKey' is missing, or not base64"));
    }
    if !matches!(body.get("keyWrapMetadata"), Some(Value::Object(_))) {
        return Err(refused("'keyWrapMetadata' is missing, or no object"));
    }
    let mut members = Object::default();
    for name in MEMBERS {
        if let Some(value) = body.get(name) {
            members.insert(name, value.clone());
        }
    }
    Ok(EncryptionKeyDefinition { id, members })
}
