//! Scripts, traversals and their steps.
//!
//! Recursive descent with one piece in hand; where a word may begin several things, what follows it decides.

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Instruction, Position, Value};

use crate::bindings::Bindings;
use crate::lexer::{Lexeme, Lexer, LexerError, Piece};
use crate::limits::{CLOSURE_TEXT_MAX, DEPTH_MAX, OPERATORS_MAX, SCRIPT_BYTES_MAX};
use crate::methods::{self, END, Method, SOURCE, START, STEP};
use crate::position::Places;
use crate::{ErrorKind, LanguageError, kinds, strict};

/// What of Gremlin a script may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// All that is known here.
    Open,
    /// What the service knows, and fails on the rest as the service does.
    CosmosStrict,
}

/// A script: its traversals, in order; there is at least one.
#[derive(Debug, Clone)]
pub struct Script {
    /// The traversals; one without steps is the source alone (`g`).
    pub queries: Vec<Bytecode>,
}

/// What a script may ask for that is not in it: the time, and randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    /// The time in milliseconds since the epoch, for `datetime()`.
    pub now_ms: i64,
    /// Random bits, fresh for each script, for `UUID()`.
    pub random: u128,
}

/// Parses a script, with values for the names it uses; `datetime()` and `UUID()` without a text are refused.
pub fn parse(
    script: &str,
    bindings: &[(Arc<str>, Value)],
    dialect: Dialect,
) -> Result<Script, LanguageError> {
    parse_in(script, bindings, dialect, None)
}

/// Parses a script, with values for the names it uses and what `datetime()` and `UUID()` give.
pub fn parse_at(
    script: &str,
    bindings: &[(Arc<str>, Value)],
    dialect: Dialect,
    surroundings: Surroundings,
) -> Result<Script, LanguageError> {
    parse_in(script, bindings, dialect, Some(surroundings))
}

fn parse_in(
    script: &str,
    bindings: &[(Arc<str>, Value)],
    dialect: Dialect,
    surroundings: Option<Surroundings>,
) -> Result<Script, LanguageError> {
    if script.len() > SCRIPT_BYTES_MAX {
        let message = format!(
            "The script has {} bytes, more than {SCRIPT_BYTES_MAX}; give values as bindings, or send several scripts.",
            script.len()
        );
        return Err(LanguageError::unplaced(ErrorKind::LimitExceeded, message));
    }
    Parser::new(script, Bindings::new(bindings)?, dialect, surroundings).script()
}

/// Parses a script that may not be text, without bindings: what a fuzzer calls.
pub fn parse_bytes(script: &[u8], dialect: Dialect) -> Result<Script, LanguageError> {
    let script = std::str::from_utf8(script)
        .map_err(|_| LanguageError::unplaced(ErrorKind::Syntax, "The script is not UTF-8."))?;
    parse(script, &[], dialect)
}

/// A script that is being parsed.
pub(crate) struct Parser<'s, 'b> {
    text: &'s str,
    lexer: Lexer<'s>,
    places: Places<'s>,
    /// The piece in hand: the next to be taken.
    pub(crate) lexeme: Lexeme<'s>,
    pub(crate) bindings: Bindings<'b>,
    pub(crate) dialect: Dialect,
    pub(crate) surroundings: Option<Surroundings>,
    depth: usize,
    operators: usize,
    /// How many values ranges gave so far.
    pub(crate) range_values: usize,
}

impl<'s, 'b> Parser<'s, 'b> {
    fn new(
        text: &'s str,
        bindings: Bindings<'b>,
        dialect: Dialect,
        surroundings: Option<Surroundings>,
    ) -> Self {
        Parser {
            text,
            lexer: Lexer::new(text),
            places: Places::new(text),
            lexeme: Lexeme { piece: Piece::End, start: 0 },
            bindings,
            dialect,
            surroundings,
            depth: 0,
            operators: 0,
            range_values: 0,
        }
    }

    fn script(mut self) -> Result<Script, LanguageError> {
        self.advance()?;
        let mut queries = Vec::with_capacity(1);
        loop {
            if self.dialect == Dialect::CosmosStrict && !queries.is_empty() {
                let message = "A script has one traversal; send the next one as a script of its own.";
                return Err(self.error(ErrorKind::Unsupported, message));
            }
            queries.push(self.rooted()?);
            self.take_if(b';')?;
            if self.lexeme.piece == Piece::End {
                return Ok(Script { queries });
            }
        }
    }

    /// Parses a traversal of the source: `g`, what configures it, steps, and how results are taken.
    pub(crate) fn rooted(&mut self) -> Result<Bytecode, LanguageError> {
        match self.lexeme.piece {
            Piece::Word("g") => self.advance()?,
            Piece::Word(word) => return Err(self.unknown_symbol(word)),
            _ => return Err(self.unexpected("a traversal, such as g.V()")),
        }
        let mut code = Bytecode { sources: Vec::new(), steps: Vec::with_capacity(4) };
        if self.take_if(b'.')? {
            self.chain(&mut code, SOURCE | START)?;
        }
        Ok(code)
    }

