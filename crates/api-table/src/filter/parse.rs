//! Filter text to a condition.

use super::evaluate::compare;
use super::limits::{FILTER_BYTES_MAX, NESTING_MAX};
use super::{Condition, Filter, FilterError, FilterProblem, Operator};
use crate::edm::EdmValue;
use crate::literal::{Scanned, scan, word_length};

impl Filter {
    /// Reads a filter; `None` for one that is empty, which everything matches.
    ///
    /// # Errors
    ///
    /// Text that is no filter, and filters that are too long or nested too deep.
    pub(crate) fn parse(text: &str) -> Result<Option<Filter>, FilterError> {
        if text.len() > FILTER_BYTES_MAX {
            return Err(FilterError { position: 0, problem: FilterProblem::TooLong });
        }
        let mut parser = Parser { text, at: 0, depth: 0 };
        parser.skip_whitespace();
        if parser.rest().is_empty() {
            return Ok(None);
        }
        let root = parser.expression()?;
        if !parser.rest().is_empty() {
            return Err(parser.expected("'and', 'or' or the end"));
        }
        Ok(Some(Filter { root }))
    }
}

/// Stands before what is to be read, never before white space.
struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

enum Operand<'a> {
    Name(&'a str),
    Literal(Option<EdmValue>),
}

impl<'a> Parser<'a> {
    fn expression(&mut self) -> Result<Condition, FilterError> {
        let first = self.conjunction()?;
        if !self.take_word("or") {
            return Ok(first);
        }
        let mut parts = vec![first];
        loop {
            parts.push(self.conjunction()?);
            if !self.take_word("or") {
                return Ok(Condition::Or(parts));
            }
        }
    }

    fn conjunction(&mut self) -> Result<Condition, FilterError> {
        let first = self.negation()?;
        if !self.take_word("and") {
            return Ok(first);
        }
        let mut parts = vec![first];
        loop {
            parts.push(self.negation()?);
            if !self.take_word("and") {
                return Ok(Condition::And(parts));
            }
        }
    }

    fn negation(&mut self) -> Result<Condition, FilterError> {
        if self.take_word("not") {
            let inner = self.nested(Parser::negation)?;
            return Ok(Condition::Not(Box::new(inner)));
        }
        if self.take_byte(b'(') {
            let inner = self.nested(Parser::expression)?;
            return if self.take_byte(b')') { Ok(inner) } else { Err(self.expected("'and', 'or' or ')'")) };
        }
        self.comparison()
    }

    /// Reads something one level deeper.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Parser<'a>) -> Result<Condition, FilterError>,
    ) -> Result<Condition, FilterError> {
        if self.depth == NESTING_MAX {
            return Err(self.error(FilterProblem::TooDeep));
        }
        self.depth += 1;
        let inner = read(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    fn comparison(&mut self) -> Result<Condition, FilterError> {
        let start = self.at;
        let left = self.operand()?;
        let Some(operator) = Operator::ALL.into_iter().find(|operator| self.take_word(operator.word()))
        else {
            return match left {
                Operand::Name(name) => Ok(Condition::Compare {
                    name: name.to_owned(),
                    operator: Operator::Equal,
                    value: EdmValue::Boolean(true),
                }),
                Operand::Literal(Some(EdmValue::Boolean(truth))) => Ok(Condition::Constant(truth)),
                Operand::Literal(_) => Err(self.expected("a comparison operator")),
            };
        };
        let right = self.operand()?;
        match (left, right) {
            (Operand::Name(_), Operand::Name(_)) => {
                self.at = start;
                Err(self.error(FilterProblem::NoLiteral))
            }
            (Operand::Name(name), Operand::Literal(Some(value))) => {
                Ok(Condition::Compare { name: name.to_owned(), operator, value })
            }
            (Operand::Literal(Some(value)), Operand::Name(name)) => {
                Ok(Condition::Compare { name: name.to_owned(), operator: operator.mirrored(), value })
            }
            (Operand::Literal(Some(left)), Operand::Literal(Some(right))) => {
                Ok(Condition::Constant(compare(&left.lend(), operator, &right.lend())))
            }
            // Null compares with nothing.
            _ => Ok(Condition::Constant(false)),
        }
    }

    fn operand(&mut self) -> Result<Operand<'a>, FilterError> {
        let rest = self.rest();
        let (operand, length) = match scan(rest) {
            Scanned::Literal(literal) => (Operand::Literal(literal.value), literal.length),
            Scanned::Name(length) => (Operand::Name(&rest[..length]), length),
            Scanned::Neither => return Err(self.expected("a property or a literal")),
        };
        self.step(length);
        Ok(operand)
    }

    /// Takes a word, in letters of either case.
    fn take_word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let length = word.len();
        let is_next = rest.get(..length).is_some_and(|own| own.eq_ignore_ascii_case(word))
            && word_length(&rest[length..]) == 0;
        if is_next {
            self.step(length);
        }
        is_next
    }

    fn take_byte(&mut self, byte: u8) -> bool {
        let is_next = self.rest().as_bytes().first() == Some(&byte);
        if is_next {
            self.step(1);
        }
        is_next
    }

    fn step(&mut self, length: usize) {
        self.at += length;
        self.skip_whitespace();
    }

    fn skip_whitespace(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn expected(&self, what: &'static str) -> FilterError {
        self.error(FilterProblem::Expected(what))
    }

    fn error(&self, problem: FilterProblem) -> FilterError {
        FilterError { position: self.text[..self.at].chars().count(), problem }
    }
}
