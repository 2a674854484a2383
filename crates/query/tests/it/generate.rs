//! Random items, policies and queries. Small domains on purpose: values must collide, properties must be missing, types
//! must mix.

use armilla_value::{Legacy, Object, Value, json};

/// A small generator: the same seed gives the same case everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        // Seeds that differ in one bit must not begin alike.
        let mut random = Random(seed ^ 0x9E37_79B9_7F4A_7C15);
        for _ in 0..4 {
            random.next();
        }
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

const NAMES: [&str; 5] = ["a", "b", "c d", "n", "tags"];

/// Returns a random scalar, mostly one of few.
fn scalar(random: &mut Random) -> Value {
    match random.below(18) {
        16 => extended(random),
        0 => Value::Null,
        1 => Value::Bool(false),
        2 => Value::Bool(true),
        3..=6 => Value::Int64(random.below(4) as i64),
        7 => Value::Int64(*random.pick(&[-1, i64::MAX, i64::MIN, 9_007_199_254_740_993])),
        8 => Value::Double(*random.pick(&[0.5, -0.0, 1.0, 1e300, -2.5])),
        9..=13 => {
            Value::String((*random.pick(&["", "x", "xy", "y", "X", "é", "\u{1F600}", "\u{FFFD}"])).to_owned())
        }
        14 => Value::String(format!("{}{}", "long ".repeat(60), random.below(3))),
        _ => Value::String(format!("{}{}", "lang ".repeat(51), random.below(3))),
    }
}

/// Returns one of the scalars that BSON adds, which have an order among themselves.
fn extended(random: &mut Random) -> Value {
    match random.below(6) {
        0 => Value::Date(random.below(3) as i64),
        1 => Value::ObjectId([random.below(3) as u8; 12]),
        2 => Value::Binary { subtype: 0, bytes: vec![random.below(2) as u8; *random.pick(&[1, 2, 300])] },
        3 => Value::Timestamp { seconds: random.below(2) as u32, increment: random.below(2) as u32 },
        4 => Legacy::Symbol("s".repeat(*random.pick(&[1, 2, 300]))).into(),
        _ => random.pick(&[Value::MinKey, Value::MaxKey, Legacy::Undefined.into()]).clone(),
    }
}

fn value(random: &mut Random, depth: usize) -> Value {
    if depth == 0 || !random.one_in(4) {
        return scalar(random);
    }
    if random.one_in(2) {
        let count = random.below(4);
        Value::Array((0..count).map(|_| value(random, depth - 1)).collect())
    } else {
        Value::Object(object(random, depth - 1))
    }
}

fn object(random: &mut Random, depth: usize) -> Object {
    let mut object = Object::with_capacity(4);
    for name in NAMES {
        if random.one_in(2) {
            let member = if name == "tags" && !random.one_in(4) {
                let count = random.below(4);
                Value::Array((0..count).map(|_| value(random, depth.min(1))).collect())
            } else {
                value(random, depth)
            };
            object.insert(name, member);
        }
    }
    object
}

/// Returns random items.
pub(crate) fn items(random: &mut Random) -> Vec<Value> {
    let count = *random.pick(&[0, 1, 5, 15, 30, 60]);
    (0..count)
        .map(|number| {
            let mut item = Object::with_capacity(8);
            item.insert("id", format!("i{number}"));
            item.insert("pk", Value::Int64(random.below(5) as i64));
            for (name, value) in object(random, 2).iter() {
                item.insert(name, value.clone());
            }
            Value::Object(item)
        })
        .collect()
}

