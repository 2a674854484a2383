//! Words of enumerations and names of predicates.

use armilla_gremlin_value::{PredicateKind, Token, TokenKind};

/// Finds the enumeration of a name such as `Scope`.
pub(crate) fn enumeration(name: &str) -> Option<TokenKind> {
    TokenKind::ALL.iter().find(|(_, other, _)| *other == name).map(|(kind, ..)| *kind)
}

/// Finds a word that stands without the name of its enumeration.
pub(crate) fn bare_token(word: &str) -> Option<Token> {
    let kind = match word {
        "normSack" => TokenKind::Barrier,
        "single" | "list" | "set" => TokenKind::Cardinality,
        "keys" | "values" => TokenKind::Column,
        "IN" | "OUT" | "BOTH" | "from" | "to" => TokenKind::Direction,
        "second" | "minute" | "hour" | "day" => TokenKind::Dt,
        "onCreate" | "onMatch" | "inV" | "outV" => TokenKind::Merge,
        "sum" | "minus" | "mult" | "div" | "min" | "max" | "assign" | "and" | "or" | "addAll" | "sumLong" => {
            TokenKind::Operator
        }
        "asc" | "desc" | "shuffle" | "incr" | "decr" => TokenKind::Order,
        "any" | "none" | "unproductive" => TokenKind::Pick,
        "first" | "last" | "all" | "mixed" => TokenKind::Pop,
        "local" | "global" => TokenKind::Scope,
        "id" | "label" | "key" | "value" => TokenKind::T,
        _ => TokenKind::GType,
    };
    Token::find(kind, word)
}

/// Finds a predicate by name; `and`, `or` and `negate` are how predicates are joined, not names of them.
pub(crate) fn predicate(name: &str) -> Option<PredicateKind> {
    Some(match name {
        "eq" => PredicateKind::Eq,
        "neq" => PredicateKind::Neq,
        "lt" => PredicateKind::Lt,
        "lte" => PredicateKind::Lte,
        "gt" => PredicateKind::Gt,
        "gte" => PredicateKind::Gte,
        "inside" => PredicateKind::Inside,
        "outside" => PredicateKind::Outside,
        "between" => PredicateKind::Between,
        "within" => PredicateKind::Within,
        "without" => PredicateKind::Without,
        "typeOf" => PredicateKind::TypeOf,
        "startingWith" => PredicateKind::StartingWith,
        "notStartingWith" => PredicateKind::NotStartingWith,
        "endingWith" => PredicateKind::EndingWith,
        "notEndingWith" => PredicateKind::NotEndingWith,
        "containing" => PredicateKind::Containing,
        "notContaining" => PredicateKind::NotContaining,
        "regex" => PredicateKind::Regex,
        "notRegex" => PredicateKind::NotRegex,
        "not" => PredicateKind::Not,
        _ => return None,
    })
}

/// Returns the name of a predicate with its class, as [`crate::render`] writes it; none of those that join others.
pub(crate) fn predicate_text(kind: PredicateKind) -> &'static str {
    match kind {
        PredicateKind::Eq => "P.eq",
        PredicateKind::Neq => "P.neq",
        PredicateKind::Lt => "P.lt",
        PredicateKind::Lte => "P.lte",
        PredicateKind::Gt => "P.gt",
        PredicateKind::Gte => "P.gte",
        PredicateKind::Inside => "P.inside",
        PredicateKind::Outside => "P.outside",
        PredicateKind::Between => "P.between",
        PredicateKind::Within => "P.within",
        PredicateKind::Without => "P.without",
        PredicateKind::TypeOf => "P.typeOf",
        PredicateKind::StartingWith => "TextP.startingWith",
        PredicateKind::NotStartingWith => "TextP.notStartingWith",
        PredicateKind::EndingWith => "TextP.endingWith",
        PredicateKind::NotEndingWith => "TextP.notEndingWith",
        PredicateKind::Containing => "TextP.containing",
        PredicateKind::NotContaining => "TextP.notContaining",
        PredicateKind::Regex => "TextP.regex",
        PredicateKind::NotRegex => "TextP.notRegex",
        PredicateKind::And => "and",
        PredicateKind::Or => "or",
        PredicateKind::Not => "P.not",
    }
}
