//! Expressions of `math()`: numbers, names, operators and functions.
//!
//! An expression is kept as the steps that compute it with a stack (`a b +`), not as a tree: a sum of many terms would
//! be a tree as deep as it has terms.

use std::sync::Arc;

use crate::error::{MachineError, Result};
use crate::limits;

/// Deepest nesting of an expression.
const DEPTH_MAX: usize = 64;

/// Most bytes of an expression that an error quotes.
const QUOTE_LEN_MAX: usize = 60;

/// A parsed expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    parts: Vec<Part>,
    /// The names in it, in the order they first occur; `_` is the current object.
    pub(crate) names: Vec<Arc<str>>,
}

/// A step of the computation.
#[derive(Debug, Clone, Copy)]
enum Part {
    Number(f64),
    Name(usize),
    Negate,
    Binary(u8),
    Call(Function),
}

type Function = fn(f64) -> f64;

const FUNCTIONS: [(&str, Function); 20] = [
    ("abs", f64::abs),
    ("acos", f64::acos),
    ("asin", f64::asin),
    ("atan", f64::atan),
    ("cbrt", f64::cbrt),
    ("ceil", f64::ceil),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("exp", f64::exp),
    ("floor", f64::floor),
    ("log", f64::ln),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("signum", signum),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
    ("expm1", f64::exp_m1),
];

fn signum(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

impl Expression {
    pub(crate) fn parse(text: &str) -> Result<Expression> {
        let mut parser = Parser { rest: text, names: Vec::new(), parts: Vec::new(), depth: 0 };
        parser.sum()?;
        parser.skip();
        if !parser.rest.is_empty() {
            return Err(wrong(parser.rest));
        }
        Ok(Expression { parts: parser.parts, names: parser.names })
    }

    /// Says whether it has names other than the current object's.
    pub(crate) fn has_names(&self) -> bool {
        self.names.iter().any(|name| name.as_ref() != "_")
    }

    /// Computes it with values for its names.
    pub(crate) fn compute(&self, values: &[f64]) -> f64 {
        let mut stack: Vec<f64> = Vec::new();
        for part in &self.parts {
            let mut take = || stack.pop().unwrap_or(f64::NAN);
            let value = match part {
                Part::Number(value) => *value,
                Part::Name(at) => values.get(*at).copied().unwrap_or(f64::NAN),
                Part::Negate => -take(),
                Part::Call(function) => function(take()),
                Part::Binary(operator) => {
                    let (right, left) = (take(), take());
                    match operator {
                        b'+' => left + right,
                        b'-' => left - right,
                        b'*' => left * right,
                        b'/' => left / right,
                        b'%' => left % right,
                        _ => left.powf(right),
                    }
                }
            };
            stack.push(value);
        }
        stack.pop().unwrap_or(f64::NAN)
    }
}

struct Parser<'t> {
    rest: &'t str,
    names: Vec<Arc<str>>,
    parts: Vec<Part>,
    depth: usize,
}

impl Parser<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, marks: &[u8]) -> Option<u8> {
        self.skip();
        let first = *self.rest.as_bytes().first()?;
        if !marks.contains(&first) {
            return None;
        }
        self.rest = self.rest.get(1..)?;
        Some(first)
    }

    fn push(&mut self, part: Part) -> Result<()> {
        if self.parts.len() >= limits::MATH_PARTS_MAX {
            return Err(MachineError::compile(format!(
                "math() takes no more than {} numbers, names and operators: split the expression",
                limits::MATH_PARTS_MAX
            )));
        }
        self.parts.push(part);
        Ok(())
    }

    fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(MachineError::compile(format!(
                "math() takes no more than {DEPTH_MAX} levels of brackets and powers: split the expression"
            )));
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<()> {
        self.deeper()?;
        self.product()?;
        while let Some(operator) = self.take(b"+-") {
            self.product()?;
            self.push(Part::Binary(operator))?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn product(&mut self) -> Result<()> {
        self.signed()?;
        while let Some(operator) = self.take(b"*/%") {
            self.signed()?;
            self.push(Part::Binary(operator))?;
        }
        Ok(())
    }

    fn signed(&mut self) -> Result<()> {
        let mut negative = false;
        while let Some(sign) = self.take(b"+-") {
            negative ^= sign == b'-';
        }
        self.power()?;
        if negative { self.push(Part::Negate) } else { Ok(()) }
    }

    fn power(&mut self) -> Result<()> {
        self.atom()?;
        if self.take(b"^").is_none() {
            return Ok(());
        }
        self.deeper()?;
        self.signed()?;
        self.depth -= 1;
        self.push(Part::Binary(b'^'))
    }

    fn atom(&mut self) -> Result<()> {
        if self.take(b"(").is_some() {
            return self.closed();
        }
        self.skip();
        let first = self.rest.chars().next().ok_or_else(|| wrong(""))?;
        if first.is_ascii_digit() || first == '.' {
            let len = self.number_len();
            let (number, rest) = self.rest.split_at(len);
            let value = number.parse().map_err(|_| wrong(number))?;
            self.rest = rest;
            return self.push(Part::Number(value));
        }
        if first.is_alphabetic() || first == '_' {
            let len = self
                .rest
                .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(len);
            self.rest = rest;
            if let Some((_, function)) = FUNCTIONS.iter().find(|(other, _)| *other == name) {
                if self.take(b"(").is_some() {
                    self.closed()?;
                    return self.push(Part::Call(*function));
                }
                // Without parentheses it takes what follows, if something does.
                self.skip();
                if self.rest.starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '.') {
                    self.deeper()?;
                    self.power()?;
                    self.depth -= 1;
                    return self.push(Part::Call(*function));
                }
            }
            let part = match name {
                "pi" => Part::Number(std::f64::consts::PI),
                "e" => Part::Number(std::f64::consts::E),
                name => Part::Name(self.name(name)),
            };
            return self.push(part);
        }
        Err(wrong(self.rest))
    }

    fn closed(&mut self) -> Result<()> {
        self.sum()?;
        match self.take(b")") {
            Some(_) => Ok(()),
            None => Err(wrong(self.rest)),
        }
    }

    fn number_len(&self) -> usize {
        let mut before = b' ';
        for (at, byte) in self.rest.bytes().enumerate() {
            let exponent = matches!(before, b'e' | b'E');
            let belongs = byte.is_ascii_digit()
                || byte == b'.'
                || matches!(byte, b'e' | b'E')
                || (exponent && matches!(byte, b'+' | b'-'));
            if !belongs {
                return at;
            }
            before = byte;
        }
        self.rest.len()
    }

    fn name(&mut self, name: &str) -> usize {
        if let Some(at) = self.names.iter().position(|other| other.as_ref() == name) {
            return at;
        }
        self.names.push(name.into());
        self.names.len() - 1
    }
}

fn wrong(at: &str) -> MachineError {
    let at = at.get(..at.floor_char_boundary(QUOTE_LEN_MAX)).unwrap_or("");
    MachineError::compile(format!("math() does not understand its expression at '{at}'"))
}
