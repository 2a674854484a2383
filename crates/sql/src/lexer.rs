//! Text to tokens.
//!
//! Nothing fails here: what is no token becomes one of kind [`TokenKind::Invalid`], so that a syntax error
//! before it is still the one reported.
//!
//! Not here: the values of string and number literals (`literal`).

use crate::literal::string_end;
use crate::token::{Token, TokenKind, word_kind};

/// Splits `text` into tokens, the last of which is of kind [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), position: 0 };
    // Most tokens are words of a few letters with a blank between them.
    let mut tokens = Vec::with_capacity(text.len() / 4 + 1);
    loop {
        let token = lexer.next_token();
        tokens.push(token);
        if token.kind == TokenKind::End {
            return tokens;
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    position: usize,
}

impl Lexer<'_> {
    fn next_token(&mut self) -> Token {
        self.skip_blanks();
        let start = self.position;
        let kind = match self.peek(0) {
            None => TokenKind::End,
            Some(b'A'..=b'Z' | b'a'..=b'z' | b'_') => {
                self.skip_word();
                word_kind(&self.text[start..self.position])
            }
            Some(b'0'..=b'9') => self.number(),
            Some(b'.') if self.digit_at(1) => self.number(),
            Some(b'@') => self.parameter(),
            Some(b'\'' | b'"') => self.string(),
            Some(_) => self.punctuation(),
        };
        Token::new(kind, start, self.position)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.position + ahead).copied()
    }

    fn digit_at(&self, ahead: usize) -> bool {
        self.peek(ahead).is_some_and(|byte| byte.is_ascii_digit())
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.position += 1,
                Some(b'-') if self.peek(1) == Some(b'-') => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n' && byte != b'\r') {
                        self.position += 1;
                    }
                }
                Some(byte) if !byte.is_ascii() || byte < b' ' => {
                    // Text pasted from a web page has blanks of other kinds in it.
                    match self.text[self.position..].chars().next() {
                        Some(blank) if blank.is_whitespace() => self.position += blank.len_utf8(),
                        _ => return,
                    }
                }
                _ => return,
            }
        }
    }

    fn skip_word(&mut self) {
        while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.position += 1;
        }
    }

    fn skip_digits(&mut self) {
        while self.digit_at(0) {
            self.position += 1;
        }
    }

    fn number(&mut self) -> TokenKind {
        if self.peek(0) == Some(b'0')
            && matches!(self.peek(1), Some(b'x' | b'X'))
            && self.peek(2).is_some_and(|byte| byte.is_ascii_hexdigit())
        {
            self.position += 2;
            while self.peek(0).is_some_and(|byte| byte.is_ascii_hexdigit()) {
                self.position += 1;
            }
            return TokenKind::Integer;
        }
        let mut kind = TokenKind::Integer;
        self.skip_digits();
        if self.peek(0) == Some(b'.') {
            kind = TokenKind::Double;
            self.position += 1;
            self.skip_digits();
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            let sign_bytes = usize::from(matches!(self.peek(1), Some(b'+' | b'-')));
            if self.digit_at(1 + sign_bytes) {
                kind = TokenKind::Double;
                self.position += 1 + sign_bytes;
                self.skip_digits();
            }
        }
        kind
    }

    fn parameter(&mut self) -> TokenKind {
        self.position += 1;
        if self.peek(0).is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            self.skip_word();
            TokenKind::Parameter
        } else {
            TokenKind::Invalid
        }
    }

    fn string(&mut self) -> TokenKind {
        let (bytes, valid) = string_end(&self.text[self.position..]);
        self.position += bytes;
        if valid { TokenKind::String } else { TokenKind::Invalid }
    }

    fn punctuation(&mut self) -> TokenKind {
        let (bytes, kind) = match (self.peek(0), self.peek(1), self.peek(2)) {
            (Some(b'>'), Some(b'>'), Some(b'>')) => (3, TokenKind::ShiftRightZero),
            (Some(b'>'), Some(b'>'), _) => (2, TokenKind::ShiftRight),
            (Some(b'>'), Some(b'='), _) => (2, TokenKind::GreaterOrEqual),
            (Some(b'>'), ..) => (1, TokenKind::Greater),
            (Some(b'<'), Some(b'<'), _) => (2, TokenKind::ShiftLeft),
            (Some(b'<'), Some(b'='), _) => (2, TokenKind::LessOrEqual),
            (Some(b'<'), Some(b'>'), _) | (Some(b'!'), Some(b'='), _) => (2, TokenKind::NotEqual),
            (Some(b'<'), ..) => (1, TokenKind::Less),
            (Some(b'='), ..) => (1, TokenKind::Equal),
            (Some(b'|'), Some(b'|'), _) => (2, TokenKind::PipePipe),
            (Some(b'|'), ..) => (1, TokenKind::Pipe),
            (Some(b'?'), Some(b'?'), _) => (2, TokenKind::QuestionQuestion),
            (Some(b'?'), ..) => (1, TokenKind::Question),
            (Some(b'+'), ..) => (1, TokenKind::Plus),
            (Some(b'-'), ..) => (1, TokenKind::Minus),
            (Some(b'*'), ..) => (1, TokenKind::Star),
            (Some(b'/'), ..) => (1, TokenKind::Slash),
            (Some(b'%'), ..) => (1, TokenKind::Percent),
            (Some(b'&'), ..) => (1, TokenKind::Ampersand),
            (Some(b'^'), ..) => (1, TokenKind::Caret),
            (Some(b'~'), ..) => (1, TokenKind::Tilde),
            (Some(b':'), ..) => (1, TokenKind::Colon),
            (Some(b'.'), ..) => (1, TokenKind::Dot),
            (Some(b','), ..) => (1, TokenKind::Comma),
            (Some(b'('), ..) => (1, TokenKind::LeftParen),
            (Some(b')'), ..) => (1, TokenKind::RightParen),
            (Some(b'['), ..) => (1, TokenKind::LeftBracket),
            (Some(b']'), ..) => (1, TokenKind::RightBracket),
            (Some(b'{'), ..) => (1, TokenKind::LeftBrace),
            (Some(b'}'), ..) => (1, TokenKind::RightBrace),
            _ => {
                let character = self.text[self.position..].chars().next();
                (character.map_or(1, char::len_utf8), TokenKind::Invalid)
            }
        };
        self.position += bytes;
        kind
    }
}
