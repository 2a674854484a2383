//! Items one by one: what goes in, what comes back, and with which headers.

use http::Method;

use super::client::{Answer, Client};

const DOCS: &str = "/dbs/d/colls/c/docs";
const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", r#"["p"]"#);

fn item(id: &str, more: &str) -> String {
    format!(r#"{{"id":"{id}","pk":"p"{more}}}"#)
}

async fn create(client: &Client, id: &str, more: &str) -> Answer {
    client.send(Method::POST, DOCS, &[KEY], item(id, more)).await
}

#[tokio::test]
async fn items_live_through_every_verb() {
    let client = Client::with_container().await;
    let container = client.get("/dbs/d/colls/c").await;
    let created = create(&client, "1", r#","n":1.50"#).await.expect(201);
    assert!(created.text.starts_with(r#"{"id":"1","pk":"p","n":1.50,"_rid":""#), "{}", created.text);
    assert_eq!(created.member("_attachments"), "attachments/");
    assert_eq!(
        created.member("_self"),
        format!("{}docs/{}/", container.member("_self"), created.member("_rid"))
    );
    assert_eq!(created.header("etag"), Some(created.member("_etag").as_str()));

    let path = format!("{DOCS}/1");
    let read = client.send(Method::GET, &path, &[KEY], "").await.expect(200);
    assert_eq!(read.text, created.text);
    let replaced = client.send(Method::PUT, &path, &[KEY], item("1", r#","m":2"#)).await.expect(200);
    assert_eq!(replaced.member("_rid"), created.member("_rid"));
    assert_ne!(replaced.member("_etag"), created.member("_etag"));
    let patch = r#"{"operations":[{"op":"incr","path":"/m","value":3}]}"#;
    let patched = client.send(Method::PATCH, &path, &[KEY], patch).await.expect(200);
    assert_eq!(patched.number("m"), 5);
    let deleted = client.send(Method::DELETE, &path, &[KEY], "").await.expect(204);
    assert!(deleted.header("x-ms-session-token").is_some());
    client.send(Method::GET, &path, &[KEY], "").await.expect_code(404, 0);
}

#[tokio::test]
async fn every_answer_names_the_container_and_the_partition() {
    let client = Client::with_container().await;
    let rid = client.get("/dbs/d/colls/c").await.member("_rid");
    create(&client, "1", "").await.expect(201);
    let path = format!("{DOCS}/1");
    let stale = ("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    let other_key = ("x-ms-documentdb-partitionkey", r#"["q"]"#);
    let answers = [
        client.send(Method::GET, &path, &[KEY], "").await.expect(200),
        client.send(Method::GET, &format!("{DOCS}/no"), &[KEY], "").await.expect_code(404, 0),
        create(&client, "1", "").await.expect_code(409, 0),
        client.send(Method::PUT, &path, &[KEY, stale], item("1", "")).await.expect_code(412, 0),
        client.send(Method::DELETE, &format!("{DOCS}/no"), &[KEY], "").await.expect_code(404, 0),
    ];
    for answer in answers {
        assert_eq!(answer.header("x-ms-alt-content-path"), Some("dbs/d/colls/c"));
        assert_eq!(answer.header("x-ms-content-path"), Some(rid.as_str()));
        assert_eq!(answer.header("x-ms-documentdb-partitionkeyrangeid"), Some("0"));
        assert_eq!(answer.header("x-ms-session-token"), Some("0:-1#1"), "{answer:?}");
        assert_eq!(answer.header("lsn"), Some("1"));
        assert_ne!(answer.header("x-ms-request-charge"), Some("0.00"), "{answer:?}");
    }
    // Refused before it is routed, but the container is known.
    let mismatch = client.send(Method::POST, DOCS, &[other_key], item("2", "")).await.expect_code(400, 1001);
    assert!(mismatch.member("message").contains("Partition key provided either doesn't correspond"));
    assert_eq!(mismatch.header("x-ms-content-path"), Some(rid.as_str()));
}

#[tokio::test]
async fn upserts_create_then_replace() {
    let client = Client::with_container().await;
    let upsert = [KEY, ("x-ms-documentdb-is-upsert", "True")];
    client.send(Method::POST, DOCS, &upsert, item("1", "")).await.expect(201);
    let second = client.send(Method::POST, DOCS, &upsert, item("1", r#","n":2"#)).await.expect(200);
    assert_eq!(second.number("n"), 2);
    assert_eq!(second.header("lsn"), Some("2"));
    assert_eq!(second.header("x-ms-item-lsn"), Some("2"));
}

#[tokio::test]
async fn minimal_answers_have_headers_only() {
    let client = Client::with_container().await;
    let minimal = ("prefer", "return=minimal");
    let path = format!("{DOCS}/1");
    let created = client.send(Method::POST, DOCS, &[KEY, minimal], item("1", "")).await.expect(201);
    let etag = created.header("etag").unwrap().to_owned();
    let read = client.send(Method::GET, &path, &[KEY, minimal], "").await.expect(200);
    assert_eq!(read.member("_etag"), etag, "reads answer in full");
    let no_content = ("x-ms-cosmos-populate-content-response-on-write", "False");
    let patch = r#"[{"op":"set","path":"/n","value":1}]"#;
    for answer in [
        client.send(Method::PUT, &path, &[KEY, no_content], item("1", "")).await.expect(200),
        client.send(Method::PATCH, &path, &[KEY, minimal], patch).await.expect(200),
        created,
    ] {
        assert_eq!(answer.text, "");
        assert!(answer.header("etag").is_some() && answer.header("x-ms-session-token").is_some());
    }
}

#[tokio::test]
async fn binary_items_are_taken() {
    let client = Client::with_container().await;
    // {"id":"1","pk":"p","n":[2,3]}
    let body = [
        0x80, 0xED, 0x10, 0x03, 0x2C, 0x81, b'1', 0x82, b'p', b'k', 0x81, b'p', 0x81, b'n', 0xE5, 0x02, 0x02,
        0x02, 0x03,
    ];
    let mut body = body.to_vec();
    body[2] = u8::try_from(body.len() - 4).unwrap();
    let created = client.send(Method::POST, DOCS, &[KEY], &body).await.expect(201);
    assert!(created.text.starts_with(r#"{"id":"1","pk":"p","n":[2,3],"_rid""#), "{}", created.text);
    client.send(Method::PUT, &format!("{DOCS}/1"), &[KEY], &body).await.expect(200);
    let upsert = ("x-ms-documentdb-is-upsert", "true");
    client.send(Method::POST, DOCS, &[KEY, upsert], &body).await.expect(200);
    for malformed in [&b"\x80"[..], &b"\x80\xFF"[..], &body[..body.len() - 1]] {
        let answer = client.send(Method::POST, DOCS, &[KEY], malformed).await.expect(400);
        assert!(answer.member("message").contains("binary JSON"), "{}", answer.text);
    }
    // Text in which one string stands many times over, in few bytes: too large all the same.
    let mut inside = vec![0xC1, 0x00, 0x80];
    inside.extend(std::iter::repeat_n(b'x', 0x8000));
    inside.extend([0xC3, 6].repeat(100));
    let mut large = vec![0x80, 0xE4];
    large.extend(u32::try_from(inside.len()).unwrap().to_le_bytes());
    large.extend(inside);
    let answer = client.send(Method::POST, DOCS, &[KEY], &large).await.expect(413);
    assert_eq!(answer.member("code"), "RequestEntityTooLarge");
}

#[tokio::test]
async fn item_size_is_bounded() {
    let client = Client::with_container().await;
    let of_size = |bytes: usize| {
        let empty = item("1", r#","t":"""#).len();
        item("1", &format!(r#","t":"{}""#, "x".repeat(bytes - empty)))
    };
    let max = crate::limits::ITEM_TEXT_BYTES_MAX;
    client.send(Method::POST, DOCS, &[KEY], of_size(max)).await.expect(201);
    client.send(Method::PUT, &format!("{DOCS}/1"), &[KEY], of_size(max + 1)).await.expect(413);
    for bytes in [crate::limits::REQUEST_BODY_BYTES_MAX + 1, 3 * 1024 * 1024] {
        let answer = client.send(Method::POST, DOCS, &[KEY], of_size(bytes)).await.expect(413);
        assert_eq!(answer.member("code"), "RequestEntityTooLarge");
        let message = answer.member("message");
        assert!(
            message.starts_with("Message: {\"Errors\":[\"Request size is too large\"]}\r\n"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn what_is_no_item_is_refused() {
    let client = Client::with_container().await;
    for body in ["", "[]", "5", "\"x\"", r#"{"pk":"p"}"#, r#"{"id":5,"pk":"p"}"#, r#"{"id":"1","pk":"p""#] {
        assert_eq!(
            client.send(Method::POST, DOCS, &[KEY], body).await.expect(400).member("code"),
            "BadRequest"
        );
    }
    let missing = client.send(Method::POST, DOCS, &[KEY], r#"{"pk":"p"}"#).await;
    assert!(missing.member("message").contains("the required properties - 'id; ' - are missing"));
}

#[tokio::test]
async fn partition_keys_are_required_and_checked() {
    let client = Client::with_container().await;
    create(&client, "1", "").await.expect(201);
    let path = format!("{DOCS}/1");
    for key in ["", "p", "\"p\"", "[\"p\"", "{}", "[[1]]", "[{\"a\":1}]"] {
        let header = [("x-ms-documentdb-partitionkey", key)];
        let answer = client.send(Method::GET, &path, &header, "").await.expect(400);
        assert!(answer.member("message").contains("x-ms-documentdb-partitionkey"), "{}", answer.text);
        client.send(Method::POST, DOCS, &header, item("2", "")).await.expect(400);
    }
    for key in ["[]", r#"["p","q"]"#] {
        let header = [("x-ms-documentdb-partitionkey", key)];
        client.send(Method::GET, &path, &header, "").await.expect(400);
    }
    let answer = client.get(&path).await.expect_code(400, 0);
    assert!(answer.member("message").contains("PartitionKey value must be supplied for this operation"));
    for (key, stored) in [("[null]", "null"), ("[1.0]", "1"), ("[true]", "true"), (r#"["\u00e9"]"#, "\"é\"")]
    {
        let header = [("x-ms-documentdb-partitionkey", key)];
        let body = format!(r#"{{"id":"1","pk":{stored}}}"#);
        client.send(Method::POST, DOCS, &header, body).await.expect(201);
        client.send(Method::GET, &path, &header, "").await.expect(200);
    }
    let undefined = [("x-ms-documentdb-partitionkey", "[{}]")];
    client.send(Method::POST, DOCS, &undefined, r#"{"id":"1"}"#).await.expect(201);
}

#[tokio::test]
async fn items_answer_to_their_resource_id() {
    let client = Client::with_container().await;
    let created = create(&client, "1", "").await.expect(201);
    let link = format!("/{}", created.member("_self"));
    // An id needs no partition key: it names one item of the container.
    assert_eq!(client.get(&link).await.expect(200).text, created.text);
    let read = client.send(Method::GET, &link, &[KEY], "").await.expect(200);
    assert_eq!(
        read.header("x-ms-alt-content-path"),
        Some("dbs/d/colls/c"),
        "names, however it was addressed"
    );
    client.send(Method::PUT, &link, &[KEY], item("1", r#","n":1"#)).await.expect(200);
    let feed = link.trim_end_matches('/').rsplit_once('/').unwrap().0;
    assert_eq!(client.get(feed).await.expect(200).ids("Documents"), ["1"]);
    // A name under a resource id is not an item.
    let answer = client.send(Method::GET, &format!("{feed}/1"), &[KEY], "").await.expect(400);
    assert!(answer.member("message").contains("Failed to parse the value '1' as ResourceId"));
    client.send(Method::DELETE, &link, &[KEY], "").await.expect(204);
    client.get(&link).await.expect_code(404, 0);
}

#[tokio::test]
async fn items_of_another_container_are_not_found() {
    let client = Client::with_container().await;
    let created = create(&client, "1", "").await.expect(201);
    let other = r#"{"id":"other","partitionKey":{"paths":["/pk"]}}"#;
    let other = client.post("/dbs/d/colls", other).await.expect(201);
    let path = format!("/{}docs/{}", other.member("_self"), created.member("_rid"));
    client.get(&path).await.expect_code(404, 0);
}

#[tokio::test]
async fn ids_may_be_odd() {
    let client = Client::with_container().await;
    for (id, encoded) in [
        ("a b", "a%20b"),
        ("100%", "100%25"),
        ("%20", "%2520"),
        ("a+b", "a+b"),
        ("é", "%C3%A9"),
        ("😀", "%F0%9F%98%80"),
        ("docs", "docs"),
    ] {
        create(&client, id, "").await.expect(201);
        let path = format!("{DOCS}/{encoded}/");
        assert_eq!(client.send(Method::GET, &path, &[KEY], "").await.expect(200).member("id"), id);
        client.send(Method::DELETE, &path, &[KEY], "").await.expect(204);
    }
}

#[tokio::test]
async fn recreated_containers_are_noticed() {
    let client = Client::with_container().await;
    let rid = client.get("/dbs/d/colls/c").await.member("_rid");
    let intended = ("x-ms-cosmos-intended-collection-rid", rid.as_str());
    client.send(Method::POST, DOCS, &[KEY, intended], item("1", "")).await.expect(201);
    client.delete("/dbs/d/colls/c").await.expect(204);
    client.post("/dbs/d/colls", r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await.expect(201);
    client.send(Method::POST, DOCS, &[KEY, intended], item("1", "")).await.expect_code(400, 1024);
    client.send(Method::GET, &format!("{DOCS}/1"), &[KEY, intended], "").await.expect_code(400, 1024);
    client.send(Method::GET, "/dbs/d/colls/c/pkranges", &[intended], "").await.expect_code(400, 1024);
}

#[tokio::test]
async fn headers_are_checked() {
    let client = Client::with_container().await;
    create(&client, "1", "").await.expect(201);
    let path = format!("{DOCS}/1");
    for (name, value) in [
        ("x-ms-consistency-level", "Strong"),
        ("x-ms-consistency-level", "BoundedStaleness"),
        ("x-ms-consistency-level", "Sloppy"),
        ("x-ms-session-token", "nonsense"),
        ("x-ms-session-token", "0:-1#x"),
        ("x-ms-session-token", "0:-1#1,,"),
        ("x-ms-session-token", ",0:-1#1"),
        ("x-ms-cosmos-priority-level", "Medium"),
    ] {
        client.send(Method::GET, &path, &[KEY, (name, value)], "").await.expect_code(400, 0);
    }
    for (name, value) in [
        ("x-ms-consistency-level", "Session"),
        ("x-ms-consistency-level", "eventual"),
        ("x-ms-session-token", "0:-1#1"),
        ("x-ms-session-token", "77:-1#1000"),
        ("x-ms-cosmos-priority-level", "Low"),
        ("x-ms-unheard-of", "value"),
    ] {
        client.send(Method::GET, &path, &[KEY, (name, value)], "").await.expect(200);
    }
    let future = ("x-ms-session-token", "0:-1#1000");
    client.send(Method::GET, &path, &[KEY, future], "").await.expect_code(404, 1002);
    let strong = [("x-ms-consistency-level", "Strong")];
    client.send(Method::GET, "/", &strong, "").await.expect(200);
    let flag = ("x-ms-documentdb-is-upsert", "perhaps");
    client.send(Method::POST, DOCS, &[KEY, flag], item("2", "")).await.expect(400);
    let directive = ("x-ms-indexing-directive", "Sometimes");
    client.send(Method::POST, DOCS, &[KEY, directive], item("2", "")).await.expect(400);
}

#[tokio::test]
async fn unique_keys_conflict() {
    let client = Client::with_container().await;
    let definition =
        r#"{"id":"u","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/e"]}]}}"#;
    client.post("/dbs/d/colls", definition).await.expect(201);
    let docs = "/dbs/d/colls/u/docs";
    client.send(Method::POST, docs, &[KEY], item("1", r#","e":1"#)).await.expect(201);
    let answer = client.send(Method::POST, docs, &[KEY], item("2", r#","e":1"#)).await.expect_code(409, 0);
    assert!(answer.member("message").contains("Unique index constraint violation"), "{}", answer.text);
}

#[tokio::test]
async fn types_that_json_lacks_are_written_back() {
    let client = Client::with_container().await;
    let definition = r#"{"id":"t","partitionKey":{"paths":["/pk"]},"extendedTypes":true}"#;
    let created = client.post("/dbs/d/colls", definition).await.expect(201);
    assert!(created.text.contains(r#""extendedTypes":true"#), "{}", created.text);
    assert!(!client.get("/dbs/d/colls/c").await.text.contains("extendedTypes"));
    let docs = "/dbs/d/colls/t/docs";
    let typed = r#","d":{"$date":{"$numberLong":"5"}},"n":2.0,"x":{"$oid":"not one"}"#;
    client.send(Method::POST, docs, &[KEY], item("1", typed)).await.expect(201);
    let read = client.send(Method::GET, &format!("{docs}/1"), &[KEY], "").await.expect(200);
    assert!(read.text.contains(&typed[1..]), "{}", read.text);
    // A client that writes 2 for 2.0 has not changed it.
    let back = read.text.replace("2.0", "2");
    let replaced = client.send(Method::PUT, &format!("{docs}/1"), &[KEY], back).await.expect(200);
    assert!(replaced.text.contains(&typed[1..]), "{}", replaced.text);
}
