//! Containers, their partition maps and their conflicts.

use http::Method;

use super::client::Client;

const DEFINITION: &str = r#"{"id":"c2","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;

#[tokio::test]
async fn containers_live_through_every_verb() {
    let client = Client::with_container().await;
    let database = client.get("/dbs/d").await;
    let created = client.post("/dbs/d/colls", DEFINITION).await.expect(201);
    let rid = created.member("_rid");
    assert_eq!(rid.len(), 12);
    assert_eq!(created.member("_self"), format!("{}colls/{rid}/", database.member("_self")));
    for (link, target) in [
        ("_docs", "docs/"),
        ("_sprocs", "sprocs/"),
        ("_triggers", "triggers/"),
        ("_udfs", "udfs/"),
        ("_conflicts", "conflicts/"),
    ] {
        assert_eq!(created.member(link), target);
    }
    assert_eq!(created.header("x-ms-alt-content-path"), Some("dbs/d"));
    assert_eq!(created.header("x-ms-content-path"), Some(database.member("_rid").as_str()));
    assert_eq!(created.header("x-ms-session-token"), None);

    let read = client.get("/dbs/d/colls/c2").await.expect(200);
    assert_eq!(read.text, created.text);
    assert_eq!(read.header("x-ms-documentdb-collection-index-transformation-progress"), Some("100"));
    assert_eq!(read.header("x-ms-resource-quota"), None);
    let quota = [("x-ms-documentdb-populatequotainfo", "True")];
    let read = client.send(Method::GET, "/dbs/d/colls/c2", &quota, "").await.expect(200);
    assert!(read.header("x-ms-resource-quota").unwrap().contains("documentsSize="));

    client.post("/dbs/d/colls", DEFINITION).await.expect_code(409, 0);
    let list = client.get("/dbs/d/colls").await.expect(200);
    assert_eq!(list.ids("DocumentCollections"), ["c", "c2"]);
    assert_eq!(list.member("_rid"), database.member("_rid"));

    let changed = created.text.replacen('{', r#"{"defaultTtl":60,"#, 1);
    let replaced = client.put("/dbs/d/colls/c2", &changed).await.expect(200);
    assert_eq!(replaced.number("defaultTtl"), 60);
    assert_eq!(replaced.member("_rid"), rid);
    assert_ne!(replaced.member("_etag"), created.member("_etag"));
    let stale = [("if-match", created.header("etag").unwrap())];
    client.send(Method::PUT, "/dbs/d/colls/c2", &stale, changed).await.expect_code(412, 0);

    client.delete("/dbs/d/colls/c2").await.expect(204);
    client.get("/dbs/d/colls/c2").await.expect_code(404, 0);
    client.delete("/dbs/d/colls/c2").await.expect_code(404, 0);
}

#[tokio::test]
async fn changed_policies_are_carried_out() {
    let client = Client::with_container().await;
    let key = ("x-ms-documentdb-partitionkey", "[1]");
    for n in 0..20 {
        let body = format!(r#"{{"id":"{n}","pk":1,"a":{{"b":{n}}}}}"#);
        client.send(Method::POST, "/dbs/d/colls/c/docs", &[key], body).await.expect(201);
    }
    let ordered = async |client: &Client| {
        let headers = [key, ("x-ms-documentdb-isquery", "true")];
        let body = r#"{"query":"SELECT VALUE c.id FROM c ORDER BY c.a.b DESC"}"#;
        client.send(Method::POST, "/dbs/d/colls/c/docs", &headers, body).await
    };
    ordered(&client).await.expect(200);
    let policy = |excluded: &str| {
        format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}},"indexingPolicy":{{"indexingMode":"consistent","includedPaths":[{{"path":"/*"}}],"excludedPaths":[{excluded}]}}}}"#
        )
    };
    let progress = "x-ms-documentdb-collection-index-transformation-progress";
    for (excluded, is_served) in [(r#"{"path":"/a/*"}"#, false), ("", true)] {
        let replaced = client.put("/dbs/d/colls/c", &policy(excluded)).await.expect(200);
        assert!(replaced.header(progress).unwrap().parse::<u8>().unwrap() <= 100);
        let quota = [("x-ms-documentdb-populatequotainfo", "True")];
        let mut reads = 0;
        loop {
            let read = client.send(Method::GET, "/dbs/d/colls/c", &quota, "").await.expect(200);
            if read.header(progress) == Some("100") {
                break;
            }
            reads += 1;
            assert!(reads < 10_000, "the index is never complete: {read:?}");
            tokio::task::yield_now().await;
        }
        let answer = ordered(&client).await;
        assert_eq!(answer.status, if is_served { 200 } else { 400 }, "{excluded}: {answer:?}");
    }
}

