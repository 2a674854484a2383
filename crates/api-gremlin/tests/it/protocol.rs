//! Messages: what is malformed, how answers are cut, what each says, sessions.

use armilla_value::Value;

use crate::client::{Account, at, code, inner, message, request};

#[tokio::test(flavor = "multi_thread")]
async fn malformed_messages_are_answered() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let id = "00000000-0000-4000-8000-0000000000aa";
    let table = [
        ("{", 498, false),
        ("[]", 498, false),
        (r#"{"op":"eval"}"#, 498, false),
        (&format!(r#"{{"requestId":"{id}","op":"dance","processor":"","args":{{}}}}"#), 498, true),
        (&format!(r#"{{"requestId":"{id}","op":"eval","processor":"nobody","args":{{}}}}"#), 498, true),
        (&format!(r#"{{"requestId":"{id}","op":"eval","processor":"","args":{{}}}}"#), 499, true),
        (
            &format!(
                r#"{{"requestId":"{id}","op":"eval","processor":"","args":{{"gremlin":"g.V()","language":"cobol"}}}}"#
            ),
            499,
            true,
        ),
    ];
    for (text, expected, has_id) in table {
        let answers = client.send(text).await;
        assert_eq!(code(&answers[0]), expected, "{text}: {answers:?}");
        assert_eq!(inner(&answers[0]), 1004, "{text}");
        assert_eq!(at(&answers[0], &["requestId"]).as_str().is_some(), has_id, "{text}");
        assert!(at(&answers[0], &["result", "data"]).is_null());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_that_are_wrong_are_told_as_the_service_does() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let (code, inner, message) = client.failure("g.V().dance()").await;
    assert_eq!((code, inner), (597, 400));
    for part in [
        "\n\nActivityId : ",
        "\nExceptionType : GraphCompileException\nExceptionMessage :\n\tGremlin Query Compilation Error: Unable to find any \
         method 'dance' @ line 1, column ",
        "\n\tGremlinRequestId : ",
        "\n\tGraphInterOpStatusCode : QuerySyntaxError\n",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let (code, _, message) = client.failure("g.V().map{it.get()}").await;
    assert_eq!(code, 597);
    assert!(message.contains("GraphSyntaxException"), "{message}");
}

/// Every answer says what it cost; the last one what all of it did.
#[tokio::test(flavor = "multi_thread")]
async fn results_are_cut_into_answers() {
    let account = Account::new().await;
    let mut client = account.client().await;
    for number in 0..10 {
        client.results(&format!("g.addV('x').property('pk','p').property('id','{number}')")).await;
    }
    for (size, expected) in
        [("{}", 1), (r#"{"batchSize":3}"#, 4), (r#"{"batchSize":1}"#, 10), (r#"{"batchSize":10}"#, 1)]
    {
        let id = client.next_id();
        let answers = client.send(&request(&id, "g.V().id()", size)).await;
        assert_eq!(answers.len(), expected, "{size}");
        let mut total = 0.0;
        for (place, answer) in answers.iter().enumerate() {
            let is_last = place + 1 == answers.len();
            assert_eq!(code(answer), if is_last { 200 } else { 206 });
            let charge = |name: &str| at(answer, &["status", "attributes", name]).as_f64().unwrap();
            total += charge("x-ms-request-charge");
            assert!((charge("x-ms-total-request-charge") - total).abs() < 0.011, "{answer:?}");
            assert!(charge("x-ms-total-server-time-ms") >= charge("x-ms-server-time-ms"));
            assert!(at(answer, &["status", "attributes", "x-ms-activity-id"]).as_str().is_some());
        }
        assert!(total > 0.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_an_empty_list_and_costs_nothing() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let answers = client.run("g.V()").await;
    assert_eq!(code(&answers[0]), 200);
    assert_eq!(at(&answers[0], &["result", "data"]), &Value::Array(Vec::new()));
    let answers = client.run("g.inject(0)").await;
    assert_eq!(at(&answers[0], &["status", "attributes", "x-ms-total-request-charge"]).as_f64(), Some(0.0));
}

/// Drivers that send bytecode read traversers, also where scripts are answered without types: they gave `undefined`.
#[tokio::test(flavor = "multi_thread")]
async fn bytecode_is_answered_with_traversers() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let id = client.next_id();
    let bytecode = r#"{"@type":"g:Bytecode","@value":{"step":[["inject",{"@type":"g:Int32","@value":7}]]}}"#;
    let request = format!(
        r#"{{"requestId":{{"@type":"g:UUID","@value":"{id}"}},"op":"bytecode","processor":"traversal",
            "args":{{"gremlin":{bytecode},"aliases":{{"g":"g"}}}}}}"#
    );
    let answers = client.send(&request).await;
    assert_eq!(code_of_typed(&answers[0]), 200, "{answers:?}");
    let text = armilla_value::json::to_string(&answers[0]);
    assert!(text.contains(r#""@type":"g:Traverser""#), "{text}");
    // A script of the same client is answered as before.
    let answers = client.run("g.inject(7)").await;
    assert_eq!(at(&answers[0], &["result", "data"]), &Value::Array(vec![Value::from(7_i64)]));
}

/// Returns the code of an answer, whose numbers may have types.
fn code_of_typed(answer: &Value) -> i64 {
    let code = at(answer, &["status", "code"]);
    code.as_i64().unwrap_or_else(|| at(code, &["@value"]).as_i64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_keep_nothing_and_are_closed() {
    let account = Account::new().await;
    let mut client = account.client().await;
    let id = client.next_id();
    let eval = format!(
        r#"{{"requestId":"{id}","op":"eval","processor":"session","args":{{"session":"s","gremlin":"g.inject(1)"}}}}"#
    );
    assert_eq!(code(&client.send(&eval).await[0]), 200);
    let close =
        format!(r#"{{"requestId":"{id}","op":"close","processor":"session","args":{{"session":"s"}}}}"#);
    assert_eq!(code(&client.send(&close).await[0]), 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn traversals_end_in_time() {
    let account = Account::new().await;
    let mut client = account.client().await;
    client.load_modern().await;
    let id = client.next_id();
    let script = "g.V().repeat(both()).until(constant(false).is(true)).count()";
    let answers = client.send(&request(&id, script, r#"{"evaluationTimeout":50}"#)).await;
    let last = answers.last().unwrap();
    // Whether time or rounds are over first, it ends with a failure that says so.
    assert!(matches!((code(last), inner(last)), (598, 1009) | (597, _)), "{}", message(last));
    // More results than can ever be sent.
    let id = client.next_id();
    let script = "g.inject(0).repeat(union(identity(),identity())).times(60)";
    let answers = client.send(&request(&id, script, r#"{"evaluationTimeout":50}"#)).await;
    let last = answers.last().unwrap();
    assert_eq!((code(last), inner(last)), (598, 1009), "{}", message(last));
}
