use super::*;
use crate::testing::{sample, whole_sample};

/// Container, sort and path of both ends, and the share.
fn told(reference: &Reference) -> (String, String, f64) {
    let end = |(container, sort, path): &(usize, String, String)| format!("{container} {sort} {path}");
    (end(&reference.from), end(&reference.to), reference.share)
}

#[track_caller]
fn check(found: &[Reference], expected: &[(&str, &str, f64)]) {
    let found: Vec<(String, String, f64)> = found.iter().map(told).collect();
    let found: Vec<(&str, &str, f64)> =
        found.iter().map(|(from, to, share)| (from.as_str(), to.as_str(), *share)).collect();
    assert_eq!(found, expected);
}

fn items(count: usize, item: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(item).collect()
}

#[test]
fn a_path_with_ids_of_another_container() {
    let users = whole_sample(&[&["id"]], &items(20, |n| format!(r#"{{"id":"u{n}","mail":"{n}@x"}}"#)));
    let posts = sample(
        &[&["postId"]],
        &items(60, |n| {
            format!(
                r#"{{"id":"p{n}","postId":"p{n}","userId":"u{}","votes":[{{"by":"u{}"}}],"category":"c{}","mail":"{}@x"}}"#,
                n % 20,
                n % 7,
                n % 3,
                n % 10
            )
        }),
    );
    let containers = [("users", &users.0, &users.1), ("posts", &posts.0, &posts.1)];
    let found = references(&containers);
    check(
        &found,
        &[("1  /mail", "0  /mail", 1.0), ("1  /userId", "0  /id", 1.0), ("1  /votes/[]/by", "0  /id", 1.0)],
    );
    assert_eq!(found.iter().map(|reference| reference.values).collect::<Vec<_>>(), [10, 20, 7]);
    assert!(found.iter().all(|reference| !reference.is_estimate));
}

#[test]
fn half_of_the_values_are_enough_and_less_are_not() {
    let users = sample(&[], &items(20, |n| format!(r#"{{"id":"u{n}"}}"#)));
    for (first, expected) in [(10, Some(0.5)), (11, None)] {
        let posts = sample(&[], &items(20, |n| format!(r#"{{"id":"p{n}","by":"u{}"}}"#, n + first)));
        let found = references(&[("users", &users.0, &users.1), ("posts", &posts.0, &posts.1)]);
        assert_eq!(found.first().map(|reference| reference.share), expected);
        assert!(found.iter().all(|reference| reference.is_estimate), "not all users were looked at");
    }
}

#[test]
fn few_values_refer_to_nothing() {
    let users = whole_sample(&[], &items(20, |n| format!(r#"{{"id":"u{n}"}}"#)));
    for (count, expected) in [(REFERENCE_VALUES_MIN, 1), (REFERENCE_VALUES_MIN - 1, 0)] {
        let posts =
            whole_sample(&[], &items(40, |n| format!(r#"{{"id":"p{n}","userId":"u{}"}}"#, n % count)));
        let found = references(&[("users", &users.0, &users.1), ("posts", &posts.0, &posts.1)]);
        assert_eq!(found.len(), expected);
    }
}

#[test]
fn sorts_of_one_container_and_an_item_of_the_same_sort() {
    let mixed = whole_sample(
        &[],
        &items(60, |n| match n % 2 {
            0 => format!(r#"{{"id":"p{n}","type":"post","title":"t{n}"}}"#),
            _ => format!(
                r#"{{"id":"c{n}","type":"comment","postId":"p{}","parentId":"c{}"}}"#,
                n / 4 * 2,
                n / 4 * 2 + 1
            ),
        }),
    );
    check(
        &references(&[("items", &mixed.0, &mixed.1)]),
        &[("0 comment /parentId", "0 comment /id", 1.0), ("0 comment /postId", "0 post /id", 1.0)],
    );
}

/// Where ids are small numbers, every path with some is found among all of them.
#[test]
fn names_decide_where_values_do_not() {
    let numbered = |name: &str| whole_sample(&[], &items(30, |n| format!(r#"{{"id":"{n}","{name}":true}}"#)));
    let (users, shops) = (numbered("a"), numbered("b"));
    let posts = whole_sample(
        &[],
        &items(10, |n| format!(r#"{{"id":"{n}","shop_id":"{}","user":{{"id":"{n}"}},"rank":"{n}"}}"#, n * 2)),
    );
    let containers =
        [("users", &users.0, &users.1), ("shops", &shops.0, &shops.1), ("posts", &posts.0, &posts.1)];
    check(&references(&containers), &[("2  /shop_id", "1  /id", 1.0)]);
    let others =
        whole_sample(&[], &items(10, |n| format!(r#"{{"id":"x{n}","user":{{"id":"{n}"}},"rank":"{n}"}}"#)));
    let containers =
        [("users", &users.0, &users.1), ("shops", &shops.0, &shops.1), ("others", &others.0, &others.1)];
    check(
        &references(&containers),
        &[("2  /rank", "0  /id", 1.0), ("2  /rank", "1  /id", 1.0), ("2  /user/id", "0  /id", 1.0)],
    );
}

#[test]
fn numbers_refer_to_numbers_of_a_like_name_alone() {
    let customers = whole_sample(&[], &items(30, |n| format!(r#"{{"id":"k{n}","number":{n}}}"#)));
    let orders = whole_sample(
        &[],
        &items(60, |n| format!(r#"{{"id":"o{n}","customerNumber":{},"amount":{}}}"#, n % 20, n % 11)),
    );
    check(
        &references(&[("customers", &customers.0, &customers.1), ("orders", &orders.0, &orders.1)]),
        &[("1  /customerNumber", "0  /number", 1.0)],
    );
}

#[test]
fn one_path_in_two_containers_is_no_reference() {
    let one = whole_sample(&[], &items(30, |n| format!(r#"{{"id":"a{n}","title":"t{n}"}}"#)));
    let other = whole_sample(&[], &items(30, |n| format!(r#"{{"id":"b{n}","title":"t{n}"}}"#)));
    check(&references(&[("one", &one.0, &one.1), ("other", &other.0, &other.1)]), &[]);
}

#[test]
fn more_values_than_are_kept_are_compared_where_both_are_known() {
    let users = whole_sample(&[], &items(12_000, |n| format!(r#"{{"id":"u{n}"}}"#)));
    let posts = whole_sample(&[], &items(9_000, |n| format!(r#"{{"id":"p{n}","userId":"u{}"}}"#, n + 6_000)));
    let found = references(&[("users", &users.0, &users.1), ("posts", &posts.0, &posts.1)]);
    assert_eq!(found.len(), 1);
    assert!((found[0].share - 2.0 / 3.0).abs() < 0.05, "{}", found[0].share);
    assert!(found[0].values.abs_diff(9_000) < 450, "{}", found[0].values);
}

#[test]
fn nothing_refers_to_anything_among_no_containers() {
    assert!(references(&[]).is_empty());
    let empty = (Profile::default(), Sketches::default());
    assert!(references(&[("a", &empty.0, &empty.1), ("b", &empty.0, &empty.1)]).is_empty());
}
