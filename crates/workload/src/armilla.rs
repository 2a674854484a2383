//! The server as a side: over HTTP, as any client of the SQL API.
//!
//! Containers have the default policies: every path is indexed, and a write is answered with the item.

mod loading;
mod resting;
mod worker;

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use armilla_client::{Client, Failure, Query as QueryRequest, ScriptKind, Session, Throughput};
use armilla_env::Env;
use armilla_value::{Object, Value, json};

use crate::cpu::{CpuClock, ServerCpu};
use crate::drive::{Answer, Future, Worker};
use crate::items::Items;
use crate::plan::Plan;
use crate::side::{Entries, Needs, Side};

/// The side's name.
pub(crate) const NAME: &str = "armilla";

/// The container of the items.
pub(crate) const ITEMS: &str = "items";

/// The container of the workload `script`.
const ENTRIES: &str = "entries";

/// The container of the workload `feed` in which others write.
pub(crate) const FOLLOWED: &str = "followed";

/// The stored procedure of the workload `script`: an entry goes in, the counter goes up.
const PROCEDURE: &str = "addEntry";
const PROCEDURE_BODY: &str = r#"function (entry, counterId) {
    var collection = getContext().getCollection();
    var counterLink = collection.getAltLink() + "/docs/" + counterId;
    must(collection.createDocument(collection.getSelfLink(), entry, function (error) {
        if (error) throw error;
        must(collection.readDocument(counterLink, function (error, counter) {
            if (error) throw error;
            counter.count += 1;
            must(collection.replaceDocument(counter._self, counter, { etag: counter._etag }, function (error) {
                if (error) throw error;
                getContext().getResponse().setBody(counter.count);
            }));
        }));
    }));
    function must(accepted) {
        if (!accepted) throw new Error("the operation was not accepted");
    }
}"#;

/// The server.
pub(crate) struct Armilla {
    /// How to ask it.
    pub(crate) client: Client,
    /// The database that everything is in.
    pub(crate) database: String,
    /// Request units a second of each container.
    pub(crate) throughput: Throughput,
    /// The items.
    pub(crate) items: Items,
    /// What operations are drawn from.
    pub(crate) seed: u64,
    /// Connections that load.
    pub(crate) connections: usize,
}

impl Armilla {
    /// Makes the database; one that is there is deleted first if that is wanted, and else an error.
    pub(crate) async fn make_database(&self, replace: bool) -> Result<()> {
        let mut session = self.client.session();
        let database = &self.database;
        if replace {
            session.delete_database(database).await?;
        }
        if !session.create_database(database).await? {
            bail!(
                "the server at {} has a database {database} already: choose another with --database, or delete it \
                 with --replace",
                self.client
            );
        }
        Ok(())
    }

    /// Deletes the database.
    pub(crate) async fn delete_database(&self) -> Result<()> {
        self.client.session().delete_database(&self.database).await?;
        Ok(())
    }

    /// Makes a container that is partitioned by `/customer`.
    pub(crate) async fn make_container(&self, container: &str) -> Result<()> {
        let definition = format!(
            r#"{{"id":"{container}","partitionKey":{{"paths":["/customer"],"kind":"Hash","version":2}}}}"#
        );
        self.client.session().create_container(&self.database, definition, Some(self.throughput)).await?;
        Ok(())
    }

    /// Opens a connection on which a refusal for want of throughput is an answer, and not waited out.
    pub(crate) async fn open_session(&self) -> Result<Session> {
        let mut session = self.client.session().patience(Duration::ZERO);
        session.connect().await?;
        Ok(session)
    }

    async fn number(&self, session: &mut Session, container: &str, text: &str) -> Result<u64> {
        let query = QueryRequest { text, ..QueryRequest::default() };
        let done = session.query(&self.database, container, &query).await?;
        let page = json::parse(&done.body).map_err(|error| anyhow!("'{text}' gave no JSON: {error}"))?;
        let rows = page.get("Documents").and_then(Value::as_array).unwrap_or_default();
        // The sum of nothing is no row, or one without a value.
        let Some(number) = rows.first() else { return Ok(0) };
        number
            .as_i64()
            .and_then(|number| u64::try_from(number).ok())
            .with_context(|| format!("'{text}' gave {} and no number", json::to_string(number)))
    }
}

