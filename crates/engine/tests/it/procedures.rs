//! Stored procedures, from the request to what is stored.

use armilla_engine::{
    Access, Caller, ErrorKind, ProcedureOptions, ResourceKind, ScriptKind, Triggers, WriteMode, check,
};
use armilla_value::Value;

use crate::support::{Fixture, defined, partition_key, refused, value};

/// Creates as many items as the argument says.
pub(crate) const CREATE_MANY: &str = "function (count) {
    var collection = getContext().getCollection();
    var done = 0;
    next();
    function next() {
        if (done === count) { getContext().getResponse().setBody(done); return; }
        var accepted = collection.createDocument(
            collection.getSelfLink(), { id: 'i' + done, pk: 'a' }, function (err) {
                if (err) throw err;
                done++;
                next();
            });
        if (!accepted) getContext().getResponse().setBody(done);
    }
}";

/// Deletes what a query finds, page by page, until there is no more or it has to stop; says how many, and whether to
/// come back.
pub(crate) const DELETE_ALL: &str = "function () {
    var collection = getContext().getCollection(), response = getContext().getResponse();
    var deleted = 0;
    query();
    function query() {
        var accepted = collection.queryDocuments(
            collection.getSelfLink(), 'SELECT c.id, c._self FROM c', {}, function (err, found) {
                if (err) throw err;
                if (found.length === 0) report(false); else remove(found, 0);
            });
        if (!accepted) report(true);
    }
    function remove(found, index) {
        // Without a continuation: what was deleted is found no more.
        if (index === found.length) return query();
        var accepted = collection.deleteDocument(found[index]._self, function (err) {
            if (err) throw err;
            deleted++;
            remove(found, index + 1);
        });
        if (!accepted) report(true);
    }
    function report(more) { response.setBody({ deleted: deleted, more: more }); }
}";

/// Returns what a procedure answered with.
pub(crate) fn body(done: &armilla_engine::ProcedureDone) -> Value {
    value(done.body.as_deref().unwrap())
}

#[tokio::test]
async fn a_procedure_gets_its_arguments_and_answers() {
    let fixture = Fixture::with_container().await;
    for (text, arguments, expected) in [
        ("function () {}", "", None),
        ("function () {}", "[]", None),
        (
            "function (a, b) { getContext().getResponse().setBody([b, a]); }",
            r#"[1,{"x":"y"}]"#,
            Some(r#"[{"x":"y"},1]"#),
        ),
        ("function (a) { getContext().getResponse().setBody(a === undefined); }", "", Some("true")),
        (
            "function (a) { getContext().getResponse().setBody('Hello, ' + a); }",
            r#"["W\u00f6rld"]"#,
            Some(r#""Hello, Wörld""#),
        ),
        (
            "x => { __.response.setBody(arguments_are()); function arguments_are() { return x.length; } }",
            "[[1,2,3]]",
            Some("3"),
        ),
    ] {
        let done = fixture.run_text(text, "a", arguments).await.unwrap();
        assert_eq!(done.body.as_deref(), expected, "{text}");
        assert_eq!(done.log, None);
        assert!(done.charge.hundredths() >= 57, "12/21 request units at least, it was {}", done.charge);
    }
    let arguments = fixture.run_text("function () {}", "a", "[").await;
    assert!(arguments.is_err(), "arguments that are no JSON");
}

#[tokio::test]
async fn a_procedure_sees_what_it_wrote_and_its_queries_do_not() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"old","pk":"a","n":1}"#).await;
    fixture.upsert("b", r#"{"id":"old","pk":"b","n":5}"#).await;
    let text = "function () {
        var c = getContext().getCollection(), link = c.getSelfLink(), seen = {};
        c.createDocument(link, { id: 'new', pk: 'a', n: 2 }, function (err, made) {
            if (err) throw err;
            seen.made = made;
            c.readDocument(made._self, function (err, doc) { if (err) throw err; seen.read = doc; });
            c.readDocument(c.getAltLink() + '/docs/old', function (err, old) {
                if (err) throw err;
                old.n = 10;
                c.replaceDocument(old._self, old, function (err, replaced) {
                    if (err) throw err;
                    seen.replaced = replaced;
                    c.readDocument(replaced._self, function (err, again) {
                        if (err) throw err;
                        seen.again = again.n;
                        c.queryDocuments(link, 'SELECT VALUE c.n FROM c', function (err, found) {
                            if (err) throw err;
                            seen.found = found;
                            c.deleteDocument(again._self, function (err) {
                                if (err) throw err;
                                c.readDocument(again._self, function (err) {
                                    seen.gone = err.number;
                                    getContext().getResponse().setBody(seen);
                                });
                            });
                        });
                    });
                });
            });
        });
    }";
    let done = fixture.run_text(text, "a", "").await.unwrap();
    let seen = body(&done);
    assert_eq!(seen.get("made"), seen.get("read"));
    assert_eq!(seen.get("again"), Some(&value("10")));
    assert_eq!(seen.get("found"), Some(&value("[1]")), "queries see the partition as it was before");
    assert_eq!(seen.get("gone"), Some(&value("404")));
    // What the script saw of an item is what clients see.
    assert_eq!(seen.get("made"), fixture.item("a", "new").as_ref());
    assert_eq!(fixture.item("a", "old"), None);
    assert_eq!(fixture.item("b", "old").unwrap().get("n"), Some(&value("5")), "not this logical partition");
    assert!(done.position.lsn > 0);
}

