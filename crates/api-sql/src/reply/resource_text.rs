//! Resources, alone and in feeds, as JSON text.

use armilla_engine::{Answer, Feed, Resource, ResourceKind};
use armilla_value::{Value, json};
use http::StatusCode;

use crate::json_text::{push_integer, push_string};
use crate::reply::Reply;
use crate::reply::feed_text::{begin_feed, end_feed, page_headers};
use crate::resources::resource_body;

/// Links to what lies below a resource, by its kind.
fn child_links(kind: ResourceKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        ResourceKind::Database => &[("_colls", "colls/"), ("_users", "users/")],
        ResourceKind::Container => &[
            ("_docs", "docs/"),
            ("_sprocs", "sprocs/"),
            ("_triggers", "triggers/"),
            ("_udfs", "udfs/"),
            ("_conflicts", "conflicts/"),
        ],
        ResourceKind::User => &[("_permissions", "permissions/")],
        ResourceKind::Item
        | ResourceKind::Offer
        | ResourceKind::Permission
        | ResourceKind::EncryptionKey
        | ResourceKind::StoredProcedure
        | ResourceKind::Trigger
        | ResourceKind::UserDefinedFunction => &[],
    }
}

/// The name of a kind's array in a feed.
pub(crate) fn feed_name(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Database => "Databases",
        ResourceKind::Container => "DocumentCollections",
        ResourceKind::Item => "Documents",
        ResourceKind::Offer => "Offers",
        ResourceKind::User => "Users",
        ResourceKind::Permission => "Permissions",
        ResourceKind::EncryptionKey => "ClientEncryptionKeys",
        ResourceKind::StoredProcedure => "StoredProcedures",
        ResourceKind::Trigger => "Triggers",
        ResourceKind::UserDefinedFunction => "UserDefinedFunctions",
    }
}

/// Appends a resource with its system properties.
fn push_resource(text: &mut Vec<u8>, resource: &Resource) {
    push_members(text, resource);
    text.push(b'}');
}

/// Appends what stands in a resource before its end.
fn push_members(text: &mut Vec<u8>, resource: &Resource) {
    text.push(b'{');
    for (name, value) in resource_body::members(resource).iter() {
        push_string(text, name);
        text.push(b':');
        json::write(value, text);
        text.push(b',');
    }
    text.extend_from_slice(b"\"_rid\":");
    push_string(text, &resource.rid);
    text.extend_from_slice(b",\"_self\":");
    push_string(text, &resource.self_link);
    text.extend_from_slice(b",\"_etag\":\"\\\"");
    text.extend_from_slice(&resource.etag.text());
    text.extend_from_slice(b"\\\"\",\"_ts\":");
    push_integer(text, resource.ts);
    for (name, link) in child_links(resource.kind) {
        text.push(b',');
        push_string(text, name);
        text.push(b':');
        push_string(text, link);
    }
}

/// Returns a resource as the document that a query sees: the one that a feed holds.
pub(crate) fn document(resource: &Resource) -> Value {
    let mut text = Vec::with_capacity(512);
    push_resource(&mut text, resource);
    json::parse(&text).expect("a resource is written as JSON")
}

/// Returns the reply that holds one resource.
pub(crate) fn reply(status: StatusCode, answer: &Answer<Resource>) -> Reply {
    let mut text = Vec::with_capacity(512);
    push_resource(&mut text, &answer.value);
    let mut reply = Reply::json(status, text, answer.charge);
    reply.etag(answer.value.etag);
    reply
}

/// Returns the reply that holds one resource with a member that is not part of it. `push_member` appends its name and
/// its value.
pub(crate) fn reply_with(answer: &Answer<Resource>, push_member: impl FnOnce(&mut Vec<u8>)) -> Reply {
    let mut text = Vec::with_capacity(1_024);
    push_members(&mut text, &answer.value);
    text.push(b',');
    push_member(&mut text);
    text.push(b'}');
    let mut reply = Reply::json(StatusCode::OK, text, answer.charge);
    reply.etag(answer.value.etag);
    reply
}

/// Returns the reply that holds a page of resources.
pub(crate) fn feed_reply(kind: ResourceKind, answer: &Answer<Feed>) -> Reply {
    let feed = &answer.value;
    let mut text = Vec::with_capacity(128 + 512 * feed.resources.len());
    begin_feed(&mut text, &feed.parent_rid, feed_name(kind));
    for (index, resource) in feed.resources.iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        push_resource(&mut text, resource);
    }
    end_feed(&mut text, feed.resources.len());
    let mut reply = Reply::json(StatusCode::OK, text, answer.charge);
    page_headers(&mut reply, feed.resources.len(), feed.continuation.as_deref());
    reply
}
