//! `GET /dbs/{database}/colls/{container}/docs` with `A-IM`: the change feed.
//!
//! A position is an entity tag: a reader sends the `etag` of the page before as `If-None-Match`, and is told 304, with a
//! position, once nothing is new.
//!
//! ```text
//! A-IM                  If-None-Match   If-Modified-Since   begins
//! Incremental Feed      -               -                   at the beginning
//!                       -               a time              with what was written then or later
//!                       *               (filters)           now
//!                       "position"      (filters)           there
//! Full-Fidelity Feed    *, "position"   (filters)           as above; there is no other beginning
//! ```
//!
//! Invariants:
//! * every page has an `etag`, a session token and a charge, 304 as well: readers measure by them how far behind they are;
//! * 304 is the end: a page without changes that is not the end is a 200. One with changes that are the last there were
//!   says so in a header of ours, and is followed by the 304 that clients wait for.
//!
//! Not here: how a change is written (`change_text`), what a position means, and waiting for changes (`engine`).

mod change_text;

use std::sync::Arc;

use armilla_engine::{ContainerHandle, FeedAnswer, FeedPageRequest, FeedStart};
use armilla_rest_wire::names;
use http::{HeaderValue, StatusCode};

use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::feed_text::page_headers;
use crate::request::Request;
use crate::request::headers::{FeedMode, Tag};
use crate::request::scope::list_scope;

use change_text::{Form, Naming};

/// Answers a request for changes.
pub(crate) async fn read(
    request: &Request<'_>,
    container: &Arc<ContainerHandle>,
    mode: FeedMode,
) -> Result<Reply, Failure> {
    let caller = request.item_caller()?;
    let is_enveloped = request.headers.wants_change_envelopes()?;
    let (start, modified_since) = start(request, mode)?;
    let asked = FeedPageRequest {
        mode: match mode {
            FeedMode::Incremental => armilla_engine::FeedMode::Latest,
            FeedMode::FullFidelity => armilla_engine::FeedMode::AllVersions,
        },
        scope: list_scope(request)?,
        start,
        modified_since,
        items_max: request.headers.page_rows_max()?,
        wait: request.headers.wait(),
    };
    let answer = request.engine.change_feed(&caller, container, asked).await?;
    let form = match mode {
        FeedMode::FullFidelity => Form::Full(Naming::of(container)),
        FeedMode::Incremental if is_enveloped => Form::Envelope,
        FeedMode::Incremental => Form::Flat,
    };
    Ok(reply(container, &answer, &form))
}

/// Returns where a feed begins, and the time before which nothing is wanted besides.
fn start(request: &Request<'_>, mode: FeedMode) -> Result<(FeedStart, Option<u32>), Failure> {
    let since = request.headers.if_modified_since()?;
    Ok(match (request.headers.feed_position()?, since) {
        (Some(Tag::Any), since) => (FeedStart::Now, since),
        (Some(Tag::Exactly(position)), since) => (FeedStart::Token(position.to_owned()), since),
        (None, _) if mode == FeedMode::FullFidelity => {
            return Err(Failure::bad_request(format!(
                "You must read the change feed from within the retention period. The feed of all versions and deletes \
                 begins now, with {name}: *, or where an earlier page of it ended, with the etag of that page as {name}; it \
                 has no beginning, and no time to begin at.",
                name = http::header::IF_NONE_MATCH
            )));
        }
        (None, Some(since)) => (FeedStart::Time(since), None),
        (None, None) => (FeedStart::Beginning, None),
    })
}

fn reply(container: &ContainerHandle, answer: &FeedAnswer, form: &Form) -> Reply {
    let page = &answer.page;
    let mut reply = if page.changes.is_empty() && page.is_end {
        Reply::empty(StatusCode::NOT_MODIFIED, page.charge)
    } else {
        Reply::json(StatusCode::OK, change_text::page(container, &page.changes, form), page.charge)
    };
    page_headers(&mut reply, page.changes.len(), None);
    reply.set_text(&http::header::ETAG, ["\"", &page.token, "\""].concat());
    reply.positions(&page.positions);
    // Where writers never stop, a reader never sees the end in a 304: so the page that reached it says so.
    if page.is_end {
        reply.set(&names::FEED_END, HeaderValue::from_static("true"));
    }
    if let Some(wait) = answer.wait {
        reply.set_text(&names::PREFERENCE_APPLIED, format!("wait={}", wait.as_secs()));
    }
    reply
}
