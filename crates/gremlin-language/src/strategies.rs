//! Strategies of `withStrategies` and `withoutStrategies`: classes, constructors and builders.
//!
//! `ReadOnlyStrategy`, `new PartitionStrategy(partitionKey: 'pk')` and
//! `PartitionStrategy.build().partitionKey('pk').create()` are all one form of value.

use std::sync::Arc;

use armilla_gremlin_value::Value;

use crate::LanguageError;
use crate::lexer::Piece;
use crate::parser::{Parser, unbound, unknown_method};

/// Methods of builders that take any number of values: one of them is a list, too.
const LISTS: [&str; 4] =
    ["readPartitions", "IncludeSystemProperties", "includeSystemProperties", "reservedKeys"];

impl<'s> Parser<'s, '_> {
    /// Parses an argument of a method of the source, which may be a strategy.
    pub(crate) fn source_argument(&mut self) -> Result<Value, LanguageError> {
        let Piece::Word(word) = self.lexeme.piece else {
            return self.argument();
        };
        if is_strategy(word) && self.bindings.find(word).is_none() {
            return self.deeper(|parser| parser.strategy(word));
        }
        self.argument()
    }

    pub(crate) fn strategy(&mut self, class: &'s str) -> Result<Value, LanguageError> {
        self.advance()?;
        let configuration = match self.lexeme.piece {
            Piece::Mark(b'(') => self.configuration()?,
            Piece::Mark(b'.') => self.builder()?,
            _ => Vec::new(),
        };
        Ok(Value::Strategy { name: Arc::from(class), configuration: Arc::new(configuration) })
    }

    /// Parses `(key: value, ...)`.
    fn configuration(&mut self) -> Result<Vec<(Arc<str>, Value)>, LanguageError> {
        self.expect(b'(')?;
        let mut configuration = Vec::new();
        if self.take_if(b')')? {
            return Ok(configuration);
        }
        loop {
            let key = match self.lexeme.piece {
                Piece::Text { inner, escaped } => {
                    let key = self.text(inner, escaped)?;
                    self.advance()?;
                    key
                }
                _ => Arc::from(self.word("the name of an option")?),
            };
            self.expect(b':')?;
            configuration.push((key, self.argument()?));
            if self.take_if(b')')? {
                return Ok(configuration);
            }
            self.expect(b',')?;
        }
    }

    /// Parses `.build().key(value).create()` or `.instance()`.
    fn builder(&mut self) -> Result<Vec<(Arc<str>, Value)>, LanguageError> {
        let mut configuration = Vec::new();
        let mut building = false;
        loop {
            self.expect(b'.')?;
            let name = self.word("a method of a builder")?;
            let place = self.place_of_call(name)?;
            let mut arguments = self.arguments(false)?;
            match (name, building, arguments.len()) {
                ("build", false, 0) => building = true,
                ("instance", false, 0) => return Ok(configuration),
                ("create", true, 0) => return Ok(configuration),
                (_, true, 0) => return Err(unbound(name, &arguments, place)),
                (_, true, count) => {
                    let value = match arguments.pop() {
                        Some(value) if count == 1 && !LISTS.contains(&name) => value,
                        Some(list @ (Value::List(_) | Value::Set(_))) if count == 1 => list,
                        last => {
                            arguments.extend(last);
                            Value::List(Arc::new(arguments))
                        }
                    };
                    configuration.push((Arc::from(name), value));
                }
                _ => return Err(unknown_method(name, place)),
            }
        }
    }
}

/// Returns whether a word names a strategy: all their classes end alike.
pub(crate) fn is_strategy(word: &str) -> bool {
    word.ends_with("Strategy")
}
