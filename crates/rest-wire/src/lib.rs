//! What the two sides of a REST request must agree on: header names, signatures, percent coding, dates, bodies; and what
//! the front ends of one port do alike with it: checking an authorization, statuses, what every reply has.
//!
//! Front ends check with it what clients made with it, the commands and test programs of this workspace among them.
//! Where the service publishes an example, a test here compares with it: that both sides agree proves nothing.
//!
//! Invariants:
//! * no sockets, no clock, nothing of ours: everything is a function of its arguments;
//! * bytes from the network never panic: they give an error or `None`.
//!
//! Not here: what a request means (`api-sql`, `api-table`), how one is sent (`client`).

pub mod authorization;
pub mod body;
pub mod http_date;
pub mod limits;
pub mod names;
pub mod percent;
pub mod regions;
pub mod replies;
pub mod signature;
pub mod status;
pub mod well_known;
