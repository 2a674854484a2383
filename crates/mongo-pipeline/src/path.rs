//! Dotted paths as stages use them: through objects, and for joins through arrays as filters go.
//!
//! Not here: field paths of expressions (`mongo-expression`), paths of filters (`mongo-filter`).

use armilla_mongo_expression::{Error, Result};
use armilla_value::{Object, Value};

use crate::limits::PATH_COMPONENTS_MAX;

/// A dotted path that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    components: Vec<String>,
}

impl FieldPath {
    /// Reads a path without dollars.
    pub fn parse(text: &str) -> Result<FieldPath> {
        if text.is_empty() {
            return Err(Error::new(40352, "FieldPath cannot be constructed with empty string"));
        }
        if text.ends_with('.') {
            return Err(Error::new(40353, "FieldPath must not end with a '.'."));
        }
        let components: Vec<String> = text.split('.').map(str::to_owned).collect();
        if components.len() > PATH_COMPONENTS_MAX {
            return Err(Error::new(5984700, "FieldPath is too long"));
        }
        for component in &components {
            check_name(component)?;
        }
        Ok(FieldPath { text: text.to_owned(), components })
    }

    /// Returns the path as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the first component.
    pub fn first(&self) -> &str {
        self.components.first().map_or("", String::as_str)
    }

    /// Says whether the path is the other one, or leads to it, or it to this one.
    pub(crate) fn conflicts_with(&self, other: &FieldPath) -> bool {
        self.components.iter().zip(&other.components).all(|(left, right)| left == right)
    }

    /// Says whether the path is the other one or leads through it.
    pub(crate) fn begins_with(&self, other: &FieldPath) -> bool {
        self.components.starts_with(&other.components)
    }

    /// Returns the value at the path; arrays are not entered.
    pub(crate) fn get<'a>(&self, document: &'a Object) -> Option<&'a Value> {
        let (last, parents) = self.components.split_last()?;
        let mut object = document;
        for parent in parents {
            object = object.get(parent)?.as_object()?;
        }
        object.get(last)
    }

    /// Returns the value at the path, to be changed; arrays are not entered.
    pub(crate) fn get_mut<'a>(&self, document: &'a mut Object) -> Option<&'a mut Value> {
        let (last, parents) = self.components.split_last()?;
        let mut object = document;
        for parent in parents {
            object = object.get_mut(parent)?.as_object_mut()?;
        }
        object.get_mut(last)
    }

    /// Sets the value at the path. What is on the way and is no object becomes one.
    pub(crate) fn set(&self, document: &mut Object, value: Value) {
        let Some((last, parents)) = self.components.split_last() else { return };
        let mut object = document;
        for parent in parents {
            if !matches!(object.get(parent), Some(Value::Object(_))) {
                object.insert(parent.as_str(), Object::new());
            }
            object = match object.get_mut(parent) {
                Some(Value::Object(child)) => child,
                _ => return,
            };
        }
        object.insert(last.as_str(), value);
    }

    /// Takes the value at the path out.
    pub(crate) fn remove(&self, document: &mut Object) -> Option<Value> {
        let (last, parents) = self.components.split_last()?;
        let mut object = document;
        for parent in parents {
            object = object.get_mut(parent)?.as_object_mut()?;
        }
        object.remove(last)
    }

    /// Returns what stands at the path to be joined: elements of arrays singly, null where there is nothing.
    pub(crate) fn local_values(&self, document: &Object) -> Vec<Value> {
        let mut values = Vec::new();
        self.present_values(document, &mut values);
        if values.is_empty() {
            values.push(Value::Null);
        }
        values
    }

    /// Appends what stands at the path, elements of arrays singly.
    pub(crate) fn present_values(&self, document: &Object, values: &mut Vec<Value>) {
        if let Some((first, rest)) = self.components.split_first()
            && let Some(value) = document.get(first)
        {
            gather_local(value, rest, values);
        }
    }

    /// Visits the values with one of which the document would be found by an equality on the path: at the end of the
    /// path an array and its elements, and nothing where the path leads to nothing, which an equality with null finds.
    pub(crate) fn matching_values<'a>(&self, document: &'a Object, visit: &mut dyn FnMut(Option<&'a Value>)) {
        gather_matching_object(document, &self.components, visit);
    }
}

/// Checks a single name, which may contain no dots.
pub(crate) fn check_name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::new(15998, "FieldPath field names may not be empty strings."));
    }
    if name.starts_with('$') {
        return Err(Error::new(
            16410,
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        ));
    }
    if name.contains('\0') {
        return Err(Error::new(16411, "FieldPath field names may not contain '\0'."));
    }
    if name.contains('.') {
        return Err(Error::new(
            16412,
            "FieldPath field names may not contain '.'. Consider using $getField or $setField.",
        ));
    }
    Ok(())
}

fn array_index(component: &str) -> Option<usize> {
    let canonical = component == "0" || !component.starts_with('0');
    (canonical && component.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| component.parse().ok())
        .flatten()
}

