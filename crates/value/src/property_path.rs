//! Paths to a property, as partition-key definitions write them: `/a/"b c"/d`.

use std::fmt;

/// The names on the way from the root of an item to a property; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PropertyPath(Vec<String>);

/// Why a text is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyPathError {
    /// What was expected.
    pub expected: &'static str,
    /// Bytes before the place.
    pub offset: usize,
}

impl fmt::Display for PropertyPathError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "expected {} at offset {} of the path", self.expected, self.offset)
    }
}

impl std::error::Error for PropertyPathError {}

impl PropertyPath {
    /// Reads a path; a name between double quotes is literal but for `\"` and `\\`.
    pub fn parse(text: &str) -> Result<PropertyPath, PropertyPathError> {
        let mut names = Vec::new();
        let mut rest = text;
        let fail = |expected, rest: &str| PropertyPathError { expected, offset: text.len() - rest.len() };
        while names.is_empty() || !rest.is_empty() {
            rest = rest.strip_prefix('/').ok_or_else(|| fail("'/'", rest))?;
            if let Some(quoted) = rest.strip_prefix('"') {
                let (name, after) = quoted_name(quoted).ok_or_else(|| fail("a closing quote", ""))?;
                names.push(name);
                rest = after;
            } else {
                let (name, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                if name.is_empty() {
                    return Err(fail("a name", rest));
                }
                names.push(name.to_owned());
                rest = after;
            }
        }
        Ok(PropertyPath(names))
    }

    /// Returns the names, from the root down.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

fn quoted_name(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((name, &text[at + 1..])),
            '\\' => name.push(characters.next()?.1),
            _ => name.push(character),
        }
    }
    None
}

impl fmt::Display for PropertyPath {
    /// Quotes the names that need it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.0 {
            let plain = |character: char| character.is_alphanumeric() || "_-$.@".contains(character);
            if !name.is_empty() && name.chars().all(plain) {
                write!(formatter, "/{name}")?;
            } else {
                write!(formatter, "/\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "property_path_tests.rs"]
mod tests;
