//! What empty containers cost: memory, open files, and time at the next start.

use anyhow::{Context, Result};
use armilla_crash::http_client::Connection;
use armilla_crash::process_figures;
use armilla_crash::requests::{Composer, Target};
use armilla_crash::server_process::ServerProcess;

use crate::items::DATABASE;
use crate::measure::{Latencies, measure as measured};
use crate::report::Report;
use crate::server::Servers;

/// Makes containers, restarts the server, and uses every one of them once.
pub(crate) fn measure(servers: &Servers, count: usize, report: &mut Report) -> Result<()> {
    eprintln!("{count} containers");
    let env = &servers.env;
    let server = servers.start("containers")?;
    servers.ask(&server, "POST", Target::Databases, &[], &format!("{{\"id\":\"{DATABASE}\"}}"))?;
    note(report, &server, ["memory before", "files before"])?;
    report.add(measured(env, "containers made", server.pid(), || {
        servers.runtime.block_on(each(servers, &server, count, |composer, number| {
            let body = format!(
                r#"{{"id":"c{number}","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}}}"#
            );
            composer.compose("POST", Target::Containers(DATABASE), &[], body.as_bytes())
        }))
    })?);
    note(report, &server, ["memory with the containers", "files with the containers"])?;
    let begin = env.clock.elapsed();
    servers.stop(server)?;
    report.figure("end after SIGTERM", (env.clock.elapsed() - begin).as_secs_f64() * 1e3, "ms");

    let server = servers.start("containers")?;
    report.figure("start with the containers, as the server says", server.start_ms as f64, "ms");
    report.figure("start with the containers, from outside", server.ready_after.as_secs_f64() * 1e3, "ms");
    note(report, &server, ["memory after the restart", "files after the restart"])?;
    report.add(measured(env, "items made, one in each container", server.pid(), || {
        servers.runtime.block_on(each(servers, &server, count, |composer, number| {
            let container = format!("c{number}");
            let headers = [("x-ms-documentdb-partitionkey", r#"["p"]"#)];
            let target = Target::Items(DATABASE, &container);
            composer.compose("POST", target, &headers, br#"{"id":"i","pk":"p"}"#)
        }))
    })?);
    note(report, &server, ["memory with every container used", "files with every container used"])?;
    servers.stop(server)
}

/// Sends one request for each container, one after the other.
async fn each(
    servers: &Servers,
    server: &ServerProcess,
    count: usize,
    request: impl Fn(&mut Composer, usize) -> Vec<u8>,
) -> Result<Latencies> {
    let mut latencies = Latencies::new();
    let mut composer = Composer::new(&servers.env);
    let mut connection = Connection::open(server.address).await.context("cannot connect")?;
    for number in 0..count {
        let request = request(&mut composer, number);
        let begin = servers.env.clock.elapsed();
        let reply = connection.exchange(&request).await.context("the server does not answer")?;
        latencies.record(servers.env.clock.elapsed() - begin);
        anyhow::ensure!(reply.status == 201, "request {number} got {}: {}", reply.status, reply.excerpt());
    }
    Ok(latencies)
}

fn note(report: &mut Report, server: &ServerProcess, names: [&'static str; 2]) -> Result<()> {
    report.memory(names[0], process_figures::memory(server.pid())?.resident);
    report.figure(names[1], process_figures::open_files(server.pid())? as f64, "");
    Ok(())
}