    /// Parses an anonymous traversal whose first step is in hand.
    pub(crate) fn anonymous(&mut self) -> Result<Bytecode, LanguageError> {
        let mut code = Bytecode { sources: Vec::new(), steps: Vec::with_capacity(2) };
        self.chain(&mut code, STEP)?;
        Ok(code)
    }

    /// Parses steps to the end of a traversal; the first of them has one of these roles.
    fn chain(&mut self, code: &mut Bytecode, roles: u8) -> Result<(), LanguageError> {
        let mut roles = roles;
        loop {
            let Piece::Word(name) = self.lexeme.piece else {
                return Err(self.unexpected("the name of a step"));
            };
            self.advance()?;
            let place = self.place_of_call(name)?;
            let (method, name) = self.method(name, roles, place)?;
            let arguments = self.arguments(method.roles & SOURCE != 0)?;
            roles = self.add(code, roles, (method, name), arguments, place)?;
            if !self.take_if(b'.')? {
                return Ok(());
            }
        }
    }

    /// Continues an anonymous traversal whose first step was read up to its arguments.
    pub(crate) fn anonymous_from(
        &mut self,
        name: &str,
        arguments: Vec<Value>,
        place: Position,
    ) -> Result<Bytecode, LanguageError> {
        let mut code = Bytecode::default();
        let method = self.method(name, STEP, place)?;
        let roles = self.add(&mut code, STEP, method, arguments, place)?;
        if self.take_if(b'.')? {
            self.chain(&mut code, roles)?;
        }
        Ok(code)
    }

