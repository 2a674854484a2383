/** Adds one to a counter that it reads by its link. */
function incrementByLink(id) {
  const collection = getContext().getCollection();
  collection.readDocument(collection.getAltLink() + "/docs/" + id, (error, counter) => {
    if (error) throw error;
    counter.n += 1;
    collection.replaceDocument(counter._self, counter, (error, stored) => {
      if (error) throw error;
      getContext().getResponse().setBody(stored.n);
    });
  });
}
