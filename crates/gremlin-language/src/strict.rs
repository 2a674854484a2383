//! What the service does not have, beyond methods (which the table of methods tells).

use armilla_gremlin_value::{Position, PredicateKind, Token, TokenKind, Value};

use crate::parser::unbound;
use crate::{ErrorKind, LanguageError};

/// Refuses arguments that have the right kinds but are not supported by the service.
pub(crate) fn check(method: &str, arguments: &[Value], place: Position) -> Result<(), LanguageError> {
    let null = arguments.iter().any(|argument| matches!(argument, Value::Null));
    match method {
        "constant" if arguments.iter().any(|argument| !is_constant(argument)) => {
            let message =
                "Valid supported values for Constant() are: list, array, number, string or boolean.";
            Err(LanguageError::new(ErrorKind::InvalidValue, message, place))
        }
        _ if null => Err(unbound(method, arguments, place)),
        _ => Ok(()),
    }
}

fn is_constant(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Map(_) | Value::Traversal(_) | Value::Predicate(_))
}

/// Returns whether the service has an enumeration.
pub(crate) fn knows_enumeration(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Barrier | TokenKind::Dt | TokenKind::GType | TokenKind::Merge | TokenKind::Pick => false,
        TokenKind::Cardinality
        | TokenKind::Column
        | TokenKind::Direction
        | TokenKind::Operator
        | TokenKind::Order
        | TokenKind::Pop
        | TokenKind::Scope
        | TokenKind::T => true,
    }
}

/// Returns whether the service has a word of an enumeration.
pub(crate) fn knows_token(token: Token) -> bool {
    knows_enumeration(token.kind) && !(token.kind == TokenKind::Cardinality && token.word == "set")
}

/// Returns whether the service has a predicate.
pub(crate) fn knows_predicate(kind: PredicateKind) -> bool {
    !matches!(kind, PredicateKind::Regex | PredicateKind::NotRegex | PredicateKind::TypeOf)
}
