//! What can be set, and where: one list of options for the command line, the environment and the file.
//!
//! Every option is `None` until somebody sets it. The order of precedence is: flag, `ARMILLA_...` in the
//! environment (clap does these two), configuration file, default (`settings` does these two).
//!
//! Not here: defaults and checks of the values (`settings`), reading the file (`config_file`).

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use armilla_demo::DemoOptions;
use armilla_transfer::{ExportOptions, ImportOptions};
use armilla_workload::BenchOptions;
use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;

use crate::commands::advise::options::AdviseOptions;
use crate::commands::backup_options::{BackupOptions, RestoreOptions};
use crate::commands::client_options::{
    BucketsOptions, DrainOptions, MergeOptions, NodesOptions, PartitionsOptions, QueryOptions, RegionOptions,
    SplitOptions,
};
use crate::commands::feed::FeedOptions;
use crate::settings::help;
use crate::settings::port::PortChoice;

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "armilla",
    version,
    about = help::ABOUT,
    long_about = help::LONG_ABOUT,
    after_help = help::AFTER_HELP,
    after_long_help = help::AFTER_LONG_HELP,
    args_conflicts_with_subcommands = true,
    subcommand_help_heading = "Commands (none: serve)",
    disable_help_subcommand = true
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) options: Options,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve a data folder (what `armilla` does without a command)
    #[command(after_long_help = help::AFTER_LONG_HELP)]
    Serve(Box<Options>),
    /// Verify everything stored in a data folder; no server may be running on it
    ///
    /// Exit code 0: clean. 2: problems, listed one per line. 1: the check could not run.
    Check(CheckOptions),
    /// Copy everything a running server stores, as of one moment, into a folder of backups; verify and list them
    ///
    /// The server goes on serving. A second backup into the same folder writes only what has changed.
    /// Exit code 0: done. 2: `verify` found problems, listed one per line. 1: it could not.
    #[command(after_help = help::AFTER_BACKUP_HELP)]
    Backup(Box<BackupOptions>),
    /// Make a data folder from a backup
    ///
    /// Every byte is verified first. Exit code 0: done. 2: the backup is damaged, and nothing was made. 1: it could not.
    #[command(after_help = help::AFTER_RESTORE_HELP)]
    Restore(RestoreOptions),
    /// Save what can be saved of a damaged data folder; no server may be running on it
    ///
    /// The originals stay beside, in a folder that it names. Exit code 0: nothing is lost. 2: what was lost is listed, one a
    /// line. 1: it could not.
    Repair(RepairOptions),
    /// Split a physical partition of a container in two while the server serves it
    ///
    /// Asks a running server and shows how far it is. Exit code 0: done, or begun with --no-wait. 1: it could not.
    #[command(after_help = help::AFTER_SPLIT_HELP)]
    Split(SplitOptions),
    /// Merge two neighbouring physical partitions of a container while the server serves them
    ///
    /// Asks a running server and shows how far it is. Exit code 0: done, or begun with --no-wait. 1: it could not.
    #[command(after_help = help::AFTER_MERGE_HELP)]
    Merge(MergeOptions),
    /// Show the physical partitions of a running server: sizes, throughput, hottest keys
    #[command(after_help = help::AFTER_PARTITIONS_HELP)]
    Partitions(PartitionsOptions),
    /// Show the nodes that serve the account of a running server, where there are several
    #[command(after_help = help::AFTER_NODES_HELP)]
    Nodes(NodesOptions),
    /// End a node once other nodes have taken its partitions, so that no request fails
    ///
    /// SIGTERM does the same. Exit code 0: it has ended, or begun with --no-wait. 1: it could not.
    #[command(after_help = help::AFTER_DRAIN_HELP)]
    Drain(DrainOptions),
    /// Show the regions of a running server, take one offline, or let another take the writes
    ///
    /// For trying what clients make of it; forgotten at the next start. Exit code 0: done. 1: it could not.
    #[command(after_help = help::AFTER_REGION_HELP)]
    Region(RegionOptions),
    /// Show the throughput buckets of a container of a running server, or give them other shares
    ///
    /// Requests name a bucket with the header x-ms-cosmos-throughput-bucket. Exit code 0: done. 1: it could not.
    #[command(after_help = help::AFTER_BUCKETS_HELP)]
    Buckets(BucketsOptions),
    /// Ask a query of a container of a running server: its rows, one a line, or how it is answered and what it costs
    ///
    /// Exit code 0: asked. 1: it could not.
    #[command(after_help = help::AFTER_QUERY_HELP)]
    Query(Box<QueryOptions>),
    /// Say what is wrong with a data model, by the data and the requests of a running server or of files, and what it costs
    ///
    /// What would be better is measured on a copy in memory. Exit code 0: done. 2: there is a finding that --fail-on names.
    /// 1: it could not.
    #[command(after_help = help::AFTER_ADVISE_HELP)]
    Advise(Box<AdviseOptions>),
    /// Print the changes of a container of a running server, one JSON object a line, and follow
    ///
    /// Items come as they are now, in the order of their last change under each partition key, with the number of
    /// that change as `_lsn`. What is said about it goes to standard error, at the end with the position.
    /// Exit code 0: ended by a signal, by --once or --max, or because nobody reads it. 1: it could not go on.
    #[command(after_help = help::AFTER_FEED_HELP)]
    Feed(FeedOptions),
    /// Write items of a file into a container of a running server: JSON lines, a JSON array or CSV
    ///
    /// Exit code 0: all items were written. 2: some were rejected. 1: it could not go on.
    #[command(after_help = help::AFTER_IMPORT_HELP)]
    Import(Box<ImportOptions>),
    /// Write the items of a container of a running server into a file, one JSON object a line
    ///
    /// Exit code 0: all were written. 1: it could not go on.
    #[command(after_help = help::AFTER_EXPORT_HELP)]
    Export(Box<ExportOptions>),
    /// Show a worked example: a data model in several versions, and what each operation costs
    Demo(Box<DemoOptions>),
    /// Measure a server under named workloads, and compare measurements
    Bench(Box<BenchOptions>),
}

