//! Hashes of values: equal values have equal ones, in every sample and everywhere.
//!
//! Numbers are equal by what they are worth (`1` and `1.0`), objects whatever the order of their members. The last two
//! bits say what a value is, so that a set of hashes can be reduced to those of texts and numbers.

use armilla_value::{Value, fingerprint, json};

const CLASS: u64 = 3;
/// Null, true and false.
const PLAIN: u64 = 0;
/// Texts, numbers and the scalars that JSON lacks: what can refer to something.
const LINK: u64 = 1;
const OBJECT: u64 = 2;
const ARRAY: u64 = 3;

// What keeps a text from having the hash of a number: any numbers will do.
const TEXTS: u64 = 0x243F_6A88_85A3_08D3;
const INTEGERS: u64 = 0x1319_8A2E_0370_7344;
const DOUBLES: u64 = 0xA409_3822_299F_31D0;
const OTHERS: u64 = 0x082E_FA98_EC4E_6C89;

/// Hashes some bytes.
pub(crate) fn of_bytes(bytes: &[u8]) -> u64 {
    fingerprint(bytes) as u64
}

/// Hashes a text as the value that it is.
pub(crate) fn of_text(text: &str) -> u64 {
    classed(mix(TEXTS, of_bytes(text.as_bytes())), LINK)
}

/// Hashes a value that is neither object nor array.
pub(crate) fn of_scalar(value: &Value) -> u64 {
    match value {
        Value::Null => classed(mixed(1), PLAIN),
        Value::Bool(truth) => classed(mixed(2 + u64::from(*truth)), PLAIN),
        Value::String(text) => of_text(text),
        other => {
            let hash = match (other.as_i64(), other.as_f64()) {
                (Some(integer), _) => mix(INTEGERS, integer as u64),
                (None, Some(double)) => mix(DOUBLES, double.to_bits()),
                (None, None) => mix(OTHERS, of_bytes(json::to_string(other).as_bytes())),
            };
            classed(hash, LINK)
        }
    }
}

/// Makes the hash of an object of the sum of its members' (see [`of_member`]).
pub(crate) fn of_object(sum: u64) -> u64 {
    classed(mixed(sum), OBJECT)
}

/// Hashes a member of an object, from the hash of its name's bytes and that of its value.
pub(crate) fn of_member(name: u64, value: u64) -> u64 {
    mix(name, value)
}

/// Makes the hash of an array of those of its elements, mixed one after the other.
pub(crate) fn of_array(elements: u64) -> u64 {
    classed(elements, ARRAY)
}

/// Says whether a value of this hash can refer to something: a text, a number.
pub(crate) fn is_link(hash: u64) -> bool {
    hash & CLASS == LINK
}

/// Says whether a value of this hash is an object.
pub(crate) fn is_object(hash: u64) -> bool {
    hash & CLASS == OBJECT
}

/// Takes another word into a hash.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    mixed(hash.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(27) ^ word)
}

/// Spreads a word over all bits.
fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    word = (word ^ (word >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    word ^ (word >> 33)
}

fn classed(hash: u64, class: u64) -> u64 {
    (hash & !CLASS) | class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_equal_hashes_and_texts_others() {
        let one = of_scalar(&Value::Int64(1));
        assert_eq!(of_scalar(&Value::Double(1.0)), one);
        assert_eq!(of_scalar(&Value::Int32(1)), one);
        assert_ne!(of_scalar(&Value::Double(1.5)), one);
        assert_ne!(of_text("1"), one);
        assert_ne!(of_scalar(&Value::Bool(true)), of_scalar(&Value::Bool(false)));
    }

    #[test]
    fn the_hash_says_what_can_refer_and_what_is_an_object() {
        for (value, is_one) in [
            (Value::Null, false),
            (Value::Bool(true), false),
            (Value::from("a"), true),
            (Value::from(7), true),
            (Value::Date(7), true),
        ] {
            assert_eq!(is_link(of_scalar(&value)), is_one, "{value:?}");
            assert!(!is_object(of_scalar(&value)));
        }
        assert!(is_object(of_object(7)) && !is_link(of_object(7)));
        assert!(!is_object(of_array(7)) && !is_link(of_array(7)));
    }
}
