//! Versions of entities as clients see them: `W/"datetime'2022-05-06T00%3A47%3A36.5851144Z'"`.

use armilla_engine::Moment;

use crate::edm::Ticks;

const BEFORE: &str = "datetime'";
const AFTER: char = '\'';

/// Returns the etag of the version that was written at a moment.
pub(crate) fn etag_text(moment: Moment) -> String {
    let mut text = Vec::with_capacity(48);
    text.extend_from_slice(b"W/\"datetime'");
    push_encoded(moment, &mut text);
    text.extend_from_slice(b"'\"");
    String::from_utf8(text).expect("an etag is ASCII")
}

/// Appends a moment with its colons percent-encoded.
pub(super) fn push_encoded(moment: Moment, out: &mut Vec<u8>) {
    let text = Ticks::of(moment).text();
    out.extend_from_slice(&text[..13]);
    out.extend_from_slice(b"%3A");
    out.extend_from_slice(&text[14..16]);
    out.extend_from_slice(b"%3A");
    out.extend_from_slice(&text[17..]);
}

/// Reads an etag; `None` for one that was never given. Colons may be percent-encoded or not.
pub(crate) fn parse_etag(text: &str) -> Option<Moment> {
    let text = text.trim();
    let text = text.strip_prefix("W/").unwrap_or(text);
    let text = text.strip_prefix('"')?.strip_suffix('"')?;
    let text = text.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    if text.len() > Ticks::TEXT_BYTES + 4 {
        return None;
    }
    let ticks = Ticks::parse(&text.replace("%3A", ":").replace("%3a", ":"))?;
    Some(Moment::from_ticks(ticks.count()))
}

#[cfg(test)]
mod tests;
