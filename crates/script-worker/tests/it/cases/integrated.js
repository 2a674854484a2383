// The integrated query.

// ==== filter
//< documents [{"id":"a","n":1},{"id":"b","n":2},{"id":"c","n":3}]
//> call query all page 100
//> log {"isAccepted":true,"options":{}}
//> response ["undefined",["b","c"],{"statusCode":200,"currentCollectionSizeInMB":"0.5","maxCollectionSizeInMB":"20480"},3]
function () {
  const result = __.filter((document) => document.n > 1, function (error, found, options) {
    __.response.setBody([typeof error, found.map((document) => document.id), options, arguments.length]);
  });
  console.log('%j', result);
}

// ==== without a callback the page becomes the response
//< documents [{"id":"a","n":1},{"id":"b","n":2}]
//> call query all page 100
//> response [1,2]
function () { __.map((document) => document.n); }

// ==== another page is appended
//< documents [{"id":"a","n":1},{"id":"b","n":2}]
//> call query all page 1
//> call query all page 1 from 1
//> response [1,2]
function () {
  const first = __.pluck('n', { pageSize: 1 });
  __.pluck('n', { pageSize: 1, continuation: first.options.continuation });
}

// ==== what is undefined is left out
//< documents [{"id":"a","n":1},{"id":"b"},{"id":"c","n":null}]
//> call query all page 100
//> call query all page 100
//> response [1,null,1,null]
function () { __.chain().map((document) => document.n).value(); __.pluck('n'); }

// ==== flatten
//< documents [{"id":"a","n":[1,[2,[3]]]},{"id":"b","n":4}]
//> call query all page 100
//> call query all page 100
//> response [[1,2,3,4],[1,[2,[3]],4]]
function () {
  __.chain().pluck('n').flatten().value((error, deep) => {
    __.chain().pluck('n').flatten(true).value((error, shallow) => __.response.setBody([deep, shallow]));
  });
}

// ==== order
//< documents [{"id":"a","n":2},{"id":"b","n":1},{"id":"c","n":"x"},{"id":"d"},{"id":"e","n":null},{"id":"f","n":true},{"id":"g","n":1}]
//> call query all
//> call query all
//> response [["e","f","b","g","a","c"],["c","a","b","g","f","e"]]
function () {
  __.chain().sortBy((document) => document.n).pluck('id').value((error, up) => {
    __.chain().sortByDescending((document) => document.n).pluck('id').value((error, down) => __.response.setBody([up, down]));
  });
}

// ==== order over pages
//< documents [{"id":"a","n":3},{"id":"b","n":2},{"id":"c","n":1}]
//> call query all
//> call query all
//> response [["c","b"],["a"]]
function () {
  const pages = [];
  (function page(continuation) {
    __.sortBy((document) => document.n, { pageSize: 2, continuation }, (error, found, options) => {
      pages.push(found.map((document) => document.id));
      if (options.continuation) page(options.continuation); else __.response.setBody(pages);
    });
  })();
}

// ==== a function of one argument selects no results
//< documents [{"id":"a","tags":["x","y"]},{"id":"b"},{"id":"c","tags":[["z"]]}]
//> error 400 Error: "resultSelector" requires two arguments.
function () {
  __.unwind((document) => document.tags, (error) => 0);
}

// ==== unwind with and without a result
//< documents [{"id":"a","tags":["x","y"]},{"id":"b"},{"id":"c","tags":[["z"]]}]
//> call query all page 100
//> call query all page 100
//> call query all page 100
//> response [["ax","ay","cz"],["x","y","z"],["x","y","z"]]
function () {
  __.unwind((document) => document.tags, (document, tag) => document.id + tag, (error, pairs) => {
    __.unwind((document) => document.tags, undefined, {}, (error, tags) => {
      __.chain().unwind((document) => document.tags).value((error, chained) => __.response.setBody([pairs, tags, chained]));
    });
  });
}

// ==== a chain
//< documents [{"id":"a","n":1},{"id":"b","n":2},{"id":"c","n":3}]
//> call query all
//> log {"isAccepted":true,"options":{}}
//> response [{"is":"c"},{"is":"a"}]
function () {
  const result = __.chain().filter((document) => document.n !== 2).sortByDescending((document) => document.n).map((document) => ({ is: document.id })).value();
  console.log('%j', result);
}

// ==== what is refused
//< documents [{"id":"a"}]
//> response [[400,"The predicate/transform function must be provided."],[400,"The predicate/transform function must be provided."],[400,"The property name must be a string and cannot be empty."],[400,"The property name must be a string and cannot be empty."],[400,"The predicate/transform function must be provided."],[400,"The predicate/transform function must be provided."],[400,"When using \"unwind\", \"collectionSelector\" must be used."],[400,"When using \"unwind\", \"collectionSelector\" must be a function."],[400,"\"collectionSelector\" requires one argument."],[400,"\"resultSelector\" requires two arguments."],[400,"The \"options\" parameter must be of type \"object\". Actual type is: \"number\"."],[400,"The \"callback\" parameter must be of type \"function\". Actual type is: \"number\"."],[400,"When using \"chain\", the callback parameter can only be provided on the \"value\" function."],[400,"When using \"chain\", options can only be provided on the call to the \"value\" function."],[400,"When using \"chain\", options can only be provided on the call to the \"value\" function."],[400,"The continuation is not one of this query."]]
function () {
  const tried = [
    () => __.filter(), () => __.map(5), () => __.pluck(), () => __.pluck(''), () => __.sortBy(), () => __.sortByDescending('n'),
    () => __.unwind(), () => __.unwind('x'), () => __.unwind(() => 1), () => __.unwind((a) => 1, (a) => 1), () => __.filter(() => 1, 5),
    () => __.filter(() => 1, {}, 5), () => __.chain().filter(() => 1, () => 2), () => __.chain().filter(() => 1, {}), () => __.chain().flatten(true, {}),
    () => __.sortBy((d) => d, { continuation: 'x' }),
  ];
  __.response.setBody(tried.map((attempt) => { try { return attempt(); } catch (error) { return [error.number, error.message]; } }));
}

// ==== in a pre-trigger a callback is needed
//< pre Create
//< request {"id":"a"}
//> error 400 Error: The callback function must be provided for scenarios, such as pre-trigger, when response object is not available.
function () { __.filter(() => true); }

// ==== in a pre-trigger with a callback
//< pre Create
//< request {"id":"a"}
//< documents [{"id":"b"}]
//> call query all page 100
//> log 1
//> request {"id":"a"}
function () { __.filter(() => true, (error, found) => console.log(String(found.length))); }

// ==== a predicate that throws
//< documents [{"id":"a"}]
//> call query all page 100
//> error - Error: in a predicate
function () { __.filter(() => { throw new Error('in a predicate'); }, () => 0); }

// ==== pages
//< documents [{"id":"a","n":1},{"id":"b","n":2},{"id":"c","n":3}]
//> call query all page 2
//> call query all page 2 from 2
//> response [1,1]
function () {
  const found = [];
  (function page(continuation) {
    __.filter((document) => document.n !== 2, { pageSize: 2, continuation }, (error, documents, options) => {
      found.push(documents.length);
      if (options.continuation) page(options.continuation); else __.response.setBody(found);
    });
  })();
}
