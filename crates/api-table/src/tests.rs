//! Requests through the whole front end, over a store in memory.

mod access;
mod batches;
mod client;
mod entities;
mod queries;
mod same_data;
mod service;
mod tables;
mod throttling;
