//! The change feed of a container: a page of changes, at once or as soon as there are some.
//!
//! A caller that waits holds neither a thread nor a turn: it sleeps until a partition it asks about has a newer commit,
//! reads, and sleeps again if that was about something else. Reads of one wait come further and further apart, so that
//! a reader of one key beside a busy neighbour costs little.
//!
//! Invariants:
//! * a wait ends at its deadline and when the account is closed, with the page that was read last, and at once when the
//!   container is deleted;
//! * no more than [`FEED_WAITERS_MAX`](crate::limits::FEED_WAITERS_MAX) callers wait: others are answered at once, and
//!   told that there was no wait.
//!
//! Not here: the log and positions in it (`container`), purging what is expired (`sweeping`).

mod feeds;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use armilla_container::{FeedMode, FeedPage, FeedRequest, FeedStart, ListScope, RequestUnits};
use armilla_env::SleepFuture;
use armilla_ledger::Act;
use armilla_value::{HashedKey, hashed_key};

use crate::access::{Access, Action, Caller};
use crate::blocking;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::items::PAGE_ITEMS_DEFAULT;
use crate::limits::{FEED_PAUSE_LEAST, FEED_PAUSE_MOST, FEED_WAIT_MAX};

pub(crate) use feeds::Feeds;

/// A page of changes that is asked for.
#[derive(Debug, Clone)]
pub struct FeedPageRequest {
    /// Which changes.
    pub mode: FeedMode,
    /// Of which items.
    pub scope: ListScope,
    /// From where on.
    pub start: FeedStart,
    /// Only versions that were written at this time or later, in seconds since 1970 UTC.
    pub modified_since: Option<u32>,
    /// At most how many; `None` leaves it to the server.
    pub items_max: Option<usize>,
    /// How long to wait for the first change, if there is none yet: no longer than [`FEED_WAIT_MAX`].
    pub wait: Option<Duration>,
}

/// A page of changes, and how it came about.
pub struct FeedAnswer {
    /// The page.
    pub page: FeedPage,
    /// How long the page would have been waited for; `None` if the caller asked for no wait, or too many wait already.
    pub wait: Option<Duration>,
}

impl Deref for FeedAnswer {
    type Target = FeedPage;

    fn deref(&self) -> &FeedPage {
        &self.page
    }
}

impl Engine {
    /// Returns a page of a container's changes.
    pub async fn change_feed(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        request: FeedPageRequest,
    ) -> Result<FeedAnswer> {
        let cost = caller.read_cost(self.consistency())?;
        let scope = visible_scope(caller, container, request.scope);
        let partition_key = match &scope {
            ListScope::PartitionKey(partition_key) => Some(partition_key),
            ListScope::All | ListScope::Range { .. } => None,
        };
        caller.access.check_item(Action::Read, container.rid(), None, partition_key)?;
        // What begins at a time stays bound to it on the pages that follow.
        let modified_since = match request.start {
            FeedStart::Time(seconds) => request.modified_since.max(Some(seconds)),
            _ => request.modified_since,
        };
        let mut read = FeedRequest {
            mode: request.mode,
            scope: scope.clone(),
            start: request.start,
            modified_since: request.modified_since,
            items_max: request.items_max.unwrap_or(PAGE_ITEMS_DEFAULT),
            session: caller.session.clone(),
            cost,
            claim: caller.claim,
        };
        let noting = self.noting();
        let page = self.read_feed(container, read.clone()).await;
        if let Some(noting) = noting {
            let rows = |page: &FeedPage| (page.charge, page.changes.len() as u64);
            noting.page(container, Act::Changes, partition_key, &page, rows);
        }
        let page = page?;
        let wait = request.wait.map(|wait| wait.min(FEED_WAIT_MAX)).filter(|wait| !wait.is_zero());
        let Some(wait) = wait else { return Ok(FeedAnswer { page, wait: None }) };
        if is_worth_showing(&page) {
            return Ok(FeedAnswer { page, wait: Some(wait) });
        }
        let Ok(_waiter) = self.feeds().waiters.try_acquire() else {
            return Ok(FeedAnswer { page, wait: None });
        };
        read.modified_since = modified_since;
        let page = self.wait_for_changes(container, read, page, self.env().clock.sleep(wait)).await?;
        Ok(FeedAnswer { page, wait: Some(wait) })
    }

