/** Adds one to a counter that it finds by a query. */
async function incrementByQuery(id) {
  const collection = getContext().getCollection();
  const query = { query: "SELECT * FROM c WHERE c.id = @id", parameters: [{ name: "@id", value: id }] };
  const [counter] = await new Promise((resolve, reject) => {
    collection.queryDocuments(collection.getSelfLink(), query, (error, found) => (error ? reject(error) : resolve(found)));
  });
  counter.n += 1;
  await new Promise((resolve, reject) => {
    collection.upsertDocument(collection.getSelfLink(), counter, (error, stored) => (error ? reject(error) : resolve(stored)));
  });
  getContext().getResponse().setBody(counter.n);
}
