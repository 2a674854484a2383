//! Driving a real server process from outside: starting, asking, measuring and killing it.
//!
//! The crash program, the change feed program, the hostile clients and the benchmarks share this. Nothing here knows the server's insides: it sees a
//! command line, a ready line, a socket and what the operating system says of a process.

pub mod http_client;
pub mod map;
pub mod partitions;
pub mod process_figures;
pub mod program;
pub mod requests;
pub mod server_process;
