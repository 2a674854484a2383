//! Queries and scripts over items that expire one after the other: whatever finds the items, the answers are those of a
//! container in which the same items are deleted instead.

use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{ContainerHandle, ItemName, ListScope, Precondition, QueryRequest, WriteMode};
use armilla_value::{Value, json};

use crate::support::{Fixture, defined, partition_key, value};

const ITEMS: u64 = 60;

/// Queries of every way to find items, and whether the order of their rows is promised.
const QUERIES: [(&str, bool); 34] = [
    ("SELECT VALUE COUNT(1) FROM c", true),
    ("SELECT VALUE COUNT(1) FROM c WHERE c.n > 5", true),
    ("SELECT VALUE COUNT(1) FROM c WHERE c.n > 5 AND c.g = 'g1'", true),
    ("SELECT VALUE COUNT(1) FROM c WHERE c.g = 'g0' OR c.g = 'g2'", true),
    ("SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, 't1')", true),
    ("SELECT VALUE COUNT(1) FROM c WHERE c.id = 'i7'", true),
    ("SELECT VALUE COUNT(c.n) FROM c", true),
    ("SELECT VALUE COUNT(c.n) FROM c WHERE c.g = 'g1'", true),
    ("SELECT VALUE MIN(c.n) FROM c", true),
    ("SELECT VALUE MAX(c.n) FROM c", true),
    ("SELECT VALUE MIN(c.n) FROM c WHERE c.n > 3", true),
    ("SELECT VALUE MAX(c.s) FROM c", true),
    ("SELECT VALUE SUM(c.n) FROM c", true),
    ("SELECT VALUE AVG(c.n) FROM c WHERE c.g = 'g1'", true),
    ("SELECT DISTINCT VALUE c.g FROM c", false),
    ("SELECT DISTINCT c.g FROM c", false),
    ("SELECT DISTINCT VALUE c.n FROM c WHERE c.n < 9", false),
    ("SELECT DISTINCT VALUE c.s FROM c ORDER BY c.s", true),
    ("SELECT c.g, COUNT(1) AS k FROM c GROUP BY c.g", false),
    ("SELECT VALUE c.id FROM c", false),
    ("SELECT VALUE c.id FROM c WHERE c.n = 7", false),
    ("SELECT VALUE c.id FROM c WHERE c.n IN (1, 7, 8)", false),
    ("SELECT VALUE c.id FROM c WHERE c.g = 'g1' AND c.n >= 4", false),
    ("SELECT VALUE c.id FROM c WHERE STARTSWITH(c.s, 's1')", false),
    ("SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.n)", false),
    ("SELECT VALUE c.id FROM c WHERE c.id = 'i9'", false),
    ("SELECT VALUE c.id FROM c JOIN t IN c.tags WHERE t = 't1'", false),
    ("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 't2')", false),
    ("SELECT VALUE [c.n, c.id] FROM c ORDER BY c.n", true),
    ("SELECT VALUE [c.n, c.id] FROM c ORDER BY c.n DESC", true),
    ("SELECT TOP 3 VALUE c.id FROM c WHERE c.g = 'g1' ORDER BY c.s DESC", true),
    ("SELECT VALUE c.id FROM c ORDER BY c.g, c.n DESC", true),
    ("SELECT VALUE c.id FROM c ORDER BY c.s OFFSET 2 LIMIT 4", true),
    ("SELECT VALUE c.id FROM c WHERE c._ts > 0", false),
];

