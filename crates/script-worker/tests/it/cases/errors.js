// Errors: what scripts make, and what comes of what they throw.

// ==== an error with a number
//> error 404 Error: not here
function () { throw new Error(404, 'not here'); }

// ==== an error with a text
//> error - Error: just so
function () { throw new Error('just so'); }

// ==== without new
//> error 409 Error: there
function () { throw Error(409, 'there'); }

// ==== a number alone is a text
//> error - Error: 404
function () { throw new Error(404); }

// ==== a number set later
//> error 412 Error: later
function () { const error = new Error('later'); error.number = 412; throw error; }

// ==== numbers that are none
//> error - Error: none
function () { const error = new Error('none'); error.number = -1.5; throw error; }

// ==== what errors are
//> response [418,"own",true,true,"text",7,true,true,true,true,true,"Error",1,"Error: m","RangeError: r",false,"function",["number"],true,"a",true]
function () {
  class Own extends Error { constructor() { super(418, 'own'); } }
  const own = new Own(), plain = new Error('text', { cause: 7 }), typed = new TypeError('typed');
  __.response.setBody([
    own.number, own.message, own instanceof Own, own instanceof Error, plain.message, plain.cause, plain.number === undefined,
    typed instanceof Error, typed instanceof TypeError, Object.getPrototypeOf(TypeError) === Error, Error.prototype.constructor === Error,
    Error.name, Error.length, new Error(1, 'm').toString(), String(new RangeError('r')), Object.prototype.hasOwnProperty.call(new Error(), 'message'),
    typeof Error.captureStackTrace, Object.keys(new Error(1, 'm')), new Error().stack.includes('armilla'), new Error('a', 'b').message,
    (() => { try { null.x; } catch (error) { return error instanceof Error && error.constructor === TypeError; } })(),
  ]);
}

// ==== a type error
//> error - TypeError: cannot read property 'x' of null
function () { null.x; }

// ==== a name that is not defined
//> error - ReferenceError: nobody is not defined
function () { return nobody; }

// ==== a text
//> error - words
function () { throw 'words'; }

// ==== a number
//> error - 7
function () { throw 7; }

// ==== an object
//> error - {"code":7}
function () { throw { code: 7 }; }

// ==== an object with a number and a message
//> error 429 slowly
function () { throw { number: 429, message: 'slowly' }; }

// ==== null
//> error - null
function () { throw null; }

// ==== undefined
//> error - undefined
function () { throw undefined; }

// ==== a symbol
//> error - a symbol
function () { throw Symbol('s'); }

// ==== a big number
//> error - 5
function () { throw 5n; }

// ==== a function
//> error - an object that cannot be shown
function () { throw function f() {}; }

// ==== an object that refers to itself
//> error - an object that cannot be shown
function () { const a = {}; a.a = a; throw a; }

// ==== an object that answers no questions
//> error - an object that cannot be shown
function () { throw new Proxy({}, { get() { throw 1; }, has() { throw 2; }, ownKeys() { throw 3; }, getPrototypeOf() { throw 4; } }); }

// ==== an error whose members throw
//> error - an object that cannot be shown
function () {
  const error = new Error('x');
  for (const name of ['message', 'name', 'stack', 'number']) Object.defineProperty(error, name, { get() { throw error; } });
  throw error;
}

// ==== an error whose members are other things
//> error - an object that cannot be shown
function () { const error = new Error('x'); error.message = { toString() { throw 1; } }; error.name = 5; error.stack = null; error.number = '7'; throw error; }

// ==== a frozen error
//> error 403 Error: cold
function () { throw Object.freeze(new Error(403, 'cold')); }

// ==== an error without a message
//> error - Error
function () { throw new Error(); }

// ==== half a character
//> error - Error: \ud800 half
function () { throw new Error('\ud800 half'); }
