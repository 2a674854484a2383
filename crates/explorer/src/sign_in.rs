//! What is said of a session, and how one begins and ends.

use std::fmt::Display;

use armilla_rest_wire::authorization::{Credential, KeyAccess};
use armilla_rest_wire::body::{self, BodyError, BodyLimits};
use armilla_rest_wire::signature::AccountKey;
use armilla_value::{Object, Value, json};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body::Body;
use http_body_util::Full;

use crate::limits::{SESSION_LIFE, SIGN_IN_BYTES_MAX, SIGN_IN_DRAIN_BYTES_MAX};
use crate::page;
use crate::sessions::{Found, Right};
use crate::{Explorer, Peer, Refused, cookie_name};

/// Says who a page is taken for.
pub(crate) fn tell(explorer: &Explorer, found: Option<Found>, peer: Peer) -> Response<Full<Bytes>> {
    document(StatusCode::OK, explorer, found.as_ref(), peer)
}

/// Begins a session with a key, with a resource token, or with neither.
pub(crate) async fn begin<B>(
    explorer: &Explorer,
    head: &Parts,
    body: B,
    peer: Peer,
) -> Result<Response<Full<Bytes>>, Refused>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Display,
{
    // A form of another page can send anything but this.
    let is_json = head.headers.get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    if !is_json {
        return Err(Refused::Malformed("a sign-in has the content type application/json".to_owned()));
    }
    let limits = BodyLimits { bytes_max: SIGN_IN_BYTES_MAX, drain_bytes_max: SIGN_IN_DRAIN_BYTES_MAX };
    let body = body::read(body, limits).await.map_err(|error| match error {
        BodyError::Broken(error) => Refused::Malformed(format!("the body could not be read: {error}")),
        BodyError::TooLarge => Refused::Malformed(format!("a sign-in has {SIGN_IN_BYTES_MAX} bytes at most")),
    })?;
    let right = right(explorer, &body, peer)?;
    let (secret, found) = explorer.shared.sessions.begin(right);
    let mut response = document(StatusCode::OK, explorer, Some(&found), peer);
    set_cookie(response.headers_mut(), head, peer, &secret, SESSION_LIFE.as_secs());
    Ok(response)
}

/// Finds out what a caller may do by what it shows.
fn right(explorer: &Explorer, body: &[u8], peer: Peer) -> Result<Right, Refused> {
    const FORM: &str = "a sign-in is {\"key\":\"...\"}, {\"token\":\"...\"} or {}";
    let malformed = || Refused::Malformed(FORM.to_owned());
    let Ok(Value::Object(body)) = json::parse(body) else { return Err(malformed()) };
    let shown: Vec<_> = body.iter().collect();
    match shown.as_slice() {
        [] if is_open(explorer, peer) => Ok(Right::Key(KeyAccess::ReadWrite)),
        [] => Err(Refused::Stranger("a key of the account or a resource token is needed".to_owned())),
        [("key", Value::String(key))] => {
            let key = AccountKey::new(key).map_err(|error| Refused::Stranger(error.to_string()))?;
            let access = explorer.shared.options.keys.access_of_key(&key);
            access
                .map(Right::Key)
                .ok_or_else(|| Refused::Stranger("that is not a key of this account".to_owned()))
        }
        [("token", Value::String(token))] => {
            let value = HeaderValue::from_str(token.trim()).map_err(|_| malformed())?;
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.clone())]);
            let Ok(Credential::ResourceToken(token)) = Credential::of(&headers) else {
                let why = "that is not a resource token, which begins with type=resource";
                return Err(Refused::Stranger(why.to_owned()));
            };
            match explorer.shared.engine.authorize_token(&token) {
                Ok(_) => Ok(Right::Token(value)),
                Err(error) => Err(Refused::Stranger(error.to_string())),
            }
        }
        _ => Err(malformed()),
    }
}

/// Says that a session has ended, and takes its cookie back.
pub(crate) fn ended(head: &Parts, peer: Peer) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    page::keep_private(response.headers_mut());
    set_cookie(response.headers_mut(), head, peer, "", 0);
    response
}

/// Says something to the page.
pub(crate) fn message(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let mut object = Object::default();
    object.insert("message", message);
    reply(status, object)
}

fn is_open(explorer: &Explorer, peer: Peer) -> bool {
    peer.is_local && explorer.shared.options.is_key_known
}

fn document(
    status: StatusCode,
    explorer: &Explorer,
    found: Option<&Found>,
    peer: Peer,
) -> Response<Full<Bytes>> {
    let state = match found {
        Some(_) => "signed-in",
        None if is_open(explorer, peer) => "open",
        None => "needed",
    };
    let access = found.map(|found| match found.right {
        Right::Key(KeyAccess::ReadWrite) => "full",
        Right::Key(KeyAccess::ReadOnly) => "read-only",
        Right::Token(_) => "token",
    });
    let mut server = Object::default();
    server.insert("name", "armilla");
    server.insert("version", env!("CARGO_PKG_VERSION"));
    let mut apis = Object::default();
    apis.insert("sql", true);
    let others = explorer.shared.options.others;
    for (name, is_on) in [("mongo", others.mongo), ("gremlin", others.gremlin), ("table", others.table)] {
        apis.insert(name, is_on);
    }
    let mut object = Object::default();
    object.insert("state", state);
    object.insert("access", access.map(str::to_owned));
    object.insert("csrf", found.map(|found| found.csrf.clone()));
    object.insert("expiresInSeconds", found.and_then(|found| i64::try_from(found.lasts.as_secs()).ok()));
    object.insert("server", server);
    object.insert("apis", apis);
    reply(status, object)
}

fn reply(status: StatusCode, object: Object) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(json::to_string(&object.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    page::keep_private(response.headers_mut());
    response
}

fn set_cookie(headers: &mut HeaderMap, head: &Parts, peer: Peer, secret: &str, seconds: u64) {
    let name = cookie_name(head);
    let secure = if peer.is_secure { "; Secure" } else { "" };
    let cookie =
        format!("{name}={secret}; Path=/_explorer/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let cookie = HeaderValue::from_str(&cookie).expect("a name of digits and base64 are visible ASCII");
    headers.insert(header::SET_COOKIE, cookie);
}
