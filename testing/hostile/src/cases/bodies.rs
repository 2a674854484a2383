//! Request bodies that come slowly, not at all, or in very small pieces.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::task::JoinSet;
use tokio::time::timeout;

use armilla_hostile::http2::Http2Connection;
use armilla_hostile::raw::{RawConnection, status_of};
use armilla_hostile::request::{Caller, Request};
use armilla_hostile::stage::Stage;

/// How long a write of somebody else may take.
const WRITE_LIMIT: Duration = Duration::from_secs(1);

/// Bodies that are announced on each API, and how long each is said to be: more than all the room there is.
const SQL_BODIES: usize = 140;
const SQL_BYTES: usize = 2_000_000;
const TABLE_BODIES: usize = 40;
const TABLE_BYTES: usize = 4_000_000;

/// A write on the SQL API, or on the Table API, that is said to have so many bytes.
fn announced(stage: &Stage, is_table: bool, bytes: usize) -> Vec<u8> {
    let (request, caller, address) = match is_table {
        true => (Request::post("/probe", ""), stage.table(), stage.table_address()),
        false => {
            let request = Request::post("/dbs/probe/colls/probe/docs", "").partition("a");
            (request, stage.master(), stage.address())
        }
    };
    let head = request.header("content-type", "application/json").compose(&caller, address, stage.env());
    let head =
        String::from_utf8_lossy(&head).replace("content-length: 0", &format!("content-length: {bytes}"));
    head.into_bytes()
}

