//! Which handler serves which address.

use armilla_engine::{Located, ScriptKind};
use http::Method;

use crate::items;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::request::Request;
use crate::request::path::Address;
use crate::request::scope::check_intended_container;
use crate::resources::{
    conflicts, containers, databases, encryption_keys, key_deletion, offers, permissions, procedures, ranges,
    scripts, usage, users,
};

/// Serves a request.
///
/// The futures of handlers are large, and the future of a request would have room for the largest of them, which is
/// moved around whatever the request is. So those of the frequent requests are made as small as they can be, and the
/// others have a place of their own.
pub(crate) async fn serve(request: &Request<'_>, address: &Address<'_>) -> Result<Reply, Failure> {
    match address {
        Address::Account => Err(request.verb_not_allowed("GET")),
        Address::Databases => Box::pin(databases::feed(request)).await,
        Address::Database { database } => Box::pin(databases::single(request, database)).await,
        Address::Containers { database } => Box::pin(containers::feed(request, database)).await,
        Address::Container { database, container } => {
            Box::pin(containers::single(request, database, container)).await
        }
        Address::Items { database, container } => {
            let located = request.engine.container(database, container)?;
            let outcome = match check_intended_container(request, &located) {
                Ok(()) => Box::pin(items::feed(request, &located)).await,
                Err(failure) => Err(failure),
            };
            Ok(in_container(request, &located, outcome))
        }
        Address::Item { database, container, item } => {
            let located = request.engine.container(database, container)?;
            let outcome = match check_intended_container(request, &located) {
                Ok(()) if *request.method == Method::GET => items::read(request, &located, item),
                Ok(()) => Box::pin(items::change(request, &located, item)).await,
                Err(failure) => Err(failure),
            };
            Ok(in_container(request, &located, outcome))
        }
        Address::PartitionKeyRanges { database, container } => {
            let located = request.engine.container(database, container)?;
            let outcome =
                check_intended_container(request, &located).and_then(|()| ranges::feed(request, &located));
            Ok(in_container(request, &located, outcome))
        }
        Address::Conflicts { database, container } => {
            Box::pin(conflicts::feed(request, database, container)).await
        }
        Address::Conflict { database, container, conflict } => {
            conflicts::single(request, database, container, conflict)
        }
        Address::Users { database } => Box::pin(users::feed(request, database)).await,
        Address::User { database, user } => Box::pin(users::single(request, database, user)).await,
        Address::Permissions { database, user } => Box::pin(permissions::feed(request, database, user)).await,
        Address::Permission { database, user, permission } => {
            Box::pin(permissions::single(request, database, user, permission)).await
        }
        Address::Offers => Box::pin(offers::feed(request)).await,
        Address::Offer { offer } => Box::pin(offers::single(request, offer)).await,
        Address::Scripts { database, container, kind } => {
            Box::pin(scripts::feed(request, database, container, *kind)).await
        }
        Address::Script { database, container, kind: ScriptKind::StoredProcedure, script }
            if *request.method == Method::POST =>
        {
            let located = request.engine.container(database, container)?;
            let outcome = match check_intended_container(request, &located) {
                Ok(()) => Box::pin(procedures::execute(request, &located, script)).await,
                Err(failure) => Err(failure),
            };
            Ok(in_container(request, &located, outcome))
        }
        Address::Script { database, container, kind, script } => {
            Box::pin(scripts::single(request, database, container, *kind, script)).await
        }
        Address::ClientEncryptionKeys { database } => {
            Box::pin(encryption_keys::feed(request, database)).await
        }
        Address::ClientEncryptionKey { database, key } => {
            Box::pin(encryption_keys::single(request, database, key)).await
        }
        Address::PartitionKeyDelete { database, container } => {
            let located = request.engine.container(database, container)?;
            let outcome = match check_intended_container(request, &located) {
                Ok(()) => Box::pin(key_deletion::delete(request, &located)).await,
                Err(failure) => Err(failure),
            };
            Ok(in_container(request, &located, outcome))
        }
        Address::Attachments { .. } => Err(Failure::bad_request(
            "attachments are not supported any more: they were withdrawn from the API",
        )),
    }
}

/// Adds to a reply, or a failure, what names the container, by which clients keep session tokens, and how full the
/// partition is that served it.
fn in_container(request: &Request<'_>, located: &Located, outcome: Result<Reply, Failure>) -> Reply {
    let mut reply = outcome.unwrap_or_else(|failure| Reply::failure(&failure, request.activity_id));
    let container = &located.container;
    let names = ["dbs/", container.database_id(), "/colls/", container.id()].concat();
    reply.content_path(names, container.rid());
    // A caller who may see a part of a partition is told nothing of the rest, not even how much it is.
    if !request.caller.access.is_of_part() {
        usage::tell_of_partition(&mut reply, container);
    }
    reply
}
