//! One fault each, planted on purpose; its finding says so with the right figures.

use std::time::Duration;

use armilla_advisor::Severity;
use armilla_ledger::report::ShapeKind;

use crate::account::{Account, DAY, HOUR, found, only};

fn near(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= 0.10 * expected, "{what}: {found:.3} instead of {expected:.3}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_array_that_only_grows() {
    let account = Account::new().await;
    account.container("threads", "/id", 1).await;
    let thread = |number: usize, length: usize| {
        let comments: Vec<String> =
            (0..length).map(|at| format!(r#"{{"by":"u{at}","text":"said {at}"}}"#)).collect();
        format!(r#"{{"id":"t{number}","type":"thread","title":"a","comments":[{}]}}"#, comments.join(","))
    };
    for number in 0..200 {
        account.put("threads", &format!("\"t{number}\""), &thread(number, 150)).await;
    }
    account.begin();
    for number in 0..60 {
        account.pass(Duration::from_secs(60));
        account
            .replace("threads", &format!("\"t{number}\""), &format!("t{number}"), &thread(number, 151))
            .await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "unbounded-array");
    assert_eq!(finding.severity, Severity::Severe);
    assert!(finding.title.contains("/comments"), "{}", finding.title);
    let evidence = finding.evidence.join("\n");
    assert!(
        evidence.contains("60 of 60 writes that were compared appended to it, 0 shortened it"),
        "{evidence}"
    );
    assert!(evidence.contains("151 (longest)"), "{evidence}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_near_the_limit() {
    let account = Account::new().await;
    account.container("files", "/id", 1).await;
    let content = "x".repeat(1_700_000);
    account.put("files", "\"a\"", &format!(r#"{{"id":"a","content":"{content}"}}"#)).await;
    account.put("files", "\"b\"", r#"{"id":"b","content":"y"}"#).await;
    let advice = account.advice().await;
    let finding = only(&advice, "item-near-limit");
    assert_eq!(finding.severity, Severity::Severe);
    assert!(finding.title.contains("81 %"), "{}", finding.title);
    assert!(finding.evidence.iter().any(|line| line.contains("the item 'a'")), "{:?}", finding.evidence);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_asks_every_partition() {
    let account = Account::new().await;
    account.container("orders", "/id", 8).await;
    for number in 0..800 {
        let item =
            format!(r#"{{"id":"o{number}","type":"order","customer":"c{}","total":{number}}}"#, number % 100);
        account.put("orders", &format!("\"o{number}\""), &item).await;
    }
    account.begin();
    let mut charge = 0.0;
    for number in 0..50 {
        let customer = format!("\"c{number}\"");
        let text = "SELECT * FROM c WHERE c.customer = @c";
        charge += account.query("orders", text, &[("@c", &customer)], None).await;
    }
    account.pass(Duration::from_secs(100));
    let advice = account.advice().await;
    let finding = only(&advice, "fan-out-query");
    assert_eq!(finding.severity, Severity::Severe);
    let line = &finding.comparison.as_ref().unwrap().lines[0];
    near("a second", line.per_second, 0.5);
    near("before", line.before, charge / 50.0);
    // The same query where the customer is the key.
    let other = Account::new().await;
    other.container("orders", "/customer", 8).await;
    for number in 0..800 {
        let customer = format!("c{}", number % 100);
        let item = format!(r#"{{"id":"o{number}","type":"order","customer":"{customer}","total":{number}}}"#);
        other.put("orders", &format!("\"{customer}\""), &item).await;
    }
    let text = "SELECT * FROM c WHERE c.customer = @c";
    let then = other.query("orders", text, &[("@c", "\"c7\"")], Some("\"c7\"")).await;
    near("after", line.after, then);
    assert_eq!(finding.try_it, ["--try-copy shop/orders:/customer"]);
}

/// The latest of one user were taken for the latest of all: a list of those was advised, in which the query would have found
/// next to nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_latest_of_one_user_are_not_the_latest_of_all() {
    let account = Account::new().await;
    account.container("orders", "/shop", 6).await;
    for number in 0..1_200 {
        let (sort, shop) = (["order", "visit"][number % 2], number / 2 % 40);
        let date = format!("2026-{:02}-{:02}T{:02}:00:00Z", 1 + number % 12, 1 + number % 28, number % 24);
        let item = format!(
            r#"{{"id":"o{number}","shop":"shop-{shop}","type":"{sort}","userId":"user-{}","date":"{date}"}}"#,
            number / 2 % 30
        );
        account.put("orders", &format!("\"shop-{shop}\""), &item).await;
    }
    account.begin();
    for round in 0..40 {
        let of_all = "SELECT TOP 20 * FROM c WHERE c.type = 'order' ORDER BY c.date DESC";
        account.query("orders", of_all, &[], None).await;
        account.pass(Duration::from_secs(2));
        let user = format!("\"user-{}\"", round % 30);
        let of_user =
            "SELECT TOP 20 * FROM c WHERE c.userId = @user AND c.type = 'order' ORDER BY c.date DESC";
        account.query("orders", of_user, &[("@user", &user)], None).await;
        account.pass(Duration::from_secs(2));
        let shop = format!("\"shop-{round}\"");
        let of_shop = "SELECT TOP 5 * FROM c WHERE c.type = 'order' ORDER BY c.date DESC";
        account.query("orders", of_shop, &[], Some(&shop)).await;
        account.pass(Duration::from_secs(2));
    }
    let advice = account.advice().await;
    let newest = only(&advice, "newest-of-all");
    let lines = &newest.comparison.as_ref().unwrap().lines;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].operation.contains("TOP 20") && !lines[0].operation.contains("userId"), "{lines:?}");
    let of_user = only(&advice, "fan-out-query");
    assert!(of_user.evidence[0].contains("c.userId"), "{:?}", of_user.evidence);
    assert_eq!(of_user.try_it, ["--try-copy shop/orders.order:/userId"]);
}

/// What is counted because of another's answer is in that answer then, and what follows nothing is read. It stayed what it
/// was, and saved nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_count_that_follows_no_other_request() {
    let account = Account::new().await;
    account.container("posts", "/postId", 1).await;
    for number in 0..100 {
        let key = format!("\"post-{number}\"");
        let post = format!(r#"{{"id":"post-{number}","postId":"post-{number}","type":"post","title":"a"}}"#);
        account.put("posts", &key, &post).await;
        for comment in 0..20 {
            let item = format!(
                r#"{{"id":"comment-{number}-{comment}","postId":"post-{number}","type":"comment","userId":"user-{comment}"}}"#
            );
            account.put("posts", &key, &item).await;
        }
    }
    account.begin();
    let of_all = "SELECT VALUE COUNT(1) FROM c WHERE c.postId = @post AND c.type = 'comment'";
    let of_user =
        "SELECT VALUE COUNT(1) FROM c WHERE c.postId = @post AND c.type = 'comment' AND c.userId = @user";
    let mut charge = 0.0;
    for number in 0..40 {
        let key = format!("\"post-{number}\"");
        charge += account.query("posts", of_all, &[("@post", &key)], Some(&key)).await;
        account.pass(Duration::from_secs(2));
        let parameters = [("@post", key.as_str()), ("@user", "\"user-3\"")];
        account.query("posts", of_user, &parameters, Some(&key)).await;
        account.pass(Duration::from_secs(2));
    }
    let advice = account.advice().await;
    let finding = only(&advice, "repeated-aggregate");
    assert_eq!(finding.try_it, ["--try-count shop/posts:post.commentCount=comment"]);
    // How many are of one user is another number.
    let lines = &finding.comparison.as_ref().unwrap().lines;
    assert_eq!(lines.len(), 1, "{lines:?}");
    near("before", lines[0].before, charge / 40.0);
    near("after", lines[0].after, account.read("posts", "\"post-3\"", "post-3"));
    assert_eq!((lines[0].requests_before, lines[0].requests_after), (1.0, 1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_few_values() {
    let account = Account::new().await;
    account.container("users", "/country", 4).await;
    for number in 0..1_200 {
        let country = ["nl", "de", "fr"][number % 3];
        let item = format!(r#"{{"id":"u{number}","country":"{country}","email":"u{number}@example.org"}}"#);
        account.put("users", &format!("\"{country}\""), &item).await;
    }
    account.begin();
    for number in 0..40 {
        let email = format!("\"u{number}@example.org\"");
        account.query("users", "SELECT * FROM c WHERE c.email = @e", &[("@e", &email)], None).await;
    }
    account.pass(HOUR);
    let advice = account.advice().await;
    let finding = only(&advice, "coarse-key");
    assert_eq!(finding.severity, Severity::Severe);
    assert!(finding.evidence[0].starts_with("3 different keys in 1200 items"), "{:?}", finding.evidence);
    assert_eq!(finding.try_it, ["--try-key shop/users:/email"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn items_without_a_key() {
    let account = Account::new().await;
    account.container("users", "/team", 1).await;
    for number in 0..200 {
        let (key, item) = match number % 10 {
            0 => ("{}".to_owned(), format!(r#"{{"id":"u{number}","name":"n"}}"#)),
            _ => (format!("\"t{number}\""), format!(r#"{{"id":"u{number}","team":"t{number}","name":"n"}}"#)),
        };
        account.put("users", &key, &item).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "missing-key");
    assert!(finding.evidence[0].contains("of 200 items 20 have none"), "{:?}", finding.evidence);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_names_one_item() {
    let account = Account::new().await;
    account.container("users", "/id", 1).await;
    for number in 0..100 {
        account.put("users", &format!("\"u{number}\""), &format!(r#"{{"id":"u{number}","name":"n"}}"#)).await;
    }
    account.begin();
    let mut charge = 0.0;
    for number in 0..20 {
        let id = format!("\"u{number}\"");
        charge +=
            account.query("users", "SELECT * FROM c WHERE c.id = @id", &[("@id", &id)], Some(&id)).await;
    }
    account.pass(Duration::from_secs(10));
    let advice = account.advice().await;
    let finding = only(&advice, "query-for-one-item");
    let line = &finding.comparison.as_ref().unwrap().lines[0];
    near("before", line.before, charge / 20.0);
    near("after", line.after, account.read("users", "\"u3\"", "u3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_and_an_order_without_a_composite_index() {
    let account = Account::new().await;
    account.container("orders", "/shop", 1).await;
    for number in 0..1_500 {
        let item = format!(
            r#"{{"id":"o{number}","shop":"s","city":"c{}","total":{}}}"#,
            number % 30,
            (number * 7_919) % 100_003
        );
        account.put("orders", "\"s\"", &item).await;
    }
    account.begin();
    for number in 0..20 {
        let city = format!("\"c{number}\"");
        let text = "SELECT TOP 3 * FROM c WHERE c.city = @c ORDER BY c.total DESC";
        account.query("orders", text, &[("@c", &city)], Some("\"s\"")).await;
    }
    account.pass(Duration::from_secs(10));
    let advice = account.advice().await;
    let finding = only(&advice, "order-without-composite");
    assert_eq!(finding.try_it, ["--try-index shop/orders:-/city,-/total"]);
    assert!(finding.policy.is_some());
    let line = &finding.comparison.as_ref().unwrap().lines[0];
    assert!(line.after < line.before * 0.9, "{line:?}");
}

/// An index in the order that is asked for, and a list of the newest, both serve a query; the second does nothing beside
/// the first, or the other way round.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_remedies_for_one_fault_all_of_it_has_those_that_help_beside_each_other() {
    let account = Account::new().await;
    account.container("posts", "/postId", 6).await;
    let text = "word ".repeat(50);
    for number in 0..9_600 {
        let sort = if number % 16 == 0 { "post" } else { "comment" };
        let key = format!("p{}", number / 16);
        let date = format!("2026-{:02}-{:02}T{:02}:00:00Z", 1 + number % 12, 1 + number % 28, number % 24);
        let item = format!(
            r#"{{"id":"i{number}","postId":"{key}","type":"{sort}","text":"{text}","creationDate":"{date}"}}"#
        );
        account.put("posts", &format!("\"{key}\""), &item).await;
    }
    account.begin();
    for _ in 0..30 {
        let newest = "SELECT TOP 100 * FROM c WHERE c.type = 'post' ORDER BY c.creationDate DESC";
        account.query("posts", newest, &[], None).await;
        account.pass(Duration::from_secs(5));
    }
    let advice = account.advice().await;
    for rule in ["order-without-composite", "newest-of-all"] {
        only(&advice, rule);
    }
    assert!(!advice.stages.is_empty());
    let mut before = f64::INFINITY;
    for stage in &advice.stages {
        for line in &stage.comparison.lines {
            assert!(line.after < line.before, "{}: {line:?}", stage.title);
            assert!(line.before <= before, "{line:?}");
            before = line.after;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_are_indexed_for_nothing() {
    let account = Account::new().await;
    account.container("events", "/device", 1).await;
    let event = |number: usize| {
        format!(
            r#"{{"id":"e{number}","device":"d{}","kind":"k","a":{number},"b":{number},"c":{number},"d":{number},"note":"n{number}"}}"#,
            number % 50
        )
    };
    for number in 0..1_100 {
        account.put("events", &format!("\"d{}\"", number % 50), &event(number)).await;
    }
    account.begin();
    for number in 1_100..1_300 {
        account.put("events", &format!("\"d{}\"", number % 50), &event(number)).await;
        let key = format!("\"d{}\"", number % 50);
        // What is done long after something else does not follow from it.
        account.pass(Duration::from_secs(5));
        account.query("events", "SELECT * FROM c WHERE c.a > 5", &[], Some(&key)).await;
        account.pass(Duration::from_secs(5));
    }
    account.pass(DAY);
    let advice = account.advice().await;
    let finding = only(&advice, "index-not-used");
    assert!(
        finding.evidence[0].contains("/b/?") && !finding.evidence[0].contains("/a/?"),
        "{:?}",
        finding.evidence
    );
    let line = finding
        .comparison
        .as_ref()
        .unwrap()
        .lines
        .iter()
        .find(|line| line.operation.contains("create"))
        .unwrap();
    // Four numbers and texts less in the index of each item (the kind, b, c, d and the note).
    near("saved", line.before - line.after, 5.0 * 0.38);
    assert!(finding.policy.is_some());
}

/// The rule looked at the texts that it could read, and told the paths of the others to be used by nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_cannot_be_read_may_use_any_path() {
    let account = Account::new().await;
    account.container("events", "/device", 1).await;
    let event = |number: usize| {
        format!(r#"{{"id":"e{number}","device":"d{}","a":{number},"b":{number},"c":{number}}}"#, number % 50)
    };
    for number in 0..1_100 {
        account.put("events", &format!("\"d{}\"", number % 50), &event(number)).await;
    }
    account.begin();
    // Of its shape the beginning is kept.
    let any: Vec<String> = (0..400).map(|number| format!("c.b = {}", number + 5_000)).collect();
    let long = format!("SELECT * FROM c WHERE {}", any.join(" OR "));
    for number in 1_100..1_150 {
        let key = format!("\"d{}\"", number % 50);
        account.put("events", &key, &event(number)).await;
        account.pass(Duration::from_secs(5));
        account.query("events", "SELECT * FROM c WHERE c.a > 5", &[], Some(&key)).await;
        account.pass(Duration::from_secs(5));
        account.query("events", &long, &[], Some(&key)).await;
        account.pass(Duration::from_secs(5));
    }
    account.pass(DAY);
    let advice = account.advice().await;
    assert!(found(&advice, "index-not-used").is_empty(), "{:#?}", advice.findings);
}

/// Of a count, one row says nothing of how much was read in vain; and what an index answers was blamed for what it does not.
#[tokio::test(flavor = "multi_thread")]
async fn functions_that_an_index_answers_are_not_told_to_lack_one() {
    let account = Account::new().await;
    account.container("users", "/team", 1).await;
    for number in 0..600 {
        let item = format!(
            r#"{{"id":"u{number}","team":"t{}","email":"u{number}@example.org","tags":["a"],"n":{number}}}"#,
            number % 2
        );
        account.put("users", &format!("\"t{}\"", number % 2), &item).await;
    }
    account.begin();
    for _ in 0..12 {
        for text in [
            "SELECT VALUE COUNT(1) FROM c WHERE IS_DEFINED(c.email)",
            "SELECT VALUE COUNT(1) FROM c WHERE STARTSWITH(c.email, 'u')",
            "SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.tags, 'a')",
            "SELECT c.team, COUNT(1) AS users FROM c WHERE LENGTH(c.email) > 3 GROUP BY c.team",
            "SELECT * FROM c WHERE STARTSWITH(c.email, 'u') AND c.n * 2 = 10",
            "SELECT * FROM c WHERE STARTSWITH(c.email, 'u') AND UPPER(c.email) = 'U5@EXAMPLE.ORG'",
        ] {
            account.query("users", text, &[], Some("\"t1\"")).await;
        }
    }
    account.pass(HOUR);
    let advice = account.advice().await;
    let finding = only(&advice, "filter-without-index");
    assert!(finding.advice.starts_with("UPPER cannot be answered"), "{}", finding.advice);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_appended_by_writing_everything_again() {
    let account = Account::new().await;
    account.container("devices", "/id", 1).await;
    let device = |length: usize| {
        let events: Vec<String> = (0..length).map(|at| format!(r#"{{"at":{at}}}"#)).collect();
        format!(r#"{{"id":"d","events":[{}]}}"#, events.join(","))
    };
    account.put("devices", "\"d\"", &device(0)).await;
    account.begin();
    for length in 1..=100 {
        account.pass(Duration::from_secs(10));
        account.replace("devices", "\"d\"", "d", &device(length)).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "events-by-replace");
    let evidence = &finding.evidence[0];
    assert!(evidence.contains("was written 100 times, 100 of them appended"), "{evidence}");
}

/// An upsert of what is there was told as a create: containers seemed to grow that never did, and nothing was seen of how
/// items change.
#[tokio::test(flavor = "multi_thread")]
async fn an_upsert_of_what_is_there_replaces_it() {
    let account = Account::new().await;
    account.container("devices", "/id", 1).await;
    let device = |length: usize| {
        let events: Vec<String> = (0..length).map(|at| format!(r#"{{"at":{at}}}"#)).collect();
        format!(r#"{{"id":"d","events":[{}]}}"#, events.join(","))
    };
    account.begin();
    for length in 0..=100 {
        account.pass(Duration::from_secs(10));
        account.upsert("devices", "\"d\"", &device(length)).await;
    }
    let report = account.engine.ledger().report(account.env.clock.now_ms());
    let shapes = &report.containers.values().next().unwrap().shapes;
    let mut kinds: Vec<_> = shapes.iter().map(|shape| (shape.kind, shape.total.count)).collect();
    kinds.sort();
    assert_eq!(kinds, [(ShapeKind::Create, 1), (ShapeKind::Replace, 100)]);
    let advice = account.advice().await;
    let evidence = &only(&advice, "events-by-replace").evidence[0];
    assert!(evidence.contains("was written 100 times, 100 of them appended"), "{evidence}");
}

#[tokio::test(flavor = "multi_thread")]
async fn large_items_of_which_little_changes() {
    let account = Account::new().await;
    account.container("games", "/id", 1).await;
    let game = |number: usize, score: usize| {
        format!(r#"{{"id":"g{number}","score":{score},"board":"{}"}}"#, "x".repeat(10_000))
    };
    for number in 0..20 {
        account.put("games", &format!("\"g{number}\""), &game(number, 0)).await;
    }
    account.begin();
    for round in 1..=100 {
        account.pass(Duration::from_secs(1));
        let number = round % 20;
        account
            .replace("games", &format!("\"g{number}\""), &format!("g{number}"), &game(number, round))
            .await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "large-item-small-change");
    let evidence = finding.evidence.join("\n");
    assert!(evidence.contains("what changes: /score"), "{evidence}");
    assert!(evidence.contains("61 writes a minute"), "{evidence}");
}

#[tokio::test(flavor = "multi_thread")]
async fn items_of_several_sorts_that_do_not_say_which() {
    let account = Account::new().await;
    account.container("things", "/id", 1).await;
    for number in 0..1_000 {
        let item = match number % 2 {
            0 => format!(r#"{{"id":"x{number}","name":"n","email":"e","phone":"p"}}"#),
            _ => format!(r#"{{"id":"x{number}","total":1,"lines":[1],"paid":true}}"#),
        };
        account.put("things", &format!("\"x{number}\""), &item).await;
    }
    let advice = account.advice().await;
    assert!(only(&advice, "no-discriminator").title.contains("2 sorts"));
}

#[tokio::test(flavor = "multi_thread")]
async fn references_to_what_is_not_there() {
    let account = Account::new().await;
    account.container("users", "/id", 1).await;
    account.container("orders", "/id", 1).await;
    for number in 0..95 {
        account
            .put(
                "users",
                &format!("\"user-{number}\""),
                &format!(r#"{{"id":"user-{number}","name":"n{number}"}}"#),
            )
            .await;
    }
    for number in 0..300 {
        let item = format!(r#"{{"id":"order-{number}","userId":"user-{}","total":{number}}}"#, number % 100);
        account.put("orders", &format!("\"order-{number}\""), &item).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "dangling-reference");
    assert!(finding.title.contains("/userId"), "{}", finding.title);
    assert!(finding.evidence[0].starts_with("5.0 %"), "{:?}", finding.evidence);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_ids_at_the_wrong_side() {
    let account = Account::new().await;
    account.container("publishers", "/id", 1).await;
    account.container("books", "/id", 1).await;
    for number in 0..600 {
        account
            .put(
                "books",
                &format!("\"book-{number}\""),
                &format!(r#"{{"id":"book-{number}","title":"t{number}"}}"#),
            )
            .await;
    }
    for publisher in 0..3 {
        let books: Vec<String> =
            (0..200).map(|book| format!("\"book-{}\"", publisher * 200 + book)).collect();
        let item = format!(r#"{{"id":"pub-{publisher}","name":"n","books":[{}]}}"#, books.join(","));
        account.put("publishers", &format!("\"pub-{publisher}\""), &item).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "growing-id-list");
    assert!(finding.title.contains("list the ids of books at /books"), "{}", finding.title);
    assert!(finding.evidence[0].contains("200 (longest)"), "{:?}", finding.evidence);
}

#[tokio::test(flavor = "multi_thread")]
async fn items_that_only_tie_others_together() {
    let account = Account::new().await;
    for name in ["authors", "books", "links"] {
        account.container(name, "/id", 1).await;
    }
    for number in 0..60 {
        for (container, word) in [("authors", "author"), ("books", "book")] {
            let item = format!(r#"{{"id":"{word}-{number}","name":"{word} {number}"}}"#);
            account.put(container, &format!("\"{word}-{number}\""), &item).await;
        }
    }
    for number in 0..200 {
        let item = format!(
            r#"{{"id":"l{number}","authorId":"author-{}","bookId":"book-{}"}}"#,
            number % 60,
            (number * 7) % 60
        );
        account.put("links", &format!("\"l{number}\""), &item).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "join-items");
    assert_eq!(finding.container.as_deref(), Some("shop/links"));
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_queries_that_cost_more_than_they_have_to() {
    let account = Account::new().await;
    account.container("books", "/shelf", 1).await;
    for number in 0..300 {
        let item = format!(
            r#"{{"id":"b{number}","shelf":"s","title":"Title {number}","tags":[{{"name":"t{}","at":1}}],"due":"2026-01-01"}}"#,
            number % 7
        );
        account.put("books", "\"s\"", &item).await;
    }
    account.begin();
    for _ in 0..12 {
        for text in [
            "SELECT * FROM c WHERE ARRAY_CONTAINS(c.tags, {\"name\": \"t1\"}, true)",
            "SELECT * FROM c WHERE CONTAINS(c.title, 'le 29')",
            "SELECT * FROM c WHERE LOWER(c.title) = 'title 5'",
            "SELECT * FROM c WHERE c.due < GetCurrentDateTime()",
        ] {
            account.query("books", text, &[], Some("\"s\"")).await;
        }
    }
    account.pass(HOUR);
    let advice = account.advice().await;
    for rule in ["partial-array-contains", "contains-in-filter", "upper-or-lower", "current-time"] {
        only(&advice, rule);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_keyed_by_the_day() {
    let account = Account::new().await;
    account.container("readings", "/day", 2).await;
    for number in 0..1_200 {
        let day = format!("2026-{:02}-{:02}", 1 + number / 300, 1 + (number / 12) % 25);
        let item = format!(r#"{{"id":"r{number}","day":"{day}","value":{number}}}"#);
        account.put("readings", &format!("\"{day}\""), &item).await;
        account.pass(Duration::from_secs(60));
    }
    let advice = account.advice().await;
    let finding = only(&advice, "monotone-key");
    assert_eq!(finding.severity, Severity::Severe);
    assert!(found(&advice, "hot-logical-key").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_for_each_item_while_another_is_asked_for() {
    let account = Account::new().await;
    account.container("lines", "/line", 6).await;
    for number in 0..1_200 {
        let item = format!(
            r#"{{"id":"i{number}","line":"line-{number}","order":"o{}","n":{number}}}"#,
            number % 150
        );
        account.put("lines", &format!("\"line-{number}\""), &item).await;
    }
    account.begin();
    for number in 0..120 {
        let order = format!("\"o{number}\"");
        account.query("lines", "SELECT * FROM c WHERE c[\"order\"] = @o", &[("@o", &order)], None).await;
    }
    account.pass(HOUR);
    let advice = account.advice().await;
    let finding = only(&advice, "over-fine-key");
    assert_eq!(finding.try_it, ["--try-key shop/lines:/order"]);
    let line = &finding.comparison.as_ref().unwrap().lines[0];
    assert!(line.after < line.before / 3.0, "{line:?}");
}
