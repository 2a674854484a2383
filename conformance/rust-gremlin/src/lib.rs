//! Runs the client `gremlin-client`, unmodified, against the built server; see `tests`.
