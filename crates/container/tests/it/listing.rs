//! Read feeds: completeness, order, pages, continuations.

use std::ops::Bound;

use armilla_container::{
    ErrorKind, IdRange, Limits, ListRequest, ListScope, Precondition, Priority, ReadCost, SessionToken,
};
use armilla_value::HashedKey;

use crate::support::{Fixture, key, list, refused};

async fn filled(throughput: u32, items: usize, keys: usize) -> Fixture {
    let fixture =
        Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#, throughput, Limits::default());
    for number in 0..items {
        let partition_key = number % keys;
        let body = format!(r#"{{"id":"{number:04}","pk":{partition_key}}}"#);
        fixture.create(&format!("[{partition_key}]"), &body).await.unwrap();
    }
    fixture
}

fn expected(items: usize) -> Vec<String> {
    (0..items).map(|number| format!("{number:04}")).collect()
}

#[tokio::test]
async fn one_partition_comes_in_the_order_of_insertion() {
    let fixture = filled(400, 57, 10).await;
    for items_max in [1, 7, 19, 57, 100] {
        let pages = list(&fixture.container, ListScope::All, items_max);
        assert!(pages.iter().all(|page| page.len() <= items_max));
        assert_eq!(pages.len(), 57_usize.div_ceil(items_max), "no empty page at the end");
        assert_eq!(pages.concat(), expected(57));
    }
}

#[tokio::test]
async fn many_partitions_come_complete_and_once() {
    let fixture = filled(40_000, 203, 50).await;
    for items_max in [1, 10, 1_000] {
        let mut all = list(&fixture.container, ListScope::All, items_max).concat();
        all.sort();
        assert_eq!(all, expected(203));
    }
    let by_range: Vec<Vec<String>> = (0..4)
        .map(|id| {
            list(&fixture.container, ListScope::Range { id: Some(id), min: None, max: None }, 10).concat()
        })
        .collect();
    assert!(by_range.iter().all(|items| !items.is_empty()));
    let mut all = by_range.concat();
    all.sort();
    assert_eq!(all, expected(203));
}

#[tokio::test]
async fn a_logical_partition_comes_alone() {
    let fixture = filled(400, 100, 4).await;
    for items_max in [1, 6, 100] {
        let pages = list(&fixture.container, ListScope::PartitionKey(key("[3]")), items_max);
        let expected: Vec<String> =
            (0..100).filter(|number| number % 4 == 3).map(|number| format!("{number:04}")).collect();
        assert_eq!(pages.concat(), expected);
    }
    assert_eq!(list(&fixture.container, ListScope::PartitionKey(key("[9]")), 10), [Vec::<String>::new()]);
}

#[tokio::test]
async fn a_large_logical_partition_comes_by_id() {
    let fixture = Fixture::simple();
    for number in (0..1_205).rev() {
        fixture.create(r#"["a"]"#, &format!(r#"{{"id":"{number:04}","pk":"a"}}"#)).await.unwrap();
    }
    let pages = list(&fixture.container, ListScope::PartitionKey(key(r#"["a"]"#)), 100);
    assert_eq!(pages.concat(), expected(1_205));
    assert_eq!(pages.len(), 13);
}

#[tokio::test]
async fn a_prefix_of_a_hierarchical_key_lists_all_below_it() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/t","/u"],"kind":"MultiHash","version":2}}"#;
    let fixture = Fixture::new(definition, 40_000, Limits::default());
    for number in 0..40 {
        let (tenant, user) = (number % 4, number % 7);
        let body = format!(r#"{{"id":"{number:04}","t":{tenant},"u":{user}}}"#);
        fixture.create(&format!("[{tenant},{user}]"), &body).await.unwrap();
    }
    let mut items = list(&fixture.container, ListScope::PartitionKey(key("[2]")), 3).concat();
    items.sort();
    let expected: Vec<String> =
        (0..40).filter(|number| number % 4 == 2).map(|number| format!("{number:04}")).collect();
    assert_eq!(items, expected);
}

#[tokio::test]
async fn a_token_of_a_range_serves_its_parts() {
    let fixture = filled(400, 100, 100).await;
    let middle = HashedKey::from_hex("1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF").unwrap();
    let request = |scope: ListScope, continuation: Option<String>, items_max: usize| {
        let session = SessionToken::default();
        let request = ListRequest {
            scope,
            items_max,
            continuation,
            session,
            cost: ReadCost::Single,
            claim: Priority::High.into(),
        };
        let page = fixture.container.list_items(&request).unwrap();
        let id = |item: &armilla_container::Item| {
            item.stored().root().get("id").unwrap().as_str().unwrap().into_owned()
        };
        (page.items.iter().map(id).collect::<Vec<_>>(), page.continuation)
    };
    let (first, token) = request(ListScope::All, None, 30);
    let low = ListScope::Range { id: None, min: None, max: Some(middle.clone()) };
    let high = ListScope::Range { id: None, min: Some(middle), max: None };
    let (low, _) = request(low, token.clone(), 1_000);
    let (high, _) = request(high, token, 1_000);
    let mut all = [first, low, high].concat();
    all.sort();
    assert_eq!(all, expected(100));
}

#[tokio::test]
async fn one_logical_partition_by_ids() {
    let fixture = filled(400, 0, 1).await;
    // Not in their order, so that it is seen that the order is that of ids.
    for id in ["d", "b", "a", "ä", "e", "c", "cc"] {
        fixture.create("[0]", &format!(r#"{{"id":"{id}","pk":0}}"#)).await.unwrap();
    }
    fixture.create("[1]", r#"{"id":"bb","pk":1}"#).await.unwrap();
    let list = |ids: &IdRange, items_max: usize| {
        let (mut found, mut continuation) = (Vec::new(), None);
        loop {
            let request = ListRequest {
                scope: ListScope::PartitionKey(key("[0]")),
                items_max,
                continuation,
                session: SessionToken::default(),
                cost: ReadCost::Single,
                claim: Priority::High.into(),
            };
            let page = fixture.container.list_items_by_id(&request, ids).unwrap();
            assert!(page.items.len() <= items_max);
            found.extend(
                page.items
                    .iter()
                    .map(|item| item.stored().root().get("id").unwrap().as_str().unwrap().into_owned()),
            );
            match page.continuation {
                Some(token) => continuation = Some(token),
                None => return found.join(" "),
            }
        }
    };
    let text = str::to_owned;
    for (lower, upper, expected) in [
        (Bound::Unbounded, Bound::Unbounded, "a b c cc d e ä"),
        (Bound::Included(text("b")), Bound::Excluded(text("d")), "b c cc"),
        (Bound::Excluded(text("b")), Bound::Included(text("d")), "c cc d"),
        (Bound::Included(text("bb")), Bound::Unbounded, "c cc d e ä"),
        (Bound::Unbounded, Bound::Excluded(text("a")), ""),
        (Bound::Included(text("d")), Bound::Excluded(text("b")), ""),
        (Bound::Excluded(text("c")), Bound::Excluded(text("c")), ""),
        (Bound::Included(text("c")), Bound::Included(text("c")), "c"),
        (Bound::Excluded(text("ä")), Bound::Unbounded, ""),
    ] {
        for items_max in [1, 2, 100] {
            let ids = IdRange { lower: lower.clone(), upper: upper.clone() };
            assert_eq!(list(&ids, items_max), expected, "{ids:?} by {items_max}");
        }
    }
    let everything = ListRequest {
        scope: ListScope::All,
        items_max: 1,
        continuation: None,
        session: SessionToken::default(),
        cost: ReadCost::Single,
        claim: Priority::High.into(),
    };
    assert!(fixture.container.list_items_by_id(&everything, &IdRange::ALL).is_err());
    let of_numbers = ListRequest {
        scope: ListScope::PartitionKey(key("[0]")),
        continuation: Some("N1;3".to_owned()),
        ..everything
    };
    assert!(fixture.container.list_items_by_id(&of_numbers, &IdRange::ALL).is_err());
}

#[tokio::test]
async fn deletes_between_pages_lose_nothing_else() {
    let fixture = filled(400, 20, 1).await;
    let request = |continuation| ListRequest {
        scope: ListScope::All,
        items_max: 5,
        continuation,
        session: SessionToken::default(),
        cost: ReadCost::Single,
        claim: Priority::High.into(),
    };
    let first = fixture.container.list_items(&request(None)).unwrap();
    for id in ["0004", "0005"] {
        fixture.container.delete_item(&key("[0]"), id, Precondition::None, Priority::High).await.unwrap();
    }
    let second = fixture.container.list_items(&request(first.continuation)).unwrap();
    let first_id = second.items[0].stored().root().get("id").unwrap().as_str().unwrap().into_owned();
    assert_eq!(first_id, "0006");
}

#[tokio::test]
async fn bad_tokens_and_ranges_are_refused() {
    let fixture = filled(400, 3, 1).await;
    let request = |scope: ListScope, continuation: &str| {
        let session = SessionToken::default();
        let continuation = Some(continuation.to_owned());
        fixture.container.list_items(&ListRequest {
            scope,
            items_max: 1,
            continuation,
            session,
            cost: ReadCost::Single,
            claim: Priority::High.into(),
        })
    };
    for token in [
        "",
        "x",
        "L1",
        "L1;",
        "L1;00-FF",
        "L1;00-FF-x",
        "L1;FF-00-1",
        "L1;00-10-1;05-20-1",
        "L1;zz-FF-1",
        "N1;1",
    ] {
        refused(request(ListScope::All, token), ErrorKind::Invalid);
    }
    for token in ["", "N1;", "N1;-1", "K1;zz", "K1;f", "K1;ff", "L1;00-FF-1"] {
        refused(request(ListScope::PartitionKey(key("[0]")), token), ErrorKind::Invalid);
    }
    let range =
        |id: u32, min: &str| ListScope::Range { id: Some(id), min: HashedKey::from_hex(min), max: None };
    let plain = |scope| {
        let session = SessionToken::default();
        fixture.container.list_items(&ListRequest {
            scope,
            items_max: 1,
            continuation: None,
            session,
            cost: ReadCost::Single,
            claim: Priority::High.into(),
        })
    };
    refused(plain(range(7, "00")), ErrorKind::RangeGone);
    refused(plain(ListScope::PartitionKey(key("[]"))), ErrorKind::PartitionKeyMismatch);
    refused(plain(ListScope::PartitionKey(key("[1,2]"))), ErrorKind::PartitionKeyMismatch);
}
