/** Reads one page of a query and answers with it, with the continuation to come back with. */
function pageOfQuery(query, parameters, pageSize, continuation) {
  const collection = getContext().getCollection();
  const spec = parameters ? { query: query, parameters: parameters } : query;
  const options = { pageSize: pageSize, continuation: continuation };
  const isAccepted = collection.queryDocuments(collection.getSelfLink(), spec, options, (error, found, response) => {
    if (error) throw error;
    getContext().getResponse().setBody({ found: found, continuation: response.continuation || null });
  });
  if (!isAccepted) throw new Error("no time for the query");
}
