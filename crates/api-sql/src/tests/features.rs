//! What is refused everywhere: features that are not there yet, verbs that a resource does not take,
//! paths that lead nowhere.

use http::Method;

use super::client::Client;

#[tokio::test]
async fn missing_features_are_named() {
    let client = Client::with_container().await;
    let docs = "/dbs/d/colls/c/docs";
    let key = ("x-ms-documentdb-partitionkey", "[1]");
    for (method, path, headers, feature) in [
        (Method::GET, docs, &[("x-ms-cosmos-throughput-bucket", "2")][..], "throughput bucket"),
        (Method::GET, "/dbs/d/clientencryptionkeys", &[], "client encryption key"),
        (Method::PUT, "/dbs/d/clientencryptionkeys/k", &[], "client encryption key"),
        (Method::POST, "/dbs/d/colls/c/operations/partitionkeydelete", &[key], "partition key"),
    ] {
        let answer = client.send(method.clone(), path, headers, "{}").await.expect(501);
        assert_eq!(answer.member("code"), "NotImplemented");
        assert!(answer.member("message").contains(feature), "{method} {path}: {}", answer.text);
    }
}

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
        (Method::PUT, "/dbs/d/users", "GET, POST"),
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
