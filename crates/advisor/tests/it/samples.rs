//! What is told of a container of which a part was looked at: what was charged, and what would be charged in the whole.

use armilla_advisor::{Advice, ComparisonLine};
use armilla_value::Value;

use crate::account::{Account, HOUR, only};

const POSTS: usize = 1_200;
const USERS: usize = 60;
/// Of so many posts, one is in the sample with all that belongs to it.
const PART: usize = 6;

/// Posts with comments, and a query about a user's posts over all partitions, with what it was charged.
async fn blog(query: &str) -> (Account, f64) {
    let account = Account::new().await;
    account.container("posts", "/postId", 6).await;
    for number in 0..POSTS {
        let (id, key) = (format!("p{number}"), format!("\"p{number}\""));
        let user = number * USERS / POSTS;
        let content = "word ".repeat(40);
        let post = format!(
            r#"{{"id":"{id}","postId":"{id}","type":"post","userId":"u{user}","n":{number},"content":"{content}"}}"#
        );
        account.put("posts", &key, &post).await;
        for comment in 0..5 {
            let user = (number + 11 * comment) % USERS;
            let item = format!(
                r#"{{"id":"c{comment}-{id}","postId":"{id}","type":"comment","userId":"u{user}","content":"{content}"}}"#
            );
            account.put("posts", &key, &item).await;
        }
    }
    account.begin();
    let mut charged = 0.0;
    for round in 0..40 {
        let user = format!("\"u{}\"", round % USERS);
        charged += account.query("posts", query, &[("@user", &user)], None).await / 40.0;
        account.pass(std::time::Duration::from_millis(1_500));
    }
    account.pass(HOUR);
    (account, charged)
}

fn line(advice: &Advice) -> &ComparisonLine {
    let finding = only(advice, "fan-out-query");
    let lines = &finding.comparison.as_ref().unwrap().lines;
    lines.iter().find(|line| line.operation.contains("c.userId")).unwrap()
}

fn near(what: &str, found: f64, expected: f64, part: f64) {
    assert!((found - expected).abs() <= part * expected, "{what}: {found:.2}, and it is {expected:.2}");
}

fn number(item: &Value, member: &str) -> usize {
    item.get(member).and_then(Value::as_str).unwrap()[1..].parse().unwrap()
}

/// What is told of a query by a part of the items is what is told by all of them.
async fn expect_alike(query: &str) {
    let (account, charged) = blog(query).await;
    let whole = account.advice().await;
    let part = account.advice_by(|item| number(item, "postId").is_multiple_of(PART)).await;
    for (advice, what) in [(&whole, "all of it"), (&part, "a part of it")] {
        let line = line(advice);
        near(what, line.before, charged, 0.01);
        assert!(line.after < line.before / 2.0, "{what}: {line:?}");
    }
    near("a copy by users", line(&part).after, line(&whole).after, 0.15);
}

/// By a sixth of the items, a list over all partitions that had been charged 69 RU was told as 303: the copy loaded what
/// the whole finds by joining two indexes, and that was multiplied by six.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_charged_is_told_however_small_the_sample_is() {
    expect_alike("SELECT * FROM c WHERE c.userId = @user AND c.type = 'post'").await;
}

/// A sum has one row, of the whole as of a sixth: what it read in a copy by users was told as what the sixth has.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_added_up_is_as_much_more_as_the_whole_has() {
    expect_alike("SELECT VALUE SUM(c.n) FROM c WHERE c.userId = @user AND c.type = 'post'").await;
}

/// Of a large container, hardly an item that was asked for is in the sample. Where none was, a read was told to cost what
/// the query had, so that it saved nothing and was not told.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_is_measured_where_no_item_that_was_asked_for_is_in_the_sample() {
    let account = Account::new().await;
    account.container("users", "/id", 1).await;
    for number in 0..100 {
        account.put("users", &format!("\"u{number}\""), &format!(r#"{{"id":"u{number}","name":"n"}}"#)).await;
    }
    account.begin();
    let mut charged = 0.0;
    for number in 0..20 {
        let id = format!("\"u{number}\"");
        let text = "SELECT * FROM c WHERE c.id = @id";
        charged += account.query("users", text, &[("@id", &id)], Some(&id)).await / 20.0;
        account.pass(std::time::Duration::from_millis(1_500));
    }
    let advice = account.advice_by(|item| number(item, "id") >= 50).await;
    let line = &only(&advice, "query-for-one-item").comparison.as_ref().unwrap().lines[0];
    near("a query", line.before, charged, 0.01);
    near("a read", line.after, account.read("users", "\"u3\"", "u3"), 0.01);
}
