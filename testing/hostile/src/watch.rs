//! What is looked at while a case runs: whether the server lives and answers others in time, and what memory it holds.
//!
//! The probe has a thread of its own, so that a case that keeps the others busy does not make the server look slow.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::process_figures;
use armilla_env::Env;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::request::{Caller, Request};
use crate::stage::Stage;

/// How often the probe asks, and how often memory is looked at.
const PROBE_INTERVAL: Duration = Duration::from_millis(100);

/// How long the probe waits for an answer that is late already, to tell how late it is.
const PROBE_PATIENCE: Duration = Duration::from_secs(10);

/// Most complaints that are kept.
const COMPLAINTS_MAX: usize = 5;

/// The database and the container of the probe.
pub const PROBE_DATABASE: &str = "probe";
const PROBE_CONTAINER: &str = "probe";

/// What a case is told of its server's memory and answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Resident bytes of the server and its children before the attack.
    pub before_bytes: u64,
    /// The most that was seen.
    pub peak_bytes: u64,
    /// The last that was seen.
    pub now_bytes: u64,
    /// How often the probe was answered.
    pub answers: u64,
    /// The longest that it waited.
    pub slowest: Duration,
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = |bytes: u64| bytes / (1024 * 1024);
        write!(
            f,
            "{} probes, slowest {} ms; memory {} MiB, peak {}, then {}",
            self.answers,
            self.slowest.as_millis(),
            mebibytes(self.before_bytes),
            mebibytes(self.peak_bytes),
            mebibytes(self.now_bytes)
        )
    }
}

/// A probe at work.
pub struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    env: Env,
    address: SocketAddr,
    pid: u32,
    bound: Duration,
    is_over: AtomicBool,
    gone: Notify,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    figures: Figures,
    complaints: Vec<String>,
    is_gone: bool,
}

impl Watch {
    /// Makes what the probe asks about and begins to ask.
    pub async fn begin(stage: &Stage, bound: Duration) -> Result<Watch> {
        stage.create_container(PROBE_DATABASE, PROBE_CONTAINER, "/pk").await?;
        for item in ["read", "written"] {
            let request =
                Request::post(&items(), &format!("{{\"id\":\"{item}\",\"pk\":\"a\"}}")).partition("a");
            stage.ask_for(&stage.master(), &request, 201).await?;
        }
        let before_bytes = process_figures::family_resident(stage.pid())?;
        let figures =
            Figures { before_bytes, peak_bytes: before_bytes, now_bytes: before_bytes, ..Figures::default() };
        let shared = Arc::new(Shared {
            env: stage.env().clone(),
            address: stage.address(),
            pid: stage.pid(),
            bound,
            is_over: AtomicBool::new(false),
            gone: Notify::new(),
            seen: Mutex::new(Seen { figures, ..Seen::default() }),
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start the probe")?;
        let probing = shared.clone();
        let thread = std::thread::Builder::new()
            .name("probe".to_owned())
            .spawn(move || runtime.block_on(probing.probe()))
            .context("cannot start the probe")?;
        Ok(Watch { shared, thread: Some(thread) })
    }

    /// Returns what was seen until now.
    pub fn figures(&self) -> Figures {
        self.shared.seen().figures
    }

    /// Waits until the server is gone.
    pub async fn server_gone(&self) {
        self.shared.gone.notified().await;
    }

    /// Stops asking: what the server does from now on is the case's own business.
    pub fn end(&self) {
        self.shared.is_over.store(true, Ordering::Release);
    }

    /// Ends, and returns what was seen and what was wrong.
    pub fn finish(mut self) -> (Figures, Vec<String>) {
        self.end();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            self.shared.complain("the probe panicked".to_owned());
        }
        let mut seen = self.shared.seen();
        (seen.figures, std::mem::take(&mut seen.complaints))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    async fn probe(&self) {
        let questions = questions();
        let caller = Caller::master();
        for question in questions.iter().cycle() {
            let begin = self.env.clock.elapsed();
            let outcome = self.ask(question, &caller).await;
            let took = self.env.clock.elapsed() - begin;
            let resident = process_figures::family_resident(self.pid);
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            match outcome {
                Ok(()) => self.answered(took),
                Err(error) => self.complain(format!("the probe failed after {took:?}: {error:#}")),
            }
            if took > self.bound {
                self.complain(format!(
                    "the probe '{}' waited {} ms, more than {} ms",
                    question.what(),
                    took.as_millis(),
                    self.bound.as_millis()
                ));
            }
            match resident {
                Ok(bytes) => self.remember(bytes),
                Err(_) => {
                    self.complain("the server ended".to_owned());
                    self.seen().is_gone = true;
                    self.gone.notify_one();
                    return;
                }
            }
            self.env.clock.sleep(PROBE_INTERVAL.saturating_sub(took)).await;
        }
    }

    /// Asks as somebody new would: on a connection of its own.
    async fn ask(&self, question: &Request, caller: &Caller) -> Result<()> {
        let request = question.compose(caller, self.address, &self.env);
        let exchange = async {
            let mut connection = Connection::open(self.address).await.context("no connection")?;
            let reply = connection.exchange(&request).await.context("no answer")?;
            match reply.status {
                200 => Ok(()),
                other => bail!("the answer to '{}' was {other}: {}", question.what(), reply.excerpt()),
            }
        };
        timeout(PROBE_PATIENCE, exchange).await.map_err(|_| anyhow!("no answer to '{}'", question.what()))?
    }

    fn answered(&self, took: Duration) {
        let mut seen = self.seen();
        seen.figures.answers += 1;
        seen.figures.slowest = seen.figures.slowest.max(took);
    }

    fn remember(&self, bytes: u64) {
        let mut seen = self.seen();
        seen.figures.now_bytes = bytes;
        seen.figures.peak_bytes = seen.figures.peak_bytes.max(bytes);
    }

    fn complain(&self, complaint: String) {
        let mut seen = self.seen();
        if seen.complaints.len() < COMPLAINTS_MAX {
            seen.complaints.push(complaint);
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("nothing panics with the lock held")
    }
}

fn items() -> String {
    format!("/dbs/{PROBE_DATABASE}/colls/{PROBE_CONTAINER}/docs")
}

/// What is asked, in turn: a read, a write and a query, the three that can be blocked each on its own.
fn questions() -> [Request; 3] {
    let written = format!("{}/written", items());
    [
        Request::get(&format!("{}/read", items())).partition("a"),
        Request::new("PUT", &written).body("{\"id\":\"written\",\"pk\":\"a\"}").partition("a"),
        Request::query(&items(), "SELECT VALUE c.id FROM c WHERE c.id = 'read'").partition("a"),
    ]
}
