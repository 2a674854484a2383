//! The SQL (NoSQL) REST API as a front end over the engine.
#![allow(dead_code)]
mod account;
mod auth;
mod binary_json;
mod body;
mod failure;
mod headers;
mod http_date;
mod json_text;
mod limits;
mod path;
mod status;
