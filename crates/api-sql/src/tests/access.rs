//! Who may do what: every operation there is, by every kind of caller, on what exists and on what does not.
//!
//! A row names an operation, and for each kind of caller whether it is allowed. One that is refused must be answered the
//! same, to the letter, whether the resource exists or not.

use std::collections::BTreeSet;

use http::Method;

use super::client::{Answer, Client, READ_ONLY_KEY};
use crate::request::path::{self, Address};

/// The kinds of callers, in the order of the columns.
const CALLERS: [&str; 9] = [
    "the account's key",
    "the key for reading",
    "a token for all of the container",
    "a token to read the container",
    "a token for all of one partition key",
    "a token to read one partition key",
    "a token for all of one item",
    "a token to read one item",
    "a token for all of another container",
];

// Who is allowed: a plus for each kind of caller that is.
const EVERY_CALLER: &str = "+++++++++";
const KEYS_READ: &str = "++-------";
const KEY_WRITES: &str = "+--------";
/// Permissions come with tokens, so that who shows one makes a token.
const KEY_GRANTS: &str = "+--------";
const IN_CONTAINER: &str = "++++++++-";
const CONTAINER_READ: &str = "++++++---";
const CONTAINER_DEFINITION_WRITE: &str = KEY_WRITES;
const WHOLE_READ: &str = "++++-----";
const WHOLE_WRITE: &str = "+-+------";
const OWN_KEY_READ: &str = "++++++---";
const OWN_KEY_WRITE: &str = "+-+-+----";
const OWN_ITEM_READ: &str = "++++++++-";
const OWN_ITEM_WRITE: &str = "+-+-+-+--";
const OTHER_KEY_READ: &str = WHOLE_READ;
const OTHER_KEY_WRITE: &str = WHOLE_WRITE;

type Headers = &'static [(&'static str, &'static str)];

const NONE: Headers = &[];
const KEY_A: (&str, &str) = ("x-ms-documentdb-partitionkey", "[\"a\"]");
const KEY_B: (&str, &str) = ("x-ms-documentdb-partitionkey", "[\"b\"]");
const QUERY: (&str, &str) = ("x-ms-documentdb-isquery", "True");
const QUERY_TYPE: (&str, &str) = ("content-type", "application/query+json");
const CROSS: (&str, &str) = ("x-ms-documentdb-query-enablecrosspartition", "True");
const PLAN: (&str, &str) = ("x-ms-cosmos-is-query-plan-request", "True");
const UPSERT: (&str, &str) = ("x-ms-documentdb-is-upsert", "True");
const CHANGES: (&str, &str) = ("a-im", "Incremental feed");
const TRIGGER: (&str, &str) = ("x-ms-documentdb-pre-trigger-include", "t");
const BATCH: (&str, &str) = ("x-ms-cosmos-is-batch-request", "True");
const ATOMIC: (&str, &str) = ("x-ms-cosmos-batch-atomic", "True");
const EACH: (&str, &str) = ("x-ms-cosmos-batch-atomic", "False");
const QUOTA: (&str, &str) = ("x-ms-documentdb-populatequotainfo", "True");
const ALL: &str = r#"{"query":"SELECT * FROM c"}"#;
const SCRIPT: &str = r#"{"id":"new","body":"function () {}"}"#;
const ENCRYPTION_KEY: &str =
    r#"{"id":"k","encryptionAlgorithm":"a","wrappedDataEncryptionKey":"AAEC","keyWrapMetadata":{}}"#;
const PERMISSION: &str =
    r#"{"id":"new","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["z"]}"#;

/// An operation, on what exists and on what does not.
struct Row {
    method: Method,
    path: &'static str,
    headers: Headers,
    body: &'static str,
    /// Who is allowed, and what they are answered.
    allowed: &'static str,
    status: u16,
    /// The same operation on what does not exist: its path, who is allowed, and what they are answered.
    missing: Vec<(&'static str, &'static str, u16)>,
}

fn row(
    method: Method,
    path: &'static str,
    headers: Headers,
    body: &'static str,
    allowed: &'static str,
    status: u16,
) -> Row {
    Row { method, path, headers, body, allowed, status, missing: Vec::new() }
}

fn get(path: &'static str, allowed: &'static str) -> Row {
    row(Method::GET, path, NONE, "", allowed, 200)
}

