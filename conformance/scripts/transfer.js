/** Moves an amount between two accounts. Takes before it looks, so a refusal has a write to undo. */
function transfer(from, to, amount) {
  const collection = getContext().getCollection();
  change(from, -amount, () => change(to, amount, () => getContext().getResponse().setBody("done")));

  function change(id, by, then) {
    collection.readDocument(collection.getAltLink() + "/docs/" + id, (error, account) => {
      if (error) throw error;
      account.balance += by;
      collection.replaceDocument(account._self, account, (error) => {
        if (error) throw error;
        if (account.balance < 0) throw new Error(4001, "account " + id + " would be " + account.balance);
        then();
      });
    });
  }
}
