//! What plans ask of a graph: how often, and for how much.

use super::run_with;
use crate::testing::modern;
use crate::{Dialect, ErrorKind, Options};

/// Runs a script and compares the lookups it made and the elements it read.
#[track_caller]
fn check_reads(script: &str, lookups: u64, items: u64) {
    let graph = modern();
    let before = (graph.lookups(), graph.items());
    run_with(&graph, script, &Options::default()).unwrap();
    assert_eq!((graph.lookups() - before.0, graph.items() - before.1), (lookups, items), "{script}");
}

#[test]
fn lookups_are_few() {
    check_reads("g.V().count()", 1, 0);
    check_reads("g.V().hasLabel('person').count()", 1, 0);
    check_reads("g.V(1).out().count()", 2, 1);
    check_reads("g.V().out().out().count()", 3, 6 + 6);
    check_reads("g.V().limit(2)", 1, 2);
    check_reads("g.V().out().values('name')", 2, 12);
    check_reads("g.V().where(out('created').count().is(gt(1)))", 2, 6);
    check_reads("g.V().project('n').by(out().count())", 2, 6);
}

#[test]
fn bounds() {
    let graph = modern();
    let small = Options { memory_bytes_max: 1000, ..Options::default() };
    let error = run_with(&graph, "g.V().both().both().fold()", &small).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Memory);
    assert!(error.message.starts_with("Query exceeded memory limit. Bytes Consumed: "), "{}", error.message);
    let strict = Options::of(Dialect::CosmosStrict);
    assert!(run_with(&graph, "g.V(1).repeat(both()).times(32).count()", &strict).is_ok());
    let error = run_with(&graph, "g.V(1).repeat(both()).times(33).count()", &strict).unwrap_err();
    assert!(error.message.contains("32 rounds"), "{}", error.message);
    assert_eq!(error.step.as_deref(), Some("repeat"));
    assert!(error.position.is_some());
}
