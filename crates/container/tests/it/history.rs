//! Random histories compared with a model.

use std::collections::BTreeMap;

use armilla_container::{ErrorKind, Limits, Precondition, Priority, WriteMode};
use proptest::prelude::*;

use crate::support::{Fixture, key, text};

#[derive(Debug, Clone)]
enum Step {
    Create { partition: u8, id: u8, payload: u8 },
    Upsert { partition: u8, id: u8, payload: u8 },
    Replace { partition: u8, id: u8, payload: u8 },
    Delete { partition: u8, id: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0..4u8, 0..6u8);
    prop_oneof![
        (place.clone(), any::<u8>()).prop_map(|((partition, id), payload)| Step::Create {
            partition,
            id,
            payload
        }),
        (place.clone(), any::<u8>()).prop_map(|((partition, id), payload)| Step::Upsert {
            partition,
            id,
            payload
        }),
        (place.clone(), any::<u8>()).prop_map(|((partition, id), payload)| Step::Replace {
            partition,
            id,
            payload
        }),
        place.prop_map(|(partition, id)| Step::Delete { partition, id }),
    ]
}

fn body(partition: u8, id: u8, payload: u8) -> String {
    // Every eighth item lacks the unique property; those of one partition then share its null.
    let unique = if payload.is_multiple_of(8) { String::new() } else { format!(r#","u":{}"#, payload % 8) };
    format!(r#"{{"id":"{id}","pk":{partition}{unique},"x":"{}"}}"#, "x".repeat(usize::from(payload)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_container_agrees_with_a_map(steps in prop::collection::vec(step(), 1..80)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
                "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
            let fixture = Fixture::new(definition, 20_000, Limits::default());
            let mut model: BTreeMap<(u8, u8), (String, u8)> = BTreeMap::new();
            for step in steps {
                let (partition, id) = match step {
                    Step::Create { partition, id, .. }
                    | Step::Upsert { partition, id, .. }
                    | Step::Replace { partition, id, .. }
                    | Step::Delete { partition, id } => (partition, id),
                };
                let exists = model.contains_key(&(partition, id));
                let (mode, payload) = match step {
                    Step::Create { payload, .. } => (WriteMode::Create, payload),
                    Step::Upsert { payload, .. } => (WriteMode::Upsert, payload),
                    Step::Replace { payload, .. } => (WriteMode::Replace, payload),
                    Step::Delete { .. } => {
                        let partition_key = key(&format!("[{partition}]"));
                        let result =
                            fixture.container.delete_item(&partition_key, &id.to_string(), Precondition::None, Priority::High).await;
                        assert_eq!(result.is_ok(), model.remove(&(partition, id)).is_some());
                        continue;
                    }
                };
                let taken = model.iter().any(|((other_partition, other), (_, unique))| {
                    *other_partition == partition && *other != id && *unique == payload % 8
                });
                let text = body(partition, id, payload);
                let result = fixture.write(mode, &format!("[{partition}]"), &text, Precondition::None).await;
                let expected = match (mode, exists) {
                    (WriteMode::Create, true) => Some(ErrorKind::ItemExists),
                    (WriteMode::Replace, false) => Some(ErrorKind::ItemNotFound),
                    _ if taken => Some(ErrorKind::UniqueKeyTaken),
                    _ => None,
                };
                assert_eq!(result.as_ref().err().map(|error| error.kind), expected);
                if expected.is_none() {
                    model.insert((partition, id), (text, payload % 8));
                }
            }
            for ((partition, id), (expected, _)) in &model {
                assert_eq!(text(&fixture.read(&format!("[{partition}]"), &id.to_string()).unwrap()), *expected);
            }
            assert_eq!(fixture.container.counters().unwrap().items, model.len() as u64);
            fixture.check();
        });
    }
}