#[tokio::test]
async fn queries_do_not_find_what_the_script_deleted() {
    let fixture = Fixture::with_container().await;
    for n in 0..250 {
        fixture.upsert("a", &format!(r#"{{"id":"i{n}","pk":"a","n":{n},"odd":{}}}"#, n % 2 == 1)).await;
    }
    fixture.upsert("b", r#"{"id":"i0","pk":"b","n":0,"odd":false}"#).await;
    let text = "function () {
        const links = id => __.getAltLink() + '/docs/' + id, seen = {};
        for (let n = 0; n < 250; n += n < 120 ? 1 : 2) __.deleteDocument(links('i' + n));
        __.createDocument(__.getSelfLink(), { id: 'new', pk: 'a', n: -1 });
        const ask = (name, query) => __.queryDocuments(__.getSelfLink(), query, { pageSize: 1000 }, (err, found) => {
            if (err) throw err;
            seen[name] = found;
            __.response.setBody(seen);
        });
        ask('count', 'SELECT VALUE COUNT(1) FROM c');
        ask('filtered', 'SELECT VALUE COUNT(1) FROM c WHERE c.odd = true');
        ask('lowest', 'SELECT VALUE MIN(c.n) FROM c');
        ask('first', 'SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n');
        ask('last', 'SELECT TOP 2 VALUE c.n FROM c ORDER BY c.n DESC');
        ask('even', 'SELECT VALUE c.n FROM c WHERE c.odd = false');
        ask('point', 'SELECT VALUE c.n FROM c WHERE c.id = \"i3\"');
        ask('kept', 'SELECT VALUE c.n FROM c WHERE c.id = \"i121\"');
        ask('range', 'SELECT VALUE c.n FROM c WHERE c.n BETWEEN 118 AND 124');
        ask('odd', 'SELECT DISTINCT VALUE c.odd FROM c');
    }";
    let done = fixture.run_text(text, "a", "").await.unwrap();
    let seen = body(&done);
    for (name, expected) in [
        ("count", "[65]"),
        ("filtered", "[65]"),
        ("lowest", "[121]"),
        ("first", "[121,123]"),
        ("last", "[249,247]"),
        ("even", "[]"),
        ("point", "[]"),
        ("kept", "[121]"),
        ("range", "[121,123]"),
        ("odd", "[true]"),
    ] {
        assert_eq!(seen.get(name), Some(&value(expected)), "{name}");
    }
}

/// A logical partition of more than 10,000 items is read in the order of its ids, a few at a time at first.
#[tokio::test]
async fn a_query_goes_on_behind_what_the_script_deleted() {
    let fixture = Fixture::with_container().await;
    for n in 0..10_050 {
        fixture.upsert("a", &format!(r#"{{"id":"{n:05}","pk":"a"}}"#)).await;
    }
    let text = "function () {
        for (let n = 0; n < 40; n++) __.deleteDocument(__.getAltLink() + '/docs/000' + (n < 10 ? '0' : '') + n);
        __.queryDocuments(__.getSelfLink(), 'SELECT VALUE c.id FROM c', { pageSize: 3 }, (err, found) => {
            if (err) throw err;
            __.response.setBody(found);
        });
    }";
    let done = fixture.run_text(text, "a", "").await.unwrap();
    assert_eq!(body(&done), value(r#"["00040","00041","00042"]"#));
}

#[tokio::test]
async fn everything_that_was_written_has_one_commit() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"x","pk":"a"}"#).await;
    fixture.procedure("many", CREATE_MANY).await;
    let before = fixture.run_text("function () {}", "a", "").await.unwrap().position;
    let done = fixture.run("many", "a", "[10]").await.unwrap();
    assert_eq!(done.position.lsn, before.lsn + 1);
    assert_eq!(done.position.range_id, before.range_id);
    let next = fixture.put(WriteMode::Create, "a", r#"{"id":"y","pk":"a"}"#, &Triggers::default()).await;
    assert_eq!(next.unwrap().position.lsn, before.lsn + 2);
    // Clients that were told an etag in a script can use it.
    let text = "function (id) {
        var c = getContext().getCollection();
        c.upsertDocument(c.getSelfLink(), { id: id, pk: 'a', v: 1 }, function (err, doc) {
            if (err) throw err;
            getContext().getResponse().setBody(doc._etag);
        });
    }";
    let etag = body(&fixture.run_text(text, "a", r#"["x"]"#).await.unwrap());
    assert_eq!(fixture.item("a", "x").unwrap().get("_etag"), Some(&etag));
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_failure_takes_everything_back() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"there","pk":"a","n":1}"#).await;
    let before = fixture.item("a", "there");
    let create = "c.createDocument(c.getSelfLink(), { id: 'new', pk: 'a' }); \
                  c.upsertDocument(c.getSelfLink(), { id: 'there', pk: 'a', n: 2 });";
    for (rest, number, message) in [
        ("throw new Error('no such luck');", None, "Error: no such luck"),
        ("throw new Error(4711, 'own number');", Some(4711), "own number"),
        ("throw 'text';", None, "text"),
        ("undefined.x;", None, "TypeError"),
        ("c.createDocument(c.getSelfLink(), { id: 'there', pk: 'a' });", Some(409), "already exists"),
        (
            "c.createDocument(c.getSelfLink(), { id: 'there', pk: 'a' }, function (err) { if (err) throw err; });",
            Some(409),
            "already exists",
        ),
        ("c.createDocument(c.getSelfLink(), { id: 'x', pk: 'b' });", Some(400), "partition key"),
        ("c.deleteDocument(c.getAltLink() + '/docs/nobody');", Some(404), "does not exist"),
        (
            "c.replaceDocument(c.getAltLink() + '/docs/there', { id: 'there', pk: 'a' }, { etag: 'x' });",
            Some(412),
            "precondition",
        ),
        ("c.queryDocuments(c.getSelfLink(), 'SELECT * FORM c');", Some(400), "FORM"),
        ("getContext().abort(new Error('aborted'));", None, "aborted"),
        ("(async () => { throw new Error('rejected'); })();", None, "rejected"),
    ] {
        let text = format!("function () {{ var c = getContext().getCollection(); {create} {rest} }}");
        let outcome = fixture.run_text(&text, "a", "").await;
        let error = refused(outcome, ErrorKind::ScriptFailed(number));
        let start = "Encountered exception while executing Javascript. Exception = ";
        assert!(error.message.starts_with(start), "{rest}: {error}");
        assert!(error.message.contains(message), "{rest}: {error}");
        assert!(error.charge.hundredths() > 57 + 500, "what was done is charged: {}", error.charge);
        assert!(error.position.is_some());
        assert_eq!((fixture.item("a", "there"), fixture.item("a", "new")), (before.clone(), None), "{rest}");
    }
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_script_may_go_on_after_a_refusal() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"there","pk":"a"}"#).await;
    let text = "function () {
        var c = getContext().getCollection();
        c.createDocument(c.getSelfLink(), { id: 'there', pk: 'a' }, function (err) {
            c.createDocument(c.getSelfLink(), { id: 'other', pk: 'a', was: err.number });
        });
    }";
    fixture.run_text(text, "a", "").await.unwrap();
    assert_eq!(fixture.item("a", "other").unwrap().get("was"), Some(&value("409")));
}

#[tokio::test]
async fn the_log_is_kept_if_asked_for() {
    let fixture = Fixture::with_container().await;
    fixture.procedure("good", "function (x) { console.log('x is %s.', x); }").await;
    fixture.procedure("bad", "function (x) { console.log('x was %s.', x); throw new Error('no'); }").await;
    let located = fixture.engine.container("d", "c").unwrap();
    let key = partition_key("a");
    for (keeps_log, expected) in [(true, true), (false, false)] {
        let run = |id| {
            fixture.engine.execute_procedure(
                &fixture.caller,
                &located,
                id,
                Some(&key),
                b"[1]",
                ProcedureOptions { keeps_log, ..ProcedureOptions::default() },
            )
        };
        let log = run("good").await.unwrap().log;
        assert_eq!(log.is_some(), expected);
        assert!(log.is_none_or(|log| log.contains("x is 1.")));
        let log = run("bad").await.unwrap_err().script_log;
        assert_eq!(log.is_some(), expected);
        assert!(log.is_none_or(|log| log.contains("x was 1.")));
    }
}

#[tokio::test]
async fn procedures_are_found_by_name_and_by_resource_id() {
    let fixture = Fixture::with_container().await;
    let made = fixture
        .script(ScriptKind::StoredProcedure, "p", "function () { getContext().getResponse().setBody(1); }")
        .await
        .unwrap();
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let owner = engine.read_container(caller, "d", "c", None).unwrap().value;
    let by_rid = engine.container(&owner.parent_rid, &owner.rid).unwrap();
    let by_name = engine.container("d", "c").unwrap();
    let key = partition_key("a");
    let kind = ErrorKind::NotFound(ResourceKind::StoredProcedure);
    for (located, procedure, is_there) in
        [(&by_name, "p", true), (&by_rid, &*made.rid, true), (&by_rid, "p", false), (&by_name, "q", false)]
    {
        let outcome = engine
            .execute_procedure(caller, located, procedure, Some(&key), b"", ProcedureOptions::default())
            .await;
        match is_there {
            true => assert_eq!(outcome.unwrap().body.as_deref(), Some("1")),
            false => drop(refused(outcome, kind)),
        }
    }
    fixture.script(ScriptKind::UserDefinedFunction, "u", "function () {}").await.unwrap();
    refused(fixture.run("u", "a", "").await, kind);
    let none = engine.execute_procedure(caller, &by_name, "p", None, b"", ProcedureOptions::default()).await;
    let error = refused(none, ErrorKind::Invalid);
    assert_eq!(error.message, "PartitionKey value must be supplied for this operation");
}

#[tokio::test]
async fn procedures_survive_a_restart() {
    let fixture = Fixture::with_container().await;
    fixture.procedure("many", CREATE_MANY).await;
    fixture.run("many", "a", "[5]").await.unwrap();
    let shown = fixture.item("a", "i3");
    let fixture = fixture.reopen().await;
    assert_eq!(fixture.item("a", "i3"), shown);
    let taken = fixture.run("many", "a", "[1]").await;
    refused(taken, ErrorKind::ScriptFailed(Some(409)));
    assert_eq!(
        body(&fixture.run_text(DELETE_ALL, "a", "").await.unwrap()),
        value(r#"{"deleted":5,"more":false}"#)
    );
    let fixture = fixture.reopen().await;
    assert_eq!(fixture.query("SELECT VALUE COUNT(1) FROM c").await, "0");
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn who_may_run_procedures() {
    let fixture = Fixture::with_container().await;
    fixture.procedure("p", "function () {}").await;
    let located = fixture.engine.container("d", "c").unwrap();
    let mut callers = vec![
        (Caller { access: Access::ReadOnly, ..Caller::full() }, false, false),
        (Caller::full(), true, true),
    ];
    for (user, mode, rest, on_a, on_b) in [
        ("u", "All", r#""resource":"dbs/d/colls/c""#, true, true),
        ("v", "Read", r#""resource":"dbs/d/colls/c""#, false, false),
        ("w", "All", r#""resource":"dbs/d/colls/c","resourcePartitionKey":["a"]"#, true, false),
        ("x", "Read", r#""resource":"dbs/d/colls/c","resourcePartitionKey":["a"]"#, false, false),
        ("y", "All", r#""resource":"dbs/d/colls/c/docs/1","resourcePartitionKey":["a"]"#, false, false),
    ] {
        let permission = format!(r#"{{"id":"p","permissionMode":"{mode}",{rest}}}"#);
        callers.push((fixture.granted(user, &permission).await, on_a, on_b));
    }
    for (index, (caller, on_a, on_b)) in callers.iter().enumerate() {
        for (key, allowed) in [("a", on_a), ("b", on_b)] {
            let key = partition_key(key);
            let outcome = fixture
                .engine
                .execute_procedure(caller, &located, "p", Some(&key), b"", ProcedureOptions::default())
                .await;
            assert_eq!(outcome.is_ok(), *allowed, "{index}");
            assert!(outcome.is_ok() || refused(outcome, ErrorKind::Forbidden).charge.hundredths() == 0);
        }
    }
}

#[tokio::test]
async fn a_script_of_another_containers_link_is_refused() {
    let fixture = Fixture::with_container().await;
    fixture.create_container("other").await.unwrap();
    fixture.create_item(&fixture.caller, "other", "1", "a").await.unwrap();
    let other = fixture.engine.read_container(&fixture.caller, "d", "other", None).unwrap().value.self_link;
    for link in ["dbs/d/colls/other", &other, "dbs/e/colls/c"] {
        let text = format!(
            "function () {{ getContext().getCollection().createDocument('{link}', {{ id: 'x', pk: 'a' }}); }}"
        );
        refused(fixture.run_text(&text, "a", "").await, ErrorKind::ScriptFailed(Some(400)));
    }
    // A link by resource id to an item of another logical partition leads nowhere.
    fixture.upsert("b", r#"{"id":"far","pk":"b"}"#).await;
    let link = fixture.item("b", "far").unwrap().get("_self").unwrap().as_str().unwrap().to_owned();
    let text = format!("function () {{ getContext().getCollection().readDocument('{link}'); }}");
    refused(fixture.run_text(&text, "a", "").await, ErrorKind::ScriptFailed(Some(404)));
}

#[tokio::test]
async fn queries_of_scripts_have_pages_parameters_and_functions() {
    let fixture = Fixture::with_container().await;
    for n in 0..250 {
        fixture.upsert("a", &format!(r#"{{"id":"{n}","pk":"a","n":{n}}}"#)).await;
        fixture.upsert("b", &format!(r#"{{"id":"{n}","pk":"b","n":{n}}}"#)).await;
    }
    fixture.script(ScriptKind::UserDefinedFunction, "twice", "function (x) { return 2 * x; }").await.unwrap();
    let text = "function (query, options) {
        var c = getContext().getCollection(), pages = [];
        next(null);
        function next(continuation) {
            options.continuation = continuation;
            c.queryDocuments(c.getSelfLink(), query, options, function (err, found, more) {
                if (err) throw err;
                pages.push(found.length > 3 ? found.length : found);
                if (more.continuation) next(more.continuation); else getContext().getResponse().setBody(pages);
            });
        }
    }";
    fixture.procedure("pages", text).await;
    for (query, options, expected) in [
        (r#""SELECT * FROM c""#, "{}", "[100,100,50]"),
        (r#""SELECT * FROM c""#, r#"{"pageSize":200}"#, "[200,50]"),
        (r#""SELECT VALUE c.n FROM c WHERE c.n > 240 ORDER BY c.n DESC""#, r#"{"pageSize":8}"#, "[8,[241]]"),
        (r#""SELECT VALUE COUNT(1) FROM c""#, "{}", "[[250]]"),
        (r#""SELECT VALUE udf.twice(c.n) FROM c WHERE c.id = '21'""#, "{}", "[[42]]"),
        (r#""SELECT VALUE 7""#, "{}", "[[7]]"),
        (r#""SELECT * FROM c WHERE c.pk = 'b'""#, "{}", "[[]]"),
        (
            r#"{"query":"SELECT VALUE c.n FROM c WHERE c.n = @n","parameters":[{"name":"@n","value":77}]}"#,
            "{}",
            "[[77]]",
        ),
    ] {
        let done = fixture.run("pages", "a", &format!("[{query},{options}]")).await.unwrap();
        assert_eq!(done.body.as_deref(), Some(expected), "{query}");
    }
}

#[tokio::test]
async fn procedures_run_where_their_key_lies() {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#);
    let throughput = Some(armilla_engine::Throughput::Manual(40_000));
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), throughput).await.unwrap();
    let text = "function (key) { __.createDocument(__.getSelfLink(), { id: 'x', pk: key }); }";
    fixture.procedure("p", text).await;
    let mut ranges = Vec::new();
    for n in 0..40 {
        let key = format!("k{n}");
        let done = fixture.run("p", &key, &format!(r#"["{key}"]"#)).await.unwrap();
        let read = fixture.read_item(&fixture.caller, "c", "x", &key).unwrap();
        assert_eq!(done.position, read.position);
        assert_eq!(read.item.header().lsn, done.position.lsn);
        ranges.push(done.position.range_id);
    }
    ranges.sort_unstable();
    ranges.dedup();
    assert_eq!(ranges.len(), 4);
    let located = fixture.engine.container("d", "c").unwrap();
    let two = armilla_value::PartitionKey::from_json(br#"["a","b"]"#).unwrap();
    let outcome = fixture
        .engine
        .execute_procedure(&fixture.caller, &located, "p", Some(&two), b"", ProcedureOptions::default())
        .await;
    refused(outcome, ErrorKind::PartitionKeyMismatch);
}

#[tokio::test]
async fn an_account_that_was_opened_again_runs_no_more_scripts_elsewhere() {
    let first = Fixture::with_container().await;
    first.procedure("many", CREATE_MANY).await;
    first.run("many", "a", "[2]").await.unwrap();
    let old = first.engine.clone();
    let second = first.reopen().await;
    second.run_text(DELETE_ALL, "a", "").await.unwrap();
    let located = old.container("d", "c").unwrap();
    for _ in 0..3 {
        let key = partition_key("a");
        let late = old
            .execute_procedure(
                &second.caller,
                &located,
                "many",
                Some(&key),
                b"[1]",
                ProcedureOptions::default(),
            )
            .await;
        assert!(late.is_err());
    }
    assert_eq!(second.query("SELECT VALUE COUNT(1) FROM c").await, "0");
}
