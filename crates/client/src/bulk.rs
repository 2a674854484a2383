//! Bulk requests and batches: several operations in one body, and what became of each.
//!
//! Items are put into the body as the text that they are; nothing is parsed on the way.

use armilla_value::{Value, json};
use bytes::Bytes;

use crate::limits::{BULK_BODY_BYTES_MAX, BULK_OPERATIONS_MAX};

/// What one operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Creates an item.
    Create(&'a [u8]),
    /// Creates or replaces an item.
    Upsert(&'a [u8]),
    /// Replaces the item of an id.
    Replace(&'a str, &'a [u8]),
    /// Deletes the item of an id.
    Delete(&'a str),
    /// Reads the item of an id.
    Read(&'a str),
}

impl Operation<'_> {
    /// Bytes that the operation takes in a body at most, beside its text, its id and its key.
    const OVERHEAD_BYTES_MAX: usize = 128;

    fn name(&self) -> &'static str {
        match self {
            Operation::Create(_) => "Create",
            Operation::Upsert(_) => "Upsert",
            Operation::Replace(..) => "Replace",
            Operation::Delete(_) => "Delete",
            Operation::Read(_) => "Read",
        }
    }

    fn id(&self) -> Option<&str> {
        match self {
            Operation::Replace(id, _) | Operation::Delete(id) | Operation::Read(id) => Some(id),
            Operation::Create(_) | Operation::Upsert(_) => None,
        }
    }

    fn body(&self) -> Option<&[u8]> {
        match self {
            Operation::Create(body) | Operation::Upsert(body) | Operation::Replace(_, body) => Some(body),
            Operation::Delete(_) | Operation::Read(_) => None,
        }
    }
}

/// The body of a bulk request or batch that is being written.
#[derive(Debug, Clone, Default)]
pub struct Operations {
    text: Vec<u8>,
    count: usize,
}

impl Operations {
    /// Starts with nothing.
    pub fn new() -> Operations {
        Operations::default()
    }

    /// Appends an operation, unless the request would be too large with it (`false`). One operation always fits.
    ///
    /// `partition_key` is a JSON array; in a batch it is the request's own, and may be left out.
    pub fn push(&mut self, operation: Operation<'_>, partition_key: Option<&str>) -> bool {
        let id_length = operation.id().map_or(0, |id| 6 * id.len());
        // A key is written in quotes, in which each of its bytes may become two.
        let length = operation.body().map_or(0, <[u8]>::len)
            + id_length
            + partition_key.map_or(0, |key| 6 * key.len())
            + Operation::OVERHEAD_BYTES_MAX;
        let is_full = self.count == BULK_OPERATIONS_MAX || self.text.len() + length >= BULK_BODY_BYTES_MAX;
        if is_full && self.count > 0 {
            return false;
        }
        self.text.push(if self.count == 0 { b'[' } else { b',' });
        self.text.extend_from_slice(b"{\"operationType\":\"");
        self.text.extend_from_slice(operation.name().as_bytes());
        self.text.push(b'"');
        if let Some(id) = operation.id() {
            self.text.extend_from_slice(b",\"id\":");
            json::write_string(id, &mut self.text);
        }
        if let Some(key) = partition_key {
            self.text.extend_from_slice(b",\"partitionKey\":");
            json::write_string(key, &mut self.text);
        }
        if let Some(body) = operation.body() {
            self.text.extend_from_slice(b",\"resourceBody\":");
            self.text.extend_from_slice(body);
        }
        self.text.push(b'}');
        self.count += 1;
        true
    }

    /// Returns how many operations there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns how many bytes the body has so far.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the body, and starts anew.
    pub fn take(&mut self) -> Bytes {
        let mut text = std::mem::take(&mut self.text);
        if self.count == 0 {
            text.push(b'[');
        }
        self.count = 0;
        text.push(b']');
        text.into()
    }
}

/// What became of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationResult {
    /// The status.
    pub status: u16,
    /// The sub-status; 0 if there is none.
    pub sub_status: u32,
    /// What it cost.
    pub charge: f64,
    /// How long to wait before it is asked for again, if it was refused for its rate.
    pub retry_after_ms: Option<u64>,
    /// Why it was refused.
    pub message: Option<String>,
    /// The item, where one was asked for.
    pub item: Option<Value>,
}

