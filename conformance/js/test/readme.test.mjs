// The README's JavaScript snippets, run as they are printed, each as a program of its own; only the port is another.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { serve } from "../lib/fixture.mjs";
import { KEY } from "../lib/server.mjs";

const README = new URL("../../../README.md", import.meta.url);
// The libraries are looked up from here.
const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const MS_MAX = 60_000;

function snippets() {
  const fences = readFileSync(README, "utf8").matchAll(/^```(?:js|javascript|mjs)\n(.*?)^```$/gms);
  return [...fences].map(([, snippet]) => snippet);
}

/** Runs a snippet as the README says, with the server's certificate trusted; returns what it prints. */
async function run(server, snippet) {
  const moved = snippet.replaceAll("localhost:8081", `localhost:${server.port}`);
  assert.notEqual(moved, snippet, "the snippet does not connect where the README says that the server listens");
  const env = {
    ...process.env,
    COSMOS_KEY: KEY,
    NODE_EXTRA_CA_CERTS: join(server.dataFolder, "tls", "cert.pem"),
    NO_COLOR: "1",
  };
  const node = spawn(process.execPath, ["--input-type=module"], { cwd: FOLDER, env, timeout: MS_MAX });
  const exited = new Promise((resolve, reject) => node.once("exit", resolve).once("error", reject));
  node.stdin.end(moved);
  const [printed, complaints, code] = await Promise.all([text(node.stdout), text(node.stderr), exited]);
  assert.equal(code, 0, complaints);
  return printed;
}

test("an item is written and read, the first time and the second", async (t) => {
  const found = snippets();
  assert.equal(found.length, 1, "every JavaScript snippet of the README is expected here");
  const { server } = await serve(t);
  for (let time = 0; time < 2; time += 1) {
    const printed = await run(server, found[0]);
    for (const member of ["id: 'reading-1'", "deviceId: 'pump-7'", "celsius: 41.5", "_etag: ", "_ts: "]) {
      assert.ok(printed.includes(member), printed);
    }
  }
});

test("the shell shows the documents", async (t) => {
  const fences = readFileSync(README, "utf8").matchAll(/^```sh\n(npx mongosh .*?)^```$/gms);
  const [command, ...more] = [...fences].map(([, snippet]) => snippet.trim());
  assert.equal(more.length, 0, "one command of the shell is expected here");
  const { server } = await serve(t);
  const moved = command.replace("localhost:10255", `localhost:${server.mongoPort}`);
  assert.notEqual(moved, command, "the command does not connect where the README says that the server listens");
  const env = { ...process.env, COSMOS_KEY: KEY, HOME: server.dataFolder, NO_COLOR: "1" };
  const shell = async (line) => {
    const child = spawn("sh", ["-c", line], { cwd: FOLDER, env, timeout: MS_MAX });
    const exited = new Promise((resolve, reject) => child.once("exit", resolve).once("error", reject));
    const [printed, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    assert.equal(code, 0, complaints);
    return printed;
  };
  await shell(moved.replace("db.orders.find()", "db.orders.insertOne({_id: 1, customer: \"ann\"})"));
  assert.match(await shell(moved), /_id: 1, customer: 'ann'/);
});
