//! A client that signs its requests and checks of every answer what must hold of all.

use std::sync::Arc;

use armilla_api_admin::{AdminApi, AdminApiOptions};
use armilla_engine::{Engine, EngineOptions, Policy, WorkerStart};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::{http_date, percent};
use armilla_value::{Value, json};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt, Full};

use crate::request::auth::{Keys, SignedDate, string_to_sign};
use crate::request::path;
use crate::{Peer, SqlApi, SqlApiOptions};

pub(super) const KEY: &str = armilla_rest_wire::well_known::COSMOS_KEY;
pub(super) const READ_ONLY_KEY: &str = "cmVhZCBvbmx5";

pub(super) struct Client {
    pub(super) api: SqlApi,
    /// Splits and merges, which the server has at the same port.
    admin: AdminApi,
    pub(super) clock: Arc<SimulatedClock>,
    env: Env,
    store: Arc<MemoryStore>,
    options: (SqlApiOptions, EngineOptions),
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

    /// The status with the sub-status, 0 if there is none.
    pub(super) fn code(&self) -> (u16, u32) {
        (self.status, self.header("x-ms-substatus").map_or(0, |sub| sub.parse().unwrap()))
    }

    pub(super) fn json(&self) -> Value {
        json::parse(self.text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// A text member of the body.
    pub(super) fn member(&self, name: &str) -> String {
        self.json().get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}: {self:?}")).to_owned()
    }

    /// A whole number in the body.
    pub(super) fn number(&self, name: &str) -> i64 {
        self.json().get(name).and_then(Value::as_i64).unwrap_or_else(|| panic!("{name}: {self:?}"))
    }

    /// The ids of the entries of a feed.
    pub(super) fn ids(&self, feed: &str) -> Vec<String> {
        let body = self.json();
        let entries = body.get(feed).and_then(Value::as_array).unwrap_or_else(|| panic!("{feed}: {self:?}"));
        assert_eq!(self.number("_count"), entries.len() as i64);
        assert_eq!(self.header("x-ms-item-count"), Some(entries.len().to_string().as_str()));
        entries.iter().map(|entry| entry.get("id").and_then(Value::as_str).unwrap().to_owned()).collect()
    }

    #[track_caller]
    pub(super) fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    #[track_caller]
    pub(super) fn expect_code(self, status: u16, sub_status: u32) -> Answer {
        assert_eq!(self.code(), (status, sub_status), "{self:?}");
        self
    }
}

/// The usual options, but for how scripts run: a test program cannot be its own worker.
pub(super) fn usual() -> EngineOptions {
    EngineOptions {
        script_workers: WorkerStart::Thread(armilla_script_worker::serve),
        ..EngineOptions::default()
    }
}

fn administration(engine: &Engine, env: &Env) -> AdminApi {
    AdminApi::new(engine.clone(), env.clone(), AdminApiOptions::new(KEY)).unwrap()
}

impl Client {
    pub(super) async fn new() -> Client {
        let mut options = SqlApiOptions::new(KEY);
        options.read_only_keys.push(READ_ONLY_KEY.to_owned());
        Client::with_options(options).await
    }

    /// Nothing is throttled: time stands still unless a test moves it.
    pub(super) async fn with_options(options: SqlApiOptions) -> Client {
        let policy = Policy { enforced: false, burst: false };
        Client::with_engine(options, EngineOptions { policy, ..usual() }).await
    }

    pub(super) async fn with_engine(options: SqlApiOptions, engine_options: EngineOptions) -> Client {
        let (env, clock) = Env::simulated(7);
        let store = Arc::new(MemoryStore::new());
        let engine = Engine::open(store.clone(), env.clone(), engine_options.clone()).await.unwrap();
        let admin = administration(&engine, &env);
        let api = SqlApi::new(engine, env.clone(), options.clone()).unwrap();
        Client { api, admin, clock, env, store, options: (options, engine_options) }
    }

    /// The same account, opened again.
    pub(super) async fn reopen(self) -> Client {
        let (options, engine_options) = self.options.clone();
        let engine = Engine::open(self.store.clone(), self.env.clone(), engine_options).await.unwrap();
        let admin = administration(&engine, &self.env);
        let api = SqlApi::new(engine, self.env.clone(), options).unwrap();
        Client { api, admin, ..self }
    }

    /// The engine behind the API.
    pub(super) fn engine(&self) -> &Engine {
        &self.api.shared.engine
    }

