//! Patches: a few changes at named paths of one item, applied in order, all or none.

use std::fmt;
use std::sync::Arc;

use armilla_value::{Object, PropertyPath, Value, json};

use crate::error::{Error, Result};
use crate::item::{Item, SYSTEM_PROPERTIES};
use crate::limits::PATCH_OPERATIONS_MAX;

/// A list of changes to one item.
#[derive(Clone)]
pub struct Patch {
    operations: Vec<Operation>,
    bytes: usize,
    condition: Option<(Arc<str>, Condition)>,
    is_text: bool,
}

impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditional = self.condition.is_some();
        f.debug_struct("Patch")
            .field("operations", &self.operations)
            .field("conditional", &conditional)
            .finish()
    }
}

/// Says whether an item may be patched. It is asked by the committer, in between writes, so it must be quick.
pub type Condition = Arc<dyn Fn(&Item) -> bool + Send + Sync>;

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// Inserts into an array, or sets an object's member.
    Add {
        /// Where.
        path: Pointer,
        /// What.
        value: Value,
    },
    /// Sets an object's member or an array's element.
    Set {
        /// Where.
        path: Pointer,
        /// What.
        value: Value,
    },
    /// Sets what is already there.
    Replace {
        /// Where.
        path: Pointer,
        /// What.
        value: Value,
    },
    /// Takes away what is there.
    Remove {
        /// Where.
        path: Pointer,
    },
    /// Adds a number to a number; a missing one counts as zero.
    Increment {
        /// Where.
        path: Pointer,
        /// By how much.
        by: Value,
    },
    /// Takes a value from one place and puts it at another.
    Move {
        /// From where.
        from: Pointer,
        /// To where.
        path: Pointer,
    },
}

/// A place in an item, as a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    tokens: Vec<String>,
}

impl Pointer {
    /// Reads a JSON pointer. The root is refused: a patch changes parts of an item.
    pub fn parse(text: &str) -> Result<Pointer> {
        let invalid = |why: &str| Error::invalid(format!("the patch path '{text}' {why}"));
        let rest = text.strip_prefix('/').ok_or_else(|| invalid("must begin with '/'"))?;
        if rest.is_empty() {
            return Err(invalid("names the whole item"));
        }
        let mut tokens = Vec::new();
        for token in rest.split('/') {
            if token.is_empty() {
                return Err(invalid("has an empty segment"));
            }
            let mut unescaped = String::with_capacity(token.len());
            let mut characters = token.chars();
            while let Some(character) = characters.next() {
                unescaped.push(match character {
                    '~' => match characters.next() {
                        Some('0') => '~',
                        Some('1') => '/',
                        _ => return Err(invalid("has a '~' that is not '~0' or '~1'")),
                    },
                    other => other,
                });
            }
            tokens.push(unescaped);
        }
        Ok(Pointer { text: text.to_owned(), tokens })
    }

    /// Returns the text that was read.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn is_prefix_of(&self, other: &[String]) -> bool {
        other.starts_with(&self.tokens)
    }
}

impl Patch {
    /// Makes a patch of some operations that take up about so many bytes.
    pub fn new(operations: Vec<Operation>, bytes: usize) -> Result<Patch> {
        match operations.len() {
            0 => Err(Error::invalid("a patch needs at least one operation")),
            count if count > PATCH_OPERATIONS_MAX => Err(Error::invalid(format!(
                "a patch has at most {PATCH_OPERATIONS_MAX} operations, this one has {count}"
            ))),
            _ => Ok(Patch { operations, bytes, condition: None, is_text: false }),
        }
    }

    /// Makes the patch depend on the item as it is then. `text` is what the condition was made of.
    #[must_use]
    pub fn only_if(self, text: &str, condition: Condition) -> Patch {
        Patch { condition: Some((text.into(), condition)), ..self }
    }

