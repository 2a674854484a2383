//! What the fuzzer reaches inside of this crate; nothing else may use it.

use armilla_value::HashedKey;

use crate::feed::token;
use crate::map::arcs;
use crate::read::list::{LogicalOrder, TOKEN_ARCS_MAX, TOKEN_PREFIX};

/// Reads a text as the position of a list.
pub fn list_position(text: &str) {
    let _ = LogicalOrder::read(text);
    let Some(found) = arcs::read(TOKEN_PREFIX, text, TOKEN_ARCS_MAX) else { return };
    let written = arcs::write(TOKEN_PREFIX, &found);
    assert_eq!(arcs::read(TOKEN_PREFIX, &written, TOKEN_ARCS_MAX), Some(found), "{written}");
}

/// Reads a text as the position of a change feed, in all of the ring and in a part of it.
pub fn feed_position(text: &str) {
    let middle = HashedKey::from_bytes(&[0x20; 16]);
    for (min, max) in [(HashedKey::MIN, HashedKey::MAX), (HashedKey::MIN, middle)] {
        let Ok(found) = token::read(text, &min, &max) else { continue };
        let written = token::write(found);
        let again = token::read(&written, &min, &max).map(token::write);
        assert_eq!(again.ok(), Some(written), "{text}");
    }
}
