//! What can be told to `armilla feed`.

use std::fmt::Write as _;
use std::path::PathBuf;

use armilla_client::ServerOptions;
use armilla_value::{Value, json};
use clap::Args;

use super::start::Start;
use crate::limits::FEED_PAGE_ITEMS_MAX;

/// Everything that can be set when reading a feed.
#[derive(Debug, Args)]
pub(crate) struct FeedOptions {
    /// Database of the container
    #[arg(value_name = "DATABASE")]
    pub(crate) database: String,

    /// Container
    #[arg(value_name = "CONTAINER")]
    pub(crate) container: String,

    /// Where to start: beginning, now, a time (RFC 3339 or RFC 1123), or a position that was told before
    /// [default: beginning; now with --all-versions, which are kept for a while only]
    #[arg(long, value_name = "WHERE", value_parser = Start::parse)]
    pub(crate) from: Option<Start>,

    /// Stop at the end instead of waiting for more
    #[arg(long)]
    pub(crate) once: bool,

    /// Every version of every item, with deletes and expiries, instead of the newest versions
    ///
    /// The container has to keep them: its changeFeedPolicy says for how many minutes.
    #[arg(long)]
    pub(crate) all_versions: bool,

    /// Only changes under this partition key, in JSON: '"Oslo"', 7, or '["a", 7]' for a key of several paths
    #[arg(long, value_name = "JSON", value_parser = partition_key)]
    pub(crate) partition_key: Option<String>,

    /// Stop after so many changes; a transaction is printed whole, so there may be a few more
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,

    /// File that keeps the position: the start if it is there, written each time that changes were printed
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    /// Most changes to ask for at once
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = FEED_PAGE_ITEMS_MAX,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(FEED_PAGE_ITEMS_MAX))
    )]
    pub(crate) page_items: u32,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Returns a partition key as a header has it: a list, in ASCII.
fn partition_key(text: &str) -> Result<String, String> {
    let value = json::parse(text.as_bytes())
        .map_err(|error| format!("not JSON ({error}); strings need quotes, such as '\"Oslo\"'"))?;
    let components = match value {
        Value::Array(components) if components.is_empty() => {
            return Err("a key without components".to_owned());
        }
        components @ Value::Array(_) => components,
        component => Value::Array(vec![component]),
    };
    let mut ascii = String::new();
    for character in json::to_string(&components).chars() {
        match character {
            ' '..='~' => ascii.push(character),
            // Only strings have such characters.
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(ascii, "\\u{unit:04x}");
                }
            }
        }
    }
    Ok(ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_as_headers() {
        for (text, expected) in [
            (r#""Oslo""#, Ok(r#"["Oslo"]"#)),
            ("7", Ok("[7]")),
            ("null", Ok("[null]")),
            ("{}", Ok("[{}]")),
            (r#"["a", true]"#, Ok(r#"["a",true]"#)),
            (r#""Tromsø 😀""#, Ok(r#"["Troms\u00f8 \ud83d\ude00"]"#)),
            ("\"\u{7f}\\n\"", Ok(r#"["\u007f\n"]"#)),
            ("Oslo", Err("strings need quotes")),
            ("", Err("not JSON")),
            ("[]", Err("without components")),
        ] {
            match (partition_key(text), expected) {
                (Ok(key), Ok(expected)) => assert_eq!(key, expected),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{text}: {error}"),
                (got, _) => panic!("{text}: {got:?}"),
            }
        }
    }
}
