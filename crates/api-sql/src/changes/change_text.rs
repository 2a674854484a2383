//! Changes as JSON, in the three forms that clients ask for.

use armilla_engine::{ChangeKind, ContainerHandle, ContainerIdentity, FeedChange, Item};
use armilla_value::json::slice;
use armilla_value::{Component, PartitionKey, PropertyPath};

use crate::json_text::{push_integer, push_string};
use crate::reply::feed_text::{begin_feed, end_feed};

#[cfg(test)]
mod tests;

/// The member that a change feed adds to an item: the commit that wrote it.
const LSN_MEMBER: &str = "_lsn";

/// How a change is written.
pub(crate) enum Form {
    /// The item with its commit as a member.
    Flat,
    /// The item in an envelope that tells of the commit.
    Envelope,
    /// Both images of the item in an envelope that tells of everything.
    Full(Naming),
}

/// What of a container the envelope of a change needs.
pub(crate) struct Naming {
    /// What each component of the partition key is called.
    key_names: Vec<String>,
    /// Whether the image before a replace is shown.
    previous_images: bool,
}

/// Writes a page of changes.
pub(crate) fn page(container: &ContainerHandle, changes: &[FeedChange], form: &Form) -> Vec<u8> {
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
        ChangeKind::Replace | ChangeKind::Update => ("replace", false),
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
    /// Returns what the envelopes of a container's changes need.
    pub(crate) fn of(container: &ContainerHandle) -> Naming {
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
