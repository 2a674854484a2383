//! Tokens: the words of Gremlin's enumerations.

/// A word of an enumeration, such as `T.id` or `Order.desc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token {
    pub kind: TokenKind,
    /// The word as the enumeration spells it, such as `desc` or `onCreate`.
    pub word: &'static str,
}

/// An enumeration of Gremlin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    Barrier,
    Cardinality,
    Column,
    Direction,
    Dt,
    GType,
    Merge,
    Operator,
    Order,
    Pick,
    Pop,
    Scope,
    T,
}

impl TokenKind {
    /// Every enumeration, its name and its words.
    pub const ALL: [(TokenKind, &'static str, &'static [&'static str]); 13] = [
        (TokenKind::Barrier, "Barrier", &["normSack"]),
        (TokenKind::Cardinality, "Cardinality", &["single", "list", "set"]),
        (TokenKind::Column, "Column", &["keys", "values"]),
        (TokenKind::Direction, "Direction", &["IN", "OUT", "BOTH"]),
        (TokenKind::Dt, "DT", &["second", "minute", "hour", "day"]),
        (
            TokenKind::GType,
            "GType",
            &[
                "BIGDECIMAL",
                "BIGINT",
                "BINARY",
                "BOOLEAN",
                "BYTE",
                "CHAR",
                "DATETIME",
                "DOUBLE",
                "DURATION",
                "EDGE",
                "FLOAT",
                "GRAPH",
                "INT",
                "LIST",
                "LONG",
                "MAP",
                "NULL",
                "NUMBER",
                "PATH",
                "PROPERTY",
                "SET",
                "SHORT",
                "STRING",
                "TREE",
                "UUID",
                "VERTEX",
                "VPROPERTY",
            ],
        ),
        (TokenKind::Merge, "Merge", &["onCreate", "onMatch", "inV", "outV"]),
        (
            TokenKind::Operator,
            "Operator",
            &["sum", "minus", "mult", "div", "min", "max", "assign", "and", "or", "addAll", "sumLong"],
        ),
        (TokenKind::Order, "Order", &["asc", "desc", "shuffle"]),
        (TokenKind::Pick, "Pick", &["any", "none", "unproductive"]),
        (TokenKind::Pop, "Pop", &["first", "last", "all", "mixed"]),
        (TokenKind::Scope, "Scope", &["local", "global"]),
        (TokenKind::T, "T", &["id", "label", "key", "value"]),
    ];

    /// Returns the name of the enumeration.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }
}

impl Token {
    /// Finds the word in an enumeration; older spellings (`incr`, `decr`, `from`, `to`) become today's.
    pub fn find(kind: TokenKind, word: &str) -> Option<Token> {
        let word = match (kind, word) {
            (TokenKind::Order, "incr") => "asc",
            (TokenKind::Order, "decr") => "desc",
            (TokenKind::Direction, "from") => "OUT",
            (TokenKind::Direction, "to") => "IN",
            _ => word,
        };
        let (_, _, words) = TokenKind::ALL.iter().find(|(other, ..)| *other == kind)?;
        words.iter().find(|other| **other == word).map(|word| Token { kind, word })
    }
}
