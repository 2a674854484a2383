// The Gremlin API through the JavaScript driver, with scripts: the version and the format that users of the service are
// told to take, the newest version, and the formats that each speaks unless told otherwise.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import {
  atEach,
  attribute,
  DOORS,
  NEWEST_DOORS,
  plain,
  refused,
  run,
  SERVICE_DOORS,
  sorted,
  TYPED_DOORS,
  useGremlin,
} from "../lib/gremlin.mjs";

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const context = useGremlin();

test("a vertex as applications of the service read it", (t) =>
  atEach(t, SERVICE_DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const [{ properties, ...vertex }] = await run(client, "g.V('marko')");
    assert.deepEqual(vertex, { id: "marko", label: "person", type: "vertex" });
    assert.deepEqual(Object.keys(properties), ["pk", "name", "age"]);
    assert.deepEqual(properties.pk, [{ id: "marko|pk", value: "people" }]);
    assert.equal(properties.name[0].value, "marko");
    assert.match(properties.name[0].id, GUID);
    assert.equal(properties.age[0].value, 29);
  }));

test("an edge as applications of the service read it", (t) =>
  atEach(t, SERVICE_DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    assert.deepEqual(await run(client, "g.E('e7')"), [
      {
        id: "e7",
        label: "knows",
        type: "edge",
        inVLabel: "person",
        outVLabel: "person",
        inV: "vadas",
        outV: "marko",
        properties: { weight: 0.5 },
      },
    ]);
  }));

test("elements with types", (t) =>
  atEach(t, TYPED_DOORS, async (inner, door) => {
    const { Vertex, Edge, VertexProperty, Path } = door.driver.structure;
    const client = context.scripts(inner, door, await context.modern());
    const [vertex] = await run(client, "g.V('marko')");
    assert.ok(vertex instanceof Vertex);
    assert.deepEqual([vertex.id, vertex.label], ["marko", "person"]);
    const [edge] = await run(client, "g.E('e7')");
    assert.ok(edge instanceof Edge);
    assert.deepEqual([edge.id, edge.label, edge.outV.id, edge.inV.id], ["e7", "knows", "marko", "vadas"]);
    const [property] = await run(client, "g.V('marko').properties('name')");
    assert.ok(property instanceof VertexProperty);
    assert.deepEqual([property.label, property.value], ["name", "marko"]);
    assert.match(property.id, GUID);
    const [weight] = await run(client, "g.E('e7').properties('weight')");
    assert.deepEqual([weight.key, weight.value], ["weight", 0.5]);
    const [path] = await run(client, "g.V('marko').as('a').outE('created').inV().path()");
    assert.ok(path instanceof Path);
    assert.deepEqual(path.objects.map(({ id }) => id), ["marko", "e9", "lop"]);
    assert.deepEqual(plain(path.labels), [["a"], [], []]);
  }));

// What each gives is the same at every door, once Maps are objects.
const STEPS = [
  ["g.V().count()", [6]],
  ["g.E().count()", [6]],
  ["g.V().hasLabel('software').values('name')", ["lop", "ripple"]],
  ["g.V().has('age', gt(30)).values('name')", ["josh", "peter"]],
  ["g.V().has('person','name',within('josh','vadas')).id()", ["josh", "vadas"]],
  ["g.V(['people','marko']).values('age')", [29]],
  ["g.V('marko').out('knows').values('name')", ["josh", "vadas"]],
  ["g.V('lop').in('created').values('name')", ["josh", "marko", "peter"]],
  ["g.V('josh').both().values('name')", ["lop", "marko", "ripple"]],
  ["g.V('marko').outE('knows').has('weight', gt(0.5)).inV().values('name')", ["josh"]],
  ["g.V('marko').bothE('created').otherV().id()", ["lop"]],
  ["g.V('marko').valueMap('name','age')", [{ name: ["marko"], age: [29] }]],
  ["g.V('marko').valueMap(true,'name')", [{ id: "marko", label: "person", name: ["marko"] }]],
  ["g.E('e7').valueMap()", [{ weight: 0.5 }]],
  ["g.V().groupCount().by(label)", [{ person: 4, software: 2 }]],
  ["g.V().hasLabel('software').group().by('lang').by(values('name').order().fold())", [{ java: ["lop", "ripple"] }]],
  [
    "g.V('josh').project('name','made').by('name').by(out('created').count())",
    [{ name: "josh", made: 2 }],
  ],
  ["g.V('marko').repeat(out()).times(2).values('name')", ["lop", "ripple"]],
  ["g.V('marko').repeat(out()).until(has('name','ripple')).path().by('name').unfold()", ["josh", "marko", "ripple"]],
  ["g.V('marko').repeat(out()).emit().values('name')", ["josh", "lop", "lop", "ripple", "vadas"]],
  ["g.V().hasLabel('person').order().by('age', decr).limit(1).values('name')", ["peter"]],
  ["g.V().values('age').sum()", [123]],
  ["g.V().values('age').mean()", [30.75]],
  ["g.V().out().dedup().count()", [4]],
  [
    "g.V('marko').as('a').out('knows').as('b').select('a','b').by('name')",
    [
      { a: "marko", b: "josh" },
      { a: "marko", b: "vadas" },
    ],
  ],
  ["g.V('vadas').coalesce(out('knows'), constant('none'))", ["none"]],
  ["g.V().choose(has('age'), values('age'), constant(0)).max()", [35]],
  ["g.V('marko').union(out('knows'), out('created')).values('name')", ["josh", "lop", "vadas"]],
  ["g.V().where(__.in('created').count().is(gt(2))).values('name')", ["lop"]],
  ["g.V().not(out()).values('name')", ["lop", "ripple", "vadas"]],
  ["g.inject(1, 2.5, true, 'text')", ["text", 1, 2.5, true]],
  ["g.V('no-such')", []],
];

