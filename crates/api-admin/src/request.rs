//! A request on its way through the handlers.

use armilla_engine::{Caller, Engine};
use armilla_rest_wire::status::Status;
use armilla_value::{Object, Value, json};
use bytes::Bytes;
use http::Method;

use crate::failure::Failure;

/// A request that was read and whose caller is known.
pub(crate) struct Request<'r> {
    /// The verb.
    pub(crate) method: &'r Method,
    /// The body; empty where the verb has none.
    pub(crate) body: Bytes,
    /// The caller.
    pub(crate) caller: Caller,
    /// What is asked.
    pub(crate) engine: &'r Engine,
}

impl Request<'_> {
    /// Refuses every verb but the one that a resource takes.
    pub(crate) fn expect_verb(&self, allowed: &'static str) -> Result<(), Failure> {
        let method = self.method;
        if method.as_str() == allowed {
            return Ok(());
        }
        let message = format!("the verb {method} is not allowed here; the resource takes {allowed}");
        let failure = Failure::new(Status::METHOD_NOT_ALLOWED, message);
        Err(Failure { allowed_verb: Some(allowed), ..failure })
    }

    /// Returns the body as a JSON object.
    pub(crate) fn json_object(&self, what: &str) -> Result<Object, Failure> {
        let body = json::parse(&self.body)
            .map_err(|error| Failure::bad_request(format!("the request body is not valid JSON: {error}")))?;
        match body {
            Value::Object(object) => Ok(object),
            _ => Err(Failure::bad_request(format!("the request body is not {what}: it is no JSON object"))),
        }
    }
}
