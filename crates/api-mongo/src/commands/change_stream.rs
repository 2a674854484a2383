//! Change streams: what they may ask, and where they begin.

use std::sync::Arc;
use std::time::Duration;

use armilla_mongo_expression::{Environment, Scope, codes};
use armilla_mongo_pipeline::{Pipeline, Stage};
use armilla_value::{Object, Value};

use crate::arguments::Arguments;
use crate::catalog::Collection;
use crate::changes::{Begin, Ending, Image, Stream, Token, Watched};
use crate::context::Context;
use crate::cursors::Cursor;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::reply::{Batch, Reply};
use crate::supply::{Room, Supply};

pub(super) async fn open(
    context: &mut Context<'_>,
    namespace: Option<&Namespace>,
    options: &Object,
    stages: &[Value],
    scope: &Scope,
    environment: Arc<Environment>,
    batch: usize,
) -> Result<Reply> {
    if context.is_in_transaction {
        return Err(Failure::new(
            codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            "Operation not permitted in transaction :: caused by :: Aggregation stage $changeStream cannot run within a multi-document transaction",
        ));
    }
    let level = context.arguments().object("readConcern")?.and_then(|concern| concern.get("level"));
    if level.and_then(Value::as_str).is_some_and(|level| level != "majority") {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "$changeStream cannot run with a readConcern other than 'majority', or the current readConcern",
        ));
    }
    let arguments = Arguments::new("$changeStream", options);
    arguments.allow_only(&[
        "fullDocument",
        "fullDocumentBeforeChange",
        "resumeAfter",
        "startAfter",
        "startAtOperationTime",
        "allChangesForCluster",
        "showExpandedEvents",
    ])?;
    let whole = arguments.truth("allChangesForCluster")?;
    if whole && (context.database != "admin" || namespace.is_some()) {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name",
        ));
    }
    if matches!(context.database, "local" | "config") || (context.database == "admin" && !whole) {
        return Err(Failure::new(
            codes::INVALID_NAMESPACE,
            format!("$changeStream may not be opened on the internal {} database", context.database),
        ));
    }
    if namespace.is_some_and(|namespace| namespace.collection.starts_with("system.")) {
        return Err(Failure::new(
            codes::INVALID_NAMESPACE,
            "$changeStream may not be opened on a system collection",
        ));
    }
    let after = match arguments.string("fullDocument")?.unwrap_or("default") {
        "default" => Image::Off,
        "updateLookup" => Image::Lookup,
        "whenAvailable" => Image::WhenAvailable,
        "required" => Image::Required,
        other => {
            return Err(Failure::bad_value(format!(
                "Enumeration value '{other}' for field '$changeStream.fullDocument' is not a valid value."
            )));
        }
    };
    let before = match arguments.string("fullDocumentBeforeChange")?.unwrap_or("off") {
        "off" => Image::Off,
        "whenAvailable" => Image::WhenAvailable,
        "required" => Image::Required,
        other => {
            return Err(Failure::bad_value(format!(
                "Enumeration value '{other}' for field '$changeStream.fullDocumentBeforeChange' is not a valid value."
            )));
        }
    };
    let begin = begin(&arguments)?;
    // An event has at most three documents of the size that an item may have, which no message is too small for: there
    // is nothing to split.
    let stages = match stages.split_last() {
        Some((last, before)) if last.get("$changeStreamSplitLargeEvent").is_some() => before,
        _ => stages,
    };
    let pipeline = Pipeline::parse(stages, scope)?;
    if let Some(stage) = pipeline.stages.iter().find(|stage| !is_allowed(stage)) {
        return Err(Failure::new(
            codes::ILLEGAL_OPERATION,
            format!("{} is not permitted in a $changeStream pipeline", stage.name()),
        ));
    }
    let (watched, name) = match namespace {
        Some(namespace) => (Watched::Collection(namespace.clone()), namespace.to_string()),
        None if whole => (Watched::Everything, "admin.$cmd.aggregate".to_owned()),
        None => {
            (Watched::Database(context.database.to_owned()), format!("{}.$cmd.aggregate", context.database))
        }
    };
    let stream = Stream::open(
        context.shared.clone(),
        context.caller.clone(),
        watched,
        begin,
        after,
        before,
        arguments.truth("showExpandedEvents")?,
        pipeline,
        environment,
    );
    let mut supply = Supply::Stream(Box::new(stream.await?));
    let room = Room { documents: batch, ..Room::default() };
    let portion = supply.take(room, &context.charges, context.shared).await?;
    let user = context.connection.user.as_ref().map(|user| user.name.clone()).unwrap_or_default();
    let cursor = match portion.is_last {
        true => 0,
        false => context.shared.cursors.open(Cursor {
            namespace: name.clone(),
            user,
            session: context.session,
            transaction: None,
            supply,
            has_timeout: true,
            time_left: None,
            awaits: true,
        })?,
    };
    Ok(Reply::Batch(Batch {
        is_first: true,
        cursor,
        namespace: name,
        documents: portion.documents,
        extra: portion.extra,
    }))
}

