//! Positions in a change feed, as clients hold them.
//!
//! A token is a commit number, where it is the same for all of the scope, and else the arcs of the scope in their order,
//! each with its own. It names no physical partition, so it outlives restarts, splits and merges; and what is a position
//! in a range is one in any part of it.

use armilla_value::HashedKey;

use crate::error::Result;
use crate::limits::FEED_TOKEN_ARCS_MAX;
use crate::map::arcs::{self, Arc};

const PREFIX: &str = "F1";

/// Reads a token for the part of the ring from `min` to `max`: the arcs that it is made of.
pub(crate) fn read(token: &str, min: &HashedKey, max: &HashedKey) -> Result<Vec<Arc>> {
    read_checked(token, min, max).ok_or_else(|| arcs::invalid_token(token))
}

fn read_checked(token: &str, min: &HashedKey, max: &HashedKey) -> Option<Vec<Arc>> {
    // A parse alone would take a sign.
    if token.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(vec![Arc { min: min.clone(), max: max.clone(), after: token.parse().ok()? }]);
    }
    let mut found = arcs::read(PREFIX, token, FEED_TOKEN_ARCS_MAX)?;
    for arc in &mut found {
        arc.min = arc.min.clone().max(min.clone());
        arc.max = arc.max.clone().min(max.clone());
    }
    found.retain(|arc| arc.min < arc.max);
    let is_same = |a: &HashedKey, b: &HashedKey| a.cmp_bounds(b).is_eq();
    let covers = found.first().is_some_and(|first| is_same(&first.min, min))
        && found.last().is_some_and(|last| is_same(&last.max, max))
        && found.windows(2).all(|pair| pair[0].max == pair[1].min);
    covers.then_some(found)
}

/// Writes the token of neighbouring arcs.
pub(crate) fn write(all: impl IntoIterator<Item = Arc>) -> String {
    let mut joined: Vec<Arc> = Vec::new();
    for arc in all {
        match joined.last_mut() {
            Some(last) if last.after == arc.after && last.max == arc.min => last.max = arc.max,
            _ => joined.push(arc),
        }
    }
    match &joined[..] {
        [only] => only.after.to_string(),
        several => arcs::write(PREFIX, several),
    }
}

#[cfg(test)]
mod tests;