/// Whether something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Switch {
    /// It is
    On,
    /// It is not
    Off,
}

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DurabilityChoice {
    /// After it would survive the loss of power
    Strict,
    /// At once; a crash may take back the newest writes. For throw-away databases
    Relaxed,
}

/// Who puts together the results of a query that several physical partitions answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CrossPartitionChoice {
    /// The server: every query is answered
    Merge,
    /// The client, as with the service: it is refused with the plan that it needs (400/1004)
    Plan,
}

/// Whose rules hold in the Gremlin API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GremlinDialect {
    /// TinkerPop's, with everything that is there
    Open,
    /// The service's, with what it refuses
    CosmosStrict,
}

/// What is answered to GraphSON 2.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GremlinGraphSon2 {
    /// Values without types, as the service
    Untyped,
    /// Values with types, as TinkerPop
    Typed,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object per line
    Json,
}

/// The heading of what decides how much a container serves and holds.
const THROUGHPUT: &str = "Throughput and partitions";

/// Everything that can be set when serving.
#[derive(Debug, Default, Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Options {
    /// Address to listen on; beyond this machine only with a key of your own [default: 127.0.0.1]
    #[arg(long, env = "ARMILLA_BIND", value_name = "ADDRESS", help_heading = "Listening")]
    pub(crate) bind: Option<IpAddr>,

    /// Port of the SQL (NoSQL) REST API, HTTPS and plain HTTP alike; 0 takes a free one [default: 8081]
    #[arg(long, env = "ARMILLA_PORT", value_name = "PORT", help_heading = "Listening")]
    pub(crate) port: Option<u16>,

    /// Port of the Table API, HTTPS and plain HTTP alike; 0 takes a free one, off opens none [default: 8902, with
    /// --port 0 a free one]
    #[arg(long, env = "ARMILLA_TABLE_PORT", value_name = "PORT|off", help_heading = "Listening")]
    pub(crate) table_port: Option<PortChoice>,

    /// Port of the Table API as the storage service speaks it; UseDevelopmentStorage=true means 10002 [default: off]
    #[arg(long, env = "ARMILLA_STORAGE_TABLE_PORT", value_name = "PORT|off", help_heading = "Listening")]
    pub(crate) storage_table_port: Option<PortChoice>,

    /// Port of the MongoDB API, TLS and plain alike; 0 takes a free one, off opens none [default: 10255, with --port 0 a
    /// free one]
    #[arg(long, env = "ARMILLA_MONGO_PORT", value_name = "PORT|off", help_heading = "Listening")]
    pub(crate) mongo_port: Option<PortChoice>,

    /// Address that clients of the MongoDB API are told to use, such as `db.example:10255` [default: the one they came by]
    #[arg(
        long,
        env = "ARMILLA_MONGO_ADVERTISED_ADDRESS",
        value_name = "HOST:PORT",
        help_heading = "Listening"
    )]
    pub(crate) mongo_advertised_address: Option<String>,

    /// Name of the replica set that clients of the MongoDB API are told [default: globaldb]
    #[arg(long, env = "ARMILLA_MONGO_SET_NAME", value_name = "NAME", help_heading = "Listening")]
    pub(crate) mongo_set_name: Option<String>,

    /// Whether commands of the MongoDB API wait by themselves where the throughput is spent, up to 60 seconds, instead of
    /// failing with 16500 [default: off]
    #[arg(long, env = "ARMILLA_MONGO_SERVER_SIDE_RETRY", value_name = "on|off", help_heading = THROUGHPUT)]
    pub(crate) mongo_server_side_retry: Option<Switch>,

    /// Seconds that an aggregation pipeline of the MongoDB API may compute for one batch, before it fails with 50
    /// [default: 60]
    #[arg(long, env = "ARMILLA_MONGO_PIPELINE_SECONDS", value_name = "SECONDS", help_heading = THROUGHPUT)]
    pub(crate) mongo_pipeline_seconds: Option<u32>,

    /// Whether commands for tests of MongoDB drivers are there, such as configureFailPoint [default: off]
    #[arg(long, env = "ARMILLA_MONGO_TEST_COMMANDS", value_name = "on|off", help_heading = "Listening")]
    pub(crate) mongo_test_commands: Option<Switch>,

    /// Port of the Gremlin API, WebSocket and HTTP, TLS and plain alike; 0 takes a free one, off opens none [default: 8901,
    /// with --port 0 a free one]
    #[arg(long, env = "ARMILLA_GREMLIN_PORT", value_name = "PORT|off", help_heading = "Listening")]
    pub(crate) gremlin_port: Option<PortChoice>,

    /// Whose rules hold in the Gremlin API where they differ: TinkerPop's with everything that is there, or the service's
    /// with what it refuses [default: open]
    #[arg(
        long,
        env = "ARMILLA_GREMLIN_DIALECT",
        value_name = "open|cosmos-strict",
        help_heading = "Listening"
    )]
    pub(crate) gremlin_dialect: Option<GremlinDialect>,

    /// What the Gremlin API answers to GraphSON 2.0: values without types, as the service, or with them, as TinkerPop
    /// [default: untyped]
    #[arg(long, env = "ARMILLA_GREMLIN_GRAPHSON2", value_name = "untyped|typed", help_heading = "Listening")]
    pub(crate) gremlin_graphson2: Option<GremlinGraphSon2>,

    /// Seconds that a traversal may take, unless the request says otherwise [default: 30]
    #[arg(long, env = "ARMILLA_GREMLIN_TIMEOUT_SECONDS", value_name = "SECONDS", help_heading = THROUGHPUT)]
    pub(crate) gremlin_timeout_seconds: Option<u32>,

    /// Whether clients of the Gremlin API log in with a key; off only on this machine's own address [default: on]
    #[arg(long, env = "ARMILLA_GREMLIN_LOGIN", value_name = "on|off", help_heading = "Listening")]
    pub(crate) gremlin_login: Option<Switch>,

    /// Another name of a graph, such as `gmodern=/dbs/d/colls/modern`, by which requests ask for it as an alias
    #[arg(
        long,
        env = "ARMILLA_GREMLIN_ALIAS",
        value_name = "NAME=GRAPH",
        value_delimiter = ',',
        help_heading = "Listening"
    )]
    pub(crate) gremlin_alias: Vec<String>,

    /// Address that clients of the SQL API are told to use, such as `https://db.example:8081/` [default: the one they came by]
    #[arg(long, env = "ARMILLA_ADVERTISED_URL", value_name = "URL", help_heading = "Listening")]
    pub(crate) advertised_url: Option<String>,

    /// Regions that the account says it has, such as "West US 2,East US": the first at --port, the others at the ports
    /// behind it or at one given as "East US=9082" [default: South Central US]
    #[arg(
        long = "regions",
        env = "ARMILLA_REGIONS",
        value_name = "NAME[=PORT]",
        value_delimiter = ',',
        help_heading = "Listening"
    )]
    pub(crate) regions: Vec<String>,

    /// Whether all of them take writes, or the first alone [default: off]
    #[arg(
        long,
        env = "ARMILLA_MULTI_WRITE",
        value_name = "on|off",
        hide_possible_values = true,
        help_heading = "Listening"
    )]
    pub(crate) multi_write: Option<Switch>,

    /// Further host name that clients use for this server; may be repeated or comma-separated, `.example` is every name
    /// below, `*` any [default: localhost, addresses, the names of --advertised-url and --tls-name; beyond loopback also
    /// names without a dot]
    #[arg(
        long = "allowed-hosts",
        env = "ARMILLA_ALLOWED_HOSTS",
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Access"
    )]
    pub(crate) allowed_hosts: Vec<String>,

    /// Origin of web pages that may send requests, such as http://localhost:3000; may be repeated or comma-separated,
    /// `https://*.example` is every name below, `*` any [default: none]
    #[arg(
        long = "allowed-origins",
        env = "ARMILLA_ALLOWED_ORIGINS",
        value_name = "ORIGIN",
        value_delimiter = ',',
        help_heading = "Access"
    )]
    pub(crate) allowed_origins: Vec<String>,

    /// Certificate chain in PEM, instead of the self-signed one; needs --tls-key
    #[arg(long, env = "ARMILLA_TLS_CERT", value_name = "FILE", help_heading = "Listening")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Private key in PEM of --tls-cert
    #[arg(long, env = "ARMILLA_TLS_KEY", value_name = "FILE", help_heading = "Listening")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Further host name or address in the self-signed certificate; may be repeated or comma-separated
    #[arg(
        long = "tls-name",
        env = "ARMILLA_TLS_NAME",
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Listening"
    )]
    pub(crate) tls_name: Vec<String>,

    /// Account key in base64 [default: the well-known key of the emulators]
    ///
    /// Prefer ARMILLA_KEY: command lines can be read by every user of the machine.
    #[arg(long, env = "ARMILLA_KEY", value_name = "BASE64", hide_env_values = true, help_heading = "Access")]
    pub(crate) key: Option<String>,

    /// Second account key in base64, so that keys can be changed while clients run [default: none]
    #[arg(
        long,
        env = "ARMILLA_SECONDARY_KEY",
        value_name = "BASE64",
        hide_env_values = true,
        help_heading = "Access"
    )]
    pub(crate) secondary_key: Option<String>,

    /// Key in base64 that permits reading alone [default: none]
    #[arg(
        long,
        env = "ARMILLA_READ_ONLY_KEY",
        value_name = "BASE64",
        hide_env_values = true,
        help_heading = "Access"
    )]
    pub(crate) read_only_key: Option<String>,

    /// Issuer of OpenID Connect tokens that are believed, as in their claim `iss`; needs --oidc-audience and --oidc-keys
    /// [default: none]
    #[arg(long, env = "ARMILLA_OIDC_ISSUER", value_name = "ISSUER", help_heading = "Access")]
    pub(crate) oidc_issuer: Option<String>,

    /// Audience that these tokens must be for (`aud`)
    #[arg(long, env = "ARMILLA_OIDC_AUDIENCE", value_name = "AUDIENCE", help_heading = "Access")]
    pub(crate) oidc_audience: Option<String>,

    /// File or address of the issuer's keys (JWKS)
    #[arg(long, env = "ARMILLA_OIDC_KEYS", value_name = "FILE|URL", help_heading = "Access")]
    pub(crate) oidc_keys: Option<String>,

    /// Claim with the roles for data of a token's bearer, reader or contributor [default: roles]
    #[arg(long, env = "ARMILLA_OIDC_ROLES_CLAIM", value_name = "NAME", help_heading = "Access")]
    pub(crate) oidc_roles_claim: Option<String>,

    /// TOML file with roles by the `oid` or `sub` of bearers: "3f2a..." = "contributor"
    #[arg(long, env = "ARMILLA_OIDC_ROLES", value_name = "FILE", help_heading = "Access")]
    pub(crate) oidc_roles: Option<PathBuf>,

    /// Seconds that the date of a signature may lie from this machine's clock [default: 900]
    #[arg(long, env = "ARMILLA_DATE_SKEW_SECONDS", value_name = "SECONDS", help_heading = "Access")]
    pub(crate) date_skew_seconds: Option<u32>,

    /// Folder that holds everything; made when missing [default: ./armilla-data]
    #[arg(long, env = "ARMILLA_DATA_DIR", value_name = "FOLDER", help_heading = "Storage")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Keep everything in memory and nothing on disk
    #[arg(
        long,
        env = "ARMILLA_MEMORY",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = BoolishValueParser::new(),
        hide_possible_values = true,
        help_heading = "Storage"
    )]
    pub(crate) memory: Option<bool>,

    /// Keep everything in an object store: s3://bucket/prefix, az://container/prefix, gs://bucket/prefix or
    /// file:///folder. Keys and endpoints come from the usual variables of each service (AWS_..., AZURE_..., GOOGLE_...);
    /// the data folder has the certificate alone then
    #[arg(long, env = "ARMILLA_STORE", value_name = "URL", help_heading = "Storage")]
    pub(crate) store: Option<String>,

    /// With --store: megabytes on disk, in the data folder, for copies of what was read from it [default: 0]
    #[arg(long, env = "ARMILLA_STORE_CACHE_MB", value_name = "MB", help_heading = "Storage")]
    pub(crate) store_cache_mb: Option<u32>,

    /// With --store: seconds that a process which has died keeps others from taking its place [default: 6]
    #[arg(long, env = "ARMILLA_LEASE_SECONDS", value_name = "SECONDS", help_heading = "Storage")]
    pub(crate) lease_seconds: Option<u32>,

    /// With --store: be one of several nodes that serve the account, and let others reach this one at this address and port
    /// (0 picks a free one)
    #[arg(long, env = "ARMILLA_NODE", value_name = "ADDRESS:PORT", help_heading = "Storage")]
    pub(crate) node: Option<SocketAddr>,

    /// When a write is acknowledged [default: strict]
    #[arg(long, env = "ARMILLA_DURABILITY", value_name = "WHEN", help_heading = "Storage")]
    pub(crate) durability: Option<DurabilityChoice>,

    /// Megabytes of memory for hot items (half of it), blocks and places of items, filled only as they are used
    /// [default: 128]
    #[arg(long, env = "ARMILLA_CACHE_MB", value_name = "MB", help_heading = "Storage")]
    pub(crate) cache_mb: Option<u32>,

    /// Megabytes of memory for what was written and is not in sorted files yet: more makes loads faster and a start
    /// after a crash slower; not with --store [default: 64]
    #[arg(long, env = "ARMILLA_WRITE_BUFFER_MB", value_name = "MB", help_heading = "Storage")]
    pub(crate) write_buffer_mb: Option<u32>,

    /// Most bytes of one item's JSON [default: 2097152]
    #[arg(
        long,
        env = "ARMILLA_ITEM_BYTES_MAX",
        value_name = "BYTES",
        help_heading = "Limits of the service"
    )]
    pub(crate) item_bytes_max: Option<u32>,

    /// Days for which all versions and deletes of items are kept in every container, such as 7d: the change feed of all
    /// versions then needs no policy of the container [default: off]
    #[arg(
        long,
        env = "ARMILLA_CONTINUOUS_BACKUP",
        value_name = "DAYS|off",
        help_heading = "Limits of the service"
    )]
    pub(crate) continuous_backup: Option<String>,

    /// Consistency level of the account: Eventual, ConsistentPrefix, Session, BoundedStaleness or Strong
    /// [default: Session]
    #[arg(long, env = "ARMILLA_CONSISTENCY", value_name = "LEVEL", help_heading = "Limits of the service")]
    pub(crate) consistency: Option<String>,

    /// Who merges a query's results of several physical partitions, such as an ORDER BY over all [default: merge]
    #[arg(
        long,
        env = "ARMILLA_CROSS_PARTITION_QUERIES",
        value_name = "WHO",
        help_heading = "Limits of the service"
    )]
    pub(crate) cross_partition_queries: Option<CrossPartitionChoice>,

    /// Seconds that a stored procedure or trigger may run [default: 5]
    #[arg(
        long,
        env = "ARMILLA_SCRIPT_SECONDS",
        value_name = "SECONDS",
        help_heading = "Limits of the service"
    )]
    pub(crate) script_seconds: Option<u32>,

    /// Whether requests beyond the provisioned throughput are refused (429); charges are reported anyway
    /// [default: on]
    #[arg(long, env = "ARMILLA_THROTTLE", value_name = "on|off", hide_possible_values = true, help_heading = THROUGHPUT)]
    pub(crate) throttle: Option<Switch>,

    /// Whether physical partitions below 3000 RU/s bank up to 5 minutes of unused throughput for bursts
    /// [default: off]
    #[arg(long, env = "ARMILLA_BURST_CAPACITY", value_name = "on|off", hide_possible_values = true, help_heading = THROUGHPUT)]
    pub(crate) burst_capacity: Option<Switch>,

    /// Whether it is recorded what is asked, in memory, for `armilla advise` [default: on]
    #[arg(long, env = "ARMILLA_REQUEST_RECORD", value_name = "on|off", hide_possible_values = true, help_heading = THROUGHPUT)]
    pub(crate) request_record: Option<Switch>,

    /// File in which the record of requests is kept across restarts [default: none]
    #[arg(long, env = "ARMILLA_REQUEST_RECORD_FILE", value_name = "FILE", help_heading = THROUGHPUT)]
    pub(crate) request_record_file: Option<PathBuf>,

    /// Request units a second that one physical partition serves: decides how many a container gets [default: 10000]
    #[arg(long, env = "ARMILLA_PHYSICAL_PARTITION_RU", value_name = "RU", help_heading = THROUGHPUT)]
    pub(crate) physical_partition_ru: Option<u32>,

    /// Request units a second of manual throughput for each physical partition that a new container begins with
    /// [default: 6000, or --physical-partition-ru where that is given]
    #[arg(long, env = "ARMILLA_INITIAL_PARTITION_RU", value_name = "RU", help_heading = THROUGHPUT)]
    pub(crate) initial_partition_ru: Option<u32>,

    /// Containers that share the throughput of a database; each further one needs 100 RU/s more of it [default: 25]
    #[arg(long, env = "ARMILLA_SHARING_CONTAINERS_MAX", value_name = "COUNT", help_heading = THROUGHPUT)]
    pub(crate) sharing_containers_max: Option<u32>,

    /// Bytes, data and index, beyond which a physical partition is split [default: 53687091200]
    #[arg(long, env = "ARMILLA_PHYSICAL_PARTITION_BYTES", value_name = "BYTES", help_heading = THROUGHPUT)]
    pub(crate) physical_partition_bytes: Option<u64>,

    /// Most bytes, data and index, in one logical partition [default: 21474836480]
    #[arg(long, env = "ARMILLA_LOGICAL_PARTITION_BYTES", value_name = "BYTES", help_heading = THROUGHPUT)]
    pub(crate) logical_partition_bytes: Option<u64>,

    /// Connections open at once; beyond it idle ones give way, and where there are none further ones wait
    /// [default: 10000]
    #[arg(long, env = "ARMILLA_CONNECTIONS_MAX", value_name = "COUNT", help_heading = "Connections")]
    pub(crate) connections_max: Option<u32>,

    /// Bytes of a request line with its headers [default: 65536]
    #[arg(long, env = "ARMILLA_HEADER_BYTES_MAX", value_name = "BYTES", help_heading = "Connections")]
    pub(crate) header_bytes_max: Option<u32>,

    /// Requests open at once on one HTTP/2 connection [default: 256]
    #[arg(long, env = "ARMILLA_HTTP2_STREAMS_MAX", value_name = "COUNT", help_heading = "Connections")]
    pub(crate) http2_streams_max: Option<u32>,

    /// Milliseconds for the first byte and the TLS handshake of a connection [default: 10000]
    #[arg(long, env = "ARMILLA_HANDSHAKE_TIMEOUT_MS", value_name = "MS", help_heading = "Connections")]
    pub(crate) handshake_timeout_ms: Option<u64>,

    /// Milliseconds for the headers of a request [default: 10000]
    #[arg(long, env = "ARMILLA_HEADER_TIMEOUT_MS", value_name = "MS", help_heading = "Connections")]
    pub(crate) header_timeout_ms: Option<u64>,

    /// Milliseconds for the next 16 KiB of a request body, and for a client to take as much of an answer [default: 30000]
    #[arg(long, env = "ARMILLA_BODY_TIMEOUT_MS", value_name = "MS", help_heading = "Connections")]
    pub(crate) body_timeout_ms: Option<u64>,

    /// Milliseconds that a connection may stay open unused [default: 180000]
    #[arg(long, env = "ARMILLA_IDLE_TIMEOUT_MS", value_name = "MS", help_heading = "Connections")]
    pub(crate) idle_timeout_ms: Option<u64>,

    /// Milliseconds in which the program ends on SIGTERM or SIGINT; running requests get most of them [default: 10000]
    #[arg(long, env = "ARMILLA_SHUTDOWN_TIMEOUT_MS", value_name = "MS", help_heading = "Connections")]
    pub(crate) shutdown_timeout_ms: Option<u64>,

    /// How log lines on standard error look [default: text]
    #[arg(long, env = "ARMILLA_LOG_FORMAT", value_name = "FORMAT", help_heading = "Logging")]
    pub(crate) log_format: Option<LogFormat>,

    /// Level, or filter as in RUST_LOG, for example debug or armilla=debug,fjall=info [default: info]
    #[arg(long, env = "ARMILLA_LOG_LEVEL", value_name = "FILTER", help_heading = "Logging")]
    pub(crate) log_level: Option<String>,

    /// Warn about requests that take this many milliseconds or more; 0 never does [default: 5000]
    #[arg(long, env = "ARMILLA_SLOW_REQUEST_MS", value_name = "MS", help_heading = "Logging")]
    pub(crate) slow_request_ms: Option<u64>,

    /// TOML file with any of these options, named as the flags without the dashes: port = 9000
    #[arg(long, env = "ARMILLA_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,
}

