//! Tokens that clients hold and send back: none of them panics, and what is read is written so that it reads the same.

use armilla_container::SessionToken;

/// Reads bytes as the continuation of a query, of a list and of a change feed.
pub fn continuation(data: &[u8]) {
    armilla_query::fuzzing::continuation(data);
    if let Ok(text) = std::str::from_utf8(data) {
        armilla_container::fuzzing::list_position(text);
        armilla_container::fuzzing::feed_position(text);
    }
}

/// Reads bytes as a session token.
pub fn session(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(token) = SessionToken::parse(text) else { return };
    let written = token.to_string();
    assert_eq!(SessionToken::parse(&written).as_ref().ok(), Some(&token), "{written}");
    let _ = token.lsn(0, &[1, u32::MAX]);
}
