//! `dropDatabase`.

use armilla_engine::ResourcePrecondition;
use armilla_mongo_expression::codes;
use armilla_value::Object;

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
    check_account_write(context)?;
    let shared = context.shared;
    let database = context.database;
    if matches!(database, "admin" | "config" | "local") {
        return Err(Failure::new(
            codes::ILLEGAL_OPERATION,
            format!("Dropping the '{database}' database is prohibited."),
        ));
    }
    let _changing = shared.catalog.change_all().await?;
    let collections = super::list_collections::containers(context, database)?;
    let mut ending = Vec::new();
    for (name, _) in &collections {
        if let Ok(namespace) = Namespace::new(database, name)
            && let Found::Collection(collection) = shared.catalog.find(&namespace).await?
        {
            ending.push(collection);
        }
    }
    change_stream::end(context, &ending, &Ending::DropDatabase).await?;
    for (namespace, _) in shared.catalog.views(database).await? {
        shared.catalog.drop_view(&namespace).await?;
    }
    let deleted = shared.engine.delete_database(&context.caller, database, ResourcePrecondition::None).await;
    if found(deleted)?.is_none() {
        return Ok(Reply::ok());
    }
    for (_, rid) in collections {
        shared.catalog.forget(&rid).await?;
    }
    let prefix = format!("{database}.");
    shared.cursors.kill_where(|own, _, is_stream| own.starts_with(&prefix) && !is_stream);
    Ok(Object::from([("dropped", database)]).into())
}
