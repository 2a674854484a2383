//! A client that signs its requests and checks of every answer what must hold of all.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use armilla_engine::{Caller, ContainerHandle, Engine, EngineOptions, Policy};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_rest_wire::signature::AccountKey;
use armilla_value::{Value, json};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt, Full};

use crate::{Flavour, Peer, TableApi, TableApiOptions};

pub(super) const KEY: &str = armilla_rest_wire::well_known::COSMOS_KEY;
pub(super) const READ_ONLY_KEY: &str = "cmVhZCBvbmx5";
pub(super) const DATE: &str = "Tue, 14 Nov 2023 22:13:20 GMT";

/// Both of them.
pub(super) const FLAVOURS: [Flavour; 2] = [Flavour::Cosmos, Flavour::Storage];

pub(super) struct Client {
    pub(super) api: TableApi,
    pub(super) clock: Arc<SimulatedClock>,
    pub(super) engine: Engine,
    pub(super) flavour: Flavour,
}

/// An answer, after the checks that hold of all answers.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(super) fn json(&self) -> Value {
        json::parse(self.text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(super) fn etag(&self) -> String {
        self.header("etag").unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }

    /// A member of each entry of a page, as text.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let body = self.json();
        let entries = body.get("value").and_then(Value::as_array).unwrap_or_else(|| panic!("{self:?}"));
        let text = |entry: &Value| match entry.get(name) {
            Some(Value::String(text)) => text.clone(),
            other => format!("{other:?}"),
        };
        entries.iter().map(text).collect()
    }

    /// A member of the body, as JSON.
    pub(super) fn member(&self, name: &str) -> Option<String> {
        self.json().get(name).map(json::to_string)
    }

    pub(super) fn code(&self) -> String {
        self.header("x-ms-error-code").unwrap_or_default().to_owned()
    }

    /// The words of a failure.
    pub(super) fn message(&self) -> String {
        let body = self.json();
        let error = body.get("odata.error").and_then(|error| error.get("message"));
        error.and_then(|message| message.get("value")).and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(super) fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    #[track_caller]
    pub(super) fn expect_code(self, status: u16, code: &str) -> Answer {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{self:?}");
        self
    }

    /// The parts of a batch's answer: status, headers and body of each.
    pub(super) fn parts(&self) -> Vec<(u16, String, String)> {
        assert_eq!(self.status, 202, "{self:?}");
        let mut parts = Vec::new();
        for part in self.text.split("HTTP/1.1 ").skip(1) {
            let (head, body) = part.split_once("\r\n\r\n").unwrap();
            let body = body.split("\r\n").next().unwrap();
            parts.push((head[..3].parse().unwrap(), head.to_owned(), body.to_owned()));
        }
        parts
    }
}

impl Client {
    pub(super) async fn new(flavour: Flavour) -> Client {
        Client::with_options(flavour, |_| {}).await
    }

    /// Nothing is throttled: time stands still unless a test moves it.
    pub(super) async fn with_options(flavour: Flavour, change: fn(&mut TableApiOptions)) -> Client {
        let policy = Policy { enforced: false, burst: false };
        Client::with_engine(flavour, change, EngineOptions { policy, ..EngineOptions::default() }).await
    }

    pub(super) async fn with_engine(
        flavour: Flavour,
        change: fn(&mut TableApiOptions),
        engine_options: EngineOptions,
    ) -> Client {
        let (env, clock) = Env::simulated(7);
        let engine = Engine::open(Arc::new(MemoryStore::new()), env.clone(), engine_options).await.unwrap();
        let mut options = TableApiOptions::new(KEY);
        options.read_only_keys.push(READ_ONLY_KEY.to_owned());
        options.flavour = flavour;
        options.storage_emulator_account = true;
        change(&mut options);
        let api = TableApi::new(engine.clone(), env, options).unwrap();
        Client { api, clock, engine, flavour }
    }

    /// The same account through the listener of the other flavour.
    pub(super) fn of_flavour(&self, flavour: Flavour) -> Client {
        let (engine, clock) = (self.engine.clone(), self.clock.clone());
        Client { api: self.api.in_flavour(flavour), clock, engine, flavour }
    }

    /// With a table of this name.
    pub(super) async fn with_table(flavour: Flavour, name: &str) -> Client {
        let client = Client::new(flavour).await;
        client.create_table(name).await;
        client
    }

