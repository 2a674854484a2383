//! `killCursors`.

use armilla_value::{Object, Value};

use crate::context::Context;
use crate::cursors::Killed;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

pub(super) fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["cursors"])?;
    let given = arguments.required_array("cursors")?;
    let user = context.connection.user.as_ref().map(|user| user.name.clone()).unwrap_or_default();
    let (mut killed, mut missing, mut alive) = (Vec::new(), Vec::new(), Vec::new());
    for cursor in given {
        let Value::Int64(id) = cursor else {
            return Err(Failure::new(14, "BSON field 'killCursors.cursors' must be an array of type 'long'"));
        };
        let list = match context.shared.cursors.kill(*id, &user) {
            Killed::Done => &mut killed,
            Killed::NotFound => &mut missing,
            Killed::Alive => &mut alive,
        };
        list.push(Value::Int64(*id));
    }
    Ok(Object::from([
        ("cursorsKilled", Value::Array(killed)),
        ("cursorsNotFound", Value::Array(missing)),
        ("cursorsAlive", Value::Array(alive)),
        ("cursorsUnknown", Value::Array(Vec::new())),
    ])
    .into())
}
