/** Answers with a greeting. */
function greet(name) {
  getContext().getResponse().setBody("Hello, " + name);
}
