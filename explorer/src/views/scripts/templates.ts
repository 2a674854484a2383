//! What a new script begins with.

import type { ScriptKind, ScriptText, TriggerType } from '../../api/scripts';

const PROCEDURE = `// Reads the items of one partition key that have a value, and answers with how many there are.
// Everything that a procedure writes is one transaction: an exception undoes it all.
function count(name, value) {
  const collection = getContext().getCollection();
  const query = {
    query: "SELECT VALUE COUNT(1) FROM c WHERE c[@name] = @value",
    parameters: [{ name: "@name", value: name }, { name: "@value", value }],
  };
  const accepted = collection.queryDocuments(collection.getSelfLink(), query, {}, (error, rows) => {
    if (error) throw error;
    console.log("found %s", rows[0]);
    getContext().getResponse().setBody(rows[0]);
  });
  if (!accepted) throw new Error("There is no time left for the query.");
}
`;

const PRE_TRIGGER = `// Runs before a write that names it, in the same transaction, and may change the item.
function stamp() {
  const request = getContext().getRequest();
  const item = request.getBody();
  if (item.created === undefined) item.created = new Date().toISOString();
  request.setBody(item);
}
`;

const POST_TRIGGER = `// Runs after a write that names it, in the same transaction: an exception undoes the write.
function check() {
  const item = getContext().getResponse().getBody();
  if (item.total < 0) throw new Error(4001, "the total of " + item.id + " would be " + item.total);
}
`;

const FUNCTION = `// Called by queries: SELECT VALUE udf.net(c.price, 0.19) FROM c
function net(price, tax) {
  if (typeof price !== "number") return undefined;
  return Math.round(price / (1 + tax) * 100) / 100;
}
`;

export function triggerTemplate(type: TriggerType): string {
  return type === 'Pre' ? PRE_TRIGGER : POST_TRIGGER;
}

export function template(kind: ScriptKind): ScriptText {
  switch (kind) {
    case 'procedures':
      return { id: '', body: PROCEDURE };
    case 'triggers':
      return { id: '', body: PRE_TRIGGER, triggerType: 'Pre', triggerOperation: 'All' };
    case 'functions':
      return { id: '', body: FUNCTION };
  }
}
