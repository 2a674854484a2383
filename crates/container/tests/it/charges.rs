//! What operations cost on real items: the model of the throughput module fed by real counting.

use armilla_container::{
    Limits, Operation, Patch, Pointer, Precondition, Priority, ReadCost, SessionToken, WriteMode,
};
use armilla_value::Value;

use crate::support::{Fixture, key};

#[tokio::test]
async fn leaves_are_counted_once_and_changed_ones_on_replace() {
    let fixture = Fixture::simple();
    let a = r#"["a"]"#;
    // Leaves: id, pk, n, two different tags. 26 + 2 x 5 + 1 = 37 write units of 4/21.
    let body = r#"{"id":"1","pk":"a","n":1,"tags":["x","y","x"]}"#;
    assert_eq!(fixture.create(a, body).await.unwrap().charge.to_string(), "7.05");
    // Nothing changed: twice the size cost. 52 write units.
    let same = fixture.write(WriteMode::Replace, a, body, Precondition::None).await.unwrap();
    assert_eq!(same.charge.to_string(), "9.90");
    // One leaf went, one came: 52 + 4.
    let changed = body.replace("\"n\":1", "\"n\":2");
    let replaced = fixture.write(WriteMode::Replace, a, &changed, Precondition::None).await.unwrap();
    assert_eq!(replaced.charge.to_string(), "10.67");
    // The same by a patch of one operation: 0.4 more.
    let increment = Operation::Increment { path: Pointer::parse("/n").unwrap(), by: Value::Int64(1) };
    let patch = Patch::new(vec![increment], 0).unwrap();
    let patched =
        fixture.container.patch_item(&key(a), "1", patch, Precondition::None, Priority::High).await.unwrap();
    assert_eq!(patched.charge.to_string(), "11.07");
    let deleted =
        fixture.container.delete_item(&key(a), "1", Precondition::None, Priority::High).await.unwrap();
    assert_eq!(deleted.charge.to_string(), "7.05");
}

#[tokio::test]
async fn a_key_that_is_the_id_costs_no_term() {
    let fixture = Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/id"]}}"#, 400, Limits::default());
    let written = fixture.create(r#"["u"]"#, r#"{"id":"u","username":"u"}"#).await.unwrap();
    assert_eq!(written.charge.to_string(), "5.71");
}

#[tokio::test]
async fn excluded_paths_cost_nothing() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"indexingMode":"consistent",
        "includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/n/?"},{"path":"/tags/*"}]}}"#;
    let fixture = Fixture::new(definition, 400, Limits::default());
    let written = fixture.create(r#"["a"]"#, r#"{"id":"1","pk":"a","n":1,"tags":["x","y"]}"#).await.unwrap();
    assert_eq!(written.charge.to_string(), "5.90");
}

#[tokio::test]
async fn reads_cost_by_size_and_consistency() {
    let fixture = Fixture::simple();
    let body = format!(r#"{{"id":"1","pk":"a","x":"{}"}}"#, "x".repeat(3_800));
    fixture.create(r#"["a"]"#, &body).await.unwrap();
    let session = SessionToken::default();
    let read = |cost| {
        fixture
            .container
            .read_item(&key(r#"["a"]"#), "1", None, &session, cost, Priority::High)
            .unwrap()
            .charge
    };
    assert_eq!(read(ReadCost::Single).to_string(), "1.10");
    assert_eq!(read(ReadCost::Double).to_string(), "2.19");
    let missing =
        fixture.container.read_item(&key(r#"["a"]"#), "2", None, &session, ReadCost::Single, Priority::High);
    assert_eq!(missing.err().unwrap().charge.to_string(), "1.00");
}
