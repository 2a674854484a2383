/** A pre-trigger: refuses an item without a name, and writes on it by which operation it came. */
function stamp() {
  const request = getContext().getRequest();
  const item = request.getBody();
  if (!item.name) throw new Error(4002, "an item needs a name");
  item.stampedBy = request.getOperationType();
  request.setBody(item);
}
