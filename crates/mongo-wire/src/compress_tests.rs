//! Tests of compressed bytes.
