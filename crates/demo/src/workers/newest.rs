//! Shortened copies of the newest posts go into a list of a hundred.
//!
//! A trigger removes the oldest behind each that is added. A post that is older than all of a full list would be
//! removed at once, so it is not sent: dates of posts do not change and posts are not deleted, so the date of the
//! oldest in the list only ever grows, and an old bound is a safe one. The list is one logical partition.
//!
//! A copy that is in the list is brought up to date like those at the authors; `copies` says why that is safe. If a
//! late request adds a post that was removed before, the trigger removes it again: a hundred newer ones are there.

use anyhow::{Context as _, Result};
use armilla_client::{Query, Scope, Session, WriteOptions};
use armilla_value::{Value, json};
use parking_lot::{Mutex, MutexGuard};

use super::change::Short;
use super::copies::{Job, bring_up_to_date};
use super::{Shared, Tally};
use crate::figures::FEED_POSTS;
use crate::model::{FEED_KEY, FEED_V3, scripts};
use crate::rows::Rows;

const BOUND: &str = "SELECT COUNT(1) AS posts, MIN(f.creationDate) AS oldest FROM f";

/// What all workers know of the list.
#[derive(Debug, Default)]
pub(super) struct Newest {
    /// A date before which nothing is in the list any more.
    bound: Mutex<Option<String>>,
}

impl Newest {
    fn admits(&self, date: &str) -> bool {
        self.lock().as_deref().is_none_or(|bound| date >= bound)
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.bound.lock()
    }

    /// Notes how old the oldest of a full list was at some time; the later one counts.
    fn raise(&self, oldest: String) {
        let mut bound = self.lock();
        if bound.as_ref().is_none_or(|bound| *bound < oldest) {
            *bound = Some(oldest);
        }
    }
}

/// Writes those posts that belong into the list.
pub(super) async fn write(shared: &Shared, session: &mut Session, posts: &[Short]) -> Result<()> {
    let mut due: Vec<&Short> = posts.iter().filter(|post| shared.newest.admits(&post.date)).collect();
    // The newest first: they may make the others unnecessary.
    due.sort_by(|one, other| other.date.cmp(&one.date));
    let mut has_added = false;
    for post in due {
        if shared.newest.admits(&post.date) {
            has_added |= add(shared, session, post).await?;
        }
    }
    if has_added {
        refresh(shared, session).await?;
    }
    Ok(())
}

/// Adds a post, or brings its copy up to date; returns whether it was added.
async fn add(shared: &Shared, session: &mut Session, post: &Short) -> Result<bool> {
    let trigger = Some(scripts::TRUNCATE_FEED);
    let options = WriteOptions { post_trigger: trigger, is_minimal: true, ..WriteOptions::default() };
    let (database, container) = (FEED_V3.database, FEED_V3.container);
    let added = session.create_item_with(database, container, FEED_KEY, post.text.clone(), options).await;
    match added {
        Ok(_) => {
            Tally::add(&shared.tally.writes, 1);
            Ok(true)
        }
        Err(failure) if failure.is(409) => {
            let job = Job { place: &FEED_V3, key: FEED_KEY.to_owned(), post: post.clone(), trigger };
            let outcome = bring_up_to_date(session, &job).await?;
            Tally::add(&shared.tally.writes, usize::from(outcome.wrote));
            Tally::add(&shared.tally.collisions, outcome.collisions as usize);
            Ok(false)
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Finds out how old the oldest is, once the list is full.
async fn refresh(shared: &Shared, session: &mut Session) -> Result<()> {
    let mut continuation: Option<String> = None;
    loop {
        let query = Query {
            text: BOUND,
            scope: Scope::Key(FEED_KEY),
            continuation: continuation.as_deref(),
            ..Query::default()
        };
        let page = session.query(FEED_V3.database, FEED_V3.container, &query).await?;
        if let Some(row) = Rows::of(&page.body)?.next() {
            let row = json::parse(row?).context("the list's count is no JSON")?;
            let posts = row.get("posts").and_then(Value::as_i64).unwrap_or(0);
            if let Some(oldest) = row.get("oldest").and_then(Value::as_str)
                && posts >= FEED_POSTS as i64
            {
                shared.newest.raise(oldest.to_owned());
            }
        }
        // A page may end early, when the partition's second is used up.
        match page.continuation {
            Some(token) => continuation = Some(token),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_only_grows() {
        let newest = Newest::default();
        assert!(newest.admits(""));
        newest.raise("2019".to_owned());
        newest.raise("2018".to_owned());
        assert!(!newest.admits("2018"));
        assert!(newest.admits("2019"), "another post may have the same date");
        newest.raise("2020".to_owned());
        assert!(!newest.admits("2019"));
    }
}
