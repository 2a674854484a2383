use armilla_value::{PartitionKey, PropertyPath};

use super::{key_names, push_key, remove_member};

fn paths(texts: &[&str]) -> Vec<PropertyPath> {
    texts.iter().map(|text| PropertyPath::parse(text).unwrap()).collect()
}

#[test]
fn components_are_called_by_the_end_of_their_path() {
    for (texts, expected) in [
        (&["/pk"][..], &["pk"][..]),
        (&["/a/b"], &["b"]),
        (&["/tenant", "/user", "/session/id"], &["tenant", "user", "id"]),
        (&["/a/id", "/b/id", "/c"], &["a/id", "b/id", "c"]),
        (&["/\"a b\"/\"c/d\""], &["c/d"]),
    ] {
        assert_eq!(key_names(&paths(texts)), expected, "{texts:?}");
    }
}

#[test]
fn keys_are_objects_of_scalars() {
    for (texts, key, expected) in [
        (&["/pk"][..], r#"["a\"b"]"#, r#"{"pk":"a\"b"}"#),
        (&["/pk"], "[1]", r#"{"pk":1}"#),
        (&["/pk"], "[1.5]", r#"{"pk":1.5}"#),
        (&["/pk"], "[null]", r#"{"pk":null}"#),
        (&["/pk"], "[true]", r#"{"pk":true}"#),
        (&["/pk"], "[{}]", "{}"),
        (&["/a", "/b", "/c"], r#"["x",{},2]"#, r#"{"a":"x","c":2}"#),
        (&["/_partitionKey"], "[]", "{}"),
    ] {
        let mut text = b"before ".to_vec();
        push_key(&mut text, &key_names(&paths(texts)), &PartitionKey::from_json(key.as_bytes()).unwrap());
        assert_eq!(String::from_utf8(text).unwrap(), format!("before {expected}"), "{key}");
    }
}

#[test]
fn members_are_taken_out_however_they_are_spelled() {
    for (object, expected) in [
        (r#"{"_lsn":1}"#, "{}"),
        (r#"{"a":1,"_lsn":{"x":[1,"}"]},"b":"_lsn"}"#, r#"{"a":1,"b":"_lsn"}"#),
        (r#"{"\u005flsn" : 1 , "a" : 1.50 }"#, r#"{"a":1.50}"#),
        (r#"{"_lsn":1,"_lsn":2,"_LSN":3}"#, r#"{"_LSN":3}"#),
    ] {
        let mut text = b"[{},".to_vec();
        let begin = text.len();
        text.extend_from_slice(object.as_bytes());
        remove_member(&mut text, begin, "_lsn");
        assert_eq!(String::from_utf8(text).unwrap(), format!("[{{}},{expected}"), "{object}");
    }
}
