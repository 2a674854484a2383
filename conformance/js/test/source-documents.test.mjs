// The scripts printed in the documents the project comes from, registered as they are printed.
//
// The documents are not part of the project: ARMILLA_SOURCE_DOCUMENTS names the folder they lie in, and without it
// these tests are skipped.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { useServer } from "../lib/fixture.mjs";
import { readAll, together } from "../lib/scripts.mjs";

const context = useServer();

const FOLDER = process.env.ARMILLA_SOURCE_DOCUMENTS;
const skip = FOLDER ? false : "ARMILLA_SOURCE_DOCUMENTS does not name the folder of the source documents";
const WRITERS = 16;
// As printed in the trigger.
const FEED_ITEMS_MAX = 100;

/** Returns a function of the document on partitioning as it is printed there. */
function printed(name) {
  const files = readdirSync(FOLDER).filter((file) => /^003_.*\.txt$/.test(file));
  const text = files.map((file) => readFileSync(join(FOLDER, file), "utf8")).join("\n");
  const blocks = [...text.matchAll(/```javascript\n([^]*?)```/g)].map(([, block]) => block);
  const found = blocks.find((block) => block.trimStart().startsWith(`function ${name}(`));
  assert.ok(found, `the document prints a function ${name}`);
  return found;
}

const post = (id, members = {}) => ({
  id,
  type: "post",
  postId: id,
  userId: "u1",
  userUsername: "ada",
  commentCount: 0,
  creationDate: "2026-01-01T00:00:00Z",
  ...members,
});
const comment = (n, userId) => ({ id: `comment ${n}`, type: "comment", userId, userUsername: "bob" });

test("comments, their counter and user names", { skip }, async (t) => {
  const container = await context.makeContainer(t, { partitionKey: { paths: ["/postId"], kind: "Hash", version: 2 } });
  const { storedProcedures } = container.scripts;
  const create = (await storedProcedures.create({ id: "createComment", body: printed("createComment") })).storedProcedure;
  const update = (await storedProcedures.create({ id: "update", body: printed("updateUsernames") })).storedProcedure;
  await container.items.create(post("p1"));
  await container.items.create(post("p2"));
  await together(WRITERS, 90, (n) => create.execute("p1", ["p1", comment(n, n % 3 ? "u1" : "u2")]));
  assert.equal((await container.item("p1", "p1").read()).resource.commentCount, 90);
  assert.equal((await readAll(container)).filter(({ type }) => type === "comment").length, 90);

  await update.execute("p1", ["u1", "ada lovelace"]);
  for (const item of await readAll(container)) {
    const wanted = item.userId === "u2" ? "bob" : item.postId === "p1" ? "ada lovelace" : "ada";
    assert.equal(item.userUsername, wanted, item.id);
  }
});

test("the trimmed feed keeps exactly the newest posts", { skip }, async (t) => {
  const container = await context.makeContainer(t, { partitionKey: { paths: ["/type"], kind: "Hash", version: 2 } });
  const body = printed("truncateFeed");
  await container.scripts.triggers.create({ id: "truncate", body, triggerType: "Post", triggerOperation: "All" });
  const posts = Array.from({ length: 140 }, (_, n) => {
    const creationDate = new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
    return post(`p${String(n).padStart(3, "0")}`, { creationDate });
  });
  await together(WRITERS, posts.length, (n) => container.items.create(posts[n], { postTriggerInclude: "truncate" }));
  const left = (await readAll(container)).map(({ id }) => id).sort();
  assert.deepEqual(left, posts.slice(-FEED_ITEMS_MAX).map(({ id }) => id));
});
