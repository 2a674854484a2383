//! Indexes as clients define them, and the indexing policy that follows from them.

use armilla_mongo_expression::{Scope, codes, type_name};
use armilla_mongo_filter::{Condition, Filter, Predicate};
use armilla_value::{Object, Value};

use crate::arguments::number;
use crate::failure::{Failure, Result};
use crate::limits::INDEX_FIELDS_MAX;

/// What one field of an index is indexed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Ascending,
    Descending,
    /// Served by the same index as an ascending one.
    Hashed,
    Sphere,
}

/// An index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Index {
    pub(crate) name: String,
    /// The key as it was given.
    pub(crate) key: Object,
    /// Its fields; a wildcard has one, whose path ends with `$**`.
    pub(crate) fields: Vec<(String, FieldKind)>,
    pub(crate) is_unique: bool,
    pub(crate) is_sparse: bool,
    pub(crate) is_hidden: bool,
    /// Seconds after a date in its field.
    pub(crate) expires_after: Option<i64>,
    /// Which documents it is about.
    pub(crate) partial: Option<Object>,
    /// All options as they were given, but key and name.
    pub(crate) options: Object,
}

/// Options that are kept and shown.
const OPTIONS: [&str; 21] = [
    "dropDups",
    "unique",
    "sparse",
    "background",
    "expireAfterSeconds",
    "partialFilterExpression",
    "hidden",
    "collation",
    "weights",
    "default_language",
    "language_override",
    "textIndexVersion",
    "2dsphereIndexVersion",
    "bits",
    "min",
    "max",
    "wildcardProjection",
    "storageEngine",
    "v",
    "ns",
    "clustered",
];

/// Options of kinds of indexes that there are not.
const OF_OTHER_KINDS: [(&str, &str); 8] = [
    ("weights", "text"),
    ("default_language", "text"),
    ("language_override", "text"),
    ("textIndexVersion", "text"),
    ("bits", "2d"),
    ("min", "2d"),
    ("max", "2d"),
    ("clustered", "clustered"),
];

