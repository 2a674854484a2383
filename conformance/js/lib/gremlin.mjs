// What the tests of the Gremlin API share: the drivers and what they speak, graphs, logins, expectations.
//
// A door is one version of the driver with one format. The service tells its users to take 3.4.13 with GraphSON 2.0;
// what the drivers speak unless told otherwise, GraphSON 3.0 and GraphBinary, the service does not have.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

import newest from "gremlin";
import service from "gremlin-service";

import { useServer } from "./fixture.mjs";
import { KEY } from "./server.mjs";

export const GRAPHSON_2 = "application/vnd.gremlin-v2.0+json";
export const GRAPHSON_3 = "application/vnd.gremlin-v3.0+json";
export const GRAPH_BINARY = "application/vnd.graphbinary-v1.0";

/** The doors of applications of the service: answers are plain objects. */
export const SERVICE_DOORS = [
  { name: "3.4.13 with GraphSON 2.0", driver: service, mimeType: GRAPHSON_2 },
  { name: "3.8.2 with GraphSON 2.0", driver: newest, mimeType: GRAPHSON_2 },
];

/** The doors with types: answers are vertices, edges and paths of the driver. */
export const TYPED_DOORS = [
  { name: "3.4.13 as it comes, GraphSON 3.0", driver: service },
  { name: "3.8.2 with GraphSON 3.0", driver: newest, mimeType: GRAPHSON_3 },
  { name: "3.8.2 as it comes, GraphBinary", driver: newest },
];

export const DOORS = [...SERVICE_DOORS, ...TYPED_DOORS];

/** The doors of the newest driver, for what the other lacks. */
export const NEWEST_DOORS = DOORS.filter(({ driver }) => driver === newest);

// TinkerPop's graph `modern`, in two partitions, with an edge of known id for each pair.
const MODERN = [
  "g.addV('person').property(id,'marko').property('pk','people').property('name','marko').property('age',29)",
  "g.addV('person').property(id,'vadas').property('pk','people').property('name','vadas').property('age',27)",
  "g.addV('person').property(id,'josh').property('pk','people').property('name','josh').property('age',32)",
  "g.addV('person').property(id,'peter').property('pk','people').property('name','peter').property('age',35)",
  "g.addV('software').property(id,'lop').property('pk','things').property('name','lop').property('lang','java')",
  "g.addV('software').property(id,'ripple').property('pk','things').property('name','ripple').property('lang','java')",
  "g.V('marko').addE('knows').to(g.V('vadas')).property(id,'e7').property('weight',0.5)",
  "g.V('marko').addE('knows').to(g.V('josh')).property(id,'e8').property('weight',1.0)",
  "g.V('marko').addE('created').to(g.V('lop')).property(id,'e9').property('weight',0.4)",
  "g.V('josh').addE('created').to(g.V('ripple')).property(id,'e10').property('weight',1.0)",
  "g.V('josh').addE('created').to(g.V('lop')).property(id,'e11').property('weight',0.4)",
  "g.V('peter').addE('created').to(g.V('lop')).property(id,'e12').property('weight',0.2)",
];

/** Registers hooks that run a server for this file; adds what makes graphs and clients of them to its context. */
export function useGremlin(...flags) {
  const context = useServer("--throttle", "off", ...flags);

  /** Returns what the constructors of a driver need: the address, and the options. */
  context.arguments = (door, graph, { scheme = "wss", path = "/gremlin", key = KEY, ...more } = {}) => {
    const { driver, mimeType } = door;
    const options = {
      ...(mimeType === undefined ? {} : { mimeType }),
      ...(scheme === "wss" ? { ca: [context.server.certificate] } : {}),
      traversalSource: "g",
      authenticator: new driver.driver.auth.PlainTextSaslAuthenticator(graph, key),
      ...more,
    };
    return [`${scheme}://localhost:${context.server.gremlinPort}${path}`, options];
  };

  /** Opens a client for scripts that is closed after the test. */
  context.scripts = (test, door, graph, options = {}) => {
    const client = new door.driver.driver.Client(...context.arguments(door, graph, options));
    test.after(() => client.close());
    return client;
  };

  /** Opens a connection for traversals that is closed after the test; returns their source. */
  context.traversals = (test, door, graph, options = {}) => {
    const connection = new door.driver.driver.DriverRemoteConnection(...context.arguments(door, graph, options));
    test.after(() => connection.close());
    return door.driver.process.traversal().withRemote(connection);
  };

  /** Makes a graph that is gone after the test; returns the name that a login has for it. */
  context.makeGraph = async (test) => {
    const container = await context.makeContainer(test, { partitionKey: { paths: ["/pk"], kind: "Hash", version: 2 } });
    return `/dbs/${context.database.id}/colls/${container.id}`;
  };

  /** Makes the graph `modern`; many tests read it, none writes to it, and it is there until the end of the file. */
  const makeModern = async () => {
    const graph = await context.makeGraph({ after: () => {} });
    const client = new newest.driver.Client(...context.arguments(SERVICE_DOORS[1], graph));
    for (const script of MODERN) await client.submit(script);
    await client.close();
    return graph;
  };

  let modern;
  /** Returns the name of the graph `modern`, which the first test that asks for it makes. */
  context.modern = () => (modern ??= makeModern());

  return context;
}

/** Runs a test at each door, as a test of its own. */
export async function atEach(test, doors, action) {
  for (const door of doors) await test.test(door.name, (inner) => action(inner, door));
}

/** Runs a script and returns all results. */
export async function run(client, script, bindings, options) {
  return (await client.submit(script, bindings, options)).toArray();
}

/** Returns an attribute of a status, which typed formats give as a Map. */
export function attribute(attributes, name) {
  return attributes instanceof Map ? attributes.get(name) : attributes[name];
}

/** Expects the driver to reject with this code, and inner code, and a text in the message; returns the error. */
export async function refused(promise, code, inner, text = "") {
  let error;
  try {
    const value = await promise;
    assert.fail(`expected code ${code}, got ${JSON.stringify(value)}`);
  } catch (caught) {
    error = caught;
  }
  assert.equal(error.statusCode, code, String(error.stack));
  if (inner !== undefined) assert.equal(attribute(error.statusAttributes, "x-ms-status-code"), inner, error.message);
  assert.ok(error.statusMessage.includes(text), error.statusMessage);
  return error;
}

/** Returns plain objects and arrays for what a driver gives: Maps become objects, sets become arrays. */
export function plain(value) {
  if (value instanceof Map) {
    // Keys are texts, tokens such as `T.id`, or elements.
    const name = (key) => (typeof key === "object" ? (key.elementName ?? key.id) : key);
    return Object.fromEntries([...value].map(([key, inner]) => [name(key), plain(inner)]));
  }
  if (value instanceof Set) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
  }
  return value;
}

/** Sorts values by how they are written, for results that have no order. */
export const sorted = (values) => values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** Returns the classes of strategies, which the driver exports only by a path. */
export function strategiesOf({ driver }) {
  const name = driver === newest ? "gremlin" : "gremlin-service";
  return createRequire(import.meta.url)(`${name}/lib/process/traversal-strategy`);
}