impl OperationResult {
    /// Whether it was done.
    pub fn is_done(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Reads what became of the operations, in their order.
pub fn results(body: &[u8]) -> anyhow::Result<Vec<OperationResult>> {
    let Value::Array(results) = json::parse(body)? else {
        anyhow::bail!("the answer to several operations is no list");
    };
    let result = |result: Value| {
        let whole = |name: &str| result.get(name).and_then(Value::as_i64);
        let small = |name: &str| whole(name).and_then(|number| u32::try_from(number).ok());
        let status = whole("statusCode").and_then(|status| u16::try_from(status).ok());
        Ok(OperationResult {
            status: status.ok_or_else(|| anyhow::anyhow!("an operation's result has no statusCode"))?,
            sub_status: small("subStatusCode").unwrap_or(0),
            charge: result.get("requestCharge").and_then(Value::as_f64).unwrap_or(0.0),
            retry_after_ms: small("retryAfterMilliseconds").map(u64::from),
            message: result.get("message").and_then(Value::as_str).map(str::to_owned),
            item: match result {
                Value::Object(mut members) => members.remove("resourceBody"),
                _ => None,
            },
        })
    };
    results.into_iter().map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies() {
        let mut operations = Operations::new();
        assert!(operations.is_empty());
        assert!(operations.push(Operation::Create(br#"{"id":"a"}"#), Some(r#"["x\"y"]"#)));
        assert!(operations.push(Operation::Upsert(b"{}"), None));
        assert!(operations.push(Operation::Replace("ø\"", b"{}"), None));
        assert!(operations.push(Operation::Delete("d"), Some("[1]")));
        assert!(operations.push(Operation::Read("r"), Some("[1]")));
        assert_eq!(operations.len(), 5);
        let expected = concat!(
            r#"[{"operationType":"Create","partitionKey":"[\"x\\\"y\"]","resourceBody":{"id":"a"}},"#,
            r#"{"operationType":"Upsert","resourceBody":{}},"#,
            r#"{"operationType":"Replace","id":"ø\"","resourceBody":{}},"#,
            r#"{"operationType":"Delete","id":"d","partitionKey":"[1]"},"#,
            r#"{"operationType":"Read","id":"r","partitionKey":"[1]"}]"#,
        );
        assert_eq!(operations.take(), expected);
        assert_eq!(operations.take(), "[]");
    }

    #[test]
    fn bounds() {
        let mut operations = Operations::new();
        for _ in 0..BULK_OPERATIONS_MAX {
            assert!(operations.push(Operation::Create(b"{}"), Some("[1]")));
        }
        assert!(!operations.push(Operation::Create(b"{}"), Some("[1]")));
        operations.take();
        let large = vec![b' '; BULK_BODY_BYTES_MAX / 2 - 2 * Operation::OVERHEAD_BYTES_MAX];
        assert!(operations.push(Operation::Create(&large), None));
        assert!(operations.push(Operation::Create(&large), None));
        assert!(operations.take().len() <= BULK_BODY_BYTES_MAX);
        let larger = vec![b' '; BULK_BODY_BYTES_MAX / 2];
        assert!(operations.push(Operation::Create(&larger), None));
        assert!(!operations.push(Operation::Create(&larger), None));
        let mut alone = Operations::new();
        assert!(
            alone.push(Operation::Create(&vec![b' '; 2 * BULK_BODY_BYTES_MAX]), None),
            "the server refuses it"
        );
    }

    #[test]
    fn results_in_order() {
        let text = r#"[{"statusCode":201,"requestCharge":7.43,"eTag":"\"x\"","resourceBody":{"id":"a"}},
            {"statusCode":429,"subStatusCode":3200,"requestCharge":0.38,"retryAfterMilliseconds":12,"message":"wait"}]"#;
        let results = results(text.as_bytes()).unwrap();
        assert!(results[0].is_done() && !results[1].is_done());
        assert!(results[0].item.is_some());
        assert_eq!(
            (results[1].status, results[1].sub_status, results[1].retry_after_ms),
            (429, 3_200, Some(12))
        );
        assert_eq!(results[1].message.as_deref(), Some("wait"));
        for text in ["{}", "[{}]", "", "[{\"statusCode\":70000}]"] {
            assert!(super::results(text.as_bytes()).is_err(), "{text}");
        }
    }
}
