//! A structural hash of data, for DISTINCT, GROUP BY and the set functions.
//!
//! Equal data have equal fingerprints wherever they are kept: `1` and `1.0`, `0` and `-0`, objects with the same
//! members in another order. NaN has one fingerprint. Different data have different ones but for chance, one in
//! 2^64 for each pair among as many as there will ever be.
//!
//! Fingerprints may be kept in a continuation, so they are the same on every machine and for ever.

use armilla_value::{Kind, Node, Value, key};

use crate::datum::Datum;

const UNDEFINED: u128 = 0x1;
const NULL: u128 = 0x2;
const FALSE: u128 = 0x3;
const TRUE: u128 = 0x4;
const INTEGER: u64 = 0x5;
const DOUBLE: u64 = 0x6;
const STRING: u128 = 0x7;
const ARRAY: u128 = 0x8;
const OBJECT: u128 = 0x9;
const OTHER: u128 = 0xA;

/// Returns the fingerprint of a datum.
pub fn fingerprint(datum: &Datum<'_>) -> u128 {
    match datum {
        Datum::Undefined => scramble(UNDEFINED),
        Datum::Null => scramble(NULL),
        Datum::Bool(truth) => of_bool(*truth),
        Datum::Int(number) => of_integer(*number),
        Datum::Double(number) => of_double(*number),
        Datum::Str(text) => of_string(text),
        Datum::Node(node) => of_node(*node),
        Datum::Value(value) => of_value(value),
    }
}

fn of_value(value: &Value) -> u128 {
    match value {
        Value::Null => scramble(NULL),
        Value::Bool(truth) => of_bool(*truth),
        Value::Int32(number) => of_integer(i64::from(*number)),
        Value::Int64(number) => of_integer(*number),
        Value::Double(number) => of_double(*number),
        Value::String(text) => of_string(text),
        Value::Array(elements) => of_elements(elements.iter().map(of_value)),
        Value::Object(object) => {
            of_members(object.iter().map(|(name, value)| (of_string(name), of_value(value))))
        }
        other => of_other(other),
    }
}

fn of_node(node: Node<'_>) -> u128 {
    match node.kind() {
        Kind::Array => of_elements(node.elements().map(of_node)),
        Kind::Object => of_members(node.members().map(|(name, value)| (of_string(&name), of_node(value)))),
        Kind::String | Kind::Int64 | Kind::Int32 | Kind::Double | Kind::Bool | Kind::Null => {
            fingerprint(&Datum::from_node(node))
        }
        _ => of_other(&node.to_value()),
    }
}

fn of_elements(elements: impl Iterator<Item = u128>) -> u128 {
    elements.fold(scramble(ARRAY), |state, element| scramble(state.wrapping_add(element)))
}

/// Adds the members up, so that their order does not matter.
fn of_members(members: impl Iterator<Item = (u128, u128)>) -> u128 {
    let sum = members
        .fold(OBJECT, |sum, (name, value)| sum.wrapping_add(scramble(scramble(name).wrapping_add(value))));
    scramble(sum)
}

fn of_bool(truth: bool) -> u128 {
    scramble(if truth { TRUE } else { FALSE })
}

fn of_string(text: &str) -> u128 {
    armilla_value::fingerprint(text.as_bytes()).wrapping_add(STRING)
}

fn of_integer(number: i64) -> u128 {
    scramble(u128::from(INTEGER) << 64 | u128::from(number as u64))
}

fn of_double(number: f64) -> u128 {
    match Datum::Double(number).as_i64() {
        Some(integer) => of_integer(integer),
        None => {
            let bits = if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() };
            scramble(u128::from(DOUBLE) << 64 | u128::from(bits))
        }
    }
}

/// Hashes what only BSON has through its key bytes, which are the same for equal values.
fn of_other(value: &Value) -> u128 {
    let mut bytes = Vec::new();
    key::encode_value(value, &mut bytes);
    // A decimal that equals an integer or a double is that number.
    match (value, key::decode(&bytes)) {
        (Value::Decimal128(_), Ok((Value::Int64(number), _))) => of_integer(number),
        (Value::Decimal128(_), Ok((Value::Double(number), _))) => of_double(number),
        _ => scramble(armilla_value::fingerprint(&bytes).wrapping_add(OTHER)),
    }
}

/// Mixes 128 bits so that each depends on all, losing nothing: a Feistel network of four rounds.
fn scramble(bits: u128) -> u128 {
    let (mut high, mut low) = ((bits >> 64) as u64, bits as u64);
    low ^= round(high.wrapping_add(0x9E37_79B9_7F4A_7C15));
    high ^= round(low.wrapping_add(0xD1B5_4A32_D192_ED03));
    low ^= round(high.wrapping_add(0x8CB9_2BA7_2F3D_8DD7));
    high ^= round(low.wrapping_add(0xAEF1_7502_108E_F2D9));
    u128::from(high) << 64 | u128::from(low)
}

fn round(mut word: u64) -> u64 {
    word = (word ^ word >> 32).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    word = (word ^ word >> 29).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ word >> 32
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
