//! The in-memory value: a tree of scalars, arrays and ordered objects.
//!
//! Invariants:
//! * an object never holds one name twice; setting a name again keeps the position of the first;
//! * `==` is structural (`Int64(1)` is not `Double(1.0)`, member order counts); the orders that SQL and MongoDB
//!   mean are in `order`.
//!
//! Not here: reading and writing text (`json`), the form on disk (`stored`).

use std::collections::{HashMap, HashSet};

use crate::limits::LINEAR_SEARCH_MEMBERS_MAX;

/// One value: what JSON has, plus the scalars that BSON adds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// JSON null.
    Null,
    /// True or false.
    Bool(bool),
    /// A 32-bit integer, which only BSON tells apart from the 64-bit one.
    Int32(i32),
    /// A 64-bit integer; every JSON integer that fits is one.
    Int64(i64),
    /// An IEEE-754 double.
    Double(f64),
    /// An IEEE-754 decimal in BSON's byte order (little-endian, binary integer decimal).
    Decimal128([u8; 16]),
    /// Unicode text.
    String(String),
    /// A BSON object id.
    ObjectId([u8; 12]),
    /// Milliseconds since 1970-01-01 UTC.
    Date(i64),
    /// Bytes with BSON's subtype.
    Binary {
        /// What the bytes mean, as BSON numbers it.
        subtype: u8,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A BSON timestamp, used by MongoDB's own machinery.
    Timestamp {
        /// Seconds since 1970.
        seconds: u32,
        /// Counter inside the second.
        increment: u32,
    },
    /// A regular expression.
    Regex {
        /// The pattern.
        pattern: Box<str>,
        /// Its option letters.
        options: Box<str>,
    },
    /// Below everything in MongoDB's order.
    MinKey,
    /// Above everything in MongoDB's order.
    MaxKey,
    /// A value of one of the types that BSON has and MongoDB deprecated.
    Legacy(Box<Legacy>),
    /// A list of values.
    Array(Vec<Value>),
    /// Named members, in order.
    Object(Object),
}

/// A value of a type that MongoDB deprecated, and still stores for those who send it.
#[derive(Debug, Clone, PartialEq)]
pub enum Legacy {
    /// BSON's undefined: a value that is there and says that it is not. SQL's undefined is another thing, the absence
    /// of a value, and is `Option::None` everywhere.
    Undefined,
    /// JavaScript code.
    Code(String),
    /// JavaScript code with the variables that it sees.
    CodeWithScope {
        /// The code.
        code: String,
        /// The variables.
        scope: Object,
    },
    /// A symbol, which MongoDB compares as a string.
    Symbol(String),
    /// A reference to a document of a collection.
    DbPointer {
        /// The database and the collection.
        namespace: String,
        /// The document's object id.
        id: [u8; 12],
    },
}

/// The type of a value, without the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// See [`Value::Null`].
    Null = 0,
    /// See [`Value::Bool`].
    Bool = 1,
    /// See [`Value::Int32`].
    Int32 = 2,
    /// See [`Value::Int64`].
    Int64 = 3,
    /// See [`Value::Double`].
    Double = 4,
    /// See [`Value::Decimal128`].
    Decimal128 = 5,
    /// See [`Value::String`].
    String = 6,
    /// See [`Value::ObjectId`].
    ObjectId = 7,
    /// See [`Value::Date`].
    Date = 8,
    /// See [`Value::Binary`].
    Binary = 9,
    /// See [`Value::Timestamp`].
    Timestamp = 10,
    /// See [`Value::Regex`].
    Regex = 11,
    /// See [`Value::MinKey`].
    MinKey = 12,
    /// See [`Value::MaxKey`].
    MaxKey = 13,
    /// See [`Value::Array`].
    Array = 14,
    /// See [`Value::Object`].
    Object = 15,
    /// See [`Value::Legacy`]; the stored form tells it by a bit of its own.
    Legacy = 16,
}

impl Kind {
    /// Every kind, in the order of its number in the stored form.
    pub const ALL: [Kind; 17] = [
        Kind::Null,
        Kind::Bool,
        Kind::Int32,
        Kind::Int64,
        Kind::Double,
        Kind::Decimal128,
        Kind::String,
        Kind::ObjectId,
        Kind::Date,
        Kind::Binary,
        Kind::Timestamp,
        Kind::Regex,
        Kind::MinKey,
        Kind::MaxKey,
        Kind::Array,
        Kind::Object,
        Kind::Legacy,
    ];

    /// Says whether JSON has this type itself, so that it needs no Extended JSON wrapper.
    pub fn is_json(self) -> bool {
        !matches!(
            self,
            Kind::Decimal128
                | Kind::ObjectId
                | Kind::Date
                | Kind::Binary
                | Kind::Timestamp
                | Kind::Regex
                | Kind::MinKey
                | Kind::MaxKey
                | Kind::Legacy
        )
    }

