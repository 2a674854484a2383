//! Replies of commands, and how they are written.

use armilla_mongo_wire::WireError;
use armilla_mongo_wire::bson::{self, finish_document, start_document, write_index, write_name};
use armilla_value::{Object, Value};

/// BSON's number of a document.
const DOCUMENT: u8 = 3;
/// BSON's number of an array.
const ARRAY: u8 = 4;

/// What a command answers with, without what all replies have.
pub(crate) enum Reply {
    /// A document.
    Document(Object),
    /// A batch of a cursor.
    Batch(Batch),
}

/// A batch of a cursor.
pub(crate) struct Batch {
    /// Whether it is the first.
    pub(crate) is_first: bool,
    /// The cursor, or 0 where there is no more.
    pub(crate) cursor: i64,
    pub(crate) namespace: String,
    /// The documents as BSON.
    pub(crate) documents: Vec<Vec<u8>>,
    /// What else the cursor says.
    pub(crate) extra: Object,
}

impl From<Object> for Reply {
    fn from(document: Object) -> Reply {
        Reply::Document(document)
    }
}

impl Reply {
    /// An empty reply.
    pub(crate) fn ok() -> Reply {
        Reply::Document(Object::new())
    }

    /// Appends the reply as one document; `end` are the members that all replies have.
    pub(crate) fn write(&self, end: &Object, out: &mut Vec<u8>) -> Result<(), WireError> {
        let start = start_document(out);
        match self {
            Reply::Document(members) => append(members, out)?,
            Reply::Batch(batch) => {
                write_name(DOCUMENT, "cursor", out)?;
                let cursor = start_document(out);
                write_name(ARRAY, if batch.is_first { "firstBatch" } else { "nextBatch" }, out)?;
                let array = start_document(out);
                for (position, document) in batch.documents.iter().enumerate() {
                    write_index(DOCUMENT, position, out);
                    out.extend_from_slice(document);
                }
                finish_document(array, out)?;
                append(&batch.extra, out)?;
                bson::encode_value_into("id", &Value::Int64(batch.cursor), out)?;
                bson::encode_value_into("ns", &Value::from(batch.namespace.as_str()), out)?;
                finish_document(cursor, out)?;
            }
        }
        append(end, out)?;
        finish_document(start, out)
    }
}

fn append(members: &Object, out: &mut Vec<u8>) -> Result<(), WireError> {
    members.iter().try_for_each(|(name, value)| bson::encode_value_into(name, value, out))
}
