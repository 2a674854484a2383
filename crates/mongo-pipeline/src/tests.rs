//! Tests of pipelines as a whole.
