//! What a script can reach.
//!
//! Everything passes as JSON text. An implementation stands over one transaction on one logical partition; it commits
//! nothing itself.

use armilla_value::Value;

/// The documents of one logical partition, as a script sees them.
pub trait Collection: Send {
    /// Returns the link by resource ids: `dbs/<rid>/colls/<rid>/`.
    fn self_link(&self) -> String;

    /// Returns the link by names: `dbs/<name>/colls/<name>`.
    fn alt_link(&self) -> String;

    /// Says whether further operations are refused because time or budget is nearly out. Methods return false then.
    fn is_closing(&self) -> bool;

    /// Returns how many operations are accepted from now on without being asked about one by one: so few that time and
    /// budget would not be nearly out after them. At most [`WINDOW_MAX`](crate::limits::WINDOW_MAX) are used.
    fn window(&self) -> u64;

    /// Reads a document. `known` is the etag that the script holds already.
    fn read(&mut self, document: DocumentName<'_>, known: Option<&str>) -> Result<ReadDocument, Refusal>;

    /// Creates a document, whose id is in the body, and returns it as it is stored.
    fn create(&mut self, body: &str) -> Result<String, Refusal>;

    /// Creates or replaces a document, whose id is in the body, and says whether it was created.
    fn upsert(&mut self, body: &str, etag: Option<&str>) -> Result<(String, bool), Refusal>;

    /// Replaces a document and returns it as it is stored.
    fn replace(
        &mut self,
        document: DocumentName<'_>,
        body: &str,
        etag: Option<&str>,
    ) -> Result<String, Refusal>;

    /// Deletes a document.
    fn delete(&mut self, document: DocumentName<'_>, etag: Option<&str>) -> Result<(), Refusal>;

    /// Reads a page of documents, or of the results of a query.
    fn query(&mut self, feed: FeedRequest<'_>) -> Result<FeedPage, Refusal>;

    /// Makes the id of a document that has none.
    fn guid(&mut self) -> String;

    /// Returns what `Math.random` gives next: at least 0, less than 1.
    fn random(&mut self) -> f64;

    /// Returns the time that `Date` shows, in milliseconds since 1970.
    fn now_ms(&self) -> u64;

    /// Returns how much is stored.
    fn usage(&self) -> CollectionUsage;
}

/// How much is stored, and how much may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectionUsage {
    /// What is stored.
    pub current_bytes: u64,
    /// What may be stored.
    pub max_bytes: u64,
}

/// How a script names a document of the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentName<'a> {
    /// By its id.
    Id(&'a str),
    /// By its resource id, as in `_self`.
    Rid(&'a str),
}

/// A document that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadDocument {
    /// Its JSON text.
    Found(String),
    /// The script holds this version already.
    NotModified,
}

/// Which page a script asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedRequest<'a> {
    /// The query; all documents if there is none.
    pub text: Option<&'a str>,
    /// Its parameters, `@` included in the names.
    pub parameters: Vec<(String, Value)>,
    /// The most that the page may hold; as many as possible if nothing is said.
    pub page_size: Option<usize>,
    /// Where an earlier page ended.
    pub continuation: Option<&'a str>,
}

/// A page of documents or results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// A JSON array.
    pub documents: String,
    /// How many they are.
    pub count: usize,
    /// Where the next page begins, if there is one.
    pub continuation: Option<String>,
}

/// Why an operation was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of reason it is.
    pub code: ErrorCode,
    /// The reason in words.
    pub message: String,
}

impl Refusal {
    /// Says why an operation is not done.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }
}

/// The error numbers that scripts know, as in their global `ErrorCodes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    /// The request is wrong.
    BadRequest = 400,
    /// The request is not allowed.
    Forbidden = 403,
    /// There is no such document.
    NotFound = 404,
    /// There is such a document already.
    Conflict = 409,
    /// The document has another etag.
    PreconditionFailed = 412,
    /// The document is too large.
    RequestEntityTooLarge = 413,
    /// Another writer was faster.
    RetryWith = 449,
    /// Our fault.
    InternalServerError = 500,
}

impl ErrorCode {
    /// Returns the number.
    pub fn number(self) -> u32 {
        self as u32
    }
}
