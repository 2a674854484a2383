//! The types of values by MongoDB's numbers and names, and the classes inside which filters compare.

use armilla_mongo_expression::{Error, Result, codes};
pub use armilla_mongo_expression::{type_name, type_number};
use armilla_value::{Legacy, Value};

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeSet(u32);

const MIN_KEY_BIT: u32 = 30;
const MAX_KEY_BIT: u32 = 31;

/// Every type with its number and name.
pub const TYPES: [(i32, &str); 21] = [
    (1, "double"),
    (2, "string"),
    (3, "object"),
    (4, "array"),
    (5, "binData"),
    (6, "undefined"),
    (7, "objectId"),
    (8, "bool"),
    (9, "date"),
    (10, "null"),
    (11, "regex"),
    (12, "dbPointer"),
    (13, "javascript"),
    (14, "symbol"),
    (15, "javascriptWithScope"),
    (16, "int"),
    (17, "timestamp"),
    (18, "long"),
    (19, "decimal"),
    (-1, "minKey"),
    (127, "maxKey"),
];

const NUMBERS: [i32; 4] = [1, 16, 18, 19];

fn bit(number: i32) -> u32 {
    1 << match number {
        -1 => MIN_KEY_BIT,
        127 => MAX_KEY_BIT,
        other => other as u32 & 31,
    }
}

impl TypeSet {
    /// Says whether a value is of one of the types.
    pub fn contains(self, value: &Value) -> bool {
        self.0 & bit(type_number(value)) != 0
    }

    /// Says whether it has no type.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Walks the numbers of the types.
    pub fn numbers(self) -> impl Iterator<Item = i32> {
        TYPES.iter().map(|(number, _)| *number).filter(move |number| self.0 & bit(*number) != 0)
    }

    /// Adds a type by its number.
    pub fn insert(&mut self, number: i32) {
        self.0 |= bit(number);
    }

    /// Adds a type by its name, or all numbers.
    pub fn insert_alias(&mut self, alias: &str) -> Result<()> {
        if alias == "number" {
            NUMBERS.into_iter().for_each(|number| self.insert(number));
            return Ok(());
        }
        match TYPES.iter().find(|(_, name)| *name == alias) {
            Some((number, _)) => {
                self.insert(*number);
                Ok(())
            }
            None => Err(Error::bad_value(format!("Unknown type name alias: {alias}"))),
        }
    }

    /// Reads the operand of `$type`.
    pub fn parse(path: &str, operand: &Value) -> Result<TypeSet> {
        let mut types = TypeSet::default();
        match operand {
            Value::Array(elements) => {
                for element in elements {
                    types.insert_operand(element)?;
                }
            }
            single => types.insert_operand(single)?,
        }
        if types.is_empty() {
            return Err(Error::new(codes::FAILED_TO_PARSE, format!("{path} must match at least one type")));
        }
        Ok(types)
    }

    fn insert_operand(&mut self, operand: &Value) -> Result<()> {
        if let Value::String(alias) = operand {
            return self.insert_alias(alias);
        }
        let Some(number) = crate::number::to_f64(operand) else {
            return Err(Error::new(codes::TYPE_MISMATCH, "type must be represented as a number or a string"));
        };
        if number == 0.0 {
            return Err(Error::bad_value("Invalid numerical type code: 0. Instead use {$exists:false}."));
        }
        match TYPES.iter().find(|(known, _)| f64::from(*known) == number) {
            Some((known, _)) => {
                self.insert(*known);
                Ok(())
            }
            None => Err(Error::bad_value(format!("Invalid numerical type code: {number}"))),
        }
    }
}

/// Returns the class of a value: values of one class compare with each other, in the order of the numbers with others.
pub(crate) fn class(value: &Value) -> u8 {
    match type_number(value) {
        -1 => 0,
        6 => 1,
        10 => 2,
        1 | 16 | 18 | 19 => 3,
        2 | 14 => 4,
        3 => 5,
        4 => 6,
        5 => 7,
        7 => 8,
        8 => 9,
        9 => 10,
        17 => 11,
        11 => 12,
        12 => 13,
        13 => 14,
        15 => 15,
        _ => 16,
    }
}

/// Says whether a value is BSON's undefined, which filters treat as missing.
pub(crate) fn is_undefined(value: &Value) -> bool {
    type_number(value) == 6
}

/// Returns what an empty array counts as in an order: below null.
pub(crate) fn undefined() -> Value {
    Value::Legacy(Box::new(Legacy::Undefined))
}
