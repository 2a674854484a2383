//! Compares every copy with its source, item by item.
//!
//! * Every post, comment and like has the name that its user has in both containers of users.
//! * Every post counts as many comments and likes as there are.
//! * Every post has exactly one copy at its author, that is what it should be, and there is no other copy.
//! * The list of the newest has the copies of the hundred newest posts, and nothing else.
//! * There is as much of everything as was written.
//!
//! Items are read by queries, not from the change feed: what the feed had forgotten would be forgotten here, too. Of
//! each post some fifty bytes are kept, of each user the name; everything else streams by.

mod book;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_client::{Client, Query, Scope, Session};
use armilla_env::Env;
use armilla_report::number;
use bytes::Bytes;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinSet;

use crate::limits::PAGE_ROWS_MAX;
use crate::model::{FEED_V3, POSTS_V2, Place, USERS_V2, USERS_V3};
use crate::progress::Progress;
use crate::rows::Rows;
use crate::shape::Totals;
use book::Book;

/// What a check found.
#[derive(Debug, Clone)]
pub(crate) struct Checked {
    /// Items that were read.
    pub(crate) items: u64,
    /// Copies that were compared with their source.
    pub(crate) copies: u64,
    pub(crate) problem_count: u64,
    /// The first of them.
    pub(crate) problems: Vec<String>,
    pub(crate) took: Duration,
}

impl Checked {
    /// Says what was found.
    pub(crate) fn lines(&self) -> Vec<String> {
        let verdict = match self.problem_count {
            0 => "every copy is in step".to_owned(),
            count => format!("{} PROBLEMS", number::count(count)),
        };
        let first = format!(
            "check: {} items read, {} copies compared in {}: {verdict}",
            number::count(self.items),
            number::count(self.copies),
            number::duration(self.took)
        );
        let mut lines = vec![first];
        lines.extend(self.problems.iter().map(|problem| format!("  {problem}")));
        let told = self.problems.len() as u64;
        if self.problem_count > told {
            lines.push(format!("  and {} more", number::count(self.problem_count - told)));
        }
        lines
    }
}

/// How much there has to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    pub(crate) users_v2: u64,
    pub(crate) users_v3: u64,
    /// Posts, comments and likes.
    pub(crate) posts: Totals,
}

impl Expected {
    /// Returns how many items a check reads.
    fn items(&self) -> u64 {
        self.users_v2 + self.users_v3 + self.posts.in_posts() + self.posts.posts
    }
}

const USERS: &str = "SELECT c.id, c.username FROM c";
const USERS_BY_TYPE: &str = "SELECT c.id, c.username FROM c WHERE c.type = 'user'";
const POSTS: &str = "SELECT * FROM c WHERE c.type = 'post'";
const ANSWERS: &str =
    "SELECT c.type, c.postId, c.userId, c.userUsername FROM c WHERE c.type IN ('comment', 'like')";
const ALL: &str = "SELECT * FROM c";

/// Connections that read at once.
const READERS: usize = 4;

/// Pages that were read and wait to be looked at.
const PAGES_WAITING_MAX: usize = 8;

/// Compares everything. Without expectations, how much there is does not matter.
pub(crate) async fn run(client: &Client, expected: Option<Expected>, env: &Env) -> Result<Checked> {
    let start = env.clock.elapsed();
    let seen = Arc::new(AtomicU64::new(0));
    let total = expected.map_or(0, |expected| expected.items());
    let counted = seen.clone();
    let progress = Progress::start("comparing copies", total, env, move || counted.load(Ordering::Relaxed));
    let mut book = Book::new(expected);
    let rows = |place, text| Reading { client, place, text, seen: &seen };
    rows(&USERS_V2, USERS).each(|row| book.user_v2(row)).await?;
    rows(&USERS_V3, USERS_BY_TYPE).each(|row| book.user_v3(row)).await?;
    rows(&POSTS_V2, POSTS).each(|row| book.post(row)).await?;
    rows(&POSTS_V2, ANSWERS).each(|row| book.answer(row)).await?;
    rows(&USERS_V3, POSTS).each(|row| book.copy(row)).await?;
    rows(&FEED_V3, ALL).each(|row| book.newest(row)).await?;
    drop(progress);
    let took = env.clock.elapsed().saturating_sub(start);
    Ok(book.finish(took))
}

/// Rows of a query that are read, one physical partition after the other, over several connections.
struct Reading<'r> {
    client: &'r Client,
    place: &'static Place,
    text: &'static str,
    seen: &'r AtomicU64,
}

impl Reading<'_> {
    /// Calls `take` with every row.
    async fn each(self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Reading { client, place, text, seen } = self;
        let ranges = client.session().ranges(place.database, place.container).await?;
        let ranges: Arc<Vec<String>> = Arc::new(ranges.into_iter().map(|range| range.id).collect());
        let next = Arc::new(AtomicUsize::new(0));
        let (sender, mut pages) = tokio::sync::mpsc::channel(PAGES_WAITING_MAX);
        let mut readers = JoinSet::new();
        for _ in 0..READERS.min(ranges.len()) {
            let (mut session, sender) = (client.session(), sender.clone());
            let (ranges, next) = (ranges.clone(), next.clone());
            readers.spawn(async move {
                while let Some(range) = ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
                    read_range(&mut session, place, text, range, &sender).await?;
                }
                anyhow::Ok(())
            });
        }
        drop(sender);
        while let Some(page) = pages.recv().await {
            for row in Rows::of(&page)? {
                take(row?)?;
                seen.fetch_add(1, Ordering::Relaxed);
            }
        }
        while let Some(ended) = readers.join_next().await {
            ended.context("a reader ended early")??;
        }
        Ok(())
    }
}

async fn read_range(
    session: &mut Session,
    place: &Place,
    text: &str,
    range: &str,
    pages: &Sender<Bytes>,
) -> Result<()> {
    let mut continuation: Option<String> = None;
    loop {
        let query = Query {
            text,
            scope: Scope::Range(range),
            items_max: Some(PAGE_ROWS_MAX),
            continuation: continuation.as_deref(),
            ..Query::default()
        };
        let page = session.query(place.database, place.container, &query).await?;
        if pages.send(page.body).await.is_err() {
            // Whoever looks at the pages has failed, and tells it.
            return Ok(());
        }
        match page.continuation {
            Some(token) => continuation = Some(token),
            None => return Ok(()),
        }
    }
}
