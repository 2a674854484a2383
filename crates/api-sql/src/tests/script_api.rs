//! What scripts find in their hands: the context, the collection, the integrated query.
//!
//! Each case is the body of a stored procedure and what it answers with. `self` is the link of the collection, `doc`
//! makes the link of a document, and `done` answers.

use http::Method;

use super::client::{Answer, Client};
use super::procedures::run;

const DOCS: &str = "/dbs/d/colls/c/docs";
const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", "[1]");

const PREAMBLE: &str = "
    const self = __.getSelfLink(), alt = __.getAltLink();
    const doc = (id) => alt + '/docs/' + id;
    const done = (value) => __.response.setBody(value);
    const fails = (call) => { try { call(); } catch (error) { return error.number; } return 0; };
";

async fn with_items() -> Client {
    let client = Client::with_container().await;
    for (id, n) in [("a", 1), ("b", 2), ("c", 3)] {
        let item = format!(r#"{{"id":"{id}","pk":1,"n":{n},"tags":["t{n}",["u{n}"]]}}"#);
        client.send(Method::POST, DOCS, &[KEY], item).await.expect(201);
    }
    client.send(Method::POST, DOCS, &[("x-ms-documentdb-partitionkey", "[2]")], r#"{"id":"z","pk":2}"#).await;
    client
}

async fn answer(client: &Client, body: &str) -> Answer {
    run(client, &format!("function () {{ {PREAMBLE} {body} }}"), "").await
}

/// Runs each procedure on items of its own.
async fn check(cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        let client = with_items().await;
        let answer = answer(&client, body).await;
        assert_eq!((answer.status, &*answer.text), (200, *expected), "{body}");
    }
}

#[tokio::test]
async fn context_has_its_parts() {
    check(&[
        (
            "done(Object.keys(getContext()).sort());",
            r#"["abort","getCollection","getRequest","getResponse"]"#,
        ),
        ("done(getContext().getCollection() === Object.getPrototypeOf(__));", "true"),
        (
            "done([__.request === getContext().getRequest(), __.response === getContext().getResponse()]);",
            "[true,true]",
        ),
        (
            "done([typeof require, typeof setTimeout, typeof fetch, typeof process]);",
            r#"["undefined","undefined","undefined","undefined"]"#,
        ),
        ("done(self.startsWith('dbs/') && self.endsWith('/'));", "true"),
        ("done(alt);", r#""dbs/d/colls/c""#),
    ])
    .await;
}

#[tokio::test]
async fn requests_and_responses_are_bags() {
    check(&[
        ("__.response.setBody('a'); __.response.appendBody('b');", r#""ab""#),
        ("__.response.appendBody([1]); __.response.appendBody([2, 3]);", "[1,2,3]"),
        ("__.response.setValue('Body', 5); __.response.appendValue('Body', 6);", r#""56""#),
        ("for (let i = 0; i < 10; i++) __.response.appendValue('Body', i);", r#""123456789""#),
        ("done(1); done([__.response.getBody(), __.response.getValue('Body'), __.response.getValue('no')]);", "[1,1,null]"),
        ("done([fails(() => __.response.setValue('x-ms-new', 1)), fails(() => __.request.setValue('Body', 1))]);", "[400,403]"),
        ("done(typeof __.request.setBody);", r#""undefined""#),
        ("done(fails(() => done('x'.repeat(5000000))));", "413"),
    ])
    .await;
}

#[tokio::test]
async fn errors_have_numbers() {
    check(&[
        ("const e = new Error(404, 'gone'); done([e.number, e.message, e instanceof Error]);", r#"[404,"gone",true]"#),
        ("const e = new Error('plain'); done([typeof e.number, e.message]);", r#"["undefined","plain"]"#),
        ("done(new TypeError('t') instanceof Error);", "true"),
        (
            "done([ErrorCodes, Object.isFrozen(ErrorCodes)]);",
            r#"[{"BadRequest":400,"Forbidden":403,"NotFound":404,"Conflict":409,"PreconditionFailed":412,"RequestEntityTooLarge":413,"RetryWith":449,"InternalServerError":500},true]"#,
        ),
        (
            "__.readDocument(doc('no'), (error) => done([error.number, error.body === error.message, error.body !== '']));",
            "[404,true,true]",
        ),
    ])
    .await;
    let client = with_items().await;
    // Without a callback a failure is the script's.
    answer(&client, "__.readDocument(doc('no'));").await.expect_code(400, 404);
    answer(&client, "__.createDocument(self, { id: 'a', pk: 1 });").await.expect_code(400, 409);
}

#[tokio::test]
async fn documents_are_read_by_either_link() {
    check(&[
        ("done(__.readDocument(doc('a'), (error, item, options) => done([item.n, options.statusCode, options.notModified])));", "[1,200,false]"),
        ("__.readDocument(doc('a'), (error, item) => __.readDocument(item._self, (error, again) => done(again.id)));", r#""a""#),
        ("__.readDocument('DBS/d/COLLS/c/DOCS/a/', {}, (error, item) => done(item.id));", r#""a""#),
        (
            "__.readDocument(doc('a'), (error, item) => __.readDocument(item._self, { ifNoneMatch: item._etag },
                (error, again, options) => done([error === undefined, again === undefined, options.notModified])));",
            "[true,true,true]",
        ),
        ("__.readDocument(doc('a'), (e, i, options) => done([typeof options.currentCollectionSizeInMB, typeof options.maxCollectionSizeInMB]));", r#"["string","string"]"#),
        ("done([fails(() => __.readDocument()), fails(() => __.readDocument('odd')), fails(() => __.readDocument('dbs/d/colls/other/docs/a'))]);", "[400,400,400]"),
        ("__.readDocument(doc('z'), (error) => done(error.number));", "404"),
    ])
    .await;
}

#[tokio::test]
async fn documents_are_created() {
    check(&[
        ("__.createDocument(self, { id: 'd', pk: 1 }, (error, item, options) => done([item.id, typeof item._etag, options.statusCode]));", r#"["d","string",201]"#),
        ("__.createDocument(alt, '{\"id\":\"d\",\"pk\":1}', (error, item) => done(item.id));", r#""d""#),
        ("const item = { pk: 1 }; __.createDocument(self, item, (error, made) => done([made.id.length, item.id === undefined]));", "[36,true]"),
        ("__.createDocument(self, { pk: 1 }, { disableAutomaticIdGeneration: true }, (error) => done(error.number));", "400"),
        ("__.createDocument(self, { id: 'a', pk: 1 }, (error) => done(error.number));", "409"),
        ("__.createDocument(self, { id: 'd', pk: 2 }, (error) => done(error.number));", "400"),
        ("done(__.createDocument(self, { id: 'd', pk: 1 }, { indexAction: 'exclude' }));", "true"),
        ("done([fails(() => __.createDocument(self)), fails(() => __.createDocument(self, 5)), fails(() => __.createDocument(self, {}, { indexAction: 'odd' }))]);", "[400,400,400]"),
    ])
    .await;
}

#[tokio::test]
async fn documents_are_upserted() {
    check(&[
        ("__.upsertDocument(self, { id: 'a', pk: 1, n: 9 }, (error, item, options) => done([item.n, options.statusCode]));", "[9,200]"),
        ("__.upsertDocument(self, { id: 'd', pk: 1 }, (error, item, options) => done([item.id, options.statusCode]));", r#"["d",201]"#),
        ("__.upsertDocument(self, { id: 'a', pk: 1 }, { etag: 'stale' }, (error) => done(error.number));", "412"),
        ("__.upsertDocument(self, { id: 'd', pk: 1 }, { etag: 'stale' }, (error, item) => done(item.id));", r#""d""#),
        ("__.readDocument(doc('a'), (e, a) => __.upsertDocument(self, a, { etag: a._etag }, (error) => done(error === undefined)));", "true"),
        ("done(fails(() => __.upsertDocument(self)));", "400"),
    ])
    .await;
}

#[tokio::test]
async fn documents_are_replaced() {
    check(&[
        ("__.replaceDocument(doc('a'), { id: 'a', pk: 1, n: 9 }, (error, item, options) => done([item.n, options.statusCode]));", "[9,200]"),
        ("__.readDocument(doc('a'), (e, a) => { a.n = 8; __.replaceDocument(a._self, a, { etag: a._etag }, (error, item) => done(item.n)); });", "8"),
        ("__.replaceDocument(doc('a'), { id: 'a', pk: 1 }, { etag: 'stale' }, (error) => done(error.number));", "412"),
        ("__.replaceDocument(doc('no'), { id: 'no', pk: 1 }, (error) => done(error.number));", "404"),
        ("__.replaceDocument(doc('a'), { id: 'a', pk: 2 }, (error) => done(error.number));", "400"),
        ("done([fails(() => __.replaceDocument(doc('a'))), fails(() => __.replaceDocument(self, {}))]);", "[400,400]"),
    ])
    .await;
}

#[tokio::test]
async fn documents_are_deleted() {
    check(&[
        ("__.deleteDocument(doc('a'), (...given) => done([given.length, given[0] === undefined, given[1].statusCode]));", "[2,true,204]"),
        ("__.deleteDocument(doc('a'), () => __.readDocument(doc('a'), (error) => done(error.number)));", "404"),
        ("__.readDocument(doc('a'), (e, a) => __.deleteDocument(a._self, { etag: a._etag }, (error) => done(error === undefined)));", "true"),
        ("__.deleteDocument(doc('a'), { etag: 'stale' }, (error) => done(error.number));", "412"),
        ("__.deleteDocument(doc('no'), (error) => done(error.number));", "404"),
        ("done(fails(() => __.deleteDocument()));", "400"),
    ])
    .await;
}

#[tokio::test]
async fn feeds_have_pages() {
    check(&[
        ("__.readDocuments(self, (error, items) => done(items.map((item) => item.id)));", r#"["a","b","c"]"#),
        (
            "const all = [];
            const page = (continuation) => __.readDocuments(self, { pageSize: 2, continuation }, (error, items, options) => {
                all.push(items.length);
                if (options.continuation) page(options.continuation); else done(all);
            });
            page();",
            "[2,1]",
        ),
        ("__.readDocuments(self, { pageSize: -1 }, (error, items) => done(items.length));", "3"),
        ("done([fails(() => __.readDocuments()), fails(() => __.readDocuments(self, { pageSize: 'x' })), fails(() => __.readDocuments('odd'))]);", "[400,400,400]"),
    ])
    .await;
}

#[tokio::test]
async fn queries_of_scripts() {
    check(&[
        ("__.queryDocuments(self, 'SELECT VALUE c.n FROM c WHERE c.n > 1 ORDER BY c.n DESC', (error, rows) => done(rows));", "[3,2]"),
        (
            "__.queryDocuments(self, { query: 'SELECT VALUE c.id FROM c WHERE c.n = @n', parameters: [{ name: '@n', value: 2 }] },
                (error, rows) => done(rows));",
            r#"["b"]"#,
        ),
        (
            "const all = [];
            const page = (continuation) => __.queryDocuments(self, 'SELECT VALUE c.n FROM c', { pageSize: 1, continuation },
                (error, rows, options) => {
                    all.push(rows);
                    if (options.continuation) page(options.continuation); else done(all);
                });
            page();",
            "[[1],[2],[3],[]]",
        ),
        ("__.queryDocuments(self, 'SELECT', (error) => done(error.number));", "400"),
        ("__.queryDocuments(self, 'SELECT VALUE 1', { enableScan: true, enableLowPrecisionOrderBy: true }, (error, rows) => done(rows));", "[1]"),
        ("done([fails(() => __.queryDocuments(self)), fails(() => __.queryDocuments(self, 5))]);", "[400,400]"),
    ])
    .await;
}

#[tokio::test]
async fn own_writes_are_read_and_not_queried() {
    check(&[(
        "__.createDocument(self, { id: 'd', pk: 1, n: 4 });
        __.upsertDocument(self, { id: 'b', pk: 1, n: 20 });
        // What is deleted is gone for queries too: scripts that delete ask again for what is left.
        __.deleteDocument(doc('a'));
        __.readDocument(doc('d'), (error, item) => {
            __.queryDocuments(self, 'SELECT VALUE c.n FROM c', (error, rows) => done([item.n, rows]));
        });",
        "[4,[2,3]]",
    )])
    .await;
}

#[tokio::test]
async fn attachments_are_refused() {
    let names = [
        "readAttachment",
        "readAttachments",
        "queryAttachments",
        "createAttachment",
        "upsertAttachment",
        "replaceAttachment",
        "deleteAttachment",
    ];
    for name in names {
        check(&[(&*format!("done(fails(() => __.{name}(doc('a'), {{}})));"), "400")]).await;
    }
}

#[tokio::test]
async fn the_integrated_query() {
    check(&[
        ("__.filter((item) => item.n > 1, (error, items) => done(items.map((item) => item.id)));", r#"["b","c"]"#),
        ("__.map((item) => item.n * 2, (error, values) => done(values));", "[2,4,6]"),
        ("__.pluck('id', (error, values) => done(values));", r#"["a","b","c"]"#),
        ("__.chain().pluck('tags').flatten().value((error, values) => done(values));", r#"["t1","u1","t2","u2","t3","u3"]"#),
        ("__.chain().pluck('tags').flatten(true).value((error, values) => done(values));", r#"["t1",["u1"],"t2",["u2"],"t3",["u3"]]"#),
        ("__.sortBy((item) => -item.n, (error, items) => done(items.map((item) => item.id)));", r#"["c","b","a"]"#),
        ("__.sortByDescending((item) => item.n, (error, items) => done(items.map((item) => item.id)));", r#"["c","b","a"]"#),
        ("__.unwind((item) => item.tags, (item, tag) => [item.id, tag], (error, pairs) => done(pairs[0]));", r#"["a","t1"]"#),
        ("__.chain().filter((item) => item.n !== 2).sortByDescending((item) => item.n).map((item) => item.id).value();", r#"["c","a"]"#),
        ("done(1); const result = __.pluck('id', () => {}); done(result.isAccepted);", "true"),
        ("__.chain().pluck('id').value({ pageSize: 2 }, (error, values, options) => done([values, typeof options.continuation]));", r#"[["a","b"],"string"]"#),
        ("done([fails(() => __.filter()), fails(() => __.pluck('')), fails(() => __.chain().pluck('id', () => 1)), fails(() => __.unwind())]);", "[400,400,400,400]"),
    ])
    .await;
}

#[tokio::test]
async fn spatial_functions_are_those_of_queries() {
    let near = "{ type: 'Point', coordinates: [10, 50] }";
    let far = "{ type: 'Point', coordinates: [10, 51] }";
    let around = "{ type: 'Polygon', coordinates: [[[9, 49], [11, 49], [11, 50.5], [9, 50.5], [9, 49]]] }";
    for (call, expected) in [
        (format!("Math.round(__.spatial.distance({near}, {far}) / 1000)"), "111"),
        (
            format!("[__.spatial.within({near}, {around}), __.spatial.within({far}, {around})]"),
            "[true,false]",
        ),
        (format!("__.spatial.intersects({around}, {near})"), "true"),
        (format!("[__.spatial.isValid({near}), __.spatial.isValid({{}})]"), "[true,false]"),
        (format!("__.spatial.isValidDetailed({near}).valid"), "true"),
        (
            "[typeof __.spatial.distance({}, {}), typeof __.spatial.distance()]".to_owned(),
            r#"["undefined","undefined"]"#,
        ),
    ] {
        check(&[(&*format!("done({call});"), expected)]).await;
    }
}

#[tokio::test]
async fn logs_have_places() {
    let client = Client::with_container().await;
    let body = "function () { console.log('%s is %d', 'x', 1); console.log({ a: 1 }, [2]); console.log(); }";
    super::procedures::store(&client, body).await;
    let logged = [KEY, ("x-ms-documentdb-script-enable-logging", "True")];
    let path = "/dbs/d/colls/c/sprocs/p";
    let answer = client.send(Method::POST, path, &logged, "").await.expect(200);
    let log = answer.header("x-ms-documentdb-script-log-results").unwrap();
    assert!(log.starts_with("x%20is%201"), "{log}");
    assert!(log.contains("%7B%22a%22%3A1%7D%20%5B2%5D"), "{log}");
    // A log that no header holds fails the script, unless it looks after itself.
    super::procedures::store(
        &client,
        "function () { for (let i = 0; i < 1000; i++) console.log('0123456789'); }",
    )
    .await;
    client.send(Method::POST, path, &logged, "").await.expect_code(400, 413);
    client.send(Method::POST, path, &[KEY], "").await.expect(200);
}

#[tokio::test]
async fn promises_and_aborts() {
    check(&[
        ("return (async () => { await null; done('later'); })();", r#""later""#),
        (
            "const read = (id) => new Promise((resolve, reject) =>
                __.readDocument(doc(id), (error, item) => error ? reject(error) : resolve(item)));
            read('a').then((a) => read('b').then((b) => done(a.n + b.n)));",
            "3",
        ),
    ])
    .await;
    let client = with_items().await;
    let aborted = "__.deleteDocument(doc('a')); Promise.resolve().then(() => getContext().abort(new Error(409, 'stop')));";
    answer(&client, aborted).await.expect_code(400, 409);
    client.send(Method::GET, &format!("{DOCS}/a"), &[KEY], "").await.expect(200);
}

#[tokio::test]
async fn nothing_stays_for_the_next_run() {
    let client = with_items().await;
    answer(&client, "globalThis.left = 1; Array.prototype.left = 2; __.left = 3;").await.expect(200);
    let next = answer(&client, "done([typeof left, typeof [].left, typeof __.left]);").await.expect(200);
    assert_eq!(next.text, r#"["undefined","undefined","undefined"]"#);
}
