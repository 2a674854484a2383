//! SIGTERM, whatever runs.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::http_client::Connection;
use armilla_crash::server_process::{Launch, ServerProcess};
use tokio::task::JoinSet;

use armilla_hostile::raw::RawConnection;
use armilla_hostile::request::Request;
use armilla_hostile::stage::Stage;

/// Never ends, inside a function of the interpreter.
const ENDLESS_SCRIPT: &str = "function(){var n=0;Array.prototype.join.call({get length(){return \
                              n++?9007199254740991:1}},'')}";

/// How much later than its grace period a server may be gone: the time of the machine, not of the server.
const MARGIN: Duration = Duration::from_secs(2);

async fn ask(stage: &Stage, server: &ServerProcess, request: &Request) -> Result<u16> {
    let bytes = request.compose(&stage.master(), server.address, stage.env());
    let mut connection = Connection::open(server.address).await?;
    Ok(connection.exchange(&bytes).await.with_context(|| request.what())?.status)
}

/// Starts another server with a grace period, and on it what would not end by itself: scripts, joins and a body.
async fn busy_server(
    stage: &Stage,
    folder: &str,
    grace_ms: &str,
) -> Result<(Launch, ServerProcess, JoinSet<()>, RawConnection)> {
    let folder = stage.launch().data_dir.with_file_name(folder);
    std::fs::create_dir_all(&folder)?;
    let mut launch = stage.launch().clone();
    launch.data_dir = folder.join("data");
    launch.log = folder.join("server.log");
    launch.arguments.extend(["--shutdown-timeout-ms".to_owned(), grace_ms.to_owned()]);
    let server = launch.start(stage.env()).await?;
    ensure!(ask(stage, &server, &Request::post("/dbs", "{\"id\":\"d\"}")).await? == 201);
    let container = "{\"id\":\"c\",\"partitionKey\":{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2}}";
    ensure!(ask(stage, &server, &Request::post("/dbs/d/colls", container)).await? == 201);
    let numbers: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let item = format!("{{\"id\":\"kept\",\"pk\":\"a\",\"list\":[{}]}}", numbers.join(","));
    ensure!(ask(stage, &server, &Request::post("/dbs/d/colls/c/docs", &item).partition("a")).await? == 201);
    let script = format!("{{\"id\":\"endless\",\"body\":{:?}}}", ENDLESS_SCRIPT);
    let registered = ask(stage, &server, &Request::post("/dbs/d/colls/c/sprocs", &script)).await?;
    ensure!(registered == 201, "the script was refused with {registered}");
    let run = Request::post("/dbs/d/colls/c/sprocs/endless", "[]").partition("a");
    let joins = "SELECT COUNT(1) FROM c JOIN a IN c.list JOIN b IN c.list JOIN d IN c.list JOIN e IN c.list \
                 JOIN f IN c.list";
    let query = Request::query("/dbs/d/colls/c/docs", joins).partition("a");
    let mut running = JoinSet::new();
    for number in 0..32 {
        let request = if number % 2 == 0 { &run } else { &query };
        let bytes = request.compose(&stage.master(), server.address, stage.env());
        let address = server.address;
        running.spawn(async move {
            // It ends with the server.
            if let Ok(mut connection) = Connection::open(address).await {
                let _ = connection.exchange(&bytes).await;
            }
        });
    }
    let head = Request::post("/dbs", "").header("content-type", "application/json");
    let head = head.compose(&stage.master(), server.address, stage.env());
    let head = String::from_utf8_lossy(&head).replace("content-length: 0", "content-length: 1000");
    let mut body = RawConnection::open(server.address).await?;
    body.send(head.as_bytes()).await?;
    stage.env().clock.sleep(Duration::from_secs(1)).await;
    Ok((launch, server, running, body))
}

/// SIGTERM ends the server within its grace period while scripts, queries and bodies without an end run, and what was
/// acknowledged is there afterwards.
pub(crate) async fn sigterm_ends_in_time(stage: &Stage) -> Result<()> {
    let (launch, server, running, body) = busy_server(stage, "grace", "4000").await?;
    let begin = stage.env().clock.elapsed();
    server.terminate().await?;
    let took = stage.env().clock.elapsed() - begin;
    ensure!(took < Duration::from_secs(4) + MARGIN, "the server took {took:?} to end");
    drop((running, body));
    let server = launch.start(stage.env()).await?;
    let read = Request::get("/dbs/d/colls/c/docs/kept").partition("a");
    ensure!(ask(stage, &server, &read).await? == 200, "what was acknowledged is lost");
    server.kill().await
}

/// A second SIGTERM ends the server at once.
pub(crate) async fn a_second_sigterm_ends_at_once(stage: &Stage) -> Result<()> {
    let (_launch, mut server, _running, _body) = busy_server(stage, "twice", "60000").await?;
    server.ask_to_end()?;
    stage.env().clock.sleep(Duration::from_millis(500)).await;
    let begin = stage.env().clock.elapsed();
    server.terminate().await?;
    let took = stage.env().clock.elapsed() - begin;
    ensure!(took < MARGIN, "the server took {took:?} to end after a second signal");
    Ok(())
}
