//! Bounds that this front end enforces on what clients send: those of the SQL API, whose port it shares.

use std::time::Duration;

/// Largest request body.
pub(crate) const REQUEST_BODY_BYTES_MAX: usize = (2 * 1024 + 64) * 1024;

/// Most bytes of a body that is too long which are taken before the connection is given up.
pub(crate) const REQUEST_DRAIN_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Longest request path, before decoding.
pub(crate) const PATH_BYTES_MAX: usize = 20 * 1024;

/// How far the date of a signature may lie from the server's clock.
pub(crate) const DATE_SKEW_DEFAULT: Duration = Duration::from_secs(15 * 60);

/// Changes of the data model that are tried together, at most.
pub(crate) const ALTERATIONS_MAX: usize = 32;
