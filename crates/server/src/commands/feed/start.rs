//! Where a feed starts: what `--from` says.

use super::time;
use crate::limits::FEED_POSITION_BYTES_MAX;

/// Where to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the oldest change there is.
    Beginning,
    /// With the next change.
    Now,
    /// With the changes of this time, in seconds since 1970.
    Time(u64),
    /// After a position that a server gave.
    Position(String),
}

impl Start {
    /// Reads what a user or a program wrote.
    pub(crate) fn parse(text: &str) -> Result<Start, String> {
        match text {
            "beginning" => return Ok(Start::Beginning),
            "now" => return Ok(Start::Now),
            _ => {}
        }
        let position = unquoted(text);
        if is_position(position) {
            return Ok(Start::Position(position.to_owned()));
        }
        time::parse(text).map(Start::Time).ok_or_else(|| {
            "neither beginning, nor now, nor a time such as 2026-01-31T12:00:00Z, nor a position that a server \
             gave"
                .to_owned()
        })
    }
}

/// Takes off the quotes that a position has in a header.
pub(super) fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}

/// Whether this looks like a position: a commit, or several with the arcs they are of (`F1;..`). What it means is
/// the server's business; here it is told from words and times.
pub(super) fn is_position(text: &str) -> bool {
    let is_commit = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let has_arcs = text
        .strip_prefix('F')
        .and_then(|rest| rest.split_once(';'))
        .is_some_and(|(version, arcs)| version.bytes().all(|byte| byte.is_ascii_digit()) && is_plain(arcs));
    (is_commit || has_arcs) && text.len() <= FEED_POSITION_BYTES_MAX
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b";-.:_+/=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_times_and_positions() {
        for (text, expected) in [
            ("beginning", Some(Start::Beginning)),
            ("now", Some(Start::Now)),
            ("2026-11-15T14:49:25Z", Some(Start::Time(1_794_754_165))),
            ("Sun, 15 Nov 2026 14:49:25 GMT", Some(Start::Time(1_794_754_165))),
            ("42", Some(Start::Position("42".to_owned()))),
            ("\"42\"", Some(Start::Position("42".to_owned()))),
            ("F1;-1F-7;1F-FF-12", Some(Start::Position("F1;-1F-7;1F-FF-12".to_owned()))),
            ("", None),
            ("\"\"", None),
            ("Beginning", None),
            ("-1", None),
            ("4 2", None),
            ("F1;a\r\nb: c", None),
            ("Fx;1", None),
            ("tomorrow", None),
        ] {
            assert_eq!(Start::parse(text).ok(), expected, "{text}");
        }
        assert!(Start::parse("x").unwrap_err().contains("2026-01-31T12:00:00Z"));
    }

    #[test]
    fn the_longest_position() {
        let longest = "1".repeat(FEED_POSITION_BYTES_MAX);
        assert!(Start::parse(&longest).is_ok());
        assert!(Start::parse(&(longest + "1")).is_err());
    }
}