#[tokio::test]
async fn missing_owners_have_their_own_sub_status() {
    let client = Client::with_container().await;
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    client.get("/dbs/no/colls").await.expect_code(404, 1003);
    client.get("/dbs/no/colls/c").await.expect_code(404, 1003);
    client.post("/dbs/no/colls", DEFINITION).await.expect_code(404, 1003);
    client.get("/dbs/d/colls/no/pkranges").await.expect_code(404, 1003);
    client.get("/dbs/no/users").await.expect_code(404, 1003);
    client.get("/dbs/d/users/no/permissions").await.expect_code(404, 1003);
    client.send(Method::GET, "/dbs/d/colls/no/docs/1", &key, "").await.expect_code(404, 1003);
    let body = r#"{"id":"1","pk":1}"#;
    client.send(Method::POST, "/dbs/d/colls/no/docs", &key, body).await.expect_code(404, 1003);
    client.get("/dbs/d/colls/no").await.expect_code(404, 0);
}

#[tokio::test]
async fn what_is_no_container_is_refused() {
    let client = Client::with_container().await;
    for body in
        ["", "[]", "{}", r#"{"id":"x","partitionKey":{"paths":[]}}"#, r#"{"partitionKey":{"paths":["/a"]}}"#]
    {
        client.post("/dbs/d/colls", body).await.expect_code(400, 0);
    }
    let other_key = DEFINITION.replace("c2", "c").replace("/pk", "/other");
    client.put("/dbs/d/colls/c", &other_key).await.expect_code(400, 0);
}

#[tokio::test]
async fn partition_maps_end_in_not_modified() {
    let client = Client::with_container().await;
    let headers = [("x-ms-offer-throughput", "20000")];
    let container = client.send(Method::POST, "/dbs/d/colls", &headers, DEFINITION).await.expect(201);
    let path = "/dbs/d/colls/c2/pkranges/";
    let incremental = ("a-im", "Incremental Feed");
    let first =
        client.send(Method::GET, path, &[incremental, ("x-ms-max-item-count", "-1")], "").await.expect(200);
    assert_eq!(first.ids("PartitionKeyRanges"), ["0", "1"]);
    assert_eq!(first.member("_rid"), container.member("_rid"));
    assert_eq!(first.header("x-ms-content-path"), Some(container.member("_rid").as_str()));
    for part in [
        r#""minInclusive":"","#,
        r#""maxExclusive":"FF","#,
        r#""ridPrefix":1,"#,
        r#""throughputFraction":0.5,"#,
        r#""status":"online","parents":[],"ownedArchivalPKRangeIds":[],"#,
    ] {
        assert!(first.text.contains(part), "{part}: {}", first.text);
    }
    let etag = first.header("etag").unwrap();
    let again = client.send(Method::GET, path, &[incremental, ("if-none-match", etag)], "").await.expect(304);
    assert_eq!(again.header("etag"), Some(etag));
    let plain = client.get(path).await.expect(200);
    assert_eq!(plain.ids("PartitionKeyRanges"), ["0", "1"]);
    let other = [incremental, ("if-none-match", "\"other\"")];
    client.send(Method::GET, path, &other, "").await.expect(200);
}

#[tokio::test]
async fn containers_without_a_key_are_one_partition() {
    let client = Client::with_container().await;
    let too_much = [("x-ms-offer-throughput", "10100")];
    client.send(Method::POST, "/dbs/d/colls", &too_much, r#"{"id":"f"}"#).await.expect_code(400, 0);
    let most = [("x-ms-offer-throughput", "10000")];
    let created = client.send(Method::POST, "/dbs/d/colls", &most, r#"{"id":"f"}"#).await.expect(201);
    assert!(created.text.contains(r#""systemKey":true"#), "{}", created.text);
    let docs = "/dbs/d/colls/f/docs";
    let empty = ("x-ms-documentdb-partitionkey", "[]");
    let batch = ("x-ms-cosmos-is-batch-request", "True");
    let each = ("x-ms-cosmos-batch-atomic", "False");
    // Named or not, it is the same logical partition.
    for (index, headers) in [&[][..], &[empty]].into_iter().enumerate() {
        let with = |more: &[(&'static str, &'static str)]| [headers, more].concat();
        let item = format!("{docs}/{index}");
        let body = format!(r#"{{"id":"{index}"}}"#);
        client.send(Method::POST, docs, headers, &body).await.expect(201);
        client.send(Method::PUT, &item, headers, &body).await.expect(200);
        let patch = r#"[{"op":"set","path":"/n","value":1}]"#;
        client.send(Method::PATCH, &item, headers, patch).await.expect(200);
        assert_eq!(client.send(Method::GET, &item, headers, "").await.expect(200).number("n"), 1);
        let reads = format!(r#"[{{"operationType":"Read","id":"{index}"}}]"#);
        client.send(Method::POST, docs, &with(&[batch]), &reads).await.expect(200);
        client.send(Method::POST, docs, &with(&[batch, each]), &reads).await.expect(200);
        let query = with(&[("x-ms-documentdb-isquery", "true")]);
        let found =
            client.send(Method::POST, docs, &query, r#"{"query":"SELECT * FROM c"}"#).await.expect(200);
        assert_eq!(found.number("_count"), 1);
        assert_eq!(client.send(Method::GET, docs, headers, "").await.expect(200).number("_count"), 1);
        client.send(Method::DELETE, &item, headers, "").await.expect(204);
    }
    client.post("/_armilla/dbs/d/colls/f/split", "").await.expect_code(400, 0);
}

#[tokio::test]
async fn there_are_no_conflicts() {
    let client = Client::with_container().await;
    let feed = client.get("/dbs/d/colls/c/conflicts").await.expect(200);
    assert_eq!(feed.ids("Conflicts"), [] as [&str; 0]);
    client.get("/dbs/d/colls/c/conflicts/x").await.expect_code(404, 0);
    client.delete("/dbs/d/colls/c/conflicts/x").await.expect_code(404, 0);
    client.get("/dbs/d/colls/no/conflicts").await.expect(404);
}

#[tokio::test]
async fn names_may_be_odd() {
    let client = Client::with_container().await;
    for (name, encoded) in [
        ("a b", "a%20b"),
        ("100%", "100%25"),
        ("a+b&c=d", "a+b&c=d"),
        ("Größe", "Gr%C3%B6%C3%9Fe"),
        ("容器", "%E5%AE%B9%E5%99%A8"),
        ("docs", "docs"),
    ] {
        client.post("/dbs/d/colls", &DEFINITION.replace("c2", name)).await.expect(201);
        assert_eq!(client.get(&format!("/dbs/d/colls/{encoded}")).await.expect(200).member("id"), name);
        let docs = format!("/dbs/d/colls/{encoded}/docs");
        let key = [("x-ms-documentdb-partitionkey", "[1]")];
        let answer = client.send(Method::POST, &docs, &key, r#"{"id":"1","pk":1}"#).await.expect(201);
        let path = answer.header("x-ms-alt-content-path").unwrap();
        if name.is_ascii() {
            assert_eq!(path, format!("dbs/d/colls/{name}"));
        } else {
            assert_eq!(path, format!("dbs/d/colls/{encoded}"));
        }
    }
}
