/** Creates an item, then looks for it by link and by query: the read sees it, the query does not. */
function ownWrites(item) {
  const collection = getContext().getCollection();
  const seen = {};
  collection.createDocument(collection.getSelfLink(), item, (error, created) => {
    if (error) throw error;
    collection.readDocument(created._self, (error, read) => {
      if (error) throw error;
      seen.byLink = read._etag === created._etag;
      const query = "SELECT VALUE COUNT(1) FROM c WHERE c.id = '" + item.id + "'";
      collection.queryDocuments(collection.getSelfLink(), query, (error, counted) => {
        if (error) throw error;
        seen.byQuery = counted[0];
        seen.created = created;
        getContext().getResponse().setBody(seen);
      });
    });
  });
}
