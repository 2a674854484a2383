//! The options with their defaults filled in and their values checked.
//!
//! Invariant: with [`Settings`] in hand, the server never listens beyond this machine with a key that
//! everybody knows or can guess.

pub(crate) mod config_file;
pub(crate) mod help;
pub(crate) mod options;
pub(crate) mod port;

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_api_gremlin::{Alias, Dialect, GraphSon2};
pub(crate) use armilla_client::PORT;
use armilla_engine::{Consistency, Limits, Policy};
use armilla_rest_wire::regions::REGIONS_MAX;
use armilla_rest_wire::well_known::{COSMOS_KEY, STORAGE_KEY};

use crate::limits;
use crate::open_id::{KeySource, OpenIdSettings, read_roles};
use crate::requests::api::Front;
use crate::requests::hosts;
use crate::requests::origins;
use crate::settings::options::{
    CrossPartitionChoice, DurabilityChoice, GremlinDialect, GremlinGraphSon2, LogFormat, Options, Switch,
};
use crate::settings::port::PortChoice;

/// Where data lies unless another folder is given.
pub(crate) const DATA_DIR: &str = "./armilla-data";

/// The port of the Table API unless another is given; the emulator's samples use it.
pub(crate) const TABLE_PORT: u16 = 8902;

/// The port of the MongoDB API unless another is given: the service's.
pub(crate) const MONGO_PORT: u16 = 10_255;

/// The name of the replica set that connection strings of the service have.
const MONGO_SET_NAME: &str = "globaldb";

/// How long a traversal of Gremlin may take unless it is set: as long as in the service.
const GREMLIN_TIMEOUT: Duration = Duration::from_secs(30);

/// The region of an account that says nothing of regions.
const REGION: &str = "South Central US";

/// The port that clients take for the tables of `UseDevelopmentStorage=true`.
pub(crate) const DEVELOPMENT_STORAGE_TABLE_PORT: u16 = 10_002;

/// Which certificate the server shows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// Our own, with further names in it.
    SelfSigned { names: Vec<String> },
    /// From files of the user.
    Files { certificate: PathBuf, key: PathBuf },
}

impl Certificate {
    /// Returns the further names in our own.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        match self {
            Certificate::SelfSigned { names } => names.iter().map(String::as_str),
            Certificate::Files { .. } => [].iter().map(String::as_str),
        }
    }
}

/// Where data is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Data {
    /// In memory alone.
    Memory,
    /// In a folder.
    Folder(PathBuf),
    /// In an object store, with a folder for what belongs to this machine: the certificate, and copies.
    Objects { url: String, folder: PathBuf, node: Option<SocketAddr> },
}

/// How log lines are written.
#[derive(Debug)]
pub(crate) struct LogSettings {
    /// Their look.
    pub(crate) format: LogFormat,
    /// Which of them: a level or a filter.
    pub(crate) filter: Option<String>,
}

/// What one connection may cost, and for how long.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionSettings {
    /// Connections open at once.
    pub(crate) connections_max: u32,
    /// Bytes of a request line with its headers.
    pub(crate) header_bytes_max: u32,
    /// Requests open at once on one HTTP/2 connection.
    pub(crate) http2_streams_max: u32,
    /// For the first byte and the TLS handshake.
    pub(crate) handshake_timeout: Duration,
    /// For the headers of one request.
    pub(crate) header_timeout: Duration,
    /// For the next piece of a request body.
    pub(crate) body_timeout: Duration,
    /// For a connection on which nothing happens.
    pub(crate) idle_timeout: Duration,
    /// For requests in flight once a shutdown is asked for.
    pub(crate) shutdown_timeout: Duration,
}

/// The port of the Gremlin API unless another is given: the emulator's.
pub(crate) const GREMLIN_PORT: u16 = 8901;

/// What the Gremlin API is told.
#[derive(Debug, Clone)]
pub(crate) struct GremlinSettings {
    pub(crate) is_open: bool,
    pub(crate) dialect: Dialect,
    pub(crate) graphson2: GraphSon2,
    pub(crate) timeout: Duration,
    pub(crate) aliases: Vec<Alias>,
}

/// What the MongoDB API is told.
#[derive(Debug)]
pub(crate) struct MongoSettings {
    /// The address that clients are told to use.
    pub(crate) advertised: Option<String>,
    /// The name of the replica set.
    pub(crate) set_name: String,
    /// Whether commands wait by themselves where the throughput is spent.
    pub(crate) waits_when_throttled: bool,
    /// Whether commands for tests of drivers are there.
    pub(crate) test_commands: bool,
    /// How long a pipeline may compute for one batch.
    pub(crate) pipeline_time: Duration,
}

