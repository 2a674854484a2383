"""Each step, predicate and modulator of the Gremlin API by its name, on TinkerPop's graph `modern` in two partitions.

Results are compared without their order unless a case orders them; COMPAT.md has a row for each name.
"""

import pytest
from azure.cosmos import CosmosClient, PartitionKey

from gremlin import connect, refused, run
from server import KEY

VERTICES = [
    ("1", "person", "marko", 29),
    ("2", "person", "vadas", 27),
    ("3", "software", "lop", None),
    ("4", "person", "josh", 32),
    ("5", "software", "ripple", None),
    ("6", "person", "peter", 35),
]
EDGES = [
    ("7", "1", "knows", "2", 0.5),
    ("8", "1", "knows", "4", 1.0),
    ("9", "1", "created", "3", 0.4),
    ("10", "4", "created", "5", 1.0),
    ("11", "4", "created", "3", 0.4),
    ("12", "6", "created", "3", 0.2),
]


def fill(client) -> None:
    """Makes the graph."""
    run(client, "g.V().drop()")
    for place, (id_, label, name, age) in enumerate(VERTICES):
        more = f".property('age', {age})" if age else ".property('lang', 'java')"
        made = f"g.addV('{label}').property('id', '{id_}').property('pk', 'p{place % 2}').property('name', '{name}')"
        run(client, made + more)
    for id_, out, label, into, weight in EDGES:
        run(
            client,
            f"g.V('{out}').addE('{label}').to(g.V('{into}')).property('id', '{id_}').property('weight', {weight})",
        )


@pytest.fixture(scope="module")
def graph_of_module(server):
    """A graph of this file's own."""
    with CosmosClient(server.https, KEY, connection_verify=str(server.certificate)) as sdk:
        database = sdk.create_database("each-step")
        database.create_container("modern", PartitionKey("/pk"), offer_throughput=10_000)
        yield "/dbs/each-step/colls/modern"
        sdk.delete_database("each-step")


@pytest.fixture(scope="module")
def modern(server, graph_of_module):
    """A client of the graph, for those that only read."""
    client = connect(server, graph_of_module)
    fill(client)
    yield client
    client.close()


def unordered(value):
    """Makes results that differ by their order alone the same."""
    return sorted(value, key=repr) if isinstance(value, list) else value


NAMES = ["marko", "vadas", "lop", "josh", "ripple", "peter"]

