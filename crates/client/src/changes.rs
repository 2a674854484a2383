//! The change feed, a page at a time.

use std::time::Duration;

use armilla_rest_wire::names;
use http::{Method, header};

use crate::failure::Failure;
use crate::items::{Scope, items, scoped};
use crate::limits::ANSWER_TIMEOUT;
use crate::session::{Done, Session};

/// Where a feed is read from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum From<'a> {
    /// The first change.
    #[default]
    Beginning,
    /// The end.
    Now,
    /// Behind a page: the entity tag that it came with ([`Done::etag`]).
    Position(&'a str),
}

/// What is asked of a feed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Changes<'a> {
    /// Which items.
    pub scope: Scope<'a>,
    /// From where.
    pub from: From<'a>,
    /// Most changes of a page; without, the server decides.
    pub items_max: Option<u32>,
    /// How long the server may wait for a change if there is none.
    pub wait: Duration,
}

impl Session {
    /// Reads a page of the newest versions of items, in the order in which they changed. The status 304 says that there
    /// is nothing new; the entity tag of either is the position of the next page.
    pub async fn changes(
        &mut self,
        database: &str,
        container: &str,
        changes: &Changes<'_>,
    ) -> Result<Done, Failure> {
        let mut question = scoped(items(Method::GET, database, container, None), changes.scope)?
            .header(&names::A_IM, "Incremental Feed");
        question = match changes.from {
            From::Beginning => question,
            From::Now => question.header(&header::IF_NONE_MATCH, "*"),
            From::Position(position) => question.header_text(&header::IF_NONE_MATCH, position)?,
        };
        if let Some(count) = changes.items_max {
            question = question.header_text(&names::MAX_ITEM_COUNT, &count.to_string())?;
        }
        if !changes.wait.is_zero() {
            let seconds = changes.wait.as_secs().max(1);
            question = question.header_text(&names::PREFER, &format!("wait={seconds}"))?;
            question.timeout = ANSWER_TIMEOUT + changes.wait;
        }
        self.carry_out(&question).await
    }
}
