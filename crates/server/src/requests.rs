//! Requests in HTTP: who may send them and to whom, which API answers, and what is answered without one.

pub(crate) mod answer;
pub(crate) mod api;
pub(crate) mod catch_panic;
pub(crate) mod gremlin;
pub(crate) mod handler;
pub(crate) mod hosts;
pub(crate) mod mongo;
pub(crate) mod origins;
pub(crate) mod waiting;
