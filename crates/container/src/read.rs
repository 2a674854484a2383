//! Reading items: all of a scope in their order (`list`), items and index entries as of one moment (`reader`), pages of
//! either and what they cost (`page`), what a client has seen before (`session`), and receipts (`receipts`).
//!
//! Not here: reading one item by its id (`container`), the change feed (`feed`).

pub(crate) mod list;
pub(crate) mod look_up;
pub(crate) mod page;
pub(crate) mod reader;
pub(crate) mod receipts;
pub(crate) mod session;
