//! Faults in copies, and in what is kept together with what, one each.

use std::time::Duration;

use armilla_advisor::Severity;

use crate::account::{Account, DAY, HOUR, found, only};

fn status(number: usize, turn: usize) -> String {
    format!("{} since {}", ["away", "busy", "there"][(number + turn) % 3], 1_000 + 17 * number + turn)
}

fn user(number: usize, turn: usize) -> String {
    format!(r#"{{"id":"u{number}","name":"name of {number}","status":"{}"}}"#, status(number, turn))
}

fn message(number: usize, turn: usize) -> String {
    let author = number % 40;
    format!(
        r#"{{"id":"m{number}","room":"r{}","userId":"u{author}","userStatus":"{}","text":"said {number}"}}"#,
        number % 9,
        status(author, turn)
    )
}

async fn rooms() -> Account {
    let account = Account::new().await;
    account.container("users", "/id", 1).await;
    account.container("messages", "/room", 1).await;
    for number in 0..40 {
        account.put("users", &format!("\"u{number}\""), &user(number, 0)).await;
    }
    for number in 0..400 {
        account.put("messages", &format!("\"r{}\"", number % 9), &message(number, 0)).await;
    }
    account.begin();
    account
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_changes_more_often_than_what_carries_it() {
    let account = rooms().await;
    for number in 0..400 {
        if number < 40 {
            account
                .replace("users", &format!("\"u{number}\""), &format!("u{number}"), &user(number, 1))
                .await;
        }
        let (key, id) = (format!("\"r{}\"", number % 9), format!("m{number}"));
        account.replace("messages", &key, &id, &message(number, 1)).await;
        account.pass(Duration::from_secs(2));
    }
    let advice = account.advice().await;
    let finding = only(&advice, "volatile-copy");
    assert_eq!(finding.severity, Severity::Severe);
    assert_eq!(finding.evidence[0], "400 of 400 writes that were compared changed only /userStatus");
    assert_eq!(finding.evidence[1], "400 items carry it, 10 for each source");
    assert!(found(&advice, "copies-out-of-step").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_that_were_not_brought_after() {
    let account = rooms().await;
    // Of forty users four changed, and their messages did not.
    for number in 0..4 {
        account.replace("users", &format!("\"u{number}\""), &format!("u{number}"), &user(number, 1)).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "copies-out-of-step");
    assert_eq!(finding.severity, Severity::Severe);
    assert!(
        finding.title.starts_with("10.0 % of the copies of items of users in items of messages are not"),
        "{}",
        finding.title
    );
    assert_eq!(finding.evidence[0], "400 items carry userStatus");
    assert_eq!(finding.evidence[1], "no worker reads the change feed of users");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_stored_and_never_read() {
    let account = Account::new().await;
    account.container("orders", "/customer", 1).await;
    for number in 0..300 {
        let item = format!(
            r#"{{"id":"o{number}","customer":"c{}","total":{number},"trace":{{"steps":"{}"}}}}"#,
            number % 30,
            "x".repeat(400)
        );
        account.put("orders", &format!("\"c{}\"", number % 30), &item).await;
    }
    account.begin();
    for number in 0..120 {
        let key = format!("\"c{}\"", number % 30);
        account.query("orders", "SELECT c.id, c.total FROM c WHERE c.total > 7", &[], Some(&key)).await;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "embedded-never-read");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(finding.title.starts_with("/trace of"), "{}", finding.title);
    // Of about 470 bytes 412 are {"steps":"..."}.
    let part: f64 = finding.evidence[0].split(' ').next().and_then(|part| part.parse().ok()).unwrap();
    assert!((80.0..95.0).contains(&part), "{:?}", finding.evidence);
    assert!(
        finding.evidence[1].starts_with("0 of 120 requests asked for whole items"),
        "{:?}",
        finding.evidence
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_that_does_not_say_which_sort_it_wants() {
    let account = Account::new().await;
    account.container("shop", "/customer", 1).await;
    for number in 0..600 {
        let (sort, size) = match number % 6 {
            0 => ("order", 20 + number % 5),
            _ => ("visit", 1 + number % 3),
        };
        let customer = format!("c{}", number % 5);
        let item = format!(
            r#"{{"id":"x{number}","type":"{sort}","customer":"{customer}","size":{size},"least":{}}}"#,
            10 + number % 2
        );
        account.put("shop", &format!("\"{customer}\""), &item).await;
    }
    account.begin();
    let text = "SELECT * FROM c WHERE c.size > c.least";
    let mut rows = 0;
    for number in 0..20 {
        let key = format!("\"c{}\"", number % 5);
        account.query("shop", text, &[], Some(&key)).await;
        rows += 20;
    }
    let advice = account.advice().await;
    let finding = only(&advice, "discriminator-not-filtered");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.title, "A query does not say by /type which items it wants");
    assert_eq!(
        finding.evidence[1],
        format!("{} index entries and items were read for {rows} rows", 20 * 120)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_asked_for_by_their_time_and_never_go() {
    let account = Account::new().await;
    account.container("events", "/device", 1).await;
    for number in 0..1_200 {
        let (day, second) = (1 + number / 100, number % 100);
        let at = format!("2026-01-{day:02}T10:{:02}:{:02}Z", second / 60, second % 60);
        let device = format!("d{}", number % 7);
        let item = format!(r#"{{"id":"e{number}","device":"{device}","at":"{at}","value":{number}}}"#);
        account.put("events", &format!("\"{device}\""), &item).await;
        account.pass(DAY / 100);
    }
    account.begin();
    for number in 0..40 {
        let (key, since) =
            (format!("\"d{}\"", number % 7), format!("\"2026-01-{:02}T00:00:00Z\"", 5 + number % 5));
        account
            .query("events", "SELECT * FROM c WHERE c.at > @since", &[("@since", &since)], Some(&key))
            .await;
    }
    account.pass(HOUR);
    let advice = account.advice().await;
    let finding = only(&advice, "series-without-ttl");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.evidence[0], "40 of 40 reads and queries compare /at");
    assert!(finding.evidence[1].starts_with("items were written over 11 days"), "{:?}", finding.evidence);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_by_a_path_that_is_left_out_of_the_index() {
    let with = |policy: &str| format!(r#"{{"id":"users","partitionKey":{{"paths":["/team"]}}{policy}}}"#);
    let excluded =
        with(r#","indexingPolicy":{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/email/?"}]}"#);
    let (faulty, sound) = (Account::new().await, Account::new().await);
    for (account, definition) in [(&faulty, excluded), (&sound, with(""))] {
        account.container_with(&definition, 1).await;
        for number in 0..3_000 {
            let team = format!("t{}", number % 2);
            let item = format!(
                r#"{{"id":"u{number}","team":"{team}","email":"u{number}@example.org","n":{number}}}"#
            );
            account.put("users", &format!("\"{team}\""), &item).await;
        }
        account.begin();
    }
    let (mut before, mut after) = (0.0, 0.0);
    for number in 0..20 {
        let (key, email) = (format!("\"t{}\"", number % 2), format!("\"u{number}@example.org\""));
        let text = "SELECT * FROM c WHERE c.email = @e";
        before += faulty.query("users", text, &[("@e", &email)], Some(&key)).await / 20.0;
        after += sound.query("users", text, &[("@e", &email)], Some(&key)).await / 20.0;
    }
    let advice = faulty.advice().await;
    let finding = only(&advice, "filter-without-index");
    assert_eq!(finding.severity, Severity::Severe);
    assert!(
        finding.evidence[1].starts_with("30000 index entries and items were read for 20 rows"),
        "{:?}",
        finding.evidence
    );
    assert_eq!(finding.try_it, ["--try-index shop/users:include=/email/?"]);
    let line = &finding.comparison.as_ref().unwrap().lines[0];
    for (what, told, is) in [("before", line.before, before), ("after", line.after, after)] {
        assert!((told - is).abs() <= 0.1 * is, "{what}: {told:.2} instead of {is:.2}");
    }
    assert!(line.after < line.before / 3.0, "{line:?}");
}