/// Policies of every kind, with the composite orders that they allow.
const POLICIES: [(&str, &[&str]); 8] = [
    (r#"{"indexingMode":"consistent"}"#, &[]),
    (r#"{"indexingMode":"none","automatic":false}"#, &[]),
    (
        r#"{"includedPaths":[{"path":"/a/?"},{"path":"/n/*"},{"path":"/tags/[]/?"}],"excludedPaths":[{"path":"/*"}]}"#,
        &[],
    ),
    (r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/*"},{"path":"/n/b/?"}]}"#, &[]),
    (
        r#"{"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}],[{"path":"/n/a"},{"path":"/a"}]]}"#,
        &["c.a ASC, c.b DESC", "c.a DESC, c.b ASC", "c.n.a, c.a", "c.n.a DESC, c.a DESC"],
    ),
    (r#"{"includedPaths":[{"path":"/*"},{"path":"/tags/[]/{a, b}/?"}],"excludedPaths":[]}"#, &[]),
    (
        r#"{"includedPaths":[{"path":"/a/?"},{"path":"/b/?"}],"excludedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b"},{"path":"/n/a"}],[{"path":"/b"},{"path":"/a"}]]}"#,
        &["c.a, c.b, c.n.a", "c.a DESC, c.b DESC, c.n.a DESC", "c.b, c.a"],
    ),
    (r#"{"includedPaths":[{"path":"/n/a/?"},{"path":"/*"}],"excludedPaths":[{"path":"/n/*"}]}"#, &[]),
];

/// Returns a random policy as JSON, and the orders over several properties that it serves.
pub(crate) fn policy(random: &mut Random) -> (Value, &'static [&'static str]) {
    let (text, orders) = random.pick(&POLICIES);
    (json::parse(text.as_bytes()).expect("a policy is JSON"), orders)
}

/// Paths below the item, as queries write them.
const PATHS: [&str; 12] = [
    "c.a",
    "c.b",
    "c['c d']",
    "c.n",
    "c.n.a",
    "c.n.b",
    "c.tags",
    "c.tags[0]",
    "c.pk",
    "c.id",
    "c._ts",
    "c.missing.x",
];

fn literal(random: &mut Random) -> String {
    match random.below(12) {
        0 => "undefined".to_owned(),
        1 => "[1]".to_owned(),
        2 => "{'a': 1}".to_owned(),
        3 => "'i3'".to_owned(),
        _ => json::to_string(&scalar(random)),
    }
}

/// Returns a literal to compare what lies at a path with: mostly a value that some item has there.
fn literal_at(random: &mut Random, path: &str, items: &[Value]) -> String {
    if items.is_empty() || random.one_in(4) {
        return literal(random);
    }
    let mut value = Some(random.pick(items));
    for name in path.trim_start_matches('c').split(['.', '[', ']', '\'']).filter(|name| !name.is_empty()) {
        value = value.and_then(|value| match name.parse::<usize>() {
            Ok(index) => value.as_array().and_then(|elements| elements.get(index)),
            Err(_) => value.get(name),
        });
    }
    match value {
        Some(value) => json::to_string(value),
        None => literal(random),
    }
}

/// Returns a random condition.
fn condition(random: &mut Random, items: &[Value], depth: usize) -> String {
    if depth > 0 && random.one_in(2) {
        return match random.below(5) {
            0 | 1 => format!(
                "({} AND {})",
                condition(random, items, depth - 1),
                condition(random, items, depth - 1)
            ),
            2 | 3 => format!(
                "({} OR {})",
                condition(random, items, depth - 1),
                condition(random, items, depth - 1)
            ),
            _ => format!("NOT ({})", condition(random, items, depth - 1)),
        };
    }
    let path = *random.pick(&PATHS);
    let literal_text = literal_at(random, path, items);
    let other_text = literal_at(random, path, items);
    match random.below(24) {
        0..=3 => format!("{path} = {literal_text}"),
        4..=7 => format!("{path} {} {literal_text}", random.pick(&["<", "<=", ">", ">="])),
        8 => format!("{literal_text} {} {path}", random.pick(&["=", "<", ">=", "!="])),
        9 => format!("{path} != {literal_text}"),
        10 => format!("{path} IN ({literal_text}, {other_text}, {})", literal(random)),
        11 => format!("{path} NOT IN ({literal_text}, {other_text})"),
        12 => format!("{path} BETWEEN {literal_text} AND {other_text}"),
        13 => {
            let function = *random.pick(&[
                "IS_DEFINED",
                "IS_NULL",
                "IS_BOOL",
                "IS_NUMBER",
                "IS_STRING",
                "IS_ARRAY",
                "IS_OBJECT",
                "IS_PRIMITIVE",
                "IS_INTEGER",
            ]);
            format!("{function}({path})")
        }
        14 => format!(
            "STARTSWITH({path}, {}{})",
            random.pick(&["'x'", "''", "'long'", "'X'"]),
            random.pick(&["", ", true"])
        ),
        15 => format!(
            "{}({path}, {})",
            random.pick(&["CONTAINS", "ENDSWITH", "STRINGEQUALS"]),
            random.pick(&["'x'", "'y'", "''"])
        ),
        16 => format!("{path} LIKE {}", random.pick(&["'x%'", "'%y'", "'x'", "'%'", "'_'", "'long%0'"])),
        17 => {
            let element = literal_at(random, "c.tags[0]", items);
            let array = *random.pick(&["c.tags", "c.tags", path]);
            format!("ARRAY_CONTAINS({array}, {element}{})", random.pick(&["", ", true"]))
        }
        18 => format!(
            "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = {})",
            literal_at(random, "c.tags[0]", items)
        ),
        19 => format!(
            "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.a = {literal_text} AND t.b = {})",
            literal(random)
        ),
        20 => format!("{}({path}) = {}", random.pick(&["ABS", "FLOOR", "ROUND", "SIGN"]), random.below(3)),
        21 => format!("{path} = {}", random.pick(&PATHS)),
        22 => format!(
            "({path} > {literal_text} OR IS_STRING({path}) OR IS_ARRAY({path}) OR IS_OBJECT({path}) OR NOT IS_DEFINED({path}))"
        ),
        _ => random.pick(&["true", "false", "undefined", "LOWER(c.a) = 'x'"]).to_string(),
    }
}

/// What the answers to a query are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    /// As they come.
    InOrder,
    /// In any order.
    AsSet,
    /// Their number alone: which rows a limit without an order lets through is not promised.
    ByCount,
}

/// Returns aggregates of what the filter speaks of, or of another value that a composite index may have beside it.
fn aggregates(random: &mut Random, items: &[Value], path: &str) -> (String, Compare) {
    let path = if random.one_in(2) { path } else { random.pick(&["c.a", "c.b", "c.n.a"]) };
    let other = if random.one_in(2) { path } else { random.pick(&["c.a", "c.b", "c.n.a"]) };
    let (first, second) = (literal_at(random, path, items), literal_at(random, path, items));
    let filter = match random.below(6) {
        0 => format!("{path} = {first}"),
        1 => format!("{path} IN ({first}, {second})"),
        2 => format!("{path} >= {first} AND {path} < {second}"),
        3 => format!("{path} {} {first}", random.pick(&["<", "<=", ">", ">=", "!="])),
        4 => format!("IS_DEFINED({path})"),
        _ => format!("({path} > {first} OR IS_STRING({path}) OR NOT IS_DEFINED({path}))"),
    };
    let values = format!(
        "COUNT(1) AS n, COUNT({other}) AS d, SUM({other}) AS s, AVG({other} + 1) AS v, MIN({other}) AS l, \
         MAX({path}) AS h"
    );
    match random.one_in(3) {
        true => {
            (format!("SELECT {path} AS k, {values} FROM c WHERE {filter} GROUP BY {path}"), Compare::AsSet)
        }
        false => (format!("SELECT {values} FROM c WHERE {filter}"), Compare::AsSet),
    }
}

/// Returns a random query.
pub(crate) fn query(random: &mut Random, items: &[Value], composite_orders: &[&str]) -> (String, Compare) {
    let filter = match random.one_in(3) {
        true => String::new(),
        false => {
            let depth = *random.pick(&[0, 0, 0, 1, 1, 2]);
            format!(" WHERE {}", condition(random, items, depth))
        }
    };
    let path = *random.pick(&PATHS);
    match random.below(14) {
        0 | 1 => (format!("SELECT * FROM c{filter}"), Compare::AsSet),
        2 => (format!("SELECT c.id, {path} AS p FROM c JOIN t IN c.tags{filter}"), Compare::AsSet),
        3 => {
            let join_filter = match random.one_in(2) {
                true => format!(" AND t = {}", literal_at(random, "c.tags[0]", items)),
                false => format!(" AND t.a {} {}", random.pick(&["=", ">", "!="]), literal(random)),
            };
            let filter = if filter.is_empty() { " WHERE true".to_owned() } else { filter };
            (format!("SELECT c.id, t FROM c JOIN t IN c.tags{filter}{join_filter}"), Compare::AsSet)
        }
        4 => (format!("SELECT DISTINCT VALUE {path} FROM c{filter}"), Compare::AsSet),
        5 => {
            let aggregate = *random.pick(&["COUNT(1)", "COUNT", "MIN", "MAX", "SUM", "AVG"]);
            let call =
                if aggregate.ends_with(')') { aggregate.to_owned() } else { format!("{aggregate}({path})") };
            (format!("SELECT VALUE {call} FROM c{filter}"), Compare::AsSet)
        }
        6 => (
            format!("SELECT {path} AS k, COUNT(1) AS n, MIN(c.id) AS first FROM c{filter} GROUP BY {path}"),
            Compare::AsSet,
        ),
        12 | 13 => aggregates(random, items, path),
        7 => (format!("SELECT TOP {} c.id FROM c{filter}", random.below(6)), Compare::ByCount),
        8 if !composite_orders.is_empty() => {
            let order = *random.pick(composite_orders);
            (format!("SELECT VALUE c.id FROM c{filter} ORDER BY {order}"), Compare::InOrder)
        }
        9 => {
            let (offset, limit) = (random.below(4), random.below(8));
            let direction = *random.pick(&["", " ASC", " DESC"]);
            (
                format!(
                    "SELECT VALUE c.id FROM c{filter} ORDER BY {path}{direction} OFFSET {offset} LIMIT {limit}"
                ),
                Compare::InOrder,
            )
        }
        _ => {
            let direction = *random.pick(&["", " ASC", " DESC"]);
            let top = if random.one_in(2) { format!("TOP {} ", random.below(6)) } else { String::new() };
            (
                format!("SELECT {top}c.id, {path} AS k FROM c{filter} ORDER BY {path}{direction}"),
                Compare::InOrder,
            )
        }
    }
}
