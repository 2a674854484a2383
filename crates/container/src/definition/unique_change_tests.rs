//! What is stored of unique keys that come and go.

use armilla_value::{PropertyPath, Value, json};

use super::*;

fn key(path: &str) -> UniqueKey {
    UniqueKey::new(vec![PropertyPath::parse(path).unwrap()], false)
}

fn definition() -> ContainerDefinition {
    let text = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]},{"paths":["/b"]}]}}"#;
    ContainerDefinition::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

fn policy(value: &Value) -> String {
    value.get("uniqueKeyPolicy").map(json::to_string).unwrap_or_default()
}

#[test]
fn slots_are_kept_and_not_shown() {
    let before = definition();
    assert_eq!(policy(&before.to_stored()), policy(&before.to_value()));
    let building = before.building_unique_keys(&[key("/b"), key("/c")]).unwrap();
    assert_eq!(
        policy(&building.to_stored()),
        r#"{"uniqueKeys":[{"paths":["/a"]},{"paths":["/b"]},{"paths":["/c"],"building":true}]}"#
    );
    assert_eq!(building.to_value(), before.to_value());
    let held = building.with_unique_keys(&[key("/b"), key("/c")]);
    let stored = r#"{"uniqueKeys":[{"paths":["/b"],"slot":1},{"paths":["/c"],"slot":2}],"droppedSlots":[0]}"#;
    assert_eq!(policy(&held.to_stored()), stored);
    assert_eq!(policy(&held.to_value()), r#"{"uniqueKeys":[{"paths":["/b"]},{"paths":["/c"]}]}"#);
    assert_eq!(ContainerDefinition::from_stored(&held.to_stored()).unwrap(), held);
    // A slot is given again once it is empty.
    let next = held.building_unique_keys(&[key("/b"), key("/c"), key("/d")]).unwrap();
    assert_eq!(next.unique_keys[2].slot, 3);
    let next = held.without_slots(&[0]).building_unique_keys(&[key("/d")]).unwrap();
    assert_eq!(next.unique_keys[2].slot, 0);
    let none = held.with_unique_keys(&[]);
    assert_eq!(policy(&none.to_stored()), r#"{"uniqueKeys":[],"droppedSlots":[0,1,2]}"#);
    assert_eq!(ContainerDefinition::from_stored(&none.to_stored()).unwrap(), none);
}

#[test]
fn a_key_that_was_being_built_is_read_as_dropped() {
    let building = definition().building_unique_keys(&[key("/c"), key("/d")]).unwrap();
    let read = ContainerDefinition::from_stored(&building.to_stored()).unwrap();
    assert_eq!(read, building.without_building_keys());
    assert_eq!(read.dropped_slots(), [2, 3]);
    assert_eq!(read.to_value(), definition().to_value());
}

#[test]
fn too_many_keys_are_refused() {
    let wanted: Vec<UniqueKey> = (0..8).map(|number| key(&format!("/k{number}"))).collect();
    assert!(definition().building_unique_keys(&wanted).is_ok());
    let wanted: Vec<UniqueKey> = (0..9).map(|number| key(&format!("/k{number}"))).collect();
    let refused = definition().building_unique_keys(&wanted).unwrap_err();
    assert!(refused.message.contains("at most 10"), "{refused:?}");
}

#[test]
fn a_damaged_record_is_refused() {
    for policy in [
        r#"{"uniqueKeys":[{"paths":["/a"],"slot":300}]}"#,
        r#"{"uniqueKeys":[{"paths":["/a"],"slot":1},{"paths":["/b"]}]}"#,
        r#"{"uniqueKeys":[{"paths":["/a"]}],"droppedSlots":[0]}"#,
        r#"{"uniqueKeys":[],"droppedSlots":["x"]}"#,
        r#"{"uniqueKeys":5}"#,
    ] {
        let mut value = definition().to_stored();
        if let Value::Object(members) = &mut value {
            members.insert("uniqueKeyPolicy", json::parse(policy.as_bytes()).unwrap());
        }
        assert!(ContainerDefinition::from_stored(&value).is_err(), "{policy}");
    }
}

#[test]
fn both_zeros_can_be_one_partition_key() {
    use armilla_value::{Component, PartitionKey};
    let text = r#"{"id":"c","partitionKey":{"paths":["/pk"],"joinsZeros":true}}"#;
    let joined = ContainerDefinition::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap();
    assert_eq!(ContainerDefinition::from_value(&joined.to_value()).unwrap(), joined);
    let negative = PartitionKey(vec![Component::Number(-0.0)]);
    assert_eq!(*joined.partition_key.meant(&negative), PartitionKey(vec![Component::Number(0.0)]));
    assert_eq!(*definition().partition_key.meant(&negative), negative);
    // It is fixed when a container is made, and clients that do not know of it leave it out.
    assert_eq!(
        joined.replace(&ContainerDefinition { unique_keys: Vec::new(), ..definition() }).unwrap(),
        joined
    );
}
