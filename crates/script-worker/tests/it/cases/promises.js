// Promises and async functions.

// ==== an async procedure
//< documents [{"id":"a","n":1}]
//> call read Id("a")
//> response 1
async function () {
  const read = (link) => new Promise((resolve, reject) => {
    if (!__.readDocument(link, (error, document) => (error ? reject(error) : resolve(document)))) reject(new Error('not accepted'));
  });
  const document = await read(__.getAltLink() + '/docs/a');
  __.response.setBody(document.n);
}

// ==== a rejection that is not handled fails the script
//> error 410 Error: rejected
async function () { await null; throw new Error(410, 'rejected'); }

// ==== a rejection in an async callback
//> call create {"id":"a"}
//> error - Error: in async
function () { __.createDocument(__.getSelfLink(), { id: 'a' }, async () => { await 1; throw new Error('in async'); }); }

// ==== a rejection that is handled
//> response "x"
async function () { try { await Promise.reject(new Error('x')); } catch (error) { __.response.setBody(error.message); } }

// ==== a rejection that is handled before the turn ends
//> response 1
function () { const p = Promise.reject(1); Promise.resolve().then(() => p.catch((reason) => __.response.setBody(reason))); }

// ==== a refused read, awaited
//> call read Id("a")
//> error 404 Error: there is no document Id("a")
async function () { await new Promise((resolve, reject) => __.readDocument(__.getAltLink() + '/docs/a', (error) => reject(error))); }

// ==== abort in a promise
//> error - Error: first
function () { Promise.reject(new Error('first')).catch((error) => getContext().abort(error)); }

// ==== jobs run before the next callback
//< documents [{"id":"a"}]
//> call read Id("a")
//> call read Id("a")
//> log job
//> log job of the job
//> log second
function () {
  const link = __.getAltLink() + '/docs/a';
  __.readDocument(link, () => Promise.resolve().then(() => console.log('job')).then(() => console.log('job of the job')));
  __.readDocument(link, () => console.log('second'));
}

// ==== a promise that never settles
//> response 1
function () { __.response.setBody(1); return new Promise(() => {}); }

// ==== a generator
//> response [1,2,3]
function () { function* three() { yield 1; yield 2; yield 3; } __.response.setBody([...three()]); }

// ==== no modules
//> error - ReferenceError: could not load module 'std'
function () { return import('std'); }
