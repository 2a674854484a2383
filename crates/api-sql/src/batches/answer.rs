//! The answer to a batch or bulk request: one result for each operation, in their order.
//!
//! ```text
//! {"statusCode":201,"subStatusCode"?,"retryAfterMilliseconds"?,"requestCharge":6.29,"eTag"?,"resourceBody"?,"message"?}
//! ```
//!
//! Invariants:
//! * the reply is 200 if every operation has a status of success, and 207 otherwise;
//! * an operation that was done never reads as one that was not: where the answer grows too long, the item of a write
//!   is left out of it, and only reads are refused.

use std::io::Write as _;

use armilla_engine::{
    ActionDone, BatchAnswer, ChangeKind, ContainerHandle, ETag, Item, ItemAction, ReadItem, RequestUnits,
    Written,
};
use armilla_rest_wire::status::{Status, sub_status};
use http::StatusCode;

use crate::batches::body::BatchOperation;
use crate::json_text::{push_integer, push_string};
use crate::limits::BATCH_ANSWER_BYTES_MAX;
use crate::reply::Reply;
use crate::reply::failure::{Detail, Failure};

/// What one operation wants in its result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// No item, if the operation is a write.
    is_minimal: bool,
    /// No item, if there is one.
    knows_any_version: bool,
    is_read: bool,
}

impl Asked {
    /// Returns what an operation wants. `is_minimal` is what the whole request wants.
    pub(crate) fn by(operation: &BatchOperation, is_minimal: bool) -> Asked {
        Asked {
            is_minimal: is_minimal || operation.is_minimal,
            knows_any_version: operation.knows_any_version,
            is_read: matches!(operation.action, ItemAction::Read { .. }),
        }
    }
}

/// Returns the reply to a batch whose operations were done all or none.
pub(crate) fn transaction(
    container: &ContainerHandle,
    mut answer: BatchAnswer,
    asked: &[Asked],
) -> Result<Reply, Failure> {
    let mut results = Results::new(container);
    results.push_all(&mut answer, asked);
    // Nothing was changed by reads alone: the client can ask for less.
    if results.refused_reads && asked.iter().all(|asked| asked.is_read) {
        let failure = Failure::new(too_long(), TOO_LONG);
        return Err(Failure { charge: answer.charge, position: answer.position, ..failure });
    }
    Ok(results.reply(&answer))
}

/// Returns the reply to operations that were done each on its own.
pub(crate) fn bulk(container: &ContainerHandle, mut answer: BatchAnswer, asked: &[Asked]) -> Reply {
    let mut results = Results::new(container);
    results.push_all(&mut answer, asked);
    results.reply(&answer)
}

const TOO_LONG: &str = "the answer would be longer than 4 MiB: read fewer items at a time";

/// The status of what does not fit into the answer. Some clients ask again for exactly that.
fn too_long() -> Status {
    Status::TOO_LARGE.sub(sub_status::RESPONSE_SIZE_EXCEEDED)
}

/// The results so far.
struct Results<'c> {
    container: &'c ContainerHandle,
    text: Vec<u8>,
    all_succeeded: bool,
    refused_reads: bool,
}

impl<'c> Results<'c> {
    fn new(container: &'c ContainerHandle) -> Results<'c> {
        Results { container, text: vec![b'['], all_succeeded: true, refused_reads: false }
    }

    /// Appends one result for each operation, and takes them out of the answer.
    fn push_all(&mut self, answer: &mut BatchAnswer, asked: &[Asked]) {
        for (index, (result, asked)) in std::mem::take(&mut answer.results).into_iter().zip(asked).enumerate()
        {
            if index > 0 {
                self.text.push(b',');
            }
            match result {
                Ok(ActionDone::Written(written)) => self.push_written(&written, *asked),
                Ok(ActionDone::Read(read)) => self.push_read(&read, *asked),
                Ok(ActionDone::NotModified { etag, charge }) => {
                    self.begin(StatusCode::NOT_MODIFIED, charge);
                    self.push_etag(etag);
                }
                Err(error) => self.push_failure(&error.into()),
            }
            self.text.push(b'}');
        }
        self.text.push(b']');
    }

    fn push_written(&mut self, written: &Written, asked: Asked) {
        let status = match written.kind {
            ChangeKind::Create => StatusCode::CREATED,
            ChangeKind::Replace | ChangeKind::Update => StatusCode::OK,
            ChangeKind::Delete | ChangeKind::Expire => StatusCode::NO_CONTENT,
        };
        self.begin(status, written.charge);
        if written.kind == ChangeKind::Delete {
            return;
        }
        self.push_etag(written.item.etag(self.container.identity()));
        if !asked.is_minimal && self.has_room_for(&written.item) {
            self.push_item(&written.item);
        }
    }

    fn push_read(&mut self, read: &ReadItem, asked: Asked) {
        let etag = read.item.etag(self.container.identity());
        if asked.knows_any_version {
            self.begin(StatusCode::NOT_MODIFIED, read.charge);
            self.push_etag(etag);
        } else if self.has_room_for(&read.item) {
            self.begin(StatusCode::OK, read.charge);
            self.push_etag(etag);
            self.push_item(&read.item);
        } else {
            self.refused_reads = true;
            self.push_failure(&Failure { charge: read.charge, ..Failure::new(too_long(), TOO_LONG) });
        }
    }

    fn push_failure(&mut self, failure: &Failure) {
        self.begin(failure.status.http, failure.charge);
        if failure.status.sub != 0 {
            self.text.extend_from_slice(b",\"subStatusCode\":");
            push_integer(&mut self.text, failure.status.sub);
        }
        if let Some(Detail::RetryAfterMs(milliseconds)) = failure.detail {
            self.text.extend_from_slice(b",\"retryAfterMilliseconds\":");
            push_integer(&mut self.text, milliseconds);
        }
        // There is nothing to say of what was not tried.
        if failure.status != Status::FAILED_DEPENDENCY && failure.status != Status::NOT_MODIFIED {
            self.text.extend_from_slice(b",\"message\":");
            push_string(&mut self.text, &failure.message);
        }
    }

    fn begin(&mut self, status: StatusCode, charge: RequestUnits) {
        self.all_succeeded &= status.is_success();
        self.text.extend_from_slice(b"{\"statusCode\":");
        push_integer(&mut self.text, status.as_u16());
        write!(self.text, ",\"requestCharge\":{charge}").expect("writing to a vector does not fail");
    }

    fn push_etag(&mut self, etag: ETag) {
        self.text.extend_from_slice(b",\"eTag\":\"\\\"");
        self.text.extend_from_slice(&etag.text());
        self.text.extend_from_slice(b"\\\"\"");
    }

    fn has_room_for(&self, item: &Item) -> bool {
        self.text.len() + item.json_bytes(self.container.identity()) <= BATCH_ANSWER_BYTES_MAX
    }

    fn push_item(&mut self, item: &Item) {
        self.text.extend_from_slice(b",\"resourceBody\":");
        item.write_json(self.container.identity(), &mut self.text);
    }

    fn reply(self, answer: &BatchAnswer) -> Reply {
        let status = if self.all_succeeded { StatusCode::OK } else { StatusCode::MULTI_STATUS };
        let mut reply = Reply::json(status, self.text, answer.charge);
        if let Some(position) = answer.position {
            reply.position(position);
        }
        reply
    }
}
