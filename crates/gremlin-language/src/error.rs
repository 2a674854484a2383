//! Why a script cannot be parsed.

use std::fmt;

use crate::limits::MESSAGE_CHARACTERS_MAX;

use armilla_gremlin_value::Position;

/// A script that is not Gremlin, or not of its dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageError {
    /// What is wrong, for front ends that tell cases apart.
    pub kind: ErrorKind,
    /// What is wrong, in the words of the service, without the place.
    pub message: String,
    /// Where: at a method's parenthesis, at a symbol's start; none if it is not about one place.
    pub position: Option<Position>,
}

/// What is wrong with a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text does not follow the grammar.
    Syntax,
    /// The script has a closure, which no dialect runs.
    Closure,
    /// No method has this name, here.
    UnknownMethod,
    /// The method does not take these arguments.
    UnboundMethod,
    /// A word is neither a binding nor a word of Gremlin.
    UnknownSymbol,
    /// A literal or an argument has a value that cannot be.
    InvalidValue,
    /// A binding has the name of a word of Gremlin.
    ReservedBinding,
    /// The script is valid Gremlin which is refused on purpose.
    Unsupported,
    /// A limit is exceeded.
    LimitExceeded,
}

impl ErrorKind {
    /// Returns whether the service reports it as `GraphSyntaxException`; the others are `GraphCompileException`.
    pub fn is_syntax(self) -> bool {
        match self {
            ErrorKind::Syntax | ErrorKind::Closure => true,
            ErrorKind::UnknownMethod
            | ErrorKind::UnboundMethod
            | ErrorKind::UnknownSymbol
            | ErrorKind::InvalidValue
            | ErrorKind::ReservedBinding
            | ErrorKind::Unsupported
            | ErrorKind::LimitExceeded => false,
        }
    }
}

impl LanguageError {
    /// Returns the text as the service shows it: what it begins with, what is wrong, and where.
    pub fn text(&self) -> String {
        let heading = match self.kind.is_syntax() {
            true => "Gremlin query syntax error: ",
            false => "Gremlin Query Compilation Error: ",
        };
        format!("{heading}{self}")
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>, position: Position) -> Self {
        LanguageError { kind, message: cut(message.into()), position: Some(position) }
    }

    pub(crate) fn unplaced(kind: ErrorKind, message: impl Into<String>) -> Self {
        LanguageError { kind, message: cut(message.into()), position: None }
    }
}

/// Cuts a message that repeats much of the script.
fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARACTERS_MAX) {
        message.truncate(end);
        message.push('…');
    }
    message
}

impl fmt::Display for LanguageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        match self.position {
            Some(Position { line, column }) => write!(formatter, " @ line {line}, column {column}."),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LanguageError {}
