//! Names of tables: which are allowed, and the words in which others are refused. Clients look for these words.

use http::StatusCode;

use crate::failure::Shape;
use crate::limits::{STORAGE_TABLE_NAME_CHARACTERS, TABLE_NAME_CHARACTERS_MAX};
use crate::options::Flavour;

/// Why a name is none of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableNameError {
    /// It is empty or too long.
    Length,
    /// It has a character that no name has.
    Character(char),
    /// It ends with a space.
    TrailingSpace,
    /// It is too short or too long for a storage account.
    StorageLength,
    /// It has characters that names in storage accounts do not have.
    StorageCharacters,
}

impl TableNameError {
    /// Returns how it is told.
    pub(crate) fn shape(self) -> Shape {
        let bad =
            |code: &'static str, message: &'static str| Shape::new(StatusCode::BAD_REQUEST, code, message);
        match self {
            TableNameError::Length => bad(
                "BadRequest",
                "The input name is invalid. Ensure to provide a unique non-empty string less than '255' characters.",
            ),
            TableNameError::Character(character) => Shape::new(
                StatusCode::BAD_REQUEST,
                "InvalidInput",
                format!("The table name contains an invalid character {character}."),
            ),
            TableNameError::TrailingSpace => bad("InvalidInput", "Table name cannot end with a space."),
            TableNameError::StorageLength => bad(
                "OutOfRangeInput",
                "The specified resource name length is not within the permissible limits.",
            ),
            // The misspelling is the service's, and clients look for it.
            TableNameError::StorageCharacters => {
                bad("InvalidResourceName", "The specifed resource name contains invalid characters.")
            }
        }
    }
}

/// Refuses a name that a new table cannot have.
pub(crate) fn check(name: &str, flavour: Flavour) -> Result<(), TableNameError> {
    match flavour {
        Flavour::Cosmos => check_cosmos(name),
        Flavour::Storage => check_storage(name),
    }
}

fn check_cosmos(name: &str) -> Result<(), TableNameError> {
    if name.is_empty() || name.chars().count() > TABLE_NAME_CHARACTERS_MAX {
        return Err(TableNameError::Length);
    }
    if let Some(character) = name.chars().find(|character| matches!(character, '/' | '\\' | '?' | '#')) {
        return Err(TableNameError::Character(character));
    }
    if name.ends_with([' ', '\n', '\r']) {
        return Err(TableNameError::TrailingSpace);
    }
    Ok(())
}

fn check_storage(name: &str) -> Result<(), TableNameError> {
    if !STORAGE_TABLE_NAME_CHARACTERS.contains(&name.chars().count()) {
        return Err(TableNameError::StorageLength);
    }
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && name.starts_with(|first: char| first.is_ascii_alphabetic());
    // The list of tables has this name.
    if !is_plain || name.eq_ignore_ascii_case("tables") {
        return Err(TableNameError::StorageCharacters);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{TableNameError, check};
    use crate::options::Flavour;

    #[test]
    fn names_are_checked_by_flavour() {
        use TableNameError::{Character, Length, StorageCharacters, StorageLength, TrailingSpace};
        for (name, cosmos, storage) in [
            ("abc".to_owned(), Ok(()), Ok(())),
            ("Customers2".to_owned(), Ok(()), Ok(())),
            (String::new(), Err(Length), Err(StorageLength)),
            ("ab".to_owned(), Ok(()), Err(StorageLength)),
            ("a".repeat(63), Ok(()), Ok(())),
            ("a".repeat(64), Ok(()), Err(StorageLength)),
            ("a".repeat(254), Ok(()), Err(StorageLength)),
            ("a".repeat(255), Err(Length), Err(StorageLength)),
            ("a_b".to_owned(), Ok(()), Err(StorageCharacters)),
            ("1ab".to_owned(), Ok(()), Err(StorageCharacters)),
            ("größe".to_owned(), Ok(()), Err(StorageCharacters)),
            ("tables".to_owned(), Ok(()), Err(StorageCharacters)),
            ("a/b".to_owned(), Err(Character('/')), Err(StorageCharacters)),
            ("a\\b".to_owned(), Err(Character('\\')), Err(StorageCharacters)),
            ("a#b".to_owned(), Err(Character('#')), Err(StorageCharacters)),
            ("a?b".to_owned(), Err(Character('?')), Err(StorageCharacters)),
            ("ab ".to_owned(), Err(TrailingSpace), Err(StorageCharacters)),
        ] {
            assert_eq!(check(&name, Flavour::Cosmos), cosmos, "{name}");
            assert_eq!(check(&name, Flavour::Storage), storage, "{name}");
        }
    }

    #[test]
    fn refusals_have_the_words_that_clients_know() {
        for (error, code, words) in [
            (TableNameError::Length, "BadRequest", "less than '255' characters."),
            (
                TableNameError::Character('?'),
                "InvalidInput",
                "The table name contains an invalid character ?.",
            ),
            (TableNameError::TrailingSpace, "InvalidInput", "Table name cannot end with a space."),
            (TableNameError::StorageLength, "OutOfRangeInput", "length is not within the permissible limits"),
            (TableNameError::StorageCharacters, "InvalidResourceName", "name contains invalid characters"),
        ] {
            let shape = error.shape();
            assert_eq!((shape.status.as_u16(), &*shape.code), (400, code));
            assert!(shape.message.contains(words), "{}", shape.message);
        }
    }
}
