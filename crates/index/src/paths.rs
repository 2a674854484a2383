//! Paths as an indexing policy writes them: `/*`, `/a/?`, `/a/[]/"b c"/*`, `/tags/[]/{kind, name}/?`.
//!
//! A path keeps the text it came with, since the policy is returned as it was given; two paths are the
//! same path when their segments and endings are, however they were quoted.
//!
//! Not here: which path wins for a given leaf (`matcher`).

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::limits;

#[cfg(test)]
mod tests;

/// One step from an item's root towards a leaf.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathSegment {
    /// The member of an object with this name.
    Property(String),
    /// Every element of an array, written `[]`.
    Elements,
}

/// What a path of the range index covers at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathEnd {
    /// `/?`: the scalar standing exactly there.
    Scalar,
    /// `/*`: the scalar standing there and everything below.
    Subtree,
}

/// Why a path was not understood: the character at which reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPath {
    /// Position of the offending character, counted in characters from 0.
    pub position: usize,
}

/// A path of the range index or of a spatial index, with its ending.
#[derive(Debug, Clone)]
pub struct IndexPath {
    text: String,
    segments: Vec<PathSegment>,
    end: PathEnd,
}

/// A path to a property, without an ending: composite, vector and full-text indexes name these.
#[derive(Debug, Clone)]
pub struct PropertyRoute {
    text: String,
    segments: Vec<PathSegment>,
}

/// A tuple path: combinations of properties within one array element.
#[derive(Debug, Clone)]
pub struct TuplePath {
    text: String,
    prefix: Vec<PathSegment>,
    properties: Vec<Vec<PathSegment>>,
}

impl IndexPath {
    /// Reads a path that ends in `/?` or `/*`; a lone `/` is the old spelling of `/*`.
    pub fn parse(text: &str) -> Result<IndexPath, BadPath> {
        if text == "/" {
            return Ok(IndexPath::root());
        }
        let steps = scan(text)?;
        let (last, rest) = steps.split_last().expect("a scanned path has a step");
        let end = match last.kind {
            StepKind::Scalar if !rest.is_empty() => PathEnd::Scalar,
            StepKind::Subtree => PathEnd::Subtree,
            StepKind::Scalar | StepKind::Tuple(_) => return Err(BadPath { position: last.position }),
            // The ending is what is missing, so the end is where reading stopped.
            StepKind::Property(_) | StepKind::Elements => {
                return Err(BadPath { position: text.chars().count() });
            }
        };
        Ok(IndexPath { text: text.to_owned(), segments: plain_segments(rest)?, end })
    }

    /// Returns `/*`, the path that covers everything.
    pub fn root() -> IndexPath {
        IndexPath { text: "/*".to_owned(), segments: Vec::new(), end: PathEnd::Subtree }
    }

    /// Returns whether this is `/*`.
    pub fn is_root(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the steps from the root, without the ending.
    pub fn segments(&self) -> &[PathSegment] {
        &self.segments
    }

    /// Returns what is covered at the end.
    pub fn end(&self) -> PathEnd {
        self.end
    }
}

impl PropertyRoute {
    /// Reads a path to a property; `[]` is allowed, an ending is not.
    pub fn parse(text: &str) -> Result<PropertyRoute, BadPath> {
        let steps = scan(text)?;
        Ok(PropertyRoute { text: text.to_owned(), segments: plain_segments(&steps)? })
    }

    /// Reads a path to a property that lies in no array.
    pub fn parse_outside_arrays(text: &str) -> Result<PropertyRoute, BadPath> {
        let steps = scan(text)?;
        if let Some(step) = steps.iter().find(|step| matches!(step.kind, StepKind::Elements)) {
            return Err(BadPath { position: step.position });
        }
        Ok(PropertyRoute { text: text.to_owned(), segments: plain_segments(&steps)? })
    }

    /// Returns the path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the steps from the root.
    pub fn segments(&self) -> &[PathSegment] {
        &self.segments
    }
}

impl TuplePath {
    /// Returns whether `text` is meant as a tuple path, well formed or not.
    pub(crate) fn is_meant(text: &str) -> bool {
        // A brace inside quotes belongs to a name; nothing else may hold one.
        let mut quoted = false;
        let mut escaped = false;
        text.chars().any(|c| {
            let here = c == '{' && !quoted;
            if c == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = c == '\\' && !escaped;
            here
        })
    }

    /// Reads `<prefix>/[]/{a, b}/?`.
    pub fn parse(text: &str) -> Result<TuplePath, BadPath> {
        let steps = scan(text)?;
        let [prefix @ .., elements, braces, end] = steps.as_slice() else {
            return Err(BadPath { position: 0 });
        };
        let StepKind::Tuple(properties) = &braces.kind else {
            return Err(BadPath { position: braces.position });
        };
        if elements.kind != StepKind::Elements {
            return Err(BadPath { position: elements.position });
        }
        if end.kind != StepKind::Scalar {
            return Err(BadPath { position: end.position });
        }
        let mut prefix = plain_segments(prefix)?;
        if prefix.is_empty() {
            return Err(BadPath { position: elements.position });
        }
        prefix.push(PathSegment::Elements);
        Ok(TuplePath { text: text.to_owned(), prefix, properties: properties.clone() })
    }

    /// Returns the path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the steps to the array's elements, the last of which is `[]`.
    pub fn prefix(&self) -> &[PathSegment] {
        &self.prefix
    }

