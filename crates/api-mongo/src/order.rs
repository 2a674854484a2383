//! Orders that an index has, so that documents are walked in them instead of being sorted.
//!
//! The engine's indexes and MongoDB agree on the order of missing values and null, numbers, strings, binary data, object
//! ids, dates, timestamps and the greatest key. They disagree on all else: booleans and the least key lie elsewhere,
//! arrays are sorted by their elements, objects and long texts have fingerprints in the index. So an index is walked
//! only while nothing of that is met:
//! * whatever could belong before what was given already is looked for beforehand ([`Walk::odd`]);
//! * each document that is given is looked at ([`Walk::is_odd`]): where the value of one could stand elsewhere, the rest
//!   is sorted in memory after all.
//!
//! Strings lie in the order of UTF-16 in the index and in that of UTF-8 here. The two differ only where one of two texts
//! has a character from U+E000 on, so a text without such characters has the same texts before it in both.
//!
//! Not here: walking (`supply`), and whether it is worth it, which the engine decides by what it estimates.

use armilla_engine::Item;
use armilla_engine::plans::{Comparison, Expr, Function, OrderKey};
use armilla_mongo_filter::{Filter, Sort};
use armilla_mongo_wire::document::LIFETIME_NAME;
use armilla_value::{Kind, Legacy, Node, Value};

use crate::catalog::Collection;
use crate::documents::stored_name;
use crate::indexes::{FieldKind, Index};
use crate::lowering::{self, PATH_COMPONENTS_MAX, equalities};

/// Bytes of a text or of binary data from which on an index has only their beginning (`TERM_CONTENT_BYTES_MAX` of
/// `index`; fewer would be right, too).
const WHOLE_BYTES_END: usize = 256;

/// The first byte of a character from U+E000 on.
const APART_BYTE: u8 = 0xEE;

/// A walk through an index in the order of a sort.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    /// The order in the engine's words.
    pub(crate) keys: Vec<OrderKey>,
    /// What holds of a document that could stand elsewhere in MongoDB's order.
    pub(crate) odd: Expr,
    /// The stored names along the path of each key.
    paths: Vec<Vec<String>>,
}

impl Walk {
    /// Finds the index of a collection that has an order, if there is one.
    pub(crate) fn find(collection: &Collection, filter: &Filter, sort: &Sort) -> Option<Walk> {
        let indexes = &collection.details.indexes;
        // What other front ends made has its own policy.
        if !collection.details.is_own || !sort.keys.iter().all(|(path, _)| is_walkable(path)) {
            return None;
        }
        let fields = match sort.keys.as_slice() {
            [(path, descending)] if is_single(indexes, path) => vec![(path.as_str(), *descending)],
            keys => indexes.iter().find_map(|index| composite(index, filter, keys))?,
        };
        let mut odd = Vec::new();
        for (path, _) in &fields {
            let names: Vec<&str> = path.split('.').collect();
            odd.extend(odd_values(&names));
        }
        // Null and missing are equal here, and not in the index: what follows them would come twice in order.
        if let Some((_, before)) = sort.keys.split_last() {
            odd.extend(before.iter().map(|(path, _)| {
                let names: Vec<&str> = path.split('.').collect();
                lowering::call(Function::IsNull, vec![lowering::path_of(&names)])
            }));
        }
        let keys = fields.iter().map(|(path, descending)| {
            let names: Vec<&str> = path.split('.').collect();
            OrderKey { expr: lowering::path_of(&names), descending: *descending }
        });
        let paths = sort.keys.iter().map(|(path, _)| stored_path(path));
        Some(Walk { keys: keys.collect(), odd: Expr::Or(odd), paths: paths.collect() })
    }

    /// Says whether a document could stand elsewhere in MongoDB's order, or others before it.
    pub(crate) fn is_odd(&self, item: &Item) -> bool {
        let stored = item.stored();
        let root = stored.root();
        self.paths.iter().any(|path| match root.get_path(path) {
            Some(node) => is_odd(node),
            None => path.first().is_some_and(|name| name == "_id"),
        })
    }
}