impl Index {
    /// Reads an index.
    pub(crate) fn parse(specification: &Object) -> Result<Index> {
        let Some(key) = specification.get("key") else {
            return Err(Failure::parse("The 'key' field is a required property of an index specification"));
        };
        let Some(key) = key.as_object() else {
            return Err(Failure::new(
                codes::TYPE_MISMATCH,
                format!("The field 'key' must be an object, but got {}", type_name(key)),
            ));
        };
        let name = match specification.get("name") {
            Some(Value::String(name)) if name.is_empty() => {
                return Err(cannot("The index name cannot be empty"));
            }
            Some(Value::String(name)) if name == "*" => {
                return Err(Failure::bad_value("The index name '*' is not valid."));
            }
            Some(Value::String(name)) => name.clone(),
            Some(other) => {
                return Err(Failure::new(
                    codes::TYPE_MISMATCH,
                    format!("The field 'name' must be a string, but got {}", type_name(other)),
                ));
            }
            None => {
                return Err(Failure::parse(
                    "The 'name' field is a required property of an index specification",
                ));
            }
        };
        let fields = read_key(key)?;
        let mut options = Object::new();
        for (option, value) in specification.iter().filter(|(option, _)| !matches!(*option, "key" | "name")) {
            if !OPTIONS.contains(&option) {
                return Err(Failure::new(
                    codes::INVALID_INDEX_SPECIFICATION_OPTION,
                    format!(
                        "The field '{option}' is not valid for an index specification. Specification: {name}"
                    ),
                ));
            }
            if !matches!(option, "v" | "ns" | "dropDups") {
                options.insert(option, value.clone());
            }
        }
        if let Some(collation) = options.get("collation") {
            crate::collation::check(collation)?;
            options.remove("collation");
        }
        if let Some((_, kind)) = OF_OTHER_KINDS.iter().find(|(name, _)| options.contains(name)) {
            return Err(cannot(&format!(
                "the options {} are those of {kind} indexes, which are not supported",
                OF_OTHER_KINDS
                    .iter()
                    .filter(|(_, other)| other == kind)
                    .map(|(name, _)| format!("'{name}'"))
                    .collect::<Vec<_>>()
                    .join(", "),
            )));
        }
        if specification.get("v").is_some_and(|version| !matches!(number(version), Some(1 | 2))) {
            return Err(cannot("Invalid index specification: the version 'v' is 1 or 2"));
        }
        if options.contains("wildcardProjection") && !fields.iter().any(|(path, _)| path.ends_with("$**")) {
            return Err(Failure::bad_value(
                "The field 'wildcardProjection' is only allowed when 'key' is a wildcard",
            ));
        }
        let truth = |name: &str| -> Result<bool> {
            match options.get(name) {
                None | Some(Value::Null) => Ok(false),
                Some(Value::Bool(truth)) => Ok(*truth),
                Some(value) => number(value).map(|number| number != 0).ok_or_else(|| {
                    Failure::new(codes::TYPE_MISMATCH, format!("The field '{name}' must be a boolean"))
                }),
            }
        };
        let expires_after = match options.get("expireAfterSeconds") {
            None => None,
            Some(value) => Some(expiry(value, &fields)?),
        };
        let partial = match options.get("partialFilterExpression") {
            None => None,
            Some(Value::Object(filter)) => {
                let read =
                    Filter::parse(filter, &Scope::default()).map_err(|error| cannot(&error.message))?;
                check_partial(&read.root)?;
                Some(filter.clone())
            }
            Some(other) => {
                return Err(Failure::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "The field 'partialFilterExpression' must be an object, but got {}",
                        type_name(other)
                    ),
                ));
            }
        };
        let index = Index {
            name,
            key: key.clone(),
            fields,
            is_unique: truth("unique")?,
            is_sparse: truth("sparse")?,
            is_hidden: truth("hidden")?,
            expires_after,
            partial,
            options,
        };
        if index.is_sparse && index.partial.is_some() {
            return Err(cannot("cannot mix \"partialFilterExpression\" and \"sparse\" options"));
        }
        if index.is_unique && index.partial.is_some() {
            return Err(cannot(
                "unique indexes with a partialFilterExpression are not supported: make the index sparse, which leaves out \
                 documents that have none of its fields",
            ));
        }
        Ok(index)
    }

    /// Returns the index as it is listed.
    pub(crate) fn to_object(&self) -> Object {
        let mut object = Object::from([
            ("v", Value::Int32(2)),
            ("key", Value::Object(self.key.clone())),
            ("name", Value::from(self.name.as_str())),
        ]);
        for (name, value) in self.options.iter() {
            object.insert(name, value.clone());
        }
        object
    }

    /// Says whether another index has the same fields in the same order and directions.
    pub(crate) fn has_key_of(&self, other: &Index) -> bool {
        self.fields == other.fields
    }

    /// Says whether everything but the name is the same.
    pub(crate) fn is_like(&self, other: &Index) -> bool {
        let shown = |index: &Index| {
            let mut options: Vec<(String, Value)> = index
                .options
                .iter()
                // Said or left out, it is the same.
                .filter(|(name, value)| {
                    !matches!(
                        (*name, *value),
                        ("background", _) | ("unique" | "sparse" | "hidden", Value::Bool(false))
                    )
                })
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            options.sort_by(|a, b| a.0.cmp(&b.0));
            options
        };
        self.has_key_of(other) && shown(self) == shown(other)
    }

    /// Says whether it indexes everything below a path.
    pub(crate) fn wildcard(&self) -> Option<&str> {
        match self.fields.as_slice() {
            [(path, _)] if path == "$**" => Some(""),
            [(path, _)] => path.strip_suffix(".$**"),
            _ => None,
        }
    }
}

/// Refuses what the filter of a partial index cannot say.
fn check_partial(condition: &Condition) -> Result<()> {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().try_for_each(check_partial),
        Condition::Path {
            predicate:
                Predicate::Eq(_)
                | Predicate::Lt(_)
                | Predicate::Lte(_)
                | Predicate::Gt(_)
                | Predicate::Gte(_)
                | Predicate::In { .. }
                | Predicate::Exists(true)
                | Predicate::Type(_)
                | Predicate::GeoWithin(_)
                | Predicate::GeoIntersects(_),
            ..
        } => Ok(()),
        _ => Err(cannot("Expression not supported in partial index")),
    }
}

