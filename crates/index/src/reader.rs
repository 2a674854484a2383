//! Reads typed members out of a JSON policy and names the place when something is wrong there.
//!
//! A [`Field`] is a value together with where it stands (`indexingPolicy.includedPaths[3].path`).
//! JSON null counts as absent, because several clients write null for what the user left out.
//!
//! Not here: what the members mean (`policy`, and the container definition above this crate).

use std::fmt;

use armilla_value::Value;

/// A policy that cannot be accepted: what is wrong, and where in the request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// What is wrong, complete in itself.
    pub message: String,
    /// The member that is wrong, such as `indexingPolicy.includedPaths[3].path`.
    pub path: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PolicyError {}

/// A value and the place where it stands.
#[derive(Debug, Clone)]
pub struct Field<'v> {
    value: &'v Value,
    path: String,
}

impl<'v> Field<'v> {
    /// Returns the field for a value that stands at `path`.
    pub fn new(value: &'v Value, path: impl Into<String>) -> Field<'v> {
        Field { value, path: path.into() }
    }

    /// Returns the value itself.
    pub fn value(&self) -> &'v Value {
        self.value
    }

    /// Returns where the value stands.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the error that refuses this field with `message`.
    pub fn refuse(&self, message: impl Into<String>) -> PolicyError {
        PolicyError { message: message.into(), path: self.path.clone() }
    }

    /// Returns the named member, or nothing when it is absent, null, or this is not an object.
    pub fn member(&self, name: &str) -> Option<Field<'v>> {
        let Value::Object(object) = self.value else { return None };
        let value = object.get(name)?;
        if matches!(value, Value::Null) {
            return None;
        }
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Some(Field { value, path })
    }

    /// Returns the named member, which must be there.
    pub fn required(&self, name: &str) -> Result<Field<'v>, PolicyError> {
        self.member(name).ok_or_else(|| {
            let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
            PolicyError { message: format!("'{path}' is missing"), path }
        })
    }

    /// Refuses anything but an object.
    pub fn expect_object(&self) -> Result<(), PolicyError> {
        match self.value {
            Value::Object(_) => Ok(()),
            _ => Err(self.must_be("an object")),
        }
    }

    /// Returns the elements of an array.
    pub fn elements(&self) -> Result<Vec<Field<'v>>, PolicyError> {
        let Value::Array(elements) = self.value else { return Err(self.must_be("an array")) };
        let place = |(index, value)| Field { value, path: format!("{}[{index}]", self.path) };
        Ok(elements.iter().enumerate().map(place).collect())
    }

    /// Returns the text of a string.
    pub fn text(&self) -> Result<&'v str, PolicyError> {
        match self.value {
            Value::String(text) => Ok(text),
            _ => Err(self.must_be("a string")),
        }
    }

    /// Returns a truth value.
    pub fn boolean(&self) -> Result<bool, PolicyError> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            _ => Err(self.must_be("true or false")),
        }
    }

    /// Returns a number.
    pub fn number(&self) -> Result<f64, PolicyError> {
        match self.value {
            Value::Int32(number) => Ok(f64::from(*number)),
            Value::Int64(number) => Ok(*number as f64),
            Value::Double(number) if number.is_finite() => Ok(*number),
            _ => Err(self.must_be("a number")),
        }
    }

    /// Returns a whole number; `3.0` is one.
    pub fn integer(&self) -> Result<i64, PolicyError> {
        match self.value {
            Value::Int32(number) => Ok(i64::from(*number)),
            Value::Int64(number) => Ok(*number),
            Value::Double(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Ok(*number as i64),
            _ => Err(self.must_be("a whole number")),
        }
    }

    fn must_be(&self, what: &str) -> PolicyError {
        self.refuse(format!("'{}' must be {what}", self.path))
    }
}
