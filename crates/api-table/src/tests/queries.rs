//! Queries: filters, pages, orders, and what finds the entities.

use std::sync::Arc;

use armilla_engine::plans::BoundQuery;
use armilla_engine::{Caller, EngineOptions, Limits, Policy, Query, QueryRequest};

use super::client::{Answer, Client, FLAVOURS};
use crate::Flavour;

/// Percent-encodes what a query string cannot hold.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'\''
            | b'('
            | b')'
            | b'.'
            | b'-'
            | b'_'
            | b','
            | b'$' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

async fn find(client: &Client, filter: &str) -> Answer {
    client.get(&format!("/t12()?$filter={}", encoded(filter))).await
}

/// Four partitions of ten entities each.
async fn filled(flavour: Flavour) -> Client {
    let client = Client::with_table(flavour, "t12").await;
    fill(&client).await;
    client
}

async fn fill(client: &Client) {
    for number in 0..40 {
        // Not in the order of the row keys.
        let row = (number * 7) % 40;
        let body = format!(
            r#"{{"PartitionKey":"p{}","RowKey":"r{row:02}","n":{row},"even":{},"ratio":{row}.5,
                "big@odata.type":"Edm.Int64","big":"{}","name":"name {row}",
                "at@odata.type":"Edm.DateTime","at":"2020-01-{:02}T00:00:00Z",
                "uid@odata.type":"Edm.Guid","uid":"c9da6455-213d-42c9-9a79-3e9149a578{row:02}",
                "bin@odata.type":"Edm.Binary","bin":"AAA="}}"#,
            row % 4,
            row % 2 == 0,
            9_007_199_254_740_992_i64 + row,
            row % 28 + 1,
        );
        client.insert("t12", &body).await.expect(204);
    }
}

#[tokio::test]
async fn filters_of_every_type_find_their_entities() {
    for flavour in FLAVOURS {
        let client = filled(flavour).await;
        for (filter, expected) in [
            ("", 40),
            ("PartitionKey eq 'p1'", 10),
            ("PartitionKey eq 'p1' and RowKey eq 'r05'", 1),
            ("PartitionKey eq 'p1' and RowKey eq 'r06'", 0),
            ("PartitionKey eq 'p1' and RowKey eq 'r05' and n eq 6", 0),
            ("PartitionKey eq 'p1' and RowKey gt 'r09'", 7),
            ("PartitionKey ge 'p2'", 20),
            ("PartitionKey eq 'p1' or PartitionKey eq 'p3'", 20),
            ("PartitionKey eq 'p1' and PartitionKey eq 'p3'", 0),
            ("RowKey eq 'r07'", 1),
            ("n gt 30", 9),
            ("30 lt n", 9),
            ("n ge 10 and n lt 20 and even", 5),
            ("even eq true", 20),
            ("not even", 20),
            ("not (n gt 30) and even eq false", 15),
            ("ratio gt 38.0", 2),
            ("n gt 38.5", 1),
            ("big gt 9007199254741030L", 1),
            ("big eq 9007199254740993L", 1),
            ("name eq 'name 5'", 1),
            ("name ge 'name 3' and name lt 'name 4'", 11),
            ("at ge datetime'2020-01-28T00:00:00Z'", 1),
            ("at eq datetime'2020-01-02T00:00:00Z'", 2),
            ("uid eq guid'c9da6455-213d-42c9-9a79-3e9149a57805'", 1),
            ("uid eq 'c9da6455-213d-42c9-9a79-3e9149a57805'", 0),
            ("bin eq X'0000'", 40),
            ("bin eq binary'0001'", 0),
            ("Timestamp gt datetime'2000-01-01T00:00:00Z'", 40),
            ("Timestamp lt datetime'2000-01-01T00:00:00Z'", 0),
            ("missing eq 1", 0),
            ("not (missing eq 1)", 40),
            ("(n eq 1)or(n eq 2)", 2),
        ] {
            let found = find(&client, filter).await.expect(200).all("RowKey");
            assert_eq!(found.len(), expected, "{filter}: {found:?}");
        }
    }
}

