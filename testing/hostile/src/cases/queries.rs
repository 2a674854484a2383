//! Queries without an end, and queries that make something large out of little.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::process_figures;
use armilla_hostile::raw::RawConnection;
use armilla_hostile::request::Request;
use armilla_hostile::stage::Stage;

/// Queries that are on their way at the same time.
const AT_ONCE: usize = 16;

/// How long queries may go on after their senders are gone, and how busy a server is that does nothing.
const QUIET_AFTER: Duration = Duration::from_secs(20);
const QUIET_PERCENT: u128 = 30;

async fn item(stage: &Stage, body: &str) -> Result<()> {
    stage.create_container("d", "c", "/pk").await?;
    let request = Request::post("/dbs/d/colls/c/docs", body).partition("a");
    stage.ask_for(&stage.master(), &request, 201).await?;
    Ok(())
}

/// Sixteen joins of 1,000,000,000,000,000 rows in one item: others are answered meanwhile, and when the senders hang up,
/// the work ends.
pub(crate) async fn joins_without_an_end_hold_up_nobody(stage: &Stage) -> Result<()> {
    let numbers: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    item(stage, &format!("{{\"id\":\"1\",\"pk\":\"a\",\"n\":[{}]}}", numbers.join(","))).await?;
    let joins = "JOIN v IN c.n JOIN w IN c.n JOIN x IN c.n JOIN y IN c.n JOIN z IN c.n";
    let questions = [
        format!("SELECT VALUE COUNT(1) FROM c {joins}"),
        format!("SELECT VALUE v FROM c {joins} WHERE v + w + x + y + z < 0"),
        format!("SELECT DISTINCT VALUE v FROM c {joins}"),
        format!("SELECT VALUE MAX(v + w) FROM c {joins}"),
    ];
    let mut connections = Vec::new();
    for place in 0..AT_ONCE {
        let request =
            Request::query("/dbs/d/colls/c/docs", &questions[place % questions.len()]).partition("a");
        let mut connection = RawConnection::open(stage.address()).await?;
        connection.send(&request.compose(&stage.master(), stage.address(), stage.env())).await?;
        connections.push(connection);
    }
    // The probe asks all the while, short queries among it.
    stage.env().clock.sleep(Duration::from_secs(5)).await;
    drop(connections);
    quiet(stage).await
}

/// Waits until the server does nothing to speak of.
async fn quiet(stage: &Stage) -> Result<()> {
    let clock = &stage.env().clock;
    let until = clock.elapsed() + QUIET_AFTER;
    loop {
        let (before, began) = (process_figures::family_cpu_time(stage.pid())?, clock.elapsed());
        clock.sleep(Duration::from_secs(1)).await;
        let worked = process_figures::family_cpu_time(stage.pid())?.saturating_sub(before);
        let percent = 100 * worked.as_millis() / (clock.elapsed() - began).as_millis().max(1);
        if percent < QUIET_PERCENT {
            return Ok(());
        }
        ensure!(
            clock.elapsed() < until,
            "the server is still at work, {percent} %, though nobody waits for it"
        );
    }
}

/// One request makes many long texts out of one.
pub(crate) async fn texts_made_by_queries_are_bounded(stage: &Stage) -> Result<()> {
    item(stage, "{\"id\":\"1\",\"pk\":\"a\"}").await?;
    let text = "x".repeat(1_900_000);
    let one = "CONCAT(@p,@p,@p,@p,@p,@p,@p,@p)";
    let columns: Vec<String> = (0..100).map(|place| format!("{one} AS c{place}")).collect();
    let body = format!(
        "{{\"query\":\"SELECT {} FROM c\",\"parameters\":[{{\"name\":\"@p\",\"value\":\"{text}\"}}]}}",
        columns.join(",")
    );
    let request = Request::post("/dbs/d/colls/c/docs", &body)
        .header("x-ms-documentdb-isquery", "True")
        .header("content-type", "application/query+json")
        .partition("a");
    let answer = stage.ask(&stage.master(), &request).await?;
    ensure!(answer.status >= 400, "a row of 1.5 GB was answered with {}", answer.status);
    let figures = stage.figures();
    let grown = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(grown < 600 * 1024 * 1024, "{grown} bytes were taken for one row");
    Ok(())
}

/// A pattern that could be tried in very many ways is not.
pub(crate) async fn patterns_take_no_longer_than_their_text(stage: &Stage) -> Result<()> {
    let text = "a".repeat(200_000);
    item(stage, &format!("{{\"id\":\"1\",\"pk\":\"a\",\"t\":\"{text}\"}}")).await?;
    let blanks = "_".repeat(2_000);
    for condition in [
        format!("c.t LIKE '%{blanks}z%'"),
        format!("c.t LIKE '%{}z'", "a%".repeat(200)),
        "RegexMatch(c.t, '(a*)*b')".to_owned(),
        "RegexMatch(c.t, '(a|a)*$b')".to_owned(),
    ] {
        let request =
            Request::query("/dbs/d/colls/c/docs", &format!("SELECT VALUE c.id FROM c WHERE {condition}"))
                .partition("a");
        let limit = Duration::from_secs(10);
        let answer = stage.ask_within(&stage.master(), &request, limit).await.context(condition.clone())?;
        ensure!(answer.status < 500, "{condition}: {}", answer.status);
    }
    quiet(stage).await
}
