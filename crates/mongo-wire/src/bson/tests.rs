//! Tests of BSON.
