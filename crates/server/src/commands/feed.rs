//! `armilla feed`: the changes of a container on standard output, one a line, as they happen.
//!
//! One request at a time over the whole container; the server's positions stay good through splits and merges. Lines
//! are what the server sent: items with their `_lsn`, or, with all versions, changes with their metadata.
//!
//! Invariants:
//! * standard output has whole changes and nothing else; what is said to people goes to standard error;
//! * a position is kept only after everything before it was written and flushed: at least once, never less.

mod backoff;
mod options;
mod output;
mod reader;
mod start;
mod state;
mod time;

use std::fmt;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use armilla_client::Client;
use armilla_env::Env;

use crate::limits::{FEED_LAST_WRITE, FEED_ONCE_PATIENCE};
use crate::shutdown::Signals;
use backoff::Backoff;
pub(crate) use options::FeedOptions;
use output::Output;
use reader::{Page, Reader, Trouble};
use start::Start;
use state::State;

/// Which versions of items are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The newest.
    Latest,
    /// All, and deletes.
    AllVersions,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Latest => "latest",
            Mode::AllVersions => "allVersions",
        }
    }

    fn named(name: &str) -> Option<Mode> {
        [Mode::Latest, Mode::AllVersions].into_iter().find(|mode| mode.name() == name)
    }

    /// What the `A-IM` header says.
    fn header(self) -> &'static str {
        match self {
            Mode::Latest => "Incremental Feed",
            Mode::AllVersions => "Full-Fidelity Feed",
        }
    }
}

/// Which feed is read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Scope {
    database: String,
    container: String,
    mode: Mode,
    /// As a header has it.
    partition_key: Option<String>,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Scope { database, container, mode, partition_key } = self;
        write!(f, "{database}/{container}")?;
        if *mode == Mode::AllVersions {
            write!(f, ", all versions")?;
        }
        match partition_key {
            Some(key) => write!(f, ", partition key {key}"),
            None => Ok(()),
        }
    }
}

/// Prints changes until there is a reason to stop.
pub(crate) fn run(options: &FeedOptions, env: Env) -> Result<ExitCode> {
    let scope = Scope {
        database: options.database.clone(),
        container: options.container.clone(),
        mode: if options.all_versions { Mode::AllVersions } else { Mode::Latest },
        partition_key: options.partition_key.clone(),
    };
    let start = start(scope.mode, options.from.clone())?;
    let client = Client::new(&options.server, env.clone())?;
    let state = match &options.state {
        Some(path) => State::read(path, &scope)?,
        None => None,
    };
    let reader = match state {
        Some(state) => Reader::resume(&client, state),
        None => Reader::new(&client, scope, start),
    };
    let mut feed = Feed { reader, client: &client, env, options, printed: 0 };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start threads")?;
    let ended = runtime.block_on(feed.follow());
    // A write that its reader does not take would hold us up for ever.
    runtime.shutdown_background();
    if let Some(position) = feed.reader.position() {
        tell(&summary(feed.printed, position, options.state.as_deref()));
    }
    ended.map(|()| ExitCode::SUCCESS)
}

/// Where to start, unless a state says otherwise.
fn start(mode: Mode, from: Option<Start>) -> Result<Start> {
    match (mode, from) {
        (Mode::Latest, from) => Ok(from.unwrap_or(Start::Beginning)),
        (Mode::AllVersions, None) => Ok(Start::Now),
        (Mode::AllVersions, Some(from @ (Start::Now | Start::Position(_)))) => Ok(from),
        (Mode::AllVersions, Some(Start::Beginning | Start::Time(_))) => {
            bail!(
                "--all-versions can start now or at a position: --from beginning and --from TIME are for items as \
                   they are"
            )
        }
    }
}

/// What the end of the command says.
fn summary(printed: u64, position: &str, state: Option<&Path>) -> String {
    let changes = if printed == 1 { "change" } else { "changes" };
    match state {
        Some(path) => format!("{printed} {changes}; {} keeps the position {position}", path.display()),
        None => {
            // Shells take a semicolon for the end of a command.
            let quote = if position.bytes().all(|byte| byte.is_ascii_alphanumeric()) { "" } else { "'" };
            format!("{printed} {changes}; go on after them with --from {quote}{position}{quote}")
        }
    }
}

/// Says something to whoever started the command. That nobody reads it is no reason to stop.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "armilla: {}", text.replace('\n', " "));
}

/// What is under way.
struct Feed<'f> {
    reader: Reader<'f>,
    client: &'f Client,
    env: Env,
    options: &'f FeedOptions,
    printed: u64,
}

/// Whether there is a reason to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Stop,
}

