//! Request paths: which resource a path addresses, and what its signature covers.
//!
//! A path is split at `/` first and each segment is percent-decoded afterwards, so a name may hold
//! anything, `%2F` included. Keywords count only at their positions: a database may be called `colls`.
//!
//! Invariant: parsing borrows from the path; a segment is copied only if it holds an escape.
//!
//! Not here: whether a segment is a name or a resource id (the engine knows which resources exist),
//! and which verbs a resource takes (its handler).

use std::borrow::Cow;
use std::fmt;

use armilla_engine::ScriptKind;
use armilla_rest_wire::percent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::limits::PATH_BYTES_MAX;

/// One decoded path segment: a name or a resource id.
pub(crate) type Segment<'p> = Cow<'p, str>;

/// Returns the keyword of a container's scripts of a kind.
fn script_keyword(kind: ScriptKind) -> &'static str {
    match kind {
        ScriptKind::StoredProcedure => "sprocs",
        ScriptKind::Trigger => "triggers",
        ScriptKind::UserDefinedFunction => "udfs",
    }
}

/// What a path addresses. Plural variants are feeds: they are listed, created in and queried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address<'p> {
    Account,
    Databases,
    Database { database: Segment<'p> },
    Containers { database: Segment<'p> },
    Container { database: Segment<'p>, container: Segment<'p> },
    PartitionKeyRanges { database: Segment<'p>, container: Segment<'p> },
    Items { database: Segment<'p>, container: Segment<'p> },
    Item { database: Segment<'p>, container: Segment<'p>, item: Segment<'p> },
    Attachments { database: Segment<'p>, container: Segment<'p>, item: Segment<'p> },
    Scripts { database: Segment<'p>, container: Segment<'p>, kind: ScriptKind },
    Script { database: Segment<'p>, container: Segment<'p>, kind: ScriptKind, script: Segment<'p> },
    Conflicts { database: Segment<'p>, container: Segment<'p> },
    Conflict { database: Segment<'p>, container: Segment<'p>, conflict: Segment<'p> },
    PartitionKeyDelete { database: Segment<'p>, container: Segment<'p> },
    Users { database: Segment<'p> },
    User { database: Segment<'p>, user: Segment<'p> },
    Permissions { database: Segment<'p>, user: Segment<'p> },
    Permission { database: Segment<'p>, user: Segment<'p>, permission: Segment<'p> },
    ClientEncryptionKeys { database: Segment<'p> },
    ClientEncryptionKey { database: Segment<'p>, key: Segment<'p> },
    Offers,
    Offer { offer: Segment<'p> },
}

/// Why a path addresses nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathError {
    /// Longer than any path of this API.
    TooLong,
    /// A `%` without two hexadecimal digits behind it, or bytes that are not UTF-8.
    Encoding,
    /// A segment is empty.
    EmptySegment,
    /// Where clients in direct mode ask for the addresses of partitions.
    DirectMode,
    /// No resource lies at such a path.
    Unknown,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathError::TooLong => write!(f, "the request path is longer than {PATH_BYTES_MAX} bytes"),
            PathError::Encoding => f.write_str("the request path is not percent-encoded UTF-8"),
            PathError::EmptySegment => f.write_str("the request path has an empty segment"),
            PathError::DirectMode => f.write_str(
                "This server speaks gateway mode only, and the client asks for the addresses of direct mode: call \
                 gatewayMode() on the client's builder (Java, Spring), or set ConnectionMode = ConnectionMode.Gateway \
                 (.NET).",
            ),
            PathError::Unknown => f.write_str("the request path addresses no kind of resource"),
        }
    }
}

/// Deepest path: `dbs/d/colls/c/docs/i/attachments/a`.
const SEGMENTS_MAX: usize = 8;

/// Finds out what a path addresses.
pub(crate) fn parse(path: &str) -> Result<Address<'_>, PathError> {
    if path.len() > PATH_BYTES_MAX {
        return Err(PathError::TooLong);
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() {
        return Ok(Address::Account);
    }
    if path.trim_matches('/') == "addresses" {
        return Err(PathError::DirectMode);
    }

    let mut raw = [""; SEGMENTS_MAX];
    let mut count = 0;
    for segment in path.split('/') {
        if segment.is_empty() {
            return Err(PathError::EmptySegment);
        }
        *raw.get_mut(count).ok_or(PathError::Unknown)? = segment;
        count += 1;
    }
    resource(&raw[..count])
}

fn resource<'p>(raw: &[&'p str]) -> Result<Address<'p>, PathError> {
    Ok(match *raw {
        ["dbs"] => Address::Databases,
        ["dbs", d] => Address::Database { database: decode(d)? },
        ["dbs", d, "colls"] => Address::Containers { database: decode(d)? },
        ["dbs", d, "colls", c] => Address::Container { database: decode(d)?, container: decode(c)? },
        ["dbs", d, "colls", c, ref below @ ..] => below_container(decode(d)?, decode(c)?, below)?,
        ["dbs", d, "users"] => Address::Users { database: decode(d)? },
        ["dbs", d, "users", u] => Address::User { database: decode(d)?, user: decode(u)? },
        ["dbs", d, "users", u, "permissions"] => {
            Address::Permissions { database: decode(d)?, user: decode(u)? }
        }
        ["dbs", d, "users", u, "permissions", p] => {
            Address::Permission { database: decode(d)?, user: decode(u)?, permission: decode(p)? }
        }
        ["dbs", d, "clientencryptionkeys"] => Address::ClientEncryptionKeys { database: decode(d)? },
        ["dbs", d, "clientencryptionkeys", k] => {
            Address::ClientEncryptionKey { database: decode(d)?, key: decode(k)? }
        }
        ["offers"] => Address::Offers,
        ["offers", o] => Address::Offer { offer: decode(o)? },
        _ => return Err(PathError::Unknown),
    })
}

fn below_container<'p>(
    database: Segment<'p>,
    container: Segment<'p>,
    below: &[&'p str],
) -> Result<Address<'p>, PathError> {
    Ok(match *below {
        ["docs"] => Address::Items { database, container },
        ["docs", i] => Address::Item { database, container, item: decode(i)? },
        ["docs", i, "attachments"] | ["docs", i, "attachments", _] => {
            Address::Attachments { database, container, item: decode(i)? }
        }
        ["pkranges"] => Address::PartitionKeyRanges { database, container },
        ["conflicts"] => Address::Conflicts { database, container },
        ["conflicts", x] => Address::Conflict { database, container, conflict: decode(x)? },
        ["operations", "partitionkeydelete"] => Address::PartitionKeyDelete { database, container },
        [word] => Address::Scripts { database, container, kind: script_kind(word)? },
        [word, s] => Address::Script { database, container, kind: script_kind(word)?, script: decode(s)? },
        _ => return Err(PathError::Unknown),
    })
}

fn script_kind(word: &str) -> Result<ScriptKind, PathError> {
    match word {
        "sprocs" => Ok(ScriptKind::StoredProcedure),
        "triggers" => Ok(ScriptKind::Trigger),
        "udfs" => Ok(ScriptKind::UserDefinedFunction),
        _ => Err(PathError::Unknown),
    }
}

/// Percent-decodes one segment. A `+` stays a `+`.
pub(crate) fn decode(segment: &str) -> Result<Segment<'_>, PathError> {
    percent::decode(segment).ok_or(PathError::Encoding)
}

impl<'p> Address<'p> {
    /// Returns the word that signatures use for this kind of resource.
    pub(crate) fn resource_type(&self) -> &'static str {
        match self {
            Address::Account => "",
            Address::Databases | Address::Database { .. } => "dbs",
            Address::Containers { .. } | Address::Container { .. } | Address::PartitionKeyDelete { .. } => {
                "colls"
            }
            Address::PartitionKeyRanges { .. } => "pkranges",
            Address::Items { .. } | Address::Item { .. } => "docs",
            Address::Attachments { .. } => "attachments",
            Address::Scripts { kind, .. } | Address::Script { kind, .. } => script_keyword(*kind),
            Address::Conflicts { .. } | Address::Conflict { .. } => "conflicts",
            Address::Users { .. } | Address::User { .. } => "users",
            Address::Permissions { .. } | Address::Permission { .. } => "permissions",
            Address::ClientEncryptionKeys { .. } | Address::ClientEncryptionKey { .. } => {
                "clientencryptionkeys"
            }
            Address::Offers | Address::Offer { .. } => "offers",
        }
    }

    /// Appends the link that a signature over names covers: the resource itself, or the parent of a feed.
    pub(crate) fn push_name_link(&self, link: &mut Vec<u8>) {
        let start = link.len();
        for word in self.link_words().into_iter().flatten() {
            if link.len() > start {
                link.push(b'/');
            }
            link.extend_from_slice(word.as_bytes());
        }
        if let Address::Offer { .. } = self {
            link[start..].make_ascii_lowercase();
        }
    }

    /// Returns the link that a signature over resource ids covers, if the path looks like one: the
    /// last id alone, in lower case.
    pub(crate) fn rid_link(&self) -> Option<String> {
        if !looks_like_database_rid(self.database()?) {
            return None;
        }
        let last = self.link_words().into_iter().flatten().last()?;
        Some(last.to_ascii_lowercase())
    }

    /// Returns the database segment of a path that has one.
    pub(crate) fn database(&self) -> Option<&str> {
        match self {
            Address::Account | Address::Databases | Address::Offers | Address::Offer { .. } => None,
            Address::Database { database }
            | Address::Containers { database }
            | Address::Container { database, .. }
            | Address::PartitionKeyRanges { database, .. }
            | Address::Items { database, .. }
            | Address::Item { database, .. }
            | Address::Attachments { database, .. }
            | Address::Scripts { database, .. }
            | Address::Script { database, .. }
            | Address::Conflicts { database, .. }
            | Address::Conflict { database, .. }
            | Address::PartitionKeyDelete { database, .. }
            | Address::Users { database }
            | Address::User { database, .. }
            | Address::Permissions { database, .. }
            | Address::Permission { database, .. }
            | Address::ClientEncryptionKeys { database }
            | Address::ClientEncryptionKey { database, .. } => Some(database),
        }
    }

    /// Returns the container segment of a path that has one.
    pub(crate) fn container(&self) -> Option<&str> {
        match self {
            Address::Container { container, .. }
            | Address::PartitionKeyRanges { container, .. }
            | Address::Items { container, .. }
            | Address::Item { container, .. }
            | Address::Attachments { container, .. }
            | Address::Scripts { container, .. }
            | Address::Script { container, .. }
            | Address::Conflicts { container, .. }
            | Address::Conflict { container, .. }
            | Address::PartitionKeyDelete { container, .. } => Some(container),
            Address::Account
            | Address::Databases
            | Address::Database { .. }
            | Address::Containers { .. }
            | Address::Users { .. }
            | Address::User { .. }
            | Address::Permissions { .. }
            | Address::Permission { .. }
            | Address::ClientEncryptionKeys { .. }
            | Address::ClientEncryptionKey { .. }
            | Address::Offers
            | Address::Offer { .. } => None,
        }
    }

    /// The words of the signed link, in order; what is not used is at the end.
    fn link_words(&self) -> [Option<&str>; 6] {
        let mut words = [None; 6];
        if let Some(database) = self.database() {
            words[0] = Some("dbs");
            words[1] = Some(database);
        }
        if let Some(container) = self.container() {
            words[2] = Some("colls");
            words[3] = Some(container);
        }
        match self {
            Address::Item { item, .. } | Address::Attachments { item, .. } => {
                words[4] = Some("docs");
                words[5] = Some(item);
            }
            Address::Script { kind, script, .. } => {
                words[4] = Some(script_keyword(*kind));
                words[5] = Some(script);
            }
            Address::Conflict { conflict, .. } => {
                words[4] = Some("conflicts");
                words[5] = Some(conflict);
            }
            Address::User { user, .. } | Address::Permissions { user, .. } => {
                words[2] = Some("users");
                words[3] = Some(user);
            }
            Address::Permission { user, permission, .. } => {
                words[2] = Some("users");
                words[3] = Some(user);
                words[4] = Some("permissions");
                words[5] = Some(permission);
            }
            Address::ClientEncryptionKey { key, .. } => {
                words[2] = Some("clientencryptionkeys");
                words[3] = Some(key);
            }
            // Offers are signed by their id alone.
            Address::Offer { offer } => words[0] = Some(offer),
            Address::Account
            | Address::Databases
            | Address::Database { .. }
            | Address::Containers { .. }
            | Address::Container { .. }
            | Address::PartitionKeyRanges { .. }
            | Address::Items { .. }
            | Address::Scripts { .. }
            | Address::Conflicts { .. }
            | Address::PartitionKeyDelete { .. }
            | Address::Users { .. }
            | Address::ClientEncryptionKeys { .. }
            | Address::Offers => {}
        }
        words
    }
}

/// Whether a database segment has the shape of a resource id: four bytes in base64 with `-` for `/`.
pub(crate) fn looks_like_database_rid(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    if bytes.len() != 8 || &bytes[6..] != b"==" {
        return false;
    }
    let mut standard = [0u8; 8];
    for (digit, byte) in standard.iter_mut().zip(bytes) {
        *digit = if *byte == b'-' { b'/' } else { *byte };
    }
    let mut decoded = [0u8; 6];
    STANDARD.decode_slice(standard, &mut decoded).is_ok_and(|length| length == 4)
}

#[cfg(test)]
mod tests;
