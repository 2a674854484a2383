//! Answers that nobody reads.

use std::time::Duration;

use anyhow::{Result, ensure};
use tokio::task::JoinSet;

use armilla_hostile::http2::Http2Connection;
use armilla_hostile::request::Request;
use armilla_hostile::stage::Stage;

const CONNECTIONS: usize = 4;
const STREAMS: usize = 250;

/// Connections of HTTP/2 with as many requests for a large item, or a page of it, as they may have at once, of which
/// nothing is read: the server makes some of the answers and no more.
pub(crate) async fn unread_streams_are_bounded(stage: &Stage) -> Result<()> {
    let text = "x".repeat(1_900_000);
    let item = format!("{{\"id\":\"large\",\"pk\":\"large\",\"text\":\"{text}\"}}");
    let create = Request::post("/dbs/probe/colls/probe/docs", &item).partition("large");
    stage.ask_for(&stage.master(), &create, 201).await?;
    let requests = [
        Request::get("/dbs/probe/colls/probe/docs/large").partition("large"),
        Request::query("/dbs/probe/colls/probe/docs", "SELECT * FROM c").partition("large"),
    ];
    for request in requests {
        let before = stage.figures().now_bytes;
        let mut asking = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let connection =
                std::sync::Arc::new(Http2Connection::open(stage.address(), stage.env(), 65_535).await?);
            for _ in 0..STREAMS {
                let (connection, request, caller) = (connection.clone(), request.clone(), stage.master());
                asking.spawn(async move {
                    // Kept, and not read; without an answer it is kept all the same.
                    let answer = connection.ask(&caller, &request).await;
                    std::future::pending::<()>().await;
                    drop(answer);
                });
            }
        }
        stage.env().clock.sleep(Duration::from_secs(6)).await;
        let held = stage.figures().peak_bytes.saturating_sub(before);
        ensure!(held < 400 * 1024 * 1024, "{held} bytes are held for '{}' that nobody reads", request.what());
        asking.shutdown().await;
    }
    Ok(())
}

/// A connection on which answers are not taken is closed, whatever else is sent on it.
pub(crate) async fn connections_that_take_no_answers_are_closed(stage: &Stage) -> Result<()> {
    let text = "x".repeat(1_900_000);
    let item = format!("{{\"id\":\"large\",\"pk\":\"large\",\"text\":\"{text}\"}}");
    let create = Request::post("/dbs/probe/colls/probe/docs", &item).partition("large");
    stage.ask_for(&stage.master(), &create, 201).await?;
    let connection = Http2Connection::open(stage.address(), stage.env(), 65_535).await?;
    let request = Request::get("/dbs/probe/colls/probe/docs/large").partition("large");
    let _unread = connection.ask(&stage.master(), &request).await?;
    for _ in 0..100 {
        stage.env().clock.sleep(Duration::from_millis(100)).await;
        let small = Request::get("/dbs/probe/colls/probe/docs/read").partition("a");
        if connection.ask(&stage.master(), &small).await.is_err() {
            return Ok(());
        }
    }
    anyhow::bail!("a connection that takes no answers stayed open")
}
