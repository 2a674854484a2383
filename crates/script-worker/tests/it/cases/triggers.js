// Triggers.

// ==== a pre-trigger that changes the body
//< pre Create
//< request {"id":"a","n":1}
//> request {"id":"a","n":1,"stamp":"now"}
function () {
  const request = getContext().getRequest(), document = request.getBody();
  document.stamp = 'now';
  request.setBody(document);
}

// ==== a pre-trigger that changes nothing leaves the text alone
//< pre Create
//< request {"id": "a", "n": 1.0}
//> request {"id": "a", "n": 1.0}
function () { if (getContext().getRequest().getBody().n !== 1) throw 1; }

// ==== a pre-trigger may give JSON text
//< pre Replace
//< request {"id":"a"}
//> request {"id":"a","given":"text"}
function () { getContext().getRequest().setBody('{"id":"a","given":"text"}'); }

// ==== by name
//< pre Upsert
//< request {"id":"a"}
//> request {"id":"a","kind":"Upsert"}
function () { const request = __.request; request.setValue('Body', { id: request.getValue('Body').id, kind: request.getOperationType() }); }

// ==== a pre-trigger has no response
//< pre Create
//< request {"id":"a"}
//> error - TypeError: not a function
function () { if ('getResponse' in getContext() || 'response' in __) throw 1; getContext().getResponse(); }

// ==== the operation cannot be written
//< pre Create
//< request {"id":"a"}
//> error 403 Error: Not a writable property: OperationType
function () { __.request.setValue('OperationType', 'Delete'); }

// ==== what there is in a pre-trigger
//< pre Delete
//> log ["getCollection","getRequest","abort"] ["getValue","setValue","appendValue","getBody","setBody","appendBody","getOperationType"] Delete
function () { console.log('%j %j %s', Object.keys(getContext()), Object.keys(__.request), __.request.getOperationType()); }

// ==== a delete has no body
//< pre Delete
function () { if (getContext().getRequest().getBody() !== undefined) throw 1; }

// ==== a refusal
//< pre Create
//< request {"id":"a"}
//> error 403 Error: not today
function () { throw new Error(403, 'not today'); }

// ==== a pre-trigger may work on the collection
//< pre Create
//< request {"id":"a"}
//> call create {"id":"log"}
//> request {"id":"a"}
function () { __.createDocument(__.getSelfLink(), { id: 'log' }); }

// ==== a post-trigger sees both
//< post Create
//< request {"id":"a"}
//< response {"id":"a","_etag":"1"}
//> log {"id":"a"} {"id":"a","_etag":"1"} Create undefined
function () {
  console.log('%j %j %s %s', __.request.getBody(), __.response.getBody(), __.request.getOperationType(), typeof __.request.setBody);
}

// ==== a post-trigger may give another response
//< post Replace
//< request {"id":"a"}
//< response {"id":"a","_etag":"1"}
//> response {"id":"a","_etag":"1","more":1}
function () { const document = __.response.getBody(); document.more = 1; __.response.setBody(document); }

// ==== quota
//< post Create
//< response {"id":"a"}
//> response ["documentsSize=512;collectionSize=512;","documentsSize=20971520;collectionSize=20971520;","documentsSize=20971520;collectionSize=20971520;"]
function () { __.response.setBody([__.response.getResourceQuotaCurrentUsage(), __.response.getMaxResourceQuota(), __.response.getValue('MaxResourceQuota')]); }

// ==== quota cannot be written
//< post Create
//< response {"id":"a"}
//> error 403 Error: Not a writable property: MaxResourceQuota
function () { __.response.setValue('MaxResourceQuota', 'more'); }

// ==== what there is in a post-trigger
//< post Delete
//> log ["getCollection","getRequest","getResponse","abort"] ["getValue","setValue","appendValue","getBody","getOperationType"] ["getValue","setValue","appendValue","getBody","setBody","appendBody","getResourceQuotaCurrentUsage","getMaxResourceQuota"]
function () { console.log('%j %j %j', Object.keys(getContext()), Object.keys(__.request), Object.keys(__.response)); }

// ==== triggers have no arguments
//< post Create
//< response {"id":"a"}
//> log 0
function () { console.log(String(arguments.length)); }

// ==== an exception
//< post Create
//< response {"id":"a"}
//> error - Error: undone
function () { throw new Error('undone'); }
