//! What is refused everywhere: verbs that a resource does not take, paths that lead nowhere; and features that are little
//! more than a resource.

use http::Method;

use super::client::Client;

#[tokio::test]
async fn verbs_that_a_resource_does_not_take() {
    let client = Client::with_container().await;
    for (method, path, allowed) in [
        (Method::POST, "/", "GET"),
        (Method::PUT, "/dbs", "GET, POST"),
        (Method::HEAD, "/dbs", "GET, POST"),
        (Method::PUT, "/dbs/d", "GET, DELETE"),
        (Method::PATCH, "/dbs/d", "GET, DELETE"),
        (Method::DELETE, "/dbs/d/colls", "GET, POST"),
        (Method::POST, "/dbs/d/colls/c", "GET, PUT, DELETE"),
        (Method::HEAD, "/dbs/d/colls/c", "GET, PUT, DELETE"),
        (Method::DELETE, "/dbs/d/colls/c/docs", "GET, POST"),
        (Method::POST, "/dbs/d/colls/c/docs/1", "GET, PUT, PATCH, DELETE"),
        (Method::OPTIONS, "/dbs/d/colls/c/docs/1", "GET, PUT, PATCH, DELETE"),
        (Method::POST, "/dbs/d/colls/c/pkranges", "GET"),
        (Method::PUT, "/dbs/d/colls/c/conflicts", "GET, POST"),
        (Method::PUT, "/dbs/d/colls/c/conflicts/x", "GET, DELETE"),
        (Method::GET, "/dbs/d/colls/c/operations/partitionkeydelete", "POST"),
        (Method::PUT, "/dbs/d/users", "GET, POST"),
        (Method::PUT, "/dbs/d/clientencryptionkeys", "GET, POST"),
        (Method::DELETE, "/dbs/d/clientencryptionkeys/k", "GET, PUT"),
        (Method::PATCH, "/dbs/d/users/u", "GET, PUT, DELETE"),
        (Method::PATCH, "/dbs/d/users/u/permissions", "GET, POST"),
        (Method::POST, "/dbs/d/users/u/permissions/p", "GET, PUT, DELETE"),
        (Method::PUT, "/dbs/d/colls/c/udfs", "GET, POST"),
        (Method::POST, "/dbs/d/colls/c/udfs/f", "GET, PUT, DELETE"),
        (Method::PATCH, "/dbs/d/colls/c/sprocs", "GET, POST"),
        (Method::PATCH, "/dbs/d/colls/c/sprocs/p", "GET, POST, PUT, DELETE"),
        (Method::DELETE, "/dbs/d/colls/c/triggers", "GET, POST"),
        (Method::POST, "/dbs/d/colls/c/triggers/t", "GET, PUT, DELETE"),
        (Method::POST, "/offers", "GET, POST"),
        (Method::DELETE, "/offers/TQAA", "GET, PUT"),
        (Method::TRACE, "/offers/TQAA", "GET, PUT"),
    ] {
        let answer = client.send(method.clone(), path, &[], "").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{method} {path}");
        assert_eq!(answer.member("code"), "MethodNotAllowed");
    }
}

#[tokio::test]
async fn paths_that_lead_nowhere() {
    let client = Client::with_container().await;
    for (path, status) in [
        ("/nothing", 404),
        ("/dbs/d/nothing/x", 404),
        ("/dbs/d/colls/c/nothing", 404),
        ("/dbs//colls", 400),
        ("/dbs/%zz", 400),
        ("/dbs/%FF", 400),
        ("/dbs/d/colls/c/docs/1/attachments", 400),
    ] {
        client.get(path).await.expect(status);
    }
}

/// Where a container has no buckets, the header makes no difference.
#[tokio::test]
async fn throughput_buckets_are_taken() {
    let client = Client::with_container().await;
    let (docs, key) = ("/dbs/d/colls/c/docs", ("x-ms-documentdb-partitionkey", "[1]"));
    let bucket = |word| [key, ("x-ms-cosmos-throughput-bucket", word)];
    client.send(Method::POST, docs, &bucket("2"), r#"{"id":"1","pk":1}"#).await.expect(201);
    client.send(Method::GET, docs, &bucket("5"), "").await.expect(200);
    client.send(Method::GET, docs, &bucket("6"), "").await.expect_code(400, 0);
}

/// They are kept and served; what they hold is the clients' affair.
#[tokio::test]
async fn client_encryption_keys_are_kept() {
    let client = Client::with_container().await;
    let (keys, wrong) = ("/dbs/d/clientencryptionkeys", "/dbs/x/clientencryptionkeys");
    let body = |id: &str, wrapped: &str| {
        format!(
            r#"{{"id":"{id}","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256",
                "wrappedDataEncryptionKey":"{wrapped}",
                "keyWrapMetadata":{{"type":"custom","name":"k","value":"v","algorithm":"RSA-OAEP"}}}}"#
        )
    };
    let created = client.post(keys, &body("k", "AAEC")).await.expect(201);
    assert_eq!(created.member("wrappedDataEncryptionKey"), "AAEC");
    assert!(created.member("_self").ends_with(&format!("/clientencryptionkeys/{}/", created.member("_rid"))));
    client.post(keys, &body("k", "AAEC")).await.expect_code(409, 0);
    client.post(wrong, &body("k", "AAEC")).await.expect(404);
    for body in [&body("l", "?"), &body("l", ""), &body("", "AAEC"), r#"{"id":"l"}"#, "{}"] {
        client.post(keys, body).await.expect_code(400, 0);
    }
    let one = format!("{keys}/k");
    client.put(&one, &body("other", "AAEC")).await.expect_code(400, 0);
    let replaced = client.put(&one, &body("k", "AwQF")).await.expect(200);
    assert_eq!(replaced.member("wrappedDataEncryptionKey"), "AwQF");
    assert_ne!(replaced.member("_etag"), created.member("_etag"));
    client.post(keys, &body("m", "AAEC")).await.expect(201);
    let client = client.reopen().await;
    assert_eq!(client.get(&one).await.expect(200).text, replaced.text);
    assert_eq!(client.get(keys).await.expect(200).ids("ClientEncryptionKeys"), ["k", "m"]);
    client.get(&format!("{keys}/x")).await.expect(404);
    client.delete("/dbs/d").await.expect(204);
    client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    assert!(client.get(keys).await.expect(200).ids("ClientEncryptionKeys").is_empty());
}

#[tokio::test]
async fn all_items_of_a_key_are_deleted() {
    let client = Client::with_container().await;
    let (docs, delete) = ("/dbs/d/colls/c/docs", "/dbs/d/colls/c/operations/partitionkeydelete");
    let key = |text| [("x-ms-documentdb-partitionkey", text)];
    for (id, pk) in [("1", "1"), ("2", "1"), ("1", "2")] {
        let body = format!(r#"{{"id":"{id}","pk":{pk}}}"#);
        client.send(Method::POST, docs, &key(["[1]", "[2]"][usize::from(pk == "2")]), body).await.expect(201);
    }
    let deleted = client.send(Method::POST, delete, &key("[1]"), "").await.expect(200);
    assert!(deleted.header("x-ms-session-token").is_some() && deleted.text.is_empty());
    assert_eq!(client.send(Method::GET, docs, &[], "").await.expect(200).ids("Documents"), ["1"]);
    client.send(Method::POST, delete, &key("[1]"), "").await.expect(200);
    client.send(Method::POST, delete, &[], "").await.expect_code(400, 0);
    client.send(Method::POST, delete, &key("[1,2]"), "").await.expect(400);
}
