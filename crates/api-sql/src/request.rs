//! A request on its way through the handlers.
//!
//! ```text
//! path, headers, body    what was sent
//! auth                   who sent it
//! binary_json            the binary form in which some clients send items
//! scope                  what of a container a request is about
//! ```

pub(crate) mod auth;
pub(crate) mod binary_json;
pub(crate) mod body;
pub(crate) mod headers;
pub(crate) mod path;
pub(crate) mod scope;

use std::borrow::Cow;

use armilla_engine::{Caller, Claim, Consistency, ETag, Engine, ResourcePrecondition, SessionToken};
use armilla_rest_wire::names;
use armilla_rest_wire::status::Status;
use armilla_value::{Object, Value, json};
use bytes::Bytes;
use http::Method;

use crate::limits::ITEM_TEXT_BYTES_MAX;
use crate::options::CrossPartitionQueries;
use crate::reply::failure::{Detail, Failure};

use binary_json::BinaryJsonError;
use headers::{RequestHeaders, Tag, invalid};

/// A request that was read and whose caller is known.
pub(crate) struct Request<'r> {
    /// The verb.
    pub(crate) method: &'r Method,
    /// The headers.
    pub(crate) headers: RequestHeaders<'r>,
    /// The body; empty where the verb has none.
    pub(crate) body: Bytes,
    /// The caller.
    pub(crate) caller: Caller,
    /// The id of this request, for error messages.
    pub(crate) activity_id: &'r str,
    /// What is asked.
    pub(crate) engine: &'r Engine,
    /// Who puts together the results of several physical partitions.
    pub(crate) cross_partition_queries: CrossPartitionQueries,
}

impl Request<'_> {
    /// Adds to the caller what reads of items depend on.
    pub(crate) fn item_caller(&self) -> Result<Caller, Failure> {
        let consistency = self.consistency()?;
        let session = match self.headers.session_token()? {
            Some(token) if token.split(',').any(|part| part.trim().is_empty()) => {
                return Err(invalid(
                    &names::SESSION_TOKEN,
                    token,
                    "ranges and their progress, such as 0:-1#42",
                ));
            }
            Some(token) => SessionToken::parse(token).map_err(armilla_engine::Error::from)?,
            None => SessionToken::default(),
        };
        let claim = Claim { priority: self.headers.priority()?, bucket: self.headers.throughput_bucket()? };
        Ok(Caller { access: self.caller.access.clone(), consistency, session, claim })
    }

    fn consistency(&self) -> Result<Option<Consistency>, Failure> {
        let Some(name) = self.headers.consistency_level()? else { return Ok(None) };
        let level = Consistency::from_name(name);
        level.map(Some).ok_or_else(|| invalid(&names::CONSISTENCY_LEVEL, name, "a consistency level"))
    }

    /// Returns the body as JSON text, whichever form it came in.
    pub(crate) fn body_text(&self) -> Result<Cow<'_, [u8]>, Failure> {
        if !binary_json::is_binary(&self.body) {
            return Ok(Cow::Borrowed(&self.body));
        }
        match binary_json::to_text(&self.body, ITEM_TEXT_BYTES_MAX) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(BinaryJsonError::TooLarge) => Err(body::too_large()),
            Err(error @ BinaryJsonError::Malformed { .. }) => Err(Failure::bad_request(error.to_string())),
        }
    }

    /// Returns the body as JSON.
    pub(crate) fn json_body(&self) -> Result<Value, Failure> {
        json::parse(&self.body)
            .map_err(|error| Failure::bad_request(format!("the request body is not valid JSON: {error}")))
    }

    /// Returns the body as a JSON object.
    pub(crate) fn json_object(&self, what: &str) -> Result<Object, Failure> {
        match self.json_body()? {
            Value::Object(object) => Ok(object),
            _ => Err(Failure::bad_request(format!("the request body is not {what}: it is no JSON object"))),
        }
    }

    /// Returns which page of a feed is asked for: how many entries, and from where.
    pub(crate) fn page(&self) -> Result<(Option<usize>, Option<&str>), Failure> {
        Ok((self.headers.page_items_max()?, self.headers.continuation()?))
    }

    /// Returns the version that a reader holds already.
    pub(crate) fn known_version(&self) -> Result<Option<ETag>, Failure> {
        Ok(match self.headers.if_none_match()? {
            Some(Tag::Exactly(tag)) => ETag::parse(tag),
            Some(Tag::Any) | None => None,
        })
    }

    /// Returns the version that a resource must still have to be changed.
    pub(crate) fn expected_version(&self) -> Result<ResourcePrecondition, Failure> {
        Ok(match self.headers.if_match()? {
            Some(Tag::Exactly(tag)) => ResourcePrecondition::Version(ETag::parse(tag)),
            Some(Tag::Any) | None => ResourcePrecondition::None,
        })
    }

    /// Returns the refusal of a verb that a resource does not take.
    pub(crate) fn verb_not_allowed(&self, allowed: &'static str) -> Failure {
        verb_not_allowed(self.method, allowed)
    }
}

/// Returns the refusal of a verb that a resource does not take.
pub(crate) fn verb_not_allowed(method: &Method, allowed: &'static str) -> Failure {
    Failure {
        detail: Some(Detail::AllowedVerbs(allowed)),
        ..Failure::new(
            Status::METHOD_NOT_ALLOWED,
            format!("the verb {method} is not allowed here; the resource takes {allowed}"),
        )
    }
}
