//! What indexes a query used, and which would have helped, as the service tells its clients.
//!
//! Two versions of the same facts, both JSON: the caller encodes the first as base64 and the second as a URL.

use armilla_engine::ContainerDefinition;
use armilla_engine::plans::{PhysicalPlan, Served};
use armilla_value::{Object, Value, json};

#[cfg(test)]
mod tests;

/// How much an index matters, in the service's words; every index that a query uses or lacks matters.
const IMPACT: &str = "High";

/// Returns what finds the items of one logical partition: their key is looked up, as every query does that names it.
pub(crate) fn of_partition_key(definition: &ContainerDefinition) -> Vec<Served> {
    let paths = definition.partition_key.paths.iter().map(|path| format!("{path}/?"));
    paths.map(|path| Served { paths: vec![path], composite: false, precise: true }).collect()
}

/// Returns the index utilization of a query in version 1, from the plans of all its partitions.
pub(crate) fn first(plans: &[PhysicalPlan], of_key: &[Served]) -> String {
    let Indexes { used, potential } = Indexes::of(plans, of_key);
    let single = |served: &&Served| {
        object([
            ("FilterExpression", Value::String(String::new())),
            ("IndexSpec", Value::String(served.paths.first().cloned().unwrap_or_default())),
            ("FilterPreciseSet", Value::Bool(served.precise)),
            ("IndexPreciseSet", Value::Bool(served.precise)),
            ("IndexImpactScore", Value::String(IMPACT.to_owned())),
        ])
    };
    let composite = |served: &&Served| {
        object([
            ("IndexSpecs", strings(&served.paths)),
            ("IndexPreciseSet", Value::Bool(served.precise)),
            ("IndexImpactScore", Value::String(IMPACT.to_owned())),
        ])
    };
    json::to_string(&object([
        ("UtilizedSingleIndexes", list(&used, false, single)),
        ("PotentialSingleIndexes", list(&potential, false, single)),
        ("UtilizedCompositeIndexes", list(&used, true, composite)),
        ("PotentialCompositeIndexes", list(&potential, true, composite)),
    ]))
}

/// Returns the index utilization of a query in version 2, from the plans of all its partitions.
pub(crate) fn second(plans: &[PhysicalPlan], of_key: &[Served]) -> String {
    let Indexes { used, potential } = Indexes::of(plans, of_key);
    let both = |indexes: &[&Served], is_potential: bool| {
        let impact = || is_potential.then(|| ("IndexImpactScore", Value::String(IMPACT.to_owned())));
        let single = |served: &&Served| {
            let path = served.paths.first().cloned().unwrap_or_default();
            object([("IndexSpec", Value::String(path))].into_iter().chain(impact()))
        };
        let composite =
            |served: &&Served| object([("IndexSpecs", strings(&served.paths))].into_iter().chain(impact()));
        object([
            ("SingleIndexes", list(indexes, false, single)),
            ("CompositeIndexes", list(indexes, true, composite)),
        ])
    };
    json::to_string(&object([
        ("UtilizedIndexes", both(&used, false)),
        ("PotentialIndexes", both(&potential, true)),
    ]))
}

/// The indexes of all partitions' plans, each once, in the order in which they were met.
struct Indexes<'p> {
    used: Vec<&'p Served>,
    potential: Vec<&'p Served>,
}

impl<'p> Indexes<'p> {
    fn of(plans: &'p [PhysicalPlan], of_key: &'p [Served]) -> Indexes<'p> {
        let mut indexes = Indexes { used: Vec::new(), potential: Vec::new() };
        of_key.iter().for_each(|served| add(&mut indexes.used, served));
        for plan in plans {
            for served in &plan.served {
                add(&mut indexes.used, served);
            }
            for missing in &plan.missing {
                add(&mut indexes.potential, missing);
            }
        }
        // What one partition uses does not lack because another has nothing to look for.
        indexes.potential.retain(|missing| !indexes.used.iter().any(|used| serves_alike(used, missing)));
        indexes
    }
}

/// Whether two indexes have the same paths: a composite one that is in use lies in the order that its query asks for, while
/// one that is missing is told as if the order were free.
fn serves_alike(used: &Served, missing: &Served) -> bool {
    fn sorted(served: &Served) -> Vec<&str> {
        let name = |path: &String| -> usize { path.rfind(' ').unwrap_or(path.len()) };
        let mut names: Vec<&str> = served.paths.iter().map(|path| &path[..name(path)]).collect();
        names.sort_unstable();
        names
    }
    match (used.composite, missing.composite) {
        (true, true) => sorted(used) == sorted(missing),
        (one, other) => one == other && used.paths == missing.paths,
    }
}

fn add<'p>(known: &mut Vec<&'p Served>, served: &'p Served) {
    match known.iter_mut().find(|other| other.paths == served.paths && other.composite == served.composite) {
        // Precise means precise everywhere.
        Some(other) if other.precise && !served.precise => *other = served,
        Some(_) => {}
        None => known.push(served),
    }
}

fn list(indexes: &[&Served], composite: bool, write: impl Fn(&&Served) -> Value) -> Value {
    Value::Array(indexes.iter().filter(|served| served.composite == composite).map(write).collect())
}

fn strings(texts: &[String]) -> Value {
    Value::Array(texts.iter().cloned().map(Value::String).collect())
}

fn object<'n>(members: impl IntoIterator<Item = (&'n str, Value)>) -> Value {
    let mut object = Object::new();
    for (name, value) in members {
        object.insert(name, value);
    }
    Value::Object(object)
}
