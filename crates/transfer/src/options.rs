//! What can be told to `armilla import` and `armilla export`.

use std::path::PathBuf;

use armilla_client::ServerOptions;
use armilla_value::PropertyPath;
use clap::{Args, ValueEnum};

use crate::limits::{CONNECTIONS_DEFAULT, CONNECTIONS_MAX, PARTITION_KEY_PATHS_MAX};

/// How the input is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Told by the name and the first bytes
    Auto,
    /// One JSON object a line
    Jsonl,
    /// A JSON array of objects
    Json,
    /// Comma-separated values with a header row (RFC 4180)
    Csv,
}

/// Whether something is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// Told by the circumstances
    Auto,
    /// It is
    On,
    /// It is not
    Off,
}

/// What happens to items that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// They are replaced
    Upsert,
    /// They stay; the record is rejected unless it is the same item
    Create,
}

/// A member of a record that becomes a property of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Where it goes.
    pub path: PropertyPath,
    /// Where it comes from.
    pub column: String,
}

/// Everything that can be set when importing.
#[derive(Debug, Args)]
pub struct ImportOptions {
    /// Database of the container
    #[arg(long, value_name = "NAME")]
    pub database: String,

    /// Container
    #[arg(long, value_name = "NAME")]
    pub container: String,

    /// File to read; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,

    /// How the input is written
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub format: Format,

    /// Whether the input is compressed with gzip; auto looks at its first bytes
    #[arg(long, value_name = "auto|on|off", default_value = "auto", hide_possible_values = true)]
    pub gzip: Choice,

    /// Column or member whose text becomes the id
    #[arg(long, value_name = "COLUMN")]
    pub id_from: Option<String>,

    /// Property that takes the value of a column or member, such as /customerId=customer; may be repeated
    #[arg(long = "partition-key-from", value_name = "PATH=COLUMN", value_parser = mapping)]
    pub partition_key_from: Vec<Mapping>,

    /// CSV: make numbers, true, false of fields that look so, and leave out empty ones, instead of taking all for text
    #[arg(long)]
    pub infer: bool,

    /// CSV: the character between fields
    #[arg(long, value_name = "CHARACTER", default_value = ",", value_parser = delimiter)]
    pub delimiter: u8,

    /// Make the database and the container if they are not there, partitioned by this path; may be repeated for a
    /// hierarchical key
    #[arg(long, value_name = "PATH", value_parser = key_path)]
    pub create: Vec<String>,

    /// Request units a second of a container that is made
    #[arg(long, value_name = "RU", requires = "create")]
    pub throughput: Option<u32>,

    /// What happens to items that are there
    #[arg(long, value_name = "MODE", default_value = "upsert")]
    pub mode: Mode,

    /// Connections to use
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = CONNECTIONS_DEFAULT,
        value_parser = clap::value_parser!(u16).range(1..=i64::from(CONNECTIONS_MAX))
    )]
    pub connections: u16,

    /// File that gets the records that were rejected, one JSON object a line, with reasons
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,

    /// File that keeps how far the import is: if it is there, records that are done are skipped
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Whether to show progress on standard error; auto does on a terminal
    #[arg(long, value_name = "auto|on|off", default_value = "auto", hide_possible_values = true)]
    pub progress: Choice,

    /// Which server.
    #[command(flatten)]
    pub server: ServerOptions,
}

/// Everything that can be set when exporting.
#[derive(Debug, Args)]
pub struct ExportOptions {
    /// Database of the container
    #[arg(long, value_name = "NAME")]
    pub database: String,

    /// Container
    #[arg(long, value_name = "NAME")]
    pub container: String,

    /// File to write; - is standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,

    /// Only the rows of a query
    #[arg(long, value_name = "SQL")]
    pub query: Option<String>,

    /// A graph of the Gremlin API in the language of Graphviz, to be drawn by `dot -Tsvg`
    #[arg(long, conflicts_with = "system_properties")]
    pub dot: bool,

    /// Compress with gzip [default: if the name of the file ends with .gz]
    #[arg(long)]
    pub gzip: bool,

    /// With what the server adds to items: _rid, _self, _etag, _attachments, _ts
    #[arg(long)]
    pub system_properties: bool,

    /// Whether to show progress on standard error; auto does on a terminal, if the file is another
    #[arg(long, value_name = "auto|on|off", default_value = "auto", hide_possible_values = true)]
    pub progress: Choice,

    /// Which server.
    #[command(flatten)]
    pub server: ServerOptions,
}

/// Checks what clap cannot: how many paths a partition key has.
pub(crate) fn check(options: &ImportOptions) -> anyhow::Result<()> {
    if options.create.len() > PARTITION_KEY_PATHS_MAX {
        anyhow::bail!(
            "--create is given {} times, but a partition key has at most {PARTITION_KEY_PATHS_MAX} paths",
            options.create.len()
        );
    }
    Ok(())
}

fn mapping(text: &str) -> Result<Mapping, String> {
    let (path, column) = text.split_once('=').ok_or("not of the form /path=column")?;
    if column.is_empty() {
        return Err("without a column behind the =".to_owned());
    }
    let path = PropertyPath::parse(path).map_err(|error| format!("{path} is no path: {error}"))?;
    Ok(Mapping { path, column: column.to_owned() })
}

fn key_path(text: &str) -> Result<String, String> {
    PropertyPath::parse(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("not one ASCII character other than a quote or a line break".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings() {
        for (text, expected) in [
            ("/a=b", Some((&["a"][..], "b"))),
            ("/a/b=c=d", Some((&["a", "b"], "c=d"))),
            ("/a", None),
            ("/a=", None),
            ("a=b", None),
            ("=b", None),
        ] {
            let found = mapping(text).ok();
            let found = found.as_ref().map(|mapping| (mapping.path.names(), mapping.column.as_str()));
            assert_eq!(
                found.map(|(path, column)| (path.join("/"), column)),
                expected.map(|(path, column)| (path.join("/"), column)),
                "{text}"
            );
        }
    }

    #[test]
    fn delimiters() {
        for (text, expected) in [
            (",", Some(b',')),
            (";", Some(b';')),
            ("\\t", Some(b'\t')),
            ("\t", Some(b'\t')),
            ("", None),
            ("\"", None),
            (",,", None),
            ("é", None),
        ] {
            assert_eq!(delimiter(text).ok(), expected, "{text}");
        }
    }
}
