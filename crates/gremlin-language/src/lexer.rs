//! A script cut into words, numbers, texts and marks, one at a time.
//!
//! Numbers and texts come as they are written; `number` and `strings` read them.

/// What the lexer found: a piece of a script, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lexeme<'s> {
    pub(crate) piece: Piece<'s>,
    pub(crate) start: usize,
}

/// A piece of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'s> {
    Word(&'s str),
    /// A number with its sign, not yet looked at.
    Number(&'s str),
    /// What is between quotes, and whether a backslash is in it.
    Text {
        inner: &'s str,
        escaped: bool,
    },
    /// One of the marks of the grammar.
    Mark(u8),
    End,
}

/// What cannot be a piece of a script, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexerError {
    UnexpectedCharacter(char, usize),
    UnclosedText(usize),
    UnclosedComment(usize),
}

/// Cuts a script.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lexer<'s> {
    text: &'s str,
    offset: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Lexer { text, offset: 0 }
    }

    /// Returns the next piece.
    pub(crate) fn next(&mut self) -> Result<Lexeme<'s>, LexerError> {
        self.skip_blanks()?;
        let start = self.offset;
        let Some(byte) = self.byte(0) else {
            return Ok(Lexeme { piece: Piece::End, start });
        };
        let piece = match byte {
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b';' | b',' | b'.' | b':' => {
                self.offset += 1;
                Piece::Mark(byte)
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80.. => self.word()?,
            b'0'..=b'9' => self.number(),
            b'+' | b'-' if self.byte(1).is_some_and(|next| next.is_ascii_digit()) => self.number(),
            b'+' | b'-' if self.rest().get(1..).is_some_and(|rest| rest.starts_with("Infinity")) => {
                self.offset += "-Infinity".len();
                Piece::Number(self.since(start))
            }
            b'\'' | b'"' => self.quoted(byte)?,
            _ => return Err(self.unexpected()),
        };
        Ok(Lexeme { piece, start })
    }

    /// Returns the byte the next piece begins with, 0 at the end.
    pub(crate) fn peek(&self) -> u8 {
        let mut ahead = *self;
        match ahead.skip_blanks() {
            Ok(()) => ahead.byte(0).unwrap_or(0),
            Err(_) => 0,
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.offset + ahead).copied()
    }

    fn rest(&self) -> &'s str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    fn since(&self, start: usize) -> &'s str {
        self.text.get(start..self.offset).unwrap_or_default()
    }

    fn unexpected(&self) -> LexerError {
        LexerError::UnexpectedCharacter(self.rest().chars().next().unwrap_or('\0'), self.offset)
    }

    fn skip_blanks(&mut self) -> Result<(), LexerError> {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0C) => self.offset += 1,
                Some(b'/') if self.byte(1) == Some(b'/') => {
                    let line = self.rest().find(['\r', '\n']);
                    self.offset = line.map_or(self.text.len(), |length| self.offset + length);
                }
                Some(b'/') if self.byte(1) == Some(b'*') => {
                    let inside = self.text.get(self.offset + 2..).unwrap_or_default();
                    let end = inside.find("*/").ok_or(LexerError::UnclosedComment(self.offset))?;
                    self.offset += 2 + end + 2;
                }
                _ => return Ok(()),
            }
        }
    }

    fn word(&mut self) -> Result<Piece<'s>, LexerError> {
        let start = self.offset;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => self.offset += 1,
                0x80.. => match self.rest().chars().next() {
                    Some(letter) if letter.is_alphanumeric() => self.offset += letter.len_utf8(),
                    _ if self.offset == start => return Err(self.unexpected()),
                    _ => break,
                },
                _ => break,
            }
        }
        Ok(Piece::Word(self.since(start)))
    }

    fn number(&mut self) -> Piece<'s> {
        let start = self.offset;
        if matches!(self.byte(0), Some(b'+' | b'-')) {
            self.offset += 1;
        }
        let hexadecimal = self.byte(0) == Some(b'0') && matches!(self.byte(1), Some(b'x' | b'X'));
        let (mut before, mut fraction) = (0, false);
        while let Some(byte) = self.byte(0) {
            match byte {
                b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {}
                // `1..5` is a range.
                b'.' if !hexadecimal
                    && !fraction
                    && self.byte(1).is_some_and(|next| next.is_ascii_digit()) =>
                {
                    fraction = true;
                }
                b'+' | b'-' if !hexadecimal && matches!(before, b'e' | b'E') => {}
                _ => break,
            }
            before = byte;
            self.offset += 1;
        }
        Piece::Number(self.since(start))
    }

    fn quoted(&mut self, quote: u8) -> Result<Piece<'s>, LexerError> {
        let start = self.offset + 1;
        let mut escaped = false;
        let mut at = start;
        loop {
            match self.text.as_bytes().get(at) {
                None => return Err(LexerError::UnclosedText(self.offset)),
                Some(byte) if *byte == quote => break,
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(_) => at += 1,
            }
        }
        self.offset = at + 1;
        Ok(Piece::Text { inner: self.text.get(start..at).unwrap_or_default(), escaped })
    }
}
