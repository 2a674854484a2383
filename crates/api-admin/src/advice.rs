//! `/_armilla/advice` and `/_armilla/requests`: what is wrong with the data model, what changes of it would come to, and
//! the record of requests that both are made from.
//!
//! One piece of advice is made at a time: it takes a copy of a sample into memory, and as many cores as there are.

use armilla_advisor::{Alteration, CannotAlter, Selection, Workshop};
use armilla_engine::{Access, WorkerStart};
use armilla_env::Env;
use armilla_ledger::json::to_value;
use armilla_rest_wire::status::Status;
use armilla_value::{Object, Value, json};
use http::StatusCode;

use crate::body::refuse_unknown_members;
use crate::failure::Failure;
use crate::limits::ALTERATIONS_MAX;
use crate::reply::Reply;
use crate::request::Request;

/// Makes advice, or says what alterations come to.
pub(crate) async fn make(
    request: &Request<'_>,
    env: &Env,
    advising: &tokio::sync::Mutex<()>,
) -> Result<Reply, Failure> {
    request.expect_verb("POST")?;
    let body = match request.body.is_empty() {
        true => Object::default(),
        false => request.json_object("a request for advice")?,
    };
    refuse_unknown_members(&body, &["database", "container", "try"])?;
    let selection = Selection { database: name(&body, "database")?, container: name(&body, "container")? };
    let alterations = alterations(&body)?;
    let Ok(_turn) = advising.try_lock() else {
        return Err(Failure::new(
            Status::CONFLICT,
            "advice is being made for another caller; it takes seconds: ask again",
        ));
    };
    let evidence = armilla_advisor::gather(request.engine, &request.caller, &selection).await?;
    if evidence.containers.is_empty() && (selection.database.is_some() || selection.container.is_some()) {
        return Err(Failure::new(Status::NOT_FOUND, "there is no container of that name"));
    }
    let workshop = Workshop { env: env.clone(), script_workers: WorkerStart::ThisProgram };
    let document = match alterations.is_empty() {
        true => armilla_advisor::advise(&evidence, &workshop).await?.to_value(),
        false => match armilla_advisor::compare(&evidence, &alterations, &workshop).await? {
            Ok(comparison) => comparison.to_value(),
            Err(error) => return Err(Failure::bad_request(error.to_string())),
        },
    };
    Ok(Reply::json(StatusCode::OK, json::to_string(&document)))
}

/// Shows the record of requests, or forgets it.
pub(crate) fn requests(request: &Request<'_>, env: &Env) -> Result<Reply, Failure> {
    let ledger = request.engine.ledger();
    if request.method == http::Method::DELETE {
        if matches!(request.caller.access, Access::ReadOnly) {
            return Err(Failure::new(
                Status::FORBIDDEN,
                "a read-only key does not change the record of requests",
            ));
        }
        ledger.forget();
        return Ok(Reply::json(StatusCode::OK, "{}".to_owned()));
    }
    request.expect_verb("GET")?;
    let report = ledger.report(env.clock.now_ms());
    Ok(Reply::json(StatusCode::OK, json::to_string(&to_value(&report))))
}

fn name(body: &Object, member: &str) -> Result<Option<String>, Failure> {
    match body.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(Failure::bad_request(format!("'{member}' is no text: it is a name"))),
    }
}

fn alterations(body: &Object) -> Result<Vec<Alteration>, Failure> {
    let list = match body.get("try") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= ALTERATIONS_MAX => list,
        Some(_) => {
            return Err(Failure::bad_request(format!(
                "'try' is no list of at most {ALTERATIONS_MAX} texts such as \"--try-key posts:/userId\""
            )));
        }
    };
    let one = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        Alteration::parse_option(text).map_err(|CannotAlter(message)| Failure::bad_request(message))
    };
    list.iter().map(one).collect()
}