/// Everything the server is told.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where the SQL API listens.
    pub(crate) address: SocketAddr,
    /// Where the Table API listens, if it does.
    pub(crate) table_address: Option<SocketAddr>,
    /// Where the storage service's flavour of it listens, if it does.
    pub(crate) storage_table_address: Option<SocketAddr>,
    /// Where the MongoDB API listens, if it does, and how it behaves.
    pub(crate) mongo_address: Option<SocketAddr>,
    pub(crate) mongo: MongoSettings,
    /// The same for the Gremlin API.
    pub(crate) gremlin_address: Option<SocketAddr>,
    pub(crate) gremlin: GremlinSettings,
    /// Which certificate to show.
    pub(crate) certificate: Certificate,
    /// The account key.
    pub(crate) key: String,
    /// The second account key.
    pub(crate) secondary_key: Option<String>,
    /// A key that permits reading alone.
    pub(crate) read_only_key: Option<String>,
    /// Whom the server believes beside those who have a key.
    pub(crate) open_id: Option<OpenIdSettings>,
    /// How far the date of a signature may lie from the machine's clock.
    pub(crate) date_skew: Duration,
    /// The address that clients are told to use, if not the one they came by.
    pub(crate) advertised_url: Option<String>,
    /// Where further regions listen.
    pub(crate) region_addresses: Vec<SocketAddr>,
    /// The names of all regions, the first at the SQL API's own address.
    pub(crate) region_names: Vec<String>,
    /// Whether all regions take writes.
    pub(crate) is_multi_write: bool,
    /// Further names by which clients reach the server.
    pub(crate) allowed_hosts: Vec<String>,
    /// Web pages that may send requests.
    pub(crate) allowed_origins: Vec<String>,
    /// Where data is kept.
    pub(crate) data: Data,
    /// When a write is acknowledged.
    pub(crate) durability: DurabilityChoice,
    /// For how long the lease of an object store is valid.
    pub(crate) lease: Duration,
    /// Bytes on disk for copies of what was read from an object store.
    pub(crate) store_cache_bytes: u64,
    /// Bytes of the item cache and the block cache together.
    pub(crate) cache_bytes: u64,
    /// Bytes that were written and are not in sorted files yet.
    pub(crate) write_buffer_bytes: u64,
    /// Limits of items and partitions.
    pub(crate) limits: Limits,
    /// How throughput is enforced.
    pub(crate) policy: Policy,
    /// Whether it is recorded what is asked.
    pub(crate) records_requests: bool,
    /// Where that record is kept across restarts.
    pub(crate) request_record_file: Option<PathBuf>,
    /// The account's consistency level.
    pub(crate) consistency: Consistency,
    /// Who puts together the results of several physical partitions.
    pub(crate) cross_partition_queries: CrossPartitionChoice,
    /// How long a stored procedure or trigger may run.
    pub(crate) script_time: Duration,
    /// Bounds of connections.
    pub(crate) connections: ConnectionSettings,
    /// How to log.
    pub(crate) log: LogSettings,
    /// From how long on a request is worth a warning.
    pub(crate) slow_request: Option<Duration>,
}

impl Settings {
    /// Takes the options of the command line and the environment, and those of the file they name.
    pub(crate) fn load(given: Options) -> Result<Settings> {
        let file = match &given.config {
            Some(path) => config_file::read(path)?,
            None => Options::default(),
        };
        Settings::new(given.or(file))
    }

