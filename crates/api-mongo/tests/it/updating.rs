//! Updates against the model: which documents change, into what, and what is said of it.

use std::collections::BTreeMap;

use armilla_mongo_expression::{Environment, Scope};
use armilla_mongo_filter::Filter;
use armilla_mongo_update::Update;
use armilla_value::{Object, Value};

use crate::client::Client;
use crate::made_up::MadeUp;
use crate::mismatches::Mismatches;
use crate::values::{exactly, exactly_object, shown, single};

type Documents = BTreeMap<String, Object>;

fn keyed(documents: Vec<Object>) -> Documents {
    documents.into_iter().map(|document| (exactly(document.get("_id").unwrap()), document)).collect()
}

fn texts(documents: &Documents) -> BTreeMap<&String, String> {
    documents.iter().map(|(id, document)| (id, exactly_object(document))).collect()
}

/// What an update of many comes to: matched, modified, and the documents afterwards; or the failures, of which one is
/// the first, in whatever order documents come.
fn model(filter: &Filter, update: &Update, documents: &Documents) -> Result<(i64, i64, Documents), Vec<i64>> {
    let environment = Environment::default();
    let mut failures = Vec::new();
    let (mut matched, mut modified, mut after) = (0, 0, documents.clone());
    for (id, document) in documents {
        let outcome = filter.find(document, &environment).and_then(|place| match place {
            Some(place) => update.apply(document.clone(), &place, &environment).map(Some),
            None => Ok(None),
        });
        match outcome {
            Ok(Some(updated)) => {
                matched += 1;
                modified += i64::from(updated.is_modified);
                after.insert(id.clone(), updated.document);
            }
            Ok(None) => {}
            Err(error) => failures.push(error.code.into()),
        }
    }
    if failures.is_empty() { Ok((matched, modified, after)) } else { Err(failures) }
}

fn statement(filter: &Object, update: &Value, is_multi: bool, is_upsert: bool) -> Object {
    let mut statement = Object::from([("q", Value::Object(filter.clone())), ("u", update.clone())]);
    statement.insert("multi", is_multi);
    statement.insert("upsert", is_upsert);
    Object::from([("update", Value::from("c")), ("updates", Value::Array(vec![statement.into()]))])
}

/// Returns the code of a reply, of the command or of its only statement.
fn code(reply: &Object) -> Option<i64> {
    let of_statement = || {
        let errors = reply.get("writeErrors")?.as_array()?;
        errors.first()?.get("code")
    };
    reply.get("code").or_else(of_statement).and_then(Value::as_i64)
}

fn number(reply: &Object, name: &str) -> i64 {
    reply.get(name).and_then(Value::as_i64).unwrap_or(-1)
}