    /// Returns what the condition was made of, if there is one.
    pub(crate) fn condition_text(&self) -> Option<&str> {
        self.condition.as_ref().map(|(text, _)| &**text)
    }

    /// Returns the operations, how many bytes they take up, and whether the values were text.
    pub(crate) fn parts(&self) -> (&[Operation], usize, bool) {
        (&self.operations, self.bytes, self.is_text)
    }

    /// Returns whether the item may be patched.
    pub(crate) fn applies_to(&self, item: &Item) -> bool {
        self.condition.as_ref().is_none_or(|(_, condition)| condition(item))
    }

    pub(crate) fn len(&self) -> usize {
        self.operations.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Refuses changes of what makes an item the item it is.
    pub(crate) fn check_targets(&self, partition_key_paths: &[PropertyPath]) -> Result<()> {
        for operation in &self.operations {
            let (path, from) = match operation {
                Operation::Add { path, .. }
                | Operation::Set { path, .. }
                | Operation::Replace { path, .. }
                | Operation::Remove { path }
                | Operation::Increment { path, .. } => (path, None),
                Operation::Move { from, path } => (path, Some(from)),
            };
            for pointer in std::iter::once(path).chain(from) {
                let first = pointer.tokens[0].as_str();
                if pointer.tokens.len() == 1 && first == "id" {
                    return Err(Error::invalid("a patch must not change the item's id"));
                }
                if SYSTEM_PROPERTIES.contains(&first) {
                    return Err(Error::invalid(format!(
                        "a patch must not change the system property '{first}'"
                    )));
                }
                for key_path in partition_key_paths {
                    // Below the key's path there is nothing: its value is a scalar. Above it, the key would go.
                    if pointer.is_prefix_of(key_path.names()) {
                        return Err(Error::invalid(format!(
                            "a patch must not change the partition key: '{}' holds '{key_path}'",
                            pointer.text
                        )));
                    }
                }
            }
            if let Operation::Move { from, path } = operation
                && from.is_prefix_of(&path.tokens)
                && from != path
            {
                return Err(Error::invalid(format!(
                    "'{}' cannot be moved into itself, to '{}'",
                    from.text, path.text
                )));
            }
        }
        Ok(())
    }

    /// Says that the values were read from JSON, and have no types that JSON lacks.
    #[must_use]
    pub fn from_text(self) -> Patch {
        Patch { is_text: true, ..self }
    }

    /// Returns the item with all changes made. Values that were text get types that JSON lacks if the container has them.
    pub(crate) fn apply(&self, mut item: Value, has_extended_types: bool) -> Result<Value> {
        let given = |value: &Value| match self.is_text && has_extended_types {
            true => json::typed(value.clone()),
            false => value.clone(),
        };
        for operation in &self.operations {
            match operation {
                Operation::Add { path, value } => put(&mut item, path, given(value), ArrayPut::Insert)?,
                Operation::Set { path, value } => put(&mut item, path, given(value), ArrayPut::Overwrite)?,
                Operation::Replace { path, value } => *existing(&mut item, path)? = given(value),
                Operation::Remove { path } => drop(take(&mut item, path)?),
                Operation::Increment { path, by } => increment(&mut item, path, &given(by))?,
                Operation::Move { from, path } => {
                    let value = take(&mut item, from)?;
                    put(&mut item, path, value, ArrayPut::Insert)?;
                }
            }
        }
        Ok(item)
    }
}

/// What putting at an array's index does to the element there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrayPut {
    Insert,
    Overwrite,
}

/// Returns the object or array that holds the last segment.
fn parent<'a>(item: &'a mut Value, path: &Pointer) -> Result<&'a mut Value> {
    let mut value = item;
    for (depth, token) in path.tokens[..path.tokens.len() - 1].iter().enumerate() {
        let next = match value {
            Value::Object(object) => object.get_mut(token),
            Value::Array(elements) => array_index(token).and_then(|index| elements.get_mut(index)),
            _ => None,
        };
        value = next.ok_or_else(|| {
            Error::invalid(format!(
                "the patch path '{}' does not exist at '{}' (segment {})",
                path.text,
                token,
                depth + 1
            ))
        })?;
    }
    Ok(value)
}

