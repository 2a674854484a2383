//! Explained queries: plans instead of rows, prices beside them.

use armilla_value::Value;

use super::queries::{CROSS, query, rows, with_items};

const EXPLAIN: &str = "x-armilla-explain";

const QUERIES: [&str; 9] = [
    "SELECT * FROM c",
    "SELECT c.id FROM c WHERE c.n = 7",
    "SELECT VALUE COUNT(1) FROM c WHERE c.n < 30",
    "SELECT c.pk, SUM(c.n) AS s FROM c GROUP BY c.pk",
    "SELECT TOP 3 c.id FROM c ORDER BY c.n DESC",
    "SELECT DISTINCT VALUE c.pk FROM c",
    "SELECT VALUE t FROM c JOIN t IN (SELECT VALUE [1, 2, 3]) WHERE c.pk = 2",
    "SELECT * FROM c WHERE c.pk = 3 AND c.id = '3'",
    "SELECT VALUE 1",
];

fn hundredths(value: Option<&Value>) -> i64 {
    (value.and_then(Value::as_f64).unwrap() * 100.0).round() as i64
}

#[tokio::test]
async fn prices_add_up_to_the_charge_on_every_page() {
    let client = with_items(40).await;
    for text in QUERIES {
        let mut continuation = None::<String>;
        loop {
            let mut headers = vec![CROSS, (EXPLAIN, "run"), ("x-ms-max-item-count", "7")];
            if let Some(token) = &continuation {
                headers.push(("x-ms-continuation", token));
            }
            let answer = query(&client, text, &headers).await;
            let body = answer.json();
            let explained = body.get("explain").unwrap_or_else(|| panic!("{text}: {answer:?}"));
            let parts = explained.get("price").and_then(Value::as_array).unwrap();
            let sum: i64 = parts.iter().map(|part| hundredths(part.get("charge"))).sum();
            let charged: f64 = answer.header("x-ms-request-charge").unwrap().parse().unwrap();
            assert_eq!(sum, (charged * 100.0).round() as i64, "{text}: {explained:?}");
            assert_eq!(sum, hundredths(explained.get("charge")), "{text}");
            let found = i64::try_from(rows(&answer).len()).unwrap();
            assert_eq!(explained.get("rows").and_then(Value::as_i64), Some(found), "{text}");
            continuation = answer.header("x-ms-continuation").map(str::to_owned);
            if continuation.is_none() {
                break;
            }
        }
        // The charge is the same without.
        let plain = query(&client, text, &[CROSS, ("x-ms-max-item-count", "7")]).await;
        let explained = query(&client, text, &[CROSS, (EXPLAIN, "RUN"), ("x-ms-max-item-count", "7")]).await;
        assert_eq!(plain.header("x-ms-request-charge"), explained.header("x-ms-request-charge"), "{text}");
        assert!(plain.json().get("explain").is_none(), "{text}");
    }
}

#[tokio::test]
async fn plans_are_free_and_name_partitions_and_indexes() {
    let client = with_items(40).await;
    let answer = query(&client, "SELECT c.id FROM c WHERE c.n = 7", &[CROSS, (EXPLAIN, "plan")]).await;
    assert_eq!((answer.status, answer.header("x-ms-request-charge")), (200, Some("0.00")), "{answer:?}");
    let body = answer.json();
    assert!(body.get("Documents").is_none());
    let lines = body.get("plan").and_then(Value::as_array).unwrap();
    assert_eq!(lines.first().and_then(Value::as_str), Some("Items"), "{lines:?}");
    let partitions = body.get("partitions").and_then(Value::as_array).unwrap();
    assert_eq!(partitions.len(), 2, "{partitions:?}");
    let items = partitions.iter().map(|one| one.get("items").and_then(Value::as_i64).unwrap()).sum::<i64>();
    assert_eq!(items, 40);
    for partition in partitions {
        let indexes = partition.get("indexes").and_then(Value::as_array).unwrap();
        let paths = indexes[0].get("paths").and_then(Value::as_array).unwrap();
        assert_eq!(paths[0].as_str(), Some("/n/?"), "{partition:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_or_explained_is_refused() {
    let client = with_items(1).await;
    query(&client, "SELECT * FROM c", &[CROSS, (EXPLAIN, "yes")]).await.expect(400);
    query(&client, "SELECT * FRM c", &[CROSS, (EXPLAIN, "plan")]).await.expect(400);
    query(&client, "SELECT * FROM c WHERE c.n = 1", &[(EXPLAIN, "plan")]).await.expect(400);
}
