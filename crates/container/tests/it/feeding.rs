//! Followers of a change feed for tests.

use armilla_container::{
    Container, Error, FeedChange, FeedMode, FeedPage, FeedRequest, FeedStart, Item, ListScope, Priority,
    ReadCost, SessionToken,
};
use armilla_value::HashedKey;

/// A reader of a feed, page by page.
#[derive(Clone)]
pub(crate) struct Follower {
    pub(crate) mode: FeedMode,
    pub(crate) scope: ListScope,
    pub(crate) start: FeedStart,
    pub(crate) modified_since: Option<u32>,
    pub(crate) items_max: usize,
}

impl Follower {
    pub(crate) fn new(mode: FeedMode, scope: ListScope, start: FeedStart) -> Follower {
        Follower { mode, scope, start, modified_since: None, items_max: 1_000 }
    }

    pub(crate) fn latest(scope: ListScope, start: FeedStart) -> Follower {
        Follower::new(FeedMode::Latest, scope, start)
    }

    pub(crate) fn versions(scope: ListScope, start: FeedStart) -> Follower {
        Follower::new(FeedMode::AllVersions, scope, start)
    }

    pub(crate) fn request(&self) -> FeedRequest {
        FeedRequest {
            mode: self.mode,
            scope: self.scope.clone(),
            start: self.start.clone(),
            modified_since: self.modified_since,
            items_max: self.items_max,
            session: SessionToken::default(),
            cost: ReadCost::Single,
            claim: Priority::High.into(),
        }
    }

    /// Reads the next page and stays behind it.
    pub(crate) fn try_next(&mut self, container: &Container) -> Result<FeedPage, Error> {
        let page = container.read_feed(&self.request())?;
        self.start = FeedStart::Token(page.token.clone());
        Ok(page)
    }

    pub(crate) fn next(&mut self, container: &Container) -> FeedPage {
        self.try_next(container).unwrap()
    }

    /// Reads up to the end.
    pub(crate) fn drain(&mut self, container: &Container) -> Vec<FeedChange> {
        let mut changes = Vec::new();
        for _ in 0..100_000 {
            let page = self.next(container);
            assert!(!page.changes.is_empty() || page.is_end, "a page is empty and not the last");
            changes.extend(page.changes);
            if page.is_end {
                return changes;
            }
        }
        panic!("the feed does not end");
    }

    pub(crate) fn token(&self) -> &str {
        match &self.start {
            FeedStart::Token(token) => token,
            start => panic!("nothing was read yet: {start:?}"),
        }
    }
}

/// A part of the ring.
pub(crate) fn arc(min: &HashedKey, max: &HashedKey) -> ListScope {
    ListScope::Range { id: None, min: Some(min.clone()), max: Some(max.clone()) }
}

/// One physical partition.
pub(crate) fn range(id: u32) -> ListScope {
    ListScope::Range { id: Some(id), min: None, max: None }
}

pub(crate) fn property(item: &Item, name: &str) -> String {
    let stored = item.stored();
    let node = stored.root().get(name).unwrap();
    match node.as_str() {
        Some(text) => text.into_owned(),
        None => node.as_i64().unwrap().to_string(),
    }
}

/// Partition key, id and `n` of the items of changes.
pub(crate) fn shown(changes: &[FeedChange]) -> Vec<String> {
    let name = |change: &FeedChange| {
        let item = change.item.as_ref().unwrap();
        format!("{}/{}={}", property(item, "pk"), property(item, "id"), property(item, "n"))
    };
    changes.iter().map(name).collect()
}