    /// Fills in defaults and checks.
    pub(crate) fn new(options: Options) -> Result<Settings> {
        let service_limits = service_limits(&options)?;
        let bind = options.bind.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let port = options.port.unwrap_or(PORT);
        // Whoever takes a free port runs servers side by side: a fixed port would let one of them start.
        let table_default = PortChoice::Open(if port == 0 { 0 } else { TABLE_PORT });
        let table_port = options.table_port.unwrap_or(table_default).port();
        let storage_table_port = options.storage_table_port.and_then(PortChoice::port);
        let mongo_default = PortChoice::Open(if port == 0 { 0 } else { MONGO_PORT });
        let mongo_port = options.mongo_port.unwrap_or(mongo_default).port();
        let gremlin_default = PortChoice::Open(if port == 0 { 0 } else { GREMLIN_PORT });
        let gremlin_port = options.gremlin_port.unwrap_or(gremlin_default).port();
        let ports = [Some(port), table_port, storage_table_port, mongo_port, gremlin_port];
        check_ports(ports)?;
        let at_bind = |port| SocketAddr::new(bind, port);
        let (region_names, region_ports) = regions(&options.regions, port)?;
        check_region_ports(&region_ports, &ports)?;
        let key = options.key.unwrap_or_else(|| COSMOS_KEY.to_string());
        let secondary_key = options.secondary_key;
        check_key("--key", &key)?;
        let read_only_key = options.read_only_key;
        if let Some(secondary_key) = &secondary_key {
            check_key("--secondary-key", secondary_key)?;
        }
        if let Some(read_only_key) = &read_only_key {
            check_key("--read-only-key", read_only_key)?;
        }
        let mut keys = std::iter::once(&key).chain(&secondary_key).chain(&read_only_key);
        let is_well_known = |key: &String| [COSMOS_KEY, STORAGE_KEY].contains(&key.as_str());
        if keys.any(is_well_known) && !bind.is_loopback() {
            bail!(
                "refusing to listen on {bind} with a well-known key, which everybody has: \
                 give a key of your own with --key or ARMILLA_KEY (base64 of 64 random bytes), \
                 or bind to 127.0.0.1"
            );
        }
        if !bind.is_loopback() {
            check_key_length("--key", &key)?;
            if let Some(key) = &secondary_key {
                check_key_length("--secondary-key", key)?;
            }
            if let Some(key) = &read_only_key {
                check_key_length("--read-only-key", key)?;
            }
        }
        check_list("--allowed-hosts", &options.allowed_hosts, hosts::check_allowed)?;
        check_list("--allowed-origins", &options.allowed_origins, origins::check_allowed)?;
        let certificate = match (options.tls_cert, options.tls_key) {
            (Some(certificate), Some(key)) => Certificate::Files { certificate, key },
            (None, None) => {
                let count = options.tls_name.len();
                if count > limits::TLS_NAMES_MAX {
                    bail!("--tls-name is given {count} times, at most {} are taken", limits::TLS_NAMES_MAX);
                }
                Certificate::SelfSigned { names: options.tls_name }
            }
            (Some(_), None) => bail!("--tls-cert needs --tls-key beside it"),
            (None, Some(_)) => bail!("--tls-key needs --tls-cert beside it"),
        };
        let gremlin = gremlin(
            options.gremlin_login,
            options.gremlin_dialect,
            options.gremlin_graphson2,
            options.gremlin_timeout_seconds,
            &options.gremlin_alias,
        )?;
        if gremlin.is_open && !bind.is_loopback() {
            bail!(
                "refusing to listen on {bind} with --gremlin-login off: whoever reaches the port could do everything;                  leave it on, or bind to 127.0.0.1"
            );
        }
        let folder = options.data_dir.unwrap_or_else(|| PathBuf::from(DATA_DIR));
        let data = match (options.store, options.memory) {
            (Some(_), Some(true)) => bail!("--store and --memory say two places for the data: give one"),
            (Some(_), _) if cfg!(not(feature = "object-storage")) => bail!(
                "this armilla was built without object storage: build it with \
                 `cargo build --release --bin armilla --features object-storage`"
            ),
            (Some(url), _) => {
                if options.node.is_some_and(|node| !node.ip().is_loopback())
                    && [COSMOS_KEY, STORAGE_KEY].contains(&key.as_str())
                {
                    bail!(
                        "refusing to be a node that others reach from beyond this machine with a well-known key, which \
                         everybody has: give the account a key of its own with --key"
                    );
                }
                Data::Objects { url, folder, node: options.node }
            }
            (None, Some(true)) => Data::Memory,
            (None, _) => Data::Folder(folder),
        };
        if let Data::Objects { .. } = data {
            if options.write_buffer_mb.is_some() {
                bail!(
                    "--write-buffer-mb is for data in a folder and does nothing with --store: leave it out"
                );
            }
        } else if options.store_cache_mb.is_some() {
            bail!("--store-cache-mb is for copies of what lies in an object store: give --store as well");
        } else if options.node.is_some() {
            bail!("--node is for an account in an object store: give --store as well");
        } else if options.lease_seconds.is_some() {
            bail!("--lease-seconds is for the lease of an object store: give --store as well");
        }
        let store_cache_mb = options.store_cache_mb.unwrap_or(0);
        let lease_seconds = at_least(
            "--lease-seconds",
            options.lease_seconds,
            limits::LEASE_SECONDS,
            limits::LEASE_SECONDS_LEAST,
        )?;
        let policy = Policy {
            enforced: options.throttle != Some(Switch::Off),
            burst: options.burst_capacity == Some(Switch::On),
        };
        let cache_mb = options.cache_mb.unwrap_or(limits::CACHE_MB);
        let write_buffer_mb =
            at_least("--write-buffer-mb", options.write_buffer_mb, limits::WRITE_BUFFER_MB, 1)?;
        let open_id = open_id(
            options.oidc_issuer,
            options.oidc_audience,
            options.oidc_keys.as_deref(),
            options.oidc_roles_claim,
            options.oidc_roles.as_deref(),
        )?;
        let slow_request = options.slow_request_ms.map_or(limits::SLOW_REQUEST, Duration::from_millis);
        Ok(Settings {
            address: at_bind(port),
            table_address: table_port.map(at_bind),
            storage_table_address: storage_table_port.map(at_bind),
            gremlin_address: gremlin_port.map(at_bind),
            gremlin,
            mongo_address: mongo_port.map(at_bind),
            mongo: MongoSettings {
                advertised: options.mongo_advertised_address,
                set_name: options.mongo_set_name.unwrap_or_else(|| MONGO_SET_NAME.to_owned()),
                waits_when_throttled: options.mongo_server_side_retry == Some(Switch::On),
                test_commands: options.mongo_test_commands == Some(Switch::On),
                pipeline_time: options
                    .mongo_pipeline_seconds
                    .map_or(armilla_api_mongo::PIPELINE_TIME_DEFAULT, |seconds| {
                        Duration::from_secs(u64::from(seconds))
                    }),
            },
            certificate,
            key,
            secondary_key,
            read_only_key,
            open_id,
            date_skew: options
                .date_skew_seconds
                .map_or(limits::DATE_SKEW, |seconds| Duration::from_secs(seconds.into())),
            advertised_url: options.advertised_url,
            region_addresses: region_ports.into_iter().map(at_bind).collect(),
            region_names,
            is_multi_write: options.multi_write == Some(Switch::On),
            allowed_hosts: options.allowed_hosts,
            allowed_origins: options.allowed_origins,
            data,
            durability: options.durability.unwrap_or(DurabilityChoice::Strict),
            lease: Duration::from_secs(lease_seconds.into()),
            store_cache_bytes: u64::from(store_cache_mb) * 1024 * 1024,
            cache_bytes: u64::from(cache_mb) * 1024 * 1024,
            write_buffer_bytes: u64::from(write_buffer_mb) * 1024 * 1024,
            limits: service_limits,
            policy,
            records_requests: options.request_record != Some(Switch::Off),
            request_record_file: options.request_record_file,
            consistency: consistency(options.consistency.as_deref())?,
            cross_partition_queries: options.cross_partition_queries.unwrap_or(CrossPartitionChoice::Merge),
            script_time: Duration::from_secs(
                at_least("--script-seconds", options.script_seconds, armilla_engine::SCRIPT_SECONDS_MAX, 1)?
                    .into(),
            ),
            connections: ConnectionSettings {
                connections_max: at_least(
                    "--connections-max",
                    options.connections_max,
                    limits::CONNECTIONS_MAX,
                    1,
                )?,
                header_bytes_max: at_least(
                    "--header-bytes-max",
                    options.header_bytes_max,
                    limits::HEADER_BYTES_MAX,
                    limits::HEADER_BYTES_MAX_LEAST,
                )?,
                http2_streams_max: at_least(
                    "--http2-streams-max",
                    options.http2_streams_max,
                    limits::HTTP2_STREAMS_MAX,
                    1,
                )?,
                handshake_timeout: timeout(options.handshake_timeout_ms, limits::HANDSHAKE_TIMEOUT),
                header_timeout: timeout(options.header_timeout_ms, limits::HEADER_TIMEOUT),
                body_timeout: timeout(options.body_timeout_ms, limits::BODY_TIMEOUT),
                idle_timeout: timeout(options.idle_timeout_ms, limits::IDLE_TIMEOUT),
                shutdown_timeout: timeout(options.shutdown_timeout_ms, limits::SHUTDOWN_TIMEOUT),
            },
            log: LogSettings {
                format: options.log_format.unwrap_or(LogFormat::Text),
                filter: options.log_level,
            },
            slow_request: Some(slow_request).filter(|threshold| !threshold.is_zero()),
        })
    }

