//! Parts of the ring, each with how far it was read.
//!
//! Usually there is one: the partition that is being read. When that is split between two pages, what is read of the
//! first half afterwards says nothing about the second, which keeps its own place until its turn comes.

use std::cmp::Ordering;

use armilla_value::HashedKey;

use super::invalid_token;
use crate::error::Result;

/// A part of the ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arc {
    /// Its first hashed key.
    pub(crate) min: HashedKey,
    /// The first one beyond.
    pub(crate) max: HashedKey,
}

/// Parts of the ring from left to right, with how far each was read. What is left of all is done; what is in none
/// of them otherwise is not begun.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segments<P>(pub(crate) Vec<(Arc, P)>);

/// How a source lies to the segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side<'s, P> {
    /// It is done.
    Left,
    /// It was read so far.
    Inside(&'s P),
    /// It was not begun.
    Right,
}

impl<P: Clone> Segments<P> {
    /// Returns how a source with these bounds lies to the segments.
    pub(crate) fn side_of(&self, (min, max): &(HashedKey, HashedKey)) -> Result<Side<'_, P>> {
        // A single key may be given as an empty range, so what is inside is asked for first.
        let inside = |(arc, _): &&(Arc, P)| {
            min.cmp_bounds(&arc.min) != Ordering::Less && max.cmp_bounds(&arc.max) != Ordering::Greater
        };
        if let Some((_, at)) = self.0.iter().find(inside) {
            return Ok(Side::Inside(at));
        }
        if self.0.first().is_some_and(|(first, _)| max.cmp_bounds(&first.min) != Ordering::Greater) {
            return Ok(Side::Left);
        }
        let overlaps = |(arc, _): &(Arc, P)| {
            min.cmp_bounds(&arc.max) == Ordering::Less && arc.min.cmp_bounds(max) == Ordering::Less
        };
        if self.0.iter().any(overlaps) {
            return Err(invalid_token("It was made for a narrower range of partition keys."));
        }
        Ok(Side::Right)
    }

    /// Returns the segments when a source was read so far, and everything left of it is done.
    pub(crate) fn advanced(
        before: Option<&Segments<P>>,
        bounds: (HashedKey, HashedKey),
        at: P,
    ) -> Segments<P> {
        let (min, max) = bounds;
        let mut segments = vec![(Arc { min, max: max.clone() }, at)];
        for (arc, at) in before.into_iter().flat_map(|before| &before.0) {
            if arc.max.cmp_bounds(&max) == Ordering::Greater {
                let min = if arc.min.cmp_bounds(&max) == Ordering::Less { &max } else { &arc.min };
                segments.push((Arc { min: min.clone(), max: arc.max.clone() }, at.clone()));
            }
        }
        Segments(segments)
    }
}
