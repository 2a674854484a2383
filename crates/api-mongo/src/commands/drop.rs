//! `drop`.

use armilla_engine::ResourcePrecondition;
use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use super::change_stream;
use super::create::check_account_write;
use crate::catalog::{Found, found};
use crate::changes::Ending;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::reply::Reply;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    context.arguments().allow(&[])?;
    let namespace = context.namespace()?;
    check_account_write(context)?;
    let _changing = context.shared.catalog.change(&namespace).await?;
    let count = match context.shared.catalog.find(&namespace).await? {
        Found::Nothing => return Ok(Reply::ok()),
        Found::View(_) => {
            context.shared.catalog.drop_view(&namespace).await?;
            0
        }
        Found::Collection(collection) => {
            if namespace.database == "admin" && namespace.collection.starts_with("system.") {
                return Err(Failure::new(
                    codes::ILLEGAL_OPERATION,
                    format!("can't drop system collection {namespace}"),
                ));
            }
            change_stream::end(context, std::slice::from_ref(&collection), &Ending::Drop).await?;
            drop_collection(context, &namespace, &collection.handle.rid().to_string()).await?;
            collection.details.indexes.len() + 1
        }
    };
    Ok(Object::from([
        ("nIndexesWas", Value::Int32(i32::try_from(count).unwrap_or(i32::MAX))),
        ("ns", Value::from(namespace.to_string())),
    ])
    .into())
}

/// Drops a container and what is known of it.
pub(super) async fn drop_collection(context: &Context<'_>, namespace: &Namespace, rid: &str) -> Result<()> {
    let shared = context.shared;
    let deleted = shared.engine.delete_container(
        &context.caller,
        &namespace.database,
        &namespace.collection,
        ResourcePrecondition::None,
    );
    found(deleted.await)?;
    shared.catalog.forget(rid).await?;
    let name = namespace.to_string();
    shared.cursors.kill_where(|own, _, is_stream| own == name && !is_stream);
    Ok(())
}
