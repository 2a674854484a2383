//! Faults in how throughput and space are given out, one each: partitions at their end, tenants, small containers.

use std::time::Duration;

use armilla_advisor::Severity;
use armilla_engine::{Consistency, EngineOptions, Limits};

use crate::account::{Account, DAY, HOUR, found, only};

/// An account whose physical partitions have 100 request units a second.
async fn small() -> Account {
    let limits = Limits { physical_partition_ru: 100, ..Limits::default() };
    let account = Account::with(EngineOptions { limits, ..EngineOptions::default() }).await;
    account.container_at("orders", "/customer", 400).await;
    account
}

/// Asks for an item of each key, many times a minute, for so many minutes.
fn ask(account: &Account, keys: &[String], minutes: usize, charge_a_minute: f64) -> f64 {
    let mut all = 0.0;
    for _ in 0..minutes {
        let mut spent = 0.0;
        while spent < charge_a_minute {
            for key in keys {
                spent += account.read("orders", &format!("\"{key}\""), "large");
            }
        }
        all += spent;
        account.pass(Duration::from_secs(60));
    }
    all
}

async fn orders_of(account: &Account, customers: usize) {
    let text = "x".repeat(100_000);
    for customer in 0..customers {
        let item = format!(r#"{{"id":"large","customer":"c{customer}","text":"{text}"}}"#);
        account.put("orders", &format!("\"c{customer}\""), &item).await;
    }
    account.pass(HOUR);
    account.begin();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_that_its_partition_is_too_small_for() {
    let account = small().await;
    orders_of(&account, 30).await;
    let others: Vec<String> =
        (0..30).filter(|number| *number != 7).map(|number| format!("c{number}")).collect();
    let hot = ask(&account, &["c7".to_owned()], 20, 5_700.0);
    let rest = ask(&account, &others, 1, 100.0);
    let advice = account.advice().await;
    let finding = only(&advice, "hot-logical-key");
    assert_eq!(finding.severity, Severity::Severe);
    assert!(finding.title.contains(r#"["c7"]"#), "{}", finding.title);
    let part = 100.0 * hot / (hot + rest);
    assert!(
        finding.evidence[0].starts_with(&format!("{part:.0} % of all")),
        "{part:.2}: {:?}",
        finding.evidence
    );
    assert!(
        finding.evidence[1].contains("at its end in 20 minutes of the last hour"),
        "{:?}",
        finding.evidence
    );
    assert!(found(&advice, "hot-partition").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_partition_that_is_at_its_end_by_many_keys() {
    let account = small().await;
    orders_of(&account, 60).await;
    let keys = account.keys_of_first_partition("orders", "customer").await;
    assert!((6..40).contains(&keys.len()), "{keys:?}");
    ask(&account, &keys, 20, 5_700.0);
    let advice = account.advice().await;
    let finding = only(&advice, "hot-partition");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding.evidence[0]
            .starts_with("partition 0 was at its end in 20 minutes of the last hour; 3 others"),
        "{:?}",
        finding.evidence
    );
    assert!(found(&advice, "hot-logical-key").is_empty());
    // The same requests to all keys are no fault.
    let account = small().await;
    orders_of(&account, 60).await;
    let all: Vec<String> = (0..60).map(|number| format!("c{number}")).collect();
    ask(&account, &all, 20, 5_700.0);
    assert!(found(&account.advice().await, "hot-partition").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_tenant_that_takes_more_than_the_others_together() {
    let account = Account::new().await;
    account.container("orders", "/tenantId", 4).await;
    for number in 0..400 {
        let tenant = format!("t{}", number % 40);
        let item = format!(r#"{{"id":"o{number}","tenantId":"{tenant}","total":{number}}}"#);
        account.put("orders", &format!("\"{tenant}\""), &item).await;
    }
    account.begin();
    for number in 0..400 {
        account.read("orders", &format!("\"t{}\"", number % 40), &format!("o{number}"));
        account.read("orders", "\"t3\"", "o43");
    }
    let advice = account.advice().await;
    let finding = only(&advice, "dominant-tenant");
    assert_eq!(finding.severity, Severity::Warning);
    // Each request reads one item: 410 of 800 are its own.
    assert_eq!(finding.title, r#"["t3"] takes 51 % of what all take together"#);
    assert_eq!(finding.evidence[0], "410.0 RU, the median of the 40 largest 10.0 RU");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_logical_partition_that_will_be_full() {
    let limits = Limits { logical_partition_bytes_max: 1_000_000, ..Limits::default() };
    let account = Account::with(EngineOptions { limits, ..EngineOptions::default() }).await;
    account.container("events", "/device", 1).await;
    let text = "x".repeat(1_000);
    for number in 0..500 {
        let device = if number % 2 == 0 { "d0".to_owned() } else { format!("d{number}") };
        let item = format!(r#"{{"id":"e{number}","device":"{device}","text":"{text}"}}"#);
        account.put("events", &format!("\"{device}\""), &item).await;
    }
    account.begin();
    for number in 0..100 {
        let device = if number % 2 == 0 { "d0".to_owned() } else { format!("d{number}") };
        let item = format!(r#"{{"id":"n{number}","device":"{device}","text":"{text}"}}"#);
        account.put("events", &format!("\"{device}\""), &item).await;
        account.pass(Duration::from_secs(24 * 60 * 60 / 50));
    }
    let advice = account.advice().await;
    let finding = only(&advice, "filling-logical-partition");
    // 300 items of about 1,100 bytes are there, and 50 come in two days.
    let bytes: f64 = finding.evidence[0]
        .split(", ")
        .nth(1)
        .and_then(|part| part.split(' ').next())
        .and_then(|bytes| bytes.parse().ok())
        .unwrap();
    assert!(finding.evidence[0].starts_with("300 items, "), "{:?}", finding.evidence);
    assert!((300_000.0..360_000.0).contains(&bytes), "{bytes}");
    let days = (1_000_000.0 - bytes) / (bytes / 300.0 * 50.0 / 2.0);
    let told: f64 = finding.evidence[1]
        .split("full in ")
        .nth(1)
        .and_then(|part| part.split(' ').next())
        .and_then(|days| days.parse().ok())
        .unwrap();
    assert!((told - days).abs() <= 0.1 * days, "{told} instead of {days}: {:?}", finding.evidence);
    assert_eq!(finding.severity, Severity::Warning);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_which_the_hash_sees_the_beginning() {
    let account = Account::new().await;
    let definition = r#"{"id":"files","partitionKey":{"paths":["/path"],"kind":"Hash","version":1}}"#;
    account.container_with(definition, 2).await;
    let folder = "folder/".repeat(20);
    for number in 0..50 {
        let item = format!(r#"{{"id":"f{number}","path":"{folder}{number}"}}"#);
        account.put("files", &format!("\"{folder}{number}\""), &item).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "long-keys-hashed-short");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.evidence[0].starts_with("the longest has 142 bytes"), "{:?}", finding.evidence);
    assert!(finding.evidence[1].starts_with("50 keys begin with"), "{:?}", finding.evidence);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_containers_that_are_alike() {
    let account = Account::new().await;
    for number in 0..12 {
        account.container_at(&format!("tenant{number}"), "/id", 400).await;
        account.put(&format!("tenant{number}"), "\"a\"", r#"{"id":"a"}"#).await;
    }
    account.container_at("other", "/key", 400).await;
    account.begin();
    let mut charge = 0.0;
    for number in 0..12 {
        charge += account.read(&format!("tenant{number}"), "\"a\"", "a");
    }
    account.pass(Duration::from_secs(10));
    let advice = account.advice().await;
    let finding = only(&advice, "many-small-containers");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.title.starts_with("12 containers"), "{}", finding.title);
    let used = charge / 10.0;
    assert_eq!(finding.evidence[1], format!("they have 4800 RU/s of their own and used {used:.1}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn throughput_that_is_not_used() {
    let account = Account::new().await;
    account.container_at("settings", "/id", 1_000).await;
    account.put("settings", "\"a\"", r#"{"id":"a"}"#).await;
    account.begin();
    for _ in 0..100 {
        account.read("settings", "\"a\"", "a");
        account.pass(DAY / 100);
    }
    let advice = account.advice().await;
    let finding = only(&advice, "throughput-of-its-own");
    assert_eq!(finding.severity, Severity::Note);
    assert_eq!(finding.title, "It has 1000 RU/s and uses 0.0 % of them");
    assert!(finding.evidence[0].starts_with("0.00 RU/s on the average"), "{:?}", finding.evidence);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_ask_two_replicas() {
    let options = EngineOptions { consistency: Consistency::Strong, ..EngineOptions::default() };
    let account = Account::with(options).await;
    account.container("orders", "/id", 1).await;
    account.put("orders", "\"a\"", r#"{"id":"a"}"#).await;
    account.begin();
    let charge: f64 = (0..100).map(|_| account.read("orders", "\"a\"", "a")).sum();
    account.pass(Duration::from_secs(100));
    let advice = account.advice().await;
    let finding = only(&advice, "stronger-than-needed");
    assert_eq!(finding.severity, Severity::Note);
    let line = &finding.comparison.as_ref().unwrap().lines[0];
    assert!((line.before - charge / 100.0).abs() < 0.01, "{line:?}, and the reads cost {charge}");
    assert!((line.after - line.before / 2.0).abs() < 1e-9, "{line:?}");
}

/// An account in which a read asks two replicas, with orders that are kept by one of their members.
async fn strong_orders(key: &str) -> Account {
    let options = EngineOptions { consistency: Consistency::Strong, ..EngineOptions::default() };
    let account = Account::with(options).await;
    account.container("orders", &format!("/{key}"), 8).await;
    for number in 0..800 {
        let (id, customer) = (format!("o{number}"), format!("c{}", number % 100));
        let item = format!(r#"{{"id":"{id}","type":"order","customer":"{customer}","total":{number}}}"#);
        let value = if key == "id" { id } else { customer };
        account.put("orders", &format!("\"{value}\""), &item).await;
    }
    account.begin();
    account
}

/// What was charged was twice as much as on a copy that asks one replica: half of what a copy costs was told as saved.
#[tokio::test(flavor = "multi_thread")]
async fn what_two_replicas_would_be_asked_then() {
    let account = strong_orders("id").await;
    let text = "SELECT * FROM c WHERE c.customer = @c";
    let mut charge = 0.0;
    for number in 0..50 {
        let customer = format!("\"c{number}\"");
        charge += account.query("orders", text, &[("@c", &customer)], None).await / 50.0;
    }
    account.pass(Duration::from_secs(100));
    let other = strong_orders("customer").await;
    let then = other.query("orders", text, &[("@c", "\"c7\"")], Some("\"c7\"")).await;
    let advice = account.advice().await;
    let line = &only(&advice, "fan-out-query").comparison.as_ref().unwrap().lines[0];
    for (what, told, is) in [("before", line.before, charge), ("after", line.after, then)] {
        assert!((told - is).abs() <= 0.1 * is, "{what}: {told:.2} instead of {is:.2}");
    }
}
