//! The records of scripts, which folders of older versions hold too.

use armilla_value::rid::{ContainerRid, DatabaseRid};

use super::*;

fn rid(kind: ScriptKind) -> ChildRid {
    let container = ContainerRid::new(DatabaseRid::new(1).unwrap(), 2);
    ChildRid::new(container, kind.child_kind(), 7).unwrap()
}

fn record(json: &str) -> Vec<u8> {
    [&[1], json.as_bytes()].concat()
}

#[test]
fn records_are_written_as_they_are_read() {
    for (kind, tag, json) in [
        (
            ScriptKind::UserDefinedFunction,
            b'f',
            r#"{"version":7,"ts":1700000000,"id":"f","body":"function (x) { return \"y\"; }"}"#,
        ),
        (ScriptKind::StoredProcedure, b'r', r#"{"version":9,"ts":1,"id":"p q","body":"() => 1"}"#),
        (
            ScriptKind::Trigger,
            b't',
            r#"{"version":9,"ts":1,"id":"t","body":"() => 1","triggerType":"pre","triggerOperation":"All"}"#,
        ),
    ] {
        let decoded = StoredScript::decode(kind, rid(kind), &record(json)).unwrap();
        assert_eq!(decoded.encode(), record(json));
        let key = decoded.key();
        assert_eq!((key[0], ScriptKind::of_record_tag(key[0])), (tag, Some(kind)));
        assert_eq!(parse_rid(kind, std::str::from_utf8(&key[1..]).unwrap()), Some(rid(kind)));
        for other in ScriptKind::ALL.into_iter().filter(|other| *other != kind) {
            assert_eq!(parse_rid(other, &rid(kind).to_string()), None);
        }
    }
    assert_eq!(ScriptKind::of_record_tag(b'k'), None);
}

#[test]
fn damaged_records_are_said_to_be() {
    for (kind, json) in [
        (ScriptKind::UserDefinedFunction, r#"{"version":7,"ts":1,"id":"f"}"#),
        (ScriptKind::StoredProcedure, r#"{"version":7,"ts":1,"body":"x"}"#),
        (ScriptKind::Trigger, r#"{"version":7,"ts":1,"id":"t","body":"x","triggerType":"Pre"}"#),
        (
            ScriptKind::Trigger,
            r#"{"version":7,"ts":1,"id":"t","body":"x","triggerType":"Pre","triggerOperation":"Read"}"#,
        ),
    ] {
        let error = StoredScript::decode(kind, rid(kind), &record(json)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Corrupt, "{json}");
    }
}
