// getContext() and what hangs on it, in a stored procedure.

// ==== what there is
//> response {"context":["abort","getCollection","getRequest","getResponse"],"request":["appendValue","getBody","getValue","setValue"],"response":["appendBody","appendValue","getBody","getValue","setBody","setValue"],"collection":["chain","createAttachment","createDocument","deleteAttachment","deleteDocument","filter","flatten","getAltLink","getSelfLink","map","pluck","queryAttachments","queryDocuments","readAttachment","readAttachments","readDocument","readDocuments","replaceAttachment","replaceDocument","sortBy","sortByDescending","unwind","upsertAttachment","upsertDocument"],"own":["request","response"],"same":[true,true,true,true]}
function () {
  const names = (object) => { const all = []; for (const name in object) all.push(name); return all.sort(); };
  const context = getContext();
  return getContext().getResponse().setBody({
    context: names(context), request: names(context.getRequest()), response: names(context.getResponse()),
    collection: names(context.getCollection()), own: Object.keys(__).sort(),
    same: [__.request === context.getRequest(), __.response === context.getResponse(), getContext() === context,
      Object.getPrototypeOf(__) === context.getCollection()],
  });
}

// ==== arguments are values
//< arguments ["a", 1, {"b": [null, true]}, "\ud83d\ude00"]
//> response ["a",1,{"b":[null,true]},"😀","undefined",4]
function (a, b, c, d, e) { getContext().getResponse().setBody([a, b, c, d, typeof e, arguments.length]); }

// ==== no arguments
//< arguments
//> response 0
function () { getContext().getResponse().setBody(arguments.length); }

// ==== arguments that are no array
//< arguments {"a": 1}
//> error Arguments("they are another kind of value")
function () {}

// ==== arguments that are no JSON
//< arguments [1,
//> error Arguments("they are not JSON")
function () {}

// ==== this is the global object, as in all sloppy code
//> response true
function () { getContext().getResponse().setBody(this === globalThis); }

// ==== the request of a procedure
//< arguments ["a"]
//> response [["a"],"undefined","undefined"]
function () {
  const request = getContext().getRequest();
  getContext().getResponse().setBody([request.getBody(), typeof request.setBody, typeof request.getOperationType]);
}

// ==== the request of a procedure cannot be written
//> error 403 Error: Not a writable property: Body
function () { getContext().getRequest().setValue('Body', 1); }

// ==== new values cannot be set
//> error 400 Error: Cannot set new values: x-ms-new
function () { getContext().getResponse().setValue('x-ms-new', 1); }

// ==== new values cannot be appended to
//> error 400 Error: Cannot set new values: x-ms-new
function () { __.response.appendValue('x-ms-new', 1); }

// ==== unknown values are undefined
//> response ["undefined","undefined"]
function () { __.response.setBody([typeof __.response.getValue('nobody'), typeof __.response.getValue('toString')]); }

// ==== abort undoes, also when it is caught
//> call create {"id":"a"}
//> log false
//> error 409 Error: enough
function () {
  __.createDocument(__.getSelfLink(), { id: 'a' });
  try { getContext().abort(new Error(409, 'enough')); } catch (error) {}
  console.log(String(__.createDocument(__.getSelfLink(), { id: 'b' })));
}

// ==== abort without a reason
//> error 400 Error: The script was aborted.
function () { getContext().abort(); }

// ==== abort with a text
//> error - words
function () { getContext().abort('words'); }

// ==== ErrorCodes are frozen
//> response {"BadRequest":400,"Forbidden":403,"NotFound":404,"Conflict":409,"PreconditionFailed":412,"RequestEntityTooLarge":413,"RetryWith":449,"InternalServerError":500}
function () {
  ErrorCodes.NotFound = 1;
  delete ErrorCodes.Conflict;
  ErrorCodes = 7;
  __.response.setBody(ErrorCodes);
}

// ==== time and chance come from the collection
//> response [1700000000123,1700000000123,"2023-11-14T22:13:20.123Z",5,2020,0,"string",0.125,0.25,7,"Date",true,true,7,"undefined",1000,true]
function () {
  __.response.setBody([
    Date.now(), new Date().getTime(), new Date(), new Date(5).getTime(), new Date(2020, 0).getFullYear(), Date.UTC(1970, 0),
    typeof Date(), Math.random(), Math.random(), Date.length, Date.name, new Date() instanceof Date,
    Date.prototype.constructor === Date, new (class extends Date {})(7).getTime(), typeof performance, Date.parse('1970-01-01T00:00:01Z'),
    Object.getPrototypeOf(Date) === Function.prototype,
  ]);
}

// ==== nothing of a machine, a browser or a module system is there
//> response []
function () {
  __.response.setBody(['require', 'process', 'std', 'os', 'print', 'load', 'fetch', 'setTimeout', 'setInterval', 'performance',
    'atob', 'XMLHttpRequest', 'WebAssembly', 'host', 'install', 'scriptArgs', 'module', 'exports', 'queueMicrotask', 'navigator']
    .filter((name) => name in globalThis));
}
