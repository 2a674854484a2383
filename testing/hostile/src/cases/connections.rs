//! More connections than there is room for.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::http_client::Connection;
use armilla_crash::process_figures;
use armilla_crash::server_process::Launch;
use tokio::task::JoinSet;

use armilla_hostile::raw::RawConnection;
use armilla_hostile::request::{Answer, Request};
use armilla_hostile::stage::Stage;

/// Files and sockets that the server may have open in the case about them.
const DESCRIPTORS: usize = 256;

/// Idle connections than which it can have fewer.
const IDLE: usize = 300;

/// With more idle connections than it has descriptors, the server goes on to write and to flush, and lets in who comes
/// next: idle connections give way.
pub(crate) async fn idle_connections_give_way(stage: &Stage) -> Result<()> {
    let launch = limited(stage)?;
    let server = launch.start(stage.env()).await?;
    let ask = async |request: &Request| -> Result<Answer> {
        let bytes = request.compose(&stage.master(), server.address, stage.env());
        let mut connection = Connection::open(server.address).await?;
        let answer = connection.exchange(&bytes).await.map(|reply| Answer::of(&reply));
        answer.with_context(|| request.what())
    };
    ensure!(ask(&Request::post("/dbs", "{\"id\":\"d\"}")).await?.status == 201);
    let container = "{\"id\":\"c\",\"partitionKey\":{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2}}";
    ensure!(ask(&Request::post("/dbs/d/colls", container)).await?.status == 201);
    let mut idle = Vec::new();
    for _ in 0..IDLE {
        let mut connection = RawConnection::open(server.address).await?;
        let _ = connection.send(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        idle.push(connection);
    }
    // Enough for many flushes of the small buffer it was given.
    let text = "x".repeat(200_000);
    for number in 0..100 {
        let item = format!("{{\"id\":\"{number}\",\"pk\":\"a\",\"text\":\"{text}\"}}");
        let answer = ask(&Request::post("/dbs/d/colls/c/docs", &item).partition("a")).await?;
        ensure!(answer.status == 201, "write {number} got {}: {}", answer.status, answer.text());
    }
    drop(idle);
    let status = server.terminate().await?;
    ensure!(status.success(), "the server ended with {status}");
    let complaints = launch.log_complaints(0)?;
    ensure!(complaints.is_empty(), "{}", complaints.join("; "));
    Ok(())
}

/// Returns how to start a server that may have few files and sockets open.
fn limited(stage: &Stage) -> Result<Launch> {
    let usual = stage.launch();
    let folder = usual.data_dir.with_file_name("limited");
    std::fs::create_dir_all(&folder)?;
    let binary = folder.join("armilla");
    let program = usual.binary.display();
    std::fs::write(&binary, format!("#!/bin/sh\nulimit -n {DESCRIPTORS}\nexec '{program}' \"$@\"\n"))?;
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755))?;
    let mut arguments = usual.arguments.clone();
    arguments.extend(["--write-buffer-mb".to_owned(), "1".to_owned()]);
    Ok(Launch {
        binary,
        data_dir: folder.join("data"),
        log: folder.join("server.log"),
        arguments,
        store: None,
    })
}

/// After five hundred connections with large requests, memory goes back to near where it was, also of a server that is
/// asked nothing more: so this one has no probe.
pub(crate) async fn memory_goes_back_after_a_burst(stage: &Stage) -> Result<()> {
    const CONNECTIONS: usize = 500;
    const BODY_BYTES: usize = 500_000;
    const NEAR_BYTES: u64 = 64 * 1024 * 1024;
    let folder = stage.launch().data_dir.with_file_name("burst");
    std::fs::create_dir_all(&folder)?;
    let mut launch = stage.launch().clone();
    (launch.data_dir, launch.log) = (folder.join("data"), folder.join("server.log"));
    let server = launch.start(stage.env()).await?;
    let before = process_figures::family_resident(server.pid())?;
    let mut sending = JoinSet::new();
    // It is no item, so nothing of it is kept.
    let body = "[".repeat(BODY_BYTES);
    let request = Request::post("/dbs", &body);
    let bytes: std::sync::Arc<[u8]> = request.compose(&stage.master(), server.address, stage.env()).into();
    for _ in 0..CONNECTIONS {
        let (bytes, address) = (bytes.clone(), server.address);
        sending.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let status = connection.exchange(&bytes).await?.status;
            anyhow::Ok((status, connection))
        });
    }
    let mut connections = Vec::new();
    while let Some(sent) = sending.join_next().await {
        let (status, connection) = sent??;
        ensure!(matches!(status, 400 | 429), "a bad item got {status}");
        connections.push(connection);
    }
    let peak = process_figures::family_resident(server.pid())?;
    drop(connections);
    let mut now = 0;
    for _ in 0..100 {
        stage.env().clock.sleep(Duration::from_millis(200)).await;
        now = process_figures::family_resident(server.pid())?;
        if now < before + NEAR_BYTES {
            return server.kill().await;
        }
    }
    anyhow::bail!("memory was {before} bytes, at most {peak}, and after a while still {now}")
}
