//! What the fuzzer reaches inside of this crate; nothing else may use it.

use std::borrow::Cow;

use armilla_engine::plans::Expr;
use bytes::Bytes;

use crate::edm::EdmRef;
use crate::filter::{Fields, Filter};
use crate::multipart::{self, Content};

/// Reads a batch; returns the bytes of all bodies in it, if it is one.
pub fn multipart(content_type: &str, body: &[u8]) -> Option<usize> {
    let requests = match multipart::parse(content_type, &Bytes::copy_from_slice(body)).ok()? {
        Content::ChangeSet(requests) => requests,
        Content::Single(request) => vec![request],
    };
    Some(requests.iter().map(|request| request.body.len()).sum())
}

/// Reads a filter, asks it about some entities, and lowers it; returns the condition, if there is one.
pub fn filter(text: &str) -> Option<Expr> {
    let filter = Filter::parse(text).ok()??;
    for fields in
        [Same(None), Same(Some(EdmRef::String(Cow::Borrowed("a")))), Same(Some(EdmRef::Boolean(true)))]
    {
        let _ = filter.matches(&fields);
    }
    filter.lower().condition
}

/// An entity all of whose properties have the same value.
struct Same<'a>(Option<EdmRef<'a>>);

impl Fields for Same<'_> {
    fn field(&self, _: &str) -> Option<EdmRef<'_>> {
        self.0.clone()
    }
}