fn body(number: u64, ttl: Option<u64>) -> String {
    let n = if number.is_multiple_of(5) { String::new() } else { format!(r#","n":{}"#, 7 * number % 23) };
    let s = if number.is_multiple_of(7) { String::new() } else { format!(r#","s":"s{}""#, 11 * number % 29) };
    let ttl = ttl.map_or(String::new(), |seconds| format!(r#","ttl":{seconds}"#));
    let (g, tag) = (number % 3, number % 4);
    format!(r#"{{"id":"i{number}","pk":"{}","g":"g{g}","tags":["t{tag}","t1"]{n}{s}{ttl}}}"#, pk(number))
}

fn pk(number: u64) -> String {
    format!("p{}", number % 4)
}

/// Item `number` lives for so many seconds more than one; some have no time of their own, or live for ever.
fn own_ttl(number: u64) -> Option<u64> {
    (!number.is_multiple_of(6)).then_some(number)
}

struct Pair {
    fixture: Fixture,
    expiring: Arc<ContainerHandle>,
    deleting: Arc<ContainerHandle>,
}

impl Pair {
    async fn new() -> Pair {
        let fixture = Fixture::new().await;
        fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
        let index = r#""indexingPolicy":{"includedPaths":[{"path":"/*"}],
            "compositeIndexes":[[{"path":"/g"},{"path":"/n","order":"descending"}]]}"#;
        for (id, ttl) in [("c", r#""defaultTtl":20,"#), ("deleting", "")] {
            let text = format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"]}},{ttl}{index}}}"#);
            fixture
                .engine
                .create_container(&fixture.caller, "d", defined(&value(&text)), None)
                .await
                .unwrap();
        }
        let (expiring, deleting) = (fixture.container("c"), fixture.container("deleting"));
        let pair = Pair { fixture, expiring, deleting };
        for number in 0..ITEMS {
            pair.write(&pair.expiring, number, &body(number, own_ttl(number))).await;
            pair.write(&pair.deleting, number, &body(number, None)).await;
        }
        pair
    }

    async fn write(&self, container: &Arc<ContainerHandle>, number: u64, body: &str) {
        let (mode, key, free) = (WriteMode::Create, partition_key(&pk(number)), Precondition::None);
        let (engine, caller) = (&self.fixture.engine, &self.fixture.caller);
        let none = Default::default();
        engine
            .write_item(caller, container, mode, Some(&key), body.as_bytes().into(), free, &none)
            .await
            .unwrap();
    }

    async fn delete(&self, number: u64) {
        let (key, id, free) = (partition_key(&pk(number)), format!("i{number}"), Precondition::None);
        let (engine, caller) = (&self.fixture.engine, &self.fixture.caller);
        let none = Default::default();
        let name = ItemName::Id(&id);
        engine.delete_item(caller, &self.deleting, name, Some(&key), free, &none).await.unwrap();
    }

    async fn rows(
        &self,
        container: &Arc<ContainerHandle>,
        text: &str,
        scope: &ListScope,
        rows_max: usize,
    ) -> Vec<String> {
        let mut request =
            QueryRequest { rows_max: Some(rows_max), scope: scope.clone(), ..QueryRequest::new(text) };
        let mut rows = Vec::new();
        loop {
            let page = self
                .fixture
                .engine
                .query_items(&self.fixture.caller, container, request.clone())
                .await
                .unwrap();
            let page_rows = json::parse(format!("[{}]", String::from_utf8(page.rows).unwrap()).as_bytes());
            let Value::Array(page_rows) = page_rows.unwrap() else { panic!("no array") };
            rows.extend(page_rows.iter().map(json::to_string));
            request.continuation = page.continuation;
            if request.continuation.is_none() {
                return rows;
            }
        }
    }

    async fn compare(&self, when: &str) {
        for (text, is_ordered) in QUERIES {
            for scope in [ListScope::All, ListScope::PartitionKey(partition_key("p1"))] {
                for rows_max in [2, 1_000] {
                    let mut found = self.rows(&self.expiring, text, &scope, rows_max).await;
                    let mut expected = self.rows(&self.deleting, text, &scope, rows_max).await;
                    if !is_ordered {
                        found.sort();
                        expected.sort();
                    }
                    assert_eq!(found, expected, "{when}: {text} in {scope:?}, {rows_max} rows at a time");
                }
            }
        }
    }
}

#[tokio::test]
async fn queries_see_what_lives() {
    let pair = Pair::new().await;
    pair.compare("at first").await;
    for second in 1..=30 {
        pair.fixture.clock.advance(Duration::from_secs(1));
        // Those whose last second was the one before.
        for number in 0..ITEMS {
            if own_ttl(number).unwrap_or(20) + 1 == second {
                pair.delete(number).await;
            }
        }
        if second % 3 == 0 || second == 21 {
            pair.compare(&format!("after {second} seconds")).await;
        }
    }
    pair.fixture.engine.close().await.unwrap();
}

#[tokio::test]
async fn scripts_see_what_lives() {
    let pair = Pair::new().await;
    let script = r#"function () {
        var collection = getContext().getCollection(), response = getContext().getResponse(), seen = {};
        collection.queryDocuments(collection.getSelfLink(), 'SELECT VALUE COUNT(1) FROM c', {}, function (e, rows) {
            if (e) throw e;
            seen.count = rows[0];
            collection.readDocuments(collection.getSelfLink(), {pageSize: 100}, function (e, items) {
                if (e) throw e;
                seen.items = items.length;
                collection.createDocument(collection.getSelfLink(), {id: 'i1', pk: 'p1'}, function (e) {
                    seen.created = !e;
                    response.setBody(seen);
                });
            });
        });
    }"#;
    // Of p1 are 1, 5, 9 and so on; each lives for as many seconds as its number says.
    let run = async || pair.fixture.run_text(script, "p1", "[]").await.unwrap().body.unwrap();
    assert_eq!(run().await, r#"{"count":15,"items":15,"created":false}"#);
    pair.fixture.clock.advance(Duration::from_secs(6));
    assert_eq!(run().await, r#"{"count":13,"items":13,"created":true}"#);
    pair.fixture.engine.close().await.unwrap();
}
