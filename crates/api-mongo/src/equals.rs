//! Documents that have one value at a member, found by the index alone.
//!
//! A find by one equality is asked again and again, and mostly comes to few documents: to plan its query costs as much as
//! to read them. Where the value has many, the query is asked.

use std::time::Duration;

use armilla_engine::{Item, ItemLookup, LookupWork, PathSegment};
use armilla_mongo_filter::{Condition, Predicate};
use armilla_value::{Value, mongo_cmp};

use crate::data::Data;
use crate::documents::stored_name;
use crate::failure::Result;
use crate::limits::LOOKUP_ENTRIES_MAX;
use crate::search::Search;

/// There is one value, and the clock is asked between values only.
const TIME_MAX: Duration = Duration::MAX;

/// Finds all documents of a search, where it asks for one value of a member and the index knows few that have it, and not
/// more than `most`.
pub(crate) async fn few(
    data: &mut Data<'_>,
    search: &Search,
    most: Option<u64>,
) -> Result<Option<Vec<Item>>> {
    if !search.lowered.is_exact || data.transaction.is_some() {
        return Ok(None);
    }
    let Some((name, value)) = equality(&search.filter.root) else { return Ok(None) };
    let name = stored_name(name).into_owned();
    let member = vec![PathSegment::Property(name.clone())];
    let elements = vec![PathSegment::Property(name.clone()), PathSegment::Elements];
    let entries_max = most.map_or(LOOKUP_ENTRIES_MAX, |most| {
        usize::try_from(most).unwrap_or(usize::MAX).min(LOOKUP_ENTRIES_MAX)
    });
    let lookup = ItemLookup {
        paths: &[member, elements],
        values: std::slice::from_ref(value),
        scope: &search.scope(),
        items_max: usize::MAX,
        time_max: TIME_MAX,
        entries_max,
        is_kept: false,
        before: LookupWork::default(),
    };
    data.look_up(&lookup, &|item| has(item, &name, value)).await
}

/// Returns the member and the value, where a filter is one equality.
fn equality(condition: &Condition) -> Option<(&str, &Value)> {
    match condition {
        Condition::And(parts) => match parts.as_slice() {
            [part] => equality(part),
            _ => None,
        },
        Condition::Path { path, predicate: Predicate::Eq(value) } => match path.components() {
            [component] => Some((&component.name, value)),
            _ => None,
        },
        _ => None,
    }
}

/// Says whether an item has a value at a member, or in an array that stands there. The index does not tell long strings
/// apart.
fn has(item: &Item, name: &str, value: &Value) -> bool {
    match item.stored().root().get(name).map(|member| member.to_value()) {
        Some(Value::Array(elements)) => elements.iter().any(|element| mongo_cmp(element, value).is_eq()),
        Some(member) => mongo_cmp(&member, value).is_eq(),
        None => false,
    }
}
