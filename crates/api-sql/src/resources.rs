//! What an account is made of besides items: one file per kind of resource, with an engine operation and its reply for
//! each verb.
//!
//! ```text
//! account                    the account itself, which clients read first
//! databases, containers      the tree, with the throughput that new ones ask for (offer_headers)
//! ranges, usage              the physical partitions of a container, and how full it is
//! scripts, procedures        server-side scripts, and running those that requests run
//! users, permissions         who may do what
//! offers                     throughput
//! conflicts                  none
//! resource_body              what stands in their bodies, in the words of the service
//! ```
//!
//! Not here: queries of their feeds (`queries`).

pub(crate) mod account;
pub(crate) mod conflicts;
pub(crate) mod containers;
pub(crate) mod databases;
pub(crate) mod encryption_keys;
pub(crate) mod key_deletion;
mod offer_headers;
pub(crate) mod offers;
pub(crate) mod permissions;
pub(crate) mod procedures;
pub(crate) mod ranges;
pub(crate) mod resource_body;
pub(crate) mod scripts;
pub(crate) mod usage;
pub(crate) mod users;
