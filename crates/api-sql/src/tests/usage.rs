//! How full containers and partitions are.

use armilla_value::Value;
use http::Method;

use super::client::{Answer, Client};

const DOCS: &str = "/dbs/d/colls/c/docs";
const CONTAINER: &str = "/dbs/d/colls/c";

async fn create(client: &Client, id: u32, bytes: usize) -> Answer {
    let key = format!("[{id}]");
    let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
    let body = format!(r#"{{"id":"{id}","pk":{id},"text":"{}"}}"#, "x".repeat(bytes));
    client.send(Method::POST, DOCS, &headers, body).await.expect(201)
}

/// A number in the header about usage.
#[track_caller]
fn used(answer: &Answer, name: &str) -> u64 {
    let usage = answer.header("x-ms-resource-usage").unwrap_or_else(|| panic!("{answer:?}"));
    let pairs: Vec<(&str, &str)> =
        usage.split_terminator(';').map(|pair| pair.split_once('=').unwrap()).collect();
    let names: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["documentSize", "documentsSize", "documentsCount", "collectionSize"]);
    pairs.iter().find(|(found, _)| *found == name).unwrap().1.parse().unwrap()
}

const QUOTA_OF_ONE: &str =
    "documentSize=51200;documentsSize=52428800;documentsCount=-1;collectionSize=52428800;";
const QUOTA_OF_TWO: &str =
    "documentSize=102400;documentsSize=104857600;documentsCount=-1;collectionSize=104857600;";

#[tokio::test]
async fn answers_about_items_tell_of_their_partition() {
    let client = Client::with_container().await;
    for id in 0..20 {
        let answer = create(&client, id, 1_024).await;
        assert_eq!(used(&answer, "documentsCount"), u64::from(id) + 1);
        assert!(used(&answer, "documentsSize") > u64::from(id));
        // The index of twenty small items is more than the rounding to kilobytes hides.
        assert!(id < 19 || used(&answer, "collectionSize") > used(&answer, "documentsSize"), "{answer:?}");
        assert_eq!(answer.header("x-ms-resource-quota"), Some(QUOTA_OF_ONE));
    }
    // Failures and feeds tell it as well.
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    let missing = client.send(Method::GET, "/dbs/d/colls/c/docs/no", &key, "").await.expect(404);
    assert_eq!(used(&missing, "documentsCount"), 20);
    let feed = client.get(DOCS).await.expect(200);
    assert_eq!(used(&feed, "documentsCount"), 20);
    client.send(Method::DELETE, "/dbs/d/colls/c/docs/1", &key, "").await.expect(204);
    let read =
        client.send(Method::GET, "/dbs/d/colls/c/docs/2", &[("x-ms-documentdb-partitionkey", "[2]")], "");
    assert_eq!(used(&read.await.expect(200), "documentsCount"), 19);
    // A request that no partition served tells nothing.
    assert_eq!(client.get("/dbs/d/colls/c/pkranges").await.header("x-ms-resource-usage"), None);
}

#[tokio::test]
async fn answers_about_containers_tell_of_all_partitions() {
    let client = Client::with_container().await;
    let quota = ("x-ms-documentdb-populatequotainfo", "True");
    let statistics = ("x-ms-documentdb-populatepartitionstatistics", "True");
    let read = async |headers: &[(&'static str, &str)]| {
        client.send(Method::GET, CONTAINER, headers, "").await.expect(200)
    };
    let empty = read(&[quota, statistics]).await;
    let expected = r#","statistics":[{"id":"0","sizeInKB":0,"documentCount":0,"partitionKeys":[]}]}"#;
    assert!(empty.text.ends_with(expected), "{}", empty.text);
    for id in 0..20 {
        create(&client, id, 1_024).await;
    }
    client.reshape("split", "").await;
    let plain = read(&[]).await;
    assert_eq!((plain.header("x-ms-resource-usage"), plain.json().get("statistics")), (None, None));

    let both = read(&[quota, statistics]).await;
    assert_eq!(both.header("x-ms-resource-quota"), Some(QUOTA_OF_TWO));
    assert_eq!(used(&both, "documentsCount"), 20);
    let body = both.json();
    let partitions = body.get("statistics").and_then(Value::as_array).unwrap();
    let sum = |name: &str| -> i64 {
        partitions.iter().map(|partition| partition.get(name).and_then(Value::as_i64).unwrap()).sum()
    };
    let ids: Vec<&str> =
        partitions.iter().map(|one| one.get("id").and_then(Value::as_str).unwrap()).collect();
    assert_eq!((ids, sum("documentCount")), (vec!["1", "2"], 20));
    let kilobytes = i64::try_from(used(&both, "collectionSize")).unwrap();
    assert!((kilobytes..=kilobytes + 2).contains(&sum("sizeInKB")), "{} and {kilobytes}", sum("sizeInKB"));
    let alone = read(&[statistics]).await;
    assert_eq!(alone.text, both.text);
    assert_eq!(alone.header("x-ms-resource-quota"), None);

    // A client sends back what it read: statistics are no part of a definition.
    let replaced = client.put(CONTAINER, &both.text).await.expect(200);
    assert_eq!(replaced.json().get("statistics"), None);
}