fn gather_local(value: &Value, rest: &[String], out: &mut Vec<Value>) {
    let Some((next, after)) = rest.split_first() else {
        match value {
            Value::Array(elements) => out.extend(elements.iter().cloned()),
            _ => out.push(value.clone()),
        }
        return;
    };
    match value {
        Value::Object(object) => {
            if let Some(child) = object.get(next) {
                gather_local(child, after, out);
            }
        }
        Value::Array(elements) => {
            if let Some(element) = array_index(next).and_then(|index| elements.get(index)) {
                gather_local(element, after, out);
            }
            for element in elements {
                if let Value::Object(object) = element
                    && let Some(child) = object.get(next)
                {
                    gather_local(child, after, out);
                }
            }
        }
        _ => {}
    }
}

fn gather_matching_object<'a>(object: &'a Object, path: &[String], visit: &mut dyn FnMut(Option<&'a Value>)) {
    let Some((next, rest)) = path.split_first() else { return };
    match object.get(next) {
        None => visit(None),
        Some(value) => gather_matching(value, rest, visit),
    }
}

fn gather_matching<'a>(value: &'a Value, rest: &[String], visit: &mut dyn FnMut(Option<&'a Value>)) {
    let Some((next, after)) = rest.split_first() else {
        if let Value::Array(elements) = value {
            elements.iter().for_each(|element| visit(Some(element)));
        }
        visit(Some(value));
        return;
    };
    match value {
        Value::Object(object) => gather_matching_object(object, rest, visit),
        Value::Array(elements) => {
            if let Some(element) = array_index(next).and_then(|index| elements.get(index)) {
                gather_matching(element, after, visit);
            }
            for element in elements {
                if let Value::Object(object) = element {
                    gather_matching_object(object, rest, visit);
                }
            }
        }
        _ => visit(None),
    }
}

#[cfg(test)]
mod tests {
    use super::FieldPath;
    use crate::testing::{object, shown};
    use armilla_value::Value;

    #[test]
    fn local_values_of_paths() {
        for (document, path, expected) in [
            (r#"{"a": 1}"#, "a", "[1]"),
            (r#"{"a": [1, [2]]}"#, "a", "[1,[2]]"),
            (r#"{"a": []}"#, "a", "[null]"),
            (r#"{}"#, "a", "[null]"),
            (r#"{"a": [{"b": 1}, {"b": [2, 3]}, 4]}"#, "a.b", "[1,2,3]"),
            (r#"{"a": [[{"b": 1}]]}"#, "a.b", "[null]"),
            (r#"{"a": [{"b": 1}, {"b": 2}]}"#, "a.1.b", "[2]"),
            (r#"{"a": 5}"#, "a.b", "[null]"),
        ] {
            let values = FieldPath::parse(path).unwrap().local_values(&object(document));
            assert_eq!(shown(&Value::Array(values)), expected, "{document} {path}");
        }
    }

    #[test]
    fn matching_values_of_paths() {
        for (document, path, expected) in [
            (r#"{"a": 1}"#, "a", "[1]"),
            (r#"{"a": [1, [2]]}"#, "a", "[1,[2],[1,[2]]]"),
            (r#"{"a": []}"#, "a", "[[]]"),
            (r#"{}"#, "a", "[null]"),
            (r#"{"a": 5}"#, "a.b", "[null]"),
            (r#"{"a": []}"#, "a.b", "[]"),
            (r#"{"a": [5]}"#, "a.b", "[]"),
            (r#"{"a": [{}, {"b": 1}]}"#, "a.b", "[null,1]"),
        ] {
            let document = object(document);
            let mut values = Vec::new();
            FieldPath::parse(path)
                .unwrap()
                .matching_values(&document, &mut |value| values.push(value.cloned().unwrap_or(Value::Null)));
            assert_eq!(shown(&Value::Array(values)), expected, "{document:?} {path}");
        }
    }

    #[test]
    fn paths_are_set_through_objects() {
        for (document, path, expected) in [
            (r#"{}"#, "a.b", r#"{"a":{"b":7}}"#),
            (r#"{"a":{"b":1,"c":2},"d":3}"#, "a.b", r#"{"a":{"b":7,"c":2},"d":3}"#),
            (r#"{"a":1}"#, "a.b", r#"{"a":{"b":7}}"#),
        ] {
            let mut document = object(document);
            FieldPath::parse(path).unwrap().set(&mut document, Value::Int64(7));
            assert_eq!(shown(&Value::Object(document)), expected);
        }
    }

    #[test]
    fn bad_paths() {
        for (path, code) in
            [("", 40352), ("a.", 40353), ("a..b", 15998), ("$a", 16410), ("a.$b", 16410), ("a\0", 16411)]
        {
            assert_eq!(FieldPath::parse(path).unwrap_err().code, code, "{path:?}");
        }
        let long = |count: usize| vec!["a"; count].join(".");
        assert_eq!(FieldPath::parse(&long(200)).unwrap().as_str(), long(200));
        assert_eq!(FieldPath::parse(&long(201)).unwrap_err().code, 5984700);
    }
}
