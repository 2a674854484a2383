//! Asks a running server, for the commands that do.
//!
//! Most commands ask seldom: one connection for each request. Who asks often keeps the connection. Every request
//! is signed with a key of the account. Over https a server on this machine may show any certificate; a server
//! elsewhere must show the one given.

mod connection;
mod endpoint;
mod listing;
mod trust;

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_env::Env;
use armilla_value::json;
use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;

use crate::client_options::ServerOptions;
use crate::config_file;
use crate::limits::COMMAND_TIMEOUT;
use crate::options::Options;
use crate::settings::{PORT, WELL_KNOWN_KEY};

pub(crate) use connection::{Answer, Connection};
use endpoint::Endpoint;
pub(crate) use endpoint::segment;
pub(crate) use listing::{ContainerRow, Listing, PartitionRow};

/// The type of the resources that only we have, as it is signed.
const RESOURCE_TYPE: &str = "armilla";

/// A server and the key to it.
pub(crate) struct Client {
    endpoint: Endpoint,
    key: String,
    trust: trust::Trust,
    env: Env,
}

/// What is asked of a server.
pub(crate) struct Question {
    pub(crate) method: Method,
    pub(crate) path: String,
    /// What is signed: the type of the resource, and which one.
    pub(crate) resource_type: &'static str,
    pub(crate) link: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Bytes,
    /// How long the server may take.
    pub(crate) timeout: Duration,
}

impl Client {
    /// Takes the options, and those of the file they name.
    pub(crate) fn new(options: &ServerOptions, env: Env) -> Result<Client> {
        let file = match &options.config {
            Some(path) => config_file::read(path)?,
            None => Options::default(),
        };
        let endpoint = match &options.endpoint {
            Some(url) => Endpoint::parse(url)?,
            None => Endpoint::local(file.port.unwrap_or(PORT)),
        };
        let key = options.key.clone().or(file.key).unwrap_or_else(|| WELL_KNOWN_KEY.to_owned());
        let trust = trust::Trust::new(options.cacert.as_deref())?;
        Ok(Client { endpoint, key, trust, env })
    }

    /// Returns what the server's partitions hold and serve, as the JSON it sent.
    pub(crate) async fn partitions_text(&self) -> Result<Bytes> {
        let answer = self.ask(Method::GET, "/_armilla/partitions", Bytes::new()).await?;
        if answer.status == StatusCode::NOT_FOUND {
            bail!(
                "the server at {} has no partitions to show: is it armilla, and new enough?",
                self.endpoint
            );
        }
        self.expect(answer, StatusCode::OK)
    }

    /// Returns what the server's partitions hold and serve.
    pub(crate) async fn partitions(&self) -> Result<Listing> {
        let text = self.partitions_text().await?;
        let value = json::parse(&text)
            .map_err(|error| anyhow!("the server at {} answered no JSON: {error}", self.endpoint))?;
        Listing::read(&value)
            .with_context(|| format!("cannot read the answer of the server at {}", self.endpoint))
    }

    /// Asks for a split or merge; returns once it has begun.
    pub(crate) async fn reshape(
        &self,
        database: &str,
        container: &str,
        verb: &str,
        body: String,
    ) -> Result<()> {
        let path = format!("/_armilla/dbs/{}/colls/{}/{verb}", segment(database), segment(container));
        let answer = self.ask(Method::POST, &path, body.into()).await?;
        self.expect(answer, StatusCode::ACCEPTED).map(|_| ())
    }

    /// Returns the body of an answer with this status; others become errors that say what to do.
    pub(crate) fn expect(&self, answer: Answer, status: StatusCode) -> Result<Bytes> {
        if answer.status == status {
            return Ok(answer.body);
        }
        let said = message(&answer.body).unwrap_or_else(|| answer.status.to_string());
        match answer.status {
            StatusCode::UNAUTHORIZED => bail!(
                "the server at {} does not take this key: give the account key with --key or ARMILLA_KEY",
                self.endpoint
            ),
            StatusCode::FORBIDDEN => bail!("the server at {} does not allow it: {said}", self.endpoint),
            StatusCode::GONE => {
                bail!("the range is gone, `armilla partitions` shows those there are: {said}")
            }
            StatusCode::LOCKED => bail!("something else is changing the partitions, try again later: {said}"),
            status if status.is_client_error() => bail!("{said}"),
            status => bail!("the server at {} answered {}: {said}", self.endpoint, status.as_u16()),
        }
    }

    /// Asks for one of the resources that only we have, over a connection of its own.
    async fn ask(&self, method: Method, path: &str, body: Bytes) -> Result<Answer> {
        let question = Question {
            method,
            path: path.to_owned(),
            resource_type: RESOURCE_TYPE,
            link: path.trim_start_matches('/').to_owned(),
            headers: Vec::new(),
            body,
            timeout: COMMAND_TIMEOUT,
        };
        self.ask_over(&mut None, &question).await
    }

