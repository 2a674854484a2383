//! Pages that would take too long end: between two tuples where they can, with an error where they cannot.

use std::collections::HashSet;

use armilla_functions::{Look, Stop};
use armilla_value::Value;

use crate::bound::Projection;
use crate::choose::choose;
use crate::compile::{CompileOptions, CompiledQuery};
use crate::error::{Error, ErrorKind};
use crate::exec::testing::{All, Ask, compile, items, lend, rows_of_page, sources, value};
use crate::expr::Expr;
use crate::source::MemorySource;

/// Steps after which the tests stop a page, and at most how far apart they look.
const STEPS_MAX: u64 = 300_000;
const LOOK_STEPS: u64 = 1_000;

/// One item with an array of a thousand numbers, texts, and shapes of many points.
fn hostile_source() -> Vec<MemorySource> {
    let numbers: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let ring = |radius: f64| -> String {
        let point = |number: usize| {
            let angle = number as f64 / 2_000.0 * std::f64::consts::TAU;
            // Teeth, so that boxes of edges overlap.
            let radius = radius * if number.is_multiple_of(2) { 1.0 } else { 0.5 };
            format!("[{},{}]", radius * angle.cos(), radius * angle.sin())
        };
        let mut points: Vec<String> = (0..2_000).map(point).collect();
        points.push(points[0].clone());
        format!(r#"{{"type":"Polygon","coordinates":[[{}]]}}"#, points.join(","))
    };
    let item = format!(
        r#"{{"id":"1","pk":"p","a":[{}],"text":"{}","star":{},"other":{}}}"#,
        numbers.join(","),
        "ab".repeat(50_000),
        ring(10.0),
        ring(9.9)
    );
    sources(&[value(&item)], 1)
}

/// Returns the beginning of a text, for messages.
fn cut(text: &str) -> &str {
    &text[..text.len().min(200)]
}

fn stopped(text: &str, query: &CompiledQuery, source: &[MemorySource]) -> (Error, u64) {
    let last = std::cell::Cell::new(0);
    let watch = |steps| {
        last.set(steps);
        if steps > STEPS_MAX { Look::Stop(Stop::Time) } else { Look::GoOn(LOOK_STEPS) }
    };
    let ask = Ask { watch: &watch, ..Ask::new(query, &choose, 10_000) };
    match ask.page(&lend(source), None) {
        Ok(page) => panic!("{}: a page of {} rows after {} steps", cut(text), page.row_count(), page.steps),
        Err(error) => (error, last.get()),
    }
}

const CROSS: &str = "FROM c JOIN v IN c.a JOIN w IN c.a JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a";

#[test]
fn every_loop_can_be_stopped() {
    let source = hostile_source();
    let inner = "FROM v IN c.a JOIN w IN c.a JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a";
    let many = |part: &str, count: usize| vec![part; count].join(", ");
    let loops = [
        format!("SELECT VALUE COUNT(1) {CROSS}"),
        format!("SELECT VALUE SUM(v) {CROSS} WHERE v + w + x + y + z > 10"),
        format!("SELECT v, w {CROSS} WHERE z + v < 0"),
        format!("SELECT DISTINCT VALUE v {CROSS}"),
        format!("SELECT v, COUNT(1) AS n {CROSS} GROUP BY v"),
        format!("SELECT VALUE v {CROSS} WHERE z + v < 0 ORDER BY c.id"),
        format!("SELECT VALUE MAX(v) {CROSS}"),
        format!("SELECT VALUE n FROM (SELECT v, w {CROSS}) n WHERE n.v + n.w < 0"),
        format!("SELECT * FROM c WHERE EXISTS(SELECT VALUE 1 {inner} WHERE z + v < 0)"),
        format!("SELECT * FROM c WHERE NOT EXISTS(SELECT VALUE 1 {inner} WHERE z + v < 0)"),
        format!("SELECT VALUE (SELECT VALUE COUNT(1) {inner}) FROM c"),
        format!("SELECT VALUE ARRAY(SELECT VALUE v {inner} WHERE z + v < 0) FROM c"),
        format!("SELECT VALUE ARRAY(SELECT DISTINCT VALUE v {inner}) FROM c"),
        format!("SELECT VALUE ARRAY(SELECT VALUE COUNT(1) {inner} GROUP BY v) FROM c"),
        format!("SELECT VALUE n FROM c JOIN n IN (SELECT VALUE [v, w] {inner} WHERE z + v < 0)"),
    ];
    let functions = [
        "c.text LIKE CONCAT('%', REPLICATE('a_', 4000), ToString(v), '%')".to_owned(),
        "c.text LIKE '%a_a_[^ab]__z%'".to_owned(),
        "RegexMatch(c.text, CONCAT('[ab]*b[ab]{200}', ToString(v)))".to_owned(),
        "RegexMatch(c.text, 'ab[^ab]')".to_owned(),
        "CONTAINS(c.text, CONCAT('abc', ToString(v)), true)".to_owned(),
        "REPLACE(c.text, 'ab', ToString(v)) = ''".to_owned(),
        "ARRAY_LENGTH(StringSplit(c.text, 'a')) = v".to_owned(),
        "ST_WITHIN(c.other, c.star)".to_owned(),
        "ST_DISTANCE(c.other, c.star) > 1".to_owned(),
        "ARRAY_LENGTH(SetUnion(c.a, ARRAY_CONCAT(c.a, [v]))) < 0".to_owned(),
        format!("ARRAY_CONTAINS_ALL(c.a, {})", many("v", 2_000)),
        format!("CONTAINS_ANY_CS(c.text, {})", many("'zzz'", 2_000)),
        format!("-1 IN ({})", many("v", 8_000)),
    ];
    // Each call depends on both rows, so that it is made for all of them.
    let call = |call: &String| {
        format!(
            "SELECT VALUE v FROM c JOIN v IN c.a JOIN w IN c.a WHERE NOT (v + w < 0 OR ({call}) OR v + w >= 0)"
        )
    };
    let texts: Vec<String> = loops.iter().cloned().chain(functions.iter().map(call)).collect();
    for text in &texts {
        let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
        let query = match CompiledQuery::new(text, options) {
            Ok(query) => query,
            Err(error) => panic!("{}: {error}", cut(text)),
        };
        let (error, steps) = stopped(text, &query, &source);
        assert_eq!(error.kind, ErrorKind::TimedOut, "{}: {error}", cut(text));
        // A step may be many, where a function goes over a text; but never so many that the watch is not asked.
        assert!(steps <= STEPS_MAX + 10 * LOOK_STEPS, "{}: {steps} steps", cut(text));
    }
}

#[test]
fn a_page_ends_inside_of_one_item_and_the_next_goes_on_there() {
    let source = hostile_source();
    for text in [
        format!("SELECT VALUE COUNT(1) {CROSS}"),
        format!("SELECT v, w {CROSS} WHERE z + v < 0"),
        // Far behind in the innermost join there are rows; the page is full long before its time is over.
        format!("SELECT VALUE v {CROSS} WHERE z = 999 + v - v"),
    ] {
        let query = compile(&text);
        let began = std::cell::Cell::new(false);
        let expired = |_: &crate::work::Work| began.get();
        let watch = |steps| {
            began.set(steps > 20_000);
            if steps > 60_000 { Look::Stop(Stop::Time) } else { Look::GoOn(LOOK_STEPS) }
        };
        let ask = Ask { expired: &expired, watch: &watch, ..Ask::new(&query, &choose, 100) };
        let mut all = All::default();
        let mut token: Option<String> = None;
        for number in 0..20 {
            let page =
                ask.page(&lend(&source), token.as_deref()).unwrap_or_else(|error| panic!("{text}: {error}"));
            all.add(&page);
            let tuples = page.work.join_tuples - page.work_before.join_tuples;
            assert!(tuples >= 1_000, "{text}: {tuples} tuples on page {number}");
            assert!(page.steps > page.steps_before);
            let next = page.continuation.expect("there are many more");
            assert_ne!(Some(&next), token.as_ref());
            token = Some(next);
        }
    }
}

#[test]
fn where_a_page_cannot_end_it_goes_on_until_it_is_stopped() {
    let source = hostile_source();
    let query = compile("SELECT DISTINCT VALUE v + w FROM c JOIN v IN c.a JOIN w IN c.a");
    let whole = Ask::new(&query, &choose, 10_000).page(&lend(&source), None).unwrap();
    assert_eq!(whole.row_count(), 1_999);
    // Its time is over at once, and it is not stopped.
    let impatient = Ask { expired: &|_| true, ..Ask::new(&query, &choose, 10_000) };
    let page = impatient.page(&lend(&source), None).unwrap();
    assert_eq!((page.row_count(), page.continuation.is_none()), (1_999, true));
    assert_eq!(
        stopped("", &compile(&format!("SELECT DISTINCT VALUE v {CROSS}")), &source).0.kind,
        ErrorKind::TimedOut
    );
}

/// Returns the large constants of a plan, each once however many places share it.
fn large_constants(query: &CompiledQuery) -> HashSet<*const Value> {
    let mut found = HashSet::new();
    let mut look = |expr: &Expr| {
        expr.visit(&mut |part| {
            if let Expr::Constant(value) = part
                && value.as_str().is_some_and(|text| text.len() > 1_000_000)
            {
                found.insert(std::sync::Arc::as_ptr(value));
            }
        });
    };
    match &query.plan.projection {
        Projection::Value(expr) => look(expr),
        Projection::Fields(fields) => fields.iter().for_each(|(_, expr)| look(expr)),
    }
    found
}

/// A query of two megabytes took gigabytes, and its planning alone did.
#[test]
fn large_values_are_refused_before_they_take_memory() {
    let source = hostile_source();
    let parameters = [("@p".to_owned(), Value::String("x".repeat(1_900_000)))];
    let joined = format!("CONCAT({})", ["@p"; 8].join(", "));
    let texts = [
        format!(
            "SELECT {} FROM c",
            (0..100).map(|n| format!("{joined} AS f{n}")).collect::<Vec<_>>().join(", ")
        ),
        format!("SELECT {}", (0..100).map(|n| format!("{joined} AS f{n}")).collect::<Vec<_>>().join(", ")),
        format!("SELECT VALUE [{}] FROM c", vec![&joined[..]; 100].join(", ")),
        format!("SELECT DISTINCT VALUE [{}] FROM c", vec![&joined[..]; 100].join(", ")),
        format!("SELECT VALUE CONCAT({}) FROM c", vec![&joined[..]; 100].join(", ")),
        format!("SELECT VALUE ARRAY(SELECT VALUE {joined} FROM v IN c.a) FROM c"),
        format!(
            "SELECT VALUE ARRAY(SELECT DISTINCT VALUE CONCAT({joined}, ToString(v)) FROM v IN c.a) FROM c"
        ),
        format!("SELECT VALUE (SELECT VALUE MAKELIST({joined}) FROM v IN c.a) FROM c"),
        format!("SELECT VALUE ARRAY(SELECT VALUE MAX({joined}) FROM v IN c.a GROUP BY v) FROM c"),
        format!("SELECT MAX(CONCAT({joined}, '')) AS m FROM c JOIN v IN c.a GROUP BY v"),
        format!("SELECT v FROM c JOIN v IN c.a GROUP BY v, CONCAT({joined}, c.id)"),
        format!("SELECT VALUE [{}] FROM c", vec!["@p"; 100].join(", ")),
        format!("SELECT VALUE [{}] FROM c", vec!["c"; 1_000].join(", ")),
        format!("SELECT DISTINCT VALUE [{}] FROM c", vec!["c"; 1_000].join(", ")),
    ];
    for text in &texts {
        let options = CompileOptions { parameters: &parameters, computed: &[], system_properties: true };
        let query = CompiledQuery::new(text, options).unwrap_or_else(|error| panic!("{error}"));
        assert!(large_constants(&query).len() <= 1, "{}: values are copied while planning", cut(text));
        let ask = Ask::new(&query, &choose, 100);
        match ask.page(&lend(&source), None) {
            Err(error) => assert_eq!(error.kind, ErrorKind::TooLarge, "{}: {error}", cut(text)),
            Ok(page) => panic!("{}: {} bytes", cut(text), page.rows.len()),
        }
    }
    // What fits goes on.
    let options = CompileOptions { parameters: &parameters, computed: &[], system_properties: true };
    let query =
        CompiledQuery::new(&format!("SELECT VALUE LENGTH({joined}) + LENGTH({joined}) FROM c"), options);
    let page = Ask::new(&query.unwrap(), &choose, 100).page(&lend(&source), None).unwrap();
    assert_eq!(rows_of_page(&page), ["30400000"]);
    // 16 copies of 15 MB were gone over, and each counts.
    assert!(page.steps > 30_400_000 / 64, "{} steps", page.steps);
}

#[test]
fn ordinary_queries_take_few_steps() {
    let items = items(500);
    let source = sources(&items, 1);
    for text in [
        "SELECT * FROM c",
        "SELECT c.id, c.n, c.s FROM c WHERE c.r > 3",
        "SELECT VALUE COUNT(1) FROM c WHERE c.r > 3",
        "SELECT c.g, COUNT(1) AS n FROM c GROUP BY c.g",
        "SELECT c.id, t FROM c JOIN t IN c.tags WHERE t = 't1'",
        "SELECT c.id FROM c WHERE CONTAINS(c.s, 'x') ORDER BY c.r",
        "SELECT c.id FROM c WHERE c.s LIKE '%y%' OR RegexMatch(c.s, '^s[0-9]')",
    ] {
        let query = compile(text);
        let page = Ask::new(&query, &choose, 10_000).page(&lend(&source), None).unwrap();
        // A step costs a ten-thousandth of a request unit, an item that is looked at 200 of them at least.
        let per_item = page.steps / 500;
        assert!(per_item < 100, "{text}: {per_item} steps for each item");
    }
}
