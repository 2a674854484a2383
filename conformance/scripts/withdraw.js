/** Takes an amount from one account if all accounts together can bear it; answers whether it did. */
function withdraw(from, amount, ids) {
  const collection = getContext().getCollection();
  const accounts = {};
  read(0);

  function read(position) {
    if (position === ids.length) return take();
    collection.readDocument(collection.getAltLink() + "/docs/" + ids[position], (error, account) => {
      if (error) throw error;
      accounts[account.id] = account;
      read(position + 1);
    });
  }

  function take() {
    const total = ids.reduce((sum, id) => sum + accounts[id].balance, 0);
    if (total < amount) return getContext().getResponse().setBody(false);
    accounts[from].balance -= amount;
    collection.replaceDocument(accounts[from]._self, accounts[from], (error) => {
      if (error) throw error;
      getContext().getResponse().setBody(true);
    });
  }
}
