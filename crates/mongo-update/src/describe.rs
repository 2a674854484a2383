//! How one version of a document became another, as change streams say it.
//!
//! Only the versions are known, not what was asked for, so the shortest honest tale is told: members by their path,
//! elements by their index where an array kept its length or grew, its new length where it only lost its end, and
//! the whole array where neither tells all.

use std::collections::HashSet;

use armilla_value::{Object, Value};

use crate::identical::{identical, identical_objects};
use crate::limits::LINEAR_SEARCH_MEMBERS_MAX;

/// Tells how one version of a document became another, as change streams say it
/// (`updatedFields`, `removedFields`, `truncatedArrays`).
///
/// Members that moved are told as updated. A name with a dot cannot be told from a path, so below the top an object
/// with such a name is told as a whole where that member changed.
pub fn describe(before: &Object, after: &Object) -> Object {
    described(before, after).0
}

/// Tells the same, and of paths that could be read in two ways how they are meant (`disambiguatedPaths`): those with a
/// name that looks like an index, or has a dot.
pub fn describe_expanded(before: &Object, after: &Object) -> Object {
    let (mut description, paths) = described(before, after);
    description.insert("disambiguatedPaths", Value::Object(paths.into_iter().collect()));
    description
}

fn described(before: &Object, after: &Object) -> (Object, Vec<(String, Value)>) {
    let mut description = Description::default();
    let mut path = Vec::new();
    description.compare_objects(before, after, &mut path);
    let told = Object::from([
        ("updatedFields", Value::Object(description.updated.into_iter().collect())),
        ("removedFields", Value::from(description.removed)),
        ("truncatedArrays", Value::Array(description.truncated)),
    ]);
    (told, description.ambiguous)
}

#[derive(Default)]
struct Description {
    updated: Vec<(String, Value)>,
    removed: Vec<String>,
    truncated: Vec<Value>,
    /// Paths that could be read in two ways, with their steps.
    ambiguous: Vec<(String, Value)>,
}

/// A step of a path.
#[derive(Clone)]
enum Step {
    Name(String),
    Index(usize),
}

impl Step {
    fn text(&self) -> String {
        match self {
            Step::Name(name) => name.clone(),
            Step::Index(index) => index.to_string(),
        }
    }

    /// Says whether its text could stand for another step, or for several.
    fn is_ambiguous(&self) -> bool {
        match self {
            Step::Name(name) => {
                name.contains('.') || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
            }
            Step::Index(_) => false,
        }
    }
}

impl Description {
    /// Returns a path as text, and notes how it is meant where that does not tell.
    fn path(&mut self, path: &[Step], last: Step) -> String {
        let steps = || path.iter().chain(std::iter::once(&last));
        let text = steps().map(Step::text).collect::<Vec<_>>().join(".");
        if steps().any(Step::is_ambiguous) {
            let values = steps().map(|step| match step {
                Step::Name(name) => Value::from(name.as_str()),
                Step::Index(index) => i32::try_from(*index).map_or(Value::Int64(*index as i64), Value::Int32),
            });
            self.ambiguous.push((text.clone(), Value::Array(values.collect())));
        }
        text
    }

    fn compare_objects(&mut self, before: &Object, after: &Object, path: &mut Vec<Step>) {
        let names = Names::of(after);
        for (name, _) in before.iter() {
            if !names.contains(name) {
                let removed = self.path(path, Step::Name(name.to_owned()));
                self.removed.push(removed);
            }
        }
        // Members stay in place as long as both sides go through the same names; what comes after the first
        // difference was put at the end.
        let mut stayed = before.iter().filter(|(name, _)| names.contains(name)).peekable();
        for (name, new) in after.iter() {
            match stayed.next_if(|(old_name, _)| *old_name == name) {
                Some((_, old)) => self.compare(old, new, path, Step::Name(name.to_owned())),
                None => {
                    stayed.by_ref().for_each(drop);
                    let updated = self.path(path, Step::Name(name.to_owned()));
                    self.updated.push((updated, new.clone()));
                }
            }
        }
    }

    fn compare(&mut self, old: &Value, new: &Value, path: &mut Vec<Step>, step: Step) {
        if identical(old, new) {
            return;
        }
        match (old, new) {
            (Value::Object(old), Value::Object(new)) if is_tellable(old, new) => {
                path.push(step);
                self.compare_objects(old, new, path);
                path.pop();
            }
            (Value::Array(old), Value::Array(new)) if old.len() <= new.len() && !is_other(old, new) => {
                path.push(step);
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    self.compare(old, new, path, Step::Index(index));
                }
                for (index, new) in new.iter().enumerate().skip(old.len()) {
                    let updated = self.path(path, Step::Index(index));
                    self.updated.push((updated, new.clone()));
                }
                path.pop();
            }
            (Value::Array(old), Value::Array(new))
                if new.len() < old.len() && old.iter().zip(new).all(|(old, new)| identical(old, new)) =>
            {
                let length = i32::try_from(new.len()).map_or(Value::Int64(new.len() as i64), Value::Int32);
                let field = self.path(path, step);
                self.truncated.push(Value::Object(Object::from([
                    ("field", Value::String(field)),
                    ("newSize", length),
                ])));
            }
            _ => {
                let updated = self.path(path, step);
                self.updated.push((updated, new.clone()));
            }
        }
    }
}

/// Says whether the members of an object can be told one by one: those whose names look like paths did not change,
/// and those that both versions have come in the same order, new ones behind them.
fn is_tellable(old: &Object, new: &Object) -> bool {
    let ambiguous = |object: &Object| -> Vec<(String, Value)> {
        object
            .iter()
            .filter(|(name, _)| name.is_empty() || name.contains('.'))
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect()
    };
    let (old_ambiguous, new_ambiguous) = (Object::from(ambiguous(old)), Object::from(ambiguous(new)));
    let names = Names::of(new);
    let mut kept = old.iter().filter(|(name, _)| names.contains(name)).map(|(name, _)| name);
    let mut others = new.iter().map(|(name, _)| name);
    identical_objects(&old_ambiguous, &new_ambiguous) && kept.all(|name| others.next() == Some(name))
}

/// The names of an object: searched one by one where they are few, else by their hashes, because a client decides
/// how many there are.
enum Names<'a> {
    Few(&'a Object),
    Many(HashSet<&'a str>),
}

impl<'a> Names<'a> {
    fn of(object: &'a Object) -> Names<'a> {
        if object.len() <= LINEAR_SEARCH_MEMBERS_MAX {
            return Names::Few(object);
        }
        Names::Many(object.iter().map(|(name, _)| name).collect())
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Names::Few(object) => object.contains(name),
            Names::Many(names) => names.contains(name),
        }
    }
}

/// Says whether an array is another one altogether: none of its elements is what it was, nor of the same shape.
fn is_other(old: &[Value], new: &[Value]) -> bool {
    old.len() > 1
        && old.iter().zip(new).all(|(old, new)| match (old, new) {
            (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => false,
            _ => !identical(old, new),
        })
}
