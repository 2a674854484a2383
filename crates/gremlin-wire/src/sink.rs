//! Where values are written: a buffer with a bound on its size and on the depth of what is in it.

use crate::WireError;
use crate::limits::MAX_VALUE_DEPTH;

/// Whether elements are written with their properties: the option `materializeProperties` of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Materialize {
    /// With their properties, where they were read.
    #[default]
    All,
    /// Only with their id and label.
    Tokens,
}

/// A buffer that is written to.
#[derive(Debug)]
pub(crate) struct Sink<'b> {
    pub(crate) out: &'b mut Vec<u8>,
    /// How long the buffer may become.
    bound: usize,
    depth: usize,
    materialize: Materialize,
}

impl<'b> Sink<'b> {
    pub(crate) fn new(out: &'b mut Vec<u8>, bound: usize, materialize: Materialize) -> Sink<'b> {
        Sink { out, bound, depth: 0, materialize }
    }

    /// Returns a buffer for a part of what is written here, as deep as this one is by now.
    pub(crate) fn inside<'o>(&self, out: &'o mut Vec<u8>, bound: usize) -> Sink<'o> {
        Sink { out, bound, depth: self.depth, materialize: self.materialize }
    }

    /// Goes into a value.
    pub(crate) fn enter(&mut self) -> Result<(), WireError> {
        self.check()?;
        self.depth += 1;
        if self.depth > MAX_VALUE_DEPTH {
            return Err(WireError::unserializable(format!(
                "A result is nested deeper than {MAX_VALUE_DEPTH} levels; unfold it before it is returned."
            )));
        }
        Ok(())
    }

    /// Leaves a value.
    pub(crate) fn leave(&mut self) -> Result<(), WireError> {
        self.depth -= 1;
        self.check()
    }

    /// Checks the size so far.
    pub(crate) fn check(&self) -> Result<(), WireError> {
        if self.out.len() > self.bound {
            return Err(WireError::unserializable(
                "A result is too large to be sent; return less of it, for example with limit(), values() or unfold().",
            ));
        }
        Ok(())
    }

    pub(crate) fn with_properties(&self) -> bool {
        self.materialize == Materialize::All
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }
}
