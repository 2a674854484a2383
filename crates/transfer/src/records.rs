//! Records: the pieces of an input that become one item each, in their order.

use std::io::{Cursor, Read};
use std::path::Path;

use anyhow::Result;

use crate::array::Array;
use crate::input::first_bytes;
use crate::json_lines::JsonLines;
use crate::options::Format;
use crate::table::Table;

/// Bytes that tell the format of an input, behind white space.
const FORMAT_BYTES: usize = 4_096;

/// A record as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its line in the input, from 1; that of its beginning, if it has several.
    pub(crate) line: u64,
    /// What it says.
    pub(crate) content: Content,
}

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text that should be a JSON object.
    Json(Vec<u8>),
    /// Fields of a table's row.
    Row(csv::ByteRecord),
    /// It cannot be taken: why, and as much of its text as is told of.
    Unusable {
        /// Why.
        why: String,
        /// Its beginning.
        text: Vec<u8>,
    },
}

/// Where records come from.
pub(crate) trait Source: Send {
    /// Returns the next record. An error is one of the input as a whole, behind which nothing can be read.
    fn next(&mut self) -> Result<Option<Record>>;

    /// Returns the names of columns, if the records are rows.
    fn columns(&self) -> Option<&[String]> {
        None
    }
}

/// Opens the records of an input.
pub(crate) fn open(
    bytes: Box<dyn Read + Send>,
    path: &Path,
    format: Format,
    delimiter: u8,
) -> Result<Box<dyn Source>> {
    let is_enough = |start: &[u8]| start.iter().any(|byte| !byte.is_ascii_whitespace());
    let (start, rest) = first_bytes(bytes, FORMAT_BYTES, is_enough)?;
    let format = match format {
        Format::Auto => guess(path, &start),
        given => given,
    };
    let bytes = Cursor::new(start).chain(rest);
    Ok(match format {
        Format::Csv => Box::new(Table::new(bytes, delimiter)?),
        Format::Json => Box::new(Array::new(bytes)?),
        Format::Auto | Format::Jsonl => Box::new(JsonLines::new(bytes)),
    })
}

/// Tells the format by the first bytes, and where they tell nothing by the name.
fn guess(path: &Path, start: &[u8]) -> Format {
    let name = path.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".csv") || name.ends_with(".tsv") {
        return Format::Csv;
    }
    match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'[') => Format::Json,
        Some(b'{') | None => Format::Jsonl,
        // Lines that are no objects are rejected one by one if the name promises objects.
        Some(_) if name.ends_with(".jsonl") || name.ends_with(".ndjson") || name.ends_with(".json") => {
            Format::Jsonl
        }
        Some(_) => Format::Csv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        for (name, start, expected) in [
            ("-", "{\"a\":1}\n", Format::Jsonl),
            ("-", " \n[", Format::Json),
            ("-", "", Format::Jsonl),
            ("-", "a,b\n", Format::Csv),
            ("x.json", "{", Format::Jsonl),
            ("x.json.gz", "[", Format::Json),
            ("x.ndjson", "oops", Format::Jsonl),
            ("x.csv", "[a],{b}\n", Format::Csv),
            ("X.CSV.GZ", "a", Format::Csv),
        ] {
            assert_eq!(guess(Path::new(name), start.as_bytes()), expected, "{name} {start}");
        }
    }
}
