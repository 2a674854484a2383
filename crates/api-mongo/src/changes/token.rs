//! Tokens of change streams: where each feed was, as text that clients give back.
//!
//! Invariant: tokens sort as their events came.

use std::collections::BTreeMap;

use armilla_engine::FeedStart;
use armilla_mongo_expression::codes;
use armilla_mongo_wire::bson;
use armilla_value::{Object, Value};

use crate::failure::{Failure, Result};
use crate::namespace::Namespace;

/// A token: how far each collection was read, and whether the stream had come to its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Token {
    pub(super) positions: BTreeMap<String, Position>,
    pub(super) clock: (u32, u32),
    pub(super) is_invalidate: bool,
}

impl Token {
    /// Reads `{_data: hex}`.
    pub(crate) fn read(value: &Object) -> Result<Token> {
        let invalid = || {
            Failure::new(codes::INVALID_RESUME_TOKEN, "Invalid resume token: it was not given by this server")
        };
        let hex = value.get("_data").and_then(Value::as_str).ok_or_else(invalid)?;
        let bytes = (0..hex.len() / 2)
            .map(|place| hex.get(place * 2..place * 2 + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
            .collect::<Option<Vec<u8>>>()
            .ok_or_else(invalid)?;
        let object = bson::decode(bytes.get(8..).ok_or_else(invalid)?).map_err(|_| invalid())?;
        let (Some(Value::Timestamp { seconds, increment }), Some(Value::Object(positions))) =
            (object.get("t"), object.get("p"))
        else {
            return Err(invalid());
        };
        let mut token = Token {
            clock: (*seconds, *increment),
            is_invalidate: object.get("i") == Some(&Value::Bool(true)),
            positions: BTreeMap::new(),
        };
        for (rid, position) in positions.iter() {
            token.positions.insert(rid.to_owned(), Position::read(position).ok_or_else(invalid)?);
        }
        Ok(token)
    }

    /// Says whether it is that of an event after which nothing comes.
    pub(crate) fn is_invalidate(&self) -> bool {
        self.is_invalidate
    }

    pub(super) fn write(&self) -> Object {
        let positions =
            self.positions.iter().map(|(rid, position)| (rid.clone(), Value::Object(position.write())));
        let positions: Object = positions.collect();
        let mut object = Object::from([
            ("t", Value::Timestamp { seconds: self.clock.0, increment: self.clock.1 }),
            ("p", Value::Object(positions)),
        ]);
        if self.is_invalidate {
            object.insert("i", true);
        }
        // The time comes first and from its highest byte on, so that tokens sort as events came.
        let mut bytes = [self.clock.0.to_be_bytes(), self.clock.1.to_be_bytes()].concat();
        // Names and positions have no zero characters, which alone cannot be written.
        let _ = bson::encode(&object, &mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        Object::from([("_data", hex)])
    }
}

/// How far the feed of a collection was read.
#[derive(Debug, Clone)]
pub(super) struct Position {
    pub(super) namespace: Namespace,
    pub(super) start: FeedStart,
    /// Changes of the commit behind it that were shown: what is stored together comes on one page.
    pub(super) shown: u64,
}

impl Position {
    pub(super) fn new(namespace: Namespace, start: FeedStart) -> Position {
        Position { namespace, start, shown: 0 }
    }

    fn write(&self) -> Object {
        let at = match &self.start {
            FeedStart::Token(token) => format!("t{token}"),
            FeedStart::Time(seconds) => format!("s{seconds}"),
            FeedStart::Beginning => "b".to_owned(),
            FeedStart::Now => "n".to_owned(),
        };
        Object::from([
            ("n", Value::from(self.namespace.to_string())),
            ("a", Value::from(at)),
            ("k", Value::Int64(i64::try_from(self.shown).unwrap_or(i64::MAX))),
        ])
    }

    fn read(value: &Value) -> Option<Position> {
        let namespace = Namespace::parse(value.get("n")?.as_str()?).ok()?;
        let at = value.get("a")?.as_str()?;
        let start = match at.split_at_checked(1)? {
            ("t", token) => FeedStart::Token(token.to_owned()),
            ("s", seconds) => FeedStart::Time(seconds.parse().ok()?),
            ("b", "") => FeedStart::Beginning,
            ("n", "") => FeedStart::Now,
            _ => return None,
        };
        let shown = u64::try_from(value.get("k")?.as_i64()?).ok()?;
        Some(Position { namespace, start, shown })
    }
}
