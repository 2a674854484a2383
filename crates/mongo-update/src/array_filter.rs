//! `arrayFilters`: which elements `$[id]` stands for.

use std::collections::BTreeMap;

use armilla_mongo_expression::{Environment, Error, Result, Scope, codes, type_name};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::wrapped::matches_wrapped;

/// The filters, by identifier.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArrayFilters(BTreeMap<String, Filter>);

impl ArrayFilters {
    /// Reads the filters. Each has conditions on one identifier only.
    pub(crate) fn parse(filters: &[Value], scope: &Scope) -> Result<ArrayFilters> {
        let mut read = BTreeMap::new();
        for (index, filter) in filters.iter().enumerate() {
            let Value::Object(filter) = filter else {
                return Err(Error::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "BSON field 'update.updates.arrayFilters.{index}' is the wrong type '{}', expected type \
                         'object'",
                        type_name(filter)
                    ),
                ));
            };
            // Read first: that bounds how deep it nests.
            let parsed = Filter::parse(filter, scope).map_err(|error| caused(&error))?;
            let mut identifier = None;
            find_identifier(filter, &mut identifier).map_err(|error| caused(&error))?;
            let Some(identifier) = identifier else {
                return Err(Error::new(
                    codes::FAILED_TO_PARSE,
                    "Cannot use an expression without a top-level field name in arrayFilters",
                ));
            };
            check_identifier(identifier).map_err(|error| caused(&error))?;
            if read.insert(identifier.to_owned(), parsed).is_some() {
                return Err(Error::new(
                    codes::FAILED_TO_PARSE,
                    format!("Found multiple array filters with the same top-level field name {identifier}"),
                ));
            }
        }
        Ok(ArrayFilters(read))
    }

    /// Says whether there is a filter of that identifier. The empty one needs none.
    pub(crate) fn contains(&self, identifier: &str) -> bool {
        identifier.is_empty() || self.0.contains_key(identifier)
    }

    /// Walks the identifiers.
    pub(crate) fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Says whether an identifier stands for an element.
    pub(crate) fn matches(
        &self,
        identifier: &str,
        element: &mut Value,
        environment: &Environment,
    ) -> Result<bool> {
        match self.0.get(identifier) {
            // The conditions name the element by the identifier, so the element is wrapped under it.
            Some(filter) => matches_wrapped(filter, identifier, element, environment),
            None => Ok(identifier.is_empty()),
        }
    }
}

fn caused(error: &Error) -> Error {
    Error {
        message: format!("Error parsing array filter :: caused by :: {}", error.message),
        ..error.clone()
    }
}

/// Finds the one name that all conditions begin with.
fn find_identifier<'a>(filter: &'a Object, found: &mut Option<&'a str>) -> Result<()> {
    for (name, value) in filter.iter() {
        if name.starts_with('$') {
            for part in value.as_array().unwrap_or_default() {
                if let Value::Object(part) = part {
                    find_identifier(part, found)?;
                }
            }
            continue;
        }
        let identifier = name.split('.').next().unwrap_or(name);
        match found {
            Some(other) if *other != identifier => {
                return Err(Error::new(
                    codes::FAILED_TO_PARSE,
                    format!("Expected a single top-level field name, found '{other}' and '{identifier}'"),
                ));
            }
            _ => *found = Some(identifier),
        }
    }
    Ok(())
}

fn check_identifier(identifier: &str) -> Result<()> {
    let bytes = identifier.as_bytes();
    if bytes.first().is_some_and(u8::is_ascii_lowercase) && bytes.iter().all(u8::is_ascii_alphanumeric) {
        return Ok(());
    }
    Err(Error::bad_value(format!(
        "The top-level field name must be an alphanumeric string beginning with a lowercase letter, found \
         '{identifier}'"
    )))
}
