// The Gremlin API through the JavaScript driver, with traversals that are sent as bytecode, which the service has not.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  atEach,
  attribute,
  NEWEST_DOORS,
  plain,
  refused,
  SERVICE_DOORS,
  sorted,
  strategiesOf,
  TYPED_DOORS,
  useGremlin,
} from "../lib/gremlin.mjs";

// What the version that the service recommends does not have yet is tried at these.
const NEWEST_TYPED_DOORS = NEWEST_DOORS.filter((door) => TYPED_DOORS.includes(door));

const context = useGremlin();

test("vertices and edges are added, read and dropped", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const { t: token, statics: __, P } = door.driver.process;
    const g = context.traversals(inner, door, await context.makeGraph(inner));
    const add = (id, pk, age) => g.addV("person").property(token.id, id).property("pk", pk).property("age", age);
    await add("ada", "a", 36).iterate();
    const { value: bob } = await add("bob", "b", 41).next();
    assert.ok(bob instanceof door.driver.structure.Vertex);
    assert.deepEqual([bob.id, bob.label], ["bob", "person"]);
    const { value: edge } = await g.V("ada").addE("knows").to(__.V("bob")).property("since", 1997).next();
    assert.ok(edge instanceof door.driver.structure.Edge);
    assert.deepEqual([edge.label, edge.outV.id, edge.inV.id], ["knows", "ada", "bob"]);

    assert.deepEqual(await g.V().has("age", P.gt(40)).id().toList(), ["bob"]);
    assert.deepEqual(await g.V("ada").out("knows").id().toList(), ["bob"]);
    assert.deepEqual(await g.V(bob).in_("knows").id().toList(), ["ada"], "an element stands for its id");
    assert.deepEqual(await g.E(edge).values("since").toList(), [1997]);

    await g.V("ada").property("age", 37).iterate();
    assert.deepEqual(await g.V("ada").values("age").toList(), [37]);
    await g.V("bob").drop().iterate();
    assert.deepEqual(await g.V().id().toList(), ["ada"]);
    assert.deepEqual((await g.E().count().next()).value, 0);
  }));

/** Traversals of the graph `modern` and what they give, once Maps are objects, in any order. */
const traversals = (g, { P, TextP, statics: __, order, scope, t, column, pop }) => [
  [g.V().count(), [6]],
  [g.V().hasLabel("software").values("name"), ["lop", "ripple"]],
  [g.V().has("age", P.between(27, 32)).values("name"), ["marko", "vadas"]],
  [g.V().has("age", P.gt(28).and(P.lt(33))).values("name"), ["josh", "marko"]],
  [g.V().has("age", P.lt(28).or(P.gt(33))).values("name"), ["peter", "vadas"]],
  [g.V().has("name", P.within("josh", "lop")).id(), ["josh", "lop"]],
  [g.V().has("name", P.within(["josh", "lop"])).id(), ["josh", "lop"]],
  [g.V().hasLabel("person").has("name", P.without("josh", "marko", "peter")).id(), ["vadas"]],
  [g.V().has("name", TextP.startingWith("m")).id(), ["marko"]],
  [g.V().has("name", TextP.containing("p")).id(), ["lop", "peter", "ripple"]],
  [g.V().has("age", P.not(P.eq(29))).id(), ["josh", "peter", "vadas"]],
  [g.V().has(t.label, "software").id(), ["lop", "ripple"]],
  [g.V("marko", "lop").id(), ["lop", "marko"]],
  [g.V("marko").outE("created").inV().values("name"), ["lop"]],
  [g.V("josh").both().values("name"), ["lop", "marko", "ripple"]],
  [g.V("marko").valueMap("name", "age"), [{ name: ["marko"], age: [29] }]],
  [g.V().groupCount().by(t.label), [{ person: 4, software: 2 }]],
  [
    g.V().hasLabel("person").group().by(__.out("created").count()).by(__.values("name").order().fold()),
    [{ 0: ["vadas"], 1: ["marko", "peter"], 2: ["josh"] }],
  ],
  [g.V("josh").project("name", "made").by("name").by(__.out("created").count()), [{ name: "josh", made: 2 }]],
  [g.V("marko").repeat(__.out()).times(2).values("name"), ["lop", "ripple"]],
  [g.V("marko").repeat(__.out()).until(__.has("name", "ripple")).count(), [1]],
  [g.V("marko").repeat(__.out()).emit(__.has("lang")).values("name"), ["lop", "lop", "ripple"]],
  [g.V().hasLabel("person").order().by("age", order.desc).limit(2).values("name").fold(), [["peter", "josh"]]],
  [g.V().hasLabel("person").values("age").fold().order(scope.local), [[27, 29, 32, 35]]],
  [g.V().hasLabel("person").values("age").fold().count(scope.local), [4]],
  [g.V().groupCount().by(t.label).select(column.values).unfold().sum(), [6]],
  [
    g.V("marko").as("a").out("knows").as("b").select("a", "b").by("name"),
    [
      { a: "marko", b: "josh" },
      { a: "marko", b: "vadas" },
    ],
  ],
  [g.V("marko").as("a").out("created").as("a").select(pop.all, "a").count(scope.local), [2]],
  [g.V("vadas").coalesce(__.out(), __.constant("none")), ["none"]],
  [g.V().choose(__.has("age"), __.values("age"), __.constant(0)).max(), [35]],
  [g.V("marko").union(__.out("knows"), __.out("created")).values("name"), ["josh", "lop", "vadas"]],
  [g.V().where(__.in_("created").count().is(P.gt(2))).values("name"), ["lop"]],
  [g.V().not(__.out()).values("name"), ["lop", "ripple", "vadas"]],
  [g.V().values("age").mean(), [30.75]],
  [g.V("marko").out().in_().dedup().values("name"), ["josh", "marko", "peter"]],
  [g.V("marko").out("knows").optional(__.out("created")).values("name"), ["lop", "ripple", "vadas"]],
  [g.V("marko").values("age").math("_ * 2"), [58]],
  [g.inject(1, 2, 3).fold(), [[1, 2, 3]]],
  [g.V("marko").sideEffect(__.out().aggregate("x")).cap("x").count(scope.local), [3]],
  [g.V("no-such"), []],
];

