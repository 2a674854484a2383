//! Tests of the built program: started as a process, spoken to over sockets.

mod checking;
mod configuration;
mod http;
mod process;
mod raw_http;
mod shutdown;
mod signing;
mod slow_clients;
mod starting;
mod transport;
