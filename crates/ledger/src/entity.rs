//! What an item says it is.

use std::borrow::Cow;

use armilla_value::json::slice;

use crate::limits::ENTITY_BYTES_MAX;

/// The names that applications usually give the property that tells sorts of items apart.
pub const DISCRIMINATORS: [&str; 8] =
    ["type", "_type", "kind", "docType", "entityType", "$type", "discriminator", "label"];

/// What the server adds to every item.
pub(crate) const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];

/// What an item says it is, and at which name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said<'t> {
    pub(crate) name: &'static str,
    pub(crate) entity: Cow<'t, str>,
}

/// Returns what an item says it is: the text at the first of [`DISCRIMINATORS`] that it has.
pub(crate) fn said(item: &[u8]) -> Option<Said<'_>> {
    let mut best: Option<(usize, &[u8])> = None;
    for member in slice::members(item).ok()? {
        let Ok(member) = member else { break };
        if member.value.first() != Some(&b'"') {
            continue;
        }
        // Names with escapes in them are none of these.
        let place = DISCRIMINATORS.iter().position(|name| name.as_bytes() == member.spelled_name());
        if let Some(place) = place.filter(|place| best.is_none_or(|(known, _)| *place < known)) {
            best = Some((place, member.value));
        }
    }
    let (place, token) = best?;
    let entity = slice::string(token)?;
    let is_name = !entity.is_empty() && entity.len() <= ENTITY_BYTES_MAX;
    is_name.then_some(Said { name: DISCRIMINATORS[place], entity })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_say_what_they_are_at_the_usual_names() {
        for (item, expected) in [
            (r#"{"id":"1","type":"post"}"#, Some(("type", "post"))),
            (r#" {"kind" : "a", "_type":"b"}"#, Some(("_type", "b"))),
            (r#"{"label":"person","type":7}"#, Some(("label", "person"))),
            (r#"{"type":"\u0061b"}"#, Some(("type", "ab"))),
            (r#"{"type":""}"#, None),
            (r#"{"types":"post"}"#, None),
            (r#"{"a":{"type":"post"}}"#, None),
            ("7", None),
            ("", None),
            ("{", None),
        ] {
            let said = said(item.as_bytes());
            assert_eq!(said.as_ref().map(|said| (said.name, &*said.entity)), expected, "{item}");
        }
        let long = |length: usize| format!(r#"{{"type":"{}"}}"#, "x".repeat(length));
        assert!(said(long(ENTITY_BYTES_MAX).as_bytes()).is_some());
        assert!(said(long(ENTITY_BYTES_MAX + 1).as_bytes()).is_none());
    }
}