/// Bodies that are announced and come byte by byte, each ten seconds one, take no room from others.
pub(crate) async fn slow_bodies_block_nobody(stage: &Stage) -> Result<()> {
    let table = Request::post("/Tables", "{\"TableName\":\"probe\"}");
    stage.ask_for(&stage.table(), &table, 201).await?;
    let mut connections = Vec::new();
    for number in 0..SQL_BODIES + TABLE_BODIES {
        let is_table = number >= SQL_BODIES;
        let (address, bytes) =
            if is_table { (stage.table_address(), TABLE_BYTES) } else { (stage.address(), SQL_BYTES) };
        let mut connection = RawConnection::open(address).await?;
        connection.send(&announced(stage, is_table, bytes)).await?;
        connection.send(b"{").await?;
        connections.push(connection);
    }
    // The probe writes on the SQL API meanwhile.
    for number in 0..30 {
        let entity = format!("{{\"PartitionKey\":\"a\",\"RowKey\":\"{number}\"}}");
        let answer = stage.ask_within(&stage.table(), &Request::post("/probe", &entity), WRITE_LIMIT).await?;
        ensure!(answer.status == 201, "a write on the Table API got {}: {}", answer.status, answer.text());
        stage.env().clock.sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// A body that comes byte by byte is answered with 408, on both APIs.
pub(crate) async fn dripping_bodies_are_given_up(stage: &Stage) -> Result<()> {
    for is_table in [false, true] {
        let address = if is_table { stage.table_address() } else { stage.address() };
        let mut connection = RawConnection::open(address).await?;
        connection.send(&announced(stage, is_table, SQL_BYTES)).await?;
        let mut status = None;
        for _ in 0..100 {
            let _ = connection.send(b" ").await;
            let (answer, _) = connection.read_all(Duration::from_millis(100)).await?;
            status = status_of(&answer);
            if status.is_some() {
                break;
            }
        }
        ensure!(status == Some(408), "a body that drips got {status:?}");
    }
    Ok(())
}

/// Bodies that came but for their last byte hold all the room there is, and give way.
pub(crate) async fn bodies_without_an_end_give_way(stage: &Stage) -> Result<()> {
    let mut sending = JoinSet::new();
    for _ in 0..SQL_BODIES {
        let (head, address) = (announced(stage, false, SQL_BYTES), stage.address());
        sending.spawn(async move {
            let mut connection = RawConnection::open(address).await?;
            // The server may close it meanwhile: that is what it is for.
            let all = async {
                connection.send(&head).await?;
                connection.send(&vec![b' '; SQL_BYTES - 1]).await
            };
            let _ = timeout(Duration::from_secs(20), all).await;
            anyhow::Ok(connection)
        });
    }
    let mut connections = Vec::new();
    while let Some(sent) = sending.join_next().await {
        connections.push(sent??);
    }
    // What the clients have sent takes the server a moment.
    stage.env().clock.sleep(Duration::from_secs(2)).await;
    // A large write finds room, too, once those have given way that hold it.
    let text = "x".repeat(1_000_000);
    let item = format!("{{\"id\":\"large\",\"pk\":\"a\",\"text\":\"{text}\"}}");
    let request = Request::post("/dbs/probe/colls/probe/docs", &item).partition("a");
    let answer = stage.ask_within(&stage.master(), &request, Duration::from_secs(10)).await?;
    ensure!(answer.status == 201, "a large write got {}: {}", answer.status, answer.text());
    Ok(())
}

/// Bodies cut into pieces of one byte cost what they hold, on both APIs.
pub(crate) async fn pieces_of_one_byte_cost_no_more(stage: &Stage) -> Result<()> {
    const PIECES: usize = 1_000_000;
    let before = stage.figures().before_bytes;
    let mut sending = JoinSet::new();
    for number in 0..8 {
        let is_table = number % 2 == 0;
        let caller: Caller = if is_table { stage.table() } else { stage.master() };
        let address = if is_table { stage.table_address() } else { stage.address() };
        let path = if is_table { "/probe" } else { "/dbs/probe/colls/probe/docs" };
        let request = Request::post(path, "").partition("a").header("content-type", "application/json");
        let head = request.compose(&caller, address, stage.env());
        let head = String::from_utf8_lossy(&head).replace("content-length: 0", "transfer-encoding: chunked");
        sending.spawn(async move {
            let mut connection = RawConnection::open(address).await?;
            connection.send(head.as_bytes()).await?;
            let pieces = b"1\r\n \r\n".repeat(10_000);
            for _ in 0..PIECES / 10_000 {
                connection.send(&pieces).await?;
            }
            anyhow::Ok(connection)
        });
    }
    let mut connections = Vec::new();
    while let Some(sent) = sending.join_next().await {
        connections.push(sent??);
    }
    stage.env().clock.sleep(Duration::from_secs(1)).await;
    let held = stage.figures().peak_bytes.saturating_sub(before);
    ensure!(held < 100 * 1024 * 1024, "{held} bytes are held for eight megabytes in small pieces");
    Ok(())
}

/// Bodies in frames of one byte, on several streams of HTTP/2, cost little, are not read for long, and nothing of them
/// stays counted.
pub(crate) async fn frames_of_one_byte_cost_no_more(stage: &Stage) -> Result<()> {
    const CONNECTIONS: usize = 2;
    const STREAMS: usize = 4;
    const FRAMES: usize = 100_000;
    const SENT: usize = CONNECTIONS * STREAMS * FRAMES;
    let before = stage.figures().before_bytes;
    let mut sending = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let connection =
            std::sync::Arc::new(Http2Connection::open(stage.address(), stage.env(), 65_535).await?);
        for _ in 0..STREAMS {
            let (connection, caller) = (connection.clone(), stage.master());
            let request = Request::post("/dbs/probe/colls/probe/docs", "").partition("a");
            let request = request.header("content-type", "application/json");
            sending.spawn(async move {
                connection.ask_endlessly(&caller, &request, FRAMES).await.map(|answer| answer.status())
            });
        }
    }
    // So many frames that carry nothing are taken for an attack: the connection is closed. What a stream sees of that
    // depends on what it was doing.
    while let Some(sent) = sending.join_next().await {
        ensure!(sent?.is_err(), "a body without an end was answered");
    }
    let held = stage.figures().peak_bytes.saturating_sub(before);
    ensure!(held < 100 * 1024 * 1024, "{held} bytes are held for {SENT} bytes in small frames");
    let mut counted = 0;
    for _ in 0..100 {
        let figures = stage.ask_for(&stage.master(), &Request::get("/metrics"), 200).await?;
        let text = String::from_utf8(figures.body)?;
        counted = figure(&text, HELD_BODIES).with_context(|| format!("no {HELD_BODIES}: {text}"))?;
        // The probe sends a body now and then.
        if counted < 10_000 {
            return Ok(());
        }
        stage.env().clock.sleep(Duration::from_millis(100)).await;
    }
    anyhow::bail!("{counted} bytes are counted once their connections are gone")
}

/// The figure of the bytes of request bodies that are held.
const HELD_BODIES: &str = "armilla_request_bodies_bytes ";

fn figure(metrics: &str, name: &str) -> Option<usize> {
    let value = metrics.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().parse().ok()
}
