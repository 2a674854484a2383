//! What an expression about one item may take: computed properties (conditions of patches: `tests/it/queries.rs`).

use armilla_value::Stored;
use armilla_value::stored::encode;

use super::*;

/// True, once all combinations of three elements were looked at.
const NO_THREE: &str = "NOT EXISTS(SELECT VALUE 1 FROM a IN c.list JOIN b IN c.list JOIN d IN c.list \
                                   WHERE a + b + d < 0)";

/// Elements with which that takes fewer steps than there are, and more.
const FEW: usize = 30;
const MANY: usize = 280;

fn list(elements: usize) -> String {
    let elements: Vec<String> = (0..elements).map(|element| element.to_string()).collect();
    format!("[{}]", elements.join(","))
}

#[test]
fn the_last_step_is_taken_and_the_next_is_not() {
    let watch = watch();
    let meter = Meter::new(&watch);
    assert!(meter.go_on(1) && meter.go_on(ITEM_STEPS_MAX - 1));
    assert_eq!((meter.steps(), meter.stopped()), (ITEM_STEPS_MAX, None));
    assert!(!meter.go_on(1));
    assert_eq!(meter.stopped(), Some(Stop::Steps));
}

#[test]
fn a_computed_property_of_too_many_steps_is_undefined_and_others_are_not() {
    let property = |name: &str, query: &str| ComputedProperty::new(name, query).unwrap();
    let computed = Computed(vec![
        property("slow", &format!("SELECT VALUE {NO_THREE} FROM c")),
        property("size", "SELECT VALUE ARRAY_LENGTH(c.list) FROM c"),
    ]);
    for (elements, slow) in [(FEW, Some(Value::Bool(true))), (MANY, None)] {
        let stored = encode(format!(r#"{{"list":{}}}"#, list(elements)).as_bytes(), &[]).unwrap();
        let values = computed.evaluate(Stored::open(&stored).unwrap().root());
        let size = Some(Value::from(elements as i64));
        assert_eq!(values, [("slow".to_owned(), slow), ("size".to_owned(), size)], "{elements}");
    }
}
