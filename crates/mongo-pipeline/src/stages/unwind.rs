//! `$unwind`: one document for each element of an array.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Result};
use armilla_value::{Object, Value};

use crate::Documents;
use crate::arguments::{shown, type_name};
use crate::path::FieldPath;

/// `$unwind` as it was read.
#[derive(Debug, Clone)]
pub struct Unwind {
    /// Where the array is.
    pub path: FieldPath,
    /// Where the index of the element goes.
    pub index: Option<FieldPath>,
    /// Whether documents without elements stay.
    pub preserves_empty: bool,
}

impl Unwind {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value) -> Result<Unwind> {
        let (mut path, mut index, mut preserves_empty) = (None, None, false);
        match argument {
            Value::String(text) => path = Some(text.as_str()),
            Value::Object(object) => {
                for (name, value) in object.iter() {
                    match name {
                        "path" => path = Some(value.as_str().ok_or_else(|| {
                            Error::new(28808, format!("expected a string as the path for $unwind stage, got {}", type_name(value)))
                        })?),
                        "preserveNullAndEmptyArrays" => preserves_empty = value.as_bool().ok_or_else(|| {
                            Error::new(28809, format!("expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got {}", type_name(value)))
                        })?,
                        "includeArrayIndex" => {
                            let text = value.as_str().filter(|text| !text.is_empty()).ok_or_else(|| {
                                Error::new(28810, format!("expected a non-empty string for the includeArrayIndex option to $unwind stage, got {}", type_name(value)))
                            })?;
                            if text.starts_with('$') {
                                return Err(Error::new(28822, format!("includeArrayIndex option to $unwind stage should not be prefixed with a '$': {text}")));
                            }
                            index = Some(FieldPath::parse(text)?);
                        }
                        _ => return Err(Error::new(28811, format!("unrecognized option to $unwind stage: {name}"))),
                    }
                }
            }
            _ => {
                return Err(Error::new(
                    15981,
                    format!(
                        "expected either a string or an object as specification for $unwind stage, got {}",
                        type_name(argument)
                    ),
                ));
            }
        }
        let path = path
            .filter(|path| !path.is_empty())
            .ok_or_else(|| Error::new(28812, "no path specified to $unwind stage"))?;
        let path = path.strip_prefix('$').ok_or_else(|| {
            Error::new(
                28818,
                format!("path option to $unwind stage should be prefixed with a '$': {}", shown(argument)),
            )
        })?;
        Ok(Unwind { path: FieldPath::parse(path)?, index, preserves_empty })
    }

    fn with_index(&self, mut document: Object, index: Value) -> Object {
        if let Some(path) = &self.index {
            path.set(&mut document, index);
        }
        document
    }
}

/// The elements of one document that are still to come.
struct Unwinding {
    document: Object,
    elements: std::iter::Enumerate<std::vec::IntoIter<Value>>,
}

/// Runs it.
pub(crate) fn run(unwind: Arc<Unwind>, mut input: Documents) -> Documents {
    let mut current: Option<Unwinding> = None;
    Box::new(std::iter::from_fn(move || {
        loop {
            if let Some(unwinding) = &mut current {
                if let Some((index, element)) = unwinding.elements.next() {
                    let mut document = if unwinding.elements.len() == 0 {
                        std::mem::take(&mut unwinding.document)
                    } else {
                        unwinding.document.clone()
                    };
                    unwind.path.set(&mut document, element);
                    return Some(Ok(unwind.with_index(document, Value::Int64(index as i64))));
                }
                current = None;
            }
            let mut document = match input.next()? {
                Ok(document) => document,
                Err(error) => return Some(Err(error)),
            };
            match unwind.path.get(&document) {
                Some(Value::Array(elements)) if elements.is_empty() => {
                    if unwind.preserves_empty {
                        unwind.path.remove(&mut document);
                        return Some(Ok(unwind.with_index(document, Value::Null)));
                    }
                }
                Some(Value::Array(_)) => {
                    // The array leaves the document first, so that clones of it are small.
                    let mut elements = Vec::new();
                    if let Some(Value::Array(array)) = unwind.path.get_mut(&mut document) {
                        elements = std::mem::take(array);
                    }
                    current = Some(Unwinding { document, elements: elements.into_iter().enumerate() });
                }
                None | Some(Value::Null) => {
                    if unwind.preserves_empty {
                        return Some(Ok(unwind.with_index(document, Value::Null)));
                    }
                }
                Some(value) if is_undefined(value) => {
                    if unwind.preserves_empty {
                        return Some(Ok(unwind.with_index(document, Value::Null)));
                    }
                }
                Some(_) => return Some(Ok(unwind.with_index(document, Value::Null))),
            }
        }
    }))
}

fn is_undefined(value: &Value) -> bool {
    type_name(value) == "undefined"
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_error};

    const DOCUMENTS: &str = "[{'_id':1,'a':[1,2],'b':0},{'_id':2,'a':[]},{'_id':3,'a':null},{'_id':4},{'_id':5,'a':7},{'_id':6,'a':[[1]]}]";

    #[test]
    fn elements() {
        check(
            DOCUMENTS,
            "[{'$unwind':'$a'}]",
            "[{'_id':1,'a':1,'b':0},{'_id':1,'a':2,'b':0},{'_id':5,'a':7},{'_id':6,'a':[1]}]",
        );
        check(
            DOCUMENTS,
            "[{'$unwind':{'path':'$a','includeArrayIndex':'i','preserveNullAndEmptyArrays':true}}]",
            "[{'_id':1,'a':1,'b':0,'i':0},{'_id':1,'a':2,'b':0,'i':1},{'_id':2,'i':null},{'_id':3,'a':null,'i':null},{'_id':4,'i':null},{'_id':5,'a':7,'i':null},{'_id':6,'a':[1],'i':0}]",
        );
        check(
            "[{'a':{'b':[1,2],'c':3}},{'a':[{'b':[1]}]},{'a':1}]",
            "[{'$unwind':'$a.b'}]",
            "[{'a':{'b':1,'c':3}},{'a':{'b':2,'c':3}}]",
        );
        check(
            "[{'a':[1]}]",
            "[{'$unwind':{'path':'$a','includeArrayIndex':'x.y'}}]",
            "[{'a':1,'x':{'y':0}}]",
        );
    }

    #[test]
    fn refusals() {
        for (argument, code) in [
            ("1", 15981),
            ("'a'", 28818),
            ("''", 28812),
            ("{}", 28812),
            ("{'path':1}", 28808),
            ("{'path':'$a','preserveNullAndEmptyArrays':1}", 28809),
            ("{'path':'$a','includeArrayIndex':''}", 28810),
            ("{'path':'$a','includeArrayIndex':'$b'}", 28822),
            ("{'path':'$a','x':1}", 28811),
            ("'$'", 40352),
            ("'$a..b'", 15998),
        ] {
            check_error("[]", &format!("[{{'$unwind':{argument}}}]"), code);
        }
    }
}
