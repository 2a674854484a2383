//! The README's Rust snippet, run as it is printed, as a program of its own; only the address is another.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::server::{KEY, with_server};

#[tokio::test]
async fn an_item_is_written_and_read() {
    with_server(async |port| {
        // Twice, since a reader who likes it does it again.
        for _ in 0..2 {
            let mut program = Command::new(program());
            program.env("COSMOS_ENDPOINT", format!("http://localhost:{port}/")).env("COSMOS_KEY", KEY);
            let ended = spawn_blocking(move || program.output()).await.expect("no panic");
            let output = ended.expect("`cargo test` builds the example `readme`");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let item: Value = serde_json::from_slice(&output.stdout).expect("an item is printed");
            assert_eq!(item["id"], "reading-1", "{item}");
            assert_eq!(item["deviceId"], "pump-7", "{item}");
            assert_eq!(item["celsius"], 41.5, "{item}");
            assert!(item["_etag"].is_string(), "{item}");
        }
    })
    .await;
}

/// Returns where the example is built, beside the tests.
fn program() -> PathBuf {
    let tests = env::current_exe().expect("path of the tests");
    let profile = tests.parent().and_then(|deps| deps.parent()).expect("folder of the profile");
    profile.join("examples").join(format!("readme{}", env::consts::EXE_SUFFIX))
}
