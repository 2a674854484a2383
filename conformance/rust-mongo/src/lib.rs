//! Runs the official MongoDB driver for Rust, unmodified, against the built server; see `tests`.
