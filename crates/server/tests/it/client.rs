//! The client against a server: every kind of request, what failures say, restarts, and how long a read takes.

use std::path::Path;
use std::time::Duration;

use armilla_client::child::Child;
use armilla_client::{
    Changes, Client, From, Operation, Operations, Query, Router, Scope, ScriptKind, Session, Throughput,
    WriteOptions, lines, results,
};
use armilla_env::Env;
use armilla_value::{Component, PartitionKey};

const DATABASE: &str = "shop 1";
const CONTAINER: &str = "ø";
const DEFINITION: &str = r#"{"id":"ø","partitionKey":{"paths":["/city"],"kind":"Hash","version":2}}"#;

fn child(arguments: &[&str]) -> Child {
    Child::start_program(Path::new(env!("CARGO_BIN_EXE_armilla")), arguments).unwrap()
}

async fn with_container(child: &Child, throughput: u32) -> Session {
    let client = Client::new(&child.server_options(), Env::system()).unwrap();
    let mut session = client.session();
    assert!(session.create_database(DATABASE).await.unwrap());
    assert!(!session.create_database(DATABASE).await.unwrap());
    let throughput = Some(Throughput::Manual(throughput));
    assert!(session.create_container(DATABASE, DEFINITION, throughput).await.unwrap());
    assert!(!session.create_container(DATABASE, DEFINITION, throughput).await.unwrap());
    session
}

