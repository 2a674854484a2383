//! Looks for bytes that `mongo_message` of `testing/fuzz-targets` trips over.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| armilla_fuzz_targets::mongo_message(data));
