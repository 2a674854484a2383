// Response bodies.

// ==== a text is a JSON text
//> response "Hello, \"World\""
function () { getContext().getResponse().setBody('Hello, "World"'); }

// ==== nothing set, no body
function () {}

// ==== undefined is no body
function () { __.response.setBody(undefined); }

// ==== null is a body
//> response null
function () { __.response.setBody(null); }

// ==== numbers
//> response 1.5
function () { __.response.setBody(1.5); }

// ==== the last one counts
//> response [2]
function () { __.response.setBody(1); __.response.setBody([2]); }

// ==== what changes later is seen, it is written at the end
//> response {"n":2}
function () { const body = { n: 1 }; __.response.setBody(body); body.n = 2; }

// ==== getBody gives what was set
//> response {"a":1,"b":2}
function () { __.response.setBody({ a: 1 }); const body = __.response.getBody(); body.b = 2; __.response.setBody(body); }

// ==== appended texts are joined
//> response "ab3"
function () { __.response.appendBody('a'); __.response.appendBody('b'); __.response.appendBody(3); }

// ==== an appended array continues an array
//> response [1,2]
function () { __.response.setBody([1]); __.response.appendBody([2]); }

// ==== an object is appended as text
//> response "x={\"a\":1}"
function () { __.response.setBody('x='); __.response.appendBody({ a: 1 }); }

// ==== numbers are joined as text
//> response "12"
function () { __.response.setBody(1); __.response.appendBody(2); }

// ==== by name
//> response "abc"
function () { __.response.setValue('Body', 'a'); __.response.appendValue('Body', 'b'); __.response.setBody(__.response.getValue('Body') + 'c'); }

// ==== a body that is not JSON
//> error - TypeError: circular reference
function () { const a = []; a.push(a); __.response.setBody(a); }

// ==== toJSON is asked
//> response "made"
function () { __.response.setBody({ toJSON: () => 'made' }); }

// ==== half a character
//> response "\ud800"
function () { __.response.setBody('\ud800'); }
