//! Instructions of a request, counted by callgrind: the one figure that a busy machine does not change.
//!
//! A server runs under valgrind, which counts while requests of one kind are sent over one connection, and not before or
//! in between. What its threads in the background do in as much time without any request is counted before and taken
//! off; what requests make them do is in it.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::{ServerProcess, sibling_program};
use armilla_env::{Env, Random};
use armilla_value::{Object, Value};
use clap::Args;
use tempfile::TempDir;

use crate::columns::layout;
use crate::items::{CONTAINER, DATABASE, Items};
use crate::place::Place;
use crate::server::{Ask, Servers, Setup, folder, write_request};

/// Requests of each kind before anything is counted, so that caches and connections are as they will be.
const WARM_UP: usize = 50;

/// How long it is counted what a server does without any request.
const IDLE: Duration = Duration::from_secs(3);

/// Counts instructions of requests, under valgrind.
#[derive(Debug, Args)]
pub(crate) struct InstructionOptions {
    /// Items to load
    #[arg(long, default_value_t = 1_000)]
    items: usize,
    /// Bytes of an item's JSON
    #[arg(long, default_value_t = 400)]
    item_bytes: usize,
    /// Requests of each kind that are counted
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    requests: u32,
    /// What items are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    place: Place,
}

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    PointRead,
    QueryByKey,
    Upsert,
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::PointRead, Kind::QueryByKey, Kind::Upsert];

    fn name(self) -> &'static str {
        match self {
            Kind::PointRead => "point read",
            Kind::QueryByKey => "query by key",
            Kind::Upsert => "upsert",
        }
    }

    fn request(self, composer: &mut Composer, items: Items, index: usize, version: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(1_024);
        match self {
            Kind::PointRead => write_request(composer, &mut out, Ask::Read, items, index, 0),
            Kind::Upsert => write_request(composer, &mut out, Ask::Upsert, items, index, version),
            Kind::QueryByKey => {
                let customer = items.key(index);
                let key = partition_key(&customer);
                let headers =
                    [("x-ms-documentdb-partitionkey", key.as_str()), ("x-ms-documentdb-isquery", "True")];
                let body = format!(
                    r#"{{"query":"SELECT * FROM c WHERE c.customer = @key","parameters":[{{"name":"@key","value":"{customer}"}}]}}"#
                );
                composer.write(
                    &mut out,
                    "POST",
                    Target::Items(DATABASE, CONTAINER),
                    &headers,
                    body.as_bytes(),
                );
            }
        }
        out
    }
}

/// Counts, prints the table and writes the figures.
pub(crate) fn run(options: &InstructionOptions) -> Result<()> {
    ensure!(has_valgrind(), "valgrind is not installed");
    let env = Env::system();
    let scratch = folder(&setup(options, None))?;
    let program = options.place.bin.clone().map_or_else(sibling_program, Ok)?;
    let callgrind = Callgrind::new(&scratch, &program)?;
    let servers = Servers::new(&setup(options, Some(callgrind.program.clone())), &env)?;
    eprintln!("starting {} under valgrind", program.display());
    let server = servers.start("instructions")?;
    servers.create_container(&server)?;
    let items = Items::new(options.items, options.item_bytes)?;
    let mut client = Client::open(&env, &servers, &server, items, options.seed)?;
    eprintln!("loading {} items", items.count);
    for index in 0..items.count {
        let mut request = Vec::new();
        write_request(&mut client.composer, &mut request, Ask::Create, items, index, 0);
        client.send(&request)?;
    }
    for kind in Kind::ALL {
        client.send_some(kind, WARM_UP)?;
    }
    let idle = callgrind.count(&env, server.pid(), || {
        std::thread::sleep(IDLE);
        Ok(())
    })?;
    eprintln!("  without any request: {:.0} instructions a second", idle.per_second());
    let mut counted = Vec::new();
    for kind in Kind::ALL {
        let all =
            callgrind.count(&env, server.pid(), || client.send_some(kind, options.requests as usize))?;
        let each = all.beyond(idle) / f64::from(options.requests);
        eprintln!("  {}: {each:.0} instructions", kind.name());
        counted.push((kind, each));
    }
    drop(client);
    // What it still has to say about itself takes longer than a server may take to end.
    drop(server);
    print(options, &counted);
    options.place.write_figures(&figures(options, &counted))
}

fn setup(options: &InstructionOptions, bin: Option<PathBuf>) -> Setup {
    let mut place = options.place.clone();
    place.bin = bin;
    Setup { connections: 1, seconds: 0.0, partitions: 1, cache_mb: 64, place }
}

fn has_valgrind() -> bool {
    let status =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn print(options: &InstructionOptions, counted: &[(Kind, f64)]) {
    println!(
        "{} items of {} bytes, {} requests of each kind over one connection",
        options.items, options.item_bytes, options.requests
    );
    let rows: Vec<_> =
        counted.iter().map(|(kind, each)| [kind.name().to_owned(), format!("{each:.0}")]).collect();
    println!("{}", layout(&["request", "instructions"].map(str::to_owned), &rows).trim_end());
}

fn figures(options: &InstructionOptions, counted: &[(Kind, f64)]) -> Value {
    let mut instructions = Object::new();
    for (kind, each) in counted {
        instructions.insert(kind.name(), *each);
    }
    let mut all = Object::new();
    all.insert("items", options.items as i64);
    all.insert("itemBytes", options.item_bytes as i64);
    all.insert("requests", i64::from(options.requests));
    all.insert("instructions", Value::Object(instructions));
    Value::Object(all)
}

/// What was counted in some time.
#[derive(Debug, Clone, Copy)]
struct Count {
    instructions: u64,
    took: Duration,
}

impl Count {
    fn per_second(self) -> f64 {
        self.instructions as f64 / self.took.as_secs_f64()
    }

    /// Returns what is more than another would have been in the same time.
    fn beyond(self, idle: Count) -> f64 {
        (self.instructions as f64 - idle.per_second() * self.took.as_secs_f64()).max(0.0)
    }
}

/// One connection that sends requests about items that are drawn.
struct Client<'s> {
    servers: &'s Servers,
    connection: Connection,
    composer: Composer,
    items: Items,
    random: Random,
    sequence: u64,
}

