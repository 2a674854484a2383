//! Arguments of steps: literals, bindings, words of enumerations, predicates, traversals.

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Instruction, Token, TokenKind, Value, Vertex};

use crate::lexer::Piece;
use crate::parser::{Dialect, Parser, Surroundings};
use crate::strategies::is_strategy;
use crate::{ErrorKind, LanguageError, constants, dates, names, number, strict, strings};

impl<'s> Parser<'s, '_> {
    /// Parses an argument.
    pub(crate) fn argument(&mut self) -> Result<Value, LanguageError> {
        match self.lexeme.piece {
            Piece::Number(_) | Piece::Text { .. } => self.literal(),
            Piece::Mark(b'[') => self.deeper(Self::list_or_map),
            Piece::Mark(b'{') => self.deeper(Self::set),
            Piece::Mark(b'(') => self.deeper(|parser| {
                parser.advance()?;
                let argument = parser.argument()?;
                parser.expect(b')')?;
                Ok(argument)
            }),
            Piece::Word(word) => match self.peek() {
                b'(' => self.deeper(|parser| parser.call(word)),
                b'.' => self.deeper(|parser| parser.qualified(word)),
                b'{' if self.is_unknown(word) => {
                    self.advance()?;
                    Err(self.closure(self.lexeme.start))
                }
                _ => self.symbol(word),
            },
            Piece::Mark(_) | Piece::End => Err(self.unexpected("an argument")),
        }
    }

    /// Parses a number or a text, or the range that it begins.
    fn literal(&mut self) -> Result<Value, LanguageError> {
        let start = self.lexeme.start;
        let first = self.plain_literal()?;
        // One mark of the two: nothing else follows a literal with a dot.
        if self.lexeme.piece != Piece::Mark(b'.') {
            return Ok(first);
        }
        self.advance()?;
        self.expect(b'.')?;
        let last = match self.lexeme.piece {
            Piece::Number(_) | Piece::Text { .. } => self.plain_literal()?,
            _ => return Err(self.unexpected("the end of a range")),
        };
        self.range(&first, &last, start)
    }

    /// Parses a number or a text.
    fn plain_literal(&mut self) -> Result<Value, LanguageError> {
        let value = match self.lexeme.piece {
            Piece::Number(text) => {
                number::number(text).map_err(|message| self.error(ErrorKind::InvalidValue, message))?
            }
            Piece::Text { inner, escaped } => Value::String(self.text(inner, escaped)?),
            _ => return Err(self.unexpected("a literal")),
        };
        self.advance()?;
        Ok(value)
    }

    /// Returns what a text in quotes says.
    pub(crate) fn text(&mut self, inner: &str, escaped: bool) -> Result<Arc<str>, LanguageError> {
        if !escaped {
            return Ok(Arc::from(inner));
        }
        strings::unescape(inner).map(Arc::from).map_err(|offset| {
            let place = self.place(self.lexeme.start + 1 + offset);
            let message = format!("The text has an unknown escape; {}", strings::WHAT_ESCAPES_ARE);
            LanguageError::new(ErrorKind::Syntax, message, place)
        })
    }

    /// Parses an argument that begins with a word and a parenthesis.
    fn call(&mut self, word: &'s str) -> Result<Value, LanguageError> {
        match word {
            "single" | "list" | "set" => self.cardinality(word),
            "datetime" | "DateTime" | "UUID" => self.conversion(word),
            "Vertex" | "ReferenceVertex" => self.vertex(word),
            "not" => self.negation(),
            _ if names::predicate(word).is_some() => self.predicate(),
            _ => Ok(Value::Traversal(Arc::new(self.anonymous()?))),
        }
    }

    /// Parses an argument that begins with a word and a dot.
    fn qualified(&mut self, word: &'s str) -> Result<Value, LanguageError> {
        match word {
            "g" => return Ok(Value::Traversal(Arc::new(self.rooted()?))),
            "__" => {
                self.advance()?;
                self.advance()?;
                return Ok(Value::Traversal(Arc::new(self.anonymous()?)));
            }
            "P" | "TextP" => {
                self.advance()?;
                self.advance()?;
                return self.predicate();
            }
            // `VertexProperty.Cardinality.list`, as Groovy needs it without imports.
            "VertexProperty" => {
                self.advance()?;
                self.advance()?;
                let nested = self.lexeme.piece == Piece::Word("Cardinality") && self.peek() == b'.';
                return if nested {
                    self.qualified("Cardinality")
                } else {
                    Err(self.unexpected("'Cardinality'"))
                };
            }
            _ => {}
        }
        if constants::is_class(word) {
            return self.constant(word);
        }
        let known = names::enumeration(word)
            .filter(|kind| self.dialect == Dialect::Open || strict::knows_enumeration(*kind));
        let Some(kind) = known else {
            return Err(self.unknown_symbol(word));
        };
        self.advance()?;
        self.advance()?;
        let Piece::Word(member) = self.lexeme.piece else {
            return Err(self.unexpected(&format!("a word of '{word}'")));
        };
        if kind == TokenKind::Cardinality && self.peek() == b'(' {
            return self.cardinality(member);
        }
        match Token::find(kind, member).filter(|token| self.is_known_token(*token)) {
            Some(token) => {
                self.advance()?;
                Ok(Value::Token(token))
            }
            None => Err(self.unknown_symbol(member)),
        }
    }

    fn is_known_token(&self, token: Token) -> bool {
        self.dialect == Dialect::Open || strict::knows_token(token)
    }

    fn is_unknown(&self, word: &str) -> bool {
        self.bindings.find(word).is_none() && names::bare_token(word).is_none()
    }

    /// Parses a word that stands alone.
    fn symbol(&mut self, word: &'s str) -> Result<Value, LanguageError> {
        let value = match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" => Value::Double(f64::NAN),
            "Infinity" => Value::Double(f64::INFINITY),
            "new" => return self.construction(),
            // A binding hides a word of an enumeration: applications have bindings called `list` or `day`.
            _ => match self.bindings.find(word) {
                Some(value) => value.clone(),
                None => match names::bare_token(word).filter(|token| self.is_known_token(*token)) {
                    Some(token) => Value::Token(token),
                    None => return Err(self.unknown_symbol(word)),
                },
            },
        };
        self.advance()?;
        Ok(value)
    }

    /// Parses what follows `new`: a reference to a vertex, or a strategy.
    fn construction(&mut self) -> Result<Value, LanguageError> {
        self.advance()?;
        match self.lexeme.piece {
            Piece::Word(class @ ("Vertex" | "ReferenceVertex")) => self.deeper(|parser| parser.vertex(class)),
            Piece::Word(class) if is_strategy(class) => self.deeper(|parser| parser.strategy(class)),
            Piece::Word(class) => Err(self.unknown_symbol(class)),
            _ => Err(self.unexpected("a class")),
        }
    }

    /// Parses `ReferenceVertex('id','label')`.
    fn vertex(&mut self, class: &str) -> Result<Value, LanguageError> {
        self.advance()?;
        let place = self.place_of_call(class)?;
        let arguments = self.arguments(false)?;
        match arguments.as_slice() {
            [id, Value::String(label)] => Ok(Value::Vertex(Arc::new(Vertex {
                id: id.clone(),
                label: Arc::clone(label),
                partition: None,
                properties: None,
                version: None,
            }))),
            _ => Err(crate::parser::unbound(class, &arguments, place)),
        }
    }

    /// Parses `single('x')`: a value with its cardinality, in the form that drivers send it.
    fn cardinality(&mut self, word: &str) -> Result<Value, LanguageError> {
        let token = Token::find(TokenKind::Cardinality, word).filter(|token| self.is_known_token(*token));
        let Some(token) = token else {
            return Err(self.unknown_symbol(word));
        };
        self.advance()?;
        let place = self.place_of_call(word)?;
        let mut arguments = self.arguments(false)?;
        if arguments.len() != 1 {
            return Err(crate::parser::unbound(word, &arguments, place));
        }
        arguments.insert(0, Value::Token(token));
        let name = Arc::from(CARDINALITY_VALUE);
        let source = Instruction { name, arguments, position: Some(place) };
        Ok(Value::Traversal(Arc::new(Bytecode { sources: vec![source], steps: Vec::new() })))
    }

    /// Parses `datetime('...')` or `UUID('...')`.
    fn conversion(&mut self, word: &str) -> Result<Value, LanguageError> {
        self.advance()?;
        let place = self.place_of_call(word)?;
        let arguments = self.arguments(false)?;
        let word = if word == "DateTime" { "datetime" } else { word };
        let (value, example) = match (word, arguments.as_slice()) {
            ("datetime", [Value::String(text)]) => {
                let date = dates::date(text)
                    .map(|(milliseconds, offset_seconds)| Value::Date { milliseconds, offset_seconds });
                (date, "'2018-03-21T08:35:44.741Z'")
            }
            ("UUID", [Value::String(text)]) => {
                (dates::uuid(text).map(Value::Uuid), "'41d2e28a-20a4-4ab0-b379-d810dede3786'")
            }
            // A date or a UUID as a binding.
            ("datetime", [date @ Value::Date { .. }]) => (Some(date.clone()), ""),
            ("UUID", [uuid @ Value::Uuid(_)]) => (Some(uuid.clone()), ""),
            (_, []) => match &mut self.surroundings {
                Some(surroundings) if word == "UUID" => (Some(Value::Uuid(surroundings.next_uuid())), ""),
                Some(surroundings) => {
                    let milliseconds = surroundings.now_ms;
                    (Some(Value::Date { milliseconds, offset_seconds: 0 }), "")
                }
                None => {
                    let message =
                        format!("{word}() without a text would change with every call; give it a text.");
                    return Err(LanguageError::new(ErrorKind::Unsupported, message, place));
                }
            },
            _ => return Err(crate::parser::unbound(word, &arguments, place)),
        };
        value.ok_or_else(|| {
            let message = format!("The text of {word}() cannot be read; it is like {example}.");
            LanguageError::new(ErrorKind::InvalidValue, message, place)
        })
    }

    /// Parses a constant such as `WithOptions.tokens`.
    fn constant(&mut self, class: &str) -> Result<Value, LanguageError> {
        self.advance()?;
        self.advance()?;
        let Piece::Word(word) = self.lexeme.piece else {
            return Err(self.unexpected(&format!("a constant of '{class}'")));
        };
        let Some(value) = constants::find(class, word) else {
            return Err(self.unknown_symbol(word));
        };
        self.advance()?;
        Ok(value)
    }
}

impl Surroundings {
    /// Returns a random UUID (version 4), another one with each call.
    fn next_uuid(&mut self) -> u128 {
        // A full-period generator of 128 bits; its low bits are the weak ones, so they are mixed with the high ones.
        let next = self.random.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
        self.random = next;
        let mixed = next ^ next.rotate_right(64);
        mixed & !(0xF << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62
    }
}

/// The name of the instruction that a value with a cardinality is, as drivers of TinkerPop have it.
pub(crate) const CARDINALITY_VALUE: &str = "CardinalityValueTraversal";
