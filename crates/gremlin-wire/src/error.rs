//! What is wrong with a request, or with a result that cannot be sent.

use std::fmt;

use crate::limits::{MAX_PATH_BYTES, MAX_QUOTED_CHARACTERS};

/// A request that cannot be understood, or a result that cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    kind: WireErrorKind,
    id: Option<u128>,
    message: Box<str>,
}

/// Why it failed; each kind has a status code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireErrorKind {
    /// The request is not of the protocol.
    Malformed,
    /// The request is of the protocol, but arguments are missing or wrong.
    InvalidArguments,
    /// A result that the format cannot express, or that is too large.
    Unserializable,
}

impl WireError {
    pub(crate) fn malformed(message: impl fmt::Display) -> WireError {
        let message = format!("Gremlin Malformed Request: {message}").into_boxed_str();
        WireError { kind: WireErrorKind::Malformed, id: None, message }
    }

    pub(crate) fn arguments(message: impl Into<Box<str>>) -> WireError {
        WireError { kind: WireErrorKind::InvalidArguments, id: None, message: message.into() }
    }

    pub(crate) fn unserializable(message: impl Into<Box<str>>) -> WireError {
        WireError { kind: WireErrorKind::Unserializable, id: None, message: message.into() }
    }

    pub(crate) fn with_id(mut self, id: Option<u128>) -> WireError {
        self.id = self.id.or(id);
        self
    }

    /// Returns why it failed.
    pub fn kind(&self) -> WireErrorKind {
        self.kind
    }

    /// Returns the id of the request, where it could be found.
    pub fn id(&self) -> Option<u128> {
        self.id
    }

    /// Returns what to tell the client.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the status code of the answer.
    pub fn code(&self) -> u16 {
        match self.kind {
            WireErrorKind::Malformed => 498,
            WireErrorKind::InvalidArguments => 499,
            WireErrorKind::Unserializable => 599,
        }
    }

    /// Returns the inner status, for `x-ms-status-code`.
    pub fn inner_status(&self) -> i32 {
        match self.kind {
            WireErrorKind::Malformed | WireErrorKind::InvalidArguments => 1004,
            WireErrorKind::Unserializable => 1001,
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}

/// A mistake found while a request is read, with the path to it.
#[derive(Debug)]
pub(crate) struct Fault {
    kind: WireErrorKind,
    /// Names from the outside to the inside, separated by dots.
    path: String,
    message: String,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Fault {
        Fault { kind: WireErrorKind::Malformed, path: String::new(), message: message.into() }
    }

    /// A thing of the protocol that is refused.
    pub(crate) fn refused(message: impl Into<String>) -> Fault {
        Fault { kind: WireErrorKind::InvalidArguments, path: String::new(), message: message.into() }
    }

    /// Adds the name of what the mistake is in; a path that is long enough grows no more.
    pub(crate) fn within(mut self, name: &str) -> Fault {
        if self.path.is_empty() {
            self.path = short(name);
        } else if self.path.len() < MAX_PATH_BYTES {
            self.path = format!("{}.{}", short(name), self.path);
        }
        self
    }
}

/// Returns the beginning of a text of a request, for a message about it.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARACTERS).collect::<String>().escape_debug().to_string()
}

impl From<Fault> for WireError {
    fn from(fault: Fault) -> WireError {
        let text = match fault.path.is_empty() {
            true => fault.message,
            false => format!("{} Path: '{}'.", fault.message, fault.path),
        };
        match fault.kind {
            WireErrorKind::Malformed => WireError::malformed(text),
            _ => WireError::arguments(text),
        }
    }
}
