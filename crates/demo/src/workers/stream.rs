//! Follows one feed, or one arc of it: reads a page, has it worked through, keeps the position.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_client::{Changes, Done, Failure, From, Scope, Session};
use armilla_value::{HashVersion, HashedKey, initial_bounds};

use super::lease::Lease;
use super::{Shared, Tally, copies, names, newest, repair};
use crate::fan::Fan;
use crate::limits::{AWAY_MAX, AWAY_WAIT, CHANGE_WAIT, PAGE_CHANGES_MAX};
use crate::model::{POSTS_V2, Place, USERS_V2, USERS_V3};
use crate::rows::Rows;
use change::Change;

use super::change;

/// Arcs of the ring of posts, each with a worker and a position of its own.
const STREAMS: usize = 4;

/// What is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feed {
    /// Users of the second version.
    UsersV2,
    /// Users of the third version; copies of posts come with them.
    UsersV3,
    /// Posts, comments and likes.
    Posts,
}

impl Feed {
    /// All of them.
    pub(super) const ALL: [Feed; 3] = [Feed::UsersV2, Feed::UsersV3, Feed::Posts];

    pub(super) fn place(self) -> &'static Place {
        match self {
            Feed::UsersV2 => &USERS_V2,
            Feed::UsersV3 => &USERS_V3,
            Feed::Posts => &POSTS_V2,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Feed::UsersV2 => "users-v2",
            Feed::UsersV3 => "users-v3",
            Feed::Posts => "posts",
        }
    }

    /// Returns in how many parts it is followed.
    pub(super) fn arcs(self) -> usize {
        match self {
            Feed::UsersV2 | Feed::UsersV3 => 1,
            Feed::Posts => STREAMS,
        }
    }

    /// Whether what was loaded needs no work, so that only later changes matter.
    pub(super) fn begins_now(self) -> bool {
        self != Feed::Posts
    }
}

/// A worker.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    feed: Feed,
    /// The hashed keys from and to; they stay good when partitions are split.
    arc: (String, String),
    lease: Lease,
    session: Session,
    fan: Fan,
}

impl Worker {
    /// Takes over the position of one arc of a feed.
    pub(super) async fn take_over(
        shared: &Arc<Shared>,
        session: &mut Session,
        feed: Feed,
        arc: usize,
        owner: &str,
    ) -> Result<Worker> {
        let lease = Lease::take_over(session, feed, arc, owner).await?;
        Ok(Worker {
            shared: shared.clone(),
            feed,
            arc: arc_of(arc, feed.arcs()),
            lease,
            session: shared.client.session(),
            fan: Fan::new(&shared.client, shared.connections.div_ceil(feed.arcs())),
        })
    }

    /// Works until it is told to stop.
    pub(super) async fn follow(&mut self) -> Result<()> {
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.step(CHANGE_WAIT).await?;
        }
        Ok(())
    }

    /// Works until nothing is new, and returns how many changes there were.
    pub(super) async fn catch_up(&mut self) -> Result<u64> {
        let mut handled = 0;
        loop {
            match self.step(Duration::ZERO).await? {
                Some(count) => handled += count as u64,
                None => return Ok(handled),
            }
        }
    }

    /// Deals with one page, and returns how many changes it had; nothing if there was no change. While the server is
    /// away this waits for it, within bounds.
    async fn step(&mut self, wait: Duration) -> Result<Option<usize>> {
        let clock = self.shared.env.clock.clone();
        let mut away_since = None;
        loop {
            let error = match self.try_step(wait).await {
                Ok(handled) => return Ok(handled),
                Err(error) => error,
            };
            let is_passing =
                error.chain().any(|cause| cause.downcast_ref::<Failure>().is_some_and(Failure::is_passing));
            let since = *away_since.get_or_insert_with(|| clock.elapsed());
            if !is_passing || clock.elapsed().saturating_sub(since) > AWAY_MAX {
                let name = self.feed.name();
                return Err(error.context(format!("the worker of {name} cannot go on")));
            }
            // Nothing of the page is noted, so all of it is done again.
            clock.sleep(AWAY_WAIT).await;
        }
    }

    async fn try_step(&mut self, wait: Duration) -> Result<Option<usize>> {
        let place = self.feed.place();
        let from = self.lease.position().map_or(From::Beginning, From::Position);
        let scope = Scope::Hashed(&self.arc.0, &self.arc.1);
        let changes = Changes { scope, from, items_max: Some(PAGE_CHANGES_MAX), wait };
        let page = self.session.changes(place.database, place.container, &changes).await?;
        if page.status == http::StatusCode::NOT_MODIFIED {
            return Ok(None);
        }
        let handled = self.handle(&page).await?;
        Tally::add(&self.shared.tally.changes, handled);
        let position = page.etag().context("a page of changes has no position")?;
        match self.lease.advance(&mut self.session, position).await {
            Err(failure) if failure.is(412) => {
                anyhow::bail!("other workers have taken over")
            }
            outcome => outcome?,
        }
        Ok(Some(handled))
    }

    async fn handle(&mut self, page: &Done) -> Result<usize> {
        let rows: Vec<&[u8]> = Rows::of(&page.body)?.collect::<Result<_>>()?;
        match self.feed {
            Feed::UsersV2 | Feed::UsersV3 => {
                names::spread(&self.shared, &mut self.session, &mut self.fan, &rows).await?;
            }
            Feed::Posts => {
                let changes: Vec<Change<'_>> =
                    rows.iter().map(|row| Change::of(row)).collect::<Result<_>>()?;
                repair::names(&self.shared, &mut self.fan, &changes).await?;
                let posts = change::newest_versions(&changes)?;
                copies::write(&self.shared, &mut self.session, &mut self.fan, &posts).await?;
                newest::write(&self.shared, &mut self.session, &posts).await?;
            }
        }
        Ok(rows.len())
    }
}

/// Returns one of equal arcs of the ring.
fn arc_of(index: usize, count: usize) -> (String, String) {
    let bounds = initial_bounds(count as u32, HashVersion::V2);
    let from = index.checked_sub(1).map_or(HashedKey::MIN, |before| bounds[before].clone());
    let to = bounds.get(index).cloned().unwrap_or(HashedKey::MAX);
    (from.to_hex(), to.to_hex())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_cover_the_ring() {
        assert_eq!(arc_of(0, 1), (String::new(), "FF".to_owned()));
        for count in [2, 4, 7] {
            let arcs: Vec<_> = (0..count).map(|index| arc_of(index, count)).collect();
            assert_eq!((&*arcs[0].0, &*arcs[count - 1].1), ("", "FF"));
            for pair in arcs.windows(2) {
                assert_eq!(pair[0].1, pair[1].0);
                assert!(pair[0].0 < pair[0].1);
            }
        }
    }
}