    /// Returns where a front end listens, if it does.
    pub(crate) fn address_of(&self, front: Front) -> Option<SocketAddr> {
        match front {
            Front::Sql => Some(self.address),
            Front::Table => self.table_address,
            Front::StorageTable => self.storage_table_address,
            Front::Mongo => self.mongo_address,
            Front::Gremlin => self.gremlin_address,
        }
    }

    /// Tells whether the account key is the one everybody has.
    pub(crate) fn uses_well_known_key(&self) -> bool {
        self.key == COSMOS_KEY
    }
}

/// Returns the names of the regions, and the ports of all but the first.
fn regions(given: &[String], port: u16) -> Result<(Vec<String>, Vec<u16>)> {
    if given.is_empty() {
        return Ok((vec![REGION.to_owned()], Vec::new()));
    }
    if given.len() > REGIONS_MAX {
        bail!("--regions names {} regions, at most {REGIONS_MAX} are taken", given.len());
    }
    let (mut names, mut ports): (Vec<String>, Vec<u16>) = (Vec::new(), Vec::new());
    for (place, region) in given.iter().enumerate() {
        let (name, own_port) = match region.split_once('=') {
            Some((_, _)) if place == 0 => {
                bail!("the first of --regions is at --port, and has no port of its own")
            }
            Some((name, own)) => match own.trim().parse() {
                Ok(own) => (name, Some(own)),
                Err(_) => bail!("the port '{own}' of the region '{name}' is no number from 0 to 65535"),
            },
            None => (region.as_str(), None),
        };
        let name = name.trim();
        if name.is_empty() || names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            bail!("--regions must name each region once, and none may be empty: '{}'", given.join(","));
        }
        names.push(name.to_owned());
        if place > 0 {
            // Beside a free port, others are free too.
            let next = if port == 0 { Some(0) } else { u16::try_from(usize::from(port) + place).ok() };
            match own_port.or(next) {
                Some(port) => ports.push(port),
                None => bail!("there is no port left for the region '{name}': give it one as '{name}=PORT'"),
            }
        }
    }
    Ok((names, ports))
}