test("steps, predicates and tokens", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const g = context.traversals(inner, door, await context.modern());
    for (const [traversal, expected] of traversals(g, door.driver.process)) {
      const told = traversal.toString();
      assert.deepEqual(sorted(plain(await traversal.toList())), sorted(expected), told);
    }
  }));

test("GraphSON 2.0 carries traversals too", (t) =>
  atEach(t, SERVICE_DOORS, async (inner, door) => {
    const g = context.traversals(inner, door, await context.modern());
    assert.deepEqual(await g.V().count().next(), { value: 6, done: false });
    assert.deepEqual(sorted(await g.V("marko").out("knows").id().toList()), ["josh", "vadas"]);
  }));

test("paths, properties and maps", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const { Path, VertexProperty, Property } = door.driver.structure;
    const g = context.traversals(inner, door, await context.modern());
    const { value: path } = await g.V("marko").as("a").outE("created").as("b", "c").inV().path().next();
    assert.ok(path instanceof Path);
    assert.deepEqual(path.objects.map(({ id }) => id), ["marko", "e9", "lop"]);
    assert.deepEqual(path.labels.map((labels) => sorted(plain(labels))), [["a"], ["b", "c"], []]);
    const { value: name } = await g.V("marko").properties("name").next();
    assert.ok(name instanceof VertexProperty);
    assert.deepEqual([name.label, name.value], ["name", "marko"]);
    const { value: weight } = await g.E("e7").properties().next();
    assert.ok(weight instanceof Property);
    assert.deepEqual([weight.key, weight.value], ["weight", 0.5]);
    const { value: map } = await g.V("marko").valueMap(true).next();
    assert.ok(map instanceof Map);
    assert.deepEqual(plain(map), { id: "marko", label: "person", pk: ["people"], name: ["marko"], age: [29] });
  }));

test("results one by one", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const g = context.traversals(inner, door, await context.modern());
    const traversal = g.V().hasLabel("person").order().by("age").values("name");
    assert.equal(await traversal.hasNext(), true);
    for (const value of ["vadas", "marko", "josh", "peter"]) {
      assert.deepEqual(await traversal.next(), { value, done: false });
    }
    assert.deepEqual(await traversal.next(), { value: null, done: true });
    assert.equal(await traversal.hasNext(), false);
    assert.equal((await g.V().repeat(door.driver.process.statics.both()).times(4).toList()).length, 174);
    const some = [];
    for await (const age of g.V().values("age")) some.push(age);
    assert.deepEqual(sorted(some), [27, 29, 32, 35]);
  }));

test("options of a traversal", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const { statics: __ } = door.driver.process;
    const g = context.traversals(inner, door, await context.modern());
    const hurried = g.with_("evaluationTimeout", 100);
    await refused(hurried.V().repeat(__.both()).times(30).path().count().next(), 598, 1009);
    assert.equal((await g.with_("batchSize", 2).V().toList()).length, 6);
    assert.equal((await g.with_("userAgent", "tests").V().count().next()).value, 6);
  }));

