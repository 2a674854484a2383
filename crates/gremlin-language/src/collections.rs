//! Lists, sets, maps and ranges.

use std::collections::HashSet;
use std::sync::Arc;

use armilla_gremlin_value::{Key, Map, Value};

use crate::lexer::Piece;
use crate::limits::RANGE_VALUES_MAX;
use crate::parser::{Dialect, Parser};
use crate::{ErrorKind, LanguageError};

impl Parser<'_, '_> {
    /// Parses `[...]`: a map if its first value is followed by a colon.
    pub(crate) fn list_or_map(&mut self) -> Result<Value, LanguageError> {
        self.advance()?;
        if self.take_if(b']')? {
            return Ok(Value::List(Arc::new(Vec::new())));
        }
        if self.take_if(b':')? {
            self.expect(b']')?;
            return Ok(Value::Map(Arc::new(Map::default())));
        }
        let first = self.key_or_value()?;
        if self.lexeme.piece == Piece::Mark(b':') {
            return self.map_from(first);
        }
        let mut values = vec![first];
        while !self.take_if(b']')? {
            self.expect(b',')?;
            values.push(self.argument()?);
        }
        Ok(Value::List(Arc::new(values)))
    }

    fn map_from(&mut self, first: Value) -> Result<Value, LanguageError> {
        let mut map = Map::default();
        let mut key = first;
        loop {
            self.expect(b':')?;
            let value = self.argument()?;
            map.entries.push((key, value));
            if self.take_if(b']')? {
                return Ok(Value::Map(Arc::new(map)));
            }
            self.expect(b',')?;
            key = self.key_or_value()?;
        }
    }

    /// Parses a value, or a bare word before a colon: a key, even if it is a word of Gremlin.
    fn key_or_value(&mut self) -> Result<Value, LanguageError> {
        match self.lexeme.piece {
            Piece::Word(word) if self.peek() == b':' => {
                self.advance()?;
                Ok(Value::String(Arc::from(word)))
            }
            _ => self.argument(),
        }
    }

    /// Parses `{...}`: a set, or what is refused as a closure.
    pub(crate) fn set(&mut self) -> Result<Value, LanguageError> {
        let start = self.lexeme.start;
        if self.dialect == Dialect::CosmosStrict {
            return Err(self.closure(start));
        }
        self.set_values().map_err(|error| match looks_like_closure(self.closure_text(start)) {
            true => self.closure(start),
            false => error,
        })
    }

    fn set_values(&mut self) -> Result<Value, LanguageError> {
        self.advance()?;
        let mut values = Vec::new();
        let mut seen: HashSet<Key> = HashSet::new();
        if self.take_if(b'}')? {
            return Ok(Value::Set(Arc::new(values)));
        }
        loop {
            let value = self.argument()?;
            if seen.insert(Key(value.clone())) {
                values.push(value);
            }
            if self.take_if(b'}')? {
                return Ok(Value::Set(Arc::new(values)));
            }
            self.expect(b',')?;
        }
    }

    /// Makes the list that a range stands for, both its ends included; `start` is where it is written.
    pub(crate) fn range(
        &mut self,
        first: &Value,
        last: &Value,
        start: usize,
    ) -> Result<Value, LanguageError> {
        let bounds = match (first, last) {
            (Value::String(first), Value::String(last)) => text_bounds(first, last),
            _ => whole(first).zip(whole(last)),
        };
        let Some((from, to)) = bounds else {
            let message = "A range has two integers, or two texts that differ in their last character only.";
            return Err(LanguageError::new(ErrorKind::InvalidValue, message, self.place(start)));
        };
        let count = usize::try_from(to.abs_diff(from).saturating_add(1)).unwrap_or(usize::MAX);
        self.range_values = self.range_values.saturating_add(count);
        if self.range_values > RANGE_VALUES_MAX {
            let message = format!("The ranges of the script have more than {RANGE_VALUES_MAX} values.");
            return Err(LanguageError::new(ErrorKind::LimitExceeded, message, self.place(start)));
        }
        let step = if from <= to { 1 } else { -1 };
        let numbers = (0..).take(count).map(|index: i64| from + index * step);
        let prefix = match first {
            Value::String(text) => text.get(..text.len() - last_character_length(text)),
            _ => None,
        };
        let wide = i32::try_from(from).is_err() || i32::try_from(to).is_err();
        let values = numbers.filter_map(|number| match prefix {
            Some(prefix) => {
                let character = char::from_u32(u32::try_from(number).ok()?)?;
                Some(Value::String(Arc::from(format!("{prefix}{character}"))))
            }
            None if wide => Some(Value::Int64(number)),
            None => Some(Value::Int32(i32::try_from(number).ok()?)),
        });
        Ok(Value::List(Arc::new(values.collect())))
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Byte(number) => Some(i64::from(*number)),
        Value::Int16(number) => Some(i64::from(*number)),
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        _ => None,
    }
}

fn text_bounds(first: &str, last: &str) -> Option<(i64, i64)> {
    let (from, to) = (first.chars().next_back()?, last.chars().next_back()?);
    let prefix = |text: &'_ str, length: usize| text.len() - length;
    let same = first.get(..prefix(first, from.len_utf8())) == last.get(..prefix(last, to.len_utf8()));
    same.then_some((i64::from(u32::from(from)), i64::from(u32::from(to))))
}

fn last_character_length(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// Returns whether braces that are no set hold code: an arrow, or the word `it`.
fn looks_like_closure(text: &str) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    text.contains("->")
        || text.match_indices("it").any(|(at, _)| {
            !is_word(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_word(bytes.get(at + 2))
        })
}
