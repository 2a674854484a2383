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
//! Not here: what a position means, and waiting for changes (`engine`).

use std::sync::Arc;

use armilla_engine::{
    ChangeKind, ContainerHandle, ContainerIdentity, FeedAnswer, FeedChange, FeedPageRequest, FeedStart, Item,
};
use armilla_value::json::slice;
use armilla_value::{Component, PartitionKey, PropertyPath};
use http::{HeaderValue, StatusCode};

use crate::failure::Failure;
use crate::headers::{FeedMode, Tag, names};
use crate::json_text::{push_integer, push_string};
use crate::request::Request;
use crate::resource_text::{begin_feed, end_feed, page_headers};
use crate::response::Reply;
use crate::scope::list_scope;

/// The member that a change feed adds to an item: the commit that wrote it.
const LSN_MEMBER: &str = "_lsn";

/// How a change is written.
enum Form {
    /// The item with its commit as a member.
    Flat,
    /// The item in an envelope that tells of the commit.
    Envelope,
    /// Both images of the item in an envelope that tells of everything.
    Full(Naming),
}

/// What of a container the envelope of a change needs.
struct Naming {
    /// What each component of the partition key is called.
    key_names: Vec<String>,
    /// Whether the image before a replace is shown.
    previous_images: bool,
}

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
                "the feed of all versions and deletes begins now, with {name}: *, or where an earlier page of it ended, \
                 with the etag of that page as {name}; it has no beginning, and no time to begin at",
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
        Reply::json(StatusCode::OK, text(container, &page.changes, form), page.charge)
    };
    page_headers(&mut reply, page.changes.len(), None);
    reply.set_text(&http::header::ETAG, ["\"", &page.token, "\""].concat());
    reply.positions(&page.positions);
    // Where somebody writes all the time there is always something new: so it is said where the page ended.
    if page.is_end {
        reply.set(&names::FEED_END, HeaderValue::from_static("true"));
    }
    if let Some(wait) = answer.wait {
        reply.set_text(&names::PREFERENCE_APPLIED, format!("wait={}", wait.as_secs()));
    }
    reply
}

fn text(container: &ContainerHandle, changes: &[FeedChange], form: &Form) -> Vec<u8> {
    /// Room for an envelope, without the images.
    const ENVELOPE_BYTES: usize = 192;
    let identity = container.identity();
    let images = |change: &FeedChange| {
        let images = change.item.iter().chain(&change.previous);
        images.map(|item| item.json_bytes(identity)).sum::<usize>() + ENVELOPE_BYTES
    };
    let bytes: usize = changes.iter().map(images).sum();
    let mut text = Vec::with_capacity(bytes + 64);
    begin_feed(&mut text, &container.rid().to_string(), "Documents");
    for (index, change) in changes.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        match form {
            Form::Flat => push_flat(&mut text, identity, change),
            Form::Envelope => push_envelope(&mut text, identity, change),
            Form::Full(naming) => push_full(&mut text, identity, change, naming),
        }
    }
    end_feed(&mut text, changes.len());
    text
}

/// Appends the item of a change with its commit.
fn push_flat(text: &mut Vec<u8>, identity: &ContainerIdentity, change: &FeedChange) {
    let begin = text.len();
    push_image(text, identity, change.item.as_ref());
    // An item that was read from a feed and written back may bring its old commit along.
    let is_taken = change.item.as_ref().is_some_and(|item| item.stored().root().get(LSN_MEMBER).is_some());
    if is_taken {
        remove_member(text, begin, LSN_MEMBER);
    }
    text.pop();
    if text.len() > begin + 1 {
        text.push(b',');
    }
    push_string(text, LSN_MEMBER);
    text.push(b':');
    push_integer(text, change.lsn);
    text.push(b'}');
}

/// Appends the item of a change in an envelope.
fn push_envelope(text: &mut Vec<u8>, identity: &ContainerIdentity, change: &FeedChange) {
    text.extend_from_slice(b"{\"current\":");
    push_image(text, identity, change.item.as_ref());
    text.extend_from_slice(b",\"metadata\":");
    push_commit(text, change);
    text.extend_from_slice(b"}}");
}