/// Refuses a region on the port of something else of this server, which the operating system would blame on another program.
fn check_region_ports(regions: &[u16], others: &[Option<u16>]) -> Result<()> {
    for (place, port) in regions.iter().enumerate().filter(|(_, port)| **port != 0) {
        if others.contains(&Some(*port)) || regions[..place].contains(port) {
            bail!(
                "a region of --regions has port {port}, which something else of this server has: give it another as NAME=PORT"
            );
        }
    }
    Ok(())
}

/// Puts together what was said of an issuer of tokens: all of it, or nothing.
fn open_id(
    issuer: Option<String>,
    audience: Option<String>,
    keys: Option<&str>,
    roles_claim: Option<String>,
    roles: Option<&Path>,
) -> Result<Option<OpenIdSettings>> {
    match (issuer, audience, keys) {
        (Some(issuer), Some(audience), Some(keys)) => Ok(Some(OpenIdSettings {
            issuer,
            audience,
            keys: KeySource::parse(keys).context("--oidc-keys")?,
            roles_claim: roles_claim.unwrap_or_else(|| "roles".to_owned()),
            roles: roles.map(read_roles).transpose().context("--oidc-roles")?.unwrap_or_default(),
        })),
        (None, None, None) if roles_claim.is_none() && roles.is_none() => Ok(None),
        _ => {
            bail!("--oidc-issuer, --oidc-audience and --oidc-keys belong together: give all of them, or none")
        }
    }
}

/// Returns the object store that `armilla check` looks at, if it is one.
pub(crate) fn check_store(store: Option<String>, config: Option<&Path>) -> Result<Option<String>> {
    match (store, config) {
        (None, Some(file)) => Ok(config_file::read(file)?.store),
        (store, _) => Ok(store),
    }
}

/// Returns the folder that `armilla check` looks at.
pub(crate) fn check_folder(data_dir: Option<PathBuf>, config: Option<PathBuf>) -> Result<PathBuf> {
    let file = match config {
        Some(path) => config_file::read(&path)?,
        None => Options::default(),
    };
    Ok(data_dir.or(file.data_dir).unwrap_or_else(|| PathBuf::from(DATA_DIR)))
}

/// Refuses two front ends on one port, which the operating system would blame on another program.
fn check_ports(ports: [Option<u16>; Front::ALL.len()]) -> Result<()> {
    let given = |front: Front| ports[front as usize].filter(|port| *port != 0);
    let pairs = Front::ALL.iter().enumerate();
    let pairs =
        pairs.flat_map(|(place, first)| Front::ALL[place + 1..].iter().map(move |second| (*first, *second)));
    for (first, second) in pairs {
        if let Some(port) = given(first)
            && given(second) == Some(port)
        {
            let (first, second) = (first.flag(), second.flag());
            bail!("{first} and {second} are both {port}: choose another for one of them, or {second} off");
        }
    }
    Ok(())
}