/// How long streams that are being read are waited for, when a collection goes.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Between two looks at them.
const PAUSE: Duration = Duration::from_millis(25);

/// Lets all streams take down what they have not shown of collections that are about to go.
pub(super) async fn end(context: &Context<'_>, collections: &[Collection], ending: &Ending) -> Result<()> {
    let shared = context.shared;
    let clock = &shared.env.clock;
    let deadline = clock.elapsed() + PATIENCE;
    let mut told = std::collections::BTreeSet::new();
    loop {
        let (streams, are_read) = shared.cursors.take_streams();
        for (id, mut cursor) in streams {
            if let Supply::Stream(stream) = &mut cursor.supply
                && told.insert(id)
                && collections.iter().any(|collection| stream.watches(&collection.namespace))
                && let Err(failure) = stream.end(collections, ending).await
            {
                tracing::debug!(
                    "a change stream could not take down the end of a collection: {}",
                    failure.message
                );
            }
            shared.cursors.put_back(id, cursor);
        }
        if !are_read || clock.elapsed() >= deadline {
            return Ok(());
        }
        clock.sleep(PAUSE).await;
    }
}

fn is_allowed(stage: &Stage) -> bool {
    matches!(
        stage,
        Stage::Match(_) | Stage::Project(_) | Stage::AddFields(_) | Stage::ReplaceRoot(_) | Stage::Redact(_)
    )
}

/// Reads where a stream begins.
fn begin(arguments: &Arguments<'_>) -> Result<Begin> {
    let (resume, start) = (arguments.object("resumeAfter")?, arguments.object("startAfter")?);
    let at = arguments.value("startAtOperationTime");
    if resume.is_some() && start.is_some() {
        return Err(Failure::new(
            50_865,
            "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage",
        ));
    }
    if at.is_some() && (resume.is_some() || start.is_some()) {
        return Err(Failure::new(
            40_674,
            "Only one type of resume option is allowed, but multiple were found.",
        ));
    }
    if let Some(token) = resume {
        let token = Token::read(token)?;
        if token.is_invalidate() {
            return Err(Failure::new(
                codes::INVALID_RESUME_TOKEN,
                "Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification",
            ));
        }
        return Ok(Begin::Token(token));
    }
    if let Some(token) = start {
        return Ok(Begin::Token(Token::read(token)?));
    }
    match at {
        None => Ok(Begin::Now),
        Some(Value::Timestamp { seconds, increment }) => {
            Ok(Begin::At { seconds: *seconds, increment: *increment })
        }
        Some(_) => Err(Failure::new(
            codes::TYPE_MISMATCH,
            "BSON field '$changeStream.startAtOperationTime' must be a timestamp",
        )),
    }
}