/// Refuses a document with arrays at two fields of one index: it would have an entry for each pair.
pub(crate) fn check_arrays(indexes: &[Index], document: &Object) -> Result<()> {
    for index in indexes.iter().filter(|index| index.fields.len() > 1) {
        let arrays: Vec<&str> = index
            .fields
            .iter()
            .map(|(path, _)| path.as_str())
            .filter(|path| has_array(document, path))
            .collect();
        // Fields of the elements of one array go together.
        let roots: std::collections::BTreeSet<&str> =
            arrays.iter().filter_map(|path| array_root(document, path)).collect();
        if roots.len() > 1 {
            let shown: Vec<&str> =
                arrays.iter().map(|path| path.rsplit('.').next().unwrap_or(path)).collect();
            return Err(Failure::new(
                codes::CANNOT_INDEX_PARALLEL_ARRAYS,
                format!("cannot index parallel arrays [{}]", shown.join("] [")),
            ));
        }
    }
    Ok(())
}

fn has_array(document: &Object, path: &str) -> bool {
    array_root(document, path).is_some()
}

/// Returns the part of a path at which the first array lies.
fn array_root<'p>(document: &Object, path: &'p str) -> Option<&'p str> {
    let mut value: Option<&Value> = None;
    let mut end = 0;
    for name in path.split('.') {
        end += name.len() + usize::from(end > 0);
        value = match value {
            None => document.get(name),
            Some(Value::Object(members)) => members.get(name),
            Some(_) => None,
        };
        if let Some(Value::Array(_)) = value {
            return path.get(..end);
        }
        value?;
    }
    None
}

fn read_key(key: &Object) -> Result<Vec<(String, FieldKind)>> {
    if key.is_empty() {
        return Err(cannot("Index keys cannot be an empty object"));
    }
    if key.len() > INDEX_FIELDS_MAX {
        return Err(Failure::new(13_103, format!("too many compound keys: at most {INDEX_FIELDS_MAX}")));
    }
    let mut fields = Vec::with_capacity(key.len());
    for (path, kind) in key.iter() {
        if path.is_empty() || path.split('.').any(str::is_empty) {
            return Err(cannot("Index keys cannot contain an empty field"));
        }
        let kind = match kind {
            Value::String(kind) => match kind.as_str() {
                "hashed" => FieldKind::Hashed,
                "2dsphere" => FieldKind::Sphere,
                "text" => {
                    return Err(cannot(
                        "text indexes are not supported; full-text indexes of the SQL API are",
                    ));
                }
                "2d" => return Err(cannot("2d indexes are not supported; use 2dsphere")),
                other => return Err(cannot(&format!("Unknown index plugin '{other}'"))),
            },
            value => match value.as_f64().or_else(|| number(value).map(|number| number as f64)) {
                Some(0.0) => return Err(cannot("Values in the index key pattern cannot be 0.")),
                Some(number) if number > 0.0 => FieldKind::Ascending,
                Some(number) if number < 0.0 => FieldKind::Descending,
                _ => {
                    return Err(cannot(&format!(
                        "Values in v:2 index key pattern cannot be of type {}. Only numbers > 0, numbers < 0, and strings \
                         are allowed.",
                        type_name(value)
                    )));
                }
            },
        };
        let is_wildcard = path == "$**" || path.ends_with(".$**");
        if path.split('.').any(|part| part.starts_with('$')) && !is_wildcard {
            return Err(cannot("Index key contains an illegal field name: field name starts with '$'."));
        }
        if is_wildcard && key.len() > 1 {
            return Err(cannot("wildcard indexes have no other fields here"));
        }
        fields.push((path.to_owned(), kind));
    }
    Ok(fields)
}

fn expiry(value: &Value, fields: &[(String, FieldKind)]) -> Result<i64> {
    let Some(seconds) = number(value) else {
        return Err(cannot(&format!(
            "TTL index 'expireAfterSeconds' option must be numeric, but received a type of '{}'",
            type_name(value)
        )));
    };
    if !(0..=i64::from(i32::MAX)).contains(&seconds) {
        return Err(cannot(&format!(
            "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a different number than {seconds}"
        )));
    }
    match fields {
        [(path, _)] if path == "_id" => {
            Err(cannot("The field 'expireAfterSeconds' is not valid for an _id index specification"))
        }
        [_] => Ok(seconds),
        _ => Err(cannot("TTL indexes are single-field indexes, compound indexes do not support TTL")),
    }
}