#[tokio::test]
async fn wrong_filters_are_refused() {
    for filter in ["n eq", "n", "n eq 1 and", "(n eq 1", "n equals 1", "n eq 'a", "a eq b", "n eq 1 eq 2"] {
        if filter == "n" {
            // A property alone is a boolean.
            continue;
        }
        let cosmos = find(&Client::with_table(Flavour::Cosmos, "t12").await, filter).await;
        assert!(cosmos.expect_code(400, "InvalidInput").message().starts_with("Request url is invalid."));
        let storage = find(&Client::with_table(Flavour::Storage, "t12").await, filter).await;
        let message = storage.expect_code(400, "InvalidInput").message();
        assert!(message.starts_with("Syntax error at position "), "{message}");
    }
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    for target in
        ["/t12()?$orderby=n", "/t12()?$skip=1", "/t12()?$count=true", "/t12()?$inlinecount=allpages"]
    {
        client.get(target).await.expect_code(501, "NotImplemented");
    }
    client.get("/t12()?NextPartitionKey=!&NextRowKey=NA").await.expect_code(400, "InvalidInput");
    client.get("/t12()?NextPartitionKey=YWJj&NextRowKey=NA").await.expect_code(400, "InvalidInput");
    let storage = client.of_flavour(Flavour::Storage);
    storage.get("/t12()?$top=1001").await.expect_code(400, "InvalidInput");
    storage.get("/t12()?$top=0").await.expect_code(400, "InvalidInput");
    client.get("/t12()?$top=1001").await.expect(200);
}

/// Reads all pages of a query, with something done after the first.
async fn pages(client: &Client, target: &str, after_first: Option<&Client>) -> Vec<Vec<String>> {
    let (mut pages, mut token) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{target}{token}")).await.expect(200);
        pages.push(page.all("RowKey"));
        if let (1, Some(client)) = (pages.len(), after_first) {
            client.engine.split(&Caller::full(), "TablesDB", "t12", None, None).await.unwrap();
            // It goes on in the background, on other threads.
            while client.container("t12").ranges(&Caller::full()).unwrap().ranges.len() < 2 {
                client.clock.advance(std::time::Duration::from_millis(10));
                tokio::task::yield_now().await;
            }
        }
        match page.header("x-ms-continuation-nextpartitionkey") {
            Some(next) => {
                assert_eq!(page.header("x-ms-continuation-nextrowkey"), Some("NA"));
                token = format!("&NextPartitionKey={next}&NextRowKey=NA");
            }
            None => return pages,
        }
    }
}

#[tokio::test]
async fn pages_follow_each_other() {
    let client = filled(Flavour::Cosmos).await;
    for (filter, expected) in [
        ("", 40),
        ("$filter=PartitionKey%20eq%20'p1'&", 10),
        ("$filter=n%20ge%2010&", 30),
        ("$filter=big%20gt%209007199254741000L&", 31),
    ] {
        for top in [1, 7, 1_000] {
            let pages = pages(&client, &format!("/t12()?{filter}$top={top}"), None).await;
            assert!(pages.iter().all(|page| page.len() <= top), "{filter} {top}");
            let mut found: Vec<String> = pages.into_iter().flatten().collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), expected, "{filter} {top}");
        }
    }
}

#[tokio::test]
async fn entities_of_a_partition_come_in_order() {
    let client = filled(Flavour::Cosmos).await;
    let expected: Vec<String> = (0..10).map(|number| format!("r{:02}", number * 4 + 1)).collect();
    for top in [3, 1_000] {
        let target = format!("/t12()?$filter=PartitionKey%20eq%20'p1'&$top={top}");
        assert_eq!(pages(&client, &target, None).await.concat(), expected);
    }
    let target = "/t12()?$filter=PartitionKey%20eq%20'p1'%20and%20n%20gt%2010&$top=3";
    assert_eq!(pages(&client, target, None).await.concat(), expected[3..]);
}

