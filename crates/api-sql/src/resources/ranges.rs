//! `/dbs/{database}/colls/{container}/pkranges`: the partition map.
//!
//! Clients that read it incrementally ask again with the version they got until they are told, with a
//! literal 304 and a version, that nothing is new. A server that answers anything else keeps them
//! asking for ever. In between they are told only of ranges that came since: each names all ranges it descends from,
//! which is how clients know what is gone.

use armilla_engine::{Located, RangeInfo, RangeMap, RangeStatus, RequestUnits};
use armilla_value::{Value, json};
use http::{HeaderValue, Method, StatusCode};

use crate::json_text::{push_integer, push_string};
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::feed_text::{begin_feed, end_feed, page_headers};
use crate::request::Request;
use crate::request::headers::Tag;

/// What reading the map costs: it is a small resource.
const CHARGE: RequestUnits = RequestUnits::from_hundredths(100);

/// Serves the partition map of a container.
pub(crate) fn feed(request: &Request<'_>, located: &Located) -> Result<Reply, Failure> {
    if *request.method != Method::GET {
        return Err(request.verb_not_allowed("GET"));
    }
    let map = located.container.ranges(&request.caller)?;
    let known = match request.headers.if_none_match()? {
        Some(Tag::Exactly(tag)) => version(tag),
        Some(Tag::Any) | None => None,
    };
    let is_incremental = request.headers.feed_mode()?.is_some();
    let mut reply = match known {
        Some(known) if known == map.version => Reply::empty(StatusCode::NOT_MODIFIED, CHARGE),
        known => {
            // A version that is yet to come was made by another map: nothing can be said of what came since.
            let known = known.filter(|known| is_incremental && *known < map.version);
            let is_new = |range: &&RangeInfo| known.is_none_or(|known| range.since > known);
            let ranges: Vec<&RangeInfo> = map.ranges.iter().filter(is_new).collect();
            let text = text(&located.container.rid().to_string(), &ranges);
            let mut reply = Reply::json(StatusCode::OK, text, CHARGE);
            page_headers(&mut reply, ranges.len(), None);
            reply
        }
    };
    reply.set(&http::header::ETAG, etag(&map));
    Ok(reply)
}

/// Returns the version of a map as a tag.
fn etag(map: &RangeMap) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{}\"", map.version)).expect("digits in quotes")
}

/// Returns the version that a tag of ours names.
fn version(tag: &str) -> Option<u64> {
    tag.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

fn text(container_rid: &str, ranges: &[&RangeInfo]) -> Vec<u8> {
    let mut text = Vec::with_capacity(64 + 512 * ranges.len());
    begin_feed(&mut text, container_rid, "PartitionKeyRanges");
    for (index, range) in ranges.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        push_range(&mut text, range);
    }
    end_feed(&mut text, ranges.len());
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
    text.extend_from_slice(b",\"status\":");
    push_string(text, status_word(range.status));
    text.extend_from_slice(b",\"parents\":[");
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

/// Returns how clients call the state of a range. They know no other words.
fn status_word(status: RangeStatus) -> &'static str {
    match status {
        RangeStatus::Online => "online",
        RangeStatus::Splitting => "splitting",
    }
}
