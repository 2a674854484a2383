//! Tests of the built program: started as a process, spoken to over sockets.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod checking;
mod client;
mod configuration;
mod feed;
#[cfg(target_os = "linux")]
mod health;
mod http;
mod pages;
mod partitions;
mod process;
mod raw_http;
mod shutdown;
mod signing;
mod slow_clients;
mod starting;
mod tables;
mod transport;
