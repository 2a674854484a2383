//! Reading and writing the parts of a definition.

use armilla_index::reader::Field;
use armilla_value::{Object, Value};

use super::error::DefinitionError;

pub(super) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Object>())
}

pub(super) fn integer(number: impl Into<i64>) -> Value {
    Value::Int64(number.into())
}

/// Returns the known word that the field holds, in whatever case, by its position in `words`.
pub(super) fn word_position(field: &Field<'_>, what: &str, words: &[&str]) -> Result<usize, DefinitionError> {
    let word = field.text()?;
    words.iter().position(|known| known.eq_ignore_ascii_case(word)).ok_or_else(|| {
        DefinitionError::new(
            field.path(),
            format!("the {what} '{word}' at '{}' is none of {}", field.path(), words.join(", ")),
        )
    })
}
