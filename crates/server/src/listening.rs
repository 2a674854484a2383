//! Ports and the connections that come in there: accepting, TLS, watching over them, and what is spoken.
//!
//! Not here: requests, once they are read (`requests`), and what clients make the server hold meanwhile (`rooms`).

pub(crate) mod activity;
pub(crate) mod connection;
pub(crate) mod listener;
pub(crate) mod protocol;
pub(crate) mod stream;
pub(crate) mod tls;