test("strategies", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const { statics: __ } = door.driver.process;
    const { PartitionStrategy, ReadOnlyStrategy, SubgraphStrategy } = strategiesOf(door);
    const g = context.traversals(inner, door, await context.modern());
    const software = g.withStrategies(new SubgraphStrategy({ vertices: __.hasLabel("software") }));
    assert.equal((await software.V().count().next()).value, 2);
    const people = g.withStrategies(new PartitionStrategy({ partitionKey: "pk", readPartitions: ["people"] }));
    assert.equal((await people.V().count().next()).value, 4);
    const reader = g.withStrategies(new ReadOnlyStrategy());
    assert.equal((await reader.V().count().next()).value, 6);
    await refused(reader.addV("person").property("pk", "people").next(), 500, 403);
  }));

test("values of every kind", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const g = context.traversals(inner, door, await context.modern());
    const numbers = [0, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, 0.1, 1e300];
    for (const value of [...numbers, true, false, "", "\u00e9\u{1f600}"]) {
      assert.deepEqual(await g.inject(value).toList(), [value]);
    }
    assert.deepEqual(await g.inject(["a", ["b", 1]]).toList(), [["a", ["b", 1]]]);
    assert.deepEqual(plain(await g.inject(new Map([["k", [1, 2]]])).toList()), [{ k: [1, 2] }]);
    const date = new Date("2026-01-02T03:04:05.678Z");
    const [back] = await g.inject(date).toList();
    assert.equal(new Date(back).getTime(), date.getTime());
  }));

test("values are stored and come back", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const { t: token } = door.driver.process;
    const g = context.traversals(inner, door, await context.makeGraph(inner));
    const values = { zero: 0, long: 2 ** 40, part: 0.25, yes: true, no: false, text: "\u00e9\u{1f600}", empty: "" };
    const add = g.addV("values").property(token.id, "v").property("pk", "p");
    for (const [name, value] of Object.entries(values)) add.property(name, value);
    await add.iterate();
    const [found] = plain(await g.V("v").valueMap(...Object.keys(values)).toList());
    assert.deepEqual(found, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]])));
  }));

test("merging", (t) =>
  atEach(t, NEWEST_TYPED_DOORS, async (inner, door) => {
    const { t: token, merge, direction } = door.driver.process;
    const g = context.traversals(inner, door, await context.makeGraph(inner));
    const vertex = (id) => new Map([[token.id, id], [token.label, "person"], ["pk", "p"]]);
    for (const seen of [1, 2]) {
      for (const id of ["a", "b"]) {
        await g.mergeV(vertex(id)).option(merge.onMatch, new Map([["seen", seen]])).iterate();
      }
      const edge = new Map([[token.label, "knows"], [direction.out, "a"], [direction.in, "b"]]);
      await g.mergeE(edge).iterate();
    }
    assert.equal((await g.V().count().next()).value, 2);
    assert.equal((await g.E().count().next()).value, 1);
    assert.deepEqual(await g.V("a").values("seen").toList(), [2]);
  }));

test("errors", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const { t: token } = door.driver.process;
    const g = context.traversals(inner, door, await context.modern());
    const twice = g.addV("person").property(token.id, "marko").property("pk", "people").next();
    const error = await refused(twice, 500, 409, "Conflicting request to resource");
    assert.ok(error instanceof door.driver.driver.ResponseError);
    assert.ok(attribute(error.statusAttributes, "x-ms-total-request-charge") > 0);
    await refused(g.addV("person").next(), 597, 400, "partition key");
    await refused(g.V().map(() => "it.get()").toList(), 499, undefined, "ambda");
    await refused(g.V("marko").out().values("name").sum().next(), 597, 400);
    assert.equal((await g.V().count().next()).value, 6, "the connection lives on");
  }));

test("several traversals at once on a connection", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const g = context.traversals(inner, door, await context.modern());
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => g.V("marko").constant(n).next()));
    assert.deepEqual(answers.map(({ value }) => value), numbers);
  }));

test("transactions are refused", (t) =>
  atEach(t, NEWEST_TYPED_DOORS, async (inner, door) => {
    const g = context.traversals(inner, door, await context.modern());
    for (const end of ["commit", "rollback"]) {
      const transaction = g.tx();
      assert.equal((await transaction.begin().V().count().next()).value, 6);
      await refused(transaction[end](), 597, 400, "Graph does not support transactions");
    }
  }));
