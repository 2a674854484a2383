//! Change feeds of containers that split and merge, and of accounts that are opened again.

use armilla_value::Value;

use super::client::Client;
use super::feed_reader::{KEY, RANGE, Reader, id, numbers, put, remove, sorted, with_container};

const POLICY: &str = r#","changeFeedPolicy":{"retentionDuration":10}"#;

async fn fill(client: &Client, numbers: std::ops::Range<usize>) {
    for n in numbers {
        put(client, n, n % 10, "").await;
    }
}

/// The ids of the ranges that there are.
async fn ranges(client: &Client) -> Vec<String> {
    client.get("/dbs/d/colls/c/pkranges").await.expect(200).ids("PartitionKeyRanges")
}

#[tokio::test]
async fn positions_outlive_splits_and_merges_and_reopenings() {
    let mut client = with_container(POLICY, "400").await;
    fill(&client, 0..40).await;
    let date = client.date();
    let time = ("if-modified-since", date.as_str());
    let half = [("x-ms-max-item-count", "15")];
    let mut readers = vec![
        ("from the beginning", Reader::latest(&[]), 0..40),
        ("in the middle", Reader::latest(&half), 15..40),
        ("from now", Reader::latest(&[]).at("*"), 40..40),
        ("since a time", Reader::latest(&[time, half[0]]), 15..40),
        ("one key", Reader::latest(&[(KEY, "[3]"), ("x-ms-max-item-count", "1")]), 13..40),
        ("all versions", Reader::all_versions(&[]).at("*"), 40..40),
    ];
    for (name, reader, _) in &mut readers {
        // The one that begins with the first page after the split.
        if *name != "from the beginning" {
            reader.page(&client).await;
        }
    }
    let mut next = 40;
    for verb in ["split", "reopen", "split", "merge", "split", "merge", "reopen"] {
        match verb {
            "reopen" => client = client.reopen().await,
            "split" => drop(client.reshape("split", "").await),
            _ => {
                let ranges = ranges(&client).await;
                let body = format!(r#"{{"ranges":["{}","{}"]}}"#, ranges[0], ranges[1]);
                client.reshape("merge", &body).await;
            }
        }
        fill(&client, next..next + 10).await;
        // A neighbour that comes and goes.
        put(&client, 1_000, 3, "").await;
        remove(&client, 1_000, 3).await;
        next += 10;
        for (name, reader, unread) in &mut readers {
            let is_key = *name == "one key";
            let expected = numbers((unread.start..next).filter(|n| !is_key || n % 10 == 3));
            let mut found = reader.ids(&client).await;
            if *name == "all versions" {
                assert_eq!(found.iter().filter(|id| *id == "1000").count(), 2, "{verb}");
                found.retain(|id| id != "1000");
            }
            assert_eq!(sorted(found), expected, "{name}, after {verb}");
            assert_eq!(reader.ids(&client).await, Vec::<String>::new(), "{name}, after {verb}");
            *unread = next..next;
        }
    }
}

#[tokio::test]
async fn ranges_that_are_gone_are_said_to_be_and_their_children_go_on() {
    let client = with_container(POLICY, "400").await;
    fill(&client, 0..30).await;
    let mut parent = Reader::latest(&[(RANGE, "0"), ("x-ms-max-item-count", "12")]);
    let mut versions = Reader::all_versions(&[(RANGE, "0")]).at("*");
    parent.page(&client).await.expect(200);
    versions.page(&client).await.expect(304);
    client.reshape("split", "").await;
    fill(&client, 30..50).await;
    for reader in [&parent, &versions] {
        reader.try_page(&client).await.expect_code(410, 1002);
    }
    let children = ranges(&client).await;
    assert_eq!(children, ["1", "2"]);
    let mut found: [Vec<String>; 2] = Default::default();
    for child in &children {
        let mut latest = Reader::latest(&[(RANGE, child)]).at(parent.position.as_ref().unwrap());
        let mut all = Reader::all_versions(&[(RANGE, child)]).at(versions.position.as_ref().unwrap());
        found[0].extend(latest.ids(&client).await);
        found[1].extend(all.ids(&client).await);
    }
    let [latest, versions] = found.map(sorted);
    assert_eq!(latest, numbers(12..50), "each change in one child, none twice");
    assert_eq!(versions, numbers(30..50));
}

#[tokio::test]
async fn merged_ranges_go_on_from_the_positions_of_both() {
    let client = with_container("", "400").await;
    fill(&client, 0..40).await;
    let kind = ("x-ms-read-key-type", "EffectivePartitionKeyRange");
    let middle = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
    client.reshape("split", &format!(r#"{{"range":"0","at":"{middle}"}}"#)).await;
    let mut left = Reader::latest(&[(RANGE, "1")]);
    let mut right = Reader::latest(&[(RANGE, "2"), ("x-ms-max-item-count", "5")]);
    let left_ids = left.ids(&client).await;
    let right_page: Vec<Value> = super::feed_reader::entries(&right.page(&client).await);
    client.reshape("merge", r#"{"ranges":["1","2"]}"#).await;
    fill(&client, 40..60).await;
    let merged = ranges(&client).await;
    assert_eq!(merged.len(), 1);
    // Clients go on with the same parts of the ring inside the new range.
    let mut rest = Vec::new();
    for (position, min, max) in [(&left.position, "", middle), (&right.position, middle, "FF")] {
        let headers = [kind, (RANGE, merged[0].as_str()), ("x-ms-start-epk", min), ("x-ms-end-epk", max)];
        rest.extend(Reader::latest(&headers).at(position.as_ref().unwrap()).ids(&client).await);
    }
    let all = [left_ids, right_page.iter().map(id).collect(), rest].concat();
    assert_eq!(sorted(all), numbers(0..60), "nothing lost, nothing twice");
}
