//! Short ways to plans.

use armilla_query::bound::BoundQuery;
use armilla_query::gateway::{Feature, Features, GatewayPlan, PartitionKeyShape, QueryRange, plan};
use armilla_query::{CompileOptions, CompiledQuery, Result};
use armilla_sql::ast;
use armilla_value::{HashVersion, PropertyPath, Value, json};

use crate::queries::plan_text::to_json;

/// Returns the shape of a partition key: hierarchical where there are several paths.
pub(super) fn shape(paths: &[&str]) -> PartitionKeyShape {
    let names = |path: &&str| PropertyPath::parse(path).unwrap().names().to_vec();
    let version = if paths.len() > 1 { HashVersion::MultiHash } else { HashVersion::V2 };
    PartitionKeyShape { paths: paths.iter().map(names).collect(), version }
}

pub(super) fn bound(query: &str, parameters: &[(String, Value)]) -> (ast::Query, BoundQuery) {
    let options = CompileOptions { parameters, computed: &[], system_properties: true };
    let compiled = CompiledQuery::new(query, options).unwrap_or_else(|error| panic!("{query}: {error}"));
    (compiled.read.unwrap().ast.clone(), compiled.bound)
}

pub(super) fn try_plan(
    query: &str,
    parameters: &[(String, Value)],
    partition_key: &PartitionKeyShape,
    features: Features,
) -> Result<GatewayPlan> {
    let (ast, bound) = bound(query, parameters);
    plan(&ast, &bound, partition_key, features)
}

pub(super) fn json(query: &str, parameters: &[(String, Value)], partition_key: &PartitionKeyShape) -> String {
    let plan = try_plan(query, parameters, partition_key, Features::ALL);
    to_json(&plan.unwrap_or_else(|error| panic!("{query}: {error}")))
}

/// Returns the ranges of a query over a container with the key `/pk`.
pub(super) fn outcome(query: &str) -> Vec<QueryRange> {
    try_plan(query, &[], &shape(&["/pk"]), Features::ALL).unwrap().query_ranges
}

pub(super) fn full() -> Vec<QueryRange> {
    vec![QueryRange::ALL]
}

/// Returns the names of the features without which a query is refused.
pub(super) fn features_of(query: &str) -> String {
    let needed = |feature: &&Feature| {
        let others = Feature::ALL.iter().copied().filter(|other| other != *feature).collect();
        try_plan(query, &[], &shape(&["/pk"]), others).is_err()
    };
    let names: Vec<&str> = Feature::ALL.iter().filter(needed).map(|feature| feature.name()).collect();
    names.join(" ")
}

/// Returns what a plan says beyond the plan of `SELECT * FROM c`, a member per line, the rewritten text as it is.
pub(super) fn summary(query: &str, parameters: &[(String, Value)]) -> String {
    let parse = |query: &str, parameters: &[(String, Value)]| {
        json::parse(json(query, parameters, &shape(&["/pk"])).as_bytes()).unwrap()
    };
    let (plain, plan) = (parse("SELECT * FROM c", &[]), parse(query, parameters));
    let mut lines = format!("{query}\n");
    let info = |plan: &Value| plan.get("queryInfo").unwrap().as_object().unwrap().clone();
    let ranges = |plan: &Value| json::to_string(plan.get("queryRanges").unwrap());
    let (plain_info, plan_info) = (info(&plain), info(&plan));
    assert_eq!(
        plain_info.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        plan_info.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "{query}"
    );
    for (name, value) in plan_info.iter() {
        if name != "rewrittenQuery" && Some(value) != plain_info.get(name) {
            lines.push_str(&format!("  {name} {}\n", json::to_string(value)));
        }
    }
    if ranges(&plan) != ranges(&plain) {
        lines.push_str(&format!("  queryRanges {}\n", ranges(&plan)));
    }
    for line in plan_info.get("rewrittenQuery").unwrap().as_str().unwrap().lines() {
        lines.push_str(&format!("    {line}\n"));
    }
    lines
}
