//! Stored procedures, triggers and user-defined functions as resources. The three kinds differ in little.

use http::Method;

use super::client::{Answer, Client, READ_ONLY_KEY};

/// The path of the feed, its name, and members besides `id` and `body`.
const KINDS: [(&str, &str, &str); 3] = [
    ("/dbs/d/colls/c/sprocs", "StoredProcedures", ""),
    ("/dbs/d/colls/c/triggers", "Triggers", r#","triggerType":"Pre","triggerOperation":"All""#),
    ("/dbs/d/colls/c/udfs", "UserDefinedFunctions", ""),
];
const TRIGGERS: &str = KINDS[1].0;
const UPSERT: [(&str, &str); 1] = [("x-ms-documentdb-is-upsert", "True")];
const QUERY: [(&str, &str); 1] = [("x-ms-documentdb-isquery", "True")];

async fn query(client: &Client, path: &str, text: &str) -> Answer {
    client.send(Method::POST, path, &QUERY, format!(r#"{{"query":"{text}"}}"#)).await
}

#[tokio::test]
async fn scripts_live_through_every_verb() {
    let client = Client::with_container().await;
    let owner = client.get("/dbs/d/colls/c").await.expect(200);
    for (path, feed, members) in KINDS {
        let definition =
            |id: &str, body: &str| format!(r#"{{"id":"{id}","body":"function () {{ {body} }}"{members}}}"#);
        let created = client.post(path, &definition("s", "return 1;")).await.expect(201);
        let segment = path.rsplit('/').next().unwrap();
        let self_link = format!("{}{segment}/{}/", owner.member("_self"), created.member("_rid"));
        assert_eq!(created.member("_self"), self_link);
        assert_eq!(created.header("etag"), Some(&*created.member("_etag")));
        assert_eq!(created.header("x-ms-alt-content-path"), Some("dbs/d/colls/c"));
        assert_eq!(created.header("x-ms-content-path"), Some(&*owner.member("_rid")));
        assert_eq!(created.member("body"), "function () { return 1; }");
        assert!(created.number("_ts") > 0);
        client.post(path, &definition("s", "")).await.expect_code(409, 0);

        let one = format!("{path}/s");
        let etag = created.member("_etag");
        assert_eq!(client.get(&one).await.expect(200).text, created.text);
        assert_eq!(
            client.get(&format!("/{}", self_link.trim_end_matches('/'))).await.expect(200).text,
            created.text
        );
        client.send(Method::GET, &one, &[("if-none-match", &etag)], "").await.expect(304);

        let other = definition("s", "return 2;");
        client.send(Method::PUT, &one, &[("if-match", "\"0\"")], &other).await.expect(412);
        let replaced = client.send(Method::PUT, &one, &[("if-match", &etag)], &other).await.expect(200);
        assert_eq!(replaced.member("_rid"), created.member("_rid"));
        assert_eq!(replaced.member("body"), "function () { return 2; }");
        assert_ne!(replaced.member("_etag"), etag);
        client.send(Method::POST, path, &UPSERT, &other).await.expect(200);
        client.send(Method::POST, path, &UPSERT, &definition("t", "")).await.expect(201);
        client.put(&one, &definition("renamed", "")).await.expect(200);
        client.get(&one).await.expect_code(404, 0);

        let list = client.get(path).await.expect(200);
        assert_eq!(list.ids(feed), ["renamed", "t"]);
        assert_eq!(list.member("_rid"), owner.member("_rid"));
        assert_eq!(query(&client, path, "SELECT * FROM root r").await.expect(200).text, list.text);
        let found = query(&client, path, "SELECT * FROM root r WHERE r.id='t'").await.expect(200);
        assert_eq!(found.ids(feed), ["t"]);
        let first = client.send(Method::GET, path, &[("x-ms-max-item-count", "1")], "").await.expect(200);
        assert_eq!(first.ids(feed), ["renamed"]);
        let next = [("x-ms-continuation", first.header("x-ms-continuation").unwrap())];
        assert_eq!(client.send(Method::GET, path, &next, "").await.expect(200).ids(feed), ["t"]);

        let t = format!("{path}/t");
        client.send(Method::DELETE, &t, &[("if-match", "\"0\"")], "").await.expect(412);
        client.delete(&t).await.expect(204);
        client.delete(&t).await.expect_code(404, 0);
        client.put(&t, &definition("t", "")).await.expect_code(404, 0);
        client.get(&path.replace("/c/", "/no/")).await.expect_code(404, 1003);
        let authorization = client.sign(READ_ONLY_KEY, &Method::POST, path);
        client.send_as(&authorization, Method::POST, path, &[], definition("u", "")).await.expect(403);
        let authorization = client.sign(READ_ONLY_KEY, &Method::GET, path);
        client.send_as(&authorization, Method::GET, path, &[], "").await.expect(200);
    }
}

#[tokio::test]
async fn scripts_are_stored_as_they_are() {
    let client = Client::with_container().await;
    for (path, _, members) in KINDS {
        for body in [
            String::new(),
            "{}".to_owned(),
            "[]".to_owned(),
            format!(r#"{{"id":"s"{members}}}"#),
            format!(r#"{{"body":"x => x"{members}}}"#),
            format!(r#"{{"id":"s","body":7{members}}}"#),
            format!(r#"{{"id":7,"body":"x => x"{members}}}"#),
            format!(r#"{{"id":"a/b","body":"x => x"{members}}}"#),
        ] {
            client.post(path, &body).await.expect_code(400, 0);
        }
        for (number, text) in ["not a function", "function (", "5", "x => x"].into_iter().enumerate() {
            let body = format!(r#"{{"id":"s{number}","body":"{text}"{members}}}"#);
            assert_eq!(client.post(path, &body).await.expect(201).member("body"), text);
        }
        let broken = format!(r#"{{"id":"s3","body":"function ("{members}}}"#);
        assert_eq!(client.put(&format!("{path}/s3"), &broken).await.expect(200).member("body"), "function (");
    }
    // It turns out when they are used.
    for number in 0..4 {
        let run = format!("/dbs/d/colls/c/sprocs/s{number}");
        let key = [("x-ms-documentdb-partitionkey", r#"["a"]"#)];
        let failed = client.send(Method::POST, &run, &key, "[]").await.expect_code(400, 65535);
        let message = failed.member("message");
        assert!(message.contains("Encountered exception while compiling Javascript"), "{message}");
    }
}

#[tokio::test]
async fn members_of_triggers_are_words_in_any_case() {
    let client = Client::with_container().await;
    let mut count = 0;
    for time in ["Pre", "Post", "pre", "POST"] {
        for operation in ["All", "Create", "Update", "Delete", "Replace", "Upsert", "all", "delete"] {
            count += 1;
            let definition = format!(
                r#"{{"id":"t","body":"() => 1","triggerType":"{time}","triggerOperation":"{operation}"}}"#
            );
            let put = client.send(Method::POST, TRIGGERS, &UPSERT, definition).await;
            assert_eq!(put.status, if count == 1 { 201 } else { 200 }, "{put:?}");
            // Clients compare what they get back with what they sent.
            let read = client.get("/dbs/d/colls/c/triggers/t").await.expect(200);
            assert_eq!(
                (read.member("triggerType"), read.member("triggerOperation")),
                (time.into(), operation.into())
            );
        }
    }
    for members in [
        "",
        r#","triggerType":"Pre""#,
        r#","triggerOperation":"All""#,
        r#","triggerType":"During","triggerOperation":"All""#,
        r#","triggerType":"Pre","triggerOperation":"Read""#,
        r#","triggerType":0,"triggerOperation":"All""#,
        r#","triggerType":"Pre","triggerOperation":0"#,
        r#","triggerType":"","triggerOperation":"All""#,
        r#","triggerType":"Pre","triggerOperation":null"#,
    ] {
        let definition = format!(r#"{{"id":"u","body":"() => 1"{members}}}"#);
        let refused = client.post(TRIGGERS, &definition).await.expect_code(400, 0);
        assert!(refused.member("message").contains("trigger"), "{}", refused.text);
    }
}

#[tokio::test]
async fn scripts_are_limited_in_number() {
    let client = Client::with_container().await;
    for ((path, feed, members), most) in KINDS.into_iter().zip([100, 25, 50]) {
        let definition = |number| format!(r#"{{"id":"s{number}","body":"() => 1"{members}}}"#);
        for number in 0..most {
            client.post(path, &definition(number)).await.expect(201);
        }
        client.post(path, &definition(most)).await.expect_code(400, 0);
        let list = client.send(Method::GET, path, &[("x-ms-max-item-count", "-1")], "").await.expect(200);
        assert_eq!(list.ids(feed).len(), most);
    }
}

#[tokio::test]
async fn scripts_of_a_recreated_container_are_noticed() {
    let client = Client::with_container().await;
    let stale = [("x-ms-cosmos-intended-collection-rid", "AAAAAAAAAAA=")];
    for (path, _, _) in KINDS {
        client.send(Method::GET, path, &stale, "").await.expect_code(400, 1024);
        client.send(Method::GET, &format!("{path}/s"), &stale, "").await.expect_code(400, 1024);
    }
    client.send(Method::POST, "/dbs/d/colls/c/sprocs/s", &stale, "").await.expect_code(400, 1024);
}
