//! Addresses: which table, entity or other resource the path of a request names.
//!
//! Paths are taken as they are sent. What separates segments is looked for before anything is decoded, so that an
//! encoded slash stays part of a key.
//!
//! Not here: the account that a path may begin with (`auth`).

use armilla_rest_wire::percent;

use crate::limits::PATH_BYTES_MAX;
use crate::options::Flavour;

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// The account itself.
    Service,
    /// Several operations.
    Batch,
    /// All tables.
    Tables,
    /// One table.
    Table(String),
    /// The entities of a table.
    Entities(String),
    /// Something behind a table, where nothing is.
    Beyond(String),
    /// One entity.
    Entity { table: String, partition_key: String, row_key: String },
}

/// Why a path names nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathError;

/// Reads a path from which the account was taken off.
pub(crate) fn parse(path: &str, flavour: Flavour) -> Result<Address, PathError> {
    if path.len() > PATH_BYTES_MAX {
        return Err(PathError);
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let segment = path.strip_suffix('/').unwrap_or(path);
    if let Some((table, _)) = segment.split_once('/') {
        // Storage accounts say of the table what they can say.
        return match (flavour, percent::decode(table)) {
            (Flavour::Storage, Some(table)) if !table.is_empty() => Ok(Address::Beyond(table.into_owned())),
            _ => Err(PathError),
        };
    }
    let segment = percent::decode(segment).ok_or(PathError)?;
    if segment.is_empty() {
        return Ok(Address::Service);
    }
    if segment.eq_ignore_ascii_case("$batch") {
        return Ok(Address::Batch);
    }
    let is_tables = |name: &str| match flavour {
        Flavour::Cosmos => name == "Tables",
        // Names have no case there, and no table has this one.
        Flavour::Storage => name.eq_ignore_ascii_case("Tables"),
    };
    if let Some((table, predicate)) = last_parenthesis(&segment)
        && is_tables(table)
        && let Some(name) = predicate.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''))
    {
        return unquote(name).map(Address::Table).ok_or(PathError);
    }
    // A table may be named like this: the first place from which everything reads as keys is where they begin.
    for (at, _) in segment.match_indices('(') {
        let Some(predicate) = segment[at + 1..].strip_suffix(')') else { break };
        if at > 0
            && let Some((partition_key, row_key)) = keys(predicate)
        {
            return Ok(Address::Entity { table: segment[..at].to_owned(), partition_key, row_key });
        }
    }
    let name = segment.strip_suffix("()").unwrap_or(&segment);
    if name.is_empty() || name.starts_with('$') {
        return Err(PathError);
    }
    if is_tables(name) {
        return Ok(Address::Tables);
    }
    if flavour == Flavour::Storage && name.contains(['(', ')']) {
        return Err(PathError);
    }
    Ok(Address::Entities(name.to_owned()))
}

/// Splits a segment that ends with something in parentheses, at the first of them.
fn last_parenthesis(segment: &str) -> Option<(&str, &str)> {
    segment.strip_suffix(')')?.split_once('(')
}

/// Reads `PartitionKey='p',RowKey='r'`, in either order.
fn keys(predicate: &str) -> Option<(String, String)> {
    let (first_name, first, rest) = key(predicate)?;
    let rest = rest.trim_start().strip_prefix(',')?;
    let (second_name, second, rest) = key(rest)?;
    if !rest.trim().is_empty() {
        return None;
    }
    match (first_name, second_name) {
        ("PartitionKey", "RowKey") => Some((first, second)),
        ("RowKey", "PartitionKey") => Some((second, first)),
        _ => None,
    }
}

/// Reads a name and a quoted value, and returns what comes behind them.
fn key(text: &str) -> Option<(&str, String, &str)> {
    let (name, rest) = text.split_once('=')?;
    let rest = rest.trim_start().strip_prefix('\'')?;
    let mut from = 0;
    loop {
        let end = from + rest[from..].find('\'')?;
        if rest[end + 1..].starts_with('\'') {
            from = end + 2;
            continue;
        }
        return Some((name.trim(), rest[..end].replace("''", "'"), &rest[end + 1..]));
    }
}

/// Undoes the doubling of quotes; `None` if one stands alone.
fn unquote(text: &str) -> Option<String> {
    let mut unquoted = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\'' && characters.next() != Some('\'') {
            return None;
        }
        unquoted.push(character);
    }
    Some(unquoted)
}

/// Writes the address of an entity as clients know it: quotes doubled, everything else that is not plain
/// percent-encoded.
pub(crate) fn entity_link(table: &str, partition_key: &str, row_key: &str) -> String {
    let mut link = String::with_capacity(table.len() + partition_key.len() + row_key.len() + 32);
    encode(table, &mut link);
    link.push_str("(PartitionKey='");
    encode(partition_key, &mut link);
    link.push_str("',RowKey='");
    encode(row_key, &mut link);
    link.push_str("')");
    link
}

/// Percent-encodes text, and doubles its quotes: for a place between quotes.
pub(crate) fn encode(text: &str, out: &mut String) {
    for (position, piece) in text.split('\'').enumerate() {
        if position > 0 {
            out.push_str("''");
        }
        out.extend(percent::encode(piece));
    }
}

#[cfg(test)]
mod tests;