    /// Returns, for each property of the tuple, the steps from the element.
    pub fn properties(&self) -> &[Vec<PathSegment>] {
        &self.properties
    }
}

impl PartialEq for IndexPath {
    fn eq(&self, other: &IndexPath) -> bool {
        self.segments == other.segments && self.end == other.end
    }
}

impl Eq for IndexPath {}

impl Hash for IndexPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.segments.hash(state);
        self.end.hash(state);
    }
}

impl PartialEq for PropertyRoute {
    fn eq(&self, other: &PropertyRoute) -> bool {
        self.segments == other.segments
    }
}

impl Eq for PropertyRoute {}

impl PartialEq for TuplePath {
    fn eq(&self, other: &TuplePath) -> bool {
        self.prefix == other.prefix && self.properties == other.properties
    }
}

impl Eq for TuplePath {}

impl fmt::Display for IndexPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for PropertyRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for TuplePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Debug, PartialEq, Eq)]
struct RouteStep {
    kind: StepKind,
    position: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum StepKind {
    Property(String),
    Elements,
    Scalar,
    Subtree,
    Tuple(Vec<Vec<PathSegment>>),
}

fn plain_segments(steps: &[RouteStep]) -> Result<Vec<PathSegment>, BadPath> {
    steps
        .iter()
        .map(|step| match &step.kind {
            StepKind::Property(name) => Ok(PathSegment::Property(name.clone())),
            StepKind::Elements => Ok(PathSegment::Elements),
            StepKind::Scalar | StepKind::Subtree | StepKind::Tuple(_) => {
                Err(BadPath { position: step.position })
            }
        })
        .collect()
}

/// Splits a path into its steps; at least one, each begun by `/`.
fn scan(text: &str) -> Result<Vec<RouteStep>, BadPath> {
    let mut scanner = Scanner { characters: text.chars().collect(), position: 0 };
    let mut steps = Vec::new();
    loop {
        scanner.expect('/')?;
        let position = scanner.position;
        steps.push(RouteStep { kind: scanner.step()?, position });
        if scanner.peek().is_none() {
            return Ok(steps);
        }
        if steps.len() == limits::PATH_SEGMENTS_MAX {
            return scanner.stop();
        }
    }
}

struct Scanner {
    characters: Vec<char>,
    position: usize,
}

impl Scanner {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.position += 1;
        Some(next)
    }

    fn stop<T>(&self) -> Result<T, BadPath> {
        Err(BadPath { position: self.position })
    }

    fn expect(&mut self, wanted: char) -> Result<(), BadPath> {
        if self.peek() == Some(wanted) {
            self.position += 1;
            Ok(())
        } else {
            self.stop()
        }
    }

    fn step(&mut self) -> Result<StepKind, BadPath> {
        match self.peek() {
            Some('?') => {
                self.position += 1;
                Ok(StepKind::Scalar)
            }
            Some('*') => {
                self.position += 1;
                Ok(StepKind::Subtree)
            }
            Some('[') => {
                self.position += 1;
                self.expect(']')?;
                Ok(StepKind::Elements)
            }
            Some('{') => {
                self.position += 1;
                self.tuple()
            }
            _ => Ok(StepKind::Property(self.name()?)),
        }
    }

    fn name(&mut self) -> Result<String, BadPath> {
        if self.peek() == Some('"') {
            self.position += 1;
            return self.quoted_name();
        }
        let start = self.position;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.position += 1;
        }
        if start == self.position {
            return self.stop();
        }
        Ok(self.characters[start..self.position].iter().collect())
    }

    /// Reads the rest of a quoted name; escapes are JSON's.
    fn quoted_name(&mut self) -> Result<String, BadPath> {
        let mut name = String::new();
        loop {
            let position = self.position;
            match self.next() {
                Some('"') if name.is_empty() => return Err(BadPath { position }),
                Some('"') => return Ok(name),
                Some('\\') => name.push(self.escape(position)?),
                Some(c) => name.push(c),
                None => return self.stop(),
            }
        }
    }

    fn escape(&mut self, position: usize) -> Result<char, BadPath> {
        let bad = BadPath { position };
        Ok(match self.next().ok_or(bad)? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let high = self.hex4().ok_or(bad)?;
                if (0xD800..0xDC00).contains(&high) {
                    let pair = self.next() == Some('\\') && self.next() == Some('u');
                    let low = self.hex4().filter(|low| pair && (0xDC00..0xE000).contains(low)).ok_or(bad)?;
                    char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).ok_or(bad)?
                } else {
                    char::from_u32(high).ok_or(bad)?
                }
            }
            _ => return Err(bad),
        })
    }

    fn hex4(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |code, _| Some(code * 16 + self.next()?.to_digit(16)?))
    }

    /// Reads the rest of `{a, b/c}`.
    fn tuple(&mut self) -> Result<StepKind, BadPath> {
        let mut properties: Vec<Vec<PathSegment>> = Vec::new();
        loop {
            self.skip_spaces();
            let start = self.position;
            let mut property = vec![PathSegment::Property(self.name()?)];
            while self.peek() == Some('/') {
                self.position += 1;
                property.push(PathSegment::Property(self.name()?));
                if property.len() > limits::PATH_SEGMENTS_MAX {
                    return self.stop();
                }
            }
            if properties.contains(&property) || properties.len() == limits::TUPLE_PROPERTIES_MAX {
                return Err(BadPath { position: start });
            }
            properties.push(property);
            self.skip_spaces();
            match self.peek() {
                Some(',') => self.position += 1,
                Some('}') => {
                    self.position += 1;
                    return Ok(StepKind::Tuple(properties));
                }
                _ => return self.stop(),
            }
        }
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(' ') {
            self.position += 1;
        }
    }
}
