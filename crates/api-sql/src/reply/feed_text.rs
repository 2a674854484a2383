//! What stands around the entries of a page of a feed, in its text and in its headers.

use armilla_rest_wire::names;

use crate::json_text::{push_integer, push_string};
use crate::reply::Reply;

/// Appends what stands before the entries of a feed.
pub(crate) fn begin_feed(text: &mut Vec<u8>, parent_rid: &str, name: &str) {
    text.extend_from_slice(b"{\"_rid\":");
    push_string(text, parent_rid);
    text.push(b',');
    push_string(text, name);
    text.extend_from_slice(b":[");
}

/// Appends what stands behind the entries of a feed.
pub(crate) fn end_feed(text: &mut Vec<u8>, count: usize) {
    text.extend_from_slice(b"],\"_count\":");
    push_integer(text, u64::try_from(count).unwrap_or(u64::MAX));
    text.push(b'}');
}

/// Sets the headers of a page: how many entries, and where the next page begins.
pub(crate) fn page_headers(reply: &mut Reply, count: usize, continuation: Option<&str>) {
    reply.set(&names::ITEM_COUNT, count);
    if let Some(continuation) = continuation {
        reply.set_text(&names::CONTINUATION, continuation);
    }
}
