/** A user-defined function: a tax with two rates. */
function tax(income) {
  if (income === undefined) throw new Error("no income");
  return income < 1000 ? income * 0.1 : income * 0.4;
}