READS = {
    "V": ("g.V().values('name')", NAMES),
    "V(id)": ("g.V('1', '4').values('name')", ["marko", "josh"]),
    "V([partition, id])": ("g.V(['p0', '1'], ['p1', '4']).values('name')", ["marko", "josh"]),
    "V in the middle": ("g.V('1').V('4').values('name')", ["josh"]),
    "E": ("g.E().values('weight')", [0.5, 1.0, 0.4, 1.0, 0.4, 0.2]),
    "E(id)": ("g.E('7').values('weight')", [0.5]),
    "E([partition, id])": ("g.E(['p0', '7']).values('weight')", [0.5]),
    "out": ("g.V('1').out().values('name')", ["lop", "vadas", "josh"]),
    "out(label)": ("g.V('1').out('knows').values('name')", ["vadas", "josh"]),
    "in": ("g.V('3').in().values('name')", ["marko", "josh", "peter"]),
    "both": ("g.V('4').both().values('name')", ["marko", "ripple", "lop"]),
    "outE": ("g.V('1').outE().id()", ["7", "8", "9"]),
    "inE": ("g.V('3').inE('created').id()", ["9", "11", "12"]),
    "bothE": ("g.V('4').bothE().id()", ["8", "10", "11"]),
    "outV": ("g.E('8').outV().id()", ["1"]),
    "inV": ("g.E('8').inV().id()", ["4"]),
    "bothV": ("g.E('8').bothV().id()", ["1", "4"]),
    "otherV": ("g.V('4').bothE().otherV().id()", ["1", "5", "3"]),
    "has(key)": ("g.V().has('age').values('name')", ["marko", "vadas", "josh", "peter"]),
    "has(key, value)": ("g.V().has('name', 'josh').id()", ["4"]),
    "has(key, predicate)": ("g.V().has('age', gt(30)).id()", ["4", "6"]),
    "has(token, value)": ("g.V().has(id, '1').values('name')", ["marko"]),
    "has('id'), has('label')": ("g.V().has('label', 'software').has('id', '3').values('name')", ["lop"]),
    "has(label, key, value)": ("g.V().has('person', 'name', 'josh').id()", ["4"]),
    "hasLabel": ("g.V().hasLabel('software').id()", ["3", "5"]),
    "hasId": ("g.V().hasId('1', '2').values('name')", ["marko", "vadas"]),
    "hasNot": ("g.V().hasNot('age').id()", ["3", "5"]),
    "hasKey": ("g.V('1').properties().hasKey('name').value()", ["marko"]),
    "hasValue": ("g.V('1').properties().hasValue(29).key()", ["age"]),
    "is": ("g.V().values('age').is(lt(30))", [29, 27]),
    "not": ("g.V().not(hasLabel('person')).id()", ["3", "5"]),
    "and": ("g.V().and(has('age', gt(28)), out('knows')).id()", ["1"]),
    "and between": ("g.V().where(has('age', gt(28)).and().out('knows')).id()", ["1"]),
    "or": ("g.V().or(has('lang'), has('age', lt(28))).id()", ["2", "3", "5"]),
    "filter": ("g.V().filter(out('created')).id()", ["1", "4", "6"]),
    "where(predicate)": (
        "g.V('1').as('a').out('created').in('created').where(neq('a')).id()",
        ["4", "6"],
    ),
    "where(label, predicate).by": (
        "g.V().as('a').out('knows').as('b').where('a', lt('b')).by('age').select('b').id()",
        ["4"],
    ),
    "where(traversal)": ("g.V().where(out('created').count().is(gt(1))).id()", ["4"]),
    "where(as)": (
        "g.V().as('a').out('created').as('b').where(__.as('b').in('created').count().is(1)).select('a').id()",
        ["4"],
    ),
    "as, select": ("g.V('1').as('a').out('knows').select('a').id()", ["1", "1"]),
    "select of several": (
        "g.V('4').as('a').out('created').as('b').select('a', 'b').by('name')",
        [{"a": "josh", "b": "ripple"}, {"a": "josh", "b": "lop"}],
    ),
    "select(Pop)": ("g.V('1').as('a').out('knows').as('a').select(first, 'a').id()", ["1", "1"]),
    "select(keys), select(values)": ("g.V().groupCount().by(label).select(values).unfold()", [4, 2]),
    "by": ("g.V().order().by('age', desc).values('name').limit(1)", ["peter"]),
    "values": ("g.V('1').values('name', 'age')", ["marko", 29]),
    "valueMap": ("g.V('1').valueMap('name', 'age')", [{"name": ["marko"], "age": [29]}]),
    "valueMap(true)": (
        "g.V('3').valueMap(true, 'lang')",
        [{"id": "3", "label": "software", "lang": ["java"]}],
    ),
    "valueMap of edges": ("g.E('7').valueMap()", [{"weight": 0.5}]),
    "propertyMap": ("g.E('7').propertyMap('weight')", [{"weight": {"key": "weight", "value": 0.5}}]),
    "properties": ("g.V('1').properties('name').value()", ["marko"]),
    "elementMap": ("g.V('3').elementMap('name')", [{"id": "3", "label": "software", "name": "lop"}]),
    "id": ("g.V().hasLabel('software').id()", ["3", "5"]),
    "label": ("g.V('1', '3').label()", ["person", "software"]),
    "key": ("g.V('1').properties('age').key()", ["age"]),
    "value": ("g.V('1').properties('age').value()", [29]),
    "identity": ("g.V('1').identity().id()", ["1"]),
    "constant": ("g.V('1').constant('x')", ["x"]),
    "count": ("g.V().count()", [6]),
    "count of nothing": ("g.V('none').count()", [0]),
    "count(local)": ("g.V('1').out().fold().count(local)", [3]),
    "sum": ("g.V().values('age').sum()", [123]),
    "sum of nothing": ("g.V('none').values('age').sum()", []),
    "max": ("g.V().values('age').max()", [35]),
    "min": ("g.V().values('name').min()", ["josh"]),
    "mean": ("g.V().values('age').mean()", [30.75]),
    "fold": ("g.V('1').values('name').fold()", [["marko"]]),
    "fold(seed, operator)": ("g.V().values('age').fold(0, sum)", [123]),
    "unfold": ("g.V('1').values('name', 'age').fold().unfold()", ["marko", 29]),
    "group": (
        "g.V().group().by(label).by(values('age').sum())",
        [{"person": 123}],
    ),
    "group(key)": ("g.V().group('m').by(label).by(count()).cap('m')", [{"person": 4, "software": 2}]),
    "groupCount": ("g.V().groupCount().by(label)", [{"person": 4, "software": 2}]),
    "groupCount(key)": ("g.V().groupCount('m').by(label).cap('m')", [{"person": 4, "software": 2}]),
    "order": ("g.V().values('name').order().fold()", [sorted(NAMES)]),
    "order(local)": ("g.V().values('age').fold().order(local).by(desc)", [[35, 32, 29, 27]]),
    "order by incr and decr": ("g.V().values('age').order().by(decr).fold()", [[35, 32, 29, 27]]),
    "limit": ("g.V().limit(2).count()", [2]),
    "limit(local)": ("g.inject([1, 2, 3]).limit(local, 2)", [[1, 2]]),
    "range": ("g.V().order().by('name').range(1, 3).values('name')", ["lop", "marko"]),
    "skip": ("g.V().order().by('name').skip(4).values('name')", ["ripple", "vadas"]),
    "tail": ("g.V().order().by('name').tail(1).values('name')", ["vadas"]),
    "sample": ("g.V().sample(3).count()", [3]),
    "coin": ("g.V().coin(1.0).count()", [6]),
    "dedup": ("g.V().out('created').dedup().values('name')", ["lop", "ripple"]),
    "dedup(labels)": ("g.V().as('a').out('created').dedup('a').select('a').id()", ["1", "4", "6"]),
    "dedup(local)": ("g.inject([1, 1, 2]).dedup(local)", [[1, 2]]),
    "path": (
        "g.V('1').out('knows').out('created').path().by('name')",
        [{"labels": [[], [], []], "objects": ["marko", "josh", name]} for name in ("ripple", "lop")],
    ),
    "simplePath": ("g.V('1').both().both().simplePath().values('name')", ["ripple", "lop", "josh", "peter"]),
    "cyclicPath": ("g.V('1').both().both().cyclicPath().dedup().id()", ["1"]),
    "tree": (
        "g.V('4').out('created').tree().by('name')",
        [{"josh": {"key": "josh", "value": {name: {"key": name, "value": {}} for name in ("ripple", "lop")}}}],
    ),
    "project": ("g.V('3').project('n', 'c').by('name').by(__.in().count())", [{"n": "lop", "c": 3}]),
    "union": ("g.V('4').union(out('created'), __.in('knows')).values('name')", ["ripple", "lop", "marko"]),
    "coalesce": ("g.V('2', '4').coalesce(out('created'), identity()).values('name')", ["vadas", "ripple", "lop"]),
    "optional": ("g.V('2', '1').optional(out('knows')).id()", ["2", "2", "4"]),
    "choose(test, then, else)": (
        "g.V().hasLabel('person').choose(values('age').is(lte(30)), constant('young'), constant('old'))",
        ["young", "young", "old", "old"],
    ),
    "choose, option": (
        "g.V('1', '3').choose(label()).option('person', values('name')).option('software', values('lang'))",
        ["marko", "java"],
    ),
    "repeat, times": ("g.V('1').repeat(out()).times(2).values('name')", ["ripple", "lop"]),
    "repeat, until": ("g.V('1').repeat(out()).until(has('lang')).values('name')", ["lop", "ripple", "lop"]),
    "until before repeat": ("g.V('3').until(has('lang')).repeat(out()).values('name')", ["lop"]),
    "repeat, emit": ("g.V('1').repeat(out('knows')).emit().times(2).values('name')", ["vadas", "josh"]),
    "emit before repeat": ("g.V('1').emit().repeat(out('knows')).times(1).values('name')", ["marko", "vadas", "josh"]),
    "loops": ("g.V('1').repeat(out()).until(loops().is(2)).values('name')", ["ripple", "lop"]),
    "local": ("g.V('1', '4').local(outE('created').limit(1)).count()", [2]),
    "flatMap": ("g.V('4').flatMap(out('created')).values('name')", ["ripple", "lop"]),
    "map": ("g.V('4').map(out('created').count())", [2]),
    "sideEffect": ("g.V('1').sideEffect(out().aggregate('x')).cap('x').unfold().count()", [3]),
    "store": ("g.V('1').store('x').cap('x').unfold().id()", ["1"]),
    "aggregate": ("g.V('1').out().aggregate('x').cap('x').unfold().values('name')", ["lop", "vadas", "josh"]),
    "cap of several": (
        "g.V('1').as('a').aggregate('x').out('knows').aggregate('y').cap('x', 'y').select(keys).unfold()",
        ["x", "y"],
    ),
    "inject": ("g.inject(1, 2)", [1, 2]),
    "inject in the middle": ("g.V('1').values('name').inject('x')", ["x", "marko"]),
    "math": ("g.V('1').values('age').math('_ * 2')", [58.0]),
    "sack": ("g.withSack(1.0).V('1').outE('knows').sack(mult).by('weight').inV().sack()", [0.5, 1.0]),
    "withSideEffect": ("g.withSideEffect('x', 7).V('1').constant(0).select('x')", [7]),
    "match": (
        "g.V().match(__.as('a').out('created').as('b'), __.as('b').has('name', 'ripple')).select('a').by('name')",
        ["josh"],
    ),
    "barrier": ("g.V().barrier().count()", [6]),
    "index": ("g.V('1').values('name').fold().index().unfold()", [["marko", 0]]),
    "branch": ("g.V('1').branch(label()).option('person', values('name'))", ["marko"]),
    "element": ("g.V('1').properties('name').element().id()", ["1"]),
    "timeLimit": ("g.V().timeLimit(10000).count()", [6]),
    "concat": ("g.V('1').values('name').concat('!')", ["marko!"]),
    "toUpper, toLower": ("g.V('1').values('name').toUpper()", ["MARKO"]),
    "length": ("g.V('1').values('name').length()", [5]),
    "substring": ("g.V('1').values('name').substring(1, 3)", ["ar"]),
    "split": ("g.inject('a,b').split(',')", [["a", "b"]]),
    "replace": ("g.V('1').values('name').replace('k', 'c')", ["marco"]),
    "trim": ("g.inject(' a ').trim()", ["a"]),
    "reverse": ("g.inject('abc').reverse()", ["cba"]),
    "asString": ("g.inject(1).asString()", ["1"]),
    "asNumber": ("g.inject('12').asNumber()", [12]),
    "asBool": ("g.inject('true').asBool()", [True]),
    "combine": ("g.inject([1]).combine([2])", [[1, 2]]),
    "difference": ("g.inject([1, 2]).difference([2])", [[1]]),
    "intersect": ("g.inject([1, 2]).intersect([2, 3])", [[2]]),
    "conjoin": ("g.inject(['a', 'b']).conjoin('-')", ["a-b"]),
    "all": ("g.inject([1, 2], [0, 5]).all(gt(0))", [[1, 2]]),
    "any": ("g.inject([1, 2], [0, -5]).any(gt(0))", [[1, 2]]),
    "terminal steps": ("g.V('1').values('name').toList()", ["marko"]),
}

