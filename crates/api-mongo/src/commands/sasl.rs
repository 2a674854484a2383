//! `saslStart` and `saslContinue`.

use crate::auth;
use crate::context::Context;
use crate::failure::Result;
use crate::reply::Reply;

pub(super) async fn start(context: &mut Context<'_>) -> Result<Reply> {
    context.connection.user = None;
    Ok(auth::start(context.shared, context.connection, context.database, context.command).await?.into())
}

pub(super) async fn go_on(context: &mut Context<'_>) -> Result<Reply> {
    Ok(auth::go_on(context.shared, context.connection, context.command).await?.into())
}