    /// Answers all callers that wait for changes, and lets none wait from now on: the account is about to be closed.
    pub fn end_waits(&self) {
        self.feeds().ended.send_replace(true);
    }

    /// Waits until there is a page that is worth showing, or until the wait is over. What all of it cost is the price of
    /// the page.
    async fn wait_for_changes(
        &self,
        container: &Arc<ContainerHandle>,
        mut read: FeedRequest,
        mut page: FeedPage,
        mut deadline: SleepFuture,
    ) -> Result<FeedPage> {
        let (mut closed, mut ended) = (self.feeds().ended.subscribe(), container.ended());
        let mut pause = FEED_PAUSE_LEAST;
        let mut is_first = true;
        loop {
            let next = async {
                if !is_first {
                    self.env().clock.sleep(pause).await;
                }
                container.container().feed_changed(&read.scope, &page.token).await
            };
            tokio::select! {
                () = &mut deadline => return Ok(page),
                _ = closed.wait_for(|closed| *closed) => return Ok(page),
                _ = ended.wait_for(|ended| *ended) => {
                    return match container.is_deleted() {
                        true => Err(Error { charge: page.charge, ..container.missing() }),
                        false => Ok(page),
                    };
                }
                changed = next => changed.map_err(|error| charged(container, error, page.charge))?,
            }
            read.start = FeedStart::Token(page.token.clone());
            match self.read_feed(container, read.clone()).await {
                Ok(newer) => {
                    page = FeedPage { charge: page.charge + newer.charge, ..newer };
                    if is_worth_showing(&page) {
                        return Ok(page);
                    }
                    pause = if is_first { FEED_PAUSE_LEAST } else { (pause * 2).min(FEED_PAUSE_MOST) };
                }
                // A caller that waits can wait for the budget, too.
                Err(error) if error.kind == ErrorKind::Throttled => {
                    page.charge += error.charge;
                    pause = error.retry_after.unwrap_or(FEED_PAUSE_MOST).max(FEED_PAUSE_LEAST);
                }
                Err(error) => return Err(Error { charge: page.charge + error.charge, ..error }),
            }
            is_first = false;
        }
    }

    async fn read_feed(&self, container: &Arc<ContainerHandle>, request: FeedRequest) -> Result<FeedPage> {
        let _turn = self.feeds().turns.acquire().await.expect("the semaphore is never closed");
        let handle = container.clone();
        let read = move || handle.container().read_feed(&request).map_err(|error| handle.translate(error));
        blocking::run("page of changes", read).await?
    }
}

/// Returns whether a page says more than that nothing is new.
fn is_worth_showing(page: &FeedPage) -> bool {
    !page.changes.is_empty() || !page.is_end
}

fn charged(container: &ContainerHandle, error: armilla_container::Error, before: RequestUnits) -> Error {
    let error = container.translate(error);
    Error { charge: before + error.charge, ..error }
}

/// Returns the part of a scope that a caller can see at all, if that is one logical partition: what a permission for one
/// is good for. Some clients name a logical partition by the range of its one hashed key.
fn visible_scope(caller: &Caller, container: &ContainerHandle, scope: ListScope) -> ListScope {
    let Access::Granted(grant) = &caller.access else { return scope };
    let Some(partition_key) = &grant.partition_key else { return scope };
    let is_visible = match &scope {
        ListScope::All => true,
        ListScope::PartitionKey(_) => false,
        ListScope::Range { min: Some(min), max: Some(max), .. } => {
            let definition = container.definition().partition_key.clone();
            let hashed = hashed_key(partition_key, definition.version);
            definition.is_whole(partition_key)
                && *min >= hashed
                && after(&hashed).is_some_and(|end| *max <= end)
        }
        ListScope::Range { .. } => false,
    };
    if is_visible { ListScope::PartitionKey(partition_key.clone()) } else { scope }
}

/// Returns the hashed key that is one higher at the same length.
fn after(hashed: &HashedKey) -> Option<HashedKey> {
    let mut bytes = hashed.as_bytes().to_vec();
    let place = bytes.iter().rposition(|byte| *byte < u8::MAX)?;
    bytes[place] += 1;
    bytes[place + 1..].fill(0);
    Some(HashedKey::from_bytes(&bytes))
}

#[cfg(test)]
mod tests;
