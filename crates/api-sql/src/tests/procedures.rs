//! Running stored procedures: arguments, answers, logs, failures.

use armilla_value::Value;
use http::Method;

use super::client::{Answer, Client, READ_ONLY_KEY};

const SPROCS: &str = "/dbs/d/colls/c/sprocs";
const DOCS: &str = "/dbs/d/colls/c/docs";
const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", "[1]");
const LOGGED: (&str, &str) = ("x-ms-documentdb-script-enable-logging", "True");
const LOG: &str = "x-ms-documentdb-script-log-results";

/// Stores a procedure under the name `p`.
pub(super) async fn store(client: &Client, body: &str) {
    let body = armilla_value::json::to_string(&Value::from(body));
    let definition = format!(r#"{{"id":"p","body":{body}}}"#);
    let answer =
        client.send(Method::POST, SPROCS, &[("x-ms-documentdb-is-upsert", "True")], definition).await;
    assert!(matches!(answer.status, 200 | 201), "{answer:?}");
}

/// Stores a procedure and runs it.
pub(super) async fn run(client: &Client, body: &str, arguments: &str) -> Answer {
    store(client, body).await;
    client.send(Method::POST, &format!("{SPROCS}/p"), &[KEY], arguments).await
}

async fn run_logged(client: &Client, body: &str) -> Answer {
    store(client, body).await;
    client.send(Method::POST, &format!("{SPROCS}/p"), &[KEY, LOGGED], "").await
}

#[tokio::test]
async fn rehearsals_tell_and_leave_nothing() {
    let client = Client::with_container().await;
    let body = "function () {
        var c = getContext().getCollection(), link = c.getSelfLink();
        c.createDocument(link, { id: 'ü%1', pk: 1 }, function (error, made) {
            if (error) throw error;
            c.replaceDocument(made._self, { id: 'ü%1', pk: 1, n: 2 });
            c.queryDocuments(link, 'SELECT * FROM c', {}, function () {});
            c.deleteDocument(made._self, function (error) { if (error) throw error; });
            c.upsertDocument(link, { id: 'left', pk: 1 });
            c.readDocument(c.getAltLink() + '/docs/none', function () {});
        });
    }";
    store(&client, body).await;
    let run = async |headers: &[(&'static str, &'static str)]| {
        client.send(Method::POST, &format!("{SPROCS}/p"), &[&[KEY], headers].concat(), "").await.expect(200)
    };
    let rehearsed = run(&[("x-armilla-script-rehearsal", "true")]).await;
    let told = rehearsed.header("x-armilla-script-footprint").unwrap();
    let told = armilla_rest_wire::percent::decode(told).unwrap();
    assert_eq!(
        told,
        r#"{"reads":1,"queries":1,"rows":0,"writes":4,"written":[{"operation":"create","id":"ü%1"},{"operation":"replace","id":"ü%1"},{"operation":"delete","id":"ü%1"},{"operation":"create","id":"left"}]}"#
    );
    let left = format!("{DOCS}/left");
    client.send(Method::GET, &left, &[KEY], "").await.expect(404);

    let stored = run(&[("x-armilla-script-enable-footprint", "true")]).await;
    assert_eq!(stored.header("x-armilla-script-footprint"), rehearsed.header("x-armilla-script-footprint"));
    assert_eq!(stored.header("x-ms-request-charge"), rehearsed.header("x-ms-request-charge"));
    client.send(Method::GET, &left, &[KEY], "").await.expect(200);
    assert_eq!(run(&[]).await.header("x-armilla-script-footprint"), None);
}

