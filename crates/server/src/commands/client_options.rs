//! What can be told to the commands that ask a running server.

use armilla_client::ServerOptions;
use clap::Args;

/// Which container.
#[derive(Debug, Args)]
pub(crate) struct ContainerOptions {
    /// Database of the container
    #[arg(long, value_name = "NAME")]
    pub(crate) database: String,

    /// Container
    #[arg(long, value_name = "NAME")]
    pub(crate) container: String,
}

/// Everything that can be set when splitting.
#[derive(Debug, Args)]
pub(crate) struct SplitOptions {
    #[command(flatten)]
    pub(crate) container: ContainerOptions,

    /// Range to split [default: the widest]
    #[arg(long, value_name = "ID")]
    pub(crate) range: Option<u32>,

    /// Hashed key in hexadecimal with which the second half begins [default: the middle]
    #[arg(long, value_name = "HEX", value_parser = hexadecimal)]
    pub(crate) at: Option<String>,

    /// Return once it has begun
    #[arg(long)]
    pub(crate) no_wait: bool,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Everything that can be set when merging.
#[derive(Debug, Args)]
pub(crate) struct MergeOptions {
    #[command(flatten)]
    pub(crate) container: ContainerOptions,

    /// The two neighbouring ranges, such as 1,2
    #[arg(long, value_name = "ID,ID", required = true, value_parser = two_ranges)]
    pub(crate) ranges: [u32; 2],

    /// Return once it has begun
    #[arg(long)]
    pub(crate) no_wait: bool,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Everything that can be set when looking at partitions.
#[derive(Debug, Args)]
pub(crate) struct PartitionsOptions {
    /// Only containers of this database
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,

    /// Only containers of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) container: Option<String>,

    /// Print what the server says of all containers, as JSON
    #[arg(long, conflicts_with_all = ["database", "container"])]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

fn hexadecimal(text: &str) -> Result<String, String> {
    let is_hexadecimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hexadecimal { Ok(text.to_ascii_uppercase()) } else { Err("not hexadecimal digits".to_owned()) }
}

fn two_ranges(text: &str) -> Result<[u32; 2], String> {
    let ids = text.split_once(',').map(|(one, other)| (one.trim().parse(), other.trim().parse()));
    match ids {
        Some((Ok(one), Ok(other))) if one != other => Ok([one, other]),
        _ => Err("not the ids of two ranges, such as 1,2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_hashed_keys() {
        for (text, expected) in [
            ("1,2", Some([1, 2])),
            (" 7 , 3 ", Some([7, 3])),
            ("1", None),
            ("1,1", None),
            ("1,2,3", None),
            ("a,b", None),
        ] {
            assert_eq!(two_ranges(text).ok(), expected, "{text}");
        }
        for (text, expected) in [("1ff", Some("1FF")), ("", None), ("0x1", None), ("é", None)] {
            assert_eq!(hexadecimal(text).ok().as_deref(), expected, "{text}");
        }
    }
}
