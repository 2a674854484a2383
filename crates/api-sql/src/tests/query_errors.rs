//! Queries that are refused, and what they are told.

use armilla_value::{Value, json};

use super::client::Answer;
use super::queries::{CROSS, query, send, with_items};
use crate::limits::QUERY_TEXT_BYTES_MAX;

/// What stands between `Message: ` and the end of the line.
#[track_caller]
fn error_list(answer: &Answer) -> Value {
    let message = answer.member("message");
    let list = message.strip_prefix("Message: ").unwrap_or_else(|| panic!("{message}"));
    let (list, rest) = list.split_once("\r\n").unwrap_or_else(|| panic!("{message}"));
    assert!(rest.starts_with("ActivityId: "), "{message}");
    json::parse(list.as_bytes()).unwrap_or_else(|error| panic!("{error}: {list}"))
}

#[tokio::test]
async fn wrong_texts_are_told_by_code_and_place() {
    let client = with_items(1).await;
    for (text, code, start, end) in [
        ("SELECT * FORM c", "SC1001", 9, 13),
        ("SELECT VALUE BADFUNC(c.n) FROM c", "SC2005", 13, 20),
        ("SELECT VALUE n FROM c", "SC2001", 13, 14),
    ] {
        let refused = query(&client, text, &[CROSS]).await.expect_code(400, 0);
        assert_eq!(refused.member("code"), "BadRequest");
        let list = error_list(&refused);
        let error = &list.get("errors").and_then(Value::as_array).unwrap_or_else(|| panic!("{list:?}"))[0];
        assert_eq!(error.get("severity").and_then(Value::as_str), Some("Error"), "{text}");
        assert_eq!(error.get("code").and_then(Value::as_str), Some(code), "{text}: {list:?}");
        let location = error.get("location").unwrap();
        let offset = |name| location.get(name).and_then(Value::as_i64);
        assert_eq!((offset("start"), offset("end")), (Some(start), Some(end)), "{text}");
    }
}

#[tokio::test]
async fn refusals_are_a_list_of_texts() {
    let client = with_items(1).await;
    let refused = query(&client, "SELECT * FROM c ORDER BY c.a, c.b", &[CROSS]).await.expect_code(400, 0);
    let list = error_list(&refused);
    let texts = list.get("Errors").and_then(Value::as_array).unwrap_or_else(|| panic!("{list:?}"));
    let expected =
        "The order by query does not have a corresponding composite index that it can be served from.";
    assert_eq!(texts[0].as_str(), Some(expected));
}

#[tokio::test]
async fn bodies_that_are_no_query_are_refused() {
    let client = with_items(1).await;
    for (body, word) in [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "'query'"),
        ("{}", "'query'"),
        (r#"{"query":5}"#, "'query'"),
        (r#"{"query":"SELECT 1","parameters":{}}"#, "'parameters'"),
        (r#"{"query":"SELECT 1","parameters":[{"name":"x","value":1}]}"#, "begin with @"),
        (r#"{"query":"SELECT 1","parameters":[{"name":"@x","value":1},{"name":"@x","value":2}]}"#, "'@x'"),
        (r#"{"query":"SELECT 1","resumeFilter":5}"#, "'resumeFilter'"),
    ] {
        let refused = send(&client, body, &[CROSS]).await.expect_code(400, 0);
        let message = refused.member("message");
        assert!(message.contains(word), "{body}: {message}");
    }
    send(&client, r#"{"query":"SELECT VALUE @x","parameters":[]}"#, &[CROSS]).await.expect_code(400, 0);
}

#[tokio::test]
async fn texts_are_bounded() {
    let client = with_items(1).await;
    let text = |length: usize| format!("SELECT VALUE 1{}", " ".repeat(length - "SELECT VALUE 1".len()));
    query(&client, &text(QUERY_TEXT_BYTES_MAX), &[CROSS]).await.expect(200);
    query(&client, &text(QUERY_TEXT_BYTES_MAX + 1), &[CROSS]).await.expect_code(400, 0);
}

#[tokio::test]
async fn malformed_continuations_are_refused() {
    let client = with_items(20).await;
    for text in ["SELECT * FROM c", "SELECT * FROM c ORDER BY c.n"] {
        for token in ["nonsense", "{}", "AAAA", "-1"] {
            query(&client, text, &[CROSS, ("x-ms-continuation", token)]).await.expect_code(400, 0);
        }
        let long = "x".repeat(crate::limits::CONTINUATION_BYTES_MAX + 1);
        query(&client, text, &[CROSS, ("x-ms-continuation", &long)]).await.expect_code(400, 0);
    }
    // A token belongs to its query.
    let page = query(&client, "SELECT * FROM c ORDER BY c.n", &[CROSS, ("x-ms-max-item-count", "2")]).await;
    let token = page.header("x-ms-continuation").unwrap();
    query(&client, "SELECT * FROM c", &[CROSS, ("x-ms-continuation", token)]).await.expect_code(400, 0);
}

#[tokio::test]
async fn functions_that_are_not_registered_are_refused() {
    let client = with_items(1).await;
    let refused = query(&client, "SELECT VALUE udf.twice(c.n) FROM c", &[CROSS]).await.expect_code(400, 0);
    assert!(refused.member("message").contains("'twice' is not registered"), "{}", refused.text);
}

#[tokio::test]
async fn what_is_not_built_yet_is_a_bad_request() {
    // Clients repeat what fails with 500 and above.
    let client = with_items(1).await;
    for text in [
        "SELECT * FROM c WHERE FullTextContains(c.text, 'red')",
        "SELECT * FROM c WHERE FullTextContainsAll(c.text, 'red', 'blue')",
        "SELECT * FROM c WHERE FullTextContainsAny(c.text, 'red', 'blue')",
        "SELECT TOP 5 * FROM c ORDER BY RANK FullTextScore(c.text, 'red')",
        "SELECT VALUE VectorDistance(c.v, [1, 2]) FROM c",
        "SELECT TOP 5 * FROM c ORDER BY VectorDistance(c.v, [1, 2])",
    ] {
        let refused = query(&client, text, &[CROSS]).await.expect_code(400, 0);
        assert_eq!(refused.member("code"), "BadRequest", "{text}");
        assert!(refused.member("message").contains("not supported"), "{text}: {}", refused.text);
    }
}