impl Feed<'_> {
    /// Prints until the end (`--once`), until there is enough (`--max`), until a signal, or until nobody reads it.
    async fn follow(&mut self) -> Result<()> {
        let mut signals = Signals::catch()?;
        let output = Output::new();
        loop {
            let page = tokio::select! {
                page = self.next_page() => page?,
                _ = signals.next() => return Ok(()),
                () = output.closed() => return Ok(()),
            };
            let is_end = page.is_end;
            if self.print(page, &output, &mut signals).await? == Next::Stop
                || (is_end && self.options.once)
                || self.options.max.is_some_and(|max| self.printed >= max)
            {
                return Ok(());
            }
        }
    }

    /// Returns the next page, however long the server is away meanwhile.
    async fn next_page(&mut self) -> Result<Page> {
        let items_max = u64::from(self.options.page_items);
        let items_max = self.options.max.map_or(items_max, |max| items_max.min(max - self.printed));
        let mut backoff = Backoff::new();
        let mut away_since = None;
        loop {
            let (why, retry_after) = match self.reader.next_page(items_max, !self.options.once).await {
                Ok(page) => {
                    if away_since.is_some() {
                        tell(&format!("the server at {} is back", self.client));
                    }
                    return Ok(page);
                }
                Err(Trouble::Lasting(error)) => return Err(error),
                Err(Trouble::Passing { why, retry_after }) => (why, retry_after),
            };
            // A server that says when to come again is there.
            if let Some(wait) = retry_after {
                self.env.clock.sleep(wait).await;
                continue;
            }
            let now = self.env.clock.elapsed();
            match away_since {
                None => {
                    away_since = Some(now);
                    tell(&format!("lost the server at {}, trying again: {why}", self.client));
                }
                Some(since) if self.options.once && now.saturating_sub(since) >= FEED_ONCE_PATIENCE => {
                    bail!("the server at {} did not come back: {why}", self.client);
                }
                Some(_) => {}
            }
            self.env.clock.sleep(backoff.next()).await;
        }
    }

    /// Writes a page, and then keeps the position behind it.
    async fn print(&mut self, mut page: Page, output: &Output, signals: &mut Signals) -> Result<Next> {
        let lines = std::mem::take(&mut page.lines);
        let mut next = Next::GoOn;
        if lines.count > 0 {
            let mut writing = pin!(output.write(lines.text));
            let written = tokio::select! {
                written = writing.as_mut() => written,
                _ = signals.next() => {
                    next = Next::Stop;
                    // What was begun is finished, if somebody reads it.
                    tokio::select! {
                        written = writing => written,
                        _ = signals.next() => return Ok(Next::Stop),
                        () = self.env.clock.sleep(FEED_LAST_WRITE) => return Ok(Next::Stop),
                    }
                }
            };
            match written {
                Ok(()) => self.printed += lines.count,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Next::Stop),
                Err(error) => return Err(error).context("cannot write the changes"),
            }
        }
        if self.reader.advance(page)
            && let Some(path) = &self.options.state
            && let Some(state) = self.reader.state()
        {
            state.write(path)?;
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_feed_starts() {
        let position = || Start::Position("7".to_owned());
        for (mode, from, expected) in [
            (Mode::Latest, None, Some(Start::Beginning)),
            (Mode::Latest, Some(Start::Beginning), Some(Start::Beginning)),
            (Mode::Latest, Some(Start::Now), Some(Start::Now)),
            (Mode::Latest, Some(Start::Time(1)), Some(Start::Time(1))),
            (Mode::Latest, Some(position()), Some(position())),
            (Mode::AllVersions, None, Some(Start::Now)),
            (Mode::AllVersions, Some(Start::Now), Some(Start::Now)),
            (Mode::AllVersions, Some(position()), Some(position())),
            (Mode::AllVersions, Some(Start::Beginning), None),
            (Mode::AllVersions, Some(Start::Time(1)), None),
        ] {
            assert_eq!(start(mode, from.clone()).ok(), expected, "{mode:?} {from:?}");
        }
    }

    #[test]
    fn what_is_said_at_the_end() {
        for (printed, position, state, expected) in [
            (0, "42", None, "0 changes; go on after them with --from 42"),
            (1, "F1;-FF-7", None, "1 change; go on after them with --from 'F1;-FF-7'"),
            (2, "42", Some("a/b"), "2 changes; a/b keeps the position 42"),
        ] {
            assert_eq!(summary(printed, position, state.map(Path::new)), expected);
        }
    }

    #[test]
    fn feeds_have_names() {
        let latest = Scope {
            database: "d".to_owned(),
            container: "c".to_owned(),
            mode: Mode::Latest,
            partition_key: None,
        };
        let narrow =
            Scope { mode: Mode::AllVersions, partition_key: Some("[1]".to_owned()), ..latest.clone() };
        assert_eq!(latest.to_string(), "d/c");
        assert_eq!(narrow.to_string(), "d/c, all versions, partition key [1]");
        for mode in [Mode::Latest, Mode::AllVersions] {
            assert_eq!(Mode::named(mode.name()), Some(mode));
        }
        assert_eq!(Mode::named("all"), None);
    }
}
