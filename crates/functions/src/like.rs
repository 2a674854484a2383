//! The patterns of LIKE, compiled.
//!
//! `%` is any run of characters, `_` exactly one, `[a-f]` one of a set, `[^a-f]` one outside it; all match line
//! breaks too. An escape character makes the next character literal. A lone `]`, an unclosed `[`, and `-` first
//! or last in a set are literal. A character is a code point.
//!
//! A pattern is cut at its `%` into segments that match a fixed number of characters each, so that taking every
//! segment at the first place where it fits decides the match without going back. How that place is found: `find`.

mod find;

#[cfg(test)]
mod tests;

use crate::meter::Meter;

/// A compiled pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct LikePattern {
    segments: Vec<Segment>,
    shape: LikeShape,
}

/// What a pattern asks for, where it is something simpler than a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LikeShape {
    /// No wildcard: equality with this text.
    Exact(String),
    /// `text%`: begins with this text.
    Prefix(String),
    /// `%text`: ends with this text.
    Suffix(String),
    /// `%text%`: contains this text.
    Contains(String),
    /// Anything else.
    Other,
}

/// What stands between two `%`.
#[derive(Clone, Debug, Default, PartialEq)]
struct Segment {
    parts: Vec<Part>,
    character_count: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    One,
    Set(Set),
}

#[derive(Clone, Debug, PartialEq)]
struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
}

enum Token {
    Literal(char),
    Run,
    One,
    Set(Set),
}

impl LikePattern {
    /// Compiles a pattern; every text is one.
    pub fn new(pattern: &str, escape: Option<char>) -> LikePattern {
        let mut segments = vec![Segment::default()];
        let mut rest = pattern;
        while let Some(token) = next_token(&mut rest, escape) {
            let is_first = segments.len() == 1;
            let segment = segments.last_mut().expect("there is always a segment");
            match token {
                Token::Literal(character) => segment.push_literal(character),
                Token::One => segment.push(Part::One),
                Token::Set(set) => segment.push(Part::Set(set)),
                // Runs in a row are one.
                Token::Run if !is_first && segment.parts.is_empty() => {}
                Token::Run => segments.push(Segment::default()),
            }
        }
        let shape = shape_of(&segments);
        LikePattern { segments, shape }
    }

    /// Says whether the whole text matches. Where the meter has stopped, the answer means nothing.
    pub fn matches(&self, text: &str, meter: &Meter<'_>) -> bool {
        if !meter.go_over(text.len()) {
            return false;
        }
        match &self.shape {
            LikeShape::Exact(exact) => text == exact,
            LikeShape::Prefix(prefix) => text.starts_with(prefix.as_str()),
            LikeShape::Suffix(suffix) => text.ends_with(suffix.as_str()),
            LikeShape::Contains(part) => text.contains(part.as_str()),
            LikeShape::Other => self.matches_segments(text, meter),
        }
    }

    /// Returns what the pattern asks for.
    pub fn shape(&self) -> &LikeShape {
        &self.shape
    }

    /// Returns the text with which everything that matches begins; may be empty.
    pub fn literal_prefix(&self) -> &str {
        match self.segments.first().and_then(|segment| segment.parts.first()) {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    fn matches_segments(&self, text: &str, meter: &Meter<'_>) -> bool {
        let (first, others) = self.segments.split_first().expect("there is always a segment");
        let Some(consumed) = first.match_at(text) else {
            return false;
        };
        let mut rest = &text[consumed..];
        let Some((last, middle)) = others.split_last() else {
            return rest.is_empty();
        };
        for segment in middle {
            match segment.find_in(rest, meter) {
                Some(end) => rest = &rest[end..],
                None => return false,
            }
        }
        last.match_end(rest)
    }
}

impl Segment {
    fn push_literal(&mut self, character: char) {
        self.character_count += 1;
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(character),
            _ => self.parts.push(Part::Text(character.into())),
        }
    }

    fn push(&mut self, part: Part) {
        self.character_count += 1;
        self.parts.push(part);
    }

    /// Matches at the start of a text; returns the number of bytes matched.
    fn match_at(&self, text: &str) -> Option<usize> {
        let mut rest = text;
        for part in &self.parts {
            rest = match part {
                Part::Text(own) => rest.strip_prefix(own.as_str())?,
                Part::One => strip_character(rest, |_| true)?,
                Part::Set(set) => strip_character(rest, |character| set.contains(character))?,
            };
        }
        Some(text.len() - rest.len())
    }

    /// Says whether a text ends with the segment.
    fn match_end(&self, text: &str) -> bool {
        let start = match self.character_count {
            0 => text.len(),
            count => match text.char_indices().rev().nth(count - 1) {
                Some((start, _)) => start,
                None => return false,
            },
        };
        self.match_at(&text[start..]).is_some()
    }
}

impl Set {
    fn contains(&self, character: char) -> bool {
        self.ranges.iter().any(|&(low, high)| (low..=high).contains(&character)) != self.negated
    }
}

fn strip_character(text: &str, admits: impl FnOnce(char) -> bool) -> Option<&str> {
    let mut characters = text.chars();
    let character = characters.next()?;
    admits(character).then_some(characters.as_str())
}

fn next_token(rest: &mut &str, escape: Option<char>) -> Option<Token> {
    let mut characters = rest.chars();
    let first = characters.next()?;
    *rest = characters.as_str();
    if Some(first) == escape {
        // At the end there is nothing to escape.
        let literal = characters.next().unwrap_or(first);
        *rest = characters.as_str();
        return Some(Token::Literal(literal));
    }
    Some(match first {
        '%' => Token::Run,
        '_' => Token::One,
        '[' => match read_set(characters.as_str(), escape) {
            Some((set, after)) => {
                *rest = after;
                Token::Set(set)
            }
            None => Token::Literal('['),
        },
        literal => Token::Literal(literal),
    })
}

/// Reads a set after its bracket; returns it with the text behind. `None` where it has no end.
fn read_set(text: &str, escape: Option<char>) -> Option<(Set, &str)> {
    let (negated, mut rest) = match text.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut ranges = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(']') {
            return Some((Set { negated, ranges }, after));
        }
        let low = set_character(&mut rest, escape)?;
        let mut ahead = rest;
        let is_range = ahead.starts_with('-') && {
            ahead = &ahead[1..];
            !ahead.is_empty() && !ahead.starts_with(']')
        };
        if is_range {
            let high = set_character(&mut ahead, escape)?;
            rest = ahead;
            ranges.push((low, high));
        } else {
            ranges.push((low, low));
        }
    }
}

fn set_character(rest: &mut &str, escape: Option<char>) -> Option<char> {
    let mut characters = rest.chars();
    let mut character = characters.next()?;
    if Some(character) == escape {
        character = characters.next()?;
    }
    *rest = characters.as_str();
    Some(character)
}

fn shape_of(segments: &[Segment]) -> LikeShape {
    let text = |segment: &Segment| match segment.parts.as_slice() {
        [] => Some(String::new()),
        [Part::Text(text)] => Some(text.clone()),
        _ => None,
    };
    let is_empty = |segment: &Segment| segment.parts.is_empty();
    match segments {
        [only] => text(only).map(LikeShape::Exact),
        [first, last] if is_empty(last) => text(first).map(LikeShape::Prefix),
        [first, last] if is_empty(first) => text(last).map(LikeShape::Suffix),
        [first, part, last] if is_empty(first) && is_empty(last) => text(part).map(LikeShape::Contains),
        _ => None,
    }
    .unwrap_or(LikeShape::Other)
}
