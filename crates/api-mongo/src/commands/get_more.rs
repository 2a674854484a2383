//! `getMore`.

use std::time::Duration;

use armilla_mongo_expression::codes;
use armilla_value::Value;

use super::statements::count;
use crate::arguments::number;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::limits::AWAIT_DEFAULT;
use crate::reply::{Batch, Reply};
use crate::supply::Room;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["collection", "batchSize", "maxTimeMS"])?;
    let id = match context.command.iter().next() {
        Some((_, Value::Int64(id))) => *id,
        Some((_, other)) => {
            return Err(Failure::new(
                codes::TYPE_MISMATCH,
                format!(
                    "BSON field 'getMore.getMore' is the wrong type '{}', expected type 'long'",
                    armilla_mongo_expression::type_name(other)
                ),
            ));
        }
        None => return Err(Failure::bad_value("getMore names no cursor")),
    };
    let namespace = format!("{}.{}", context.database, arguments.required_string("collection")?);
    let batch = arguments.count("batchSize")?.filter(|batch| *batch > 0);
    count(&context.shared.counters.get_more, 1);
    let user = context.connection.user.as_ref().map(|user| user.name.clone()).unwrap_or_default();
    let cursors = &context.shared.cursors;
    let transaction = context.number.filter(|_| context.is_in_transaction);
    let mut cursor = cursors.take(id, &namespace, &user, context.session, transaction)?;
    context.is_of_stream = cursor.awaits;
    if context.shared.options.test_commands
        && let Some(failure) = context.shared.fail_points.hit_cursor()
    {
        cursors.close(id);
        return Err(failure);
    }
    let is_out_of_time =
        || context.shared.options.test_commands && context.shared.fail_points.ends_all_time();
    if cursor.time_left.is_some_and(|left| left.is_zero() || is_out_of_time()) {
        cursors.close(id);
        return Err(Failure::new(codes::MAX_TIME_MS_EXPIRED, "operation exceeded time limit"));
    }
    let began = context.shared.env.clock.elapsed();
    let wait = context.command.get("maxTimeMS").and_then(number).filter(|ms| *ms > 0);
    if wait.is_some() && !cursor.awaits {
        cursors.put_back(id, cursor);
        return Err(Failure::bad_value("cannot set maxTimeMS on getMore command for a non-awaitData cursor"));
    }
    let wait = wait.map_or(AWAIT_DEFAULT, |ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
    let documents = batch.map_or(usize::MAX, |batch| usize::try_from(batch).unwrap_or(usize::MAX));
    let room = Room { documents, wait: if cursor.awaits { wait } else { Duration::ZERO } };
    let taken = cursor.supply.take(room, &context.charges, context.shared).await;
    let took = context.shared.env.clock.elapsed().saturating_sub(began);
    cursor.time_left = cursor.time_left.map(|left| left.saturating_sub(took));
    let portion = match taken {
        Ok(portion) => portion,
        Err(failure) if failure.code == codes::TOO_MANY_REQUESTS => {
            // The throughput is spent for now, and the cursor is where it was.
            cursors.put_back(id, cursor);
            return Err(failure);
        }
        Err(failure) => {
            cursors.close(id);
            return Err(failure);
        }
    };
    let cursor = if portion.is_last {
        cursors.close(id);
        0
    } else if cursors.put_back(id, cursor) {
        id
    } else {
        return Err(Failure::new(codes::CURSOR_KILLED, format!("cursor id {id} was killed")));
    };
    Ok(Reply::Batch(Batch {
        is_first: false,
        cursor,
        namespace,
        documents: portion.documents,
        extra: portion.extra,
    }))
}
