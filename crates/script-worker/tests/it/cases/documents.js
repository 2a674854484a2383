// Operations on single documents.

// ==== create
//> call create {"id":"a","n":1}
//> response [true,{"id":"a","n":1,"_rid":"rid-a","_self":"dbs/drid==/colls/crid=/docs/rid-a/","_etag":"\"1\""},{"statusCode":201,"currentCollectionSizeInMB":"0.5","maxCollectionSizeInMB":"20480","notModified":false},3,true]
function () {
  const accepted = __.createDocument(__.getSelfLink(), { id: 'a', n: 1 }, function (error, document, options) {
    __.response.setBody([error === undefined, document, options, arguments.length, accepted]);
  });
}

// ==== create gives an id, on a copy
//> call create {"n":1,"id":"guid-1"}
//> response [{"n":1},"guid-1"]
function () {
  const document = { n: 1 };
  __.createDocument(__.getSelfLink(), document, (error, created) => __.response.setBody([document, created.id]));
}

// ==== an empty id is no id
//> call create {"id":"guid-1"}
//> call create {"id":"guid-2"}
function () { __.createDocument(__.getSelfLink(), { id: '' }); __.createDocument(__.getSelfLink(), { id: null }); }

// ==== no id is given if it is not wanted
//> call create {"n":1}
//> error 400 Error: the id is missing
function () { __.createDocument(__.getSelfLink(), { n: 1 }, { disableAutomaticIdGeneration: true }); }

// ==== a body as JSON text stays as it is
//> call create { "id": "a", "n": 1.0 }
function () { __.createDocument(__.getSelfLink(), '{ "id": "a", "n": 1.0 }'); }

// ==== a body as JSON text gets an id
//> call upsert {"n":1,"id":"guid-1"}
function () { __.upsertDocument(__.getSelfLink(), '{"n":1}'); }

// ==== a body that is no JSON
//> error 400 Error: The document body is not valid JSON: Unexpected end of JSON input
function () { __.createDocument(__.getSelfLink(), '{"n":'); }

// ==== a body that is no object
//> error 400 Error: The document body must be an object or a string representing a JSON-serialized object.
function () { __.createDocument(__.getSelfLink(), 5); }

// ==== a body that is null
//> error 400 Error: The document body must be an object or a string representing a JSON-serialized object.
function () { __.upsertDocument(__.getSelfLink(), null); }

// ==== a body that is JSON but no object
//> error 400 Error: The document body must be an object or a string representing a JSON-serialized object.
function () { __.createDocument(__.getSelfLink(), 'true'); }

// ==== create what is there
//< documents [{"id":"a"}]
//> call create {"id":"a"}
//> response [409,"there is a document 'a' already","there is a document 'a' already",true,"undefined",1]
function () {
  __.createDocument(__.getSelfLink(), { id: 'a' }, function (error, document) {
    __.response.setBody([error.number, error.body, error.message, error instanceof Error, typeof document, arguments.length]);
  });
}

// ==== an error without a callback fails the script when its turn comes
//< documents [{"id":"a"}]
//> call read Id("a")
//> call create {"id":"a"}
//> call read Id("a")
//> log before
//> error 409 Error: there is a document 'a' already
function () {
  __.readDocument(__.getAltLink() + '/docs/a', () => console.log('before'));
  __.createDocument(__.getSelfLink(), { id: 'a' });
  __.readDocument(__.getAltLink() + '/docs/a', () => console.log('never'));
}

// ==== read by name
//< documents [{"id":"a","n":1}]
//> call read Id("a")
//> response [1,200,false,3]
function () {
  __.readDocument(__.getAltLink() + '/docs/a', function (error, document, options) {
    __.response.setBody([document.n, options.statusCode, options.notModified, arguments.length]);
  });
}

// ==== read what is not there
//> call read Id("a")
//> response [true,"there is no document Id(\"a\")"]
function () {
  __.readDocument(__.getAltLink() + '/docs/a', (error) => __.response.setBody([error.number === ErrorCodes.NotFound, error.body]));
}

