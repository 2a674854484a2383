//! A strategy over values.
