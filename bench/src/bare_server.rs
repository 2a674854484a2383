//! An HTTP server that does nothing: the same stack, set up in the same way, returning the same bytes.
//!
//! It runs as a process of its own, as the real one does, so that its processor time can be told apart.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use armilla_crash::requests::{Target, partition_key};
use armilla_env::Env;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;

use crate::items::{CONTAINER, DATABASE, Items};
use crate::load::{Pool, drive, from_pool};
use crate::measure::Phase;
use crate::over_http::pool;
use crate::server::{Answered, Ask, Servers, Setup, folder};

/// Bytes of a request line with its headers, as the real server takes them.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// Headers that the HTTP stack adds by itself.
const OWN_HEADERS: [&str; 3] = ["date", "content-length", "connection"];

/// Bare servers, one for each kind of answer.
pub(crate) struct BareServers {
    env: Env,
    connections: usize,
    seconds: f64,
    /// Answers with the headers of the real server.
    full: BareServer,
    /// Answers with two headers.
    few: BareServer,
    reads: Pool,
    writes: Pool,
}

impl BareServers {
    /// Lets the real server answer once, and starts bare servers that answer the same.
    pub(crate) fn start(setup: &Setup, env: &Env, items: Items) -> Result<BareServers> {
        let Answered { headers, body } = sample(&Servers::new(setup, env)?, items)?;
        let is_needed = |name: &str| name == "content-type" || name == "etag";
        let few: Vec<_> = headers.iter().filter(|(name, _)| is_needed(name)).cloned().collect();
        Ok(BareServers {
            env: env.clone(),
            connections: setup.connections,
            seconds: setup.seconds,
            full: BareServer::start(setup, &headers, &body)?,
            few: BareServer::start(setup, &few, &body)?,
            reads: pool(env, items, Ask::Read),
            writes: pool(env, items, Ask::Upsert),
        })
    }

    /// Returns where the one listens that answers with the headers of the real server.
    pub(crate) fn address(&self) -> SocketAddr {
        self.full.address
    }

    /// Returns what can be measured.
    pub(crate) fn phases(&self) -> Vec<Phase<'_>> {
        let phase = |name, server: &'_ BareServer, pool| {
            let (pid, address) = (server.pid(), server.address);
            let sources = move || from_pool(&self.env, pool, self.connections, self.seconds);
            Phase { name, pid, run: Box::new(move || drive(&self.env, address, sources())) }
        };
        vec![
            phase("bare HTTP: reads", &self.full, &self.reads),
            phase("bare HTTP: writes", &self.full, &self.writes),
            phase("bare HTTP: reads, two headers in the answer", &self.few, &self.reads),
        ]
    }
}

/// Lets the real server answer one read, and returns the answer.
fn sample(servers: &Servers, items: Items) -> Result<Answered> {
    let server = servers.start("sample")?;
    servers.create_container(&server)?;
    let (id, key) = (items.id(0), partition_key(&items.key(0)));
    let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
    servers.ask(&server, "POST", Target::Items(DATABASE, CONTAINER), &headers, &items.body(0, 0))?;
    let answer = servers.ask(&server, "GET", Target::Item(DATABASE, CONTAINER, &id), &headers, "")?;
    servers.stop(server)?;
    Ok(answer)
}

fn write_answer(path: &Path, headers: &[(String, String)], body: &[u8]) -> Result<()> {
    let mut file = std::fs::File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    for (name, value) in headers.iter().filter(|(name, _)| !OWN_HEADERS.contains(&name.as_str())) {
        writeln!(file, "{name}: {value}")?;
    }
    writeln!(file)?;
    file.write_all(body)?;
    Ok(())
}

/// A bare server as a child process. It is killed when it is dropped.
pub(crate) struct BareServer {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl BareServer {
    /// Starts one that answers everything with these headers and this body.
    pub(crate) fn start(setup: &Setup, headers: &[(String, String)], body: &[u8]) -> Result<BareServer> {
        let folder = folder(setup)?;
        let answer = folder.path().join("answer");
        write_answer(&answer, headers, body)?;
        let own = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(own)
            .arg("--bare-server")
            .arg(answer)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the bare server")?;
        let stdout = child.stdout.take().context("the bare server's output is not connected")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let Ok(port) = line.trim().parse() else { bail!("the bare server said '{line}'") };
        Ok(BareServer { child, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)) })
    }

    /// Returns the process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for BareServer {
    fn drop(&mut self) {
        // It may have ended already; there is nothing else to do about it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the bare server answers.
struct Answer {
    headers: HeaderMap,
    body: Bytes,
}

/// Is the bare server, until it is killed.
pub(crate) fn serve(answer: &Path) -> Result<()> {
    let answer = Arc::new(read_answer(answer)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async move {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{}", listener.local_addr()?.port());
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_buf_size(HEADER_BYTES_MAX)
            .pipeline_flush(true);
        let http = Arc::new(http);
        loop {
            let (socket, _) = listener.accept().await?;
            socket.set_nodelay(true)?;
            let (http, answer) = (http.clone(), answer.clone());
            tokio::spawn(async move {
                let service = service_fn(|request| respond(request, answer.clone()));
                // A client that hangs up is no concern of a server that does nothing.
                let _ = http.serve_connection(TokioIo::new(socket), service).await;
            });
        }
    })
}

async fn respond(
    request: Request<Incoming>,
    answer: Arc<Answer>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    // A body is read as the real server has to read it.
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(answer.body.clone()));
    *response.headers_mut() = answer.headers.clone();
    Ok(response)
}

fn read_answer(path: &Path) -> Result<Answer> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let (head, body) = text.split_once("\n\n").context("the answer has no empty line")?;
    let mut headers = HeaderMap::new();
    for line in head.lines() {
        let (name, value) = line.split_once(": ").context("a header has no colon")?;
        headers.append(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    Ok(Answer { headers, body: Bytes::copy_from_slice(body.as_bytes()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_back_from_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer");
        let headers = [("etag", "\"x\""), ("date", "now"), ("lsn", "7")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        write_answer(&path, &headers, b"{\"a\":\n\n1}").unwrap();
        let answer = read_answer(&path).unwrap();
        assert_eq!(answer.body, "{\"a\":\n\n1}");
        assert_eq!(answer.headers.len(), 2);
        assert_eq!(answer.headers["etag"], "\"x\"");
    }
}