    pub(super) async fn create_table(&self, name: &str) {
        self.post("/Tables", &format!(r#"{{"TableName":"{name}"}}"#)).await.expect(201);
    }

    /// The container that a table is.
    pub(super) fn container(&self, table: &str) -> Arc<ContainerHandle> {
        self.engine.container("TablesDB", table).unwrap().container
    }

    /// What a query of the SQL kind finds in a table, joined by commas.
    pub(super) async fn sql(&self, table: &str, query: &str) -> String {
        let request = armilla_engine::QueryRequest::new(query);
        let page = self.engine.query_items(&Caller::full(), &self.container(table), request).await.unwrap();
        String::from_utf8(page.rows).unwrap()
    }

    pub(super) async fn get(&self, target: &str) -> Answer {
        self.send(Method::GET, target, &[], "").await
    }

    pub(super) async fn post(&self, target: &str, body: &str) -> Answer {
        self.send(Method::POST, target, &[], body).await
    }

    pub(super) async fn insert(&self, table: &str, body: &str) -> Answer {
        self.send(Method::POST, &format!("/{table}"), &[("prefer", "return-no-content")], body).await
    }

    pub(super) async fn delete(&self, target: &str) -> Answer {
        self.send(Method::DELETE, target, &[("if-match", "*")], "").await
    }

    /// Sends a request signed with the account's key.
    pub(super) async fn send(
        &self,
        method: Method,
        target: &str,
        headers: &[(&'static str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let content_type =
            headers.iter().find(|(name, _)| *name == "content-type").map_or("", |(_, value)| value);
        let authorization = authorization(KEY, "localhost", &method, target, content_type);
        self.send_as(&authorization, method, target, headers, body).await
    }

    /// Sends a request with an `Authorization` header as given; an empty one is left out.
    pub(super) async fn send_as(
        &self,
        authorization: &str,
        method: Method,
        target: &str,
        headers: &[(&'static str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(body.as_ref())));
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().unwrap_or_else(|error| panic!("{error}: {target}"));
        let map = request.headers_mut();
        map.insert("host", HeaderValue::from_static("localhost:8902"));
        map.insert("x-ms-date", HeaderValue::from_static(DATE));
        map.insert("x-ms-client-request-id", HeaderValue::from_static("theirs"));
        if !authorization.is_empty() {
            map.insert("authorization", HeaderValue::from_str(authorization).unwrap());
        }
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let peer = Peer { scheme: "http", address: IpAddr::V4(Ipv4Addr::LOCALHOST) };
        let response = self.api.handle(request, peer).await;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let answer = Answer { status: parts.status.as_u16(), headers: parts.headers, text };
        check_every_answer(&answer, self.flavour);
        answer
    }
}

/// Signs a request as some clients do.
pub(super) fn authorization(
    key: &str,
    account: &str,
    method: &Method,
    target: &str,
    content_type: &str,
) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let component = query.split('&').find(|pair| pair.starts_with("comp="));
    let component = component.map(|pair| format!("?{pair}")).unwrap_or_default();
    let text = format!("{method}\n\n{content_type}\n{DATE}\n/{account}{path}{component}");
    format!("SharedKey {account}:{}", sign(key, &text))
}

/// Signs a text.
pub(super) fn sign(key: &str, text: &str) -> String {
    AccountKey::new(key).unwrap().sign(text.as_bytes())
}

fn check_every_answer(answer: &Answer, flavour: Flavour) {
    assert_eq!(answer.header("x-ms-request-id").map(str::len), Some(36), "{answer:?}");
    assert_eq!(answer.header("x-ms-client-request-id"), Some("theirs"));
    assert_eq!(answer.header("x-ms-version").is_some(), flavour == Flavour::Storage);
    assert_eq!(answer.header("x-ms-error-code").is_some(), answer.status >= 400, "{answer:?}");
    assert_eq!(answer.header("x-ms-retry-after-ms").is_some(), answer.status == 429, "{answer:?}");
    assert_eq!(answer.text.is_empty(), answer.header("content-type").is_none(), "{answer:?}");
    if answer.status == 204 {
        assert_eq!(answer.text, "");
    }
    if answer.status >= 400 {
        assert!(answer.text.contains(&answer.code()), "{answer:?}");
        assert!(answer.text.contains(answer.header("x-ms-request-id").unwrap()), "{answer:?}");
    }
    if answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        answer.json();
    }
    if let Some(token) = answer.header("x-ms-continuation-nextpartitionkey") {
        assert!(!token.is_empty());
        assert!(answer.header("x-ms-continuation-nextrowkey").is_some());
    }
}
