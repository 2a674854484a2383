//! Updates by pipeline.

use super::check_all;

#[test]
fn refusals() {
    check_all(&[
        (r#"{"_id": 1}"#, r#"[]"#, "="),
        (r#"{"_id": 1}"#, r#"[1]"#, "!14"),
        (r#"{"_id": 1}"#, r#"[{}]"#, "!40323"),
        (r#"{"_id": 1}"#, r#"[{"$set": {"a": 1}, "$unset": "b"}]"#, "!40323"),
        (r#"{"_id": 1}"#, r#"[{"$foo": 1}]"#, "!40324 Unrecognized pipeline stage name: '$foo'"),
        (r#"{"_id": 1}"#, r#"[{"$match": {}}]"#, "!72 $match is not allowed to be used within an update"),
        (r#"{"_id": 1}"#, r#"[{"$replaceRoot": 1}]"#, "!40229"),
        (r#"{"_id": 1}"#, r#"[{"$replaceRoot": {"x": 1}}]"#, "!40415"),
        (r#"{"_id": 1}"#, r#"[{"$replaceRoot": {}}]"#, "!40414"),
    ]);
}
