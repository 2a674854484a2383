//! The README's Rust snippet, which `build.rs` has taken out of there.

include!(concat!(env!("OUT_DIR"), "/readme.rs"));
