//! The workload `feed`: how fast the change feed is drained, and how soon it tells of a write.
//!
//! `feed:drain` reads the feed of the loaded items from its beginning, a connection for each physical partition, and
//! starts over at the end. `feed:write` writes new items at a rate into a container of its own, while one reader waits
//! for changes there; `feed:delay` is the time from sending a write until the reader has the change. Every write that
//! was acknowledged has to be told of, or the run fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use armilla_client::{Changes, From, Scope, Session};
use armilla_env::{Env, Random};
use tokio::sync::Notify;

use crate::armilla::{Armilla, FOLLOWED, ITEMS, NAME, count_of_page, partition_key, refusal};
use crate::drive::{self, Answer, Effort, Future, Pace, Worker};
use crate::limits::{FEED_PAGE_ITEMS, FEED_PATIENCE};
use crate::measurements::Turn;
use crate::result::{Row, Subject, rows};
use crate::side::Side as _;
use crate::tally::Tally;
use crate::words::push_words;

/// Writes a second beside the reader, where nothing else is asked for.
pub(crate) const RATE_DEFAULT: f64 = 500.0;

/// How long one request waits for changes.
const WAIT: Duration = Duration::from_secs(1);

/// The property that says when a write was sent, by this process's clock.
const SENT: &[u8] = b"\"sentNs\":";

/// Bytes of text in an item that is written beside the reader.
const NOTE_BYTES: usize = 200;

/// Reads the feed of the items over and over.
pub(crate) async fn drain(side: &Armilla, env: &Env, turn: &Turn) -> Result<Vec<Row>> {
    let ranges = side.client.session().ranges(&side.database, ITEMS).await?;
    let mut workers: Vec<Box<dyn Worker>> = Vec::new();
    for range in ranges.into_iter().take(turn.connections()) {
        let session = side.open_session().await?;
        let database = side.database.clone();
        workers.push(Box::new(Drain { session, database, range: range.id, position: None }));
    }
    // Each connection reads as fast as it can, whatever rate writes have.
    let measured = drive::drive(env, Pace { rate: None, ..turn.pace }, 1, workers, side.cpu_clock()).await?;
    ensure_no_failures(measured.first_failure.as_deref())?;
    Ok(rows(subject("feed:drain", turn), &["page"], &measured))
}

fn subject<'s>(workload: &'s str, turn: &Turn) -> Subject<'s> {
    Subject { workload, side: NAME, circumstances: turn.circumstances }
}

/// Reads the feed of one physical partition.
struct Drain {
    session: Session,
    database: String,
    range: String,
    position: Option<String>,
}

impl Worker for Drain {
    fn prepare(&mut self) -> usize {
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let mut all = Effort::default();
            loop {
                let from = self.position.as_deref().map_or(From::Beginning, From::Position);
                let is_beginning = from == From::Beginning;
                let changes = Changes {
                    scope: Scope::Range(&self.range),
                    from,
                    items_max: Some(FEED_PAGE_ITEMS),
                    wait: Duration::ZERO,
                };
                let done = match self.session.changes(&self.database, ITEMS, &changes).await {
                    Ok(done) => done,
                    Err(failure) => return refusal(failure),
                };
                let items = count_of_page(&done.body);
                all.add(Effort { charge: Some(done.charge), requests: 1, items });
                self.position = done.etag().map(str::to_owned);
                if items > 0 {
                    return Ok(Answer::Done(all));
                }
                // At the end it starts over; a partition without items has no other page than this.
                self.position = None;
                if is_beginning {
                    return Ok(Answer::Done(all));
                }
            }
        })
    }
}

/// What writers and the reader know of each other.
#[derive(Default)]
struct Told {
    acknowledged: AtomicU64,
    has_ended: AtomicBool,
    /// Wakes the reader from its waiting for changes that will not come.
    ended: Notify,
}

/// Writes at a rate while a reader follows.
pub(crate) async fn follow(side: &Armilla, env: &Env, turn: &Turn) -> Result<Vec<Row>> {
    let told = Arc::new(Told::default());
    let mut workers: Vec<Box<dyn Worker>> = Vec::new();
    for number in 0..turn.connections() {
        let stream = turn.stream(number);
        workers.push(Box::new(Writer {
            env: env.clone(),
            session: side.open_session().await?,
            database: side.database.clone(),
            random: Random::of_part(turn.seed, stream as u64 + 1),
            stream,
            sequence: 0,
            told: told.clone(),
            prepared: (String::new(), String::new(), String::new()),
        }));
    }
    let mut reader = Reader::open(side, env, told.clone()).await?;
    // Sent by this clock from then on, so that the warm-up can be told apart.
    let counted_from = env.clock.elapsed() + turn.pace.warm_up;
    let reading = tokio::spawn(async move { reader.follow(counted_from).await });
    let pace = Pace { rate: Some(turn.pace.rate.unwrap_or(RATE_DEFAULT)), ..turn.pace };
    let measured = drive::drive(env, pace, 1, workers, side.cpu_clock()).await;
    told.has_ended.store(true, Ordering::Release);
    told.ended.notify_one();
    let delays = reading.await.context("the reader ended unexpectedly")?;
    let measured = measured?;
    ensure_no_failures(measured.first_failure.as_deref())?;
    let mut all = rows(subject("feed:write", turn), &["write"], &measured);
    let told_of = drive::Measured {
        kinds: vec![delays?],
        took: measured.took,
        by_second: Vec::new(),
        open_loop: None,
        first_failure: None,
        // What telling costs cannot be told apart from the writes, which have all of it.
        cpu: None,
    };
    all.extend(rows(subject("feed:delay", turn), &["change"], &told_of));
    Ok(all)
}

