//! What is known of each item: the state that was acknowledged last, and the write that may be under way.
//!
//! One writer owns an item, so this is exact. After a crash the item must be, as a whole, what was
//! acknowledged or what was under way; then what is seen becomes what is known.

use crate::content::{Area, Content, Shown};

/// One item, there or not.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) area: Area,
    pub(crate) id: String,
    pub(crate) partition_key: String,
    /// The item as it was acknowledged; `None` if it is not there.
    pub(crate) state: Option<Version>,
    /// A write that was sent and not answered.
    pub(crate) in_flight: Option<InFlight>,
    /// Whether the round had anything to do with it.
    pub(crate) touched: bool,
}

/// An acknowledged version of an item.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    pub(crate) content: Content,
    pub(crate) etag: String,
    /// The body that the acknowledgement had, if it had one.
    pub(crate) body: Option<Vec<u8>>,
}

/// A write that was sent and would succeed.
#[derive(Debug)]
pub(crate) enum InFlight {
    Write(Content),
    Delete,
}

/// Which of the permitted states an item is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// What was acknowledged; a write under way did not happen.
    Acknowledged,
    /// What was under way when the server died.
    InFlight,
}

impl Slot {
    pub(crate) fn new(area: Area, id: String, partition_key: &str) -> Slot {
        let partition_key = partition_key.to_owned();
        Slot { area, id, partition_key, state: None, in_flight: None, touched: false }
    }

    /// Compares what the server shows, `None` for not found, with what it may show; then knows it.
    pub(crate) fn judge(&mut self, body: Option<&[u8]>) -> Result<Found, String> {
        let shown =
            body.map(Shown::parse).transpose().map_err(|error| format!("{}: {error}", self.name()))?;
        let acknowledged = match (&self.state, &shown) {
            (None, None) => true,
            (Some(version), Some(shown)) => self.is_version(version, shown),
            _ => false,
        };
        let in_flight = self.in_flight.take();
        if acknowledged {
            let name = self.name();
            if let (Some(version), Some(body)) = (&mut self.state, body) {
                // A version that was acknowledged without its body shows it now for the first time.
                if version.body.get_or_insert_with(|| body.to_vec()) != body {
                    return Err(format!("{name}: the same version has other bytes than before"));
                }
            }
            return Ok(Found::Acknowledged);
        }
        match (&in_flight, &shown, body) {
            (Some(InFlight::Delete), None, _) => self.state = None,
            (Some(InFlight::Write(content)), Some(shown), Some(body))
                if content.is_that_of(&self.id, &self.partition_key, shown)
                    && self.state.as_ref().is_none_or(|version| version.etag != shown.etag) =>
            {
                let (content, etag) = (content.clone(), shown.etag.clone());
                self.state = Some(Version { content, etag, body: Some(body.to_vec()) });
            }
            _ => return Err(self.difference(in_flight.as_ref(), shown.as_ref())),
        }
        Ok(Found::InFlight)
    }

    /// Compares an element of a feed with what is known.
    pub(crate) fn is_shown_as(&self, shown: &Shown) -> bool {
        self.state.as_ref().is_some_and(|version| self.is_version(version, shown))
    }

    /// Returns how messages name the item.
    pub(crate) fn name(&self) -> String {
        format!("item {} of partition key {} in {}", self.id, self.partition_key, self.area.container())
    }

    fn is_version(&self, version: &Version, shown: &Shown) -> bool {
        version.etag == shown.etag && version.content.is_that_of(&self.id, &self.partition_key, shown)
    }

    fn difference(&self, in_flight: Option<&InFlight>, shown: Option<&Shown>) -> String {
        let describe = |content: &Content| {
            format!("sequence {}, count {}, email {:?}", content.sequence, content.count, content.email)
        };
        let acknowledged = self.state.as_ref().map_or("nothing".to_owned(), |version| {
            format!("{}, etag {}", describe(&version.content), version.etag)
        });
        let in_flight = match in_flight {
            None => "nothing".to_owned(),
            Some(InFlight::Delete) => "its delete".to_owned(),
            Some(InFlight::Write(content)) => describe(content),
        };
        let shown = shown.map_or("nothing".to_owned(), Shown::describe);
        format!(
            "{}: acknowledged was {acknowledged}; under way was {in_flight}; found is {shown}",
            self.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::tests::{content, shown_body};

    fn slot(state: Option<u64>, in_flight: Option<InFlight>) -> Slot {
        let mut slot = Slot::new(Area::Unique, "i".to_owned(), "p");
        slot.state = state.map(|sequence| Version {
            content: content(sequence),
            etag: format!("\"e{sequence}\""),
            body: Some(shown_body(&content(sequence), &format!("e{sequence}")).into_bytes()),
        });
        slot.in_flight = in_flight;
        slot
    }

    #[test]
    fn an_item_is_what_was_acknowledged_or_what_was_under_way() {
        let write = |sequence| Some(InFlight::Write(content(sequence)));
        let body = |sequence: u64, etag: &str| Some(shown_body(&content(sequence), etag));
        for (case, state, in_flight, shown, expected) in [
            ("absent stays absent", None, None, None, Some(Found::Acknowledged)),
            ("present stays present", Some(1), None, body(1, "e1"), Some(Found::Acknowledged)),
            ("lost", Some(1), None, None, None),
            ("came from nowhere", None, None, body(1, "e1"), None),
            ("older than acknowledged", Some(2), None, body(1, "e1"), None),
            ("etag changed", Some(1), None, body(1, "e2"), None),
            ("create happened", None, write(1), body(1, "e1"), Some(Found::InFlight)),
            ("create did not happen", None, write(1), None, Some(Found::Acknowledged)),
            ("replace happened", Some(1), write(2), body(2, "e2"), Some(Found::InFlight)),
            ("replace did not happen", Some(1), write(2), body(1, "e1"), Some(Found::Acknowledged)),
            ("new content under the old etag", Some(1), write(2), body(2, "e1"), None),
            ("neither of the two", Some(1), write(2), body(3, "e3"), None),
            ("replace lost the item", Some(1), write(2), None, None),
            ("delete happened", Some(1), Some(InFlight::Delete), None, Some(Found::InFlight)),
            (
                "delete did not happen",
                Some(1),
                Some(InFlight::Delete),
                body(1, "e1"),
                Some(Found::Acknowledged),
            ),
            ("delete changed it", Some(1), Some(InFlight::Delete), body(2, "e2"), None),
        ] {
            let mut slot = slot(state, in_flight);
            let found = slot.judge(shown.as_ref().map(String::as_bytes));
            assert_eq!(found.ok(), expected, "{case}");
            assert!(slot.in_flight.is_none(), "{case}");
            if expected.is_some() {
                // What was seen is now what is known.
                assert_eq!(
                    slot.judge(shown.as_ref().map(String::as_bytes)),
                    Ok(Found::Acknowledged),
                    "{case}"
                );
            }
        }
    }

    #[test]
    fn half_an_item_is_noticed() {
        let whole = shown_body(&content(1), "e1");
        let mut torn = slot(Some(1), None);
        assert!(torn.judge(Some(whole.replace("\"tags\":[\"a\",\"b\"]", "\"tags\":[]").as_bytes())).is_err());
        assert!(torn.judge(Some(&whole.as_bytes()[..whole.len() - 9])).is_err());
        assert!(torn.judge(Some(whole.replace("\"_ts\":1", "\"_ts\":2").as_bytes())).is_err());
    }
}
