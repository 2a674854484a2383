/** A post-trigger: keeps the ten items with the highest number. Its queries do not see the item just written. */
function keepNewest() {
  const max = 10;
  const collection = getContext().getCollection();
  const written = getContext().getResponse().getBody();
  collection.queryDocuments(collection.getSelfLink(), "SELECT * FROM c ORDER BY c.n DESC", (error, others) => {
    if (error) throw error;
    const all = others.concat([written]).sort((a, b) => b.n - a.n);
    all.slice(max).forEach((item) => collection.deleteDocument(item._self));
  });
}
