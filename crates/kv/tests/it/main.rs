//! The stores of this crate against the behaviour suite.

mod suite;
