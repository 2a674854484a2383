//! Transactions against the model: they see their own writes and the others do not, and all or nothing of it stays.

use std::collections::BTreeMap;

use armilla_mongo_expression::{Environment, Scope};
use armilla_mongo_filter::Filter;
use armilla_mongo_update::Update;
use armilla_value::{Object, Value};

use crate::client::Client;
use crate::made_up::MadeUp;
use crate::values::{exactly, exactly_object, shown, single};

type Documents = BTreeMap<String, Object>;

fn keyed(documents: Vec<Object>) -> Documents {
    documents.into_iter().map(|document| (exactly(document.get("_id").unwrap()), document)).collect()
}

fn texts(documents: &Documents) -> Vec<String> {
    documents.values().map(exactly_object).collect()
}

/// Returns what matches, or nothing if that cannot be told of all.
fn matching(filter: &Filter, documents: &Documents) -> Option<Documents> {
    let environment = Environment::default();
    let mut found = Documents::new();
    for (id, document) in documents {
        if filter.matches(document, &environment).ok()? {
            found.insert(id.clone(), document.clone());
        }
    }
    Some(found)
}

struct Transaction {
    number: i64,
    is_begun: bool,
}

impl Transaction {
    fn part(&mut self, mut command: Object) -> Object {
        command.insert("lsid", single("id", Value::Binary { subtype: 4, bytes: vec![5; 16] }));
        command.insert("txnNumber", Value::Int64(self.number));
        command.insert("autocommit", false);
        if !self.is_begun {
            command.insert("startTransaction", true);
            self.is_begun = true;
        }
        command
    }
}

/// Reads what a find of a transaction gives, in one batch.
async fn find(client: &mut Client, transaction: &mut Transaction, filter: &Object) -> Documents {
    let mut command = Object::from([("find", Value::from("c")), ("filter", Value::Object(filter.clone()))]);
    command.insert("batchSize", Value::Int32(10_000));
    let reply = client.run(transaction.part(command)).await;
    let batch =
        reply.get("cursor").and_then(|cursor| cursor.get("firstBatch")).and_then(Value::as_array).unwrap();
    let documents: Vec<Object> = batch.iter().map(|value| value.as_object().unwrap().clone()).collect();
    let count = documents.len();
    let found = keyed(documents);
    assert_eq!(found.len(), count, "{} found documents twice", shown(filter));
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_see_what_they_wrote_and_leave_all_or_nothing() {
    let mut made_up = MadeUp::new(41);
    let first: Vec<Object> = (0..230).map(|number| made_up.document(number)).collect();
    let mut client = Client::new().await;
    client
        .run_text("{'createIndexes':'c','indexes':[{'key':{'a':1},'name':'a'},{'key':{'b':1},'name':'b'}]}")
        .await;
    client.insert("c", &first).await;
    let mut committed = keyed(first);
    let environment = Environment::default();
    let mut next = 1_000;
    for number in 1..=40 {
        let mut transaction = Transaction { number, is_begun: false };
        let mut own = committed.clone();
        for _ in 0..8 {
            let filter = made_up.filter(1);
            let Ok(read) = Filter::parse(&filter, &Scope::default()) else { continue };
            let Some(found) = matching(&read, &own) else { continue };
            match made_up.random.below(5) {
                0 => {
                    next += 1;
                    let document = made_up.document(next);
                    let mut insert = single("insert", "c");
                    insert.insert("documents", Value::Array(vec![document.clone().into()]));
                    let reply = client.run(transaction.part(insert)).await;
                    assert_eq!(reply.get("n").and_then(Value::as_i64), Some(1), "{reply:?}");
                    own.extend(keyed(vec![document]));
                }
                1 if found.len() < 40 => {
                    let mut delete = single("delete", "c");
                    let statement =
                        Object::from([("q", Value::Object(filter.clone())), ("limit", Value::Int32(0))]);
                    delete.insert("deletes", Value::Array(vec![statement.into()]));
                    let reply = client.run(transaction.part(delete)).await;
                    assert_eq!(
                        reply.get("n").and_then(Value::as_i64),
                        Some(found.len() as i64),
                        "{}",
                        shown(&filter)
                    );
                    own.retain(|id, _| !found.contains_key(id));
                }
                2 | 3 => {
                    let update = made_up.update();
                    let Ok(parsed) = Update::parse(&update, None, None, &Scope::default()) else { continue };
                    if parsed.is_replacement() {
                        continue;
                    }
                    let mut updated = own.clone();
                    let mut modified = 0;
                    let mut has_failed = false;
                    for (id, document) in &found {
                        let place = read.find(document, &environment).unwrap().unwrap_or_default();
                        match parsed.apply(document.clone(), &place, &environment) {
                            Ok(after) => {
                                modified += i64::from(after.is_modified);
                                updated.insert(id.clone(), after.document);
                            }
                            Err(_) => has_failed = true,
                        }
                    }
                    // A failure would end the transaction.
                    if has_failed {
                        continue;
                    }
                    let mut statement = Object::from([("q", Value::Object(filter.clone())), ("u", update)]);
                    statement.insert("multi", true);
                    let mut command = single("update", "c");
                    command.insert("updates", Value::Array(vec![statement.into()]));
                    let reply = client.run(transaction.part(command.clone())).await;
                    let said = |name: &str| reply.get(name).and_then(Value::as_i64);
                    let expected = (Some(found.len() as i64), Some(modified));
                    assert_eq!((said("n"), said("nModified")), expected, "{}: {reply:?}", shown(&command));
                    own = updated;
                }
                _ => {}
            }
            let found = matching(&read, &own).unwrap_or_default();
            let seen = find(&mut client, &mut transaction, &filter).await;
            assert_eq!(texts(&seen), texts(&found), "{} in transaction {number}", shown(&filter));
        }
        let others = keyed(client.read_all(single("find", "c")).await.unwrap());
        assert_eq!(texts(&others), texts(&committed), "what is not committed is seen");
        if !transaction.is_begun {
            continue;
        }
        let is_committed = number % 3 != 0;
        let end =
            single(if is_committed { "commitTransaction" } else { "abortTransaction" }, Value::Int32(1));
        client.try_run("admin", transaction.part(end)).await.unwrap();
        if is_committed {
            committed = own;
        }
        let after = keyed(client.read_all(single("find", "c")).await.unwrap());
        assert_eq!(texts(&after), texts(&committed), "after transaction {number}");
    }
}
