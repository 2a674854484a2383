/**
 * Deletes what a query finds, and asks again until nothing is left. What it has deleted its queries find no more, so
 * no continuation is needed; when operations are not accepted any more, it says that it is to be called again.
 */
function clear(query) {
  const collection = getContext().getCollection();
  let deleted = 0;
  find();

  function find(continuation) {
    const isAccepted = collection.queryDocuments(collection.getSelfLink(), query, { continuation }, (error, found, page) => {
      if (error) throw error;
      if (found.length > 0) remove(found);
      else if (page.continuation) find(page.continuation);
      else answer(false);
    });
    if (!isAccepted) answer(true);
  }

  function remove(found) {
    if (found.length === 0) return find();
    const isAccepted = collection.deleteDocument(found[0]._self, {}, (error) => {
      if (error) throw error;
      deleted += 1;
      found.shift();
      remove(found);
    });
    if (!isAccepted) answer(true);
  }

  function answer(continuation) {
    getContext().getResponse().setBody({ deleted, continuation });
  }
}
