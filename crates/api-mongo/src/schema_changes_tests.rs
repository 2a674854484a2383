use armilla_env::Env;
use armilla_value::{Object, Value};

use super::{SchemaChanges, of_command};
use crate::cluster_time::ClusterClock;
use crate::limits::SCHEMA_CHANGES_MAX;
use crate::namespace::Namespace;

#[test]
fn changes_are_found_in_order_and_the_oldest_are_forgotten() {
    let clock = ClusterClock::new(Env::system());
    let changes = SchemaChanges::default();
    let own = Namespace { database: "d".to_owned(), collection: "own".to_owned() };
    let other = Namespace { database: "d".to_owned(), collection: "other".to_owned() };
    let begin = clock.now();
    changes.note(&clock, &other, "create", Object::new());
    changes.note(&clock, &own, "create", Object::new());
    changes.note(&clock, &own, "modify", Object::new());
    let first = changes.after(begin, |namespace| *namespace == own).unwrap();
    assert_eq!(first.operation, "create");
    assert!(changes.is_made_after(begin, &own) && !changes.is_made_after(first.at, &own));
    let second = changes.after(first.at, |namespace| *namespace == own).unwrap();
    assert_eq!(second.operation, "modify");
    assert!(changes.after(second.at, |_| true).is_none());
    for _ in 0..SCHEMA_CHANGES_MAX {
        changes.note(&clock, &other, "modify", Object::new());
    }
    assert!(changes.after(begin, |namespace| *namespace == own).is_none());
}

#[test]
fn commands_tell_what_they_changed() {
    let command =
        |name: &str, member: &str, value: Value| Object::from([(name, Value::from("c")), (member, value)]);
    let ok = Object::new();
    let indexes = command("createIndexes", "indexes", Value::Array(Vec::new()));
    assert_eq!(of_command("createIndexes", &indexes, &ok).unwrap().0, "createIndexes");
    let note = Object::from([("note", "all indexes already exist")]);
    assert!(of_command("createIndexes", &indexes, &note).is_none());
    let dropped =
        of_command("dropIndexes", &command("dropIndexes", "index", Value::from("x_1")), &ok).unwrap();
    assert_eq!(
        dropped.1.get("indexes"),
        Some(&Value::Array(vec![Value::Object(Object::from([("name", "x_1")]))]))
    );
    assert_eq!(of_command("collMod", &Object::from([("collMod", "c")]), &ok).unwrap().0, "modify");
    assert!(of_command("insert", &Object::from([("insert", "c")]), &ok).is_none());
}
