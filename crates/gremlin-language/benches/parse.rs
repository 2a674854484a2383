//! What parsing costs a request: scripts are parsed each time they are sent.

#![expect(clippy::print_stdout, reason = "a bench reports on the terminal")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use armilla_gremlin_language::{Dialect, parse, render};
use armilla_gremlin_value::Value;

const ROUNDS: u32 = 200_000;

const SCRIPTS: [(&str, &str); 5] = [
    ("a probe", "g.inject(0)"),
    ("a point read", "g.V('thomas').has('pk','p1')"),
    ("two hops, with a binding", "g.V(x).out('knows').out('created').dedup().count()"),
    (
        "a vertex is added",
        "g.addV('person').property('id','thomas').property('pk','p1').property('firstName','Thomas')\
         .property('age',44).property('userid',1)",
    ),
    (
        "nested traversals",
        "g.V().hasLabel('person').where(out('knows').count().is(gt(2))).order().by('age',decr).limit(10)\
         .project('name','friends').by('name').by(__.out('knows').values('name').fold())",
    ),
];

#[expect(clippy::disallowed_methods, reason = "measures the machine")]
fn main() {
    let bindings = [(Arc::from("x"), Value::String(Arc::from("thomas")))];
    for (name, script) in SCRIPTS {
        for dialect in [Dialect::Open, Dialect::CosmosStrict] {
            let started = Instant::now();
            for _ in 0..ROUNDS {
                let _ = black_box(parse(black_box(script), &bindings, dialect));
            }
            let nanoseconds = started.elapsed().as_nanos() / u128::from(ROUNDS);
            println!("{name:<28} {dialect:?}: {nanoseconds} ns");
        }
    }
    let parsed = parse(SCRIPTS[4].1, &[], Dialect::Open).map(|script| script.queries).unwrap_or_default();
    let started = Instant::now();
    for _ in 0..ROUNDS {
        black_box(parsed.iter().map(render).collect::<Vec<_>>());
    }
    println!("{:<28} rendered: {} ns", SCRIPTS[4].0, started.elapsed().as_nanos() / u128::from(ROUNDS));
}
