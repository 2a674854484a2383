//! Item numbers: which partition gave one, and which of its numbers it is.

/// Bits of an item number that count inside the partition of its birth.
pub(crate) const SEQUENCE_BITS: u32 = 40;

/// Returns the number that a partition gives as its `sequence`th; `None` once it has no more.
pub(crate) fn item_number(range_id: u32, sequence: u64) -> Option<u64> {
    (sequence >> SEQUENCE_BITS == 0).then_some(u64::from(range_id) << SEQUENCE_BITS | sequence)
}

/// Returns which number of a partition a number is, if it was given there.
pub(crate) fn sequence_in(range_id: u32, number: u64) -> Option<u64> {
    let is_given_here = number >> SEQUENCE_BITS == u64::from(range_id);
    is_given_here.then_some(number & ((1 << SEQUENCE_BITS) - 1))
}