fn service_limits(options: &Options) -> Result<Limits> {
    let defaults = Limits::default();
    let item_default = u32::try_from(defaults.item_bytes_max).unwrap_or(u32::MAX);
    let item_bytes_max = at_least("--item-bytes-max", options.item_bytes_max, item_default, 1)?;
    if item_bytes_max > item_default {
        bail!("--item-bytes-max is {item_bytes_max}, but may be at most {item_default}");
    }
    // Who says what a partition serves wants as many as that makes.
    let initial_partition_ru = options.physical_partition_ru.unwrap_or(defaults.initial_partition_ru);
    Ok(Limits {
        item_bytes_max: item_bytes_max as usize,
        logical_partition_bytes_max: at_least(
            "--logical-partition-bytes",
            options.logical_partition_bytes,
            defaults.logical_partition_bytes_max,
            1,
        )?,
        physical_partition_ru: at_least(
            "--physical-partition-ru",
            options.physical_partition_ru,
            defaults.physical_partition_ru,
            1,
        )?,
        continuous_backup_minutes: match &options.continuous_backup {
            Some(text) => continuous_backup_minutes(text)?,
            None => 0,
        },
        sharing_containers_max: at_least(
            "--sharing-containers-max",
            options.sharing_containers_max,
            u32::try_from(defaults.sharing_containers_max).unwrap_or(u32::MAX),
            1,
        )? as usize,
        initial_partition_ru: at_least(
            "--initial-partition-ru",
            options.initial_partition_ru,
            initial_partition_ru,
            1,
        )?,
        physical_partition_bytes: at_least(
            "--physical-partition-bytes",
            options.physical_partition_bytes,
            defaults.physical_partition_bytes,
            limits::PHYSICAL_PARTITION_BYTES_LEAST,
        )?,
        ..defaults
    })
}

/// Reads how long all versions are kept: `7d`, or `off`.
fn continuous_backup_minutes(text: &str) -> Result<u32> {
    const MINUTES_PER_DAY: u32 = 24 * 60;
    if text == "off" {
        return Ok(0);
    }
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    match days.filter(|days| (1..=limits::CONTINUOUS_BACKUP_DAYS_MAX).contains(days)) {
        Some(days) => Ok(days * MINUTES_PER_DAY),
        None => bail!(
            "--continuous-backup is {text}, but must be off, or days such as 7d, at most {}d",
            limits::CONTINUOUS_BACKUP_DAYS_MAX
        ),
    }
}

fn consistency(name: Option<&str>) -> Result<Consistency> {
    match name {
        None => Ok(Consistency::Session),
        Some(name) => Consistency::from_name(name).with_context(|| {
            let known: Vec<&str> = Consistency::ALL.iter().map(|level| level.name()).collect();
            format!("--consistency is {name}, but must be one of {}", known.join(", "))
        }),
    }
}

fn timeout(given_ms: Option<u64>, default: Duration) -> Duration {
    given_ms.map_or(default, Duration::from_millis)
}

fn at_least<N: PartialOrd + Display>(flag: &str, given: Option<N>, default: N, least: N) -> Result<N> {
    match given {
        Some(value) if value < least => bail!("{flag} is {value}, but must be at least {least}"),
        Some(value) => Ok(value),
        None => Ok(default),
    }
}

/// Fills in the defaults of the Gremlin API.
fn gremlin(
    login: Option<Switch>,
    dialect: Option<GremlinDialect>,
    graphson2: Option<GremlinGraphSon2>,
    timeout_seconds: Option<u32>,
    aliases: &[String],
) -> Result<GremlinSettings> {
    if timeout_seconds == Some(0) {
        bail!("--gremlin-timeout-seconds is 0: a traversal needs at least one");
    }
    let alias = |text: &String| text.parse().map_err(|why| anyhow!("--gremlin-alias '{text}': {why}"));
    Ok(GremlinSettings {
        is_open: login == Some(Switch::Off),
        dialect: match dialect {
            None | Some(GremlinDialect::Open) => Dialect::Open,
            Some(GremlinDialect::CosmosStrict) => Dialect::CosmosStrict,
        },
        graphson2: match graphson2 {
            None | Some(GremlinGraphSon2::Untyped) => GraphSon2::Untyped,
            Some(GremlinGraphSon2::Typed) => GraphSon2::Typed,
        },
        timeout: timeout_seconds.map_or(GREMLIN_TIMEOUT, |seconds| Duration::from_secs(seconds.into())),
        aliases: aliases.iter().map(alias).collect::<Result<_>>()?,
    })
}

/// Refuses what no client could use as a key.
fn check_key(flag: &str, key: &str) -> Result<()> {
    decode_base64(key).filter(|bytes| !bytes.is_empty()).map(|_| ()).with_context(|| {
        format!("{flag} is not base64; make one with: openssl rand -base64 64 | tr -d '\\n'")
    })
}

/// Refuses keys that can be guessed by whoever reaches the server.
fn check_key_length(flag: &str, key: &str) -> Result<()> {
    let length = decode_base64(key).map_or(0, |bytes| bytes.len());
    if length < limits::KEY_BYTES_MIN {
        bail!(
            "{flag} has {length} bytes, but beyond this machine a key must have at least {}: make one with: openssl \
             rand -base64 64 | tr -d '\\n'",
            limits::KEY_BYTES_MIN
        );
    }
    Ok(())
}