/// Everything that can be set when checking.
#[derive(Debug, Default, Args)]
pub(crate) struct CheckOptions {
    /// Folder to verify [default: ./armilla-data]
    #[arg(long, env = "ARMILLA_DATA_DIR", value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,

    /// Object store to verify, named as for the server: as there, it goes before a folder
    #[arg(long, env = "ARMILLA_STORE", value_name = "URL")]
    pub(crate) store: Option<String>,

    /// TOML file of the server, for its store or data-dir
    #[arg(long, env = "ARMILLA_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// Everything that can be set when repairing.
#[derive(Debug, Default, Args)]
pub(crate) struct RepairOptions {
    /// Folder to repair [default: ./armilla-data]
    #[arg(long, env = "ARMILLA_DATA_DIR", value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,

    /// TOML file of the server, for its data-dir
    #[arg(long, env = "ARMILLA_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

impl Options {
    /// Fills what is not set here from options of lower precedence.
    pub(crate) fn or(self, lower: Options) -> Options {
        Options {
            bind: self.bind.or(lower.bind),
            port: self.port.or(lower.port),
            table_port: self.table_port.or(lower.table_port),
            storage_table_port: self.storage_table_port.or(lower.storage_table_port),
            mongo_port: self.mongo_port.or(lower.mongo_port),
            mongo_advertised_address: self.mongo_advertised_address.or(lower.mongo_advertised_address),
            mongo_set_name: self.mongo_set_name.or(lower.mongo_set_name),
            mongo_server_side_retry: self.mongo_server_side_retry.or(lower.mongo_server_side_retry),
            mongo_pipeline_seconds: self.mongo_pipeline_seconds.or(lower.mongo_pipeline_seconds),
            mongo_test_commands: self.mongo_test_commands.or(lower.mongo_test_commands),
            gremlin_port: self.gremlin_port.or(lower.gremlin_port),
            gremlin_dialect: self.gremlin_dialect.or(lower.gremlin_dialect),
            gremlin_graphson2: self.gremlin_graphson2.or(lower.gremlin_graphson2),
            gremlin_timeout_seconds: self.gremlin_timeout_seconds.or(lower.gremlin_timeout_seconds),
            gremlin_login: self.gremlin_login.or(lower.gremlin_login),
            gremlin_alias: first_given(self.gremlin_alias, lower.gremlin_alias),
            advertised_url: self.advertised_url.or(lower.advertised_url),
            regions: first_given(self.regions, lower.regions),
            multi_write: self.multi_write.or(lower.multi_write),
            allowed_hosts: first_given(self.allowed_hosts, lower.allowed_hosts),
            allowed_origins: first_given(self.allowed_origins, lower.allowed_origins),
            tls_cert: self.tls_cert.or(lower.tls_cert),
            tls_key: self.tls_key.or(lower.tls_key),
            tls_name: first_given(self.tls_name, lower.tls_name),
            key: self.key.or(lower.key),
            secondary_key: self.secondary_key.or(lower.secondary_key),
            read_only_key: self.read_only_key.or(lower.read_only_key),
            oidc_issuer: self.oidc_issuer.or(lower.oidc_issuer),
            oidc_audience: self.oidc_audience.or(lower.oidc_audience),
            oidc_keys: self.oidc_keys.or(lower.oidc_keys),
            oidc_roles_claim: self.oidc_roles_claim.or(lower.oidc_roles_claim),
            oidc_roles: self.oidc_roles.or(lower.oidc_roles),
            date_skew_seconds: self.date_skew_seconds.or(lower.date_skew_seconds),
            data_dir: self.data_dir.or(lower.data_dir),
            memory: self.memory.or(lower.memory),
            store: self.store.or(lower.store),
            store_cache_mb: self.store_cache_mb.or(lower.store_cache_mb),
            lease_seconds: self.lease_seconds.or(lower.lease_seconds),
            node: self.node.or(lower.node),
            durability: self.durability.or(lower.durability),
            cache_mb: self.cache_mb.or(lower.cache_mb),
            write_buffer_mb: self.write_buffer_mb.or(lower.write_buffer_mb),
            item_bytes_max: self.item_bytes_max.or(lower.item_bytes_max),
            consistency: self.consistency.or(lower.consistency),
            cross_partition_queries: self.cross_partition_queries.or(lower.cross_partition_queries),
            script_seconds: self.script_seconds.or(lower.script_seconds),
            throttle: self.throttle.or(lower.throttle),
            burst_capacity: self.burst_capacity.or(lower.burst_capacity),
            request_record: self.request_record.or(lower.request_record),
            request_record_file: self.request_record_file.or(lower.request_record_file),
            physical_partition_ru: self.physical_partition_ru.or(lower.physical_partition_ru),
            continuous_backup: self.continuous_backup.or(lower.continuous_backup),
            sharing_containers_max: self.sharing_containers_max.or(lower.sharing_containers_max),
            initial_partition_ru: self.initial_partition_ru.or(lower.initial_partition_ru),
            physical_partition_bytes: self.physical_partition_bytes.or(lower.physical_partition_bytes),
            logical_partition_bytes: self.logical_partition_bytes.or(lower.logical_partition_bytes),
            connections_max: self.connections_max.or(lower.connections_max),
            header_bytes_max: self.header_bytes_max.or(lower.header_bytes_max),
            http2_streams_max: self.http2_streams_max.or(lower.http2_streams_max),
            handshake_timeout_ms: self.handshake_timeout_ms.or(lower.handshake_timeout_ms),
            header_timeout_ms: self.header_timeout_ms.or(lower.header_timeout_ms),
            body_timeout_ms: self.body_timeout_ms.or(lower.body_timeout_ms),
            idle_timeout_ms: self.idle_timeout_ms.or(lower.idle_timeout_ms),
            shutdown_timeout_ms: self.shutdown_timeout_ms.or(lower.shutdown_timeout_ms),
            log_format: self.log_format.or(lower.log_format),
            log_level: self.log_level.or(lower.log_level),
            slow_request_ms: self.slow_request_ms.or(lower.slow_request_ms),
            config: self.config.or(lower.config),
        }
    }
}

fn first_given(list: Vec<String>, lower: Vec<String>) -> Vec<String> {
    if list.is_empty() { lower } else { list }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        CommandLine::command().debug_assert();
    }

