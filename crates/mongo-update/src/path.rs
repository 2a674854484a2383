//! Paths of an update: names, and the three ways to say "an element of this array".

use std::cmp::Ordering;

use armilla_mongo_expression::{Error, Result, codes};

use crate::limits::PATH_COMPONENTS_MAX;

/// A path that was read.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    /// The path as it was written.
    pub(crate) text: String,
    /// Its parts; there is at least one.
    pub(crate) components: Vec<Component>,
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Component {
    /// A member, or by digits an element.
    Name(Name),
    /// `$`: the element that the filter found.
    Positional,
    /// `$[id]`: the elements that a filter lets through; `$[]`, with an empty identifier: all of them.
    Filtered(String),
}

/// A name, ordered as new members are: names of digits by their number and before all others, which go by bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) String);

impl Ord for Name {
    fn cmp(&self, other: &Name) -> Ordering {
        fn number(text: &str) -> Option<&str> {
            is_number(text).then(|| text.trim_start_matches('0'))
        }
        match (number(&self.0), number(&other.0)) {
            (Some(left), Some(right)) => {
                left.len().cmp(&right.len()).then_with(|| left.cmp(right)).then_with(|| self.0.cmp(&other.0))
            }
            (left, right) => right.is_some().cmp(&left.is_some()).then_with(|| self.0.cmp(&other.0)),
        }
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Name) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Path {
    /// Reads a path.
    pub(crate) fn parse(text: &str) -> Result<Path> {
        let mut path = Path::of_names(text)?;
        for component in &mut path.components {
            let Component::Name(Name(name)) = component else { continue };
            if name == "$" {
                *component = Component::Positional;
            } else if let Some(identifier) = name.strip_prefix("$[").and_then(|rest| rest.strip_suffix(']')) {
                *component = Component::Filtered(identifier.to_owned());
            }
        }
        path.check_elements()?;
        Ok(path)
    }

    /// Reads a path in which dollars mean nothing.
    pub(crate) fn of_names(text: &str) -> Result<Path> {
        if text.is_empty() {
            return Err(Error::new(codes::EMPTY_FIELD_NAME, "An empty update path is not valid."));
        }
        let mut components = Vec::new();
        for part in text.split('.') {
            if part.is_empty() {
                return Err(Error::new(
                    codes::EMPTY_FIELD_NAME,
                    format!("The update path '{text}' contains an empty field name, which is not allowed."),
                ));
            }
            if components.len() == PATH_COMPONENTS_MAX {
                return Err(Error::new(
                    codes::OVERFLOW,
                    format!("an update path has more than {PATH_COMPONENTS_MAX} field names"),
                ));
            }
            components.push(Component::Name(Name(part.to_owned())));
        }
        Ok(Path { text: text.to_owned(), components })
    }

    fn check_elements(&self) -> Result<()> {
        let text = &self.text;
        match self.components[0] {
            Component::Positional => {
                return Err(Error::bad_value(format!(
                    "Cannot have positional (i.e. '$') element in the first position in path '{text}'"
                )));
            }
            Component::Filtered(_) => {
                return Err(Error::bad_value(format!(
                    "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path \
                     '{text}'"
                )));
            }
            Component::Name(_) => {}
        }
        if self.components.iter().filter(|component| **component == Component::Positional).count() > 1 {
            return Err(Error::bad_value(format!(
                "Too many positional (i.e. '$') elements found in path '{text}'"
            )));
        }
        Ok(())
    }

    /// Says whether it names elements by something else than their index.
    pub(crate) fn is_dynamic(&self) -> bool {
        self.components.iter().any(|component| !matches!(component, Component::Name(_)))
    }

    /// Walks the names of a path that is not dynamic.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.components.iter().filter_map(|component| match component {
            Component::Name(name) => Some(name.0.as_str()),
            _ => None,
        })
    }

    /// Returns the first so many parts as they were written.
    pub(crate) fn prefix(&self, count: usize) -> &str {
        match self.text.match_indices('.').nth(count.saturating_sub(1)) {
            Some((end, _)) => &self.text[..end],
            None => &self.text,
        }
    }

    /// Returns the first name.
    pub(crate) fn first_name(&self) -> &str {
        self.prefix(1)
    }
}

/// Reads a name as the index of an element.
pub(crate) fn element_index(name: &str) -> Option<usize> {
    if !is_number(name) {
        return None;
    }
    name.parse::<u32>().ok().map(|index| index as usize)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_digits_go_by_number() {
        let mut names: Vec<Name> =
            ["b", "10", "9", "a10", "a9", "01", "1", "1a", "-"].map(|name| Name(name.to_owned())).into();
        names.sort();
        let names: Vec<&str> = names.iter().map(|name| name.0.as_str()).collect();
        assert_eq!(names, ["01", "1", "9", "10", "-", "1a", "a10", "a9", "b"]);
    }

    #[test]
    fn prefixes_end_at_dots() {
        let path = Path::parse("a.$[x].c").unwrap();
        assert_eq!([path.prefix(1), path.prefix(2), path.prefix(3)], ["a", "a.$[x]", "a.$[x].c"]);
    }

    #[test]
    fn bad_paths_have_codes() {
        for (text, code) in [
            ("", 56),
            (".", 56),
            ("a.", 56),
            (".a", 56),
            ("a..b", 56),
            ("$", 2),
            ("$.a", 2),
            ("$[]", 2),
            ("$[x].a", 2),
            ("a.$.b.$", 2),
        ] {
            assert_eq!(Path::parse(text).unwrap_err().code, code, "{text}");
        }
        assert_eq!(Path::parse(&vec!["a"; PATH_COMPONENTS_MAX + 1].join(".")).unwrap_err().code, 15);
        assert!(Path::parse(&vec!["a"; PATH_COMPONENTS_MAX].join(".")).is_ok());
    }
}
