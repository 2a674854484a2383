//! Failures as clients get them: a status, an inner status, and a text in the layout of the service.
//!
//! Not here: which failure becomes which (`error_map`).

use std::borrow::Cow;
use std::time::Duration;

use armilla_gremlin_value::Value;
use armilla_gremlin_wire::{ErrorText, Format, Response, Status, time_span, uuid_text};

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The status of the protocol, such as 597.
    pub(crate) code: u16,
    /// The inner status (`x-ms-status-code`).
    pub(crate) inner: i32,
    pub(crate) substatus: Option<i32>,
    pub(crate) kind: FailureKind,
    pub(crate) message: String,
    /// How long to wait before it is tried again.
    pub(crate) retry_after: Option<Duration>,
}

/// What the text of a failure says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The message is all of it.
    Plain,
    Syntax,
    Compile,
    Runtime,
    Malformed,
    Storage,
    Throttled,
    Internal,
}

impl FailureKind {
    fn exception(self) -> &'static str {
        match self {
            FailureKind::Plain | FailureKind::Internal => "GraphException",
            FailureKind::Syntax => "GraphSyntaxException",
            FailureKind::Compile => "GraphCompileException",
            FailureKind::Runtime => "GraphRuntimeException",
            FailureKind::Malformed => "GraphMalformedException",
            FailureKind::Storage => "DocumentClientException",
            FailureKind::Throttled => "RequestRateTooLargeException",
        }
    }

    fn status(self) -> &'static str {
        match self {
            FailureKind::Syntax | FailureKind::Compile => "QuerySyntaxError",
            FailureKind::Malformed => "MalformedRequest",
            FailureKind::Internal => "ServerError",
            FailureKind::Plain | FailureKind::Runtime | FailureKind::Storage | FailureKind::Throttled => {
                "GraphRuntimeError"
            }
        }
    }

    fn scope(self) -> Option<&'static str> {
        match self {
            FailureKind::Syntax | FailureKind::Compile => {
                Some("graphparse-translate-csharpexpressionbinding")
            }
            _ => None,
        }
    }
}

impl Failure {
    pub(crate) fn new(code: u16, inner: i32, kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { code, inner, substatus: None, kind, message: message.into(), retry_after: None }
    }

    /// A failure whose text is laid out by clients themselves.
    pub(crate) fn plain(code: u16, inner: i32, message: impl Into<String>) -> Failure {
        Failure::new(code, inner, FailureKind::Plain, message)
    }

    /// Returns the text that a client gets.
    pub(crate) fn text(&self, activity_id: u128, request_id: Option<u128>) -> String {
        if self.kind == FailureKind::Plain {
            return self.message.clone();
        }
        let text = ErrorText {
            activity_id,
            exception_type: self.kind.exception(),
            message: &self.message,
            request_id,
            context: "graphcompute",
            scope: self.kind.scope(),
            status: self.kind.status(),
            hresult: ErrorText::HRESULT,
        };
        text.to_string()
    }

    /// Returns the answer to a request that failed.
    pub(crate) fn response(&self, id: Option<u128>, costs: &Costs) -> Response {
        let mut attributes = attributes(self.inner, costs);
        if let Some(substatus) = self.substatus {
            attributes.push((Cow::Borrowed("x-ms-substatus-code"), Value::Int32(substatus)));
        }
        if let Some(wait) = self.retry_after {
            attributes.push((Cow::Borrowed("x-ms-retry-after-ms"), Value::String(time_span(wait).into())));
        }
        let message = Cow::Owned(self.text(costs.activity_id, id));
        Response { id, status: Status { code: self.code, message, attributes }, data: None }
    }
}

/// Writes an answer that has no results; the format can write it, since all in it is text and numbers.
pub(crate) fn written(response: &Response, format: Format) -> Vec<u8> {
    response.write(format).unwrap_or_default()
}

/// What a request cost so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Costs {
    pub(crate) activity_id: u128,
    /// Request units of this answer, and of all so far.
    pub(crate) charge: f64,
    pub(crate) total_charge: f64,
    /// Likewise for milliseconds.
    pub(crate) time_ms: f64,
    pub(crate) total_time_ms: f64,
}

/// Returns what every answer says.
pub(crate) fn attributes(inner: i32, costs: &Costs) -> Vec<(Cow<'static, str>, Value)> {
    let number = |name: &'static str, number: f64| (Cow::Borrowed(name), Value::Double(number));
    vec![
        (Cow::Borrowed("x-ms-status-code"), Value::Int32(inner)),
        (Cow::Borrowed("x-ms-activity-id"), Value::String(uuid_text(costs.activity_id).into())),
        number("x-ms-request-charge", costs.charge),
        number("x-ms-total-request-charge", costs.total_charge),
        number("x-ms-server-time-ms", costs.time_ms),
        number("x-ms-total-server-time-ms", costs.total_time_ms),
    ]
}