fn post(path: &'static str, body: &'static str, allowed: &'static str) -> Row {
    row(Method::POST, path, NONE, body, allowed, 201)
}

fn put(path: &'static str, body: &'static str, allowed: &'static str) -> Row {
    row(Method::PUT, path, NONE, body, allowed, 200)
}

fn delete(path: &'static str, allowed: &'static str) -> Row {
    row(Method::DELETE, path, NONE, "", allowed, 204)
}

fn query(path: &'static str, allowed: &'static str) -> Row {
    row(Method::POST, path, &[QUERY, QUERY_TYPE], ALL, allowed, 200)
}

impl Row {
    fn with(mut self, headers: Headers) -> Row {
        self.headers = headers;
        self
    }

    fn answers(mut self, status: u16) -> Row {
        self.status = status;
        self
    }

    /// Names something of the kind that does not exist.
    fn missing(self, path: &'static str, allowed: &'static str) -> Row {
        self.missing_answers(path, allowed, 404)
    }

    fn missing_answers(mut self, path: &'static str, allowed: &'static str, status: u16) -> Row {
        self.missing.push((path, allowed, status));
        self
    }
}

/// The operations on the account, databases and containers.
fn account_rows() -> Vec<Row> {
    let container = r#"{"id":"new","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let same = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    vec![
        get("/", EVERY_CALLER),
        post("/", "", EVERY_CALLER).answers(405),
        get("/dbs", KEYS_READ),
        post("/dbs", r#"{"id":"new"}"#, KEY_WRITES),
        query("/dbs", KEYS_READ),
        get("/dbs/d", KEYS_READ).missing("/dbs/x", KEYS_READ),
        delete("/dbs/d", KEY_WRITES).missing("/dbs/x", KEY_WRITES),
        get("/dbs/d/colls", KEYS_READ).missing("/dbs/x/colls", KEYS_READ),
        post("/dbs/d/colls", container, KEY_WRITES).missing("/dbs/x/colls", KEY_WRITES),
        query("/dbs/d/colls", KEYS_READ).missing("/dbs/x/colls", KEYS_READ),
        get("/dbs/d/colls/c", CONTAINER_READ)
            .missing("/dbs/d/colls/x", KEYS_READ)
            .missing("/dbs/x/colls/c", KEYS_READ),
        get("/dbs/d/colls/c", CONTAINER_READ).with(&[QUOTA]).missing("/dbs/d/colls/x", KEYS_READ),
        get("/dbs/{d}/colls/{c}", CONTAINER_READ).missing("/dbs/{d}/colls/{x}", KEYS_READ),
        put("/dbs/d/colls/c", same, CONTAINER_DEFINITION_WRITE).missing("/dbs/d/colls/x", KEY_WRITES),
        delete("/dbs/d/colls/c", CONTAINER_DEFINITION_WRITE).missing("/dbs/d/colls/x", KEY_WRITES),
        get("/dbs/d/colls/c/pkranges", CONTAINER_READ).missing("/dbs/d/colls/x/pkranges", KEYS_READ),
        get("/dbs/d/colls/c/conflicts", CONTAINER_READ).missing("/dbs/d/colls/x/conflicts", KEYS_READ),
        query("/dbs/d/colls/c/conflicts", CONTAINER_READ)
            .with(&[QUERY, QUERY_TYPE, CROSS])
            .missing("/dbs/d/colls/x/conflicts", KEYS_READ),
        get("/dbs/d/colls/c/conflicts/k", CONTAINER_READ)
            .answers(404)
            .missing("/dbs/d/colls/x/conflicts/k", KEYS_READ),
        delete("/dbs/d/colls/c/conflicts/k", CONTAINER_READ)
            .answers(404)
            .missing("/dbs/d/colls/x/conflicts/k", KEYS_READ),
        post("/dbs/d/colls/c/operations/partitionkeydelete", "", OWN_KEY_WRITE).with(&[KEY_A]).answers(200),
        get("/dbs/d/clientencryptionkeys", KEYS_READ).missing("/dbs/x/clientencryptionkeys", KEYS_READ),
        query("/dbs/d/clientencryptionkeys", KEYS_READ).missing("/dbs/x/clientencryptionkeys", KEYS_READ),
        post("/dbs/d/clientencryptionkeys", ENCRYPTION_KEY, KEY_WRITES)
            .missing("/dbs/x/clientencryptionkeys", KEY_WRITES),
        get("/dbs/d/clientencryptionkeys/k", KEYS_READ).answers(404),
        put("/dbs/d/clientencryptionkeys/k", ENCRYPTION_KEY, KEY_WRITES).answers(404),
        get("/offers", KEYS_READ),
        query("/offers", KEYS_READ),
        get("/offers/{offer}", KEYS_READ).missing("/offers/zzzz", KEYS_READ),
        put("/offers/{offer}", "{offer_body}", KEY_WRITES).missing("/offers/zzzz", KEY_WRITES),
    ]
}

