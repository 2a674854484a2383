//! Asks a server for the next page of a feed, and judges the answer.
//!
//! Invariant: the position moves only when it is told to (`advance`), so a page that was not printed is asked for
//! again.

use std::time::Duration;

use anyhow::{Context as _, Error, anyhow};
use armilla_client::{
    ANSWER_TIMEOUT, Answer, Client, Failure, Lines, Question, Session, lines, message, segment,
};
use armilla_rest_wire::names;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::start::{Start, is_position, unquoted};
use super::state::State;
use super::{Mode, Scope, time};
use crate::limits::FEED_WAIT;

/// The sub-status of a container that is another one than was meant.
const CONTAINER_REPLACED: &str = "1024";

/// The form in which all versions come.
const WIRE_FORMAT: &str = "2021-09-15";

/// A page of a feed.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) lines: Lines,
    /// Whether there was nothing more when it was read.
    pub(super) is_end: bool,
    position: String,
    rid: Option<String>,
}

/// Why there is no page.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It may be over soon.
    Passing {
        why: String,
        /// How long the server asked to wait.
        retry_after: Option<Duration>,
    },
    /// Asking again will not help.
    Lasting(Error),
}

/// Reads one feed.
pub(super) struct Reader<'c> {
    client: &'c Client,
    session: Session,
    scope: Scope,
    from: Start,
    /// Changes from before this time are left out.
    since: Option<u64>,
    /// Which container of this name it is.
    rid: Option<String>,
    /// Whether the server has been there; before, nothing is worth waiting for.
    has_answered: bool,
}

