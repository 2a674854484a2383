//! Traversals that are made to take the server down: each ends soon, with an error or with a small answer.
//!
//! They run on a thread with as little stack as a worker of the server has, over a graph whose time is up after a
//! number of checks: what never checks never ends, and what checks ends with the error of the graph.

use std::sync::Arc;
use std::time::{Duration, Instant};

use armilla_gremlin_language as language;
use armilla_gremlin_value::{Map, Value};

use crate::testing::modern;
use crate::{Execution, MachineError, Options, compile};

const STACK_BYTES: usize = 2 << 20;

/// Checks of a traversal until its time is up.
const CHECKS_MAX: u64 = 100_000;

/// What a traversal takes at the latest, on a machine that does much else.
const TIME_MAX: Duration = Duration::from_secs(10);

type Bindings = Vec<(&'static str, Value)>;

/// Runs a script as far as its first batch of every query; answers are dropped on the same stack.
fn run(script: &str, bindings: Bindings, checks: u64) -> Result<usize, MachineError> {
    let bindings: Vec<(Arc<str>, Value)> =
        bindings.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let parsed = language::parse(script, &bindings, language::Dialect::Open)
        .unwrap_or_else(|error| panic!("{script}: {}", error.text()));
    let (graph, options) = (modern(), Options::default());
    graph.end_after(checks);
    let mut answers = 0;
    for bytecode in &parsed.queries {
        let plan = compile(bytecode, &options)?;
        let mut execution = Execution::new(&plan, &graph, &options);
        while let Some(batch) = execution.next_batch()? {
            answers += batch.len();
        }
    }
    Ok(answers)
}

/// Runs a script on a small stack; an error has to have one of the texts, and none means an answer.
fn check(script: &str, bindings: Bindings, expected: &str) {
    check_within(CHECKS_MAX, script, bindings, expected);
}

#[expect(clippy::disallowed_methods, reason = "what it takes is what is tested, on a stack of its own")]
fn check_within(checks: u64, script: &str, bindings: Bindings, expected: &str) {
    let (began, text) = (Instant::now(), script.to_owned());
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let thread = thread.spawn(move || run(&text, bindings, checks).map_err(|error| error.message)).unwrap();
    let result = thread.join().unwrap_or_else(|_| panic!("{script} panics"));
    let took = began.elapsed();
    match &result {
        Ok(_) if expected.is_empty() => {}
        Err(message) if expected.split('|').any(|part| !part.is_empty() && message.contains(part)) => {}
        result => panic!("{script}: expected '{expected}', answered {result:?}"),
    }
    assert!(took < TIME_MAX, "{script} took {took:?}");
}

const DEEP: &str = "nested deeper";
const PARTS: &str = "parts|memory limit";
const LATE: &str = "time of the traversal";

#[test]
fn values_of_any_depth() {
    for script in [
        "g.inject(1).repeat(fold()).times(9999)",
        "g.inject(1).repeat(repeat(fold()).times(9999)).times(9999)",
        "g.inject(1).repeat(group()).times(9999)",
        "g.inject(1).repeat(project('a').by()).times(9999)",
        "g.inject(1).repeat(groupCount()).times(9999)",
        "g.inject(1).fold().repeat(index()).times(9999)",
        "g.inject(1).repeat(aggregate('x').cap('x')).times(9999)",
        "g.inject(1).emit().repeat(project('a').by().select(values)).times(9999)",
        "g.inject(1).repeat(local(fold())).times(9999).dedup().order()",
        "g.withSack(1).inject(1).repeat(sack(assign).by(sack().fold())).times(9999).sack()",
    ] {
        check(script, Vec::new(), &format!("{DEEP}|{PARTS}"));
    }
    check("g.inject(1).repeat(path()).times(9999)", Vec::new(), &format!("{DEEP}|{PARTS}"));
    check("g.inject(1).repeat(identity().as('a')).times(9999).tree()", Vec::new(), "");
    check("g.inject(1).repeat(map(constant(1))).times(9999).tree()", Vec::new(), "tree() takes ways");
    check("g.inject(1).repeat(fold()).times(150)", Vec::new(), "");
}

#[test]
fn chains_of_steps_that_nest() {
    let script = format!("g.inject(1){}", ".project('a').by()".repeat(450));
    check(&script, Vec::new(), DEEP);
}

#[test]
fn values_that_share_their_parts() {
    for script in [
        "g.inject(1).repeat(union(identity(),identity()).fold()).times(60)",
        "g.inject(1).repeat(union(identity(),identity()).fold()).times(60).dedup()",
        "g.inject(1).repeat(project('a','b').by().by()).times(60).asString()",
        "g.inject(1).repeat(project('a','b').by().by()).times(60).group()",
        "g.withSack([1]).inject(1).repeat(sack(addAll).by(sack())).times(60)",
    ] {
        check(script, Vec::new(), &format!("{PARTS}|{LATE}"));
    }
}

#[test]
fn texts_and_lists_that_are_too_long() {
    let list = |len: i64| Value::List(Arc::new((0..len).map(Value::Int64).collect()));
    let text = |letter: &str, len: usize| Value::text(letter.repeat(len));
    let cases: [(&str, Bindings, &str); 9] = [
        (
            "g.inject(x).replace('a', y)",
            vec![("x", text("a", 2 << 20)), ("y", text("b", 1 << 20))],
            "makes a text",
        ),
        (
            "g.inject(x).replace('', y)",
            vec![("x", text("a", 2 << 20)), ("y", text("b", 1 << 20))],
            "makes a text",
        ),
        ("g.inject(x).product(y)", vec![("x", list(50_000)), ("y", list(50_000))], PARTS),
        ("g.inject(x).conjoin(y)", vec![("x", list(100_000)), ("y", text("c", 60_000))], "makes a text"),
        ("g.inject(x).split('')", vec![("x", text("a", 3 << 20))], PARTS),
        (
            "g.inject(x).unfold().constant(y).toUpper()",
            vec![("x", list(4_096)), ("y", text("a", 1 << 20))],
            PARTS,
        ),
        (
            "g.inject(x).unfold().constant(y).fold().conjoin('')",
            vec![("x", list(4_096)), ("y", text("a", 1 << 16))],
            PARTS,
        ),
        (
            "g.inject(x).as('a').format(y)",
            vec![("x", text("a", 1 << 20)), ("y", text("%{a}", 100_000))],
            "makes a text",
        ),
        (
            "g.inject(x).unfold().as('a').constant(y).concat(y,y,y)",
            vec![("x", list(4_096)), ("y", text("a", 1 << 20))],
            PARTS,
        ),
    ];
    for (script, bindings, expected) in cases {
        check(script, bindings, expected);
    }
}

#[test]
fn bulks_of_any_size() {
    let many = ".repeat(union(identity(),identity())).times(62)";
    for (start, rest, expected) in [
        ("g.inject(0)", ".coin(0.5)", ""),
        ("g.inject(0)", ".coin(0.0)", ""),
        ("g.inject(0)", ".sample(1000000000)", PARTS),
        ("g.inject(0)", ".aggregate('x').cap('x').order(local)", PARTS),
        ("g.inject(0)", ".aggregate('x').cap('x').count(local)", ""),
        ("g.inject(0)", ".aggregate('x').cap('x').sum(local)", ""),
        ("g.inject(0)", ".aggregate('x').cap('x').dedup(local)", ""),
        ("g.inject(0)", ".aggregate('x').cap('x').asString()", "makes a text"),
        ("g.inject(0)", ".aggregate('x').cap('x').unfold().count()", ""),
        ("g.withSideEffect('x',[1],addAll).inject(0)", ".aggregate('x').cap('x')", PARTS),
        ("g.withSideEffect('x',1,sum).inject(0)", ".aggregate('x').cap('x')", ""),
        ("g.withSideEffect('x',1,mult).inject(2)", ".aggregate('x').cap('x')", "too large|time of"),
        ("g.inject(0,1)", ".union(identity(),identity()).fold()", PARTS),
        ("g.inject(0,1)", ".union(identity(),identity()).tail(3)", ""),
        ("g.inject(0,1)", ".union(identity(),identity()).mean()", ""),
        ("g.inject(0,1)", ".union(identity(),identity()).groupCount()", ""),
        ("g.inject(0,1)", ".union(identity(),identity()).group()", PARTS),
        ("g.inject(0,1)", ".union(identity(),identity()).fold(0, sum)", ""),
        ("g.inject(0,1)", ".union(identity(),identity()).fold(0, max)", ""),
        ("g.inject(0,1)", ".union(identity(),identity()).profile()", ""),
        ("g.inject([0])", ".fold([], addAll)", &format!("{PARTS}|{LATE}")),
    ] {
        check(&format!("{start}{many}{rest}"), Vec::new(), expected);
    }
    let set = Value::BulkSet(Arc::new(vec![(Value::Int32(1), 1 << 62), (Value::Int32(2), u64::MAX)]));
    for (script, expected) in [
        ("g.inject(x).order(local)", PARTS),
        ("g.inject(x).count(local)", ""),
        ("g.inject(x).all(gt(0))", ""),
        ("g.inject(x).reverse()", PARTS),
        ("g.inject(x).combine(x)", PARTS),
        ("g.V(x)", "as an id"),
    ] {
        check(script, vec![("x", set.clone())], expected);
    }
}

#[test]
fn numbers_and_expressions_of_any_size() {
    check(
        "g.inject(9223372036854775807L).asDate().dateDiff(datetime('1960-01-01T00:00:00Z'))",
        Vec::new(),
        "",
    );
    check("g.inject(2).math(x)", vec![("x", Value::text(format!("_{}", "*_".repeat(4_000))))], "");
    check(
        "g.inject(2).math(x)",
        vec![("x", Value::text(format!("_{}", "*_".repeat(1 << 20))))],
        "math() takes",
    );
    check("g.inject(2).math(x)", vec![("x", Value::text("(".repeat(1 << 20)))], "math() takes");
    check("g.inject(2).math(x)", vec![("x", Value::text("sin ".repeat(1 << 18)))], "math() takes");
}

#[test]
fn comparisons_of_many_values() {
    let decimals = (0..100_000).map(|at| Value::BigDecimal(format!("{at}.5").into())).collect();
    let map = |from: i64| {
        let entries = (from..from + 100_000).map(|at| (Value::Int64(at), Value::Null)).collect();
        Value::Map(Arc::new(Map { entries }))
    };
    let numbers = |from: i64| Value::Set(Arc::new((from..from + 100_000).map(Value::Int64).collect()));
    let maps = (0..20_000)
        .map(|at| Value::Map(Arc::new(Map { entries: vec![(Value::Int64(at), Value::Null)] })))
        .collect();
    let cases: [(&str, Bindings, &str); 7] = [
        ("g.inject(x).unfold().dedup().count()", vec![("x", Value::List(Arc::new(decimals)))], ""),
        ("g.inject(x).unfold().dedup().count()", vec![("x", Value::List(Arc::new(maps)))], ""),
        ("g.inject(x).merge(y).count(local)", vec![("x", map(0)), ("y", map(50_000))], ""),
        ("g.inject(y).fold(x, addAll).count(local)", vec![("x", numbers(0)), ("y", numbers(50_000))], ""),
        ("g.inject(x).is(eq(y))", vec![("x", numbers(0)), ("y", numbers(1))], ""),
        ("g.inject(x).is(eq(y))", vec![("x", map(0)), ("y", map(1))], ""),
        ("g.inject(x).all(within(y))", vec![("x", numbers(0)), ("y", numbers(100_000))], ""),
    ];
    for (script, bindings, expected) in cases {
        check(script, bindings, expected);
    }
    let bindings = vec![("x", numbers(0)), ("y", numbers(100_000))];
    check_within(20, "g.inject(x).none(within(y))", bindings, LATE);
}