impl Side for Armilla {
    fn name(&self) -> &'static str {
        NAME
    }

    fn load(&self, needs: Needs) -> Future<'_, Result<()>> {
        Box::pin(async move {
            if needs.items {
                self.make_container(ITEMS).await?;
                loading::items(self).await.context("cannot load the items")?;
            }
            if needs.entries {
                self.make_container(ENTRIES).await?;
                let script = Object::from([("id", PROCEDURE), ("body", PROCEDURE_BODY)]);
                let script = json::to_string(&Value::Object(script));
                let mut session = self.client.session();
                session.put_script(&self.database, ENTRIES, ScriptKind::Procedure, PROCEDURE, script).await?;
                loading::counters(self, &mut session).await.context("cannot make the counters")?;
            }
            Ok(())
        })
    }

    fn worker(&self, plan: Plan, stream: usize) -> Future<'_, Result<Box<dyn Worker>>> {
        Box::pin(async move {
            let session = self.open_session().await?;
            let draws = plan.draws(&self.items, self.seed, stream);
            Ok(Box::new(worker::ArmillaWorker::new(session, &self.database, &self.items, draws))
                as Box<dyn Worker>)
        })
    }

    fn rest<'s>(&'s self, env: &'s Env) -> Future<'s, Result<Option<String>>> {
        Box::pin(async move { Ok(resting::wait(env, || self.client.metric(resting::JOBS)).await) })
    }

    fn count_entries(&self) -> Future<'_, Result<Entries>> {
        Box::pin(async move {
            let mut session = self.client.session();
            let entries = "SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'entry'";
            let counted = "SELECT VALUE SUM(c['count']) FROM c WHERE c.kind = 'counter'";
            Ok(Entries {
                entries: self.number(&mut session, ENTRIES, entries).await?,
                counted: self.number(&mut session, ENTRIES, counted).await?,
            })
        })
    }

    fn describe(&self) -> Future<'_, Result<String>> {
        Box::pin(async move { Ok(self.client.to_string()) })
    }

    fn indexes(&self) -> Future<'_, Result<Vec<String>>> {
        // The default policy of a container, which is not asked for because it was not set.
        Box::pin(async { Ok(vec!["every path of every item".to_owned()]) })
    }

    fn cpu_clock(&self) -> Option<Box<dyn CpuClock>> {
        Some(Box::new(ServerCpu(self.client.clone())))
    }
}

/// Returns the key of a logical partition as requests have it.
pub(crate) fn partition_key(value: &str) -> String {
    let mut key = b"[".to_vec();
    json::write_ascii_string(value, &mut key);
    key.push(b']');
    String::from_utf8(key).expect("it is ASCII")
}

/// Makes an answer of a refusal for want of throughput, and an error of any other failure.
pub(crate) fn refusal(failure: Failure) -> Result<Answer> {
    match failure.refusal() {
        Some(refusal) if refusal.status == http::StatusCode::TOO_MANY_REQUESTS => {
            Ok(Answer::Refused { retry_after: refusal.retry_after.unwrap_or_default() })
        }
        _ => Err(failure.into()),
    }
}

/// Returns how many items a page says that it has.
pub(crate) fn count_of_page(body: &[u8]) -> u64 {
    const COUNT: &[u8] = b"\"_count\":";
    // It is the last member of a page, so the whole of it need not be read.
    let tail = &body[body.len().saturating_sub(48)..];
    let Some(start) = tail.windows(COUNT.len()).rposition(|window| window == COUNT) else { return 0 };
    let digits = tail[start + COUNT.len()..].iter().skip_while(|byte| **byte == b' ');
    digits
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0u64, |count, digit| count.saturating_mul(10).saturating_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_pages() {
        for (body, expected) in [
            (r#"{"_rid":"x","Documents":[],"_count":0}"#, 0),
            (r#"{"_rid":"x","Documents":[{"_count":7}],"_count":1000}"#, 1_000),
            (r#"{"Documents":[],"_count": 12 }"#, 12),
            ("", 0),
            ("{}", 0),
            ("\"_count\":", 0),
        ] {
            assert_eq!(count_of_page(body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn keys_as_requests_have_them() {
        for (value, expected) in
            [("customer-1", r#"["customer-1"]"#), ("\"", r#"["\""]"#), ("ø", r#"["\u00f8"]"#)]
        {
            assert_eq!(partition_key(value).to_lowercase(), expected);
        }
    }
}