impl<'s> Client<'s> {
    fn open(
        env: &Env,
        servers: &'s Servers,
        server: &ServerProcess,
        items: Items,
        seed: u64,
    ) -> Result<Client<'s>> {
        let connection =
            servers.runtime.block_on(Connection::open(server.address)).context("cannot connect")?;
        let (composer, random) = (Composer::new(env), Random::new(seed));
        Ok(Client { servers, connection, composer, items, random, sequence: 0 })
    }

    fn send_some(&mut self, kind: Kind, count: usize) -> Result<()> {
        for _ in 0..count {
            self.sequence += 1;
            let index = self.random.index(self.items.count);
            let request = kind.request(&mut self.composer, self.items, index, self.sequence);
            self.send(&request).with_context(|| kind.name())?;
        }
        Ok(())
    }

    fn send(&mut self, request: &[u8]) -> Result<()> {
        let exchange = self.connection.exchange(request);
        let reply = self.servers.runtime.block_on(exchange).context("the server does not answer")?;
        ensure!(
            matches!(reply.status, 200 | 201),
            "the server answered {}: {}",
            reply.status,
            reply.excerpt()
        );
        Ok(())
    }
}

/// The program under callgrind, and what it counted.
struct Callgrind {
    /// Starts the program under callgrind.
    program: PathBuf,
    folder: PathBuf,
}

impl Callgrind {
    fn new(scratch: &TempDir, program: &Path) -> Result<Callgrind> {
        let folder = scratch.path().to_owned();
        let script = folder.join("armilla");
        let program =
            std::fs::canonicalize(program).with_context(|| format!("{} is not there", program.display()))?;
        let mut file = std::fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o755)
            .open(&script)
            .context("cannot write a script")?;
        // It becomes valgrind, so the process that is started is the one that is counted.
        write!(
            file,
            "#!/bin/sh\nexec valgrind -q --tool=callgrind --instr-atstart=no --callgrind-out-file='{}/counted' '{}' \"$@\"\n",
            folder.display(),
            program.display()
        )
        .context("cannot write a script")?;
        Ok(Callgrind { program: script, folder })
    }

    fn control(&self, pid: u32, arguments: &[&str]) -> Result<()> {
        let status = Command::new("callgrind_control")
            .args(arguments)
            .arg(pid.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .context("cannot run callgrind_control")?;
        ensure!(status.success(), "callgrind_control ended with {status}");
        Ok(())
    }

    /// Counts while something is done.
    fn count(&self, env: &Env, pid: u32, work: impl FnOnce() -> Result<()>) -> Result<Count> {
        self.control(pid, &["-i", "on"])?;
        let begin = env.clock.elapsed();
        work()?;
        let took = env.clock.elapsed() - begin;
        self.control(pid, &["-i", "off"])?;
        Ok(Count { instructions: self.take(pid)?, took })
    }

    /// Returns what was counted, and begins anew.
    fn take(&self, pid: u32) -> Result<u64> {
        self.control(pid, &["-d"])?;
        let mut sum = 0;
        for entry in std::fs::read_dir(&self.folder).context("cannot list what was counted")?.flatten() {
            let path = entry.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("counted.")) {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                sum += instructions(&text);
                std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        ensure!(sum > 0, "callgrind counted nothing");
        Ok(sum)
    }
}

/// Reads the number of instructions from what callgrind wrote.
fn instructions(dump: &str) -> u64 {
    // The summary is zero where counting was turned off before.
    let totals = dump.lines().filter_map(|line| line.strip_prefix("totals:"));
    totals.filter_map(|rest| rest.split_ascii_whitespace().next()?.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callgrind_wrote() {
        for (dump, expected) in [
            ("version: 1\nevents: Ir\nsummary: 0\n\nfn=(1) main\n3 7\ntotals: 4711\n", 4_711),
            ("totals: 1 2\ntotals: 5\n", 6),
            ("totals: x\n", 0),
            ("", 0),
        ] {
            assert_eq!(instructions(dump), expected, "{dump}");
        }
    }

    #[test]
    fn what_a_server_does_without_requests_is_taken_off() {
        let count = |instructions, seconds| Count { instructions, took: Duration::from_secs(seconds) };
        for (all, idle, expected) in [
            (count(1_000, 2), count(300, 3), 800.0),
            (count(1_000, 2), count(0, 3), 1_000.0),
            (count(100, 2), count(300, 3), 0.0),
        ] {
            assert_eq!(all.beyond(idle), expected, "{all:?} {idle:?}");
        }
    }

    #[test]
    fn the_program_is_started_by_a_script_with_its_whole_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = tempfile::tempdir().unwrap();
        let program = scratch.path().join("server");
        std::fs::write(&program, "").unwrap();
        let callgrind = Callgrind::new(&scratch, &program).unwrap();
        let text = std::fs::read_to_string(&callgrind.program).unwrap();
        assert!(text.starts_with("#!/bin/sh\nexec valgrind") && text.contains("/server' \"$@\""), "{text}");
        assert_eq!(std::fs::metadata(&callgrind.program).unwrap().permissions().mode() & 0o777, 0o755);
        assert!(Callgrind::new(&scratch, &scratch.path().join("none")).is_err());
    }
}
