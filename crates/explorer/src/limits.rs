//! Bounds of the explorer.

use std::time::Duration;

/// Sessions at once. One more ends the one that was used the longest time ago.
pub(crate) const SESSIONS_MAX: usize = 256;

/// Cookies of a session's name that are looked at in one request.
pub(crate) const COOKIES_MAX: usize = 8;

/// How long a session lasts that is not used.
pub(crate) const SESSION_IDLE: Duration = Duration::from_secs(3_600);

/// How long a session lasts, however it is used.
pub(crate) const SESSION_LIFE: Duration = Duration::from_secs(12 * 3_600);

/// Longest body of a sign-in: a resource token is the longest that it may have.
pub(crate) const SIGN_IN_BYTES_MAX: usize = 16 * 1024;

/// Most bytes of a longer one that are taken before the connection is given up.
pub(crate) const SIGN_IN_DRAIN_BYTES_MAX: usize = 1024 * 1024;

/// Random bytes of the name of a session, of the token that proves a request to be the page's own, and of a nonce.
pub(crate) const SECRET_BYTES: usize = 32;
