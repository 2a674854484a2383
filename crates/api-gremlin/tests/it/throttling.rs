//! What clients are told where the throughput is spent.

use armilla_engine::Policy;
use armilla_value::Value;

use crate::client::{Account, at, code, inner, message};

#[tokio::test(flavor = "multi_thread")]
async fn spent_throughput_is_told_as_the_service_does() {
    let account = Account::with_policy(Policy { enforced: true, burst: false }, Some(400)).await;
    let mut client = account.client().await;
    let mut throttled = None;
    for number in 0..2_000 {
        let answers = client.run(&format!("g.addV('x').property('pk','p').property('id','{number}')")).await;
        let last = answers.last().unwrap().clone();
        if code(&last) != 200 {
            throttled = Some(last);
            break;
        }
    }
    let throttled = throttled.expect("400 request units in a second are not enough for 2,000 vertices");
    assert_eq!((code(&throttled), inner(&throttled)), (500, 429), "{}", message(&throttled));
    let attributes = at(&throttled, &["status", "attributes"]);
    assert_eq!(attributes.get("x-ms-substatus-code").and_then(Value::as_i64), Some(3200));
    let wait = attributes.get("x-ms-retry-after-ms").and_then(Value::as_str).unwrap();
    assert_eq!((wait.len(), wait.starts_with("00:00:0")), (16, true), "{wait}");
    // What costs nothing is not throttled.
    assert_eq!(code(&client.run("g.inject(0)").await[0]), 200);
}
