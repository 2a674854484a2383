//! Models that are made as they should be: nothing above a note is found.

use std::time::Duration;

use armilla_advisor::Severity;
use armilla_env::Random;

use crate::account::{Account, HOUR};

async fn expect_nothing(account: &Account, what: &str) {
    let advice = account.advice().await;
    let worse: Vec<_> = advice.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    assert!(worse.is_empty(), "{what}: {worse:#?}");
}

/// The third version of the blog, as it is used.
#[tokio::test(flavor = "multi_thread")]
async fn the_blog_as_it_should_be() {
    let account = Account::new().await;
    account.container("posts", "/postId", 10).await;
    account.container("users", "/userId", 10).await;
    account.container("feed", "/type", 1).await;
    for number in 0..300 {
        let author = format!("user-{:04}", number % 60);
        let post = format!(
            r#"{{"id":"post-{number:05}","type":"post","postId":"post-{number:05}","userId":"{author}","userUsername":"name of {:04}","title":"t","content":"{}","commentCount":4,"creationDate":"2026-01-{:02}T00:00:00Z"}}"#,
            number % 60,
            "word ".repeat(100),
            1 + number % 28
        );
        account.put("posts", &format!("\"post-{number:05}\""), &post).await;
        account.put("users", &format!("\"{author}\""), &post).await;
        if number < 100 {
            account.put("feed", "\"post\"", &post).await;
        }
        for comment in 0..4 {
            let item = format!(
                r#"{{"id":"comment-{number:05}-{comment}","type":"comment","postId":"post-{number:05}","userId":"user-{:04}","userUsername":"name of {:04}","content":"c","creationDate":"2026-02-01T00:00:00Z"}}"#,
                comment, comment
            );
            account.put("posts", &format!("\"post-{number:05}\""), &item).await;
        }
    }
    account.begin();
    for round in 0..40 {
        let number = (round * 7) % 300;
        let (id, key) = (format!("post-{number:05}"), format!("\"post-{number:05}\""));
        account.read("posts", &key, &id);
        let about = "SELECT * FROM c WHERE c.postId = @post AND c.type = 'comment'";
        account.query("posts", about, &[("@post", &key)], Some(&key)).await;
        let author = format!("\"user-{:04}\"", number % 60);
        let mine = "SELECT * FROM c WHERE c.userId = @u AND c.type = 'post'";
        account.query("users", mine, &[("@u", &author)], Some(&author)).await;
        let newest = "SELECT * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC";
        account.query("feed", newest, &[], Some("\"post\"")).await;
        account.pass(Duration::from_secs(2));
    }
    account.pass(HOUR);
    expect_nothing(&account, "the blog").await;
}

/// Orders with their lines in them, read by id and listed by customer, which is the key.
#[tokio::test(flavor = "multi_thread")]
async fn random_models_that_are_well_made() {
    for seed in 1..=5 {
        let mut random = Random::new(seed);
        let account = Account::new().await;
        let partitions = 1 + random.below(8) as u32;
        account.container("orders", "/customerId", partitions).await;
        let customers = 200 + random.below(200);
        for number in 0..1_200 {
            let customer = format!("customer-{:05}", random.below(customers));
            let lines: Vec<String> = (0..1 + random.below(6))
                .map(|line| format!(r#"{{"sku":"sku-{}","count":{}}}"#, random.below(500), 1 + line))
                .collect();
            let item = format!(
                r#"{{"id":"order-{number:06}","customerId":"{customer}","status":"{}","lines":[{}],"total":{}}}"#,
                ["open", "paid", "sent"][random.below(3) as usize],
                lines.join(","),
                random.below(10_000)
            );
            account.put("orders", &format!("\"{customer}\""), &item).await;
        }
        account.begin();
        for _ in 0..200 {
            let customer = format!("\"customer-{:05}\"", random.below(customers));
            let mine = "SELECT * FROM c WHERE c.customerId = @c";
            account.query("orders", mine, &[("@c", &customer)], Some(&customer)).await;
            account.pass(Duration::from_millis(2_100));
        }
        account.pass(HOUR);
        expect_nothing(&account, &format!("seed {seed}, {partitions} partitions")).await;
    }
}
