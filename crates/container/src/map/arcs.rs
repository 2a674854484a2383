//! Parts of the ring of hashed keys with how far each was read, and the tokens that carry them.
//!
//! Not here: which numbers they are and what a token stands for (`list`, `feed`).

use armilla_value::HashedKey;

use crate::error::Error;

/// A part of the ring that is still to be read, beyond a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arc {
    /// The first hashed key.
    pub(crate) min: HashedKey,
    /// The first hashed key beyond.
    pub(crate) max: HashedKey,
    pub(crate) after: u64,
}

/// Writes arcs behind the name of their kind.
pub(crate) fn write(prefix: &str, arcs: &[Arc]) -> String {
    let mut token = String::from(prefix);
    for arc in arcs {
        token.push_str(&format!(";{}-{}-{}", arc.min, arc.max, arc.after));
    }
    token
}

/// Reads arcs of a kind: none of them empty, in the order of the ring, at most so many.
pub(crate) fn read(prefix: &str, token: &str, arcs_max: usize) -> Option<Vec<Arc>> {
    let mut arcs: Vec<Arc> = Vec::new();
    for part in token.strip_prefix(prefix)?.strip_prefix(';')?.split(';') {
        let mut fields = part.split('-');
        let min = HashedKey::from_hex(fields.next()?)?;
        let max = HashedKey::from_hex(fields.next()?)?;
        let after = fields.next()?.parse().ok()?;
        let ordered = arcs.last().is_none_or(|last| last.max <= min) && min < max;
        if fields.next().is_some() || !ordered || arcs.len() == arcs_max {
            return None;
        }
        arcs.push(Arc { min, max, after });
    }
    Some(arcs)
}

/// Returns the failure of a caller that sent a token that is none.
pub(crate) fn invalid_token(token: &str) -> Error {
    let shown: String = token.chars().take(80).collect();
    Error::invalid(format!("Invalid Continuation Token. '{shown}' is not one of this request."))
}