    /// Makes the database `d` and in it the container `c` with the partition key `/pk`.
    pub(super) async fn with_container() -> Client {
        let client = Client::new().await;
        client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
        let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
        client.post("/dbs/d/colls", definition).await.expect(201);
        client
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    pub(super) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, &[], "").await
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(Method::POST, path, &[], body).await
    }

    pub(super) async fn put(&self, path: &str, body: &str) -> Answer {
        self.send(Method::PUT, path, &[], body).await
    }

    /// Sends a request signed with the account's key.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let authorization = self.sign(KEY, &method, path);
        self.send_as(&authorization, method, path, headers, body).await
    }

    /// Sends a request with an `Authorization` header as given; an empty one is left out.
    pub(super) async fn send_as(
        &self,
        authorization: &str,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(body.as_ref())));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap();
        let map = request.headers_mut();
        map.insert("host", HeaderValue::from_static("localhost:8081"));
        map.insert("x-ms-date", HeaderValue::from_str(&self.date()).unwrap());
        if !authorization.is_empty() {
            map.insert("authorization", HeaderValue::from_str(authorization).unwrap());
        }
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        self.exchange(request).await
    }

    pub(super) async fn exchange(&self, request: Request<Full<Bytes>>) -> Answer {
        let response = match AdminApi::serves(request.uri().path()) {
            true => self.admin.handle(request).await,
            false => self.api.handle(request, Peer { scheme: "https" }).await,
        };
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        let answer = Answer { status: parts.status.as_u16(), headers: parts.headers, text };
        check_every_answer(&answer);
        answer
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.env.clock.now_ms()
    }

    pub(super) fn date(&self) -> String {
        http_date::format_ms(self.now_ms())
    }

    pub(super) fn sign(&self, key: &str, method: &Method, path: &str) -> String {
        let date = self.date();
        if AdminApi::serves(path) {
            return sign(key, method.as_str(), "armilla", &path[1..], &date);
        }
        let mut headers = HeaderMap::new();
        headers.insert("x-ms-date", HeaderValue::from_str(&date).unwrap());
        let now_ms = self.env.clock.now_ms();
        let date = SignedDate::of(&headers, now_ms, std::time::Duration::from_secs(1)).unwrap();
        // What cannot be parsed cannot be signed; the server finds out before it looks at the signature.
        let path = path.split('?').next().unwrap_or_default();
        let text = match path::parse(path) {
            Ok(address) => string_to_sign(method, &address, |text| address.push_name_link(text), &date),
            Err(_) => Vec::new(),
        };
        let signature = Keys::new([key], []).unwrap().sign(&text);
        percent::encode(&format!("type=master&ver=1.0&sig={signature}")).to_string()
    }
}

/// Signs a request as clients do.
pub(super) fn sign(key: &str, verb: &str, resource_type: &str, link: &str, date: &str) -> String {
    AccountKey::new(key).unwrap().master(verb, resource_type, link, date)
}

fn check_every_answer(answer: &Answer) {
    for name in [
        "x-ms-activity-id",
        "x-ms-request-charge",
        "x-ms-version",
        "x-ms-gatewayversion",
        "x-ms-serviceversion",
        "x-ms-schemaversion",
    ] {
        assert!(answer.header(name).is_some_and(|value| !value.is_empty()), "{name}: {answer:?}");
    }
    let charge = answer.header("x-ms-request-charge").unwrap();
    assert_eq!(charge.split_once('.').map(|(_, decimals)| decimals.len()), Some(2), "{charge}");
    assert!(charge.parse::<f64>().unwrap() >= 0.0);
    if answer.status >= 400 {
        assert!(answer.member("message").contains("ActivityId: "), "{answer:?}");
        assert!(!answer.member("code").is_empty());
    }
    assert_eq!(answer.header("x-ms-retry-after-ms").is_some(), answer.status == 429, "{answer:?}");
    if matches!(answer.status, 204 | 304) {
        assert_eq!(answer.text, "");
    }
    if answer.text.is_empty() {
        assert_eq!(answer.header("content-type"), None);
    } else {
        assert_eq!(answer.header("content-type"), Some("application/json"));
        answer.json();
    }
    if let Some(token) = answer.header("x-ms-session-token") {
        assert!(token.contains(":-1#"), "{token}");
        for name in
            ["lsn", "x-ms-documentdb-partitionkeyrangeid", "x-ms-content-path", "x-ms-alt-content-path"]
        {
            assert!(answer.header(name).is_some(), "{name}: {answer:?}");
        }
        // Those who see a part of a container are told neither.
        let told = |name| answer.header(name).is_some();
        assert_eq!(told("x-ms-resource-quota"), told("x-ms-resource-usage"), "{answer:?}");
    }
}
