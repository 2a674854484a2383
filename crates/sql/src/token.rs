//! The tokens of a query text and the reserved words among them.

use crate::span::Span;

/// One token: its kind and its place; its text stays in the query text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    start: u32,
    end: u32,
}

impl Token {
    /// Makes a token of the bytes from `start` up to `end`, both within a text of bounded length.
    pub(crate) fn new(kind: TokenKind, start: usize, end: usize) -> Token {
        let offset = |byte: usize| u32::try_from(byte).expect("texts longer than the limit are not read");
        Token { kind, start: offset(start), end: offset(end) }
    }

    pub(crate) fn span(self) -> Span {
        Span::new(self.start as usize, self.end as usize)
    }
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Identifier,
    /// `@name`
    Parameter,
    /// A closed string literal whose escapes are all valid.
    String,
    /// Digits alone, or hexadecimal.
    Integer,
    /// A number with a point or an exponent.
    Double,

    And,
    Array,
    As,
    Asc,
    Between,
    By,
    Desc,
    Distinct,
    Escape,
    Exists,
    False,
    From,
    Group,
    In,
    Join,
    Left,
    Let,
    Like,
    Limit,
    Not,
    Null,
    Offset,
    Or,
    Order,
    Rank,
    Right,
    Select,
    Top,
    True,
    Udf,
    Undefined,
    Value,
    Where,
    /// A reserved word that no rule of the grammar takes.
    Reserved,

    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Pipe,
    Ampersand,
    Caret,
    Tilde,
    PipePipe,
    ShiftLeft,
    ShiftRight,
    ShiftRightZero,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    QuestionQuestion,
    Question,
    Colon,
    Dot,
    Comma,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,

    /// A character that begins no token, or a string literal that is not closed or has a bad escape.
    Invalid,
    /// The end of the text.
    End,
}

/// The longest reserved word, UNDEFINED.
const RESERVED_WORD_BYTES_MAX: usize = 9;

/// Returns the kind of a word: a reserved one in any letter case, else an identifier.
pub(crate) fn word_kind(word: &str) -> TokenKind {
    let mut upper = [0; RESERVED_WORD_BYTES_MAX];
    let Some(upper) = upper.get_mut(..word.len()) else {
        return TokenKind::Identifier;
    };
    upper.copy_from_slice(word.as_bytes());
    upper.make_ascii_uppercase();
    match &*upper {
        b"AND" => TokenKind::And,
        b"ARRAY" => TokenKind::Array,
        b"AS" => TokenKind::As,
        b"ASC" => TokenKind::Asc,
        b"BETWEEN" => TokenKind::Between,
        b"BY" => TokenKind::By,
        b"DESC" => TokenKind::Desc,
        b"DISTINCT" => TokenKind::Distinct,
        b"ESCAPE" => TokenKind::Escape,
        b"EXISTS" => TokenKind::Exists,
        b"FALSE" => TokenKind::False,
        b"FROM" => TokenKind::From,
        b"GROUP" => TokenKind::Group,
        b"IN" => TokenKind::In,
        b"JOIN" => TokenKind::Join,
        b"LEFT" => TokenKind::Left,
        b"LET" => TokenKind::Let,
        b"LIKE" => TokenKind::Like,
        b"LIMIT" => TokenKind::Limit,
        b"NOT" => TokenKind::Not,
        b"NULL" => TokenKind::Null,
        b"OFFSET" => TokenKind::Offset,
        b"OR" => TokenKind::Or,
        b"ORDER" => TokenKind::Order,
        b"RANK" => TokenKind::Rank,
        b"RIGHT" => TokenKind::Right,
        b"SELECT" => TokenKind::Select,
        b"TOP" => TokenKind::Top,
        b"TRUE" => TokenKind::True,
        b"UDF" => TokenKind::Udf,
        b"UNDEFINED" => TokenKind::Undefined,
        b"VALUE" => TokenKind::Value,
        b"WHERE" => TokenKind::Where,
        b"CASE" | b"CAST" | b"CONVERT" | b"CROSS" | b"ELSE" | b"END" | b"FOR" | b"HAVING" | b"INNER"
        | b"INSERT" | b"INTO" | b"IS" | b"ON" | b"OUTER" | b"OVER" | b"SET" | b"THEN" | b"UPDATE"
        | b"WHEN" | b"WITH" => TokenKind::Reserved,
        _ => TokenKind::Identifier,
    }
}

impl TokenKind {
    /// Whether a token of this kind may name something: identifiers, and the two words that are reserved only
    /// where their rule begins.
    pub(crate) fn is_identifier(self) -> bool {
        matches!(self, TokenKind::Identifier | TokenKind::Let | TokenKind::Rank)
    }

    /// Whether a token of this kind names a function when a parenthesis follows.
    pub(crate) fn is_function_name(self) -> bool {
        self.is_identifier() || matches!(self, TokenKind::Left | TokenKind::Right)
    }
}

/// Whether `text` can be written as an identifier, without quotes.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && word_kind(text).is_identifier()
}
