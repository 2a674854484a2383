//! What can be told to `armilla advise`.

use std::path::PathBuf;

use armilla_advisor::{Alteration, CannotAlter};
use armilla_client::ServerOptions;
use clap::Args;

/// Everything that can be set when asking for advice.
#[derive(Debug, Args)]
pub(crate) struct AdviseOptions {
    /// Only containers of this database
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,

    /// Only containers of this name
    #[arg(long, value_name = "NAME")]
    pub(crate) container: Option<String>,

    /// Print the advice as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the advice as a page with plots, too
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Exit with 2 if there is a finding of this severity or a worse one: severe, warning or note
    #[arg(long, value_name = "SEVERITY")]
    pub(crate) fail_on: Option<String>,

    /// Have the server forget what it has recorded of requests, and nothing else: what follows is the load to judge
    #[arg(long, conflicts_with_all = ["json", "html", "fail_on", "items"])]
    pub(crate) forget: bool,

    /// Measure another partition key: CONTAINER:/PATH[,/PATH...]
    #[arg(long = "try-key", value_name = "WHAT", help_heading = "What if")]
    try_key: Vec<String>,

    /// Measure another index: CONTAINER:+/PATH,-/PATH (composite), CONTAINER:exclude=/PATH/?, CONTAINER:include=/PATH/?
    #[arg(long = "try-index", value_name = "WHAT", help_heading = "What if")]
    try_index: Vec<String>,

    /// Measure copies of what items refer to: CONTAINER[.SORT]:/REFERENCE=SOURCE:/MEMBER[,/MEMBER...]
    #[arg(long = "try-embed", value_name = "WHAT", help_heading = "What if")]
    try_embed: Vec<String>,

    /// Measure a counter that is kept up to date: CONTAINER:SORT.MEMBER=COUNTED
    #[arg(long = "try-count", value_name = "WHAT", help_heading = "What if")]
    try_count: Vec<String>,

    /// Measure a copy in a container of another key: CONTAINER[.SORT]:/PATH[,/TEXT<CHARACTERS...]
    #[arg(long = "try-copy", value_name = "WHAT", help_heading = "What if")]
    try_copy: Vec<String>,

    /// Measure a list of the newest: CONTAINER.SORT:/PATH,COUNT[,/TEXT<CHARACTERS...]
    #[arg(long = "try-newest", value_name = "WHAT", help_heading = "What if")]
    try_newest: Vec<String>,

    /// Without a server: items of a container, one JSON object a line; can be given several times
    #[arg(long, value_name = "CONTAINER:/KEY=FILE", help_heading = "Without a server")]
    pub(crate) items: Vec<String>,

    /// Without a server: requests, one JSON object a line, as docs/modelling describes them
    #[arg(long, value_name = "FILE", help_heading = "Without a server")]
    pub(crate) requests: Vec<PathBuf>,

    /// Without a server: throughput of each container, which decides how many physical partitions it has
    #[arg(long, value_name = "RU", default_value_t = 60_000, help_heading = "Without a server")]
    pub(crate) throughput: u32,

    /// Without a server: how many seconds of work the requests are
    #[arg(long, value_name = "SECONDS", help_heading = "Without a server")]
    pub(crate) over_seconds: Option<u32>,

    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

impl AdviseOptions {
    /// Returns what is to be measured, in the order of the options' names.
    pub(super) fn alterations(&self) -> Result<Vec<Alteration>, CannotAlter> {
        type Parse = fn(&str) -> Result<Alteration, CannotAlter>;
        let groups: [(&[String], Parse); 6] = [
            (&self.try_key, Alteration::parse_key),
            (&self.try_index, Alteration::parse_index),
            (&self.try_embed, Alteration::parse_embed),
            (&self.try_count, Alteration::parse_count),
            (&self.try_copy, Alteration::parse_copy),
            (&self.try_newest, Alteration::parse_newest),
        ];
        groups.into_iter().flat_map(|(texts, parse)| texts.iter().map(move |text| parse(text))).collect()
    }
}
