//! `$group` and `$count`: one document for each distinct key.
//!
//! Keys are equal as the canonical order says, numbers of all types alike; the key that came first is the one
//! shown. Groups come out in the order in which they were begun.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use armilla_mongo_expression::{Accumulator, Error, Expression, Gathered, Result, Scope};
use armilla_value::{Object, Value};

use crate::Documents;
use crate::arguments::{object_or, type_name};
use crate::canonical;
use crate::dependencies::{Fields, Needs};
use crate::front::CountAs;
use crate::memory::{Budget, check_depth, value_bytes};
use crate::run::{Context, deferred};
use crate::stages::bucket::Boundaries;

/// `$group` as it was read.
#[derive(Debug, Clone)]
pub struct Group {
    key: Key,
    fields: Vec<(String, Accumulator)>,
    /// Whether it only counts.
    pub(crate) count_as: Option<CountAs>,
}

/// What tells groups apart.
#[derive(Debug, Clone)]
enum Key {
    Expression(Expression),
    Boundaries(Boundaries),
}

impl Group {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, scope: &Scope) -> Result<(Group, Needs)> {
        let specification =
            object_or(argument, 15947, || "a group's fields must be specified in an object".to_owned())?;
        let Some(id) = specification.get("_id") else {
            return Err(Error::new(15955, "a group specification must include an _id"));
        };
        let key = Expression::parse(id, scope)?;
        let mut fields = Vec::new();
        for (name, value) in specification.iter().filter(|(name, _)| *name != "_id") {
            fields.push((name.to_owned(), accumulator(name, value, scope)?));
        }
        let count_as = match (key.as_constant(), specification.len()) {
            (Some(constant), 2) => specification
                .iter()
                .find(|(name, _)| *name != "_id")
                .and_then(|(name, value)| CountAs::group(constant, name, value)),
            _ => None,
        };
        let needs = Needs::closed(Fields::none().expressions(specification));
        Ok((Group { key: Key::Expression(key), fields, count_as }, needs))
    }

    /// Makes a group by ranges, as `$bucket` does.
    pub(crate) fn by_boundaries(boundaries: Boundaries, fields: Vec<(String, Accumulator)>) -> Group {
        Group { key: Key::Boundaries(boundaries), fields, count_as: None }
    }
}

/// Reads one accumulator of `$group`, `$bucket` or `$bucketAuto`.
pub(crate) fn accumulator(name: &str, value: &Value, scope: &Scope) -> Result<Accumulator> {
    let object = object_or(value, 40234, || format!("The field '{name}' must be an accumulator object"))?;
    if name.contains('.') {
        return Err(Error::new(40235, format!("The field name '{name}' cannot contain '.'")));
    }
    if name.starts_with('$') {
        return Err(Error::new(40236, format!("The field name '{name}' cannot be an operator name")));
    }
    if object.len() != 1 {
        return Err(Error::new(40238, format!("The field '{name}' must specify one accumulator")));
    }
    Accumulator::parse(name, value, scope)
}

/// Reads the accumulators of `output`, or counts.
pub(crate) fn output(
    output: Option<&Value>,
    code: i32,
    stage: &str,
    scope: &Scope,
) -> Result<Vec<(String, Accumulator)>> {
    let Some(output) = output else {
        let one = Value::Object(Object::from([("$sum", Value::Int32(1))]));
        return Ok(vec![("count".to_owned(), Accumulator::parse("count", &one, scope)?)]);
    };
    let object = object_or(output, code, || {
        format!("The {stage} 'output' field must be an object, but found type: {}.", type_name(output))
    })?;
    object.iter().map(|(name, value)| Ok((name.to_owned(), accumulator(name, value, scope)?))).collect()
}

/// What has been gathered of one group.
struct Gathering {
    key: Value,
    fields: Vec<Gathered>,
}

/// Runs it.
pub(crate) fn run(group: Arc<Group>, input: Documents, context: &Context) -> Documents {
    let environment = Arc::clone(&context.environment);
    deferred(move || {
        let mut budget = Budget::new("$group");
        let mut positions: HashMap<Box<[u8]>, usize> = HashMap::new();
        let mut groups: Vec<Gathering> = Vec::new();
        let mut bytes = Vec::new();
        for document in input {
            let document = document?;
            let key = match &group.key {
                Key::Expression(expression) => {
                    expression.evaluate_borrowed(&document, &environment)?.unwrap_or(Cow::Owned(Value::Null))
                }
                Key::Boundaries(boundaries) => Cow::Owned(boundaries.of(&document, &environment)?),
            };
            bytes.clear();
            canonical::encode(&key, &mut bytes);
            let position = match positions.get(bytes.as_slice()) {
                Some(position) => *position,
                None => {
                    let fields: Vec<Gathered> =
                        group.fields.iter().map(|(_, accumulator)| accumulator.begin()).collect();
                    let held: usize =
                        fields.iter().map(|gathered| size_of::<Gathered>() + gathered.bytes()).sum();
                    budget.take(2 * bytes.len() + value_bytes(&key) + size_of::<Gathering>() + held)?;
                    positions.insert(bytes.as_slice().into(), groups.len());
                    groups.push(Gathering { key: key.into_owned(), fields });
                    groups.len() - 1
                }
            };
            for ((_, accumulator), gathered) in group.fields.iter().zip(&mut groups[position].fields) {
                let before = gathered.bytes();
                accumulator.add(gathered, &document, &environment)?;
                let after = gathered.bytes();
                if after > before {
                    budget.take(after - before)?;
                } else {
                    budget.give_back(before - after);
                }
            }
        }
        drop(positions);
        Ok(Box::new(groups.into_iter().map(move |gathering| finish(&group, gathering))) as Documents)
    })
}

fn finish(group: &Group, gathering: Gathering) -> Result<Object> {
    let mut members = Vec::with_capacity(1 + group.fields.len());
    members.push(("_id".to_owned(), gathering.key));
    for ((name, accumulator), gathered) in group.fields.iter().zip(gathering.fields) {
        let value = accumulator.finish(gathered)?.unwrap_or(Value::Null);
        check_depth(&value)?;
        members.push((name.clone(), value));
    }
    Ok(Object::from(members))
}

/// Reads the field of `$count`.
pub(crate) fn parse_count(argument: &Value) -> Result<String> {
    let Value::String(name) = argument else {
        return Err(Error::new(40156, "the count field must be a non-empty string"));
    };
    let refuse = |code, why: &str| Err(Error::new(code, format!("the count field {why}")));
    match name.as_str() {
        "" => refuse(40157, "must be a non-empty string"),
        name if name.starts_with('$') => refuse(40158, "cannot be a $-prefixed path"),
        name if name.contains('\0') => refuse(40159, "cannot contain a null byte"),
        name if name.contains('.') => refuse(40160, "cannot contain '.'"),
        name => Ok(name.to_owned()),
    }
}

/// Runs `$count`: nothing for nothing.
pub(crate) fn count(field: String, input: Documents) -> Documents {
    deferred(move || {
        let mut count = 0u64;
        for document in input {
            document?;
            count += 1;
        }
        Ok(Box::new(CountAs::field(field).document(count).into_iter().map(Ok)) as Documents)
    })
}
