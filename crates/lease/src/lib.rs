//! Leases: which of several processes has something, for a while, by one object of an object store.
//!
//! No two clocks are compared. A holder writes its record again and again; each time its lease is valid for a length that it
//! measures on its own clock, from *before* the record was sent. Another that wants the lease reads the record, and takes it
//! once it has seen the same one for longer than that length, measured on *its* clock from *after* it was read. Both clocks
//! have to run at about the same speed, and that is all that is asked of them ([`LEASE_GRACE_PERCENT`]).
//!
//! Every write replaces the very record that the writer has seen, or fails ([`Register`]). So a holder that was paused for
//! long finds out at its next write, and two never have the lease. In between it must not act: [`Tenure::is_valid`] says no
//! from the moment on at which another might have it.
//!
//! What a lease cannot do is to stop a write that its holder sent before it ended: that is what fences are for.

mod lease;
mod record;
mod register;
mod standing;

pub use lease::{Lease, LeaseOptions, Tenure};
pub use record::{NOTE_BYTES_MAX, Record};
pub use register::{Listed, Register, RegisterError, Registers, Version};
pub use standing::Standing;

/// By how much longer than its length a record must have stood before another takes the lease, in percent: how much faster
/// or slower one clock may run than another.
pub const LEASE_GRACE_PERCENT: u32 = 10;
