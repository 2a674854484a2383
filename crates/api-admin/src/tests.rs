//! Requests through the whole front end, over a store in memory.

mod access;
mod backups;
mod buckets;
mod client;
mod nodes;
mod partitions;
mod regions;
