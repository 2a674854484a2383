//! `$rename`: the value is taken from one path and set at another.
//!
//! Both paths are in the tree of the update, so no other operator can touch what is moved, and the value may be
//! read before anything is changed.

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::{Object, Value};

use crate::path::{Path, element_index};
use crate::render::{render_id, render_member};

/// A `$rename` that was read.
#[derive(Debug, Clone)]
pub(crate) struct Rename {
    /// Where the value is.
    pub(crate) source: Path,
    /// Where it shall be.
    pub(crate) target: Path,
}

impl Rename {
    /// Reads one member of `$rename`.
    pub(crate) fn parse(source: &str, operand: &Value) -> Result<Rename> {
        let text = render_member(source, operand);
        let Value::String(target) = operand else {
            return Err(Error::bad_value(format!("The 'to' field for $rename must be a string: {text}")));
        };
        if target.contains('\0') {
            return Err(Error::bad_value("The 'to' field for $rename cannot contain an embedded null byte"));
        }
        let rename = Rename { source: Path::parse(source)?, target: Path::parse(target)? };
        if rename.source.text == rename.target.text {
            return Err(Error::bad_value(format!(
                "The source and target field for $rename must differ: {text}"
            )));
        }
        let (source, target) = (&rename.source.components, &rename.target.components);
        if source.starts_with(target) || target.starts_with(source) {
            return Err(Error::bad_value(format!(
                "The source and target field for $rename must not be on the same path: {text}"
            )));
        }
        for (path, word) in [(&rename.source, "source"), (&rename.target, "destination")] {
            if path.is_dynamic() {
                return Err(Error::bad_value(format!(
                    "The {word} field for $rename may not be dynamic: {}",
                    path.text
                )));
            }
        }
        Ok(rename)
    }

    /// Returns the value to move, if there is one.
    pub(crate) fn value(&self, document: &Object) -> Result<Option<Value>> {
        let Some(value) = self.source_value(document)? else {
            return Ok(None);
        };
        // Neither path may lead through an array, although what is moved or overwritten may be one.
        check_no_array(&self.source, "source", document)?;
        check_no_array(&self.target, "destination", document)?;
        Ok(Some(value.clone()))
    }

    fn source_value<'a>(&self, document: &'a Object) -> Result<Option<&'a Value>> {
        let mut names = self.source.names();
        let first = self.source.first_name();
        let Some(mut value) = names.next().and_then(|name| document.get(name)) else {
            return Ok(None);
        };
        let mut parent = first;
        for name in names {
            let next = match value {
                Value::Object(object) => object.get(name),
                Value::Array(elements) if element_index(name).is_some() => {
                    element_index(name).and_then(|index| elements.get(index))
                }
                _ => {
                    return Err(Error::new(
                        codes::PATH_NOT_VIABLE,
                        format!(
                            "cannot use the part ({parent} of {}) to traverse the element ({{{}}})",
                            self.source.text,
                            render_member(parent, value)
                        ),
                    ));
                }
            };
            match next {
                Some(next) => (value, parent) = (next, name),
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }
}

fn check_no_array(path: &Path, word: &str, document: &Object) -> Result<()> {
    let mut object = document;
    for name in path.names().take(path.components.len() - 1) {
        match object.get(name) {
            Some(Value::Object(inner)) => object = inner,
            Some(Value::Array(_)) => {
                return Err(Error::bad_value(format!(
                    "The {word} field cannot be an array element, '{}' in doc with {} has an array field called \
                     '{name}'",
                    path.text,
                    render_id(document.get("_id")),
                )));
            }
            _ => return Ok(()),
        }
    }
    Ok(())
}
