/** Creates an item with a name unless a query finds that the name is taken; answers whether it did. */
function claim(name, id) {
  const collection = getContext().getCollection();
  const query = { query: "SELECT VALUE c.id FROM c WHERE c.name = @name", parameters: [{ name: "@name", value: name }] };
  collection.queryDocuments(collection.getSelfLink(), query, (error, found) => {
    if (error) throw error;
    if (found.length > 0) return getContext().getResponse().setBody(false);
    collection.createDocument(collection.getSelfLink(), { id: id, city: "Oslo", name: name }, (error) => {
      if (error) throw error;
      getContext().getResponse().setBody(true);
    });
  });
}