    /// Adds a step and returns the roles of what may follow it.
    fn add(
        &mut self,
        code: &mut Bytecode,
        roles: u8,
        (method, name): (&'static Method, Arc<str>),
        arguments: Vec<Value>,
        place: Position,
    ) -> Result<u8, LanguageError> {
        let signatures = match self.dialect {
            Dialect::Open => method.signatures,
            Dialect::CosmosStrict => method.strict,
        };
        if !kinds::fits(signatures, &arguments) {
            return Err(unbound(method.name, &arguments, place));
        }
        if self.dialect == Dialect::CosmosStrict {
            strict::check(method.name, &arguments, place)?;
            self.operators += usize::from(method.name != "times");
            if self.operators > OPERATORS_MAX {
                let message =
                    format!("The script has more than {OPERATORS_MAX} steps; send several scripts.");
                return Err(LanguageError::new(ErrorKind::LimitExceeded, message, place));
            }
        }
        let instruction = Instruction { name, arguments, position: Some(place) };
        if roles & method.roles & SOURCE != 0 {
            code.sources.push(instruction);
            return Ok(roles);
        }
        code.steps.push(instruction);
        Ok(match (roles & method.roles & END != 0, roles & (START | END) != 0) {
            (true, _) => 0,
            (false, true) => STEP | END,
            (false, false) => STEP,
        })
    }

    fn method(
        &self,
        name: &str,
        roles: u8,
        place: Position,
    ) -> Result<(&'static Method, Arc<str>), LanguageError> {
        let found = methods::find(name).filter(|(method, _)| {
            method.roles & roles != 0 && (self.dialect == Dialect::Open || !method.strict.is_empty())
        });
        match found {
            Some(method) => Ok(method),
            None if name == "tx" && roles & SOURCE != 0 => {
                Err(LanguageError::new(ErrorKind::Unsupported, "Graph does not support transactions", place))
            }
            None => Err(unknown_method(name, place)),
        }
    }

    /// Returns where the parenthesis of a call is, which is in hand.
    pub(crate) fn place_of_call(&mut self, name: &str) -> Result<Position, LanguageError> {
        match self.lexeme.piece {
            Piece::Mark(b'(') => Ok(self.places.at(self.lexeme.start)),
            Piece::Mark(b'{') => Err(self.closure(self.lexeme.start)),
            _ => Err(self.unexpected(&format!("'(' after '{name}'"))),
        }
    }

    /// Parses arguments in parentheses, the first of which is in hand.
    pub(crate) fn arguments(&mut self, of_source: bool) -> Result<Vec<Value>, LanguageError> {
        self.advance()?;
        let mut arguments = Vec::new();
        if self.take_if(b')')? {
            return Ok(arguments);
        }
        loop {
            arguments.push(if of_source { self.source_argument()? } else { self.argument()? });
            if self.take_if(b')')? {
                return Ok(arguments);
            }
            self.expect(b',')?;
        }
    }

    /// Runs a parser one level deeper.
    pub(crate) fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, LanguageError>,
    ) -> Result<T, LanguageError> {
        if self.depth >= DEPTH_MAX {
            let message = format!("The script is nested deeper than {DEPTH_MAX} levels.");
            return Err(self.error(ErrorKind::LimitExceeded, message));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Takes the piece in hand.
    pub(crate) fn advance(&mut self) -> Result<(), LanguageError> {
        match self.lexer.next() {
            Ok(lexeme) => {
                self.lexeme = lexeme;
                Ok(())
            }
            Err(error) => Err(self.lexer_error(error)),
        }
    }

    /// Returns the byte that the piece after the one in hand begins with.
    pub(crate) fn peek(&self) -> u8 {
        self.lexer.peek()
    }

    /// Takes the piece in hand if it is a mark.
    pub(crate) fn take_if(&mut self, mark: u8) -> Result<bool, LanguageError> {
        let taken = self.lexeme.piece == Piece::Mark(mark);
        if taken {
            self.advance()?;
        }
        Ok(taken)
    }

    /// Takes a mark that must be in hand.
    pub(crate) fn expect(&mut self, mark: u8) -> Result<(), LanguageError> {
        match self.take_if(mark)? {
            true => Ok(()),
            false => Err(self.unexpected(&format!("'{}'", char::from(mark)))),
        }
    }

    /// Takes a word that must be in hand.
    pub(crate) fn word(&mut self, what: &str) -> Result<&'s str, LanguageError> {
        let Piece::Word(word) = self.lexeme.piece else {
            return Err(self.unexpected(what));
        };
        self.advance()?;
        Ok(word)
    }

    /// Returns the line and column of an offset.
    pub(crate) fn place(&mut self, offset: usize) -> Position {
        self.places.at(offset)
    }

    /// Makes an error about the piece in hand.
    pub(crate) fn error(&mut self, kind: ErrorKind, message: impl Into<String>) -> LanguageError {
        LanguageError::new(kind, message, self.places.at(self.lexeme.start))
    }

    pub(crate) fn unknown_symbol(&mut self, word: &str) -> LanguageError {
        let message = format!("Unable to resolve symbol '{word}' in the current context.");
        self.error(ErrorKind::UnknownSymbol, message)
    }

    /// Makes an error about the piece in hand, saying what should be there.
    pub(crate) fn unexpected(&mut self, expected: &str) -> LanguageError {
        let found = match self.lexeme.piece {
            Piece::Word(word) => format!("Unexpected '{word}'"),
            Piece::Number(number) => format!("Unexpected '{number}'"),
            Piece::Text { .. } => "Unexpected text".to_owned(),
            Piece::Mark(mark) => format!("Unexpected '{}'", char::from(mark)),
            Piece::End => "The script ends too early".to_owned(),
        };
        self.error(ErrorKind::Syntax, format!("{found}, expected {expected}"))
    }

    /// Makes the error about a closure that begins at an offset.
    pub(crate) fn closure(&mut self, start: usize) -> LanguageError {
        let text: String = self.closure_text(start).chars().take(CLOSURE_TEXT_MAX).collect();
        let message = format!("Unsupported groovy language rule: 'closure' text: '{text}'");
        LanguageError::new(ErrorKind::Closure, message, self.places.at(start))
    }

    /// Returns the text from a brace to the one that closes it.
    pub(crate) fn closure_text(&self, start: usize) -> &'s str {
        let text = self.text.get(start..).unwrap_or_default();
        let mut open = 0_usize;
        for (offset, byte) in text.bytes().enumerate() {
            match byte {
                b'{' => open += 1,
                b'}' if open <= 1 => return text.get(..=offset).unwrap_or(text),
                b'}' => open -= 1,
                _ => {}
            }
        }
        text
    }

    fn lexer_error(&mut self, error: LexerError) -> LanguageError {
        let (message, offset) = match error {
            LexerError::UnexpectedCharacter(character, offset) => {
                (format!("Unexpected character '{}'", character.escape_debug()), offset)
            }
            LexerError::UnclosedText(offset) => ("The text has no closing quote".to_owned(), offset),
            LexerError::UnclosedComment(offset) => ("The comment has no end".to_owned(), offset),
        };
        LanguageError::new(ErrorKind::Syntax, message, self.places.at(offset))
    }
}

/// Makes the error about arguments that no overload takes.
pub(crate) fn unbound(name: &str, arguments: &[Value], place: Position) -> LanguageError {
    let kinds = kinds::names(arguments);
    let message = format!("Unable to bind to method '{name}', with arguments of type: {kinds}");
    LanguageError::new(ErrorKind::UnboundMethod, message, place)
}

/// Makes the error about a method that there is not.
pub(crate) fn unknown_method(name: &str, place: Position) -> LanguageError {
    LanguageError::new(ErrorKind::UnknownMethod, format!("Unable to find any method '{name}'"), place)
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
