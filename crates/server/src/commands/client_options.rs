//! What can be told to the commands that ask a running server.

use armilla_client::ServerOptions;
use armilla_value::{Value, json};
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

/// Everything that can be set when showing nodes.
#[derive(Debug, Args)]
pub(crate) struct NodesOptions {
    /// Print what the server answers, as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Everything that can be set when ending a node.
#[derive(Debug, Args)]
pub(crate) struct DrainOptions {
    /// Name or address of the node, as `armilla nodes` shows it [default: the one that is asked]
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,

    /// Return once it has begun
    #[arg(long)]
    pub(crate) no_wait: bool,

    /// Seconds to wait until it has ended
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) timeout_seconds: u32,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Everything that can be done with regions.
#[derive(Debug, Args)]
pub(crate) struct RegionOptions {
    /// What to do
    #[command(subcommand)]
    pub(crate) action: RegionAction,
}

/// What is done with a region.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum RegionAction {
    /// Show the regions
    List(RegionListOptions),
    /// Let a region answer requests with 503
    Offline(RegionNameOptions),
    /// Let a region answer again
    Online(RegionNameOptions),
    /// Let a region take the writes, instead of the one that does
    Write(RegionNameOptions),
}

/// Everything that can be set when showing regions.
#[derive(Debug, Args)]
pub(crate) struct RegionListOptions {
    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Which region.
#[derive(Debug, Args)]
pub(crate) struct RegionNameOptions {
    /// Name of the region
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Everything that can be set about throughput buckets.
#[derive(Debug, Args)]
pub(crate) struct BucketsOptions {
    #[command(flatten)]
    pub(crate) container: ContainerOptions,

    /// The buckets, from 1 to 5, and the most that each may use, such as 1=40; those that are not given have no bound any more
    #[arg(value_name = "BUCKET=PERCENT", value_parser = bucket_share)]
    pub(crate) shares: Vec<(u8, u8)>,

    /// Take away all bounds
    #[arg(long, conflicts_with = "shares")]
    pub(crate) clear: bool,

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

/// Everything that can be set when asking a query.
#[derive(Debug, Args)]
pub(crate) struct QueryOptions {
    /// Database of the container
    pub(crate) database: String,

    /// Container
    pub(crate) container: String,

    /// The query, such as 'SELECT * FROM c WHERE c.city = @city'
    pub(crate) query: String,

    /// A parameter of the query, its value as JSON or, where it is none, as text; can be given several times
    #[arg(long = "parameter", short = 'p', value_name = "@NAME=VALUE", value_parser = parameter)]
    pub(crate) parameters: Vec<(String, String)>,

    /// Ask one logical partition only: its key as a JSON array, such as '["a"]'
    #[arg(long, value_name = "JSON")]
    pub(crate) partition_key: Option<String>,

    /// Stop after so many rows
    #[arg(long, value_name = "COUNT")]
    pub(crate) max: Option<u64>,

    /// Tell how the query is answered and what each step cost, instead of its rows; `plan` asks without running it
    #[arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "run", value_enum)]
    pub(crate) explain: Option<ExplainHow>,

    /// Print what is explained as JSON
    #[arg(long, requires = "explain")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// How a query is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExplainHow {
    /// Without running it
    Plan,
    /// By running it, page by page, to its end
    Run,
}

/// Reads `@name=value`; the value becomes JSON.
fn parameter(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a parameter is written as @name=value")?;
    let name = if name.starts_with('@') { name.to_owned() } else { format!("@{name}") };
    let value = match json::parse(value.as_bytes()) {
        Ok(_) => value.to_owned(),
        Err(_) => json::to_string(&Value::from(value)),
    };
    Ok((name, value))
}

fn bucket_share(text: &str) -> Result<(u8, u8), String> {
    let share = text.split_once('=').map(|(bucket, percent)| (bucket.parse(), percent.parse()));
    match share {
        Some((Ok(bucket @ 1..=5), Ok(percent @ 1..=100))) => Ok((bucket, percent)),
        _ => Err("not a bucket from 1 to 5 and a share from 1 to 100 percent, such as 1=40".to_owned()),
    }
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
    fn ranges_buckets_and_hashed_keys() {
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
        for (text, expected) in
            [("1=40", Some((1, 40))), ("5=100", Some((5, 100))), ("6=1", None), ("1=0", None), ("1", None)]
        {
            assert_eq!(bucket_share(text).ok(), expected, "{text}");
        }
        for (text, expected) in [("1ff", Some("1FF")), ("", None), ("0x1", None), ("é", None)] {
            assert_eq!(hexadecimal(text).ok().as_deref(), expected, "{text}");
        }
    }
}
