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