#[tokio::test]
async fn arguments_arrive_in_order() {
    let client = Client::with_container().await;
    let body = "function (a, b) { getContext().getResponse().setBody([arguments.length, a, b]); }";
    for (arguments, expected) in [
        ("", "[0,null,null]"),
        ("[]", "[0,null,null]"),
        ("[7]", "[1,7,null]"),
        (r#"[{"x":[1]},"two"]"#, r#"[2,{"x":[1]},"two"]"#),
        ("[[1,2],[3]]", "[2,[1,2],[3]]"),
        ("[1,2,3]", "[3,1,2]"),
        ("\"one\"", r#"[1,"one",null]"#),
        (r#"{"x":1}"#, r#"[1,{"x":1},null]"#),
        ("5", "[1,5,null]"),
    ] {
        let answer = run(&client, body, arguments).await.expect(200);
        assert_eq!(answer.text, expected, "{arguments}");
    }
    for odd in ["[1", "text", "[1,]", "{"] {
        run(&client, body, odd).await.expect_code(400, 0);
    }
}

#[tokio::test]
async fn answers_are_json_as_it_was_set() {
    let client = Client::with_container().await;
    for (value, expected) in [
        ("\"Success!\"", "\"Success!\""),
        ("\"\"", "\"\""),
        ("5", "5"),
        ("true", "true"),
        ("null", "null"),
        ("[1, 'a', null]", r#"[1,"a",null]"#),
        ("({ b: 1, a: { c: [] } })", r#"{"b":1,"a":{"c":[]}}"#),
        ("\"\\u00fc \\\"q\\\"\"", "\"ü \\\"q\\\"\""),
    ] {
        let body = format!("function () {{ getContext().getResponse().setBody({value}); }}");
        let answer = run(&client, &body, "").await.expect(200);
        assert_eq!(answer.text, expected, "{value}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-ms-alt-content-path"), Some("dbs/d/colls/c"));
        assert_eq!(answer.header(LOG), None);
        assert!(answer.header("x-ms-session-token").is_some());
        assert_ne!(answer.header("x-ms-request-charge"), Some("0.00"));
    }
    for body in
        ["function () {}", "() => 5", "function () { getContext().getResponse().setBody(undefined); }"]
    {
        assert_eq!(run(&client, body, "").await.expect(200).text, "", "{body}");
    }
}

#[tokio::test]
async fn logs_are_kept_on_request() {
    let client = Client::with_container().await;
    let logs = "console.log('The value of %s is %s.', 'x', 1);";
    let answer = run_logged(&client, &format!("function () {{ {logs} }}")).await.expect(200);
    assert_eq!(answer.header(LOG), Some("The%20value%20of%20x%20is%201."));
    let unicode = run_logged(&client, "function () { console.log('ü\\n%'); }").await.expect(200);
    assert_eq!(unicode.header(LOG), Some("%C3%BC%0A%25"));
    let quiet = run(&client, &format!("function () {{ {logs} }}"), "").await.expect(200);
    assert_eq!(quiet.header(LOG), None);
    let failed =
        run_logged(&client, &format!("function () {{ {logs} throw new Error('no'); }}")).await.expect(400);
    assert_eq!(failed.header(LOG), Some("The%20value%20of%20x%20is%201."));
    let odd = [KEY, ("x-ms-documentdb-script-enable-logging", "perhaps")];
    client.send(Method::POST, &format!("{SPROCS}/p"), &odd, "").await.expect_code(400, 0);
}

#[tokio::test]
async fn exceptions_undo_everything_and_tell_their_number() {
    let client = Client::with_container().await;
    let create = "getContext().getCollection().createDocument(__.getSelfLink(), { id: 'x', pk: 1 });";
    for (throw, sub_status, word) in [
        ("throw new Error('out of order');", 0, "Exception = Error: out of order"),
        ("throw new Error(404, 'is gone');", 404, "is gone"),
        ("throw new Error(ErrorCodes.Conflict, 'twice');", 409, "twice"),
        ("throw 'only text';", 0, "only text"),
        ("null.x;", 0, "TypeError"),
        ("getContext().abort(new Error(412, 'stopped'));", 412, "stopped"),
    ] {
        let body = format!("function () {{ {create} {throw} }}");
        let failed = run(&client, &body, "").await.expect_code(400, sub_status);
        assert_eq!(failed.member("code"), "BadRequest");
        let message = failed.member("message");
        assert!(
            message.starts_with(r#"Message: {"Errors":["Encountered exception while executing"#),
            "{message}"
        );
        assert!(message.contains(word), "{throw}: {message}");
        assert_ne!(failed.header("x-ms-request-charge"), Some("0.00"));
        client.send(Method::GET, &format!("{DOCS}/x"), &[KEY], "").await.expect_code(404, 0);
    }
}

#[tokio::test]
async fn writes_are_one_commit() {
    let client = Client::with_container().await;
    let body = "function (count) {
        for (let i = 0; i < count; i++) __.createDocument(__.getSelfLink(), { id: 'i' + i, pk: 1 });
        __.response.setBody(count);
    }";
    let before = run(&client, "function () {}", "").await.expect(200);
    let answer = run(&client, body, "[20]").await.expect(200);
    let lsn = |answer: &Answer| answer.header("lsn").unwrap().parse::<u64>().unwrap();
    assert_eq!(lsn(&answer), lsn(&before) + 1);
    let list = client.send(Method::GET, DOCS, &[KEY], "").await.expect(200);
    assert_eq!(list.ids("Documents").len(), 20);
    let read = client.send(Method::GET, &format!("{DOCS}/i7"), &[KEY], "").await.expect(200);
    assert_eq!(read.header("x-ms-item-lsn"), answer.header("lsn"));
    assert_eq!(answer.header("x-ms-session-token"), Some(&*format!("0:-1#{}", lsn(&answer))));
}

#[tokio::test]
async fn one_logical_partition_is_all_there_is() {
    let client = Client::with_container().await;
    let other = [("x-ms-documentdb-partitionkey", "[2]")];
    client.send(Method::POST, DOCS, &other, r#"{"id":"other","pk":2}"#).await.expect(201);
    let count = "function () { __.queryDocuments(__.getSelfLink(), 'SELECT VALUE COUNT(1) FROM c',
        (error, rows) => { if (error) throw error; __.response.setBody(rows); }); }";
    assert_eq!(run(&client, count, "").await.expect(200).text, "[0]");
    let elsewhere = "function () { __.createDocument(__.getSelfLink(), { id: 'x', pk: 2 }); }";
    run(&client, elsewhere, "").await.expect(400);
    let two_keys = [("x-ms-documentdb-partitionkey", "[1,2]")];
    let path = format!("{SPROCS}/p");
    client.send(Method::POST, &path, &two_keys, "").await.expect(400);
    let missing = client.send(Method::POST, &path, &[], "").await.expect(400);
    assert!(missing.member("message").contains("PartitionKey"), "{}", missing.text);
    client.send(Method::POST, &path, &[("x-ms-documentdb-partitionkey", "1")], "").await.expect(400);
}

#[tokio::test]
async fn procedures_that_are_not_there() {
    let client = Client::with_container().await;
    client.send(Method::POST, &format!("{SPROCS}/no"), &[KEY], "").await.expect_code(404, 0);
    client.send(Method::POST, "/dbs/d/colls/no/sprocs/p", &[KEY], "").await.expect_code(404, 1003);
    store(&client, "function () {}").await;
    let path = format!("{SPROCS}/p");
    let authorization = client.sign(READ_ONLY_KEY, &Method::POST, &path);
    client.send_as(&authorization, Method::POST, &path, &[KEY], "").await.expect(403);
    let self_link = client.get(&path).await.expect(200).member("_self");
    let by_rid = format!("/{}", self_link.trim_end_matches('/'));
    client.send(Method::POST, &by_rid, &[KEY], "").await.expect(200);
}

#[tokio::test]
async fn endless_procedures_are_stopped() {
    let client = Client::with_container().await;
    store(&client, "function () { for (;;) {} }").await;
    let path = format!("{SPROCS}/p");
    let mut endless = std::pin::pin!(client.send(Method::POST, &path, &[KEY], ""));
    // The clock stands still unless a test moves it, and the script runs on a thread of its own.
    let stopped = std::future::poll_fn(|context| {
        client.clock.advance(std::time::Duration::from_millis(1));
        context.waker().wake_by_ref();
        endless.as_mut().poll(context)
    });
    let stopped = stopped.await.expect_code(408, 0);
    assert_eq!(stopped.member("code"), "RequestTimeout");
    run(&client, "function () {}", "").await.expect(200);
}

#[tokio::test]
async fn long_answers_are_refused() {
    let client = Client::with_container().await;
    let body = "function (count) { getContext().getResponse().setBody('x'.repeat(count)); }";
    run(&client, body, "[4000000]").await.expect(200);
    run(&client, body, "[5000000]").await.expect_code(400, 413);
}
