//! Throughput: the budget of a physical partition, second by second, and the figures of what it served.
//!
//! A [`Budget`] says whether a request may begin and takes down what it cost; a [`Meter`] counts what was
//! served, how long it took and for which keys. Both are pure: time is passed in, nothing is read or written
//! elsewhere, and each call is one short lock.
//!
//! Invariants:
//! * a window (a whole second of the clock) never grants more than the highest rate that held in it, plus
//!   what was banked where bursts are allowed; what is overspent is owed by the windows that follow;
//! * a clock that goes back grants nothing.
//!
//! Not here: prices (the container counts work and prices it), which partition has which rate, and what a
//! refused request looks like on the wire.

mod bucket;
mod budget;
mod histogram;
mod hot_keys;
pub mod limits;
mod meter;
mod units;
mod window;

pub use bucket::{Bucket, BucketBudgets, BucketShares, Claim};
pub use budget::{Admitted, Budget, Policy, Priority, Throttled};
pub use histogram::{BOUNDS_US, Histogram};
pub use hot_keys::HotKey;
pub use meter::{Figures, History, Meter, OperationKind, Stretch};
pub use units::RequestUnits;
