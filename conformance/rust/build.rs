//! Takes the Rust snippet out of the README, so that `examples/readme.rs` is that program.
//!
//! Only the address is another: the one in the environment, since the usual port may be taken.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

const PRINTED: &str = r#""http://localhost:8081/""#;
const MOVED: &str = r#"std::env::var("COSMOS_ENDPOINT")?"#;

fn main() -> Result<(), Box<dyn Error>> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    println!("cargo::rerun-if-changed={}", readme.display());
    let text = fs::read_to_string(readme)?;
    let snippets: Vec<&str> = text
        .split("\n```rust\n")
        .skip(1)
        .map(|rest| rest.split_once("\n```\n").map_or(rest, |(snippet, _)| snippet))
        .collect();
    let [snippet] = snippets[..] else {
        return Err(format!("{} Rust snippets in the README; one is expected here", snippets.len()).into());
    };
    if snippet.matches(PRINTED).count() != 1 {
        return Err(format!("the README's Rust snippet does not connect to {PRINTED}").into());
    }
    let program = Path::new(&env::var("OUT_DIR")?).join("readme.rs");
    fs::write(program, snippet.replace(PRINTED, MOVED))?;
    Ok(())
}
