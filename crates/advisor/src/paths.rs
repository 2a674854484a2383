//! Values at paths as they are written in indexing policies: `/author/name`.

use armilla_value::{Object, Value};

/// Returns the value at a path, where every step is a member of an object.
pub(crate) fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let mut value = value;
    for step in steps(path) {
        let Value::Object(object) = value else { return None };
        value = object.get(step)?;
    }
    Some(value)
}

/// Puts a value at a path; objects on the way that are not there are made.
pub(crate) fn put(value: &mut Value, path: &str, new: Value) {
    let Value::Object(object) = value else { return };
    let mut steps = steps(path).peekable();
    let mut object = object;
    while let Some(step) = steps.next() {
        if steps.peek().is_none() {
            object.insert(step, new);
            return;
        }
        if !matches!(object.get(step), Some(Value::Object(_))) {
            object.insert(step, Value::Object(Object::default()));
        }
        let Some(Value::Object(next)) = object.get_mut(step) else { return };
        object = next;
    }
}

/// Returns the last step of a path.
pub(crate) fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|step| !step.is_empty())
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn values_are_found_and_put_by_path() {
        let mut value = json::parse(br#"{"a":{"b":1}}"#).unwrap();
        assert_eq!(at(&value, "/a/b"), Some(&Value::Int64(1)));
        assert_eq!(at(&value, "/a/c"), None);
        assert_eq!(at(&value, "/a/b/c"), None);
        put(&mut value, "/x/y", Value::Bool(true));
        assert_eq!(json::to_string(&value), r#"{"a":{"b":1},"x":{"y":true}}"#);
    }
}
