//! Tokens to syntax tree, by recursive descent.
//!
//! The rules are split in two files: `query` has the clauses, `expression` the scalar expressions. Here are
//! the entry points and the cursor they share.
//!
//! What holds:
//! * the first token that no rule can take is the one reported;
//! * recursion is counted and bounded ([`Parser::descend`]), and so is the height of the tree
//!   ([`Parser::grow`]): neither reading nor dropping nor walking a tree overflows the stack.

mod expression;
mod query;

#[cfg(test)]
mod tests;

use crate::ast::{Expr, Name, Query};
use crate::error::{SyntaxError, UNEXPECTED_END, UNEXPECTED_TOKEN};
use crate::lexer;
use crate::limits::{NESTING_MAX, QUERY_TEXT_BYTES_MAX, RECURSION_MAX, SHOWN_TOKEN_CHARS_MAX};
use crate::literal::string_value;
use crate::span::Span;
use crate::token::{Token, TokenKind};

/// Reads the text of a query.
pub fn parse(text: &str) -> Result<Query, SyntaxError> {
    read(text, |parser| Ok(*parser.query()?.node))
}

/// Reads the text of a single expression.
pub fn parse_expression(text: &str) -> Result<Expr, SyntaxError> {
    read(text, |parser| Ok(*parser.expression()?.expr))
}

/// Reads the whole text by one rule.
fn read<T>(text: &str, rule: impl FnOnce(&mut Parser<'_>) -> Parsed<T>) -> Result<T, SyntaxError> {
    let mut parser = Parser::new(text)?;
    let node = rule(&mut parser).map_err(|error| *error)?;
    parser.expect(TokenKind::End).map_err(|error| *error)?;
    Ok(node)
}

/// What a rule returns; its error is boxed to keep the stack frames of nested rules small.
type Parsed<T> = Result<T, Box<SyntaxError>>;

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// The index of the token to be read next; it never passes the one of kind `End`.
    position: usize,
    /// How many rules that may nest are being read.
    depth: usize,
    /// How many of these are nothing but parentheses; each of the others makes a level of the tree.
    parentheses: usize,
}

/// A node and the height of the tree below it, a leaf's being 1.
struct Measured<T> {
    node: T,
    height: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Parser<'t>, SyntaxError> {
        if text.len() > QUERY_TEXT_BYTES_MAX {
            return Err(SyntaxError {
                code: UNEXPECTED_TOKEN,
                message: format!(
                    "query text of {} bytes is longer than the {QUERY_TEXT_BYTES_MAX} allowed",
                    text.len()
                ),
                span: Span::new(0, text.len()),
            });
        }
        Ok(Parser { text, tokens: lexer::tokens(text), position: 0, depth: 0, parentheses: 0 })
    }

    /// The kind of the next token.
    fn kind(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    /// The kind of the token that many places after the next.
    fn kind_ahead(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.position + ahead).map_or(TokenKind::End, |token| token.kind)
    }

    /// The place of the next token.
    fn span(&self) -> Span {
        self.tokens[self.position].span()
    }

    /// Takes the next token and returns its place.
    fn advance(&mut self) -> Span {
        let span = self.span();
        if self.kind() != TokenKind::End {
            self.position += 1;
        }
        span
    }

    /// Takes the next token if it is of this kind.
    fn accept(&mut self, kind: TokenKind) -> bool {
        let accepted = self.kind() == kind;
        if accepted {
            self.advance();
        }
        accepted
    }

    /// Takes the next token, which must be of this kind.
    fn expect(&mut self, kind: TokenKind) -> Parsed<Span> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.unexpected()) }
    }

    fn text_of(&self, span: Span) -> &'t str {
        &self.text[span.start..span.end]
    }

    /// The place from `start` to the end of the last token taken.
    fn since(&self, start: usize) -> Span {
        let end = self.position.checked_sub(1).map_or(start, |last| self.tokens[last].span().end);
        Span::new(start, end)
    }

    /// Takes an identifier.
    fn identifier(&mut self) -> Parsed<Name> {
        if !self.kind().is_identifier() {
            return Err(self.unexpected());
        }
        let span = self.advance();
        Ok(Name { text: self.text_of(span).to_owned(), span })
    }

    /// Takes a string literal.
    fn string(&mut self) -> Parsed<Name> {
        let span = self.expect(TokenKind::String)?;
        Ok(Name { text: string_value(self.text_of(span)), span })
    }

    /// The error of a next token that no rule can take.
    #[cold]
    fn unexpected(&self) -> Box<SyntaxError> {
        let span = self.span();
        if self.kind() == TokenKind::End {
            return Box::new(SyntaxError {
                code: UNEXPECTED_END,
                message: "Syntax error, unexpected end-of-file.".to_owned(),
                span,
            });
        }
        let token = self.text_of(span);
        let shown = match token.char_indices().nth(SHOWN_TOKEN_CHARS_MAX) {
            Some((end, _)) => &token[..end],
            None => token,
        };
        Box::new(SyntaxError {
            code: UNEXPECTED_TOKEN,
            message: format!("Syntax error, incorrect syntax near '{shown}'."),
            span,
        })
    }

    #[cold]
    fn too_deep(&self) -> Box<SyntaxError> {
        Box::new(SyntaxError {
            code: UNEXPECTED_TOKEN,
            message: "query is nested too deeply".to_owned(),
            span: self.span(),
        })
    }

    /// Counts one level of recursion; `self.depth -= 1` ends it. An error ends the reading, so the depth
    /// is not counted back then.
    fn descend(&mut self) -> Parsed<()> {
        if self.depth == RECURSION_MAX || self.depth - self.parentheses == NESTING_MAX {
            return Err(self.too_deep());
        }
        self.depth += 1;
        Ok(())
    }

    /// Returns the height of a node over parts of at most `height`.
    fn grow(&self, height: usize) -> Parsed<usize> {
        if height >= NESTING_MAX { Err(self.too_deep()) } else { Ok(height + 1) }
    }
}
