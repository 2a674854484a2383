// Pages of documents and of queries.

// ==== all documents
//< documents [{"id":"a"},{"id":"b"},{"id":"c"}]
//> call query all page 100
//> response [["a","b","c"],{"statusCode":200,"currentCollectionSizeInMB":"0.5","maxCollectionSizeInMB":"20480"},3]
function () {
  __.readDocuments(__.getSelfLink(), function (error, documents, options) {
    __.response.setBody([documents.map((document) => document.id), options, arguments.length]);
  });
}

// ==== page by page
//< documents [{"id":"a"},{"id":"b"},{"id":"c"}]
//> call query all page 2
//> call query all page 2 from 2
//> response [2,1]
function () {
  const pages = [];
  (function read(continuation) {
    __.readDocuments(__.getAltLink(), { pageSize: 2, continuation }, (error, documents, options) => {
      pages.push(documents.length);
      if (options.continuation) read(options.continuation);
      else __.response.setBody(pages);
    });
  })();
}

// ==== page sizes
//> call query all page 100
//> call query all page 100
//> call query all page 100
//> call query all page 1
//> call query all
//> call query all page 1000
//> response [true,true,true,true,true,true,[400,"The \"pageSize\" option must be -1 or a number from 1 on. Actual value is: \"-2\"."],[400,"The \"pageSize\" option must be -1 or a number from 1 on. Actual value is: \"x\"."],[400,"The \"pageSize\" option must be -1 or a number from 1 on. Actual value is: \"0.5\"."]]
function () {
  const sizes = [undefined, null, 0, 1, -1, 1000, -2, 'x', 0.5];
  __.response.setBody(sizes.map((pageSize) => {
    try { return __.readDocuments(__.getSelfLink(), { pageSize }); } catch (error) { return [error.number, error.message]; }
  }));
}

// ==== a query as text
//< documents [{"id":"a","n":1},{"id":"b","n":2}]
//> call query SELECT * FROM c WHERE c.n = 2 page 100
//> response ["b"]
function () { __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c WHERE c.n = 2', (error, found) => __.response.setBody(found.map((document) => document.id))); }

// ==== a query with parameters
//< documents [{"id":"a","n":1},{"id":"b","n":2}]
//> call query SELECT * FROM c WHERE c.n = @n @n=1 page 100
//> response 1
function () {
  const query = { query: 'SELECT * FROM c WHERE c.n = @n', parameters: [{ name: '@n', value: 1 }] };
  __.queryDocuments(__.getSelfLink(), query, { enableScan: true, enableLowPrecisionOrderBy: true }, (error, found) => __.response.setBody(found.length));
}

// ==== a query without parameters in an object
//> call query SELECT * FROM c page 100
//> response []
function () { __.queryDocuments(__.getSelfLink(), { query: 'SELECT * FROM c' }, (error, found) => __.response.setBody(found)); }

// ==== parameters that are none
//> response [[400,400,400,400,400,400],"the query's parameters must have a name, which is text, and a value"]
function () {
  const tried = [5, {}, [1], [{ name: '@a' }], [{ value: 1 }], [{ name: 5, value: 1 }]], numbers = [];
  for (const parameters of tried) {
    __.queryDocuments(__.getSelfLink(), { query: 'SELECT * FROM c', parameters }, (error) => { numbers.push(error.number); __.response.setBody([numbers, error.body]); });
  }
}

// ==== queries of other types
//> response [[400,"The \"filterQuery\" parameter must be of type \"string\" or \"object\" with a \"query\". Actual type is: \"undefined\"."],[400,"The \"filterQuery\" parameter must be of type \"string\" or \"object\" with a \"query\". Actual type is: \"object\"."],[400,"The \"filterQuery\" parameter must be of type \"string\" or \"object\" with a \"query\". Actual type is: \"number\"."],[400,"The \"filterQuery\" parameter must be of type \"string\" or \"object\" with a \"query\". Actual type is: \"object\"."],[400,"The \"filterQuery\" parameter must be of type \"string\" or \"object\" with a \"query\". Actual type is: \"object\"."]]
function () {
  __.response.setBody([undefined, null, 5, {}, { query: 5 }].map((query) => {
    try { __.queryDocuments(__.getSelfLink(), query); } catch (error) { return [error.number, error.message]; }
  }));
}

// ==== a query that is wrong
//> call query SELECT page 100
//> response [400,"syntax error in 'SELECT'"]
function () { __.queryDocuments(__.getSelfLink(), 'SELECT', (error) => __.response.setBody([error.number, error.body])); }

// ==== a query that is wrong, without a callback
//> call query SELECT page 100
//> error 400 Error: syntax error in 'SELECT'
function () { __.queryDocuments(__.getSelfLink(), 'SELECT'); }
