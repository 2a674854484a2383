// Links: by resource ids or by names, with or without the last slash, and always of this collection.

// ==== own links
//> response ["dbs/drid==/colls/crid=/","dbs/shop/colls/orders"]
function () { __.response.setBody([__.getSelfLink(), __.getAltLink()]); }

// ==== documents by all links
//< documents [{"id":"a b"}]
//> call read Id("a b")
//> call read Id("a b")
//> call read Id("a b")
//> call read Rid("rid-a b")
//> call read Rid("rid-a b")
//> response ["a b","a b","a b","a b","a b"]
function () {
  const links = ['dbs/shop/colls/orders/docs/a b', 'dbs/shop/colls/orders/docs/a b/', 'DBS/shop/Colls/orders/DOCS/a b',
    'dbs/drid==/colls/crid=/docs/rid-a b/', 'dbs/drid==/colls/crid=/docs/rid-a b'];
  const found = [];
  for (const link of links) __.readDocument(link, (error, document) => { found.push(document.id); __.response.setBody(found); });
}

// ==== collections by all links
//> call create {"id":"guid-1"}
//> call create {"id":"guid-2"}
//> call create {"id":"guid-3"}
//> call create {"id":"guid-4"}
//> call create {"id":"guid-5"}
//> response [true,true,true,true,true]
function () {
  const links = ['dbs/shop/colls/orders', 'dbs/shop/colls/orders/', 'DBS/shop/COLLS/orders', 'dbs/drid==/colls/crid=/', 'dbs/drid==/colls/crid='];
  __.response.setBody(links.map((link) => __.createDocument(link, {})));
}

// ==== links of others
//> response [[400,"Function is not allowed to operate on resources outside current collection. Make sure that the link provided, \"dbs/shop/colls/other/docs/a\", belongs to current collection."],[400,"Function is not allowed to operate on resources outside current collection. Make sure that the link provided, \"dbs/other/colls/orders/docs/a\", belongs to current collection."],[400,"Function is not allowed to operate on resources outside current collection. Make sure that the link provided, \"dbs/drid==/colls/orders/docs/a\", belongs to current collection."],[400,"Function is not allowed to operate on resources outside current collection. Make sure that the link provided, \"dbs/Shop/colls/orders/docs/a\", belongs to current collection."]]
function () {
  const links = ['dbs/shop/colls/other/docs/a', 'dbs/other/colls/orders/docs/a', 'dbs/drid==/colls/orders/docs/a', 'dbs/Shop/colls/orders/docs/a'];
  __.response.setBody(links.map((link) => { try { __.readDocument(link); } catch (error) { return [error.number, error.message]; } }));
}

// ==== collections of others
//> error 400 Error: Function is not allowed to operate on resources outside current collection. Make sure that the link provided, "dbs/shop/colls/other", belongs to current collection.
function () { __.createDocument('dbs/shop/colls/other', {}); }

// ==== what is no link to a document
//> response [[400,"Invalid document link: \"undefined\"."],[400,"Invalid document link: \"null\"."],[400,"Invalid document link: \"5\"."],[400,"Invalid document link: \"\"."],[400,"Invalid document link: \"a\"."],[400,"Invalid document link: \"dbs/shop/colls/orders\"."],[400,"Invalid document link: \"dbs/shop/colls/orders/docs\"."],[400,"Invalid document link: \"dbs/shop/colls/orders/docs/\"."],[400,"Invalid document link: \"dbs/shop/colls/orders/docs//\"."],[400,"Invalid document link: \"dbs/shop/colls/orders/sprocs/a\"."],[400,"Invalid document link: \"/dbs/shop/colls/orders/docs/a\"."],[400,"Invalid document link: \"dbs/shop/colls/orders/docs/a/b\"."],[400,"Invalid document link: \"[object Object]\"."]]
function () {
  const links = [undefined, null, 5, '', 'a', 'dbs/shop/colls/orders', 'dbs/shop/colls/orders/docs', 'dbs/shop/colls/orders/docs/',
    'dbs/shop/colls/orders/docs//', 'dbs/shop/colls/orders/sprocs/a', '/dbs/shop/colls/orders/docs/a', 'dbs/shop/colls/orders/docs/a/b', {}];
  __.response.setBody(links.map((link) => { try { __.deleteDocument(link); } catch (error) { return [error.number, error.message]; } }));
}

// ==== what is no link to a collection
//> response [[400,"Invalid collection link: \"undefined\"."],[400,"Invalid collection link: \"\"."],[400,"Invalid collection link: \"dbs/shop\"."],[400,"Invalid collection link: \"dbs/shop/colls\"."],[400,"Invalid collection link: \"dbs/shop/colls/orders/docs\"."],[400,"Invalid collection link: \"dbs/shop/users/orders\"."]]
function () {
  const links = [undefined, '', 'dbs/shop', 'dbs/shop/colls', 'dbs/shop/colls/orders/docs', 'dbs/shop/users/orders'];
  __.response.setBody(links.map((link) => { try { __.readDocuments(link); } catch (error) { return [error.number, error.message]; } }));
}
