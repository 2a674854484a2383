// Physical partitions from outside: their ranges and figures, splits and merges by command, and waiting for them.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { KEY } from "./server.mjs";

const CHANGE_MS_MAX = 30_000;
const POLL_MS = 20;

/** Sends a request to one of the server's own endpoints, signed with the account key. */
export async function own(server, method, path, body) {
  const date = new Date().toUTCString();
  const text = `${method.toLowerCase()}\narmilla\n${path.slice(1)}\n${date.toLowerCase()}\n\n`;
  const digest = createHmac("sha256", Buffer.from(KEY, "base64")).update(text).digest("base64");
  const response = await fetch(new URL(path, server.http), {
    method,
    headers: {
      authorization: encodeURIComponent(`type=master&ver=1.0&sig=${digest}`),
      "x-ms-date": date,
      "x-ms-version": "2020-07-15",
      ...(body ? { "content-type": "application/json" } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const answer = await response.text();
  return { status: response.status, body: answer ? JSON.parse(answer) : undefined };
}

/** Returns the server's figures of one container. */
export async function figures(server, container) {
  const { status, body } = await own(server, "GET", "/_armilla/partitions");
  assert.equal(status, 200, JSON.stringify(body));
  const found = body.containers.filter(
    (one) => one.database === container.database.id && one.container === container.id,
  );
  assert.equal(found.length, 1);
  return found[0];
}

/** Returns the ids of the live ranges in the order of the ring. */
export async function rangeIds(server, container) {
  const { partitions } = await figures(server, container);
  return partitions.toSorted((a, b) => (a.minInclusive < b.minInclusive ? -1 : 1)).map(({ id }) => id);
}

/** Splits a range (`range`, else the widest) and returns the ids of all ranges once it is done. */
export const split = (server, container, body = {}) => change(server, container, "split", body);

/** Merges two neighbouring ranges and returns the ids of all ranges once it is done. */
export const merge = (server, container, ...ranges) => change(server, container, "merge", { ranges });

async function change(server, container, verb, body) {
  const before = await rangeIds(server, container);
  const path = `/_armilla/dbs/${container.database.id}/colls/${container.id}/${verb}`;
  const answer = await own(server, "POST", path, body);
  assert.equal(answer.status, 202, JSON.stringify(answer.body));
  return until(`${before} never changed by ${verb}`, async () => {
    const now = await rangeIds(server, container);
    return String(now) !== String(before) && now;
  });
}

/** Returns what the condition comes to, once it is true. */
export async function until(complaint, condition, ms = CHANGE_MS_MAX) {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    assert.ok(Date.now() < deadline, `${complaint} within ${ms} ms`);
    await sleep(POLL_MS);
  }
}
