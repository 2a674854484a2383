//! A PostgreSQL server of our own, in a new folder, with settings that suit a comparison.
//!
//! The project's own measurements use it, too.
//!
//! Invariant: nothing that makes writes durable is off.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use armilla_env::Env;
use tempfile::TempDir;
use tokio_postgres::Config;

/// The one user and its database.
const USER: &str = "bench";
const DATABASE: &str = "postgres";

/// The system's user for PostgreSQL, which refuses to run for the administrator.
const SYSTEM_USER: &str = "postgres";

/// Where Debian puts the programs, by version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Connections besides those that are measured.
const OTHER_CONNECTIONS: usize = 16;

/// What a server is for, which decides its settings.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Queries, also while others write: everything in memory.
    Queries {
        /// Documents that must fit into memory.
        items: usize,
        /// Workers that a query may take besides the first.
        workers: u32,
    },
    /// Writes that are on the disk before they are answered, as the server's own are.
    DurableWrites {
        /// Documents that must fit into memory.
        items: usize,
        /// Connections that are measured; as many as PostgreSQL allows by itself if nothing is said.
        connections: Option<usize>,
    },
}

/// A running server. It is stopped when it is dropped.
pub struct PostgresServer {
    programs: Programs,
    folder: TempDir,
    port: u16,
    password: String,
}

/// The programs, and the user who runs them where that is not ourselves.
struct Programs {
    folder: PathBuf,
    user: Option<(u32, u32)>,
}

