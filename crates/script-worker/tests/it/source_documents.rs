//! The scripts of the documents that the project comes from, where those are at hand.

use armilla_script::{Role, WriteKind};
use armilla_value::Value;

use crate::memory::{Memory, procedure, run_as};

/// Finds a function by its name in the texts of a folder, which the environment names.
fn script(name: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("ARMILLA_SOURCE_DOCUMENTS") else {
        println!("skipped: ARMILLA_SOURCE_DOCUMENTS names no folder");
        return None;
    };
    let begin = format!("function {name}(");
    for entry in std::fs::read_dir(folder).unwrap() {
        let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
        if let Some(start) = text.find(&begin) {
            let rest = &text[start..];
            return Some(rest[..rest.find("```").unwrap()].to_owned());
        }
    }
    panic!("no document has a function {name}");
}

#[test]
fn a_comment_is_created_and_counted() {
    let Some(body) = script("createComment") else { return };
    let mut memory = Memory::of(r#"[{"id":"p1","postId":"p1","commentCount":2}]"#);
    let outcome = procedure(&body, r#"["p1",{"id":"c1","content":"so it is"}]"#, &mut memory);
    assert!(outcome.result.is_ok(), "{outcome:?}");
    assert_eq!(memory.documents["p1"].get("commentCount"), Some(&Value::from(3)));
    assert_eq!(memory.documents["c1"].get("postId"), Some(&Value::from("p1")));
    let missing = procedure(&body, r#"["p2",{"id":"c2"}]"#, &mut memory);
    assert!(missing.result.is_err());
}

#[test]
fn user_names_are_updated() {
    let Some(body) = script("updateUsernames") else { return };
    let mut memory =
        Memory::of(r#"[{"id":"1","userId":"u"},{"id":"2","userId":"v"},{"id":"3","userId":"u"}]"#);
    let outcome = procedure(&body, r#"["u","new"]"#, &mut memory);
    assert!(outcome.result.is_ok(), "{outcome:?}");
    let named: Vec<bool> =
        memory.documents.values().map(|document| document.contains("userUsername")).collect();
    assert_eq!(named, [true, false, true]);
}

#[test]
fn the_feed_is_kept_short() {
    let Some(body) = script("truncateFeed") else { return };
    // The queries of the real thing do not see the document that was just written; nor is it here.
    let documents: Vec<String> =
        (0..102).map(|n| format!(r#"{{"id":"{n:03}","creationDate":"2020-{n:03}"}}"#)).collect();
    let mut memory = Memory::of(&format!("[{}]", documents.join(",")));
    let role = Role::PostTrigger {
        operation: WriteKind::Create,
        request_body: Some(r#"{"id":"new"}"#),
        response_body: Some(r#"{"id":"new"}"#),
    };
    let outcome = run_as(&body, role, &mut memory);
    assert!(outcome.result.is_ok(), "{outcome:?}");
    assert_eq!(memory.documents.len(), 99);
    assert!(!memory.documents.contains_key("002") && memory.documents.contains_key("003"));
}
