//! The shape of a query's text: what it says without the values that it says it of.
//!
//! Numbers, texts, and arrays of constants become `@1`, `@2` and so on, in the order in which they are printed, and the
//! caller's parameters get numbers among them. What stays is what decides what is asked: `true`, `false`, `null` and
//! `undefined`, the numbers of TOP, OFFSET and LIMIT, positions in arrays, names, what COUNT is given, and what is
//! selected inside of EXISTS. A list after IN is one parameter, however long it is.
//!
//! `@1` is no parameter of the query language, where names begin with a letter, so no name of a caller's is mistaken for
//! one. [`parse()`] reads such texts nevertheless.
//!
//! Not here: remembering shapes (`texts`).

use std::collections::HashMap;

use armilla_sql::ast::{CountKind, Expr, ExprKind, Literal, Query, Selection};
use armilla_value::Value;

use crate::hash;
use crate::limits::{PLAIN_TEXT_CHARS_MAX, READ_TEXT_BYTES_MAX, SHAPE_TEXT_BYTES_MAX};
use crate::sizes::{self, heap};
use visit::Visitor;

mod visit;

/// A query's shape with the values that were in its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalized {
    /// The text of the shape, in one line.
    pub text: String,
    /// Each of its parameters, named as there, with what stood in its place: nothing for a parameter that the caller
    /// did not give, an array for a list.
    pub slots: Vec<(String, Option<Value>)>,
}

/// Returns the shape of a query. `None` if the text is none, or is too long to be read for this.
pub fn normalize(text: &str, parameters: &[(String, Value)]) -> Option<Normalized> {
    let template = Template::read(text)?;
    let slots = template.slots.iter().enumerate().map(|(at, slot)| (name(at), slot.value(parameters)));
    Some(Normalized { slots: slots.collect(), text: template.text.into() })
}

/// Returns what a text that is no query has for a shape: itself, its white space joined, and not all of a long one.
pub fn plain(text: &str) -> String {
    let mut joined = String::new();
    // Words that are beyond what is kept are not looked at.
    for word in text.split_whitespace().take(PLAIN_TEXT_CHARS_MAX) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.extend(word.chars().take(PLAIN_TEXT_CHARS_MAX));
        if joined.len() > 4 * PLAIN_TEXT_CHARS_MAX {
            break;
        }
    }
    if let Some((end, _)) = joined.char_indices().nth(PLAIN_TEXT_CHARS_MAX) {
        joined.truncate(end);
    }
    joined
}

/// Reads the text of a shape, or any other query: parameters named `@1` are read as such.
pub fn parse(text: &str) -> Option<Query> {
    if !text.bytes().zip(text.bytes().skip(1)).any(|(byte, next)| is_numbered(byte, next)) {
        return armilla_sql::parse(text).ok();
    }
    // A beginning of names that no parameter of the text has.
    let mut beginning = "@n".to_owned();
    while text.contains(&beginning) {
        beginning.push('n');
    }
    let mut query = armilla_sql::parse(&with_named_numbers(text, &beginning)).ok()?;
    visit::query(&mut query, &mut Numbers { beginning: &beginning });
    Some(query)
}

fn is_numbered(byte: u8, next: u8) -> bool {
    byte == b'@' && next.is_ascii_digit()
}

/// Writes `beginning` for each `@` before a digit, but for those in texts.
fn with_named_numbers(text: &str, beginning: &str) -> String {
    let mut named = String::with_capacity(text.len() + 64);
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (Some(_), '\\') => {
                named.push(character);
                named.extend(characters.next());
                continue;
            }
            (None, '@') if characters.peek().is_some_and(char::is_ascii_digit) => {
                named.push_str(beginning);
                continue;
            }
            _ => {}
        }
        named.push(character);
    }
    named
}

/// Gives parameters their numbers back.
struct Numbers<'b> {
    beginning: &'b str,
}