impl PostgresServer {
    /// Starts a server in a folder of its own; `None` when none is installed.
    ///
    /// `programs` is where they are, if they are not to be looked for.
    pub fn start(
        programs: Option<&Path>,
        folder: TempDir,
        env: &Env,
        purpose: Purpose,
    ) -> Result<Option<PostgresServer>> {
        let found = match programs {
            Some(found) => {
                ensure!(holds_programs(found), "{} has no initdb, pg_ctl and postgres", found.display());
                found.to_owned()
            }
            None => match find_programs() {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        let programs = Programs { folder: found, user: other_user()? };
        if let Some((user, group)) = programs.user {
            std::os::unix::fs::chown(folder.path(), Some(user), Some(group))
                .context("cannot give the folder to PostgreSQL's user")?;
        }
        let server = PostgresServer { programs, folder, port: free_port()?, password: password(env) };
        server.initialise(&configuration(server.port, purpose))?;
        let log = server.folder.path().join("log");
        server.run("pg_ctl", &["-w", "-l", &log.to_string_lossy(), "start"]).with_context(|| {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            format!("PostgreSQL says: {}", text.trim_end())
        })?;
        Ok(Some(server))
    }

    /// Returns how to connect.
    pub fn config(&self) -> Config {
        let mut config = Config::new();
        config.host("127.0.0.1").port(self.port).user(USER).password(&self.password).dbname(DATABASE);
        config
    }

    /// Returns the process that all others of the server are children of.
    pub fn pid(&self) -> Result<u32> {
        let path = self.data().join("postmaster.pid");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        text.lines().next().and_then(|line| line.trim().parse().ok()).context("postmaster.pid has no number")
    }

    fn initialise(&self, settings: &str) -> Result<()> {
        let secret = self.folder.path().join("password");
        std::fs::write(&secret, &self.password).context("cannot write the password")?;
        if let Some((user, group)) = self.programs.user {
            std::os::unix::fs::chown(&secret, Some(user), Some(group))
                .context("cannot give the password to PostgreSQL's user")?;
        }
        let pwfile = format!("--pwfile={}", secret.display());
        let encoding = ["--locale=C", "--encoding=UTF8", "--no-sync"];
        let access = ["-U", USER, "-A", "scram-sha-256", &pwfile];
        self.run("initdb", &[&encoding[..], &access[..]].concat())?;
        let path = self.data().join("postgresql.conf");
        let mut text = std::fs::read_to_string(&path).context("cannot read PostgreSQL's settings")?;
        text.push_str(settings);
        std::fs::write(&path, text).context("cannot write PostgreSQL's settings")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Runs a program on the data folder.
    fn run(&self, program: &str, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(self.programs.folder.join(program));
        // What the server inherits must not be held open by it, so nothing is piped.
        command
            .arg("-D")
            .arg(self.data())
            .args(arguments)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if let Some((user, group)) = self.programs.user {
            command.uid(user).gid(group);
        }
        let status = command.status().with_context(|| format!("cannot run {program}"))?;
        ensure!(status.success(), "{program} ended with {status}");
        Ok(())
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // The folder goes next; a server that has ended already needs no stopping.
        let _ = self.run("pg_ctl", &["-w", "-s", "-m", "immediate", "stop"]);
    }
}

impl Purpose {
    /// Returns the megabytes that the server keeps pages in, which is what anyone beside it should have as well.
    pub fn buffers_mb(self) -> usize {
        // A document takes half a kilobyte where it is queried and a whole one where it is written, all indexes together
        // about as much.
        let bytes = match self {
            Purpose::Queries { items, .. } => items.saturating_mul(2_048),
            Purpose::DurableWrites { items, .. } => items.saturating_mul(4_096),
        };
        (bytes >> 20).clamp(256, 8_192)
    }
}

/// Returns the settings that suit a purpose.
fn configuration(port: u16, purpose: Purpose) -> String {
    let buffers_mb = purpose.buffers_mb();
    let mut settings = vec![
        ("listen_addresses", "'127.0.0.1'".to_owned()),
        ("port", port.to_string()),
        ("unix_socket_directories", "''".to_owned()),
        ("shared_buffers", format!("{buffers_mb}MB")),
        ("effective_cache_size", format!("{buffers_mb}MB")),
        ("random_page_cost", "1.1".to_owned()),
        ("jit", "off".to_owned()),
        ("max_wal_size", "8GB".to_owned()),
        ("checkpoint_timeout", "1h".to_owned()),
    ];
    // What changes over and over is cleaned up as it would be in earnest, and nothing is answered before it is durable.
    settings.extend([
        ("autovacuum", "on".to_owned()),
        ("fsync", "on".to_owned()),
        ("synchronous_commit", "on".to_owned()),
        ("full_page_writes", "on".to_owned()),
    ]);
    match purpose {
        Purpose::Queries { workers, .. } => settings.extend([
            ("work_mem", "256MB".to_owned()),
            ("maintenance_work_mem", "512MB".to_owned()),
            ("max_parallel_workers_per_gather", workers.to_string()),
        ]),
        Purpose::DurableWrites { connections, .. } => settings
            .extend(connections.map(|count| ("max_connections", (count + OTHER_CONNECTIONS).to_string()))),
    }
    let mut text = String::from("\n");
    for (name, value) in settings {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

/// Returns the folder of the newest programs that are installed.
fn find_programs() -> Option<PathBuf> {
    let entries = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let versions = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let newest = versions.filter(|version| holds_programs(&debian(*version))).max().map(debian);
    newest.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|folder| holds_programs(folder))
    })
}

fn debian(version: u32) -> PathBuf {
    Path::new(DEBIAN).join(version.to_string()).join("bin")
}

fn holds_programs(folder: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres"].iter().all(|program| folder.join(program).is_file())
}

/// Returns the user and group that PostgreSQL runs for, where the caller is the administrator.
fn other_user() -> Result<Option<(u32, u32)>> {
    if id(&["-u"])? != 0 {
        return Ok(None);
    }
    Ok(Some((id(&["-u", SYSTEM_USER])?, id(&["-g", SYSTEM_USER])?)))
}

fn id(arguments: &[&str]) -> Result<u32> {
    let output = Command::new("id").args(arguments).output().context("cannot run id")?;
    ensure!(output.status.success(), "there is no user {SYSTEM_USER} to run PostgreSQL");
    String::from_utf8_lossy(&output.stdout).trim().parse().context("id gave no number")
}

/// Returns a password that nobody else on the machine knows.
fn password(env: &Env) -> String {
    let mut bytes = [0; 16];
    env.entropy.fill(&mut bytes);
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Returns a port that nobody listens on.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("there is no free port")?;
    Ok(listener.local_addr().context("a socket has no address")?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_grow_with_the_items() {
        for (items, of_queries, of_writes) in
            [(1, "256MB", "256MB"), (1_000_000, "1953MB", "3906MB"), (usize::MAX, "8192MB", "8192MB")]
        {
            let text = configuration(5432, Purpose::Queries { items, workers: 0 });
            assert!(text.contains(&format!("shared_buffers = {of_queries}\n")), "{text}");
            assert!(text.contains("max_parallel_workers_per_gather = 0\n"), "{text}");
            let text = configuration(5432, Purpose::DurableWrites { items, connections: Some(8) });
            assert!(text.contains(&format!("shared_buffers = {of_writes}\n")), "{text}");
            assert!(text.contains("max_connections = 24\n"), "{text}");
        }
    }

    #[test]
    fn writes_are_durable() {
        for purpose in [
            Purpose::DurableWrites { items: 1, connections: None },
            Purpose::Queries { items: 1, workers: 0 },
        ] {
            let text = configuration(5432, purpose);
            for line in
                ["fsync = on\n", "synchronous_commit = on\n", "full_page_writes = on\n", "autovacuum = on\n"]
            {
                assert!(text.contains(line), "{text}");
            }
            // That of the just-in-time compiler.
            assert_eq!(text.matches("= off\n").count(), 1, "{text}");
            assert!(!text.contains("max_connections"), "{text}");
        }
    }

    #[test]
    fn a_folder_without_the_programs() {
        let empty = tempfile::tempdir().unwrap();
        let own = tempfile::tempdir().unwrap();
        let purpose = Purpose::DurableWrites { items: 1, connections: Some(1) };
        let error = PostgresServer::start(Some(empty.path()), own, &Env::system(), purpose).err().unwrap();
        assert!(error.to_string().contains("has no initdb"), "{error}");
    }

    #[test]
    fn passwords_differ() {
        let env = Env::system();
        assert_eq!(password(&env).len(), 32);
        assert_ne!(password(&env), password(&env));
    }
}
