//! Requests through the whole front end, over a store in memory.

mod account;
mod client;
mod containers;
mod databases;
mod features;
mod items;
mod items_conditions;
mod items_feed;
mod permissions;
