//! `configureFailPoint`, where the server was started for tests of drivers.

use armilla_mongo_expression::codes;

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

pub(super) fn run(context: &mut Context<'_>) -> Result<Reply> {
    if !context.shared.options.test_commands {
        return Err(Failure::new(
            codes::COMMAND_NOT_FOUND,
            "no such command: 'configureFailPoint'; commands for tests are there with --mongo-test-commands",
        ));
    }
    let arguments = context.arguments();
    arguments.allow(&["mode", "data"])?;
    let name = arguments.required_string("configureFailPoint")?;
    let Some(mode) = arguments.value("mode") else {
        return Err(Failure::new(
            40_414,
            "BSON field 'configureFailPoint.mode' is missing but a required field",
        ));
    };
    context.shared.fail_points.configure(name, mode, arguments.object("data")?)?;
    Ok(Reply::ok())
}
