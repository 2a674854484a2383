//! The `armilla` command.

fn main() {}