test("steps", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    for (const [script, expected] of STEPS) {
      assert.deepEqual(sorted(plain(await run(client, script))), sorted(expected), script);
    }
  }));

test("paths and trees as applications of the service read them", (t) =>
  atEach(t, SERVICE_DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    assert.deepEqual(await run(client, "g.V('marko').as('x').out('created').path().by('name')"), [
      { labels: [["x"], []], objects: ["marko", "lop"] },
    ]);
    assert.deepEqual(await run(client, "g.V('peter').out().tree().by('name')"), [
      { peter: { key: "peter", value: { lop: { key: "lop", value: {} } } } },
    ]);
  }));

test("bindings", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const ids = (script, bindings) => run(client, script, bindings).then(sorted);
    assert.deepEqual(await ids("g.V(who).id()", { who: "marko" }), ["marko"]);
    assert.deepEqual(await ids("g.V().hasLabel(kind).id()", { kind: "software" }), ["lop", "ripple"]);
    assert.deepEqual(await ids("g.V().has(name, gt(age)).id()", { name: "age", age: 30 }), ["josh", "peter"]);
    assert.deepEqual(await ids("g.E().has('weight', lt(most)).id()", { most: 0.45 }), ["e11", "e12", "e9"]);
    assert.deepEqual(await ids("g.V().has('name', within(names)).id()", { names: ["lop", "josh"] }), ["josh", "lop"]);
    assert.deepEqual(await ids("g.V().hasLabel('person').order().by('age').limit(n).id()", { n: 1 }), ["vadas"]);
    assert.deepEqual(await run(client, "g.inject(x)", { x: true }), [true]);
    assert.deepEqual(await run(client, "g.inject(x)", { x: "it's \"quoted\" \u00e9\u{1f600}\n" }), [
      "it's \"quoted\" \u00e9\u{1f600}\n",
    ]);
    assert.deepEqual(await run(client, "g.inject(x)", { x: -1.5e-7 }), [-1.5e-7]);
  }));

test("as many bindings as literals", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const names = Array.from({ length: 300 }, (_, number) => `_${number}`);
    const bindings = Object.fromEntries(names.map((name, number) => [name, number]));
    const found = await run(client, `g.inject(${names.join(",")})`, bindings);
    assert.deepEqual(found, Object.values(bindings));
  }));

test("vertices and edges are added, changed and dropped", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.makeGraph(inner));
    const add = "g.addV('person').property('id', who).property('pk', pk).property('name', name)";
    await run(client, add, { who: "ada", pk: "a", name: "Ada" });
    await run(client, add, { who: "bob", pk: "b", name: "Bob" });
    await run(client, "g.V(a).addE('knows').to(g.V(b)).property('since', 1997)", { a: "ada", b: "bob" });
    assert.deepEqual(await run(client, "g.V('ada').outE('knows').values('since')"), [1997]);
    assert.deepEqual(await run(client, "g.V('bob').in().values('name')"), ["Ada"]);

    const change = "g.V('ada').property('name', n).property(list, 'town', 'Oslo').property(list, 'town', 'Rome')";
    await run(client, change, { n: "Ada L." });
    assert.deepEqual(await run(client, "g.V('ada').values('name')"), ["Ada L."]);
    assert.deepEqual(sorted(await run(client, "g.V('ada').values('town')")), ["Oslo", "Rome"]);
    await run(client, "g.V('ada').properties('town').hasValue('Rome').drop()");
    assert.deepEqual(await run(client, "g.V('ada').values('town')"), ["Oslo"]);

    const upsert =
      "g.V(who).fold().coalesce(unfold(), addV('person').property('id', who).property('pk', 'c')).property('seen', n)";
    for (const n of [1, 2]) await run(client, upsert, { who: "cleo", n });
    assert.deepEqual(await run(client, "g.V('cleo').values('seen')"), [2]);

    assert.deepEqual(await run(client, "g.V('bob').drop()"), []);
    assert.deepEqual(await run(client, "g.E().count()"), [0]);
    assert.deepEqual(sorted(await run(client, "g.V().id()")), ["ada", "cleo"]);
  }));