fn cannot(message: &str) -> Failure {
    Failure::new(codes::CANNOT_CREATE_INDEX, message)
}

/// Array components that a path may have anywhere: each doubles the paths of the policy.
const ARRAY_LEVELS_MAX: usize = 4;

/// Returns the indexing policy of a collection: `_id`, the shard key, and what its indexes ask for.
pub(crate) fn policy(shard_key: &[Vec<String>], indexes: &[Index]) -> Value {
    let mut included: Vec<String> = vec!["/_id/?".to_owned()];
    let mut add = |path: String| {
        if !included.contains(&path) {
            included.push(path);
        }
    };
    let mut includes_all = false;
    for path in shard_key {
        add(format!("{}/?", path.iter().map(|name| step(name)).collect::<String>()));
    }
    let mut composites: Vec<Value> = Vec::new();
    let mut spatial: Vec<Value> = Vec::new();
    for index in indexes {
        if let Some(below) = index.wildcard() {
            match below {
                "" => includes_all = true,
                below => add(format!("{}/*", steps(below))),
            }
            continue;
        }
        for (path, kind) in &index.fields {
            match kind {
                FieldKind::Sphere => spatial.push(Value::Object(Object::from([
                    ("path", Value::from(format!("{}/?", steps(path)))),
                    ("types", Value::from(vec!["Point", "LineString", "Polygon", "MultiPolygon"])),
                ]))),
                _ => with_arrays(path).into_iter().for_each(&mut add),
            }
        }
        let is_plain = index.fields.iter().all(|(_, kind)| *kind != FieldKind::Sphere);
        if index.fields.len() > 1 && is_plain {
            let fields = index.fields.iter().map(|(path, kind)| {
                let order = if *kind == FieldKind::Descending { "descending" } else { "ascending" };
                Value::Object(Object::from([
                    ("path", Value::from(steps(path))),
                    ("order", Value::from(order)),
                ]))
            });
            composites.push(Value::Array(fields.collect()));
        }
    }
    let path_object = |path: &String| Value::Object(Object::from([("path", path.as_str())]));
    let (included, excluded) = if includes_all {
        (vec!["/*".to_owned()], vec!["/\"_etag\"/?".to_owned()])
    } else {
        (included, vec!["/*".to_owned(), "/\"_etag\"/?".to_owned()])
    };
    let mut policy = Object::from([
        ("indexingMode", Value::from("consistent")),
        ("automatic", Value::Bool(true)),
        ("includedPaths", Value::Array(included.iter().map(path_object).collect())),
        ("excludedPaths", Value::Array(excluded.iter().map(path_object).collect())),
    ]);
    if !composites.is_empty() {
        policy.insert("compositeIndexes", Value::Array(composites));
    }
    if !spatial.is_empty() {
        policy.insert("spatialIndexes", Value::Array(spatial));
    }
    Value::Object(policy)
}

/// Returns one step of a path in a policy.
fn step(name: &str) -> String {
    let name = crate::documents::stored_name(name);
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    if is_plain {
        format!("/{name}")
    } else {
        format!("/\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

fn steps(path: &str) -> String {
    let mut first = true;
    path.split('.')
        .map(|name| {
            // Only at the top do names collide with those of the server.
            if std::mem::take(&mut first) { step(name) } else { plain_step(name) }
        })
        .collect()
}

fn plain_step(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !name.is_empty();
    if is_plain {
        format!("/{name}")
    } else {
        format!("/\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Returns a path, and the same with an array in each of its places.
fn with_arrays(path: &str) -> Vec<String> {
    let names: Vec<&str> = path.split('.').collect();
    let places = names.len().min(ARRAY_LEVELS_MAX);
    (0..1_usize << places)
        .map(|mask| {
            let mut text = String::new();
            for (position, name) in names.iter().enumerate() {
                text.push_str(&if position == 0 { step(name) } else { plain_step(name) });
                if position < places && mask >> position & 1 == 1 {
                    text.push_str("/[]");
                }
            }
            text.push_str("/?");
            text
        })
        .collect()
}