PREDICATES = {
    "eq": ("eq(29)", ["1"]),
    "neq": ("neq(29)", ["2", "4", "6"]),
    "lt": ("lt(29)", ["2"]),
    "lte": ("lte(29)", ["1", "2"]),
    "gt": ("gt(32)", ["6"]),
    "gte": ("gte(32)", ["4", "6"]),
    "inside": ("inside(27, 32)", ["1"]),
    "outside": ("outside(28, 34)", ["2", "6"]),
    "between": ("between(27, 32)", ["1", "2"]),
    "within": ("within(27, 35)", ["2", "6"]),
    "without": ("without(27, 35)", ["1", "4"]),
    "not": ("not(gt(30))", ["1", "2"]),
    "and": ("gt(27).and(lt(32))", ["1"]),
    "or": ("lt(28).or(gt(34))", ["2", "6"]),
    "negate": ("gt(30).negate()", ["1", "2"]),
    "a number of another kind": ("29.0", ["1"]),
}

TEXTS = {
    "startingWith": ("startingWith('ma')", ["1"]),
    "notStartingWith": ("notStartingWith('ma')", ["2", "3", "4", "5", "6"]),
    "endingWith": ("TextP.endingWith('o')", ["1"]),
    "notEndingWith": ("notEndingWith('o')", ["2", "3", "4", "5", "6"]),
    "containing": ("containing('p')", ["3", "5", "6"]),
    "notContaining": ("notContaining('p')", ["1", "2", "4"]),
    "regex": ("regex('^.o')", ["3", "4"]),
    "notRegex": ("notRegex('^.o')", ["1", "2", "5", "6"]),
}