    /// Says whether this is one of the four number types.
    pub fn is_number(self) -> bool {
        matches!(self, Kind::Int32 | Kind::Int64 | Kind::Double | Kind::Decimal128)
    }
}

impl Value {
    /// Returns the type.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Bool,
            Value::Int32(_) => Kind::Int32,
            Value::Int64(_) => Kind::Int64,
            Value::Double(_) => Kind::Double,
            Value::Decimal128(_) => Kind::Decimal128,
            Value::String(_) => Kind::String,
            Value::ObjectId(_) => Kind::ObjectId,
            Value::Date(_) => Kind::Date,
            Value::Binary { .. } => Kind::Binary,
            Value::Timestamp { .. } => Kind::Timestamp,
            Value::Regex { .. } => Kind::Regex,
            Value::MinKey => Kind::MinKey,
            Value::MaxKey => Kind::MaxKey,
            Value::Legacy(_) => Kind::Legacy,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }

    /// Says whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number if it is a 32-bit or 64-bit integer, or a double with an integral value in that range.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Int32(number) => Some(i64::from(number)),
            Value::Int64(number) => Some(number),
            Value::Double(number) => crate::number::integral(number),
            _ => None,
        }
    }

    /// Returns a 32-bit, 64-bit or double number as the nearest double.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::Int32(number) => Some(f64::from(number)),
            Value::Int64(number) => Some(number as f64),
            Value::Double(number) => Some(number),
            _ => None,
        }
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match *self {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// Returns the elements of an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the elements of an array, to be changed.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns an object, to be changed.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns the member of that name, if this is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }
}

/// Named members in the order in which they were written, each name once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object(Vec<(String, Value)>);

impl Object {
    /// Returns an object without members.
    pub const fn new() -> Object {
        Object(Vec::new())
    }

    /// Returns an object without members that has room for some.
    pub fn with_capacity(member_count: usize) -> Object {
        Object(Vec::with_capacity(member_count))
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the member of that name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Returns the member of that name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Says whether there is a member of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets a member: in its place if the name is there (returning the old value), else at the end.
    ///
    /// Each call searches the members; collect from an iterator to build a large object in linear time.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (name, value) = (name.into(), value.into());
        match self.get_mut(&name) {
            Some(old) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((name, value));
                None
            }
        }
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let index = self.0.iter().position(|(own, _)| own == name)?;
        Some(self.0.remove(index).1)
    }

    /// Walks the members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + DoubleEndedIterator + Clone {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Walks the members in order, values to be changed.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut Value)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the members in the order of their names by UTF-16 code units, as key bytes and SQL compare them.
    pub(crate) fn sorted(&self) -> Vec<(&str, &Value)> {
        let mut members: Vec<_> = self.iter().collect();
        members.sort_unstable_by(|left, right| crate::utf16::utf16_cmp(left.0, right.0));
        members
    }
}

impl From<Vec<(String, Value)>> for Object {
    /// Keeps the last value of a name that comes twice, at the position of the first.
    fn from(members: Vec<(String, Value)>) -> Object {
        if !has_duplicates(&members) {
            return Object(members);
        }
        let mut positions: HashMap<String, usize> = HashMap::with_capacity(members.len());
        let mut kept: Vec<(String, Value)> = Vec::with_capacity(members.len());
        for (name, value) in members {
            match positions.get(&name) {
                Some(&position) => kept[position].1 = value,
                None => {
                    positions.insert(name.clone(), kept.len());
                    kept.push((name, value));
                }
            }
        }
        Object(kept)
    }
}

fn has_duplicates(members: &[(String, Value)]) -> bool {
    if members.len() <= LINEAR_SEARCH_MEMBERS_MAX {
        return members
            .iter()
            .enumerate()
            .any(|(index, (name, _))| members[..index].iter().any(|(earlier, _)| earlier == name));
    }
    let mut seen = HashSet::with_capacity(members.len());
    members.iter().any(|(name, _)| !seen.insert(name.as_str()))
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Object {
        members.into_iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>().into()
    }
}

impl<N: Into<String>, V: Into<Value>, const COUNT: usize> From<[(N, V); COUNT]> for Object {
    fn from(members: [(N, V); COUNT]) -> Object {
        members.into_iter().collect()
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i32> for Value {
    /// Makes a 64-bit integer, as JSON would; write `Value::Int32` where BSON's narrow type is meant.
    fn from(number: i32) -> Value {
        Value::Int64(i64::from(number))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Int64(i64::from(number))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int64(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Double(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<Legacy> for Value {
    fn from(legacy: Legacy) -> Value {
        Value::Legacy(Box::new(legacy))
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Value {
        Value::Object(object)
    }
}

impl<V: Into<Value>> From<Vec<V>> for Value {
    fn from(elements: Vec<V>) -> Value {
        Value::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    /// Makes null of `None`.
    fn from(value: Option<V>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