async fn start(seed: u64, count: i32) -> (Client, MadeUp, Documents) {
    let mut made_up = MadeUp::new(seed);
    let documents: Vec<Object> = (0..count).map(|number| made_up.document(number)).collect();
    let mut client = Client::new().await;
    client
        .run_text(
            "{'createIndexes':'c','indexes':[{'key':{'b':1},'name':'b'},{'key':{'c.d':1},'name':'cd'}]}",
        )
        .await;
    client.insert("c", &documents).await;
    (client, made_up, keyed(documents))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn updates_of_many_change_what_matches() {
    let (mut client, mut made_up, mut documents) = start(21, 230).await;
    let mut mismatches = Mismatches::default();
    let mut successes = 0;
    for _ in 0..250 {
        let (filter, update) = (made_up.filter(1), made_up.update());
        let Ok(read) = Filter::parse(&filter, &Scope::default()) else { continue };
        let command = statement(&filter, &update, true, false);
        let expected = match Update::parse(&update, None, None, &Scope::default()) {
            // Many cannot be replaced by one.
            Ok(update) if update.is_replacement() => Err(vec![9]),
            Ok(update) => model(&read, &update, &documents),
            Err(error) => Err(vec![error.code.into()]),
        };
        let reply = client.send("d", command.clone()).await;
        let after = keyed(client.read_all(single("find", "c")).await.unwrap());
        match &expected {
            Ok((matched, modified, expected)) => {
                successes += 1;
                let said = (number(&reply, "n"), number(&reply, "nModified"), code(&reply));
                if said != (*matched, *modified, None) {
                    mismatches
                        .add(format!("{} said {reply:?}, not {matched} and {modified}", shown(&command)));
                }
                let (is, should) = (texts(&after), texts(expected));
                if is != should {
                    let other = should.iter().find(|(id, text)| is.get(*id) != Some(*text));
                    let instead = other.and_then(|(id, _)| Some((is.get(*id)?, documents.get(*id)?)));
                    mismatches
                        .add(format!("{} should give {other:?}\n   gave, of: {instead:?}", shown(&command)));
                }
            }
            Err(expected) => {
                if !code(&reply).is_some_and(|code| expected.contains(&code)) {
                    mismatches.add(format!("{} said {reply:?}, not {expected:?}", shown(&command)));
                }
            }
        }
        documents = after;
    }
    assert!(successes > 50, "{successes}");
    mismatches.check();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn updates_of_one_and_upserts_change_one() {
    let (mut client, mut made_up, mut documents) = start(22, 60).await;
    let mut mismatches = Mismatches::default();
    let environment = Environment::default();
    for case in 0..400 {
        let (filter, update) = (made_up.filter(1), made_up.update());
        let is_upsert = case % 2 == 0;
        let Ok(read) = Filter::parse(&filter, &Scope::default()) else { continue };
        let Ok(parsed) = Update::parse(&update, None, None, &Scope::default()) else { continue };
        let matching: Vec<(&String, &Object)> = documents
            .iter()
            .filter(|(_, document)| read.matches(document, &environment).unwrap_or(false))
            .collect();
        let command = statement(&filter, &update, false, is_upsert);
        let reply = client.send("d", command.clone()).await;
        let after = keyed(client.read_all(single("find", "c")).await.unwrap());
        let (before_texts, after_texts) = (texts(&documents), texts(&after));
        let changed: Vec<&String> = after_texts
            .iter()
            .filter(|(id, text)| before_texts.get(*id) != Some(*text))
            .map(|(id, _)| *id)
            .collect();
        let tell = |text: &str| format!("{} said {reply:?}: {text}", shown(&command));
        if !documents.keys().all(|id| after.contains_key(id)) {
            mismatches.add(tell("a document is gone"));
        }
        if matching.is_empty() {
            let expected = if is_upsert { Some(parsed.insert(&read, &environment)) } else { None };
            match expected {
                None if changed.is_empty() && number(&reply, "n") == 0 => {}
                Some(Ok(mut new)) if code(&reply).is_none() => {
                    let [id] = changed.as_slice() else {
                        mismatches.add(tell("no document was made"));
                        continue;
                    };
                    let made = &after[*id];
                    if !new.contains("_id") {
                        let mut with_id = single("_id", made.get("_id").unwrap().clone());
                        for (name, value) in new {
                            with_id.insert(name, value);
                        }
                        new = with_id;
                    }
                    if exactly_object(made) != exactly_object(&new) {
                        mismatches.add(tell(&format!("made {made:?}, not {new:?}")));
                    }
                }
                Some(Err(error)) if code(&reply) == Some(error.code.into()) && changed.is_empty() => {}
                other => mismatches.add(tell(&format!("expected {other:?}"))),
            }
        } else {
            let outcomes: Vec<_> = matching
                .iter()
                .map(|(id, document)| {
                    let place = read.find(document, &environment).unwrap().unwrap_or_default();
                    (*id, parsed.apply((*document).clone(), &place, &environment))
                })
                .collect();
            let is_known = match changed.as_slice() {
                [] => outcomes.iter().any(|(_, outcome)| match outcome {
                    Ok(updated) => {
                        !updated.is_modified && number(&reply, "n") == 1 && number(&reply, "nModified") == 0
                    }
                    Err(error) => code(&reply) == Some(error.code.into()),
                }),
                [one] => outcomes.iter().any(|(id, outcome)| match outcome {
                    Ok(updated) => {
                        id == one
                            && updated.is_modified
                            && exactly_object(&updated.document) == exactly_object(&after[*one])
                            && number(&reply, "nModified") == 1
                    }
                    Err(_) => false,
                }),
                _ => false,
            };
            if !is_known {
                mismatches.add(tell(&format!("changed {changed:?}, of {outcomes:?}")));
            }
        }
        documents = after;
    }
    mismatches.check();
}