/// Appends a change with all there is to say of it.
fn push_full(text: &mut Vec<u8>, identity: &ContainerIdentity, change: &FeedChange, naming: &Naming) {
    let (word, is_delete) = match change.kind {
        ChangeKind::Create => ("create", false),
        ChangeKind::Replace => ("replace", false),
        ChangeKind::Delete | ChangeKind::Expire => ("delete", true),
    };
    text.extend_from_slice(b"{\"current\":");
    push_image(text, identity, change.item.as_ref().filter(|_| !is_delete));
    if let Some(previous) = &change.previous
        && (is_delete || naming.previous_images)
    {
        text.extend_from_slice(b",\"previous\":");
        previous.write_json(identity, text);
    }
    text.extend_from_slice(b",\"metadata\":");
    push_commit(text, change);
    text.extend_from_slice(b",\"operationType\":");
    push_string(text, word);
    if change.kind != ChangeKind::Create {
        text.extend_from_slice(b",\"previousImageLSN\":");
        push_integer(text, change.previous_lsn);
    }
    if is_delete {
        let is_expired: &[u8] = if change.kind == ChangeKind::Expire { b"true" } else { b"false" };
        text.extend_from_slice(b",\"timeToLiveExpired\":");
        text.extend_from_slice(is_expired);
        text.extend_from_slice(b",\"id\":");
        push_string(text, &change.id);
        text.extend_from_slice(b",\"partitionKey\":");
        push_key(text, &naming.key_names, &change.partition_key);
    }
    text.extend_from_slice(b"}}");
}

/// Appends the beginning of what is said of a change.
fn push_commit(text: &mut Vec<u8>, change: &FeedChange) {
    text.extend_from_slice(b"{\"lsn\":");
    push_integer(text, change.lsn);
    text.extend_from_slice(b",\"crts\":");
    push_integer(text, change.ts);
}

fn push_image(text: &mut Vec<u8>, identity: &ContainerIdentity, item: Option<&Item>) {
    match item {
        Some(item) => item.write_json(identity, text),
        None => text.extend_from_slice(b"{}"),
    }
}

/// Appends the components of a partition key by name. What an item lacks is left out: clients expect scalars.
fn push_key(text: &mut Vec<u8>, names: &[String], key: &PartitionKey) {
    text.push(b'{');
    let mut is_first = true;
    for (name, component) in names.iter().zip(&key.0) {
        if matches!(component, Component::Undefined) {
            continue;
        }
        if !is_first {
            text.push(b',');
        }
        is_first = false;
        push_string(text, name);
        text.push(b':');
        let array = PartitionKey(vec![component.clone()]).to_json();
        text.extend_from_slice(&array.as_bytes()[1..array.len() - 1]);
    }
    text.push(b'}');
}

impl Naming {
    fn of(container: &ContainerHandle) -> Naming {
        let definition = container.definition();
        Naming {
            key_names: key_names(&definition.partition_key.paths),
            previous_images: definition.change_feed_previous_images,
        }
    }
}

/// Returns what each component of a partition key is called: the last name of its path, or all of them where several
/// paths end alike.
fn key_names(paths: &[PropertyPath]) -> Vec<String> {
    let last = |path: &PropertyPath| path.names().last().cloned().unwrap_or_default();
    let ends: Vec<String> = paths.iter().map(last).collect();
    let name = |(path, end): (&PropertyPath, &String)| match ends.iter().filter(|other| *other == end).count()
    {
        1 => end.clone(),
        _ => path.names().join("/"),
    };
    paths.iter().zip(&ends).map(name).collect()
}

/// Takes a member out of the object that the text ends with.
fn remove_member(text: &mut Vec<u8>, begin: usize, name: &str) {
    let Ok(members) = slice::members(&text[begin..]) else { return };
    let mut rest = Vec::with_capacity(text.len() - begin);
    rest.push(b'{');
    for member in members.map_while(Result::ok) {
        if member.is_named(name) {
            continue;
        }
        if rest.len() > 1 {
            rest.push(b',');
        }
        rest.extend_from_slice(member.name);
        rest.push(b':');
        rest.extend_from_slice(member.value);
    }
    rest.push(b'}');
    text.truncate(begin);
    text.extend_from_slice(&rest);
}

#[cfg(test)]
mod tests;
