/** A post-trigger: keeps the number of items written, and the last of their ids, in an item called 'register'. */
function registerItem() {
  const collection = getContext().getCollection();
  const item = getContext().getResponse().getBody();
  collection.readDocument(collection.getAltLink() + "/docs/register", (error, register) => {
    if (error && error.number !== ErrorCodes.NotFound) throw error;
    const next = register || { id: "register", city: item.city, written: 0 };
    next.written += 1;
    next.last = item.id;
    const isAccepted = collection.upsertDocument(collection.getSelfLink(), next, (error) => {
      if (error) throw error;
    });
    if (!isAccepted) throw new Error("no time for the register");
  });
}
