//! What features and the model of random traversals found wrong once.

use armilla_gremlin_language as language;

use super::{check_all, run_with};
use crate::testing::{crew, modern};
use crate::{Execution, Options, compile};

#[test]
fn branches() {
    check_all(
        &modern,
        &[
            // A branch that nothing came to answers nothing, whatever reduces in it.
            ("g.inject(1).choose(is(1),constant(10).fold(),fold())", "[10]"),
            ("g.inject(2).choose(is(1),constant(10).fold(),fold())", "[2]"),
            (
                "g.V().hasLabel('person').local(choose(values('age')).option(between(26,30),values('name').fold())\
                 .option(none,values('name').fold()))",
                "[marko] [vadas] [josh] [peter]",
            ),
            // What a test yields nothing for goes through, and is no business of `none`.
            (
                "g.V().choose(values('age')).option(between(26,30),values('name')).option(none,values('name'))",
                "marko vadas v[3] josh v[5] peter",
            ),
            ("g.union(inject(1),inject(2))", "1 2"),
            ("g.V().emit()", "!The repeat()-traversal was not defined"),
            ("g.V(1).repeat(out()).times(1).times(2)", "!The repeat()-traversal was not defined"),
            ("g.V(1).emit().repeat(out('none')).times(1).emit().repeat(out('knows')).times(1).count()", "3L"),
            ("g.V().repeat(inject('y')).times(2)", "!The parent of inject()-step can not be repeat()-step"),
        ],
    );
}

#[test]
fn modulators() {
    check_all(
        &modern,
        &[
            ("g.V().aggregate('x').by('name').by('age')", "!Aggregate step can only have one by modulator"),
            ("g.V().dedup().by('lang').by('name')", "!Dedup step can only have one by modulator"),
            ("g.V().sample(1).by('age').by(id)", "!Sample step can only have one by modulator"),
            ("g.V().sack(assign).by('age').by('name')", "!Sack step can only have one by modulator"),
            ("g.V().valueMap().by(unfold()).by()", "!step can only have one by modulator"),
            ("g.V().groupCount('x').by('a').by('b')", "!GroupCount step can only have one by modulator"),
            ("g.V(1).both().both().cyclicPath().by('age').id()", "1 1"),
            ("g.V().group().by('name').by('age').select('lop')", "[]"),
            ("g.V(1).as('a').select('a','a')", "{a:v[1]}"),
            ("g.V().sack(assign).by('age').sack()", "29 27 32 35"),
            (
                "g.withStrategies(ProductiveByStrategy).V().hasLabel('software').project('a').by('age')",
                "{a:null} {a:null}",
            ),
        ],
    );
}

#[test]
fn side_effects() {
    check_all(
        &modern,
        &[
            ("g.V().cap('x')", "!The side-effect key does not exist in the side-effects: x"),
            ("g.V().cap('x','y')", "!The side-effect key does not exist in the side-effects: x"),
            ("g.V().has('no').groupCount('a').cap('a')", "{}"),
            ("g.V().has('no').aggregate('a').cap('a')", "b[]"),
            // `store` has seen what went on, and no more.
            ("g.V().store('x').limit(2).cap('x').count(local)", "2L"),
            ("g.V().local(aggregate('x')).limit(2).cap('x').count(local)", "2L"),
            ("g.V().aggregate('x').limit(2).cap('x').count(local)", "6L"),
            ("g.V().local(group('a').by('name').by().select('a').count(local))", "1L 2L 3L 4L 5L 6L"),
            ("g.V().group('a').by('name').select('a').count(local)", "6L 6L 6L 6L 6L 6L"),
            ("g.V().out().tree('a').select('a').count(local).dedup()", "3L"),
            (
                "g.V(1).repeat(bothE('created').where(without('e')).aggregate('e').otherV()).emit().values('name')",
                "lop josh peter ripple",
            ),
            ("g.withBulk(false).withSack(1,sum).V().out().barrier().sack()", "3 1 1 1"),
            ("g.V().both().barrier(2).count()", "12L"),
            ("g.V().out().values('name').barrier(1)", "vadas josh lop ripple lop lop"),
            ("g.inject({1,1})", "s[1]"),
        ],
    );
}

