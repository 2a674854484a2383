//! Unique indexes and the keys that they are.

use armilla_value::json;

use super::*;

fn index(text: &str) -> Index {
    Index::parse(json::parse(text.as_bytes()).unwrap().as_object().unwrap()).unwrap()
}

fn definition(keys: &str) -> ContainerDefinition {
    let text = format!(
        r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"uniqueKeyPolicy":{{"uniqueKeys":{keys}}}}}"#
    );
    ContainerDefinition::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn indexes_over_the_same_fields_are_one_key() {
    let both = [
        index(r#"{"key":{"a":1,"b":1},"name":"x","unique":true,"sparse":true}"#),
        index(r#"{"key":{"b":-1,"a":1},"name":"y","unique":true}"#),
        index(r#"{"key":{"c":1},"name":"z"}"#),
    ];
    let keys = keys(&both).unwrap();
    assert_eq!(keys.len(), 1);
    assert!(!keys[0].is_sparse);
    let policy = json::to_string(&policy(&both).unwrap().unwrap());
    assert_eq!(policy, r#"{"uniqueKeys":[{"paths":["/a","/b"]}]}"#);
}

#[test]
fn what_is_shown_is_what_the_container_keeps_to() {
    let kept = vec![
        index(r#"{"key":{"a":1},"name":"a_1","unique":true}"#),
        index(r#"{"key":{"b":1},"name":"b_1","unique":true}"#),
        index(r#"{"key":{"c":1},"name":"c_1"}"#),
    ];
    let definition = definition(r#"[{"paths":["/b"]},{"paths":["/d/e","/f"],"sparse":true}]"#);
    let shown = reconciled(kept, &definition);
    let names: Vec<&str> = shown.iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["b_1", "c_1", "d.e_1_f_1"]);
    assert!(shown[2].is_unique && shown[2].is_sparse);
}