// ==== read what the script knows
//< documents [{"id":"a","n":1}]
//> call read Id("a")
//> call read Rid("rid-a") unless "1"
//> response ["undefined","undefined",true,304]
function () {
  __.readDocument(__.getAltLink() + '/docs/a', {}, (error, document) => {
    __.readDocument(document._self, { ifNoneMatch: document._etag }, (error, same, options) => {
      __.response.setBody([typeof error, typeof same, options.notModified, options.statusCode]);
    });
  });
}

// ==== read without a callback
//< documents [{"id":"a","n":1}]
//> call read Id("a")
//> response true
function () { __.response.setBody(__.readDocument(__.getAltLink() + '/docs/a')); }

// ==== replace
//< documents [{"id":"a","n":1}]
//> call read Id("a")
//> call replace Rid("rid-a") {"id":"a","n":2,"_rid":"rid-a","_self":"dbs/drid==/colls/crid=/docs/rid-a/","_etag":"\"1\""} if "1"
//> response [2,"\"2\"",200]
function () {
  __.readDocument(__.getAltLink() + '/docs/a', (error, document) => {
    document.n++;
    __.replaceDocument(document._self, document, { etag: document._etag }, (error, replaced, options) => {
      __.response.setBody([replaced.n, replaced._etag, options.statusCode]);
    });
  });
}

// ==== replace with an old etag
//< documents [{"id":"a","n":1}]
//> call replace Id("a") {"id":"a"} if old
//> response [412,"the etag is another one"]
function () {
  __.replaceDocument(__.getAltLink() + '/docs/a', { id: 'a' }, { etag: 'old' }, (error) => __.response.setBody([error.number, error.body]));
}

// ==== replace with JSON text
//< documents [{"id":"a","n":1}]
//> call replace Id("a") {"id":"a","n":2}
function () { __.replaceDocument(__.getAltLink() + '/docs/a', '{"id":"a","n":2}'); }

// ==== replace with text that is no JSON
//> error 400 Error: The document body is not valid JSON: unexpected token: 'a'
function () { __.replaceDocument(__.getAltLink() + '/docs/a', 'a'); }

// ==== upsert creates and replaces
//> call upsert {"id":"a"}
//> call upsert {"id":"a","_rid":"rid-a","_self":"dbs/drid==/colls/crid=/docs/rid-a/","_etag":"\"1\""} if "1"
//> call upsert {"id":"a","_rid":"rid-a","_self":"dbs/drid==/colls/crid=/docs/rid-a/","_etag":"\"2\""} if old
//> response [201,200,412]
function () {
  const codes = [];
  __.upsertDocument(__.getSelfLink(), { id: 'a' }, (error, document, options) => {
    codes.push(options.statusCode);
    __.upsertDocument(__.getSelfLink(), document, { etag: document._etag }, (error, document, options) => {
      codes.push(options.statusCode);
      __.upsertDocument(__.getSelfLink(), document, { etag: 'old' }, (error) => __.response.setBody([...codes, error.number]));
    });
  });
}

// ==== delete
//< documents [{"id":"a"},{"id":"b"}]
//< documents-after
//> call delete Id("a")
//> response ["undefined",204,2]
//> document b
function () {
  __.deleteDocument(__.getAltLink() + '/docs/a', function (error, options) {
    __.response.setBody([typeof error, options.statusCode, arguments.length]);
  });
}

// ==== delete with an etag, without a callback, of what is not there
//> call delete Id("a") if x
//> error 404 Error: there is no document Id("a")
function () { __.deleteDocument(__.getAltLink() + '/docs/a', { etag: 'x' }); }

// ==== delete what is not there
//> call delete Id("a")
//> response [404,1]
function () { __.deleteDocument(__.getAltLink() + '/docs/a', function (error) { __.response.setBody([error.number, arguments.length]); }); }

// ==== too few arguments
//> response [[400,"The function \"readDocument\" requires at least 1 argument(s) but was called with 0 argument(s)."],[400,"The function \"readDocuments\" requires at least 1 argument(s) but was called with 0 argument(s)."],[400,"The function \"queryDocuments\" requires at least 2 argument(s) but was called with 1 argument(s)."],[400,"The function \"createDocument\" requires at least 2 argument(s) but was called with 1 argument(s)."],[400,"The function \"upsertDocument\" requires at least 2 argument(s) but was called with 1 argument(s)."],[400,"The function \"replaceDocument\" requires at least 2 argument(s) but was called with 1 argument(s)."],[400,"The function \"deleteDocument\" requires at least 1 argument(s) but was called with 0 argument(s)."]]
function () {
  const calls = ['readDocument', 'readDocuments', 'queryDocuments', 'createDocument', 'upsertDocument', 'replaceDocument', 'deleteDocument'];
  __.response.setBody(calls.map((name) => {
    try { __[name](...(name === 'queryDocuments' || /^(create|upsert|replace)/.test(name) ? [__.getSelfLink()] : [])); } catch (error) { return [error.number, error.message]; }
  }));
}

