//! What the writers write: items whose content says which write made them.

use std::fmt::Write as _;

use armilla_env::Random;
use armilla_value::{Object, Value, json};

/// Properties that the server adds.
const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// The containers that clients write to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Area {
    /// Two physical partitions, no constraints.
    Items,
    /// One physical partition with a unique key.
    Unique,
    /// Two physical partitions, written by transactions alone.
    Banks,
}

impl Area {
    /// All of them.
    pub(crate) const ALL: [Area; 3] = [Area::Items, Area::Unique, Area::Banks];

    /// Those whose items have one writer each.
    pub(crate) const OWNED: [Area; 2] = [Area::Items, Area::Unique];

    /// Returns the container's name.
    pub(crate) fn container(self) -> &'static str {
        match self {
            Area::Items => "items",
            Area::Unique => "unique",
            Area::Banks => "banks",
        }
    }
}

/// The content of an item. No two writes of one item have the same, so it is always clear which of them is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// Names the write.
    pub(crate) sequence: u64,
    /// What patches increment.
    pub(crate) count: i64,
    /// The value of the unique key, in the container that has one.
    pub(crate) email: Option<String>,
    /// Length of the filling, which is made from its seed.
    pub(crate) filling_bytes: usize,
    /// What the filling is made from.
    pub(crate) filling_seed: u64,
}

impl Content {
    /// Returns the item's JSON.
    pub(crate) fn json(&self, id: &str, partition_key: &str) -> String {
        let Content { sequence, count, email, filling_bytes, filling_seed } = self;
        let mut text = String::with_capacity(160 + filling_bytes);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{{\"id\":\"{id}\",\"pk\":\"{partition_key}\",\"sequence\":{sequence},\"count\":{count},"
        );
        if let Some(email) = email {
            let _ = write!(text, "\"email\":\"{email}\",");
        }
        let _ = write!(text, "\"nested\":{{\"sequence\":{sequence},\"tags\":[\"a\",\"b\"]}},\"filling\":\"");
        Random::new(*filling_seed).push_text(*filling_bytes, &mut text);
        text.push_str("\"}");
        text
    }

    /// Returns the body of the patch that makes this content of an older one.
    pub(crate) fn patch_from(&self, old: &Content) -> String {
        let Content { sequence, count, .. } = self;
        let mut text = format!(
            "{{\"operations\":[{{\"op\":\"set\",\"path\":\"/sequence\",\"value\":{sequence}}},\
             {{\"op\":\"incr\",\"path\":\"/count\",\"value\":{}}},\
             {{\"op\":\"replace\",\"path\":\"/nested/sequence\",\"value\":{sequence}}}",
            count - old.count
        );
        if let Some(email) = self.email.as_ref().filter(|email| Some(*email) != old.email.as_ref()) {
            let _ = write!(text, ",{{\"op\":\"set\",\"path\":\"/email\",\"value\":\"{email}\"}}");
        }
        text.push_str("]}");
        text
    }

    /// Says whether an item as the server shows it has this content.
    pub(crate) fn is_that_of(&self, id: &str, partition_key: &str, shown: &Shown) -> bool {
        let own = json::parse(self.json(id, partition_key).as_bytes()).expect("content is JSON");
        own.as_object() == Some(&shown.content)
    }
}

/// An item as the server shows it, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// What the client wrote.
    pub(crate) content: Object,
    /// The item's version.
    pub(crate) etag: String,
}

impl Shown {
    /// Takes a body apart.
    pub(crate) fn parse(body: &[u8]) -> Result<Shown, String> {
        Shown::of(json::parse(body).map_err(|error| format!("an item's body is not JSON: {error}"))?)
    }

    /// Takes an element of a feed apart.
    pub(crate) fn of(value: Value) -> Result<Shown, String> {
        let Value::Object(mut content) = value else { return Err("an item is not an object".to_owned()) };
        let mut etag = None;
        for name in SYSTEM_PROPERTIES {
            let value = content.remove(name).ok_or_else(|| format!("an item has no {name}"))?;
            if name == "_etag" {
                etag = value.as_str().map(str::to_owned);
            }
        }
        let etag = etag.ok_or("an item's _etag is not text")?;
        Ok(Shown { content, etag })
    }

    /// Returns a text property.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.content.get(name).and_then(Value::as_str)
    }

    /// Returns a whole-number property.
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        self.content.get(name).and_then(Value::as_i64)
    }

    /// Returns what to say of the item in a message.
    pub(crate) fn describe(&self) -> String {
        let bytes = self.text("filling").map_or(0, str::len);
        format!(
            "sequence {:?}, count {:?}, email {:?}, {bytes} bytes of filling, etag {}",
            self.integer("sequence"),
            self.integer("count"),
            self.text("email"),
            self.etag
        )
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn content(sequence: u64) -> Content {
        Content { sequence, count: 5, email: Some("a@b".to_owned()), filling_bytes: 20, filling_seed: 9 }
    }

    /// Returns the body that a server would show.
    pub(crate) fn shown_body(content: &Content, etag: &str) -> String {
        let text = content.json("i", "p");
        format!(
            "{},\"_rid\":\"r\",\"_self\":\"s\",\"_etag\":\"\\\"{etag}\\\"\",\"_attachments\":\"a\",\"_ts\":1}}",
            text.strip_suffix('}').unwrap()
        )
    }

    #[test]
    fn content_is_recognised() {
        let shown = Shown::parse(shown_body(&content(1), "e").as_bytes()).unwrap();
        assert_eq!(shown.etag, "\"e\"");
        assert!(content(1).is_that_of("i", "p", &shown));
        assert!(!content(2).is_that_of("i", "p", &shown));
        assert!(!content(1).is_that_of("j", "p", &shown));
        assert!(!Content { filling_seed: 1, ..content(1) }.is_that_of("i", "p", &shown));
        assert!(Shown::parse(b"{}").is_err());
        assert!(Shown::parse(b"[]").is_err());
    }

    #[test]
    fn patches_say_what_changes() {
        let old = content(1);
        let new = Content { sequence: 2, count: 3, ..old.clone() };
        assert!(new.patch_from(&old).contains("\"value\":-2}"));
        assert!(!new.patch_from(&old).contains("/email"));
        let new = Content { email: Some("c@d".to_owned()), ..new };
        assert!(new.patch_from(&old).contains("\"/email\",\"value\":\"c@d\""));
        assert!(json::parse(new.patch_from(&old).as_bytes()).is_ok());
    }
}
