//! Throughput: what is beyond it is refused, and clients are told when to come again.

use std::time::Duration;

use armilla_engine::EngineOptions;
use http::Method;

use super::client::{Client, FLAVOURS};

#[tokio::test]
async fn what_is_beyond_the_share_is_refused() {
    for flavour in FLAVOURS {
        let client = Client::with_engine(flavour, |_| {}, EngineOptions::default()).await;
        client.create_table("t12").await;
        let mut refused = None;
        for number in 0..200 {
            let body = format!(r#"{{"PartitionKey":"p","RowKey":"r{number}"}}"#);
            let answer = client.insert("t12", &body).await;
            if answer.status == 429 {
                refused = Some(answer);
                break;
            }
            answer.expect(204);
        }
        let refused =
            refused.expect("400 RU a second are less than 200 inserts").expect_code(429, "TooManyRequests");
        assert!(refused.message().starts_with("Request rate is large."), "{}", refused.message());
        let wait: u64 = refused.header("x-ms-retry-after-ms").unwrap().parse().unwrap();
        assert_eq!(refused.header("retry-after").unwrap().parse::<u64>().unwrap(), wait.div_ceil(1_000));
        // A batch is refused as a whole, where clients look.
        let batch = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n\
            PUT http://x/t12(PartitionKey='p',RowKey='r') HTTP/1.1\r\n\r\n{}\r\n--c--\r\n--b--\r\n";
        let kind = [("content-type", "multipart/mixed; boundary=b")];
        client.send(Method::POST, "/$batch", &kind, batch).await.expect_code(429, "TooManyRequests");
        client.get("/t12()").await.expect_code(429, "TooManyRequests");
        client.get("/t12(PartitionKey='p',RowKey='r0')").await.expect(429);
        client.send(Method::PATCH, "/t12(PartitionKey='p',RowKey='r0')", &[], "{}").await.expect(429);
        client.clock.advance(Duration::from_millis(wait));
        client.get("/t12(PartitionKey='p',RowKey='r0')").await.expect(200);
    }
}