// ==== options and callbacks of other types
//> response [[400,"The \"options\" parameter must be of type \"object\". Actual type is: \"number\"."],[400,"The \"options\" parameter must be of type \"object\". Actual type is: \"string\"."],[400,"The \"options\" parameter must be of type \"object\". Actual type is: \"boolean\"."],[400,"The \"callback\" parameter must be of type \"function\". Actual type is: \"number\"."],[400,"The \"callback\" parameter must be of type \"function\". Actual type is: \"object\"."],[400,"The \"callback\" parameter must be of type \"function\". Actual type is: \"string\"."],[400,"The \"indexAction\" option must be \"default\", \"include\" or \"exclude\". Actual value is: \"never\"."],[400,"The \"etag\" option must be of type \"string\". Actual type is: \"number\"."]]
function () {
  const link = __.getSelfLink(), body = { id: 'a' };
  const tried = [[1], ['x'], [true], [{}, 1], [{}, {}], [undefined, 'x'], [{ indexAction: 'never' }], [{ etag: 5 }]];
  __.response.setBody(tried.map((rest) => {
    try { return __.upsertDocument(link, body, ...rest); } catch (error) { return [error.number, error.message]; }
  }));
}

// ==== options and callbacks where they may be missing
//> call upsert {"id":"a0"}
//> call upsert {"id":"a1"}
//> call upsert {"id":"a2"}
//> call upsert {"id":"a3"}
//> call upsert {"id":"a4"}
//> call upsert {"id":"a5"}
//> call upsert {"id":"a6"}
//> call upsert {"id":"a7"}
//> call upsert {"id":"a8"}
//> response {"accepted":[true,true,true,true,true,true,true,true,true],"called":[1,1,1,1]}
function () {
  const link = __.getSelfLink(), called = [];
  const callback = () => called.push(1);
  const tried = [[], [undefined], [null], [{}], [callback], [{}, callback], [undefined, callback], [null, callback], [{ indexAction: 'exclude' }, null]];
  const accepted = tried.map((rest, i) => __.upsertDocument(link, { id: 'a' + i }, ...rest));
  __.response.setBody({ accepted, called });
}

// ==== there are no attachments
//> response [[400,"The function \"readAttachment\" is not supported: there are no attachments."],[400,"The function \"readAttachments\" is not supported: there are no attachments."],[400,"The function \"queryAttachments\" is not supported: there are no attachments."],[400,"The function \"createAttachment\" is not supported: there are no attachments."],[400,"The function \"upsertAttachment\" is not supported: there are no attachments."],[400,"The function \"replaceAttachment\" is not supported: there are no attachments."],[400,"The function \"deleteAttachment\" is not supported: there are no attachments."]]
function () {
  const names = ['readAttachment', 'readAttachments', 'queryAttachments', 'createAttachment', 'upsertAttachment', 'replaceAttachment', 'deleteAttachment'];
  __.response.setBody(names.map((name) => { try { __[name](); } catch (error) { return [error.number, error.message]; } }));
}

// ==== methods need no object
//> call create {"id":"a"}
function () { const { createDocument, getSelfLink } = getContext().getCollection(); createDocument(getSelfLink(), { id: 'a' }); }

// ==== a document that is not JSON
//> error - TypeError: circular reference
function () { const a = { id: 'a' }; a.a = a; __.createDocument(__.getSelfLink(), a); }

// ==== sizes
//> call create {"id":"a"}
//> response ["0.5","20480"]
function () {
  __.createDocument(__.getSelfLink(), { id: 'a' }, (error, document, options) => {
    __.response.setBody([options.currentCollectionSizeInMB, options.maxCollectionSizeInMB]);
  });
}