    /// Every option can be set in all three places, under one name.
    #[test]
    fn every_flag_has_an_environment_variable_of_its_name() {
        let command = CommandLine::command();
        for argument in command.get_arguments() {
            let Some(long) = argument.get_long() else { continue };
            if matches!(long, "help" | "version") {
                continue;
            }
            let variable = format!("ARMILLA_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(argument.get_env(), Some(std::ffi::OsStr::new(&variable)), "--{long}");
            let value = match long {
                "config" => continue,
                "bind" => "\"127.0.0.1\"",
                "tls-name" | "allowed-hosts" | "allowed-origins" | "regions" | "gremlin-alias" => "[\"x\"]",
                "node" => "\"127.0.0.1:7001\"",
                "memory" => "true",
                "durability" => "\"relaxed\"",
                "throttle"
                | "burst-capacity"
                | "request-record"
                | "multi-write"
                | "mongo-server-side-retry"
                | "mongo-test-commands"
                | "gremlin-login" => "\"off\"",
                "gremlin-dialect" => "\"cosmos-strict\"",
                "gremlin-graphson2" => "\"typed\"",
                "cross-partition-queries" => "\"plan\"",
                "log-format" => "\"json\"",
                "tls-cert"
                | "tls-key"
                | "key"
                | "secondary-key"
                | "read-only-key"
                | "data-dir"
                | "request-record-file"
                | "store"
                | "log-level"
                | "advertised-url"
                | "mongo-advertised-address"
                | "mongo-set-name"
                | "consistency"
                | "continuous-backup"
                | "oidc-issuer"
                | "oidc-audience"
                | "oidc-keys"
                | "oidc-roles-claim"
                | "oidc-roles" => "\"x\"",
                _ => "1",
            };
            toml::from_str::<Options>(&format!("{long} = {value}")).unwrap();
        }
        assert!(toml::from_str::<Options>("config = \"x\"").is_err());
    }
}
