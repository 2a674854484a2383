//! Tests of names.

use proptest::prelude::*;

use super::{is_row_id, row_id, shown_name, stored_name};
use crate::entity::limits::ITEM_ID_BYTES_MAX;

#[test]
fn names_that_items_use_are_moved() {
    for (name, stored) in [
        ("a", "a"),
        ("id", "$p:id"),
        ("ID", "ID"),
        ("ttl", "$p:ttl"),
        ("_rid", "$p:_rid"),
        ("_self", "$p:_self"),
        ("_etag", "$p:_etag"),
        ("_attachments", "$p:_attachments"),
        ("_ts", "$p:_ts"),
        ("_other", "_other"),
        ("$edm", "$p:$edm"),
        ("$p:id", "$p:$p:id"),
        ("$", "$p:$"),
    ] {
        assert_eq!(stored_name(name), stored);
        assert_eq!(shown_name(stored), Some(name));
    }
    for hidden in [
        "id",
        "ttl",
        "_rid",
        "_ts",
        "_etag",
        "_self",
        "_attachments",
        "$edm",
        "$p:a",
        "$p:",
        "$x",
        "Timestamp",
        "odata.etag",
        "odata.x",
        "a@odata.type",
        "a@b",
    ] {
        assert_eq!(shown_name(hidden), None, "{hidden}");
    }
}

#[test]
fn row_keys_are_ids_where_they_can_be() {
    for key in ["r", "a b", " a", "it's", "100%", "é😀", "\"", "a'b(c)"] {
        assert_eq!(row_id(key), key);
    }
    for (key, id) in [
        ("", "\u{1f}"),
        (" ", "\u{1f}%20"),
        ("a ", "\u{1f}a%20"),
        ("a  ", "\u{1f}a %20"),
        ("50% ", "\u{1f}50%25%20"),
        ("a/b", "\u{1f}a%2Fb"),
        ("a\\b#c?d", "\u{1f}a%5Cb%23c%3Fd"),
        ("a\tb", "\u{1f}a%09b"),
        ("\u{1f}", "\u{1f}%1F"),
        ("a\u{85}", "\u{1f}a%C2%85"),
        ("a\u{3000}", "\u{1f}a%E3%80%80"),
    ] {
        assert_eq!(row_id(key), id, "{key:?}");
    }
}

#[test]
fn long_row_keys_have_ids_of_their_own() {
    let at_bound = "é".repeat(ITEM_ID_BYTES_MAX / 2) + "x";
    assert_eq!(at_bound.len(), ITEM_ID_BYTES_MAX);
    assert_eq!(row_id(&at_bound), at_bound);
    let past = at_bound.clone() + "y";
    let other = at_bound + "z";
    for id in [row_id(&past), row_id(&other), row_id(&(" ".repeat(2_000))), row_id(&"/".repeat(600))] {
        assert!(id.len() <= ITEM_ID_BYTES_MAX && id.starts_with("\u{1f}\u{1f}"), "{id:?}");
        assert!(!id.ends_with(' ') && !id.contains('/'));
    }
    assert_ne!(row_id(&past), row_id(&other));
}

proptest! {
    #[test]
    fn names_round_trip(name in "(\\$p:|\\$|_|)(id|ttl|_rid|_ts|a|edm|p:|)[a-z]{0,2}") {
        prop_assume!(name != "Timestamp");
        let stored = stored_name(&name);
        prop_assert_eq!(shown_name(&stored), Some(&*name));
    }

    #[test]
    fn ids_are_valid_and_different(left in "[a/\\\\ %#?\u{1f}\u{85}F2é]{0,6}", right in "[a/\\\\ %#?\u{1f}\u{85}F2é]{0,6}") {
        let id = row_id(&left);
        prop_assert!(!id.is_empty() && id.len() <= ITEM_ID_BYTES_MAX);
        prop_assert!(!id.contains(['/', '\\', '#', '?']) && !id.ends_with(char::is_whitespace));
        prop_assert_eq!(id == row_id(&right), left == right);
        prop_assert!(is_row_id(&id, &left));
        prop_assert_eq!(is_row_id(&id, &right), left == right);
    }
}
