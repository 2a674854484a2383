//! Runs the official Rust SDK, unmodified and with its default options, against the built server.
//!
//! By default the SDK speaks HTTP/2 and writes items as binary JSON, which no other suite does. Every scenario runs
//! over plain HTTP (HTTP/2 with prior knowledge) and over TLS.

mod change_feed;
mod containers;
mod items;
mod queries;
mod readme;
mod server;
mod throughput;
mod time_to_live;
mod transport;
