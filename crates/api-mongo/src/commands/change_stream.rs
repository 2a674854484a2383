//! Change streams.

use std::sync::Arc;

use armilla_mongo_expression::{Environment, Scope, codes};
use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::reply::Reply;

pub(super) async fn open(
    _context: &mut Context<'_>,
    _namespace: Option<&Namespace>,
    _options: &Object,
    _stages: &[Value],
    _scope: &Scope,
    _environment: Arc<Environment>,
    _batch: usize,
) -> Result<Reply> {
    Err(Failure::new(codes::COMMAND_NOT_SUPPORTED, "change streams are not supported yet: the SQL API has the change feed"))
}
