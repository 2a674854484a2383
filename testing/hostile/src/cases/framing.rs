//! Bytes that are no request, or only slowly become one.

use std::time::Duration;

use anyhow::{Result, ensure};

use armilla_hostile::http2::Http2Connection;
use armilla_hostile::raw::{Ending, RawConnection, status_of};
use armilla_hostile::request::Request;
use armilla_hostile::stage::Stage;

/// How long an answer to garbage may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// What is no HTTP gets an error or a closed connection, never a success and never silence.
pub(crate) async fn garbage_is_refused(stage: &Stage) -> Result<()> {
    let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(100_000));
    let long_line = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "a".repeat(1_000_000));
    let mut random = stage.random(0);
    let noise: Vec<u8> = (0..4_096).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    for bytes in [
        b"\r\n\r\n\r\n" as &[u8],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /dbs HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST /dbs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        b"POST /dbs HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /dbs HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        many_headers.as_bytes(),
        long_line.as_bytes(),
        &noise,
    ] {
        for address in [stage.address(), stage.table_address()] {
            let mut connection = RawConnection::open(address).await?;
            // The server may close before everything is sent.
            let _ = connection.send(bytes).await;
            let _ = connection.end().await;
            let (answer, ending) = connection.read_all(PATIENCE).await?;
            let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
            ensure!(ending == Ending::Closed, "{shown:?} got no end");
            if let Some(status) = status_of(&answer) {
                ensure!((400..600).contains(&status), "{shown:?} got {status}");
            }
        }
    }
    Ok(())
}

/// Hundreds of connections that never finish their headers are closed in time, and hold up nobody meanwhile.
pub(crate) async fn slow_headers_hold_up_nobody(stage: &Stage) -> Result<()> {
    let mut connections = Vec::new();
    for _ in 0..300 {
        let mut connection = RawConnection::open(stage.address()).await?;
        connection.send(b"GET /dbs HTTP/1.1\r\nhost: localhost\r\nx-a: ").await?;
        connections.push(connection);
    }
    for connection in &mut connections {
        // A byte now and then must not keep them open.
        let _ = connection.send(b"a").await;
        let (_, ending) = connection.read_all(Duration::from_secs(30)).await?;
        ensure!(ending == Ending::Closed, "a connection without a request stayed open");
    }
    Ok(())
}

/// A client that never reads its answers holds no more than what it may leave unread.
pub(crate) async fn unread_answers_of_http2_hold_up_nobody(stage: &Stage) -> Result<()> {
    let text = "x".repeat(20_000);
    for item in 0..50 {
        let body = format!("{{\"id\":\"big{item}\",\"pk\":\"big\",\"text\":\"{text}\"}}");
        let request = Request::post("/dbs/probe/colls/probe/docs", &body).partition("big");
        stage.ask_for(&stage.master(), &request, 201).await?;
    }
    let connection = Http2Connection::open(stage.address(), stage.env(), 65_535).await?;
    let mut answers = Vec::new();
    for _ in 0..60 {
        let request = Request::get("/dbs/probe/colls/probe/docs").header("x-ms-max-item-count", "1000");
        // Those beyond the bound wait until others have been read, which never happens.
        let caller = stage.master();
        let asked = connection.ask(&caller, &request);
        match tokio::time::timeout(Duration::from_secs(2), asked).await {
            Ok(answer) => answers.push(answer?),
            Err(_) => break,
        }
    }
    let figures = stage.figures();
    ensure!(answers.len() >= 10, "only {} answers were made", answers.len());
    ensure!(answers.iter().all(|answer| answer.status() == 200), "an answer was refused");
    let held = figures.peak_bytes.saturating_sub(figures.before_bytes);
    ensure!(held < 400 * 1024 * 1024, "{held} bytes are held for a client that reads nothing");
    Ok(())
}

/// Heads as long as they may be, hundreds that never end and hundreds of requests whose bodies never come, take what
/// they have and hold up nobody; a head that is longer is refused.
pub(crate) async fn large_heads_hold_up_nobody(stage: &Stage) -> Result<()> {
    const HEADS: usize = 200;
    const HEAD_BYTES: usize = 60_000;
    const CONNECTIONS: usize = 4;
    const STREAMS: usize = 100;
    let large = "a".repeat(HEAD_BYTES);
    let mut connections = Vec::new();
    for _ in 0..HEADS {
        let mut connection = RawConnection::open(stage.address()).await?;
        connection
            .send(format!("GET /dbs HTTP/1.1\r\nhost: localhost\r\nx-large: {large}").as_bytes())
            .await?;
        connections.push(connection);
    }
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let connection =
            std::sync::Arc::new(Http2Connection::open(stage.address(), stage.env(), 65_535).await?);
        for _ in 0..STREAMS {
            let (connection, caller) = (connection.clone(), stage.master());
            let request = Request::post("/dbs/probe/colls/probe/docs", "").partition("a");
            let request = request.header("x-large", &large[..HEAD_BYTES - 10_000]);
            asking.spawn(async move {
                let _ = connection.ask_endlessly(&caller, &request, 1).await;
            });
        }
    }
    stage.env().clock.sleep(Duration::from_secs(5)).await;
    let figures = stage.figures();
    let held = figures.peak_bytes.saturating_sub(figures.before_bytes);
    // All of it is in memory: what else is held of each must not be much.
    let sent = (HEADS * HEAD_BYTES + CONNECTIONS * STREAMS * (HEAD_BYTES - 10_000)) as u64;
    ensure!(held < 4 * sent, "{held} bytes are held for {sent} bytes of heads");
    for connection in &mut connections {
        connection.send(large.as_bytes()).await?;
    }
    for connection in &mut connections {
        let (answer, ending) = connection.read_all(PATIENCE).await?;
        let status = status_of(&answer);
        ensure!(ending == Ending::Closed, "a head that is too long got no end");
        ensure!(matches!(status, None | Some(431)), "a head that is too long got {status:?}");
    }
    asking.shutdown().await;
    Ok(())
}