#[test]
fn strategies() {
    check_all(
        &modern,
        &[
            ("g.withStrategies(SubgraphStrategy(vertices: hasLabel('person'))).E().id()", "7 8"),
            (
                "g.withStrategies(SubgraphStrategy(vertices: hasLabel('person'))).V(1).out().values('name')",
                "vadas josh",
            ),
            (
                "g.withStrategies(SubgraphStrategy(vertices: hasLabel('person'), checkAdjacentVertices: false))\
                 .E().count()",
                "6L",
            ),
            (
                "g.withStrategies(SubgraphStrategy(edges: hasLabel('knows'))).V(1).out().values('name')",
                "vadas josh",
            ),
            (
                "g.withStrategies(PartitionStrategy(partitionKey: 'lang', readPartitions: ['java'])).V().values('name')",
                "lop ripple",
            ),
            (
                "g.withStrategies(PartitionStrategy(partitionKey: 'p', writePartition: 'a', readPartitions: ['a']))\
                 .mergeV([name:'new']).values('p')",
                "a",
            ),
            ("g.withStrategies(ReadOnlyStrategy).withoutStrategies(ReadOnlyStrategy).addV('a').label()", "a"),
            ("g.withoutStrategies(ConnectiveStrategy).V()", "!ConnectiveStrategy cannot be taken away"),
            ("g.withoutStrategies(CountStrategy).V().count()", "6L"),
            ("g.withStrategies(SeedStrategy(seed: 7)).V().coin(1.0).count()", "6L"),
        ],
    );
    check_all(
        &crew,
        &[(
            "g.withStrategies(SubgraphStrategy(vertexProperties: has('startTime',gt(2010)))).V().values('location')",
            "oakland seattle",
        )],
    );
}

#[test]
fn a_seed_chooses_the_draws() {
    let script = "g.withStrategies(SeedStrategy(seed: 7)).V().coin(0.5).id()";
    let draw = |seed| {
        let options = Options { seed, ..Options::default() };
        let values = run_with(&modern(), script, &options).unwrap();
        values.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(2));
}

#[test]
fn texts_and_lists() {
    check_all(
        &modern,
        &[
            ("g.inject(null).combine([1])", "!Incoming traverser for combine step can't be null"),
            (
                "g.inject('a').merge([1])",
                "!can only take an array or an Iterable type for incoming traversers",
            ),
            ("g.inject([1]).product(2)", "!can only take an array or an Iterable as an argument"),
            ("g.inject([1]).product(constant(null))", "!must yield an iterable type, not null"),
            ("g.inject('a','b').concat(__.inject('c'))", "aa bb"),
            ("g.inject('a').concat(__.V().order().by('name').values('name'))", "ajosh"),
            ("g.inject('hello').asBool()", "!Can't parse hello as Boolean."),
            ("g.inject('0x5').asNumber()", "5"),
            ("g.inject(null).asString()", "!Can't parse null"),
            ("g.inject(0.5).math('ceil _')", "1.0"),
            ("g.V(1).elementMap().order(local).by(keys).unfold().select(keys)", ">age t.id t.label name"),
            ("g.withSack(4).inject(0.5f).sack(div).sack()", "8.0"),
        ],
    );
}

#[test]
fn merges() {
    check_all(
        &modern,
        &[
            ("g.mergeE([(T.label):'x'])", "!Out Vertex not specified"),
            ("g.mergeE([(T.label):'x',(OUT):1])", "!In Vertex not specified"),
            ("g.mergeE([(T.label):'x',(OUT):99,(IN):1])", "!Vertex id could not be resolved from mergeE"),
            (
                "g.mergeE([(T.label):'x',(OUT):1,(IN):2]).option(onCreate,[(OUT):3])",
                "!option(onCreate) cannot override values from merge() argument",
            ),
            ("g.mergeV(['~id':1])", "!Property key can not be a hidden key: ~id"),
            ("g.mergeV([name:'marko']).option(onMatch,[age:[1]],list).values('age').count()", "2L"),
            ("g.V().has(null)", ""),
            ("g.addV('a').property(null).properties().count()", "0L"),
        ],
    );
}

#[test]
fn barriers_release_what_they_held() {
    let script = "g.V().order().by(id).barrier().aggregate('x').fold().count(local)";
    let parsed = language::parse(script, &[], language::Dialect::Open).unwrap();
    let options = Options::default();
    let plan = compile(&parsed.queries[0], &options).unwrap();
    let graph = modern();
    let mut execution = Execution::new(&plan, &graph, &options);
    while execution.next_batch().unwrap().is_some() {}
    let with_all = execution.memory_bytes();
    // Only the side effect is held at the end: six references, not six times that.
    assert!(with_all < 6 * 1_000, "{with_all}");
    let script = "g.V().order().by(id).barrier().fold().unfold().group().by(label)";
    let parsed = language::parse(script, &[], language::Dialect::Open).unwrap();
    let plan = compile(&parsed.queries[0], &options).unwrap();
    let mut execution = Execution::new(&plan, &graph, &options);
    while execution.next_batch().unwrap().is_some() {}
    assert_eq!(execution.memory_bytes(), 0);
}

#[test]
fn one_lookup_for_many() {
    let graph = modern();
    let before = graph.lookups();
    let found = run_with(&graph, "g.inject(1,2,3,4).V().id()", &Options::default()).unwrap();
    assert_eq!(found.len(), 24);
    assert_eq!(graph.lookups() - before, 1);
}
