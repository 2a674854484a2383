//! What holds whatever is found.

use armilla_advisor::Severity;
use armilla_engine::{Caller, ResourcePrecondition};

use crate::account::{Account, DATABASE, HOUR, text};

async fn used() -> Account {
    let account = Account::new().await;
    account.container("posts", "/postId", 6).await;
    for number in 0..400 {
        let item = format!(
            r#"{{"id":"p{number}","postId":"p{number}","type":"post","userId":"u{}","n":{number}}}"#,
            number % 20
        );
        account.put("posts", &format!("\"p{number}\""), &item).await;
    }
    account.begin();
    for number in 0..50 {
        let user = format!("\"u{}\"", number % 20);
        account
            .query("posts", "SELECT * FROM c WHERE c.userId = @u AND c.type = 'post'", &[("@u", &user)], None)
            .await;
    }
    account.pass(HOUR);
    account
}

#[tokio::test(flavor = "multi_thread")]
async fn looking_changes_nothing() {
    let account = used().await;
    let caller = Caller::full();
    let handle = account.engine.container(DATABASE, "posts").unwrap().container;
    let state = || {
        let usage = handle.usage(&caller).unwrap();
        let figures = account.engine.partitions(&caller).unwrap();
        let charged: Vec<u64> = figures
            .iter()
            .flat_map(|container| &container.partitions)
            .filter_map(|partition| Some(partition.figures.as_ref()?.governor.charge.hundredths()))
            .collect();
        let report = account.engine.ledger().report(account.env.clock.now_ms());
        (usage, charged, text(&handle.definition().to_value()), report)
    };
    let before = state();
    let advice = account.advice().await;
    assert!(!advice.findings.is_empty());
    assert_eq!(state(), before);
}

/// A page tells what its query read up to its end. Added up over all pages, 400 items were told as 1,400.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_query_reads_is_counted_once_however_many_pages_it_has() {
    let account = used().await;
    account.begin();
    account.query("posts", "SELECT * FROM c", &[], None).await;
    let report = account.engine.ledger().report(account.env.clock.now_ms());
    let shape = &report.containers.values().next().unwrap().shapes[0];
    assert_eq!((shape.total.count, shape.total.items, shape.total.rows), (1, 400, 400));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_is_deleted_is_forgotten() {
    let account = used().await;
    let now_ms = || account.env.clock.now_ms();
    assert_eq!(account.engine.ledger().report(now_ms()).containers.len(), 1);
    let caller = Caller::full();
    account.engine.delete_database(&caller, DATABASE, ResourcePrecondition::None).await.unwrap();
    assert!(account.engine.ledger().report(now_ms()).containers.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_account_is_told_the_same() {
    let first = used().await.advice().await;
    let second = used().await.advice().await;
    assert_eq!(text(&first.to_value()), text(&second.to_value()));
    assert!(first.worst() >= Some(Severity::Note));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_account_has_no_faults() {
    let account = Account::new().await;
    account.container("posts", "/postId", 4).await;
    let advice = account.advice().await;
    assert_eq!(advice.findings, []);
    assert_eq!(advice.containers.len(), 1);
}