@pytest.mark.parametrize("name", READS)
def test_each_step(modern, name):
    script, expected = READS[name]
    assert unordered(run(modern, script)) == unordered(expected)


@pytest.mark.parametrize("name", PREDICATES)
def test_each_predicate(modern, name):
    predicate, expected = PREDICATES[name]
    assert unordered(run(modern, f"g.V().has('age', {predicate}).id()")) == unordered(expected)
    assert unordered(run(modern, f"g.V().has('age').filter(values('age').is({predicate})).id()")) == unordered(expected)


@pytest.mark.parametrize("name", TEXTS)
def test_each_predicate_of_texts(modern, name):
    predicate, expected = TEXTS[name]
    assert unordered(run(modern, f"g.V().has('name', {predicate}).id()")) == unordered(expected)
    assert unordered(run(modern, f"g.V().filter(values('name').is({predicate})).id()")) == unordered(expected)


WRITES = {
    "addV": (["g.addV('person').property('id', 'a').property('pk', 'x')"], "g.V('a').label()", ["person"]),
    "addV without a label": (["g.addV().property('id', 'a').property('pk', 'x')"], "g.V('a').label()", ["vertex"]),
    "addE": (["g.V('1').addE('likes').to(g.V('6'))"], "g.V('1').out('likes').id()", ["6"]),
    "addE, from": (["g.V('1').addE('likes').from(g.V('6'))"], "g.V('6').out('likes').id()", ["1"]),
    "addE, from and to at the start": (
        ["g.addE('likes').from(g.V('2')).to(g.V('3'))"],
        "g.V('2').out('likes').id()",
        ["3"],
    ),
    "addE by a label of a step": (
        ["g.V('2').as('a').V('6').addE('likes').from('a')"],
        "g.V('2').out('likes').id()",
        ["6"],
    ),
    "property": (["g.V('1').property('age', 30)"], "g.V('1').values('age')", [30]),
    "property(list)": (
        ["g.V('1').property(list, 'town', 'Oslo').property(list, 'town', 'Rome')"],
        "g.V('1').values('town')",
        ["Oslo", "Rome"],
    ),
    "property(single)": (
        ["g.V('1').property(list, 'town', 'Oslo')", "g.V('1').property(single, 'town', 'Rome')"],
        "g.V('1').values('town')",
        ["Rome"],
    ),
    "property with properties": (
        ["g.V('1').property(list, 'town', 'Oslo', 'since', 1997)"],
        "g.V('1').properties('town').values('since')",
        [1997],
    ),
    "property of an edge": (["g.E('7').property('weight', 0.75)"], "g.E('7').values('weight')", [0.75]),
    "drop of a vertex": (["g.V('3').drop()"], "g.V('1').outE('created').count()", [0]),
    "drop of an edge": (["g.E('7').drop()"], "g.V('1').outE('knows').id()", ["8"]),
    "drop of a property": (["g.V('1').properties('age').drop()"], "g.V('1').has('age').count()", [0]),
    "mergeV": (
        [
            "g.mergeV([(T.id): 'm', (T.label): 'person', 'pk': 'x', 'name': 'mia'])",
            "g.mergeV([(T.id): 'm', 'pk': 'x']).option(onMatch, ['name': 'mona'])",
        ],
        "g.V('m').values('name')",
        ["mona"],
    ),
    "mergeE": (
        ["g.mergeE([(T.label): 'likes', (Direction.from): '1', (Direction.to): '6'])"] * 2,
        "g.V('1').outE('likes').count()",
        [1],
    ),
    "upsert by fold, coalesce, unfold": (
        ["g.V('n').fold().coalesce(unfold(), addV('person').property('id', 'n').property('pk', 'x'))"] * 2,
        "g.V('n').count()",
        [1],
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_each_step_that_writes(server, graph, name):
    client = connect(server, graph)
    fill(client)
    scripts, question, expected = WRITES[name]
    for script in scripts:
        run(client, script)
    assert unordered(run(client, question)) == unordered(expected)
    client.close()


REFUSED = {
    "subgraph": "g.E().subgraph('x').cap('x')",
    "pageRank": "g.V().pageRank()",
    "peerPressure": "g.V().peerPressure()",
    "connectedComponent": "g.V().connectedComponent()",
    "shortestPath": "g.V().shortestPath()",
    "call": "g.call('--list')",
    "io": "g.io('x').read()",
    "closures": "g.V().filter{it.get()}",
    "fail": "g.V().fail('no')",
    "withComputer": "g.withComputer().V()",
}


@pytest.mark.parametrize("name", REFUSED)
def test_each_step_that_there_is_not(modern, name):
    with refused(595 if name == "fail" else 597):
        run(modern, REFUSED[name])


def test_execution_profile(modern):
    (profile,) = run(modern, "g.V('1').out().executionProfile()")
    assert profile["totalTime"] >= 0
    names = [metric["name"] for metric in profile["metrics"]]
    assert "GetVertices" in names
    assert all(metric["time"] >= 0 for metric in profile["metrics"])
    assert sum(operation["count"] for metric in profile["metrics"] for operation in metric.get("storeOps", [])) > 0


def test_profile_and_explain(modern):
    (profile,) = run(modern, "g.V().out().profile()")
    assert profile["metrics"]
    assert run(modern, "g.V().out().explain()")