/// Checks each of the values of a flag that may be repeated.
fn check_list(flag: &str, values: &[String], check: fn(&str) -> Result<(), String>) -> Result<()> {
    if values.len() > limits::ALLOWED_MAX {
        bail!("{flag} has {} values, at most {} are taken", values.len(), limits::ALLOWED_MAX);
    }
    values.iter().try_for_each(|value| check(value).map_err(anyhow::Error::msg))
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Options {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn defaults() {
        let settings = Settings::new(Options::default()).unwrap();
        assert_eq!(settings.address.to_string(), "127.0.0.1:8081");
        assert_eq!(settings.table_address.unwrap().to_string(), "127.0.0.1:8902");
        assert_eq!(settings.storage_table_address, None);
        assert_eq!(settings.data, Data::Folder("./armilla-data".into()));
        assert!(settings.uses_well_known_key());
        assert_eq!(settings.connections.connections_max, 10_000);
        assert_eq!(settings.cross_partition_queries, CrossPartitionChoice::Merge);
        assert_eq!(settings.script_time, Duration::from_secs(5));
        assert_eq!(settings.slow_request, Some(limits::SLOW_REQUEST));
        assert_eq!(settings.policy, Policy { enforced: true, burst: false });
        assert_eq!(settings.limits.physical_partition_bytes, Limits::default().physical_partition_bytes);
    }

    #[test]
    fn ports_of_the_table_api() {
        for (text, table, storage_table) in [
            ("port = 9000", Some(8902), None),
            ("port = 0", Some(0), None),
            ("port = 0\ntable-port = 8902", Some(8902), None),
            ("port = 0\ntable-port = \"off\"\nstorage-table-port = 0", None, Some(0)),
            ("table-port = 0\nstorage-table-port = 10002", Some(0), Some(10_002)),
            ("table-port = \"off\"\nstorage-table-port = \"off\"", None, None),
            ("port = 8902\ntable-port = \"off\"", None, None),
            ("port = 0\ntable-port = 0\nstorage-table-port = 0", Some(0), Some(0)),
        ] {
            let settings = Settings::new(options(text)).unwrap();
            let port = |address: Option<SocketAddr>| address.map(|address| address.port());
            let given = (port(settings.table_address), port(settings.storage_table_address));
            assert_eq!(given, (table, storage_table), "{text}");
        }
    }

    #[test]
    fn throughput() {
        for (text, enforced, burst) in [
            ("throttle = \"on\"\nburst-capacity = \"on\"", true, true),
            ("throttle = \"off\"", false, false),
            ("burst-capacity = \"off\"", true, false),
        ] {
            let settings = Settings::new(options(text)).unwrap();
            assert_eq!(settings.policy, Policy { enforced, burst }, "{text}");
        }
        let text = "physical-partition-ru = 500\ninitial-partition-ru = 300\nphysical-partition-bytes = 1000000\nlogical-partition-bytes = 70000";
        let limits = Settings::new(options(text)).unwrap().limits;
        let given = (
            limits.physical_partition_ru,
            limits.initial_partition_ru,
            limits.physical_partition_bytes,
            limits.logical_partition_bytes_max,
        );
        assert_eq!(given, (500, 300, 1_000_000, 70_000));
    }

    #[test]
    fn continuous_backups() {
        for (text, expected) in
            [("off", Some(0)), ("1d", Some(1_440)), ("7d", Some(10_080)), ("30d", Some(43_200))]
        {
            assert_eq!(continuous_backup_minutes(text).ok(), expected, "{text}");
        }
        for text in ["", "7", "0d", "31d", "d", "-1d", "7h"] {
            let refused = continuous_backup_minutes(text).unwrap_err().to_string();
            assert!(refused.contains("days such as 7d"), "{refused}");
        }
    }

    #[test]
    fn what_is_set_first_wins() {
        let merged = options("port = 1\nmemory = false").or(options("port = 2\nmemory = true\ncache-mb = 7"));
        assert_eq!((merged.port, merged.memory, merged.cache_mb), (Some(1), Some(false), Some(7)));
    }

    #[cfg(feature = "object-storage")]
    #[test]
    fn what_is_for_folders_is_refused_with_an_object_store() {
        let store = "store = \"file:///objects\"\n";
        for (text, word) in [
            ("write-buffer-mb = 64", "--write-buffer-mb is for data in a folder"),
            ("memory = true", "two places for the data"),
            ("lease-seconds = 1", "--lease-seconds is 1, but must be at least 2"),
        ] {
            let message = Settings::new(options(&format!("{store}{text}"))).unwrap_err().to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
        let settings =
            Settings::new(options(&format!("{store}lease-seconds = 2\nstore-cache-mb = 3"))).unwrap();
        assert_eq!((settings.lease, settings.store_cache_bytes), (Duration::from_secs(2), 3 * 1024 * 1024));
    }

    #[test]
    fn refused() {
        // 32 bytes, and one less.
        let own = "key = \"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\"";
        let short = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MA==";
        for (text, word) in [
            ("bind = \"0.0.0.0\"\nkey = \"YQ==\"".to_string(), "--key has 1 bytes"),
            (format!("bind = \"0.0.0.0\"\nkey = \"{short}\""), "openssl rand -base64 64"),
            (format!("bind = \"::\"\n{own}\nsecondary-key = \"{short}\""), "--secondary-key has 31 bytes"),
            (format!("bind = \"::\"\n{own}\nread-only-key = \"{short}\""), "--read-only-key has 31 bytes"),
            ("allowed-hosts = [\"http://a\"]".to_string(), "--allowed-hosts has"),
            ("allowed-origins = [\"a:1\"]".to_string(), "--allowed-origins has"),
            (format!("allowed-hosts = {:?}", vec!["n"; limits::ALLOWED_MAX + 1]), "at most 100"),
            (format!("allowed-origins = {:?}", vec!["*"; limits::ALLOWED_MAX + 1]), "at most 100"),
            ("bind = \"0.0.0.0\"".to_string(), "--key"),
            ("bind = \"::\"".to_string(), "--key"),
            (format!("bind = \"0.0.0.0\"\n{own}\nsecondary-key = \"{COSMOS_KEY}\""), "--key"),
            (format!("bind = \"0.0.0.0\"\nkey = \"{STORAGE_KEY}\""), "--key"),
            ("port = 8902".to_string(), "--port and --table-port are both 8902"),
            ("storage-table-port = 8081".to_string(), "--port and --storage-table-port are both 8081"),
            ("storage-table-port = 8902".to_string(), "or --storage-table-port off"),
            ("key = \"not base64\"".to_string(), "--key is not base64"),
            ("key = \"\"".to_string(), "--key is not base64"),
            ("secondary-key = \"%\"".to_string(), "--secondary-key is not base64"),
            ("read-only-key = \"%\"".to_string(), "--read-only-key is not base64"),
            (format!("bind = \"0.0.0.0\"\n{own}\nread-only-key = \"{COSMOS_KEY}\""), "--key"),
            ("physical-partition-ru = 0".to_string(), "at least 1"),
            ("item-bytes-max = 0".to_string(), "at least 1"),
            ("logical-partition-bytes = 0".to_string(), "at least 1"),
            (
                "physical-partition-bytes = 65535".to_string(),
                "--physical-partition-bytes is 65535, but must be at least 65536",
            ),
            ("item-bytes-max = 2097153".to_string(), "at most 2097152"),
            ("consistency = \"Perfect\"".to_string(), "one of Eventual, ConsistentPrefix"),
            ("tls-cert = \"x\"".to_string(), "--tls-key"),
            ("tls-key = \"x\"".to_string(), "--tls-cert"),
            ("connections-max = 0".to_string(), "at least 1"),
            ("store-cache-mb = 0".to_string(), "--store-cache-mb is for copies"),
            ("lease-seconds = 6".to_string(), "--lease-seconds is for the lease"),
            ("memory = true\nlease-seconds = 6".to_string(), "give --store as well"),
            ("header-bytes-max = 8191".to_string(), "at least 8192"),
            (format!("tls-name = {:?}", vec!["n"; limits::TLS_NAMES_MAX + 1]), "at most 100"),
        ] {
            let message = Settings::new(options(&text)).unwrap_err().to_string();
            assert!(message.contains(word), "{text}: {message}");
        }
        for text in [
            format!("bind = \"0.0.0.0\"\n{own}"),
            format!("bind = \"127.0.0.1\"\nkey = \"{short}\""),
            format!("allowed-hosts = {:?}", vec!["n"; limits::ALLOWED_MAX]),
            format!("allowed-origins = {:?}", vec!["*"; limits::ALLOWED_MAX]),
            "bind = \"127.0.0.2\"".to_string(),
            "bind = \"::1\"".to_string(),
            "header-bytes-max = 8192".to_string(),
            "item-bytes-max = 2097152".to_string(),
            "physical-partition-bytes = 65536".to_string(),
            "logical-partition-bytes = 1".to_string(),
            "consistency = \"boundedstaleness\"".to_string(),
            format!("tls-name = {:?}", vec!["n"; limits::TLS_NAMES_MAX]),
        ] {
            Settings::new(options(&text)).unwrap();
        }
    }
}
