//! Web pages that send requests, and names that lead here and are not ours.

use anyhow::{Result, ensure};
use armilla_crash::http_client::Connection;

use armilla_hostile::request::{Answer, Caller, Request};
use armilla_hostile::stage::Stage;

/// Sends a request with another host.
async fn ask_by_name(stage: &Stage, caller: &Caller, request: &Request, host: &str) -> Result<Answer> {
    let is_table = matches!(caller, Caller::TableKey(_));
    let address = if is_table { stage.table_address() } else { stage.address() };
    let bytes = request.compose(caller, address, stage.env());
    let own = format!("host: localhost:{}\r\n", address.port());
    let text = String::from_utf8_lossy(&bytes).replace(&own, &format!("host: {host}\r\n"));
    let mut connection = Connection::open(address).await?;
    Ok(connection.exchange(text.as_bytes()).await.map(|reply| Answer::of(&reply))?)
}

/// A page elsewhere that signs with the well-known key creates nothing, on either API.
pub(crate) async fn other_pages_change_nothing(stage: &Stage) -> Result<()> {
    let pages: [&[(&str, &str)]; 4] = [
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://localhost:3000")],
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
    ];
    for headers in pages {
        let with = |request: Request| {
            headers.iter().fold(request.header("content-type", "text/plain"), |request, (name, value)| {
                request.header(name, value)
            })
        };
        let database = with(Request::post("/dbs", "{\"id\":\"stolen\"}"));
        let answer = stage.ask_for(&stage.master(), &database, 403).await?;
        ensure!(answer.text().contains("--allowed-origins"), "{}", answer.text());
        let table = with(Request::post("/Tables", "{\"TableName\":\"stolen\"}"));
        stage.ask_for(&stage.table(), &table, 403).await?;
        stage.ask_for(&stage.master(), &with(Request::get("/dbs")), 403).await?;
        let asked = with(Request::new("OPTIONS", "/dbs")).header("access-control-request-method", "POST");
        let answer = stage.ask(&Caller::Nobody, &asked).await?;
        ensure!(answer.status >= 400 && answer.header("access-control-allow-origin").is_none());
    }
    stage.ask_for(&stage.master(), &Request::get("/dbs/stolen"), 404).await?;
    stage.ask_for(&stage.table(), &Request::get("/stolen()"), 404).await?;
    Ok(())
}

/// A name that was made to lead here (DNS rebinding) gets nothing, on either API, figures included.
pub(crate) async fn other_names_get_nothing(stage: &Stage) -> Result<()> {
    for host in ["evil.example", "evil.example:8081", "localhost.evil.example", "127.0.0.1.evil.example"] {
        for (caller, request) in [
            (stage.master(), Request::post("/dbs", "{\"id\":\"stolen\"}")),
            (stage.master(), Request::get("/dbs")),
            (Caller::Nobody, Request::get("/metrics")),
            (Caller::Nobody, Request::get("/health")),
            (stage.table(), Request::post("/Tables", "{\"TableName\":\"stolen\"}")),
        ] {
            let answer = ask_by_name(stage, &caller, &request, host).await?;
            ensure!(answer.status == 403, "'{}' at {host} got {}", request.what(), answer.status);
            ensure!(answer.text().contains("--allowed-hosts"), "{}", answer.text());
        }
    }
    stage.ask_for(&stage.master(), &Request::get("/dbs/stolen"), 404).await?;
    for host in ["localhost", "127.0.0.1:1", "[::1]:8081"] {
        let answer = ask_by_name(stage, &stage.master(), &Request::get("/dbs"), host).await?;
        ensure!(answer.status == 200, "{host} got {}", answer.status);
    }
    Ok(())
}