fn array_index(token: &str) -> Option<usize> {
    let canonical =
        token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if canonical { token.parse().ok() } else { None }
}

fn last(path: &Pointer) -> &str {
    path.tokens.last().expect("a pointer has at least one segment")
}

fn missing(path: &Pointer) -> Error {
    Error::invalid(format!("the patch path '{}' does not exist", path.text))
}

fn put(item: &mut Value, path: &Pointer, value: Value, at_index: ArrayPut) -> Result<()> {
    match parent(item, path)? {
        Value::Object(object) => {
            object.insert(last(path).to_owned(), value);
            Ok(())
        }
        Value::Array(elements) => {
            let length = elements.len();
            let index = match last(path) {
                "-" => length,
                token => array_index(token).ok_or_else(|| {
                    Error::invalid(format!("the patch path '{}' names no element of an array", path.text))
                })?,
            };
            match at_index {
                ArrayPut::Overwrite if index < length => elements[index] = value,
                _ if index <= length => elements.insert(index, value),
                _ => {
                    return Err(Error::invalid(format!(
                        "the patch path '{}' lies beyond the end of an array of {length}",
                        path.text
                    )));
                }
            }
            Ok(())
        }
        _ => Err(Error::invalid(format!("the patch path '{}' lies inside a scalar", path.text))),
    }
}

fn existing<'a>(item: &'a mut Value, path: &Pointer) -> Result<&'a mut Value> {
    match parent(item, path)? {
        Value::Object(object) => object.get_mut(last(path)),
        Value::Array(elements) => array_index(last(path)).and_then(|index| elements.get_mut(index)),
        _ => None,
    }
    .ok_or_else(|| missing(path))
}

fn take(item: &mut Value, path: &Pointer) -> Result<Value> {
    match parent(item, path)? {
        Value::Object(object) => object.remove(last(path)),
        Value::Array(elements) => array_index(last(path))
            .filter(|index| *index < elements.len())
            .map(|index| elements.remove(index)),
        _ => None,
    }
    .ok_or_else(|| missing(path))
}

fn increment(item: &mut Value, path: &Pointer, by: &Value) -> Result<()> {
    let target = match parent(item, path)? {
        Value::Object(object) => match member(object, last(path)) {
            Some(target) => target,
            None => {
                object.insert(last(path).to_owned(), by.clone());
                return Ok(());
            }
        },
        Value::Array(elements) => {
            array_index(last(path)).and_then(|index| elements.get_mut(index)).ok_or_else(|| missing(path))?
        }
        _ => return Err(missing(path)),
    };
    *target = sum(target, by).ok_or_else(|| {
        Error::invalid(format!("the patch path '{}' does not hold a number to increment", path.text))
    })?;
    Ok(())
}

/// Whether a member exists is asked first, because the borrow checker would otherwise keep the object
/// borrowed in the branch that inserts.
fn member<'a>(object: &'a mut Object, name: &str) -> Option<&'a mut Value> {
    if object.get(name).is_some() { object.get_mut(name) } else { None }
}

/// Integers stay integers while they fit in 64 bits, and two of 32 bits stay such while they fit in those.
fn sum(left: &Value, right: &Value) -> Option<Value> {
    if let (Value::Int32(left), Value::Int32(right)) = (left, right)
        && let Some(sum) = left.checked_add(*right)
    {
        return Some(Value::Int32(sum));
    }
    if let (Some(left), Some(right)) = (integer(left), integer(right))
        && let Some(sum) = left.checked_add(right)
    {
        return Some(Value::Int64(sum));
    }
    let sum = left.as_f64()? + right.as_f64()?;
    sum.is_finite().then_some(Value::Double(sum))
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
