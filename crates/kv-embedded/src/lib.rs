//! kv-embedded
