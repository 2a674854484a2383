//! What a script asks of its collection, and calls that wait to be sent.

use super::bytes::{Malformed, Reader, Writer};

/// What a frame of calls begins with.
pub(super) const CALLS_TAG: u8 = 3;

/// What a script asks of its collection.
#[derive(Debug, Clone, PartialEq)]
pub enum Call<'a> {
    /// Read a document.
    Read {
        /// Which.
        name: Name<'a>,
        /// The etag that the script holds already.
        known: Option<&'a str>,
        /// Whether the script looks at it.
        is_wanted: bool,
    },
    /// Create a document.
    Create {
        /// Its JSON text.
        body: &'a str,
        /// Whether the script looks at what was stored.
        is_wanted: bool,
    },
    /// Create or replace a document.
    Upsert {
        /// Its JSON text.
        body: &'a str,
        /// Whether the script looks at what was stored.
        is_wanted: bool,
        /// The etag that it must have.
        etag: Option<&'a str>,
    },
    /// Replace a document.
    Replace {
        /// Which.
        name: Name<'a>,
        /// Its new JSON text.
        body: &'a str,
        /// Whether the script looks at what was stored.
        is_wanted: bool,
        /// The etag that it must have.
        etag: Option<&'a str>,
    },
    /// Delete a document.
    Delete {
        /// Which.
        name: Name<'a>,
        /// The etag that it must have.
        etag: Option<&'a str>,
    },
    /// Read a page.
    Query {
        /// The query; all documents if there is none.
        text: Option<&'a str>,
        /// Its parameters as JSON.
        parameters: Option<&'a str>,
        /// The most that the page may hold.
        page_size: Option<u64>,
        /// Where an earlier page ended.
        continuation: Option<&'a str>,
        /// Whether the script looks at it.
        is_wanted: bool,
    },
    /// Some ids for documents that have none.
    Guids,
    /// Some numbers for `Math.random`.
    Randoms,
    /// The time.
    Now,
    /// How much is stored.
    Usage,
}

/// How a document is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    /// Whether it is a resource id.
    pub is_rid: bool,
    /// The id.
    pub text: &'a str,
}

impl<'a> Call<'a> {
    pub(super) fn encode<'w, 'f>(&self, writer: &'w mut Writer<'f>) -> &'w mut Writer<'f> {
        match *self {
            Call::Read { name, known, is_wanted } => {
                writer.tag(0).flag(name.is_rid).text(name.text).optional(known).flag(is_wanted)
            }
            Call::Create { body, is_wanted } => writer.tag(1).text(body).flag(is_wanted),
            Call::Upsert { body, is_wanted, etag } => writer.tag(2).text(body).flag(is_wanted).optional(etag),
            Call::Replace { name, body, is_wanted, etag } => {
                writer.tag(3).flag(name.is_rid).text(name.text).text(body).flag(is_wanted).optional(etag)
            }
            Call::Delete { name, etag } => writer.tag(4).flag(name.is_rid).text(name.text).optional(etag),
            Call::Query { text, parameters, page_size, continuation, is_wanted } => writer
                .tag(5)
                .optional(text)
                .optional(parameters)
                .number(page_size.map_or(u64::MAX, |size| size.min(u64::MAX - 1)))
                .optional(continuation)
                .flag(is_wanted),
            Call::Guids => writer.tag(6),
            Call::Randoms => writer.tag(7),
            Call::Now => writer.tag(8),
            Call::Usage => writer.tag(9),
        }
    }

    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Call<'a>, Malformed> {
        let name = |reader: &mut Reader<'a>| -> Result<Name<'a>, Malformed> {
            Ok(Name { is_rid: reader.flag()?, text: reader.text()? })
        };
        Ok(match reader.tag()? {
            0 => Call::Read { name: name(reader)?, known: reader.optional()?, is_wanted: reader.flag()? },
            1 => Call::Create { body: reader.text()?, is_wanted: reader.flag()? },
            2 => Call::Upsert { body: reader.text()?, is_wanted: reader.flag()?, etag: reader.optional()? },
            3 => Call::Replace {
                name: name(reader)?,
                body: reader.text()?,
                is_wanted: reader.flag()?,
                etag: reader.optional()?,
            },
            4 => Call::Delete { name: name(reader)?, etag: reader.optional()? },
            5 => Call::Query {
                text: reader.optional()?,
                parameters: reader.optional()?,
                page_size: Some(reader.number()?).filter(|size| *size != u64::MAX),
                continuation: reader.optional()?,
                is_wanted: reader.flag()?,
            },
            6 => Call::Guids,
            7 => Call::Randoms,
            8 => Call::Now,
            9 => Call::Usage,
            _ => return Err(Malformed),
        })
    }
}

/// Calls that wait to be sent, in the form in which they will be.
#[derive(Debug, Default)]
pub struct CallList {
    bytes: Vec<u8>,
    count: u64,
}

impl CallList {
    /// Adds a call.
    pub fn push(&mut self, call: &Call<'_>) {
        call.encode(&mut Writer::resume(&mut self.bytes));
        self.count += 1;
    }

    /// Returns how many there are.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns how many bytes they have.
    pub fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends the frame of a notice with these calls, of which so many were accepted.
    pub fn encode(&self, accepted: u64, frame: &mut Vec<u8>) {
        let mut writer = Writer::begin(frame);
        writer.tag(CALLS_TAG).number(accepted).number(self.count).raw(&self.bytes);
        writer.end();
    }

    /// Forgets them, and keeps so many bytes of room.
    pub fn clear(&mut self, bytes_kept: usize) {
        self.bytes.clear();
        self.bytes.shrink_to(bytes_kept);
        self.count = 0;
    }
}
