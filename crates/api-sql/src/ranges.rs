//! `/dbs/{database}/colls/{container}/pkranges`: the partition map.
//!
//! Clients that read it incrementally ask again with the version they got until they are told, with a
//! literal 304 and a version, that nothing is new. A server that answers anything else keeps them
//! asking for ever.

use armilla_engine::{Located, RangeInfo, RangeMap, RequestUnits};
use armilla_value::{Value, json};
use http::{HeaderValue, Method, StatusCode};

use crate::failure::Failure;
use crate::headers::Tag;
use crate::json_text::{push_integer, push_string};
use crate::request::Request;
use crate::resource_text::{begin_feed, end_feed, page_headers};
use crate::response::Reply;

/// What reading the map costs: it is a small resource.
const CHARGE: RequestUnits = RequestUnits::from_hundredths(100);

/// Serves the partition map of a container.
pub(crate) fn feed(request: &Request<'_>, located: &Located) -> Result<Reply, Failure> {
    if *request.method != Method::GET {
        return Err(request.verb_not_allowed("GET"));
    }
    let map = located.container.ranges(&request.caller)?;
    let etag = format!("\"{}\"", map.version);
    let is_known = matches!(request.headers.if_none_match()?, Some(Tag::Exactly(known)) if known == etag);
    let mut reply = if is_known {
        Reply::empty(StatusCode::NOT_MODIFIED, CHARGE)
    } else {
        let mut reply = Reply::json(StatusCode::OK, text(&located.container.rid().to_string(), &map), CHARGE);
        page_headers(&mut reply, map.ranges.len(), None);
        reply
    };
    let etag = HeaderValue::from_str(&etag).expect("digits in quotes");
    reply.set(&http::header::ETAG, etag);
    Ok(reply)
}

fn text(container_rid: &str, map: &RangeMap) -> Vec<u8> {
    let mut text = Vec::with_capacity(64 + 512 * map.ranges.len());
    begin_feed(&mut text, container_rid, "PartitionKeyRanges");
    for (index, range) in map.ranges.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        push_range(&mut text, range);
    }
    end_feed(&mut text, map.ranges.len());
    text
}

fn push_range(text: &mut Vec<u8>, range: &RangeInfo) {
    let id = range.id.to_string();
    text.extend_from_slice(b"{\"_rid\":");
    push_string(text, &range.rid);
    text.extend_from_slice(b",\"id\":");
    push_string(text, &id);
    text.extend_from_slice(b",\"_etag\":\"\\\"");
    text.extend_from_slice(&range.etag.text());
    text.extend_from_slice(b"\\\"\",\"minInclusive\":");
    push_string(text, &range.min);
    text.extend_from_slice(b",\"maxExclusive\":");
    push_string(text, &range.max);
    text.extend_from_slice(b",\"ridPrefix\":");
    text.extend_from_slice(id.as_bytes());
    text.extend_from_slice(b",\"_self\":");
    push_string(text, &range.self_link);
    text.extend_from_slice(b",\"throughputFraction\":");
    json::write(&Value::from(range.throughput_fraction), text);
    text.extend_from_slice(b",\"status\":\"online\",\"parents\":[");
    for (index, parent) in range.parents.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        push_string(text, &parent.to_string());
    }
    text.extend_from_slice(b"],\"ownedArchivalPKRangeIds\":[],\"_ts\":");
    push_integer(text, range.ts);
    text.extend_from_slice(b",\"_lsn\":");
    push_integer(text, range.lsn);
    text.push(b'}');
}
