//! Looks for bytes that `gremlin_plan` of `testing/fuzz-targets` trips over.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| armilla_fuzz_targets::gremlin_plan(data));
