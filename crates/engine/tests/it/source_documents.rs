//! The scripts of a published walk through modelling data for this kind of store, run as they are printed.
//!
//! They are read at run time from the folder that `ARMILLA_SOURCE_DOCUMENTS` names; without it there is nothing to run.

use std::path::PathBuf;

use armilla_engine::{ErrorKind, ScriptKind, TriggerRule, Triggers, WriteMode};

use crate::support::{Fixture, defined, refused, value};

/// Returns the text of the function with a name, from its first line to the end of its code block.
#[expect(clippy::print_stderr, reason = "whoever reads the tests' output should know what was not run")]
fn script(name: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("ARMILLA_SOURCE_DOCUMENTS") else {
        eprintln!("skipped: ARMILLA_SOURCE_DOCUMENTS is not set");
        return None;
    };
    let mut documents: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    documents.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("003_"));
    let text = std::fs::read_to_string(documents.first().unwrap()).unwrap();
    let start = text.find(&format!("function {name}(")).unwrap();
    let length = text[start..].find("```").unwrap();
    Some(text[start..start + length].to_owned())
}

async fn posts() -> Fixture {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(r#"{"id":"c","partitionKey":{"paths":["/postId"]}}"#);
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), None).await.unwrap();
    let post =
        r#"{"id":"p1","type":"post","postId":"p1","userId":"u1","userUsername":"ann","commentCount":0}"#;
    fixture.upsert("p1", post).await;
    fixture
}

#[tokio::test]
async fn a_comment_is_created_and_counted() {
    let Some(text) = script("createComment") else { return };
    let fixture = posts().await;
    fixture.procedure("createComment", &text).await;
    for n in 1..=3 {
        let comment = format!(r#"["p1",{{"id":"c{n}","type":"comment","userId":"u2","content":"text"}}]"#);
        fixture.run("createComment", "p1", &comment).await.unwrap();
        let count = fixture.item("p1", "p1").unwrap().get("commentCount").unwrap().as_i64();
        assert_eq!(count, Some(n));
        let comment = fixture.item("p1", &format!("c{n}")).unwrap();
        assert_eq!(comment.get("postId").unwrap().as_str(), Some("p1"));
    }
    // A comment that cannot be created is not counted either.
    let twice = fixture.run("createComment", "p1", r#"["p1",{"id":"c1"}]"#).await;
    refused(twice, ErrorKind::ScriptFailed(Some(409)));
    assert_eq!(fixture.item("p1", "p1").unwrap().get("commentCount").unwrap().as_i64(), Some(3));
    let nowhere = fixture.run("createComment", "p2", r#"["p2",{"id":"c1"}]"#).await;
    refused(nowhere, ErrorKind::ScriptFailed(Some(404)));
}

#[tokio::test]
async fn a_name_is_changed_wherever_it_stands() {
    let Some(text) = script("updateUsernames") else { return };
    let fixture = posts().await;
    fixture.procedure("updateUsernames", &text).await;
    for n in 0..20 {
        let user = n % 2 + 1;
        let comment = format!(
            r#"{{"id":"c{n}","type":"comment","postId":"p1","userId":"u{user}","userUsername":"old{user}"}}"#
        );
        fixture.upsert("p1", &comment).await;
    }
    fixture.run("updateUsernames", "p1", r#"["u1","anna"]"#).await.unwrap();
    let names = "SELECT VALUE COUNT(1) FROM c WHERE c.userUsername = ";
    assert_eq!(fixture.query(&format!("{names}'anna'")).await, "11");
    assert_eq!(fixture.query(&format!("{names}'old2'")).await, "10");
}

#[tokio::test]
async fn a_feed_keeps_its_newest_hundred() {
    let Some(text) = script("truncateFeed") else { return };
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(r#"{"id":"c","partitionKey":{"paths":["/type"]}}"#);
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), None).await.unwrap();
    let trigger = Some(TriggerRule::parse("Post", "Create").unwrap());
    let definition = armilla_engine::ScriptDefinition { id: "truncateFeed".to_owned(), body: text, trigger };
    let kind = ScriptKind::Trigger;
    fixture.engine.create_script(&fixture.caller, "d", "c", kind, &definition).await.unwrap();
    let triggers = Triggers { post: Some("truncateFeed".to_owned()), ..Triggers::default() };
    for n in 0..130u32 {
        let post = format!(
            r#"{{"id":"p{n}","type":"post","creationDate":"2026-01-01T00:{:02}:{:02}Z"}}"#,
            n / 60,
            n % 60
        );
        fixture.put(WriteMode::Create, "post", &post, &triggers).await.unwrap();
        let count = fixture.query("SELECT VALUE COUNT(1) FROM c").await;
        assert_eq!(count, (n + 1).min(100).to_string());
    }
    let oldest = "SELECT TOP 1 VALUE c.id FROM c ORDER BY c.creationDate";
    assert_eq!(fixture.query(oldest).await, r#""p30""#);
}
