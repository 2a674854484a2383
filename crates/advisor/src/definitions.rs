//! Parts of container definitions as JSON: what is tried, and what is advised, are the same text.

use armilla_value::{Object, Value};

/// Returns a definition with nothing but a name and a partition key.
pub(crate) fn container(name: &str, key_paths: &[String]) -> Value {
    object([("id", Value::String(name.to_owned())), ("partitionKey", partition_key(key_paths))])
}

/// Returns a partition key of one path, or of several levels.
pub(crate) fn partition_key(paths: &[String]) -> Value {
    let kind = if paths.len() > 1 { "MultiHash" } else { "Hash" };
    object([
        ("paths", Value::Array(paths.iter().map(|path| Value::String(path.clone())).collect())),
        ("kind", Value::String(kind.to_owned())),
        ("version", Value::Int64(2)),
    ])
}

/// Returns a composite index; a path runs downwards where it is said.
pub(crate) fn composite(paths: &[(String, bool)]) -> Value {
    let one = |(path, is_down): &(String, bool)| {
        let order = if *is_down { "descending" } else { "ascending" };
        object([("path", Value::String(path.clone())), ("order", Value::String(order.to_owned()))])
    };
    Value::Array(paths.iter().map(one).collect())
}

/// Adds paths that an index leaves out.
pub(crate) fn exclude(policy: &mut Value, paths: &[String]) {
    take_away(policy, "includedPaths", paths);
    // What is left out is left out of everything, and that has to be said.
    if policy.get("includedPaths").is_none() {
        add(policy, "includedPaths", vec![path("/*")]);
    }
    add(policy, "excludedPaths", paths.iter().map(|one| path(one)).collect());
}

/// Adds paths that an index has.
pub(crate) fn include(policy: &mut Value, paths: &[String]) {
    take_away(policy, "excludedPaths", paths);
    add(policy, "includedPaths", paths.iter().map(|one| path(one)).collect());
}

/// Adds a composite index.
pub(crate) fn add_composite(policy: &mut Value, paths: &[(String, bool)]) {
    add(policy, "compositeIndexes", vec![composite(paths)]);
}

/// Adds to a list of a policy what is not in it yet.
fn add(policy: &mut Value, member: &str, more: Vec<Value>) {
    let Value::Object(policy) = policy else { return };
    match policy.get_mut(member) {
        Some(Value::Array(list)) => {
            for one in more {
                if !list.contains(&one) {
                    list.push(one);
                }
            }
        }
        _ => {
            policy.insert(member, Value::Array(more));
        }
    }
}

/// Takes paths out of a list of a policy: one path is in one list.
fn take_away(policy: &mut Value, member: &str, paths: &[String]) {
    let Value::Object(policy) = policy else { return };
    let Some(Value::Array(list)) = policy.get_mut(member) else { return };
    let is_meant = |one: &Value| {
        let path = one.get("path").and_then(Value::as_str);
        path.is_some_and(|path| paths.iter().any(|meant| meant == path))
    };
    list.retain(|one| !is_meant(one));
}

fn path(path: &str) -> Value {
    object([("path", Value::String(path.to_owned()))])
}

fn object<const COUNT: usize>(members: [(&str, Value); COUNT]) -> Value {
    Value::Object(Object::from(members))
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn what_is_there_is_not_added_twice() {
        let mut policy = json::parse(br#"{"excludedPaths":[{"path":"/a/?"}]}"#).unwrap();
        exclude(&mut policy, &["/a/?".to_owned(), "/b/?".to_owned()]);
        add_composite(&mut policy, &[("/c".to_owned(), false), ("/d".to_owned(), true)]);
        let expected = r#"{"excludedPaths":[{"path":"/a/?"},{"path":"/b/?"}],"includedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/c","order":"ascending"},{"path":"/d","order":"descending"}]]}"#;
        assert_eq!(json::to_string(&policy), expected);
    }

    #[test]
    fn a_path_is_left_out_or_not() {
        let mut policy =
            json::parse(br#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/?"}]}"#).unwrap();
        include(&mut policy, &["/a/?".to_owned()]);
        let expected = r#"{"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"excludedPaths":[]}"#;
        assert_eq!(json::to_string(&policy), expected);
        exclude(&mut policy, &["/a/?".to_owned()]);
        let expected = r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/?"}]}"#;
        assert_eq!(json::to_string(&policy), expected);
    }
}