test("the price of an answer", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const { attributes } = await client.submit("g.V().has('name','josh')");
    assert.equal(attribute(attributes, "x-ms-status-code"), 200);
    assert.ok(attribute(attributes, "x-ms-request-charge") > 0);
    assert.ok(attribute(attributes, "x-ms-total-request-charge") >= attribute(attributes, "x-ms-request-charge"));
    assert.ok(attribute(attributes, "x-ms-total-server-time-ms") > 0);
    assert.match(attribute(attributes, "x-ms-activity-id"), GUID);
    const nothing = await client.submit("g.V('no-such')");
    assert.deepEqual(nothing.toArray(), []);
    assert.equal(attribute(nothing.attributes, "x-ms-status-code"), 200);
  }));

const ERRORS = [
  ["g.V().dance()", 597, 400, "Unable to find any method 'dance' @ line 1, column 12."],
  ["g.V().out(", 597, 400, "line 1, column"],
  ["g.V().has('name', unknown)", 597, 400, "Unable to resolve symbol 'unknown' in the current context."],
  ["g.V().filter{it.get()}", 597, 400, "Unsupported groovy language rule: 'closure'"],
  ["", 597, 400, "The script ends too early"],
  ["g.addV('person').property('id','x')", 597, 400, "partition key"],
  ["g.addV('person').property('id','marko').property('pk','people')", 500, 409, "Conflicting request to resource"],
  ["g.V('marko').property('pk','others')", 597, 400, "pk"],
  ["g.V('marko').property('_etag','x')", 597, 400, "_etag"],
  ["g.V().values('name').sum()", 597, 400, ""],
];

test("errors and their attributes", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    for (const [script, code, status, text] of ERRORS) {
      const error = await refused(client.submit(script), code, status, text);
      assert.ok(error instanceof door.driver.driver.ResponseError);
      assert.ok(error.message.startsWith("Server error: "), error.message);
      assert.match(attribute(error.statusAttributes, "x-ms-activity-id"), GUID);
    }
    assert.deepEqual(await run(client, "g.V().count()"), [6], "the connection lives on");
  }));

test("a limit of time", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const endless = "g.V().repeat(both()).times(30).path().count()";
    const started = Date.now();
    await refused(client.submit(endless, {}, { evaluationTimeout: 100 }), 598, 1009);
    assert.ok(Date.now() - started < 5_000);
    assert.deepEqual(await run(client, "g.V().count()", {}, { evaluationTimeout: 10_000 }), [6]);
  }));

test("large results are put together", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const many = Array.from({ length: 1_000 }, (_, number) => number);
    assert.deepEqual(await run(client, "g.inject(many).unfold()", { many }), many);
    const text = "x".repeat(20_000);
    const long = await run(client, "g.inject(many).unfold().constant(text)", { many: many.slice(0, 200), text });
    assert.deepEqual(long, many.slice(0, 200).map(() => text));
    assert.equal((await run(client, "g.V().repeat(both()).times(4)")).length, 174);
  }));

test("large results are streamed in parts", (t) =>
  atEach(t, NEWEST_DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const many = Array.from({ length: 150 }, (_, number) => number);
    const parts = async (options) => {
      const found = [];
      for await (const part of client.stream("g.inject(many).unfold()", { many }, options)) {
        assert.equal(attribute(part.attributes, "x-ms-status-code"), 200);
        found.push(part.toArray());
      }
      return found;
    };
    for (const [options, sizes] of [
      [{}, [64, 64, 22]],
      [{ batchSize: 100 }, [100, 50]],
      [{ batchSize: 1_000 }, [150]],
    ]) {
      const found = await parts(options);
      assert.deepEqual(found.map((part) => part.length), sizes);
      assert.deepEqual(found.flat(), many);
    }
    let total = 0;
    for await (const part of client.stream("g.V().repeat(both()).times(4)", {})) {
      const now = attribute(part.attributes, "x-ms-total-request-charge");
      assert.ok(now >= total, "the sum of the charges grows");
      total = now;
    }
    assert.ok(total > 0);
    await refused(client.stream("g.V().dance()").toArray(), 597, 400);
  }));

test("several requests at once on a connection", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    await client.submit("g.inject(0)");
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        n % 10 === 9
          ? refused(client.submit("g.V().dance()"), 597, 400).then(() => n)
          : run(client, "g.V('marko').out('knows').count().map(constant(n))", { n }).then(([found]) => found),
      ),
    );
    assert.deepEqual(answers, Array.from({ length: 100 }, (_, n) => n));
  }));

test("a burst of requests on a connection that has not logged in", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => run(client, "g.inject(n)", { n })));
    assert.deepEqual(answers, numbers.map((n) => [n]));
  }));

test("an id of the application's own for a request", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern());
    const requestId = randomUUID();
    assert.deepEqual(await run(client, "g.inject(1)", {}, { requestId }), [1]);
    const error = await refused(client.submit("g.V().dance()", {}, { requestId, userAgent: "tests" }), 597, 400);
    assert.ok(error.statusMessage.includes(`GremlinRequestId : ${requestId}`), error.statusMessage);
  }));

test("sessions keep nothing and are closed", (t) =>
  atEach(t, DOORS, async (inner, door) => {
    const client = context.scripts(inner, door, await context.modern(), { session: randomUUID() });
    assert.deepEqual(await run(client, "g.V().count()"), [6]);
    await refused(client.submit("x = 1"), 597, 400);
  }));