#[tokio::test]
async fn storage_accounts_sort_by_both_keys() {
    let expected: Vec<String> =
        (0..4).flat_map(|partition| (0..10).map(move |row| format!("r{:02}", row * 4 + partition))).collect();
    let client = filled(Flavour::Storage).await;
    // Queries by keys are in order over all pages.
    for top in [2, 7, 1_000] {
        assert_eq!(pages(&client, &format!("/t12()?$top={top}"), None).await.concat(), expected, "{top}");
        let target =
            format!("/t12()?$filter=PartitionKey%20ge%20'p1'%20and%20RowKey%20ne%20'r01'&$top={top}");
        assert_eq!(pages(&client, &target, None).await.concat(), expected[11..], "{top}");
    }
    // Others if one page is all there is.
    let kept: Vec<&String> = expected.iter().filter(|row| row.as_str() >= "r10").collect();
    let found = pages(&client, "/t12()?$filter=n%20ge%2010", None).await.concat();
    assert_eq!(found.iter().collect::<Vec<_>>(), kept);
    let mut found = pages(&client, "/t12()?$filter=n%20ge%2010&$top=7", None).await.concat();
    found.sort_unstable();
    assert_eq!(found.len(), 30);
    // A container made through another API may lack the index of that order: then in the engine's.
    let definition = r#"{"id":"made","partitionKey":{"paths":["/PartitionKey"],"kind":"Hash","version":2}}"#;
    let definition = armilla_value::json::parse(definition.as_bytes()).unwrap();
    client
        .engine
        .create_container(
            &Caller::full(),
            "TablesDB",
            armilla_engine::ContainerDefinition::from_value(&definition).unwrap(),
            None,
        )
        .await
        .unwrap();
    for key in ["c", "a", "b"] {
        client.insert("made", &format!(r#"{{"PartitionKey":"{key}","RowKey":"{key}"}}"#)).await.expect(204);
    }
    assert_eq!(pages(&client, "/made()?x=y", None).await.concat(), ["a", "b", "c"]);
    let mut found = pages(&client, "/made()?$top=2", None).await.concat();
    found.sort_unstable();
    assert_eq!(found, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_page_has_a_thousand_entities_unless_it_is_said() {
    let client = Client::with_table(Flavour::Storage, "t12").await;
    let container = client.container("t12");
    for number in 0..1_001 {
        let item = format!(r#"{{"id":"r{number:04}","PartitionKey":"p","RowKey":"r{number:04}"}}"#);
        let (caller, none) = (Caller::full(), armilla_engine::Precondition::None);
        let key = crate::request::logical_partition("p");
        let (mode, triggers) = (armilla_engine::WriteMode::Create, Default::default());
        let written = client.engine.write_item(
            &caller,
            &container,
            mode,
            Some(&key),
            item.as_bytes().into(),
            none,
            &triggers,
        );
        written.await.unwrap();
    }
    let pages = pages(&client, "/t12()?x=y", None).await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [1_000, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_go_on_over_splits() {
    for target in [
        "/t12()?$top=7",
        "/t12()?$filter=n%20ge%200&$top=7",
        "/t12()?$filter=PartitionKey%20eq%20'p1'&$top=3",
    ] {
        let client = filled(Flavour::Cosmos).await;
        let expected = if target.contains("p1") { 10 } else { 40 };
        let mut found = pages(&client, target, Some(&client)).await.concat();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), expected, "{target}");
    }
}

#[tokio::test]
async fn filters_use_the_index() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    for number in 0..400 {
        let body = format!(
            r#"{{"PartitionKey":"p{}","RowKey":"r{number:03}","n":{number},"text":"{}"}}"#,
            number % 50,
            "x".repeat(200)
        );
        client.insert("t12", &body).await.expect(204);
    }
    let charge = async |filter: &str| -> (usize, f64) {
        let found = find(&client, filter).await.expect(200);
        (found.all("RowKey").len(), found.header("x-ms-request-charge").unwrap().parse().unwrap())
    };
    let (count, all) = charge("not (missing eq 1)").await;
    assert_eq!(count, 400);
    for (filter, expected) in [
        ("PartitionKey eq 'p7'", 8),
        ("PartitionKey eq 'p7' and n gt 300", 2),
        ("n eq 77", 1),
        ("n ge 390", 10),
        ("RowKey eq 'r123'", 1),
        ("RowKey ge 'r390' and RowKey lt 'r395'", 5),
    ] {
        let (count, charge) = charge(filter).await;
        assert_eq!(count, expected, "{filter}");
        assert!(charge * 3.0 < all, "{filter}: {charge} of {all}");
    }
    // One entity by both of its keys is a point read.
    let (count, point) = charge("PartitionKey eq 'p7' and RowKey eq 'r007'").await;
    assert_eq!((count, point), (1, 1.0));
    // The plans say so, too.
    let lowered = crate::filter::Filter::parse("n ge 390 and RowKey lt 'r395'").unwrap().unwrap().lower();
    let plan = BoundQuery { filter: lowered.condition, ..BoundQuery::items() };
    let request = QueryRequest::of(Query::Plan(Arc::new(plan)));
    let page = client.engine.query_items(&Caller::full(), &client.container("t12"), request).await.unwrap();
    let utilized: Vec<&str> =
        page.plans[0].served.iter().flat_map(|served| &served.paths).map(|path| &**path).collect();
    assert!(utilized.contains(&"/n/?") || utilized.contains(&"/RowKey/?"), "{utilized:?}");
    assert_eq!(page.row_count(), 5);
}

#[tokio::test]
async fn large_pages_end_early() {
    let policy = Policy { enforced: false, burst: false };
    let options = EngineOptions { policy, limits: Limits::default(), ..EngineOptions::default() };
    let client = Client::with_engine(Flavour::Cosmos, |_| {}, options).await;
    client.create_table("t12").await;
    for number in 0..6 {
        let body = format!(r#"{{"PartitionKey":"p","RowKey":"r{number}","a":"{}"}}"#, "x".repeat(1_000_000));
        client.insert("t12", &body).await.expect(204);
    }
    let pages = pages(&client, "/t12()?$filter=PartitionKey%20eq%20'p'", None).await;
    assert!(pages.len() > 1);
    assert_eq!(pages.concat(), ["r0", "r1", "r2", "r3", "r4", "r5"]);
}