impl Numbers<'_> {
    fn rename(&self, name: &mut String) {
        if let Some(number) = name.strip_prefix(self.beginning) {
            *name = format!("@{number}");
        }
    }
}

impl Visitor for Numbers<'_> {
    fn expr(&mut self, expr: &mut Expr) -> bool {
        if let ExprKind::Parameter(name) = &mut expr.kind {
            self.rename(name);
        }
        true
    }

    fn count(&mut self, count: &mut CountKind) {
        if let CountKind::Parameter(name) = count {
            self.rename(name);
        }
    }
}

/// A shape, and where the values of its parameters come from.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) text: Box<str>,
    pub(crate) hash: u64,
    slots: Vec<Source>,
}

/// Where a value comes from.
#[derive(Debug)]
enum Source {
    /// It stood in the text.
    Constant(Value),
    /// It is the caller's parameter of this name.
    Parameter(Box<str>),
    /// It is a list of such.
    List(Vec<Source>),
}

impl Template {
    /// Reads the text of a query.
    pub(crate) fn read(text: &str) -> Option<Template> {
        if text.len() > READ_TEXT_BYTES_MAX {
            return None;
        }
        let mut query = armilla_sql::parse(text).ok()?;
        let mut slots = Slots::default();
        visit::query(&mut query, &mut slots);
        // Line ends inside of texts are written as escapes.
        let printed = query.to_string().replace('\n', " ");
        Some(Template::new(cut(printed), slots.sources))
    }

    /// Makes the shape of a text that is no query.
    pub(crate) fn plain(text: &str) -> Template {
        Template::new(plain(text), Vec::new())
    }

    fn new(text: String, slots: Vec<Source>) -> Template {
        Template { hash: hash::bytes(0, text.as_bytes()), text: text.into(), slots }
    }

    /// Tells whether values stand in the text itself, so that other values make other texts.
    pub(crate) fn has_constants(&self) -> bool {
        self.slots.iter().any(Source::has_constants)
    }

    /// Hands over each value with the place of its parameter, from 0.
    pub(crate) fn each_value<'v>(
        &'v self,
        parameters: &'v [(String, Value)],
        found: &mut dyn FnMut(usize, &'v Value),
    ) {
        for (at, slot) in self.slots.iter().enumerate() {
            slot.each_value(parameters, &mut |value| found(at, value));
        }
    }

    /// Returns what it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        heap(self.text.len()) + heap(size_of::<Template>()) + Source::bytes(&self.slots)
    }
}

impl Source {
    fn has_constants(&self) -> bool {
        match self {
            Source::Constant(_) => true,
            Source::Parameter(_) => false,
            Source::List(list) => list.iter().any(Source::has_constants),
        }
    }

    fn each_value<'v>(&'v self, parameters: &'v [(String, Value)], found: &mut dyn FnMut(&'v Value)) {
        match self {
            Source::Constant(value) => found(value),
            Source::Parameter(name) => {
                if let Some((_, value)) = parameters.iter().find(|(own, _)| **own == **name) {
                    found(value);
                }
            }
            Source::List(list) => list.iter().for_each(|source| source.each_value(parameters, found)),
        }
    }

    fn value(&self, parameters: &[(String, Value)]) -> Option<Value> {
        let mut values = Vec::new();
        self.each_value(parameters, &mut |value| values.push(value.clone()));
        match self {
            Source::List(_) => Some(Value::Array(values)),
            Source::Constant(_) | Source::Parameter(_) => values.pop(),
        }
    }

    fn bytes(list: &[Source]) -> usize {
        let each = list.iter().map(|source| match source {
            Source::Constant(value) => sizes::value(value),
            Source::Parameter(name) => heap(name.len()),
            Source::List(inner) => Source::bytes(inner),
        });
        heap(size_of_val(list)) + each.sum::<usize>()
    }
}

/// Returns the name of a parameter by its place, from 0.
fn name(at: usize) -> String {
    format!("@{}", at + 1)
}

