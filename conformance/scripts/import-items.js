/**
 * Creates items one after the other until all are there or no further operation is accepted.
 * Answers how many there are now: what was created stays, and the caller comes back with the rest.
 */
function importItems(items) {
  const collection = getContext().getCollection();
  let created = 0;
  next();

  function next() {
    if (created === items.length) return answer();
    const isAccepted = collection.createDocument(collection.getSelfLink(), items[created], (error) => {
      if (error) throw error;
      created += 1;
      next();
    });
    if (!isAccepted) answer();
  }

  function answer() {
    getContext().getResponse().setBody(created);
  }
}
