// The scripts both suites use, and running stored procedures.

import { readFileSync } from "node:fs";

import { fresh } from "./fixture.mjs";

/** Returns the text of one of the scripts in conformance/scripts. */
export function script(name) {
  return readFileSync(new URL(`../../scripts/${name}.js`, import.meta.url), "utf8");
}

/** Creates a stored procedure from a text or a function and returns a way to call it with arguments. */
export async function register(container, body, key = "Oslo") {
  const { storedProcedure } = await container.scripts.storedProcedures.create({ id: fresh("procedure"), body });
  const call = async (...args) => (await storedProcedure.execute(key, args)).resource;
  call.on = (otherKey, ...args) => storedProcedure.execute(otherKey, args);
  call.storedProcedure = storedProcedure;
  return call;
}

/** Creates a stored procedure and executes it once. */
export async function run(container, body, ...args) {
  return (await register(container, body))(...args);
}

/** Returns every item of a container. */
export async function readAll(container) {
  return (await container.items.readAll().fetchAll()).resources;
}

/** Runs an action for every number below `count`, `width` at a time, and returns what each came to. */
export async function together(width, count, action) {
  const results = [];
  let next = 0;
  const work = async () => {
    while (next < count) {
      const number = next;
      next += 1;
      results[number] = await action(number);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return results;
}
