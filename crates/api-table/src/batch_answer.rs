//! The answer to a batch: parts between boundaries, each with a response in it.
//!
//! Clients read it with parsers of their own: one takes anything between braces on one line for a failure, and another
//! looks for row keys in `Location`. So parts without a failure have no body unless one was asked for, and addresses
//! have no braces.

use armilla_engine::{ActionDone, RequestUnits};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::changes::{Change, Write};
use crate::entities::entity_text;
use crate::entity::{MetadataLevel, etag_text};
use crate::failure::Failure;
use crate::headers::{Preference, names};
use crate::options::Flavour;
use crate::path::entity_link;
use crate::request::{Request, Table};
use crate::response::{Reply, json_body, json_type};

/// Answers a change set that was done.
pub(crate) fn done(
    request: &Request<'_>,
    table: &Table,
    changes: &[Change],
    content_ids: &[Option<String>],
    done: Vec<ActionDone>,
    charge: RequestUnits,
) -> Result<Reply, Failure> {
    let mut parts = Vec::with_capacity(changes.len());
    for ((change, content_id), done) in changes.iter().zip(content_ids).zip(done) {
        let item = match &done {
            ActionDone::Written(written) => Some(&written.item),
            ActionDone::Read(_) | ActionDone::NotModified { .. } => None,
        };
        let mut part = Part::new(StatusCode::NO_CONTENT);
        if let (Some(item), false) = (item, matches!(change.write, Write::Delete)) {
            part.header("ETag", &etag_text(item.moment()));
        }
        if matches!(change.write, Write::Insert(_)) {
            match change.preference {
                Preference::NoContent => {}
                Preference::None | Preference::Content => {
                    let level = MetadataLevel::Minimal;
                    let text = item.and_then(|item| entity_text(request, &table.name, item, level, None));
                    part.status = StatusCode::CREATED;
                    part.header("Content-Type", json_type(level, request.flavour()));
                    part.body = text.unwrap_or_default();
                }
            }
            if let Some(applied) = change.preference.applied() {
                part.header("Preference-Applied", applied);
            }
        }
        if !matches!(change.write, Write::Delete) {
            let link = entity_link(&table.name, &change.partition_key, &change.row_key);
            let link = format!("{}{link}", request.base_url);
            part.header("Location", &link);
            if request.flavour() == Flavour::Storage {
                part.header("DataServiceId", &link);
            }
        }
        if let Some(id) = content_id {
            part.header(names::CONTENT_ID, id);
        }
        parts.push(part);
    }
    Ok(change_set_reply(request, &parts, charge))
}

/// Answers a change set of which nothing was done.
pub(crate) fn failed(request: &Request<'_>, failure: &Failure) -> Reply {
    change_set_reply(request, &[failed_part(request, failure)], failure.charge)
}

/// Answers a batch of one request that reads.
pub(crate) fn single(request: &Request<'_>, reply: Reply, content_id: Option<&str>) -> Reply {
    let mut part = Part::new(reply.status);
    for (name, value) in &reply.headers {
        let name = if name == http::header::ETAG { "ETag" } else { name.as_str() };
        if let Ok(value) = value.to_str() {
            part.header(name, value);
        }
    }
    if let Some(id) = content_id {
        part.header(names::CONTENT_ID, id);
    }
    part.body = reply.body.to_vec();
    single_reply(request, &part, reply.charge)
}

/// Answers a batch of one request that failed.
pub(crate) fn failed_single(request: &Request<'_>, failure: &Failure) -> Reply {
    single_reply(request, &failed_part(request, failure), failure.charge)
}

/// A response in a part.
struct Part {
    status: StatusCode,
    headers: Vec<u8>,
    body: Vec<u8>,
}

impl Part {
    fn new(status: StatusCode) -> Part {
        Part { status, headers: Vec::new(), body: Vec::new() }
    }

    /// Adds a header. Line ends cannot come in by one: values are checked where they come from, or are our own.
    fn header(&mut self, name: &str, value: &str) {
        if value.bytes().any(|byte| byte.is_ascii_control()) {
            return;
        }
        for piece in [name, ": ", value, "\r\n"] {
            self.headers.extend_from_slice(piece.as_bytes());
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nHTTP/1.1 ",
        );
        out.extend_from_slice(self.status.as_str().as_bytes());
        out.push(b' ');
        out.extend_from_slice(self.status.canonical_reason().unwrap_or("Unknown").as_bytes());
        out.extend_from_slice(b"\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n");
        out.extend_from_slice(b"DataServiceVersion: 3.0;\r\n");
        out.extend_from_slice(&self.headers);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.body);
        out.extend_from_slice(b"\r\n");
    }
}

fn failed_part(request: &Request<'_>, failure: &Failure) -> Part {
    let flavour = request.flavour();
    let shape = failure.shape(flavour);
    let mut part = Part::new(shape.status);
    part.header("x-ms-error-code", &shape.code);
    part.header("Content-Type", json_type(MetadataLevel::Full, flavour));
    part.body = json_body(&shape, flavour, request.request_id, request.shared.env.clock.now_ms());
    part
}

fn change_set_reply(request: &Request<'_>, parts: &[Part], charge: RequestUnits) -> Reply {
    let env = &request.shared.env;
    let (batch, change_set) = (env.guid(), env.guid());
    let mut body = Vec::with_capacity(parts.len() * 512 + 512);
    body.extend_from_slice(
        format!(
            "--batchresponse_{batch}\r\nContent-Type: multipart/mixed; boundary=changesetresponse_{change_set}\r\n\r\n"
        )
        .as_bytes(),
    );
    for part in parts {
        body.extend_from_slice(format!("--changesetresponse_{change_set}\r\n").as_bytes());
        part.write(&mut body);
    }
    body.extend_from_slice(
        format!("--changesetresponse_{change_set}--\r\n--batchresponse_{batch}--\r\n").as_bytes(),
    );
    reply(&batch, body, charge)
}

fn single_reply(request: &Request<'_>, part: &Part, charge: RequestUnits) -> Reply {
    let batch = request.shared.env.guid();
    let mut body = format!("--batchresponse_{batch}\r\n").into_bytes();
    part.write(&mut body);
    body.extend_from_slice(format!("--batchresponse_{batch}--\r\n").as_bytes());
    reply(&batch, body, charge)
}

fn reply(batch: &str, body: Vec<u8>, charge: RequestUnits) -> Reply {
    let mut reply = Reply::empty(StatusCode::ACCEPTED, charge);
    reply.headers = HeaderMap::new();
    let kind = format!("multipart/mixed; boundary=batchresponse_{batch}");
    let kind = HeaderValue::from_str(&kind).expect("a GUID is plain ASCII");
    reply.set(&http::header::CONTENT_TYPE, kind);
    reply.body = body.into();
    reply
}