impl<'c> Reader<'c> {
    /// Starts somewhere.
    pub(super) fn new(client: &'c Client, scope: Scope, from: Start) -> Reader<'c> {
        let since = match from {
            Start::Time(since) => Some(since),
            _ => None,
        };
        Reader { client, session: client.session(), scope, from, since, rid: None, has_answered: false }
    }

    /// Goes on where another run ended.
    pub(super) fn resume(client: &'c Client, state: State) -> Reader<'c> {
        let State { scope, rid, since, position } = state;
        let from = Start::Position(position);
        Reader { client, session: client.session(), scope, from, since, rid, has_answered: false }
    }

    /// Returns what another run needs to go on; `None` as long as no server gave a position.
    pub(super) fn state(&self) -> Option<State> {
        let position = self.position()?.to_owned();
        Some(State { scope: self.scope.clone(), rid: self.rid.clone(), since: self.since, position })
    }

    /// Returns the position, once a server gave one.
    pub(super) fn position(&self) -> Option<&str> {
        match &self.from {
            Start::Position(position) => Some(position),
            _ => None,
        }
    }

    /// Moves behind a page; tells whether that is another position.
    pub(super) fn advance(&mut self, page: Page) -> bool {
        let has_moved = self.position() != Some(&page.position);
        self.from = Start::Position(page.position);
        self.rid = page.rid.or_else(|| self.rid.take());
        has_moved
    }

    /// Asks for the next page. One that `waits` may take [`FEED_WAIT`] until there is something in it.
    pub(super) async fn next_page(&mut self, items_max: u64, waits: bool) -> Result<Page, Trouble> {
        let question = self.question(items_max, waits).map_err(Trouble::Lasting)?;
        let answer = match self.session.ask(&question).await {
            Ok(answer) => answer,
            Err(failure @ Failure::Lost(_)) if self.has_answered => {
                return Err(Trouble::Passing { why: failure.to_string(), retry_after: None });
            }
            Err(failure) => return Err(Trouble::Lasting(failure.into())),
        };
        self.has_answered = true;
        self.judge(answer)
    }

    fn question(&self, items_max: u64, waits: bool) -> Result<Question, Error> {
        let Scope { database, container, mode, partition_key } = &self.scope;
        let mut headers = vec![
            (names::MAX_ITEM_COUNT.clone(), items_max.to_string()),
            (names::A_IM.clone(), mode.header().to_owned()),
        ];
        if *mode == Mode::AllVersions {
            headers.push((names::CHANGE_FEED_WIRE_FORMAT.clone(), WIRE_FORMAT.to_owned()));
        }
        match &self.from {
            Start::Beginning | Start::Time(_) => {}
            Start::Now => headers.push((header::IF_NONE_MATCH, "*".to_owned())),
            Start::Position(position) => headers.push((header::IF_NONE_MATCH, format!("\"{position}\""))),
        }
        if let Some(since) = self.since {
            headers.push((header::IF_MODIFIED_SINCE, time::header(since)));
        }
        if let Some(key) = partition_key {
            headers.push((names::PARTITION_KEY.clone(), key.clone()));
        }
        if let Some(rid) = &self.rid {
            headers.push((names::INTENDED_CONTAINER_RID.clone(), rid.clone()));
        }
        // "Now" must become a position at once: if the server went away in between, it would be a later now.
        let waits = waits && self.from != Start::Now;
        if waits {
            headers.push((names::PREFER.clone(), format!("wait={}", FEED_WAIT.as_secs())));
        }
        let headers = headers.into_iter().map(|(name, value)| {
            let text =
                HeaderValue::try_from(value).with_context(|| format!("no value of the header {name}"))?;
            Ok((name, text))
        });
        Ok(Question {
            method: Method::GET,
            path: format!("/dbs/{}/colls/{}/docs", segment(database), segment(container)),
            resource_type: "docs",
            link: format!("dbs/{database}/colls/{container}"),
            headers: headers.collect::<Result<_, Error>>()?,
            body: Bytes::new(),
            timeout: if waits { FEED_WAIT + ANSWER_TIMEOUT } else { ANSWER_TIMEOUT },
        })
    }

    fn judge(&self, answer: Answer) -> Result<Page, Trouble> {
        let (lines, is_end) = match answer.status {
            StatusCode::OK => {
                let lines = lines(&answer.body).map_err(|error| self.unreadable(error))?;
                (lines, text(&answer.headers, &names::FEED_END) == Some("true"))
            }
            StatusCode::NOT_MODIFIED => (Lines::default(), true),
            _ => return Err(self.refusal(answer)),
        };
        let position = text(&answer.headers, &header::ETAG).map(unquoted);
        let position = position
            .filter(|position| is_position(position))
            .context("it gives no position: is it armilla, and new enough?")
            .map_err(|error| self.unreadable(error))?;
        Ok(Page {
            lines,
            is_end,
            position: position.to_owned(),
            rid: text(&answer.headers, &names::CONTENT_PATH).map(str::to_owned),
        })
    }

    fn unreadable(&self, error: Error) -> Trouble {
        Trouble::Lasting(error.context(format!("cannot read the answer of the server at {}", self.client)))
    }

    /// What to make of an answer that is no page.
    fn refusal(&self, answer: Answer) -> Trouble {
        let sub_status = text(&answer.headers, &names::SUB_STATUS).unwrap_or_default();
        let Scope { database, container, .. } = &self.scope;
        match answer.status.as_u16() {
            // Throttled, timed out, in the way of a split or of another write, closing, or in trouble of its own.
            408 | 410 | 429 | 449 | 500 | 502..=599 => {
                let said = message(&answer.body).unwrap_or_default();
                let retry_after =
                    text(&answer.headers, &names::RETRY_AFTER_MS).and_then(|ms| ms.parse().ok());
                Trouble::Passing {
                    why: format!("it answered {}: {said}", answer.status.as_u16()),
                    retry_after: retry_after.map(Duration::from_millis),
                }
            }
            400 if sub_status == CONTAINER_REPLACED => Trouble::Lasting(anyhow!(
                "{database}/{container} was deleted and made again since this position: start again with --from \
                 beginning, without the state of the old one"
            )),
            404 => Trouble::Lasting(anyhow!("there is no container {container} in a database {database}")),
            _ => Trouble::Lasting(match self.client.expect(answer, StatusCode::OK) {
                Err(error) => error,
                Ok(_) => anyhow!("the server at {} answered in an unexpected way", self.client),
            }),
        }
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests;
