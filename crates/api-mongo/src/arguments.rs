//! Members of a command, read with the words that clients know for what is wrong with them.

use armilla_mongo_expression::{codes, type_name};
use armilla_value::{Object, Value};

use crate::failure::{Failure, Result};

/// What every command may have.
const GENERIC: [&str; 28] = [
    "$db",
    "lsid",
    "$clusterTime",
    "$readPreference",
    "readConcern",
    "writeConcern",
    "maxTimeMS",
    "comment",
    "txnNumber",
    "autocommit",
    "startTransaction",
    "stmtId",
    "stmtIds",
    "apiVersion",
    "apiStrict",
    "apiDeprecationErrors",
    "databaseVersion",
    "shardVersion",
    "$audit",
    "$client",
    "$configServerState",
    "$configTime",
    "$topologyTime",
    "allowImplicitCollectionCreation",
    "maxTimeMSOpOnly",
    "rawData",
    "mayBypassWriteBlocking",
    "$oplogQueryData",
];

/// Says whether every command may have a member of this name.
pub(crate) fn is_generic(name: &str) -> bool {
    GENERIC.contains(&name)
}

/// The members of a command, or of a statement in it.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'c> {
    /// What it is, for messages.
    pub(crate) name: &'c str,
    /// The members.
    pub(crate) members: &'c Object,
}

impl<'c> Arguments<'c> {
    pub(crate) fn new(name: &'c str, members: &'c Object) -> Arguments<'c> {
        Arguments { name, members }
    }

    /// Refuses members that are neither among these nor among those that every command may have. The first one is the
    /// command itself.
    pub(crate) fn allow(&self, names: &[&str]) -> Result<()> {
        for (name, _) in self.members.iter().skip(1) {
            if !names.contains(&name) && !GENERIC.contains(&name) {
                return Err(self.unknown(name));
            }
        }
        Ok(())
    }

    /// Refuses members that ask for what there is not; one that asks for nothing passes.
    pub(crate) fn refuse(&self, names: &[&str], why: &str) -> Result<()> {
        let asks = |value: &Value| match value {
            Value::Bool(truth) => *truth,
            Value::Object(members) => !members.is_empty(),
            Value::Array(elements) => !elements.is_empty(),
            other => number(other) != Some(0),
        };
        match names.iter().find(|name| self.value(name).is_some_and(asks)) {
            Some(name) => Err(Failure::new(
                codes::COMMAND_NOT_SUPPORTED,
                format!("the option '{name}' of {} is not supported: {why}", self.name),
            )),
            None => Ok(()),
        }
    }

    /// Refuses members of a statement that are not among these.
    pub(crate) fn allow_only(&self, names: &[&str]) -> Result<()> {
        match self.members.iter().find(|(name, _)| !names.contains(name)) {
            Some((name, _)) => Err(self.unknown(name)),
            None => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> Failure {
        Failure::new(40_415, format!("BSON field '{}.{name}' is an unknown field.", self.name))
    }

    /// Returns a member; null counts as none.
    pub(crate) fn value(&self, name: &str) -> Option<&'c Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    fn wrong_type(&self, name: &str, value: &Value, expected: &str) -> Failure {
        Failure::new(
            codes::TYPE_MISMATCH,
            format!(
                "BSON field '{}.{name}' is the wrong type '{}', expected type{expected}",
                self.name,
                type_name(value)
            ),
        )
    }

    fn missing(&self, name: &str) -> Failure {
        Failure::new(40_414, format!("BSON field '{}.{name}' is missing but a required field", self.name))
    }

    pub(crate) fn string(&self, name: &str) -> Result<Option<&'c str>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(name, other, " 'string'")),
        }
    }

    pub(crate) fn required_string(&self, name: &str) -> Result<&'c str> {
        self.string(name)?.ok_or_else(|| self.missing(name))
    }

    pub(crate) fn object(&self, name: &str) -> Result<Option<&'c Object>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(self.wrong_type(name, other, " 'object'")),
        }
    }

    pub(crate) fn required_object(&self, name: &str) -> Result<&'c Object> {
        self.object(name)?.ok_or_else(|| self.missing(name))
    }

    pub(crate) fn array(&self, name: &str) -> Result<Option<&'c [Value]>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Array(elements)) => Ok(Some(elements)),
            Some(other) => Err(self.wrong_type(name, other, " 'array'")),
        }
    }

    pub(crate) fn required_array(&self, name: &str) -> Result<&'c [Value]> {
        self.array(name)?.ok_or_else(|| self.missing(name))
    }

    /// Returns a number as an integer; fractions are cut off as the server does.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => match number(value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong_type(name, value, "s '[long, int, decimal, double]'")),
            },
        }
    }

    /// Returns a number that is not negative.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>> {
        match self.integer(name)? {
            None => Ok(None),
            Some(number) => u64::try_from(number).map(Some).map_err(|_| {
                Failure::new(
                    51_024,
                    format!("BSON field '{name}' value must be >= 0, actual value '{number}'"),
                )
            }),
        }
    }

    /// Returns a truth, which may be given as a number.
    pub(crate) fn truth(&self, name: &str) -> Result<bool> {
        match self.value(name) {
            None => Ok(false),
            Some(Value::Bool(truth)) => Ok(*truth),
            Some(value) => match number(value) {
                Some(number) => Ok(number != 0),
                None => Err(self.wrong_type(name, value, "s '[bool, long, int, decimal, double]'")),
            },
        }
    }

    /// Returns a truth that is true unless it is said otherwise.
    pub(crate) fn truth_or_true(&self, name: &str) -> Result<bool> {
        if self.value(name).is_none() { Ok(true) } else { self.truth(name) }
    }
}

/// Returns a number as an integer.
pub(crate) fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(number) => Some(i64::from(*number)),
        Value::Int64(number) => Some(*number),
        // Cut off, and held at the ends.
        Value::Double(number) if !number.is_nan() => Some(*number as i64),
        Value::Decimal128(bytes) => {
            let text = armilla_value::Decimal::from_bytes(bytes).to_string();
            text.parse::<f64>().ok().filter(|number| !number.is_nan()).map(|number| number as i64)
        }
        _ => None,
    }
}

/// Returns an array's objects.
pub(crate) fn objects<'v>(what: &str, values: &'v [Value]) -> Result<Vec<&'v Object>> {
    values
        .iter()
        .enumerate()
        .map(|(position, value)| {
            value.as_object().ok_or_else(|| {
                Failure::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "BSON field '{what}.{position}' is the wrong type '{}', expected type 'object'",
                        type_name(value)
                    ),
                )
            })
        })
        .collect()
}
