//! Expressions of `math()`: numbers, names, operators and functions.

use std::sync::Arc;

use crate::error::{MachineError, Result};

/// Deepest nesting of an expression.
const DEPTH_MAX: usize = 64;

/// A parsed expression.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    root: Node,
    /// The names in it, in the order they first occur; `_` is the current object.
    pub(crate) names: Vec<Arc<str>>,
}

#[derive(Debug, Clone)]
enum Node {
    Number(f64),
    Name(usize),
    Negated(Box<Node>),
    Binary(u8, Box<Node>, Box<Node>),
    Call(Function, Box<Node>),
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
        let mut parser = Parser { rest: text, names: Vec::new(), depth: 0 };
        let root = parser.sum()?;
        parser.skip();
        if !parser.rest.is_empty() {
            return Err(wrong(text));
        }
        Ok(Expression { root, names: parser.names })
    }

    /// Says whether it has names other than the current object's.
    pub(crate) fn has_names(&self) -> bool {
        self.names.iter().any(|name| name.as_ref() != "_")
    }

    /// Computes it with values for its names.
    pub(crate) fn compute(&self, values: &[f64]) -> f64 {
        compute(&self.root, values)
    }
}

fn compute(node: &Node, values: &[f64]) -> f64 {
    match node {
        Node::Number(value) => *value,
        Node::Name(at) => values.get(*at).copied().unwrap_or(f64::NAN),
        Node::Negated(node) => -compute(node, values),
        Node::Binary(operator, left, right) => {
            let (left, right) = (compute(left, values), compute(right, values));
            match operator {
                b'+' => left + right,
                b'-' => left - right,
                b'*' => left * right,
                b'/' => left / right,
                b'%' => left % right,
                _ => left.powf(right),
            }
        }
        Node::Call(function, node) => function(compute(node, values)),
    }
}

struct Parser<'t> {
    rest: &'t str,
    names: Vec<Arc<str>>,
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

    fn sum(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(wrong(self.rest));
        }
        let mut node = self.product()?;
        while let Some(operator) = self.take(b"+-") {
            node = Node::Binary(operator, Box::new(node), Box::new(self.product()?));
        }
        self.depth -= 1;
        Ok(node)
    }

    fn product(&mut self) -> Result<Node> {
        let mut node = self.signed()?;
        while let Some(operator) = self.take(b"*/%") {
            node = Node::Binary(operator, Box::new(node), Box::new(self.signed()?));
        }
        Ok(node)
    }

    fn signed(&mut self) -> Result<Node> {
        let mut negative = false;
        while let Some(sign) = self.take(b"+-") {
            negative ^= sign == b'-';
        }
        let node = self.power()?;
        Ok(if negative { Node::Negated(Box::new(node)) } else { node })
    }

    fn power(&mut self) -> Result<Node> {
        let base = self.atom()?;
        if self.take(b"^").is_none() {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(wrong(self.rest));
        }
        let exponent = self.signed()?;
        self.depth -= 1;
        Ok(Node::Binary(b'^', Box::new(base), Box::new(exponent)))
    }

    fn atom(&mut self) -> Result<Node> {
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
            return Ok(Node::Number(value));
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
                    return Ok(Node::Call(*function, Box::new(self.closed()?)));
                }
                // Without parentheses it takes what follows, if something does.
                self.skip();
                if self.rest.starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '.') {
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        return Err(wrong(self.rest));
                    }
                    let argument = self.power()?;
                    self.depth -= 1;
                    return Ok(Node::Call(*function, Box::new(argument)));
                }
            }
            return Ok(match name {
                "pi" => Node::Number(std::f64::consts::PI),
                "e" => Node::Number(std::f64::consts::E),
                name => Node::Name(self.name(name)),
            });
        }
        Err(wrong(self.rest))
    }

    fn closed(&mut self) -> Result<Node> {
        let node = self.sum()?;
        match self.take(b")") {
            Some(_) => Ok(node),
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
    MachineError::compile(format!("math() does not understand its expression at '{at}'"))
}