    /// Asks over the connection that is there, or over a new one, and leaves it there if it can be used again.
    ///
    /// A question may be sent twice, if a connection turns out to be closed that was open before.
    pub(crate) async fn ask_over(
        &self,
        connection: &mut Option<Connection>,
        question: &Question,
    ) -> Result<Answer> {
        let kept = connection.take().filter(Connection::is_open);
        let (answer, used) = tokio::select! {
            answered = self.ask_patiently(kept, question) => answered?,
            () = self.env.clock.sleep(question.timeout) => {
                bail!("the server at {} did not answer in {} s", self.endpoint, question.timeout.as_secs())
            }
        };
        *connection = Some(used);
        Ok(answer)
    }

    /// Returns the answer and the connection over which it came.
    async fn ask_patiently(
        &self,
        kept: Option<Connection>,
        question: &Question,
    ) -> Result<(Answer, Connection)> {
        if let Some(mut kept) = kept
            && let Ok(answer) = kept.exchange(self.request(question)?, &self.endpoint).await
        {
            return Ok((answer, kept));
        }
        let mut new = Connection::open(&self.endpoint, &self.trust).await?;
        let answer = new.exchange(self.request(question)?, &self.endpoint).await?;
        Ok((answer, new))
    }

    /// Signs a question as of now.
    fn request(&self, question: &Question) -> Result<Request<Full<Bytes>>> {
        let now = u64::try_from(self.env.clock.now_seconds()).unwrap_or(0);
        let date = httpdate::fmt_http_date(std::time::UNIX_EPOCH + Duration::from_secs(now));
        let Question { method, resource_type, link, .. } = question;
        let authorization = armilla_api_sql::sign(&self.key, method.as_str(), resource_type, link, &date)
            .context("cannot sign with this key")?;
        let mut builder = Request::builder()
            .method(method)
            .uri(&question.path)
            .header(header::HOST, self.endpoint.authority())
            .header("x-ms-date", date)
            .header(header::AUTHORIZATION, authorization)
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in &question.headers {
            builder = builder.header(*name, value);
        }
        builder.body(Full::new(question.body.clone())).context("cannot make a request of this name")
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.endpoint.fmt(f)
    }
}

/// The message of a failure, on one line, without what the service's clients expect around it.
pub(crate) fn message(body: &[u8]) -> Option<String> {
    let value = json::parse(body).ok()?;
    let text = value.get("message")?.as_str()?;
    let line = text.lines().next()?.trim();
    let wrapped = line.strip_prefix("Message: ").and_then(|rest| json::parse(rest.as_bytes()).ok());
    let first = wrapped.as_ref().and_then(|errors| errors.get("Errors")?.as_array()?.first()?.as_str());
    Some(first.unwrap_or(line).replace('\n', " ")).filter(|said| !said.is_empty())
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn client(options: &ServerOptions) -> Client {
        Client::new(options, Env::system()).unwrap()
    }

    #[test]
    fn answers_say_what_to_do() {
        let client = client(&ServerOptions::default());
        for (status, body, expected) in [
            (401, r#"{"code":"Unauthorized","message":"no"}"#, "--key or ARMILLA_KEY"),
            (403, r#"{"message":"the key is for reading"}"#, "does not allow it: the key is for reading"),
            (404, r#"{"message":"no container c\r\nActivityId: 1"}"#, "no container c"),
            (400, r#"{"message":"Message: {\"Errors\":[\"No \\\"x\\\".\"]}\r\nActivityId: 1"}"#, "No \"x\"."),
            (
                410,
                r#"{"message":"range 7"}"#,
                "the range is gone, `armilla partitions` shows those there are: range 7",
            ),
            (423, r#"{"message":"being split"}"#, "try again later: being split"),
            (500, "<html>", "http://localhost:8081/ answered 500: 500 Internal Server Error"),
            (200, "", "answered 200: 200 OK"),
        ] {
            let answer = Answer {
                status: StatusCode::from_u16(status).unwrap(),
                headers: HeaderMap::new(),
                body: body.into(),
            };
            let error = client.expect(answer, StatusCode::ACCEPTED).unwrap_err().to_string();
            assert!(error.ends_with(expected), "{status}: {error}");
        }
        let answer = Answer { status: StatusCode::ACCEPTED, headers: HeaderMap::new(), body: Bytes::new() };
        assert!(client.expect(answer, StatusCode::ACCEPTED).is_ok());
    }

    #[test]
    fn port_and_key_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("armilla.toml");
        std::fs::write(&path, "port = 9000\nkey = \"AAAA\"\n").unwrap();
        let of_file = client(&ServerOptions { config: Some(path.clone()), ..Default::default() });
        assert_eq!(
            (of_file.endpoint.to_string().as_str(), of_file.key.as_str()),
            ("http://localhost:9000/", "AAAA")
        );
        let given = client(&ServerOptions {
            config: Some(path),
            endpoint: Some("https://[::1]:1/".to_owned()),
            key: Some("BBBB".to_owned()),
            cacert: None,
        });
        assert_eq!((given.endpoint.to_string().as_str(), given.key.as_str()), ("https://[::1]:1/", "BBBB"));
        let neither = client(&ServerOptions::default());
        assert_eq!(neither.key, WELL_KNOWN_KEY);
    }
}
