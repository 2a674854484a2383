//! Logging in: challenges, keys, what waits meanwhile, and what each caller may do.

use armilla_api_gremlin::{Alias, Dialect};

use crate::client::{Account, Client, KEY, READ_ONLY_KEY, USER, at, code, inner, login, message, request};

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_is_challenged_and_then_run() {
    let account = Account::new().await;
    let mut client = Client::new(&account.api(|_| {}));
    let id = client.next_id();
    let challenge = client.send(&request(&id, "g.inject(5)", "{}")).await;
    assert_eq!((code(&challenge[0]), inner(&challenge[0])), (407, 407));
    assert_eq!(
        message(&challenge[0]),
        "Graph Service requires Gremlin Client to provide SASL Authentication."
    );
    assert_eq!(at(&challenge[0], &["requestId"]).as_str(), Some(id.as_str()));
    assert!(at(&challenge[0], &["result", "meta"]).as_object().is_some());
    // What comes meanwhile waits.
    let second = client.next_id();
    assert!(client.send(&request(&second, "g.inject(6)", "{}")).await.is_empty());
    let answers = client.send(&login(&id, USER, KEY)).await;
    let results: Vec<(i64, String)> = answers
        .iter()
        .map(|answer| {
            let first = &at(answer, &["result", "data"]).as_array().unwrap()[0];
            (first.as_i64().unwrap(), at(answer, &["requestId"]).as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(results, [(5, id), (6, second)]);
    assert_eq!(code(&client.run("g.inject(0)").await[0]), 200);
}

/// The JavaScript driver sends all that it has at once, and logs in when it is challenged: those behind the 64th failed.
#[tokio::test(flavor = "multi_thread")]
async fn many_requests_may_wait_for_the_login() {
    let account = Account::new().await;
    let mut client = Client::new(&account.api(|_| {}));
    let first = client.next_id();
    assert_eq!(code(&client.send(&request(&first, "g.inject(0)", "{}")).await[0]), 407);
    for number in 1..1_024 {
        let id = client.next_id();
        let answers = client.send(&request(&id, &format!("g.inject({number})"), "{}")).await;
        assert!(answers.is_empty(), "{number}: {answers:?}");
    }
    let id = client.next_id();
    let refused = client.send(&request(&id, "g.inject(0)", "{}")).await;
    assert_eq!((code(&refused[0]), inner(&refused[0])), (500, 1008));
    let answers = client.send(&login(&first, USER, KEY)).await;
    assert_eq!(answers.len(), 1_024);
    assert!(answers.iter().all(|answer| code(answer) == 200));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_logins_are_refused_and_may_be_tried_again() {
    let account = Account::new().await;
    let mut client = Client::new(&account.api(|_| {}));
    for (user, password) in
        [(USER, "d3Jvbmc="), (USER, ""), ("nobody", KEY), (USER, "type=resource&ver=1&sig=x;y;")]
    {
        let id = client.next_id();
        assert_eq!(code(&client.send(&request(&id, "g.inject(0)", "{}")).await[0]), 407);
        let answers = client.send(&login(&id, user, password)).await;
        assert_eq!((code(&answers[0]), inner(&answers[0])), (401, 401), "{user} {password}");
        assert!(
            message(&answers[0]).starts_with("Unauthorized: Invalid credentials provided"),
            "{user} {password}"
        );
    }
    client.log_in(USER, KEY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn graphs_that_are_not_there_are_told() {
    let account = Account::new().await;
    for user in ["/dbs/d/colls/other", "/dbs/other/colls/g"] {
        let mut client = Client::new(&account.api(|_| {}));
        let id = client.next_id();
        client.send(&request(&id, "g.V()", "{}")).await;
        let answers = client.send(&login(&id, user, KEY)).await;
        assert_eq!((code(&answers[0]), inner(&answers[0])), (500, 404));
        assert!(message(&answers[0]).contains("Owner resource does not exist"), "{}", message(&answers[0]));
    }
    account.make_graph("bad", "/a/b", None).await;
    let mut client = Client::new(&account.api(|_| {}));
    let id = client.next_id();
    client.send(&request(&id, "g.V()", "{}")).await;
    let answers = client.send(&login(&id, "/dbs/d/colls/bad", KEY)).await;
    assert_eq!((code(&answers[0]), inner(&answers[0])), (597, 400));
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_keys_read_only() {
    let account = Account::new().await;
    account.client().await.load_modern().await;
    let mut client = Client::new(&account.api(|_| {}));
    client.log_in(USER, READ_ONLY_KEY).await;
    assert_eq!(client.texts("g.V().count()").await, "6");
    for script in [
        "g.addV('x').property('pk','p')",
        "g.V('1').addE('x').to(g.V('2'))",
        "g.V('1').property('age',1)",
        "g.V('1').drop()",
    ] {
        let (code, inner, message) = client.failure(script).await;
        assert_eq!((code, inner), (500, 403), "{script}");
        assert!(
            message.contains("Insufficient permissions provided in the authorization header"),
            "{message}"
        );
    }
    assert_eq!(client.texts("g.V().count()").await, "6");
}

/// Without logins graphs are named by aliases alone; with them, by the login as well.
#[tokio::test(flavor = "multi_thread")]
async fn aliases_name_graphs() {
    let account = Account::new().await;
    account.client().await.load_modern().await;
    let alias = || vec!["gmodern=/dbs/d/colls/g".parse::<Alias>().unwrap()];
    let api = account.api(|options| {
        options.is_open = true;
        options.aliases = alias();
    });
    let mut open = Client::new(&api);
    let id = open.next_id();
    let answers = open.send(&request(&id, "g.V().count()", r#"{"aliases":{"g":"gmodern"}}"#)).await;
    assert_eq!(code(&answers[0]), 200, "{answers:?}");
    let (status, _, _) = open.failure("g.V()").await;
    assert_eq!(status, 499);
    let mut known = account.client_with(|options| options.aliases = alias()).await;
    for (alias, expected) in [("g", 200), ("gmodern", 200), ("other", 499)] {
        let id = known.next_id();
        let more = format!(r#"{{"aliases":{{"g":"{alias}"}}}}"#);
        let answers = known.send(&request(&id, "g.V().count()", &more)).await;
        assert_eq!(code(answers.last().unwrap()), expected, "{alias}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_strict_dialect_refuses_what_the_service_does() {
    let account = Account::new().await;
    let mut client = account.client_with(|options| options.dialect = Dialect::CosmosStrict).await;
    let request = request(&client.next_id(), "g.inject(0)", "{}");
    for mime in ["application/vnd.gremlin-v3.0+json", "application/vnd.gremlin-v2.0+json"] {
        let message = [&[mime.len() as u8], mime.as_bytes(), request.as_bytes()].concat();
        let answers = client.send_bytes(armilla_api_gremlin::MessageKind::Binary, &message).await;
        let text = String::from_utf8(answers[0].clone()).unwrap();
        let is_refused = text.contains("\"code\":498");
        assert_eq!(is_refused, mime.contains("v3"), "{text}");
    }
}
