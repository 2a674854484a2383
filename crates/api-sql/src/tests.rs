//! Requests through the whole front end, over a store in memory.

mod account;
mod batches;
mod bulk;
mod client;
mod containers;
mod databases;
mod features;
mod items;
mod items_conditions;
mod items_feed;
mod patch_conditions;
mod permissions;
mod procedures;
mod queries;
mod queries_of_feeds;
mod query_errors;
mod query_headers;
mod query_plans;
mod script_api;
mod scripts;
mod triggers;
mod user_functions;