fn item(id: &str, city: &str) -> String {
    format!(r#"{{"id":"{id}","city":"{city}"}}"#)
}

#[tokio::test]
async fn items_and_queries() {
    let child = child(&["--memory"]);
    let mut session = with_container(&child, 12_000).await;
    let tromso = r#"["Tromsø"]"#;
    let created = session.create_item(DATABASE, CONTAINER, tromso, item("", "Tromsø")).await.unwrap_err();
    assert!(created.is(400), "an id without a character: {created}");
    let created = session.create_item(DATABASE, CONTAINER, tromso, item("å b", "Tromsø")).await.unwrap();
    assert_eq!(created.status, 201);
    assert!(created.charge > 1.0 && created.took > Duration::ZERO && created.throttled == 0);
    let refused = session.create_item(DATABASE, CONTAINER, tromso, item("å b", "Tromsø")).await.unwrap_err();
    assert!(refused.is(409) && refused.refusal().unwrap().message.contains("already exists"), "{refused}");
    let read = session.read_item(DATABASE, CONTAINER, tromso, "å b").await.unwrap();
    assert_eq!(read.etag(), created.etag());
    let upserted = session.upsert_item(DATABASE, CONTAINER, tromso, item("å b", "Tromsø")).await.unwrap();
    assert_eq!(upserted.status, 200);
    let stale = WriteOptions { if_match: created.etag(), ..WriteOptions::default() };
    let replaced =
        session.replace_item(DATABASE, CONTAINER, tromso, "å b", item("å b", "Tromsø"), stale).await;
    assert!(replaced.unwrap_err().is(412));
    let current = WriteOptions { if_match: upserted.etag(), is_minimal: true, ..WriteOptions::default() };
    let replaced =
        session.replace_item(DATABASE, CONTAINER, tromso, "å b", item("å b", "Tromsø"), current).await;
    assert!(replaced.unwrap().body.is_empty());
    session.delete_item(DATABASE, CONTAINER, tromso, "å b", None).await.unwrap();
    assert!(session.read_item(DATABASE, CONTAINER, tromso, "å b").await.unwrap_err().is(404));

    let router = Router::of(&mut session, DATABASE, CONTAINER).await.unwrap();
    assert_eq!(router.ranges().len(), 2);
    let mut groups = [Operations::new(), Operations::new()];
    for number in 0..150 {
        let city = format!("city {}", number % 10);
        let index = router.index_of(&PartitionKey(vec![Component::String(city.clone())]));
        let body = item(&number.to_string(), &city);
        let key = format!("[\"{city}\"]");
        assert!(groups[index].push(Operation::Upsert(body.as_bytes()), Some(&key)));
    }
    for (range, group) in router.ranges().iter().zip(&mut groups) {
        assert!(!group.is_empty());
        let done = session.bulk(DATABASE, CONTAINER, Some(&range.id), group.take()).await.unwrap();
        assert!(results(&done.body).unwrap().iter().all(|result| result.status == 201));
    }
    let query = Query {
        text: "SELECT VALUE c.id FROM c WHERE c.city = @city",
        parameters: r#"[{"name":"@city","value":"city 3"}]"#,
        items_max: Some(10),
        ..Query::default()
    };
    for scope in [Scope::All, Scope::Key(r#"["city 3"]"#)] {
        let page = session.query(DATABASE, CONTAINER, &Query { scope, ..query }).await.unwrap();
        assert_eq!(lines(&page.body).unwrap().count, 10);
        let token = page.continuation.unwrap();
        let next = Query { scope, continuation: Some(&token), ..query };
        let page = session.query(DATABASE, CONTAINER, &next).await.unwrap();
        assert_eq!(lines(&page.body).unwrap().count, 5);
    }
    let mut counts = Vec::new();
    for range in router.ranges() {
        let page = session.read_items(DATABASE, CONTAINER, Scope::Range(&range.id), Some(1_000), None).await;
        let by_id = lines(&page.unwrap().body).unwrap().count;
        let (min, max) = (range.min.to_hex(), range.max.to_hex());
        let scope = Scope::Hashed(&min, &max);
        let page = session.read_items(DATABASE, CONTAINER, scope, Some(1_000), None).await;
        assert_eq!(lines(&page.unwrap().body).unwrap().count, by_id);
        counts.push(by_id);
    }
    assert_eq!(counts.iter().sum::<u64>(), 150);
    let mut operations = Operations::new();
    operations.push(Operation::Create(item("batch", "city 3").as_bytes()), None);
    operations.push(Operation::Delete("none"), None);
    let done = session.batch(DATABASE, CONTAINER, r#"["city 3"]"#, operations.take()).await.unwrap();
    assert_eq!(done.status, 207);
    let statuses: Vec<u16> = results(&done.body).unwrap().iter().map(|result| result.status).collect();
    assert_eq!(statuses, [424, 404]);
}

#[tokio::test]
async fn scripts_and_changes() {
    let child = child(&["--memory"]);
    let mut session = with_container(&child, 400).await;
    for answer in [1, 2] {
        let body = format!(
            r#"{{"id":"p","body":"function (x) {{ getContext().getResponse().setBody(x + {answer}); }}"}}"#
        );
        session.put_script(DATABASE, CONTAINER, ScriptKind::Procedure, "p", body).await.unwrap();
        let done = session.execute(DATABASE, CONTAINER, "p", r#"["x"]"#, "[40]").await.unwrap();
        assert_eq!(done.body, (40 + answer).to_string());
    }
    let none = session.changes(DATABASE, CONTAINER, &Changes::default()).await.unwrap();
    assert_eq!(none.status, 304);
    let position = none.etag().unwrap().to_owned();
    session.create_item(DATABASE, CONTAINER, r#"["x"]"#, item("1", "x")).await.unwrap();
    let next =
        Changes { from: From::Position(&position), wait: Duration::from_secs(5), ..Changes::default() };
    let page = session.changes(DATABASE, CONTAINER, &next).await.unwrap();
    assert_eq!(lines(&page.body).unwrap().count, 1);
    let now = Changes { from: From::Now, ..Changes::default() };
    assert_eq!(session.changes(DATABASE, CONTAINER, &now).await.unwrap().status, 304);
}

#[tokio::test]
async fn refusals_for_the_rate_are_waited_for() {
    let child = child(&["--memory"]);
    let mut session = with_container(&child, 400).await;
    let large = format!(r#"{{"id":"1","city":"x","text":"{}"}}"#, "x".repeat(100_000));
    let mut throttled = 0;
    for _ in 0..100 {
        throttled +=
            session.upsert_item(DATABASE, CONTAINER, r#"["x"]"#, large.clone()).await.unwrap().throttled;
        if throttled > 0 {
            break;
        }
    }
    assert!(throttled > 0);
    let mut hasty = session.patience(Duration::ZERO);
    let mut refused = None;
    for _ in 0..100 {
        refused = hasty.upsert_item(DATABASE, CONTAINER, r#"["x"]"#, large.clone()).await.err().or(refused);
    }
    let refused = refused.unwrap();
    assert!(refused.is(429) && refused.is_passing() && refused.refusal().unwrap().retry_after.is_some());
}

#[tokio::test]
async fn servers_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = child(&["--data-dir", folder.path().to_str().unwrap()]);
    let mut session = with_container(&child, 400).await;
    session.create_item(DATABASE, CONTAINER, r#"["x"]"#, item("1", "x")).await.unwrap();
    child.restart().unwrap();
    session.read_item(DATABASE, CONTAINER, r#"["x"]"#, "1").await.unwrap();
    child.stop().unwrap();
    let lost = session.read_item(DATABASE, CONTAINER, r#"["x"]"#, "1").await.unwrap_err();
    assert!(lost.is_passing() && lost.to_string().contains("no server answers"), "{lost}");
    child.restart().unwrap();
    session.create_item(DATABASE, CONTAINER, r#"["x"]"#, item("2", "x")).await.unwrap();
    session.delete_database(DATABASE).await.unwrap();
    assert!(!session.delete_database(DATABASE).await.unwrap());
}

/// Prints how long a read takes; run it with `--ignored --nocapture`.
#[tokio::test]
#[ignore = "measures"]
async fn how_long_a_read_takes() {
    let child = child(&["--memory"]);
    let mut session = with_container(&child, 10_000).await;
    session.create_item(DATABASE, CONTAINER, r#"["x"]"#, item("1", "x")).await.unwrap();
    for options in [child.server_options(), child.plain_server_options()] {
        let client = Client::new(&options, Env::system()).unwrap();
        let mut session = client.session();
        let mut took = Vec::new();
        for _ in 0..20_000 {
            took.push(session.read_item(DATABASE, CONTAINER, r#"["x"]"#, "1").await.unwrap().took);
        }
        took.sort();
        println!("{client}: p50 {:?}, p99 {:?}", took[took.len() / 2], took[took.len() * 99 / 100]);
    }
}