/// The operations on users and permissions.
fn user_rows() -> Vec<Row> {
    let upsert: Headers = &[UPSERT];
    vec![
        get("/dbs/d/users", KEYS_READ).missing("/dbs/x/users", KEYS_READ),
        post("/dbs/d/users", r#"{"id":"new"}"#, KEY_WRITES).missing("/dbs/x/users", KEY_WRITES),
        post("/dbs/d/users", r#"{"id":"new"}"#, KEY_WRITES).with(upsert).missing("/dbs/x/users", KEY_WRITES),
        post("/dbs/d/users", r#"{"id":"u"}"#, KEY_WRITES).with(upsert).answers(200),
        query("/dbs/d/users", KEYS_READ).missing("/dbs/x/users", KEYS_READ),
        get("/dbs/d/users/u", KEYS_READ).missing("/dbs/d/users/x", KEYS_READ),
        put("/dbs/d/users/u", r#"{"id":"v"}"#, KEY_WRITES).missing("/dbs/d/users/x", KEY_WRITES),
        delete("/dbs/d/users/u", KEY_WRITES).missing("/dbs/d/users/x", KEY_WRITES),
        get("/dbs/d/users/u/permissions", KEY_GRANTS).missing("/dbs/d/users/x/permissions", KEY_GRANTS),
        query("/dbs/d/users/u/permissions", KEY_GRANTS).missing("/dbs/d/users/x/permissions", KEY_GRANTS),
        post("/dbs/d/users/u/permissions", PERMISSION, KEY_GRANTS)
            .missing("/dbs/d/users/x/permissions", KEY_GRANTS),
        post("/dbs/d/users/u/permissions", PERMISSION, KEY_GRANTS)
            .with(upsert)
            .missing("/dbs/d/users/x/permissions", KEY_GRANTS),
        get("/dbs/d/users/u/permissions/p", KEY_GRANTS).missing("/dbs/d/users/u/permissions/x", KEY_GRANTS),
        put("/dbs/d/users/u/permissions/p", PERMISSION, KEY_GRANTS)
            .missing("/dbs/d/users/u/permissions/x", KEY_GRANTS),
        delete("/dbs/d/users/u/permissions/p", KEY_GRANTS)
            .missing("/dbs/d/users/u/permissions/x", KEY_GRANTS)
            .missing("/dbs/d/users/x/permissions/p", KEY_GRANTS),
    ]
}

/// The operations on scripts.
fn script_rows() -> Vec<Row> {
    let trigger = r#"{"id":"new","body":"function () {}","triggerType":"Pre","triggerOperation":"All"}"#;
    let kinds = [
        ("/dbs/d/colls/c/sprocs", "/dbs/d/colls/x/sprocs", SCRIPT),
        ("/dbs/d/colls/c/triggers", "/dbs/d/colls/x/triggers", trigger),
        ("/dbs/d/colls/c/udfs", "/dbs/d/colls/x/udfs", SCRIPT),
    ];
    let mut rows = Vec::new();
    for (feed, missing, body) in kinds {
        rows.extend([
            get(feed, WHOLE_READ).missing(missing, KEYS_READ),
            query(feed, WHOLE_READ).missing(missing, KEYS_READ),
            post(feed, body, WHOLE_WRITE).missing(missing, KEYS_READ),
            post(feed, body, WHOLE_WRITE).with(&[UPSERT]).missing(missing, KEYS_READ),
        ]);
    }
    let singles = [
        ("/dbs/d/colls/c/sprocs/s", "/dbs/d/colls/c/sprocs/x", "/dbs/d/colls/x/sprocs/s", SCRIPT),
        ("/dbs/d/colls/c/triggers/t", "/dbs/d/colls/c/triggers/x", "/dbs/d/colls/x/triggers/t", trigger),
        ("/dbs/d/colls/c/udfs/f", "/dbs/d/colls/c/udfs/x", "/dbs/d/colls/x/udfs/f", SCRIPT),
    ];
    for (script, other, elsewhere, body) in singles {
        rows.extend([
            get(script, WHOLE_READ).missing(other, WHOLE_READ).missing(elsewhere, KEYS_READ),
            put(script, body, WHOLE_WRITE).missing(other, WHOLE_WRITE).missing(elsewhere, KEYS_READ),
            delete(script, WHOLE_WRITE).missing(other, WHOLE_WRITE).missing(elsewhere, KEYS_READ),
        ]);
    }
    let run = |headers| row(Method::POST, "/dbs/d/colls/c/sprocs/s", headers, "[]", OWN_KEY_WRITE, 200);
    let mut of_other = run(&[KEY_B]).missing("/dbs/d/colls/c/sprocs/x", OTHER_KEY_WRITE);
    of_other.allowed = OTHER_KEY_WRITE;
    rows.extend([
        run(&[KEY_A])
            .missing("/dbs/d/colls/c/sprocs/x", OWN_KEY_WRITE)
            .missing("/dbs/d/colls/x/sprocs/s", KEYS_READ),
        of_other,
    ]);
    rows
}

/// The operations on items: `1` and `2` with the key `a`, `1` with the key `b`.
fn item_rows() -> Vec<Row> {
    const DOCS: &str = "/dbs/d/colls/c/docs";
    const ELSEWHERE: &str = "/dbs/d/colls/x/docs";
    const NEW_A: &str = r#"{"id":"new","pk":"a"}"#;
    const NEW_B: &str = r#"{"id":"new","pk":"b"}"#;
    const ITEM: &str = "/dbs/d/colls/c/docs/1";
    const OTHER: &str = "/dbs/d/colls/c/docs/2";
    const NOWHERE: &str = "/dbs/d/colls/c/docs/9";
    const OF_X: &str = "/dbs/d/colls/x/docs/1";
    const BY_RID: &str = "/dbs/{d}/colls/{c}/docs/{i}";
    const RID_OF_OTHER: &str = "/dbs/{d}/colls/{c}/docs/{j}";
    const RID_OF_NONE: &str = "/dbs/{d}/colls/{c}/docs/{n}";
    const PATCH: &str = r#"{"operations":[{"op":"set","path":"/n","value":1}]}"#;
    const PATCH_IF: &str =
        r#"{"condition":"FROM c WHERE udf.f(c)","operations":[{"op":"set","path":"/n","value":1}]}"#;
    let feed = |headers, allowed| get(DOCS, allowed).with(headers).missing(ELSEWHERE, KEYS_READ);
    let search = |headers, allowed| query(DOCS, allowed).with(headers).missing(ELSEWHERE, KEYS_READ);
    let create = |headers, body, allowed| {
        post(DOCS, body, allowed).with(headers).missing_answers(ELSEWHERE, KEYS_READ, 404)
    };
    let mut rows = vec![
        feed(NONE, OWN_KEY_READ),
        feed(&[KEY_A], OWN_KEY_READ),
        feed(&[KEY_B], OTHER_KEY_READ),
        feed(&[CHANGES, KEY_A], OWN_KEY_READ),
        feed(&[CHANGES, KEY_B], OTHER_KEY_READ),
        search(&[QUERY, QUERY_TYPE, CROSS], OWN_KEY_READ),
        search(&[QUERY, QUERY_TYPE, KEY_A], OWN_KEY_READ),
        search(&[QUERY, QUERY_TYPE, KEY_B], OTHER_KEY_READ),
        search(&[QUERY, QUERY_TYPE, PLAN], CONTAINER_READ),
        create(&[KEY_A], NEW_A, OWN_KEY_WRITE),
        create(&[KEY_B], NEW_B, OTHER_KEY_WRITE),
        create(&[KEY_A, UPSERT], NEW_A, OWN_KEY_WRITE),
        create(&[KEY_A, TRIGGER], NEW_A, OWN_KEY_WRITE),
        create(&[KEY_B, UPSERT], NEW_B, OTHER_KEY_WRITE),
    ];
    for (operation, of_a, of_b) in [
        (r#"[{"operationType":"Read","id":"1","partitionKey":"[\"{k}\"]"}]"#, OWN_ITEM_READ, OTHER_KEY_READ),
        (r#"[{"operationType":"Read","id":"2","partitionKey":"[\"{k}\"]"}]"#, OWN_KEY_READ, OTHER_KEY_READ),
        (r#"[{"operationType":"Read","id":"9","partitionKey":"[\"{k}\"]"}]"#, OWN_KEY_READ, OTHER_KEY_READ),
        (
            r#"[{"operationType":"Replace","id":"1","resourceBody":{"id":"1","pk":"{k}"},"partitionKey":"[\"{k}\"]"}]"#,
            OWN_ITEM_WRITE,
            OTHER_KEY_WRITE,
        ),
        (
            r#"[{"operationType":"Create","resourceBody":{"id":"new","pk":"{k}"},"partitionKey":"[\"{k}\"]"}]"#,
            OWN_KEY_WRITE,
            OTHER_KEY_WRITE,
        ),
        (
            r#"[{"operationType":"Upsert","resourceBody":{"id":"1","pk":"{k}"},"partitionKey":"[\"{k}\"]"}]"#,
            OWN_KEY_WRITE,
            OTHER_KEY_WRITE,
        ),
        (
            r#"[{"operationType":"Delete","id":"1","partitionKey":"[\"{k}\"]"}]"#,
            OWN_ITEM_WRITE,
            OTHER_KEY_WRITE,
        ),
        (
            r#"[{"operationType":"Patch","id":"1","resourceBody":{"operations":[{"op":"set","path":"/n","value":1}]},"partitionKey":"[\"{k}\"]"}]"#,
            OWN_ITEM_WRITE,
            OTHER_KEY_WRITE,
        ),
    ] {
        let leak = |text: String| -> &'static str { text.leak() };
        for (key, allowed, header) in [("a", of_a, KEY_A), ("b", of_b, KEY_B)] {
            let body = leak(operation.replace("{k}", key));
            let atomic: Headers = Vec::leak(vec![BATCH, ATOMIC, header]);
            for headers in [atomic, &[BATCH, EACH]] {
                // What becomes of an operation that is allowed is of no interest here.
                rows.push(row(Method::POST, DOCS, headers, body, allowed, 0));
            }
        }
    }
    for (method, body, status, own, of_key, of_other) in [
        (Method::GET, "", 200, OWN_ITEM_READ, OWN_KEY_READ, OTHER_KEY_READ),
        (Method::PUT, r#"{"id":"{id}","pk":"{k}"}"#, 200, OWN_ITEM_WRITE, OWN_KEY_WRITE, OTHER_KEY_WRITE),
        (Method::PATCH, PATCH, 200, OWN_ITEM_WRITE, OWN_KEY_WRITE, OTHER_KEY_WRITE),
        (Method::DELETE, "", 204, OWN_ITEM_WRITE, OWN_KEY_WRITE, OTHER_KEY_WRITE),
    ] {
        let text =
            |id: &str, key: &str| -> &'static str { body.replace("{id}", id).replace("{k}", key).leak() };
        let one = |path, headers, body, allowed| row(method.clone(), path, headers, body, allowed, status);
        rows.push(one(ITEM, &[KEY_A], text("1", "a"), own).missing(OF_X, KEYS_READ));
        rows.push(one(OTHER, &[KEY_A], text("{last}", "a"), of_key).missing(NOWHERE, of_key));
        rows.push(one(ITEM, &[KEY_B], text("{last}", "b"), of_other).missing(NOWHERE, of_other));
        rows.push(one(BY_RID, &[KEY_A], text("1", "a"), own).missing(RID_OF_NONE, WHOLE_READ));
        rows.push(one(RID_OF_OTHER, &[KEY_A], text("2", "a"), of_key).missing(RID_OF_NONE, WHOLE_READ));
    }
    rows.extend([
        row(Method::PATCH, OTHER, &[KEY_A], PATCH_IF, OWN_KEY_WRITE, 0),
        put(ITEM, r#"{"id":"1","pk":"a"}"#, OWN_KEY_WRITE).with(&[KEY_A, TRIGGER]),
        delete(ITEM, OWN_KEY_WRITE).with(&[KEY_A, TRIGGER]),
        get("/dbs/d/colls/c/docs/1/attachments", IN_CONTAINER).answers(400).missing_answers(
            "/dbs/d/colls/c/docs/9/attachments",
            IN_CONTAINER,
            400,
        ),
    ]);
    rows
}

fn rows() -> Vec<Row> {
    [account_rows(), user_rows(), script_rows(), item_rows()].into_iter().flatten().collect()
}

/// An account with something of every kind, and a caller of every kind.
struct Scene {
    client: Client,
    tokens: Vec<String>,
    names: Vec<(&'static str, String)>,
}

impl Scene {
    async fn new() -> Scene {
        let client = Client::with_container().await;
        let definition = r#"{"id":"other","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
        client.post("/dbs/d/colls", definition).await.expect(201);
        let mut rids = Vec::new();
        for (id, key) in [("1", "a"), ("2", "a"), ("1", "b")] {
            let header = if key == "a" { KEY_A } else { KEY_B };
            let body = format!(r#"{{"id":"{id}","pk":"{key}"}}"#);
            let made = client.send(Method::POST, "/dbs/d/colls/c/docs", &[header], &body).await.expect(201);
            rids.push(made.member("_rid"));
        }
        client.post("/dbs/d/colls/c/sprocs", r#"{"id":"s","body":"function () {}"}"#).await.expect(201);
        client.post("/dbs/d/colls/c/udfs", r#"{"id":"f","body":"function () {}"}"#).await.expect(201);
        let trigger = r#"{"id":"t","body":"function () {}","triggerType":"Pre","triggerOperation":"All"}"#;
        client.post("/dbs/d/colls/c/triggers", trigger).await.expect(201);
        client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
        let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/other"}"#;
        client.post("/dbs/d/users/u/permissions", body).await.expect(201);
        let mut tokens = Vec::new();
        for (mode, link, more) in [
            ("All", "c", ""),
            ("Read", "c", ""),
            ("All", "c", r#","resourcePartitionKey":["a"]"#),
            ("Read", "c", r#","resourcePartitionKey":["a"]"#),
            ("All", "c/docs/1", r#","resourcePartitionKey":["a"]"#),
            ("Read", "c/docs/1", r#","resourcePartitionKey":["a"]"#),
            ("All", "other", ""),
        ] {
            let user = format!("holder{}", tokens.len());
            client.post("/dbs/d/users", &format!(r#"{{"id":"{user}"}}"#)).await.expect(201);
            let body =
                format!(r#"{{"id":"p","permissionMode":"{mode}","resource":"dbs/d/colls/{link}"{more}}}"#);
            let made = client.post(&format!("/dbs/d/users/{user}/permissions"), &body).await.expect(201);
            tokens.push(made.member("_token"));
        }
        let (database, container) =
            (client.get("/dbs/d").await.member("_rid"), client.get("/dbs/d/colls/c").await.member("_rid"));
        let offers = client.get("/offers").await.json();
        let offers = offers.get("Offers").unwrap().as_array().unwrap();
        let offer =
            offers.iter().find(|offer| offer.get("offerResourceId").unwrap().as_str() == Some(&container));
        let offer = offer.unwrap().clone();
        // The rid of an item that was deleted names nothing any more.
        let made =
            client.send(Method::POST, "/dbs/d/colls/c/docs", &[KEY_A], r#"{"id":"gone","pk":"a"}"#).await;
        client.send(Method::DELETE, "/dbs/d/colls/c/docs/gone", &[KEY_A], "").await.expect(204);
        let names = vec![
            ("{d}", database),
            ("{x}", client.get("/dbs/d/colls/other").await.member("_rid").replace(['A', 'B'], "C")),
            ("{c}", container),
            ("{i}", rids[0].clone()),
            ("{j}", rids[1].clone()),
            ("{n}", made.member("_rid")),
            ("{offer}", offer.get("_rid").unwrap().as_str().unwrap().to_owned()),
            ("{offer_body}", armilla_value::json::to_string(&offer)),
        ];
        Scene { client, tokens, names }
    }

    fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, value) in &self.names {
            filled = filled.replace(name, value);
        }
        filled
    }

    async fn ask(&self, caller: usize, row: &Row, path: &str) -> Answer {
        let (path, body) = (self.fill(path), self.fill(row.body));
        let body = body.replace("{last}", path.rsplit('/').next().unwrap());
        let authorization = match caller {
            0 => self.client.sign(super::client::KEY, &row.method, &path),
            1 => self.client.sign(READ_ONLY_KEY, &row.method, &path),
            token => self.tokens[token - 2].replace('=', "%3D").replace('&', "%26").replace(';', "%3B"),
        };
        self.client.send_as(&authorization, row.method.clone(), &path, row.headers, body).await
    }
}

/// Says whether an answer refuses, or all that it answers with does.
fn is_refusal(answer: &Answer) -> bool {
    answer.status == 403 || (answer.status == 207 && answer.text.contains("\"statusCode\":403"))
}

/// What a caller learns from a refusal.
fn lesson(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let activity = answer.header("x-ms-activity-id").unwrap().to_owned();
    let headers = answer.headers.iter().filter(|(name, _)| *name != "x-ms-activity-id");
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (answer.status, headers.collect(), answer.text.replace(&activity, ""))
}

/// The container that tokens are for, by name and by resource id.
const OWN: [&str; 2] = ["/colls/c", "/colls/{c}"];

/// Says whether something is outside of a caller's scope. What is in it may be told, also to callers who only read.
fn is_outside(caller: usize, row: &Row, path: &str) -> bool {
    let reads_as_well = CALLERS[caller].contains("read") && row.method != Method::GET;
    let is_own = OWN.iter().any(|own| path.contains(own));
    caller >= 2 && !(reads_as_well && is_own)
}

#[tokio::test]
async fn every_operation_by_every_caller() {
    let mut wrong = Vec::new();
    let mut scene = Scene::new().await;
    for row in rows() {
        for (caller, name) in CALLERS.iter().enumerate() {
            let mut lessons = Vec::new();
            let existing = (row.path, row.allowed, row.status);
            for (path, allowed, status) in std::iter::once(&existing).chain(&row.missing) {
                let what = format!("{} {path} {:?} {} by {name}", row.method, row.headers, row.body);
                let answer = scene.ask(caller, &row, path).await;
                let is_allowed = allowed.as_bytes()[caller] == b'+';
                if is_allowed == is_refusal(&answer) {
                    wrong.push(format!("{what}: {} {}", answer.status, answer.text));
                } else if is_allowed && *status != 0 && answer.status != *status {
                    wrong.push(format!("{what}: {}, expected {status}: {}", answer.status, answer.text));
                } else if !is_allowed && is_outside(caller, &row, path) {
                    lessons.push((what, path.contains(OWN[0]) || path.contains(OWN[1]), lesson(&answer)));
                }
                if answer.status < 400 && row.method != Method::GET {
                    scene = Scene::new().await;
                }
            }
            // A caller with a token for something in a container knows of the container.
            for (one, is_own, learnt) in &lessons {
                let others = lessons.iter().filter(|(_, is_own_too, _)| caller == 8 || is_own == is_own_too);
                for (other, _, too) in others {
                    if learnt != too {
                        wrong.push(format!("{one} and {other} differ:\n  {learnt:?}\n  {too:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Names the kinds of addresses; one that is added must be added here, and then to the rows.
fn kind(address: &Address<'_>) -> &'static str {
    match address {
        Address::Account => "account",
        Address::Databases => "databases",
        Address::Database { .. } => "database",
        Address::Containers { .. } => "containers",
        Address::Container { .. } => "container",
        Address::PartitionKeyRanges { .. } => "ranges",
        Address::Items { .. } => "items",
        Address::Item { .. } => "item",
        Address::Attachments { .. } => "attachments",
        Address::Scripts { .. } => "scripts",
        Address::Script { .. } => "script",
        Address::Conflicts { .. } => "conflicts",
        Address::Conflict { .. } => "conflict",
        Address::PartitionKeyDelete { .. } => "deletion of a partition key",
        Address::Users { .. } => "users",
        Address::User { .. } => "user",
        Address::Permissions { .. } => "permissions",
        Address::Permission { .. } => "permission",
        Address::ClientEncryptionKeys { .. } => "encryption keys",
        Address::ClientEncryptionKey { .. } => "encryption key",
        Address::Offers => "offers",
        Address::Offer { .. } => "offer",
    }
}

#[test]
fn no_kind_of_address_is_forgotten() {
    const KINDS: usize = 22;
    let rows = rows();
    let found: BTreeSet<&str> = rows.iter().map(|row| kind(&path::parse(row.path).unwrap())).collect();
    assert_eq!(found.len(), KINDS, "{found:?}");
    assert!(rows.iter().all(|row| row.allowed.len() == CALLERS.len()));
}
