//! Change sets: all or nothing, and which operation it was.

use http::Method;

use super::client::{Answer, Client, FLAVOURS};
use crate::Flavour;

const KIND: (&str, &str) = ("content-type", "multipart/mixed; boundary=batch_1");

/// An operation of a change set: verb, address behind the host, headers, body.
type Operation<'o> = (&'o str, &'o str, &'o str, &'o str);

fn change_set(operations: &[Operation<'_>]) -> String {
    let mut text = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n".to_owned();
    for (index, (verb, target, headers, body)) in operations.iter().enumerate() {
        text.push_str(&format!(
            "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: {index}\
             \r\n\r\n{verb} http://elsewhere:1{target} HTTP/1.1\r\nContent-Type: application/json\r\n{headers}\r\n{body}\r\n"
        ));
    }
    text + "--changeset_1--\r\n--batch_1--\r\n"
}

async fn send(client: &Client, operations: &[Operation<'_>]) -> Answer {
    client.send(Method::POST, "/$batch", &[KIND], change_set(operations)).await
}

fn insert(row_key: &str) -> (String, String) {
    (
        "Prefer: return-no-content\r\n".to_owned(),
        format!(r#"{{"PartitionKey":"p","RowKey":"{row_key}","n":1}}"#),
    )
}

#[track_caller]
fn assert_failed(answer: &Answer, status: u16, code: &str, message: &str) {
    let parts = answer.parts();
    assert_eq!(parts.len(), 1, "{answer:?}");
    assert_eq!(parts[0].0, status, "{answer:?}");
    assert!(parts[0].2.contains(&format!("{{\"odata.error\":{{\"code\":\"{code}\"")), "{answer:?}");
    assert!(parts[0].2.contains(&format!("\"value\":\"{message}")), "{answer:?}");
}

#[tokio::test]
async fn every_write_goes_through_in_one() {
    for flavour in FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        for row_key in ["replaced", "merged", "deleted", "both"] {
            let body = format!(r#"{{"PartitionKey":"p","RowKey":"{row_key}","old":1}}"#);
            client.insert("t12", &body).await.expect(204);
        }
        let any = "If-Match: *\r\n";
        let answer = send(
            &client,
            &[
                (
                    "POST",
                    "/t12",
                    "Prefer: return-no-content\r\n",
                    r#"{"PartitionKey":"p","RowKey":"inserted","n":1}"#,
                ),
                ("PUT", "/t12(PartitionKey='p',RowKey='replaced')", any, r#"{"n":2}"#),
                ("PATCH", "/t12(PartitionKey='p',RowKey='merged')", any, r#"{"n":3}"#),
                ("DELETE", "/t12(PartitionKey='p',RowKey='deleted')", any, ""),
                ("PUT", "/t12(PartitionKey='p',RowKey='upserted')", "", r#"{"n":5}"#),
                ("POST", "/t12(PartitionKey='p',RowKey='both')", "x-http-method: MERGE\r\n", r#"{"n":6}"#),
                ("MERGE", "/t12(PartitionKey='p',RowKey='new')", "", r#"{"n":7}"#),
                ("POST", "/t12", "", r#"{"PartitionKey":"p","RowKey":"echoed","n":8}"#),
            ],
        )
        .await
        .expect(202);
        let parts = answer.parts();
        assert_eq!(
            parts.iter().map(|(status, ..)| *status).collect::<Vec<_>>(),
            [204, 204, 204, 204, 204, 204, 204, 201]
        );
        for (index, (_, head, body)) in parts.iter().enumerate() {
            assert!(head.contains(&format!("\r\nContent-ID: {index}")), "{head}");
            assert_eq!(head.contains("\r\nETag: W/\"datetime'"), index != 3, "{head}");
            assert_eq!(
                head.contains("\r\nLocation: http://localhost:8902/t12(PartitionKey='p',RowKey='"),
                index != 3
            );
            assert_eq!(body.is_empty(), index != 7, "{body}");
        }
        assert!(parts[0].1.contains("Preference-Applied: return-no-content"));
        assert!(answer.header("x-ms-request-charge").is_some());
        assert!(
            answer.header("content-type").unwrap().starts_with("multipart/mixed; boundary=batchresponse_")
        );
        let found = client.get("/t12()?$filter=PartitionKey%20eq%20'p'").await.expect(200);
        assert_eq!(
            found.all("RowKey"),
            ["both", "echoed", "inserted", "merged", "new", "replaced", "upserted"]
        );
        for (row_key, old) in [("both", true), ("merged", true), ("replaced", false)] {
            let read = client.get(&format!("/t12(PartitionKey='p',RowKey='{row_key}')")).await.expect(200);
            assert_eq!(read.member("old").is_some(), old, "{row_key}");
            let tag = read.etag();
            assert!(answer.text.contains(&tag), "{row_key}");
        }
    }
}

#[tokio::test]
async fn a_failing_member_leaves_nothing_behind() {
    for flavour in FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        let made =
            client.insert("t12", r#"{"PartitionKey":"p","RowKey":"there","n":1}"#).await.expect(204).etag();
        let (headers, first) = insert("first");
        let (_, there) = insert("there");
        let stale = "If-Match: W/\"datetime'2000-01-01T00%3A00%3A00.0000000Z'\"\r\n";
        let at_there = "/t12(PartitionKey='p',RowKey='there')";
        let at_missing = "/t12(PartitionKey='p',RowKey='missing')";
        for (culprit, status, code, message) in [
            (
                ("POST", "/t12", &*headers, &*there),
                409,
                "EntityAlreadyExists",
                "The specified entity already exists.",
            ),
            (("PUT", at_there, stale, "{}"), 412, "UpdateConditionNotSatisfied", "The update condition"),
            (("PATCH", at_there, stale, "{}"), 412, "UpdateConditionNotSatisfied", "The update condition"),
            (("DELETE", at_there, stale, ""), 412, "UpdateConditionNotSatisfied", "The update condition"),
            (("PUT", at_missing, "If-Match: *\r\n", "{}"), 404, "ResourceNotFound", "The specified resource"),
            (
                ("PATCH", at_missing, "If-Match: *\r\n", "{}"),
                404,
                "ResourceNotFound",
                "The specified resource",
            ),
            (
                ("DELETE", at_missing, "If-Match: *\r\n", ""),
                404,
                "ResourceNotFound",
                "The specified resource",
            ),
            (("DELETE", at_there, "", ""), 400, "MissingRequiredHeader", "An HTTP header"),
            (("DELETE", at_there, "If-Match: wrong\r\n", ""), 400, "InvalidInput", "The etag value"),
            (("PUT", at_there, "", "{"), 400, "InvalidInput", "An error occurred"),
            (("POST", "/t12", "", "{}"), 400, "PropertiesNeedValue", "The values are not specified"),
            (("GET", at_there, "", ""), 400, "InvalidInput", "A change set holds writes only."),
        ] {
            let last = ("PUT", "/t12(PartitionKey='p',RowKey='last')", "", r#"{"n":9}"#);
            let merge = ("PATCH", "/t12(PartitionKey='p',RowKey='merge')", "", r#"{"n":9}"#);
            let answer = send(&client, &[("POST", "/t12", &headers, &first), merge, culprit, last]).await;
            assert_failed(&answer, status, code, &format!("2:{message}"));
            let left = client.get("/t12()").await.expect(200);
            assert_eq!(left.all("RowKey"), ["there"], "{culprit:?}");
            assert_eq!(client.get(at_there).await.expect(200).etag(), made);
        }
    }
}

#[tokio::test]
async fn the_first_of_several_culprits_is_named() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    for row_key in ["a", "b"] {
        client.insert("t12", &insert(row_key).1).await.expect(204);
    }
    let (headers, body) = insert("a");
    let first = ("POST", "/t12", &*headers, &*body);
    let stale = "If-Match: W/\"datetime'2000-01-01T00%3A00%3A00.0000000Z'\"\r\n";
    let any = "If-Match: *\r\n";
    for second in [
        ("PATCH", "/t12(PartitionKey='p',RowKey='b')", stale, "{}"),
        ("PATCH", "/t12(PartitionKey='p',RowKey='missing')", stale, "{}"),
        ("PATCH", "/t12(PartitionKey='p',RowKey='missing')", any, "{}"),
    ] {
        let answer = send(&client, &[first, second]).await;
        assert_failed(&answer, 409, "EntityAlreadyExists", "0:The specified entity already exists.");
    }
    // Alone, each of them is the culprit.
    for (target, condition, status, code) in [
        ("/t12(PartitionKey='p',RowKey='b')", stale, 412, "UpdateConditionNotSatisfied"),
        ("/t12(PartitionKey='p',RowKey='missing')", stale, 404, "ResourceNotFound"),
        ("/t12(PartitionKey='p',RowKey='missing')", any, 404, "ResourceNotFound"),
    ] {
        assert_failed(&send(&client, &[("PATCH", target, condition, "{}")]).await, status, code, "0:");
    }
}

#[tokio::test]
async fn rules_of_change_sets() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    client.create_table("other").await;
    let (headers, first) = insert("a");
    let (_, second) = insert("b");
    let elsewhere = r#"{"PartitionKey":"q","RowKey":"b"}"#;
    for (operation, status, code, message) in [
        (
            ("POST", "/t12", &*headers, &*first),
            400,
            "InvalidDuplicateRow",
            "1:The batch request contains multiple changes",
        ),
        (
            ("POST", "/t12", &*headers, elsewhere),
            400,
            "CommandsInBatchActOnDifferentPartitions",
            "1:All commands in a batch",
        ),
        (("POST", "/other", &*headers, &*second), 400, "InvalidInput", "1:All operations of a change set"),
        (("POST", "/t12/x", &*headers, &*second), 400, "InvalidInput", "1:Request url is invalid."),
    ] {
        let answer = send(&client, &[("POST", "/t12", &headers, &first), operation]).await;
        assert_failed(&answer, status, code, message);
    }
    let bodies: Vec<String> = (0..101).map(|number| insert(&number.to_string()).1).collect();
    let many: Vec<Operation<'_>> = bodies.iter().map(|body| ("POST", "/t12", &*headers, &**body)).collect();
    assert_failed(
        &send(&client, &many).await,
        400,
        "InvalidInput",
        "99:The batch request operation exceeds the maximum 100 changes per change set.",
    );
    assert_eq!(client.get("/t12()").await.expect(200).all("RowKey"), [""; 0]);
    assert_eq!(send(&client, &many[..100]).await.parts().len(), 100);
    assert_eq!(client.get("/t12()").await.expect(200).all("RowKey").len(), 100);

    // A table that is not there.
    let missing = [("POST", "/nosuch", &*headers, &*first)];
    assert_failed(&send(&client, &missing).await, 404, "ResourceNotFound", "The specified resource");
    let storage = client.of_flavour(Flavour::Storage);
    assert_failed(
        &send(&storage, &missing).await,
        404,
        "TableNotFound",
        "0:The table specified does not exist.",
    );
}

#[tokio::test]
async fn batches_that_cannot_be_read() {
    let client = Client::with_table(Flavour::Cosmos, "t12").await;
    client.send(Method::POST, "/$batch", &[KIND], "").await.expect_code(400, "InvalidInput");
    client.post("/$batch", "{}").await.expect_code(400, "InvalidInput");
    let json = [("content-type", "application/json")];
    client.send(Method::POST, "/$batch", &json, "{}").await.expect_code(400, "InvalidInput");
    let huge = vec![b' '; 4 * 1024 * 1024 + 1];
    client.send(Method::POST, "/$batch", &[KIND], huge).await.expect_code(413, "RequestBodyTooLarge");
}

fn single(target: &str) -> String {
    format!(
        "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
         GET http://localhost:8902{target} HTTP/1.1\r\nAccept: application/json;odata=nometadata\r\n\r\n--batch_1--\r\n"
    )
}

#[tokio::test]
async fn one_query_may_stand_in_a_batch() {
    for flavour in FLAVOURS {
        let client = Client::with_table(flavour, "t12").await;
        client.insert("t12", r#"{"PartitionKey":"p","RowKey":"r","n":1}"#).await.expect(204);
        let send = async |target: &str| client.send(Method::POST, "/$batch", &[KIND], single(target)).await;
        let parts = send("/t12(PartitionKey='p',RowKey='r')").await.parts();
        assert_eq!((parts.len(), parts[0].0), (1, 200));
        assert!(parts[0].1.contains("\r\nETag: W/"));
        assert!(parts[0].2.starts_with(r#"{"PartitionKey":"p","RowKey":"r","n":1,"#), "{parts:?}");
        let parts = send("/t12()?$filter=n%20eq%201&$select=n").await.parts();
        assert_eq!((parts[0].0, &*parts[0].2), (200, r#"{"value":[{"n":1}]}"#));
        let parts = send("/t12(PartitionKey='p',RowKey='x')").await.parts();
        assert_eq!(parts[0].0, 404);
        assert!(parts[0].1.starts_with("404 Not Found"));
        let write = single("/t12").replace("GET", "POST");
        let parts = client.send(Method::POST, "/$batch", &[KIND], write).await.parts();
        assert_eq!(parts[0].0, 400);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merges_in_change_sets_lose_nothing() {
    let client = std::sync::Arc::new(Client::with_table(Flavour::Cosmos, "t12").await);
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move {
                let body = format!(r#"{{"n{number}":{number}}}"#);
                let operations = [
                    ("PATCH", "/t12(PartitionKey='p',RowKey='a')", "", &*body),
                    ("PATCH", "/t12(PartitionKey='p',RowKey='b')", "", &*body),
                ];
                let parts = send(&client, &operations).await.parts();
                assert_eq!(parts.len(), 2, "{parts:?}");
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    for row_key in ["a", "b"] {
        let read = client.get(&format!("/t12(PartitionKey='p',RowKey='{row_key}')")).await.expect(200);
        for number in 0..20 {
            assert_eq!(read.member(&format!("n{number}")), Some(number.to_string()));
        }
    }
}
