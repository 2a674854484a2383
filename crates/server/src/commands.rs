//! What the program does besides serving: looking after a data folder, and asking a server that runs.

pub(crate) mod advise;
pub(crate) mod backup;
pub(crate) mod backup_options;
pub(crate) mod buckets;
pub(crate) mod check;
pub(crate) mod client_options;
pub(crate) mod feed;
pub(crate) mod nodes;
pub(crate) mod partition_table;
pub(crate) mod progress;
pub(crate) mod query;
pub(crate) mod region;
pub(crate) mod repair;
pub(crate) mod reshape;
pub(crate) mod restore;
