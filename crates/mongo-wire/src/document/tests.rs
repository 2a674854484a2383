//! Tests of documents and items: names, ids, and bytes with and without a tree.

use armilla_value::{Stored, stored};
use proptest::prelude::*;

use super::*;
use crate::bson;
use crate::testing::{any_object, object, scalar};

/// Returns the document that the bytes of an item show, and checks it against the tree.
#[track_caller]
fn shown(item: &[u8]) -> Object {
    let root = Stored::open(item).unwrap().root();
    let mut out = vec![9];
    encode_node(root, &mut out).unwrap();
    let document = bson::decode(&out[1..]).unwrap();
    assert_eq!(document, node_to_document(root));
    document
}

#[track_caller]
fn check_document(document: &str, body: &str, back: &str) {
    let made = document_to_body(&object(document)).unwrap();
    assert_eq!(made, Value::Object(object(body)));
    assert_eq!(shown(&stored::encode_value(&made, &[]).unwrap()), object(back));
}

#[test]
fn an_item_begins_with_the_id_and_a_document_with_its_own() {
    check_document(r#"{"_id":5}"#, r#"{"id":"~n5","_id":5}"#, r#"{"_id":5}"#);
    check_document(
        r#"{"a":1,"_id":"x","b":2}"#,
        r#"{"id":"x","_id":"x","a":1,"b":2}"#,
        r#"{"_id":"x","a":1,"b":2}"#,
    );
    let error = document_to_body(&object(r#"{"a":1}"#)).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (53, "a document must have an '_id' to be stored"));
    assert_eq!(document_to_body(&object(r#"{"_id":[]}"#)).unwrap_err().code, 53);
}

#[test]
fn names_of_the_system_are_written_otherwise() {
    check_document(
        r#"{"_id":null,"id":"mine","_ts":1,"_etag":2,"_rid":3,"_self":4,"_attachments":5,"_x":6,"in":{"id":7}}"#,
        r#"{"id":"~0","_id":null,"$$id":"mine","$$_ts":1,"$$_etag":2,"$$_rid":3,"$$_self":4,"$$_attachments":5,
            "_x":6,"in":{"id":7}}"#,
        r#"{"_id":null,"id":"mine","_ts":1,"_etag":2,"_rid":3,"_self":4,"_attachments":5,"_x":6,"in":{"id":7}}"#,
    );
    check_document(
        r#"{"_id":1,"id":1,"$$id":2,"$$$$id":3,"$id":4,"$$$id":5,"$$other":6,"$$_id":7}"#,
        r#"{"id":"~n1","_id":1,"$$id":1,"$$$$id":2,"$$$$$$id":3,"$id":4,"$$$id":5,"$$other":6,"$$_id":7}"#,
        r#"{"_id":1,"id":1,"$$id":2,"$$$$id":3,"$id":4,"$$$id":5,"$$other":6,"$$_id":7}"#,
    );
    assert_eq!(name_in_item("_ts"), "$$_ts");
    assert_eq!(name_in_document("$$_ts"), "_ts");
    assert_eq!(name_in_item("a"), "a");
}

#[test]
fn an_item_of_a_rest_client_has_its_id_twice() {
    let item = |text: &str| stored::encode(text.as_bytes(), &[]).unwrap();
    assert_eq!(
        shown(&item(r#"{"a":1,"id":"x","b":1.0,"c":1e2,"d":"\u0041\n","$$_ts":3,"$$id":4}"#)),
        object(r#"{"_id":"x","a":1,"id":"x","b":1.0,"c":100.0,"d":"A\n","_ts":3,"$$id":4}"#)
    );
    // What looks like Extended JSON is an object there.
    let plain = shown(&item(r#"{"id":"x","_id":{"$oid":"56e1fc72e0c917e9c4714161"}}"#));
    assert!(matches!(plain.get("_id"), Some(Value::Object(_))));
    assert_eq!(plain.len(), 1);
}

#[test]
fn a_name_with_a_zero_character_makes_a_document_unreadable() {
    let item = stored::encode(br#"{"id":"x","a\u0000b":1}"#, &[]).unwrap();
    let mut out = vec![1];
    let error = encode_node(Stored::open(&item).unwrap().root(), &mut out).unwrap_err();
    assert_eq!(error.code, 22);
    assert_eq!(out, [1]);
}

proptest! {
    #[test]
    fn documents_come_back_as_they_were(object in any_object(), id in scalar()) {
        let mut document = Object::from([("_id", id)]);
        for (name, value) in object {
            if name != "_id" {
                document.insert(name, value);
            }
        }
        if let Ok(body) = document_to_body(&document) {
            let item = stored::encode_value(&body, &[]).unwrap();
            prop_assert_eq!(shown(&item), document);
        }
    }

    #[test]
    fn names_go_both_ways(name in prop_oneof!["[$]{0,6}(id|_rid|_self|_etag|_ts|_attachments|_id|x)", ".{0,6}"]) {
        let in_item = name_in_item(&name);
        prop_assert_eq!(name_in_document(&in_item), &name[..]);
        prop_assert!(!is_system_name(&in_item));
    }

    #[test]
    fn damaged_items_do_no_harm(object in any_object(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut item = stored::encode_value(&Value::Object(object), &[]).unwrap();
        let at = at.index(item.len());
        item[at] = byte;
        if let Ok(stored) = Stored::open(&item) {
            let mut out = Vec::new();
            if encode_node(stored.root(), &mut out).is_ok() {
                prop_assert!(bson::RawObject::new(&out).is_ok());
            }
        }
    }
}
