// When callbacks run, and when operations are not accepted.

// ==== operations are done when they are called, callbacks run later in their order
//< documents [{"id":"a"}]
//> call read Id("a")
//> call read Id("a")
//> call read Id("a")
//> log 0
//> log 1
//> log 2
//> log 3
//> log 4
function () {
  const link = __.getAltLink() + '/docs/a';
  __.readDocument(link, () => { console.log('1'); __.readDocument(link, () => console.log('4')); console.log('2'); });
  __.readDocument(link, () => console.log('3'));
  console.log('0');
}

// ==== own writes are read
//> call create {"id":"a","n":1}
//> call read Id("a")
//> response 1
function () {
  __.createDocument(__.getSelfLink(), { id: 'a', n: 1 });
  __.readDocument(__.getAltLink() + '/docs/a', (error, document) => __.response.setBody(document.n));
}

// ==== what is not accepted has no callback
//< closes-after 2
//> call create {"id":"a0"}
//> call create {"id":"a1"}
//> log a0
//> log a1
//> response [true,true,false,false]
function () {
  const accepted = [];
  for (let i = 0; i < 4; i++) accepted.push(__.createDocument(__.getSelfLink(), { id: 'a' + i }, (error, document) => console.log(document.id)));
  __.response.setBody(accepted);
}

// ==== every method says whether it was accepted
//< closes-after 0
//> response [false,false,false,false,false,false,false,false,false]
function () {
  const link = __.getSelfLink(), document = __.getAltLink() + '/docs/a', never = () => console.log('never');
  __.response.setBody([__.createDocument(link, {}, never), __.upsertDocument(link, {}, never), __.replaceDocument(document, {}, never),
    __.deleteDocument(document, never), __.readDocument(document, never), __.readDocuments(link, never), __.queryDocuments(link, 'SELECT * FROM c', never),
    __.filter(() => true, never).isAccepted, __.chain().map((x) => x).value(never).isAccepted]);
}

// ==== an exception in a callback
//> call create {"id":"a"}
//> call create {"id":"b"}
//> error 450 Error: in a callback
function () {
  __.createDocument(__.getSelfLink(), { id: 'a' }, () => { throw new Error(450, 'in a callback'); });
  __.createDocument(__.getSelfLink(), { id: 'b' }, () => console.log('never'));
}

// ==== throwing the error on
//> call read Id("a")
//> error 404 Error: there is no document Id("a")
function () { __.readDocument(__.getAltLink() + '/docs/a', (error) => { if (error) throw error; }); }

// ==== the continuation pattern
//< arguments [["a","b","c"]]
//< closes-after 2
//> call create {"id":"a"}
//> call create {"id":"b"}
//> response {"done":2,"again":true}
function (ids) {
  let done = 0;
  (function next() {
    if (done === ids.length) return __.response.setBody({ done });
    const accepted = __.createDocument(__.getSelfLink(), { id: ids[done] }, (error) => { if (error) throw error; done++; next(); });
    if (!accepted) __.response.setBody({ done, again: true });
  })();
}

// ==== operations of one turn are done in their order, each callback has its own result
//> call create {"id":"a","n":1}
//> call create {"id":"a","n":2}
//> call upsert {"id":"a","n":3}
//> call upsert {"id":"b","n":4}
//> call delete Id("b")
//> call read Id("b")
//> call read Id("a")
//> log 201 1
//> log 409
//> log 200 3
//> log 201 4
//> log 204 undefined
//> log 404
//> log 200 3
function () {
  const link = __.getSelfLink(), document = __.getAltLink() + '/docs/';
  const show = (error, document, options) => console.log(error ? String(error.number) : `${options.statusCode} ${document.n}`);
  __.createDocument(link, { id: 'a', n: 1 }, show);
  __.createDocument(link, { id: 'a', n: 2 }, show);
  __.upsertDocument(link, { id: 'a', n: 3 }, show);
  __.upsertDocument(link, { id: 'b', n: 4 }, show);
  __.deleteDocument(document + 'b', (error, options) => console.log(`${options.statusCode} ${arguments[2]}`));
  __.readDocument(document + 'b', show);
  __.readDocument(document + 'a', show);
}

// ==== a document is what it was when the operation was called
//> call create {"id":"a","n":1}
//> call create {"id":"b","n":2}
//> response [1,2]
function () {
  const document = { id: 'a', n: 1 }, seen = [];
  const note = (error, stored) => { seen.push(stored.n); __.response.setBody(seen); };
  __.createDocument(__.getSelfLink(), document, note);
  document.id = 'b';
  document.n = 2;
  __.createDocument(__.getSelfLink(), document, note);
  document.n = 3;
}

// ==== a query comes after the operations before it
//> call create {"id":"a"}
//> call query all page 100
//> call create {"id":"b"}
//> response ["a",1,"b"]
function () {
  const seen = [], note = (value) => { seen.push(value); __.response.setBody(seen); };
  __.createDocument(__.getSelfLink(), { id: 'a' }, (error, document) => note(document.id));
  __.readDocuments(__.getSelfLink(), (error, documents) => note(documents.length));
  __.createDocument(__.getSelfLink(), { id: 'b' }, (error, document) => note(document.id));
}

// ==== what was begun before an exception was done
//> call create {"id":"a"}
//> call create {"id":"b"}
//> error 450 Error: after two operations
function () {
  __.createDocument(__.getSelfLink(), { id: 'a' });
  __.createDocument(__.getSelfLink(), { id: 'b' }, () => console.log('never'));
  throw new Error(450, 'after two operations');
}

// ==== a refused operation without a callback ends the script when its turn comes
//< documents [{"id":"a"}]
//> call create {"id":"b"}
//> call create {"id":"a"}
//> call create {"id":"c"}
//> log b
//> error 409 Error: there is a document 'a' already
function () {
  __.createDocument(__.getSelfLink(), { id: 'b' }, (error, document) => console.log(document.id));
  __.createDocument(__.getSelfLink(), { id: 'a' });
  __.createDocument(__.getSelfLink(), { id: 'c' }, () => console.log('never'));
}