fn ensure_no_failures(first: Option<&str>) -> Result<()> {
    match first {
        Some(failure) => bail!("an operation of the feed failed: {failure}"),
        None => Ok(()),
    }
}

/// Writes new items that say when they were sent.
struct Writer {
    env: Env,
    session: Session,
    database: String,
    random: Random,
    stream: usize,
    sequence: u64,
    told: Arc<Told>,
    /// The partition key, and the item before and behind the moment when it is sent.
    prepared: (String, String, String),
}

impl Worker for Writer {
    fn prepare(&mut self) -> usize {
        self.sequence += 1;
        let customer = format!("customer-{:06}", self.random.below(1_000_000));
        let id = format!("{}-{}", self.stream, self.sequence);
        let head = format!("{{\"id\":\"{id}\",\"customer\":\"{customer}\",\"sentNs\":");
        let mut tail = ",\"note\":\"".to_owned();
        push_words(&mut self.random, NOTE_BYTES, &mut tail);
        tail.push_str("\"}");
        self.prepared = (partition_key(&customer), head, tail);
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let (partition_key, head, tail) = &self.prepared;
            let body = format!("{head}{}{tail}", self.env.clock.elapsed().as_nanos());
            match self.session.create_item(&self.database, FOLLOWED, partition_key, body).await {
                Ok(done) => {
                    self.told.acknowledged.fetch_add(1, Ordering::Relaxed);
                    Ok(Answer::Done(Effort { charge: Some(done.charge), requests: 1, items: 1 }))
                }
                Err(failure) => refusal(failure),
            }
        })
    }
}

/// Waits for changes.
struct Reader {
    env: Env,
    session: Session,
    database: String,
    position: String,
    told: Arc<Told>,
}

impl Reader {
    /// Takes the position behind all that is there.
    async fn open(side: &Armilla, env: &Env, told: Arc<Told>) -> Result<Reader> {
        let mut session = side.client.session();
        let changes = Changes { from: From::Now, ..Changes::default() };
        let done = session.changes(&side.database, FOLLOWED, &changes).await?;
        let position = done.etag().context("the server gave no position in the feed")?.to_owned();
        Ok(Reader { env: env.clone(), session, database: side.database.clone(), position, told })
    }

    /// Reads until everything that was acknowledged was told of; counts what was sent after a moment.
    async fn follow(&mut self, counted_from: Duration) -> Result<Tally> {
        let mut tally = Tally::new();
        let mut seen = 0;
        let mut ended_at = None;
        loop {
            let changes = Changes {
                scope: Scope::All,
                from: From::Position(&self.position),
                items_max: Some(FEED_PAGE_ITEMS),
                wait: if ended_at.is_some() { Duration::ZERO } else { WAIT },
            };
            let done = tokio::select! {
                biased;
                done = self.session.changes(&self.database, FOLLOWED, &changes) => done?,
                // What an answer might have had comes again: the position stays where it is.
                () = self.told.ended.notified() => {
                    ended_at = Some(self.env.clock.elapsed());
                    continue;
                }
            };
            let now = self.env.clock.elapsed();
            for sent in sent_moments(&done.body) {
                seen += 1;
                if sent >= counted_from {
                    let delay = now.saturating_sub(sent);
                    tally.latencies.record(delay);
                    tally.services.record(delay);
                    tally.items += 1;
                }
            }
            tally.requests += 1;
            if now >= counted_from {
                *tally.charge.get_or_insert(0.0) += done.charge;
            }
            if let Some(position) = done.etag() {
                position.clone_into(&mut self.position);
            }
            if !self.told.has_ended.load(Ordering::Acquire) {
                continue;
            }
            let acknowledged = self.told.acknowledged.load(Ordering::Relaxed);
            if seen >= acknowledged {
                return Ok(tally);
            }
            let since = *ended_at.get_or_insert(now);
            ensure!(
                now.saturating_sub(since) < FEED_PATIENCE,
                "the feed told of {seen} of {acknowledged} acknowledged writes within {} s",
                FEED_PATIENCE.as_secs()
            );
        }
    }
}

/// Returns when the items of a page were sent.
fn sent_moments(page: &[u8]) -> impl Iterator<Item = Duration> {
    let mut rest = page;
    std::iter::from_fn(move || {
        let start = rest.windows(SENT.len()).position(|window| window == SENT)?;
        rest = &rest[start + SENT.len()..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
        let ns = digits.fold(0u64, |ns, digit| ns.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        Some(Duration::from_nanos(ns))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_page() {
        let page = br#"{"Documents":[{"id":"0-1","sentNs":12,"note":"x"},{"sentNs":99999999999,"_ts":1}],"_count":2}"#;
        let moments: Vec<_> = sent_moments(page).map(|moment| moment.as_nanos()).collect();
        assert_eq!(moments, [12, 99_999_999_999]);
        assert_eq!(sent_moments(b"").count(), 0);
        assert_eq!(sent_moments(b"\"sentNs\":").count(), 1);
    }
}