/// Keeps of a long text the beginning, and of the rest that it differs.
fn cut(mut text: String) -> String {
    if text.len() > SHAPE_TEXT_BYTES_MAX {
        let ending = format!("\u{2026} #{:016x}", hash::bytes(0, text.as_bytes()));
        text.truncate(text.floor_char_boundary(SHAPE_TEXT_BYTES_MAX - ending.len()));
        text.push_str(&ending);
    }
    text
}

/// Puts numbered parameters in the place of values, and takes down what they stand for.
#[derive(Default)]
struct Slots {
    sources: Vec<Source>,
    /// The numbers of the caller's parameters.
    known: HashMap<String, usize>,
}

impl Slots {
    fn add(&mut self, source: Source) -> String {
        self.sources.push(source);
        name(self.sources.len() - 1)
    }

    fn parameter(&mut self, own: &mut String) {
        let at = *self.known.entry(own.clone()).or_insert(self.sources.len());
        if at == self.sources.len() {
            self.sources.push(Source::Parameter(own.as_str().into()));
        }
        *own = name(at);
    }
}

impl Visitor for Slots {
    fn expr(&mut self, expr: &mut Expr) -> bool {
        if let Some(value) = varying(expr) {
            expr.kind = ExprKind::Parameter(self.add(Source::Constant(value)));
            return false;
        }
        match &mut expr.kind {
            ExprKind::Parameter(name) => {
                self.parameter(name);
                false
            }
            ExprKind::Index { object, index } if matches!(index.kind, ExprKind::Literal(_)) => {
                visit::expr(object, self);
                false
            }
            ExprKind::In { value, list, .. } => {
                visit::expr(value, self);
                match list.iter().map(listed).collect::<Option<Vec<_>>>() {
                    Some(sources) => {
                        let name = self.add(Source::List(sources));
                        *list = vec![Expr::from(ExprKind::Parameter(name))];
                    }
                    None => list.iter_mut().for_each(|candidate| visit::expr(candidate, self)),
                }
                false
            }
            ExprKind::Call { name, args } => {
                let is_constant = |arg: &Expr| matches!(arg.kind, ExprKind::Literal(_));
                !(name.text.eq_ignore_ascii_case("COUNT") && args.iter().all(is_constant))
            }
            ExprKind::Exists(inner) => {
                let is_constant = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(_));
                let says_nothing = match &inner.selection {
                    Selection::Star => true,
                    Selection::Value(value) => is_constant(value),
                    Selection::List(items) => items.iter().all(|item| is_constant(&item.expr)),
                };
                if says_nothing {
                    visit::clauses(inner, self);
                }
                !says_nothing
            }
            _ => true,
        }
    }

    fn count(&mut self, count: &mut CountKind) {
        if let CountKind::Parameter(name) = count {
            self.parameter(name);
        }
    }
}

/// Returns the value of an expression whose place is taken by a parameter.
fn varying(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Literal(Literal::Undefined | Literal::Null | Literal::Bool(_)) => None,
        _ => constant(expr),
    }
}

/// Returns the value of a constant, or of an array of such.
fn constant(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::Literal(literal) => match literal {
            Literal::Undefined => None,
            Literal::Null => Some(Value::Null),
            Literal::Bool(truth) => Some(Value::Bool(*truth)),
            Literal::Int(integer) => Some(Value::Int64(*integer)),
            Literal::Double(double) => Some(Value::Double(*double)),
            Literal::String(text) => Some(Value::String(text.clone())),
        },
        ExprKind::Array(elements) => elements.iter().map(constant).collect::<Option<_>>().map(Value::Array),
        _ => None,
    }
}

/// Returns where the value of a candidate after IN comes from, if it is no expression.
fn listed(candidate: &Expr) -> Option<Source> {
    match &candidate.kind {
        ExprKind::Parameter(name) => Some(Source::Parameter(name.as_str().into())),
        _ => constant(candidate).map(Source::Constant),
    }
}

#[cfg(test)]
mod tests;
