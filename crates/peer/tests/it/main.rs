//! Nodes that call each other over real sockets of this machine.

#![expect(clippy::unwrap_used, reason = "tests may panic")]
#![expect(clippy::disallowed_methods, reason = "sockets take real time")]

mod answers;
mod bounds;
mod breaking;
mod ending;
mod giving_up;
mod node;
mod trust;
