/**
 * Deletes what a query finds, a page at a time. Queries see the partition as it was when the script began, so the
 * next page is asked for with the continuation of the one before.
 */
function removeItems(query, pageSize) {
  const collection = getContext().getCollection();
  let removed = 0;
  find(undefined);

  function find(continuation) {
    const options = { pageSize: pageSize, continuation: continuation };
    const isAccepted = collection.queryDocuments(collection.getSelfLink(), query, options, (error, found, response) => {
      if (error) throw error;
      remove(found, response.continuation);
    });
    if (!isAccepted) answer(true);
  }

  function remove(found, continuation) {
    if (found.length === 0) return continuation ? find(continuation) : answer(false);
    const isAccepted = collection.deleteDocument(found[0]._self, (error) => {
      if (error) throw error;
      removed += 1;
      remove(found.slice(1), continuation);
    });
    if (!isAccepted) answer(true);
  }

  function answer(isMoreLeft) {
    getContext().getResponse().setBody({ removed: removed, isMoreLeft: isMoreLeft });
  }
}
