//! Steps that write.

use super::{check_all, run_with, shown};
use crate::graph::Outcome;
use crate::testing::{MemoryGraph, modern};
use crate::{ErrorKind, Options};

/// Runs scripts one after the other on one graph; the last one's answer is compared.
#[track_caller]
fn check_after(scripts: &[&str], expected: &str) {
    let graph = modern();
    let mut texts = Vec::new();
    for script in scripts {
        let values =
            run_with(&graph, script, &Options::default()).unwrap_or_else(|error| panic!("{script}: {error}"));
        texts = values.iter().map(shown).collect::<Vec<_>>();
    }
    texts.sort();
    let mut words: Vec<&str> = expected.split(' ').filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    assert_eq!(texts.join(" "), words.join(" "), "{scripts:?}");
}

#[test]
fn adding() {
    check_after(&["g.addV('person').property('name','ann')", "g.V().has('name','ann').label()"], "person");
    check_after(&["g.addV().property('id','x').property('name','ann')", "g.V('x').label()"], "vertex");
    check_after(
        &["g.addV('p').property(T.id,'x').property(list,'n',1).property(list,'n',2)", "g.V('x').values('n')"],
        "1 2",
    );
    check_after(
        &["g.V(1).addE('likes').to(__.V(3)).property('w',2)", "g.V(1).outE('likes').values('w')"],
        "2",
    );
    check_after(
        &["g.addE('likes').from(__.V(1)).to(__.V(3))", "g.V(3).inE('likes').outV().values('name')"],
        "marko",
    );
    check_after(
        &["g.V(1).as('a').V(3).addE('likes').from('a')", "g.V(1).out('likes').values('name')"],
        "lop",
    );
    check_after(&["g.V().as('a').out('created').addE('by').to('a')", "g.V().outE('by').count()"], "4L");
    check_after(&["g.V(1).property('age',30)", "g.V(1).values('age')"], "30");
    check_after(&["g.V(1).property('age',30).values('age')"], "30");
    check_after(&["g.V(1).as('a').property('age',30).select('a').values('age')"], "30");
    check_after(&["g.V(1).property('n',__.out().count())", "g.V(1).values('n')"], "3L");
    check_after(&["g.E(7).property('weight',9)", "g.E(7).values('weight')"], "9");
    check_after(
        &["g.V(1).property(list,'name','m','since',1)", "g.V(1).properties('name').values('since')"],
        "1",
    );
}

#[test]
fn dropping() {
    check_after(&["g.V(1).drop()", "g.V().count()"], "5L");
    check_after(&["g.V(1).drop()", "g.E().count()"], "3L");
    check_after(&["g.V(1).outE().drop()", "g.E().count()"], "3L");
    check_after(&["g.V().properties('age').drop()", "g.V().has('age').count()"], "0L");
    check_after(&["g.E().properties('weight').drop()", "g.E().values('weight').count()"], "0L");
    check_after(&["g.V().drop()", "g.V().count()"], "0L");
}

#[test]
fn merging() {
    check_after(&["g.mergeV([(T.label):'person',name:'marko'])", "g.V().count()"], "6L");
    check_after(&["g.mergeV([(T.label):'person',name:'zed'])", "g.V().has('name','zed').label()"], "person");
    check_after(
        &[
            "g.mergeV([name:'zed']).option(onCreate,[age:1]).option(onMatch,[age:2])",
            "g.mergeV([name:'zed']).option(onCreate,[age:1]).option(onMatch,[age:2])",
            "g.V().has('name','zed').values('age')",
        ],
        "2",
    );
    check_after(&["g.mergeE([(T.label):'knows',(from):'1',(to):'2'])", "g.E().count()"], "6L");
    check_after(&["g.mergeE([(T.label):'likes',(from):'1',(to):'2'])", "g.V(1).out('likes').id()"], "2");
}

#[test]
fn refusals() {
    check_all(
        &modern,
        &[
            ("g.V(1).addE('x').to(__.V(99))", "!yields no vertex"),
            ("g.V(1).values('name').addE('x').to(__.V(1))", "!AddE"),
            ("g.withStrategies(ReadOnlyStrategy).addV('x')", "!mutating step"),
            ("g.V(1).property(T.id,'x')", "!cannot be changed"),
        ],
    );
    let graph: MemoryGraph = modern();
    let options = Options { read_only: true, ..Options::default() };
    let error = run_with(&graph, "g.V().drop()", &options).unwrap_err();
    assert_eq!(error.kind, ErrorKind::ReadOnly);
    assert!(run_with(&graph, "g.V().fail()", &Options::default()).is_err());
    assert_eq!(graph.outcome(), Some(Outcome::Failed));
    run_with(&graph, "g.V()", &Options::default()).unwrap();
    assert_eq!(graph.outcome(), Some(Outcome::Done));
}
