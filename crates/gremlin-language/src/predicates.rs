//! Predicates, and how they are joined.

use std::sync::Arc;

use armilla_gremlin_value::{Predicate, PredicateKind, Value};

use crate::lexer::Piece;
use crate::parser::{Dialect, Parser, unbound, unknown_method};
use crate::{LanguageError, kinds, names, strict};

impl Parser<'_, '_> {
    /// Parses a predicate whose name is in hand, and what is joined to it.
    pub(crate) fn predicate(&mut self) -> Result<Value, LanguageError> {
        let name = self.word("the name of a predicate")?;
        let place = self.place_of_call(name)?;
        let kind = names::predicate(name)
            .filter(|kind| self.dialect == Dialect::Open || strict::knows_predicate(*kind));
        let Some(kind) = kind else {
            return Err(unknown_method(name, place));
        };
        let arguments = self.arguments(false)?;
        if !kinds::fits(signatures(kind), &arguments) {
            return Err(unbound(name, &arguments, place));
        }
        if self.dialect == Dialect::CosmosStrict {
            strict::check(name, &arguments, place)?;
        }
        self.joined(make(kind, arguments))
    }

    /// Parses `not(...)`: of a predicate a predicate, of a traversal the step.
    pub(crate) fn negation(&mut self) -> Result<Value, LanguageError> {
        let name = self.word("'not'")?;
        let place = self.place_of_call(name)?;
        let arguments = self.arguments(false)?;
        match arguments.as_slice() {
            [Value::Predicate(_)] => self.joined(make(PredicateKind::Not, arguments)),
            _ => Ok(Value::Traversal(Arc::new(self.anonymous_from(name, arguments, place)?))),
        }
    }

    /// Parses `.and(...)`, `.or(...)` and `.negate()` after a predicate.
    fn joined(&mut self, first: Predicate) -> Result<Value, LanguageError> {
        let mut predicate = first;
        while self.take_if(b'.')? {
            let Piece::Word(name) = self.lexeme.piece else {
                return Err(self.unexpected("and, or, or negate"));
            };
            self.advance()?;
            let place = self.place_of_call(name)?;
            let kind = match name {
                "and" => PredicateKind::And,
                "or" => PredicateKind::Or,
                "negate" => PredicateKind::Not,
                _ => return Err(unknown_method(name, place)),
            };
            let mut arguments = self.arguments(false)?;
            let expected = if kind == PredicateKind::Not { "-" } else { "p" };
            if !kinds::fits(expected, &arguments) {
                return Err(unbound(name, &arguments, place));
            }
            predicate = match (kind == predicate.kind && kind != PredicateKind::Not, arguments.pop()) {
                (true, Some(next)) => {
                    predicate.values.push(next);
                    predicate
                }
                (_, next) => {
                    let values = [Some(Value::Predicate(Arc::new(predicate))), next];
                    Predicate { kind, values: values.into_iter().flatten().collect() }
                }
            };
        }
        Ok(Value::Predicate(Arc::new(predicate)))
    }
}

fn make(kind: PredicateKind, arguments: Vec<Value>) -> Predicate {
    let values = match (kind, arguments.as_slice()) {
        // One collection is the values, not one of them.
        (PredicateKind::Within | PredicateKind::Without, [Value::List(list) | Value::Set(list)]) => {
            list.to_vec()
        }
        _ => arguments,
    };
    Predicate { kind, values }
}

fn signatures(kind: PredicateKind) -> &'static str {
    match kind {
        PredicateKind::Eq
        | PredicateKind::Neq
        | PredicateKind::Lt
        | PredicateKind::Lte
        | PredicateKind::Gt
        | PredicateKind::Gte => "a",
        PredicateKind::Inside | PredicateKind::Outside | PredicateKind::Between => "aa",
        PredicateKind::Within | PredicateKind::Without => "a*",
        PredicateKind::TypeOf => "G S",
        PredicateKind::StartingWith
        | PredicateKind::NotStartingWith
        | PredicateKind::EndingWith
        | PredicateKind::NotEndingWith
        | PredicateKind::Containing
        | PredicateKind::NotContaining
        | PredicateKind::Regex
        | PredicateKind::NotRegex => "s",
        PredicateKind::And | PredicateKind::Or => "pp*",
        PredicateKind::Not => "p",
    }
}
