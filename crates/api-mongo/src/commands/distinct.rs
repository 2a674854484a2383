//! `distinct`.

use std::collections::BTreeSet;
use std::sync::Arc;

use armilla_mongo_filter::Filter;
use armilla_mongo_wire::bson;
use armilla_value::{Object, Value, mongo_cmp};

use super::aggregate;
use super::statements::check_hint;
use crate::catalog::Found;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::limits::DOCUMENT_BYTES_MAX;
use crate::reply::Reply;
use crate::search::Search;
use crate::supply::{Find, FindState, Room, Supply};
use crate::transactions::Held;

/// A value by MongoDB's order.
struct Ordered(Value);

impl PartialEq for Ordered {
    fn eq(&self, other: &Ordered) -> bool {
        mongo_cmp(&self.0, &other.0).is_eq()
    }
}

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        mongo_cmp(&self.0, &other.0)
    }
}

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["key", "query", "collation", "hint"])?;
    context.check_collation()?;
    let namespace = context.namespace()?;
    let key = arguments.required_string("key")?;
    if key.contains('\0') {
        return Err(Failure::bad_value("Key field cannot contain an embedded null byte"));
    }
    let (scope, environment) = context.environment_with(None)?;
    let none = Object::new();
    let query = arguments.object("query")?.unwrap_or(&none);
    let filter = Arc::new(Filter::parse(query, &scope)?);
    let environment = Arc::new(environment);
    let supply = match context.shared.catalog.find(&namespace).await? {
        Found::Nothing => Supply::List(Default::default()),
        Found::View(view) => {
            let stages = [Value::Object(Object::from([("$match", Value::Object(query.clone()))]))];
            aggregate::view_supply(context, &namespace, &view, &stages).await?
        }
        Found::Collection(collection) => {
            check_hint(&collection, arguments.value("hint"))?;
            let search = Search::new(&collection, filter, environment);
            if let Some(snapshot) = context.snapshot {
                let mut list = std::collections::VecDeque::new();
                for (document, _) in context.reader().find(&collection, &search, None, snapshot).await? {
                    let mut bytes = Vec::new();
                    bson::encode(&document, &mut bytes)?;
                    list.push_back(bytes);
                }
                return distinct(context, Supply::List(list), key).await;
            }
            let mut held = Held::of(context)?;
            if held.open.is_some() || search.points().is_some() {
                let mut data =
                    held.data(&context.caller, &context.charges, &collection, search.partition_key()).await?;
                let targets = search.targets(&mut data, &collection, usize::MAX).await?;
                let mut list = std::collections::VecDeque::new();
                for target in targets {
                    let mut bytes = Vec::new();
                    bson::encode(&target.document, &mut bytes)?;
                    list.push_back(bytes);
                }
                Supply::List(list)
            } else {
                Supply::Find(Box::new(Find {
                    shared: context.shared.clone(),
                    caller: context.caller.clone(),
                    collection,
                    search,
                    projection: None,
                    skip: 0,
                    limit: None,
                    state: FindState::Begin,
                }))
            }
        }
    };
    distinct(context, supply, key).await
}

/// Gathers the values of a field in documents.
async fn distinct(context: &Context<'_>, mut supply: Supply, key: &str) -> Result<Reply> {
    let path: Vec<&str> = key.split('.').collect();
    let mut values = BTreeSet::new();
    let mut bytes = 0;
    loop {
        let portion = supply
            .take(Room { documents: 1_000, ..Room::default() }, &context.charges, context.shared)
            .await?;
        for document in &portion.documents {
            let document = Value::Object(bson::decode(document)?);
            visit(&document, &path, &mut |value| {
                let value = Ordered(value.clone());
                if !values.contains(&value) {
                    bytes += bson::encoded_bytes(&Object::from([("v", value.0.clone())]));
                    values.insert(value);
                }
            });
        }
        context.check_time()?;
        if bytes > DOCUMENT_BYTES_MAX {
            return Err(Failure::new(17_217, "distinct too big, 16mb cap"));
        }
        if portion.is_last {
            break;
        }
    }
    let values = values.into_iter().map(|value| value.0);
    let mut reply = Object::from([("values", Value::Array(values.collect()))]);
    if let Some(snapshot) = context.snapshot {
        reply.insert("atClusterTime", snapshot.at);
    }
    Ok(reply.into())
}

/// Visits the values at a path, of arrays their elements.
fn visit(value: &Value, path: &[&str], found: &mut dyn FnMut(&Value)) {
    match (value, path) {
        (Value::Array(elements), []) => elements.iter().for_each(found),
        (value, []) => found(value),
        (Value::Object(members), [name, rest @ ..]) => {
            if let Some(member) = members.get(name) {
                visit(member, rest, found);
            }
        }
        (Value::Array(elements), [name, rest @ ..]) => {
            if let Some(element) = name.parse::<usize>().ok().and_then(|place| elements.get(place)) {
                visit(element, rest, found);
            }
            for element in elements {
                if matches!(element, Value::Object(_)) {
                    visit(element, path, found);
                }
            }
        }
        _ => {}
    }
}