/// Says whether a path is one that indexes are made of.
fn is_walkable(path: &str) -> bool {
    let mut names = path.split('.');
    let is_lifetime = path.split('.').next() == Some(LIFETIME_NAME);
    path.split('.').count() <= PATH_COMPONENTS_MAX
        && !is_lifetime
        // A number may be a place in an array.
        && names.all(|name| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Says whether the values of a path have an index of their own.
fn is_single(indexes: &[Index], path: &str) -> bool {
    let has_all = indexes.iter().any(|index| index.wildcard() == Some(""));
    // Which documents lack a path, the index of all paths does not tell.
    if path == "_id" {
        return !has_all;
    }
    has_all
        || indexes.iter().any(|index| match index.wildcard() {
            Some(below) => path.strip_prefix(below).is_some_and(|rest| rest.starts_with('.')),
            None => index.fields.iter().any(|(own, kind)| own == path && *kind != FieldKind::Sphere),
        })
}

/// Returns the fields of an index that has the documents of a filter in an order, with their directions: after fields
/// that the filter fixes come those of the order, and then any others.
fn composite<'i>(index: &'i Index, filter: &Filter, keys: &[(String, bool)]) -> Option<Vec<(&'i str, bool)>> {
    let is_plain = index.fields.iter().all(|(path, kind)| *kind != FieldKind::Sphere && is_walkable(path));
    if index.fields.len() < 2 || index.wildcard().is_some() || !is_plain {
        return None;
    }
    let fixed = equalities(&filter.root);
    let is_fixed = |path: &str| {
        fixed.iter().any(|(name, value)| {
            *name == path && !matches!(value, Value::Null | Value::Array(_) | Value::Object(_))
        })
    };
    let fixed_count = index.fields.iter().take_while(|(path, _)| is_fixed(path)).count();
    (0..=fixed_count).find_map(|before| {
        let own = index.fields.get(before..before + keys.len())?;
        let is_descending = |kind: FieldKind| kind == FieldKind::Descending;
        let is_reversed = keys.first().zip(own.first()).map(|(key, own)| key.1 != is_descending(own.1))?;
        let is_same = own
            .iter()
            .zip(keys)
            .all(|(own, key)| own.0 == key.0 && (is_descending(own.1) != is_reversed) == key.1);
        let field =
            |(path, kind): &'i (String, FieldKind)| (path.as_str(), is_descending(*kind) != is_reversed);
        is_same.then(|| index.fields.iter().map(field).collect())
    })
}

/// Returns what holds where a path has a value that the index has elsewhere, or goes through an array.
fn odd_values(names: &[&str]) -> Vec<Expr> {
    let value = lowering::path_of(names);
    let of_type = |function| lowering::call(function, vec![value.clone()]);
    let legacy = |legacy| Value::Legacy(Box::new(legacy));
    let mut odd: Vec<Expr> = [Function::IsBool, Function::IsArray, Function::IsObject].map(of_type).into();
    odd.push(lowering::compare(Comparison::Equal, value.clone(), &Value::MinKey));
    odd.push(lowering::compare(Comparison::Equal, value.clone(), &legacy(Legacy::Undefined)));
    let symbols = legacy(Legacy::Symbol(String::new()));
    odd.push(lowering::compare(Comparison::GreaterOrEqual, value.clone(), &symbols));
    if names == ["_id"] {
        // An item of another API has its id for one.
        odd.push(Expr::Not(Box::new(lowering::call(Function::IsDefined, vec![value]))));
    }
    odd.extend(lowering::through_arrays(names));
    odd
}

fn stored_path(path: &str) -> Vec<String> {
    let names = path.split('.').enumerate();
    names
        .map(|(level, name)| if level == 0 { stored_name(name).into_owned() } else { name.to_owned() })
        .collect()
}

fn is_odd(node: Node<'_>) -> bool {
    match node.kind() {
        Kind::Null
        | Kind::Int32
        | Kind::Int64
        | Kind::Double
        | Kind::Decimal128
        | Kind::ObjectId
        | Kind::Date
        | Kind::Timestamp
        | Kind::MaxKey => false,
        Kind::String => node
            .as_str()
            .is_none_or(|text| text.len() >= WHOLE_BYTES_END || text.bytes().any(|byte| byte >= APART_BYTE)),
        Kind::Binary => match node.to_value() {
            Value::Binary { bytes, .. } => bytes.len() >= WHOLE_BYTES_END,
            _ => true,
        },
        _ => true,
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
