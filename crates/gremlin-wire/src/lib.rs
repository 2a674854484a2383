//! What crosses the wire of Gremlin: frames, requests, responses, and values in GraphSON and GraphBinary.
//!
//! A message of a client is opened by [`Frame`], read by [`Request::read`] and understood by
//! [`Request::operation`]; answers are collected by a [`ResponseWriter`], or written at once as a [`Response`].
//!
//! Invariants:
//! * bytes from the network never panic, and never allocate more than a small multiple of their number;
//! * nothing here opens a socket, reads a clock or draws a random number;
//! * answers are written straight into bytes, never into a tree first, and never beyond the bound they were given.
//!
//! Not here: sockets and WebSocket (`api-gremlin`), the text of scripts (`gremlin-language`), what a traversal does
//! (`gremlin-machine`).

mod error;
mod error_text;
mod frame;
mod graphbinary;
mod graphson;
mod json;
pub mod limits;
mod operation;
mod predicates;
mod request;
mod response;
mod sasl;
mod sink;
mod time;
mod uuid;
mod values;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use error::{WireError, WireErrorKind};
pub use error_text::ErrorText;
pub use frame::{Format, Frame, GraphSon2};
pub use operation::{Authentication, BytecodeRequest, Close, Eval, Operation, RequestOptions};
pub use request::Request;
pub use response::{FrameBounds, Response, ResponseWriter, ResultKind, Status};
pub use sasl::{Login, read_login};
pub use sink::Materialize;
pub use time::time_span;
pub use uuid::{parse_uuid, uuid_text};
pub use values::{read_value, write_value};
