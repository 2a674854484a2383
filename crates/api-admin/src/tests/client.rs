//! A client that signs its requests to the administration and checks of every answer what must hold of all.
//!
//! What the administration is about is made by way of the SQL API beside it, which here lets everybody in.

use std::sync::Arc;
use std::time::Duration;

use armilla_api_sql::{Peer, SqlApi, SqlApiOptions};
use armilla_engine::{Engine, EngineOptions, Policy};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_rest_wire::http_date;
use armilla_rest_wire::signature::AccountKey;
use armilla_value::{Value, json};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};
use http_body_util::{BodyExt, Full};

use crate::{AdminApi, AdminApiOptions};

pub(super) const KEY: &str = "dGhlIGtleSBvZiB0aGUgYWNjb3VudA==";
pub(super) const READ_ONLY_KEY: &str = "cmVhZCBvbmx5";

const RANGES: &str = "/dbs/d/colls/c/pkranges";

pub(super) struct Client {
    admin: AdminApi,
    sql: SqlApi,
    env: Env,
    pub(super) clock: Arc<SimulatedClock>,
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

    /// A text member of the body.
    pub(super) fn member(&self, name: &str) -> String {
        self.json().get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}: {self:?}")).to_owned()
    }

    #[track_caller]
    pub(super) fn expect(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Expects a status with a sub-status, 0 for none.
    #[track_caller]
    pub(super) fn expect_code(self, status: u16, sub_status: u32) -> Answer {
        let found = self.header("x-ms-substatus").map_or(0, |sub| sub.parse().unwrap());
        assert_eq!((self.status, found), (status, sub_status), "{self:?}");
        self
    }
}

impl Client {
    /// An account with the database `d` and in it the container `c` with the partition key `/pk`.
    ///
    /// Nothing is throttled: time stands still unless a test moves it.
    pub(super) async fn with_container() -> Client {
        let (env, clock) = Env::simulated(7);
        let policy = Policy { enforced: false, burst: false };
        let options = EngineOptions { policy, ..EngineOptions::default() };
        let engine = Engine::open(Arc::new(MemoryStore::new()), env.clone(), options).await.unwrap();
        let sql_options = SqlApiOptions { require_auth: false, ..SqlApiOptions::new(KEY) };
        let sql = SqlApi::new(engine.clone(), env.clone(), sql_options).unwrap();
        let mut options = AdminApiOptions::new(KEY);
        options.read_only_keys.push(READ_ONLY_KEY.to_owned());
        let admin = AdminApi::new(engine, env.clone(), options).unwrap();
        let client = Client { admin, sql, env, clock };
        client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
        let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
        client.post("/dbs/d/colls", definition).await.expect(201);
        client
    }

    pub(super) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(Method::POST, path, &[], body).await
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
        map.insert("x-ms-date", HeaderValue::from_str(&self.date()).unwrap());
        if !authorization.is_empty() {
            map.insert("authorization", HeaderValue::from_str(authorization).unwrap());
        }
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let is_ours = AdminApi::serves(path);
        let response = match is_ours {
            true => self.admin.handle(request).await,
            false => self.sql.handle(request, Peer { scheme: "https" }).await,
        };
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        // Only the pieces of a backup are no text.
        let is_text = parts.headers.get("content-type").is_none_or(|kind| kind != "application/octet-stream");
        let text = match is_text {
            true => String::from_utf8(body.to_vec()).unwrap(),
            false => String::from_utf8_lossy(&body).into_owned(),
        };
        let answer = Answer { status: parts.status.as_u16(), headers: parts.headers, text };
        if is_ours {
            check_every_answer(&answer);
        }
        answer
    }

    pub(super) fn date(&self) -> String {
        http_date::format_ms(self.env.clock.now_ms())
    }

    pub(super) fn sign(&self, key: &str, method: &Method, path: &str) -> String {
        let key = AccountKey::new(key).unwrap();
        key.master(method.as_str(), "armilla", &path[1..], &self.date())
    }

    /// Makes a permission for all of the container and returns its token, as it is sent.
    pub(super) async fn token(&self) -> String {
        self.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
        let permission = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
        let permission = self.post("/dbs/d/users/u/permissions", permission).await.expect(201);
        permission.member("_token").replace('&', "%26").replace('=', "%3D").replace('+', "%2B")
    }

    /// Splits or merges, and waits until the map has changed.
    pub(super) async fn reshape(&self, verb: &str, body: &str) -> Answer {
        let before = self.get(RANGES).await.expect(200).header("etag").unwrap().to_owned();
        let path = format!("/_armilla/dbs/d/colls/c/{verb}");
        self.settle(async || {
            let answer = self.post(&path, body).await;
            // What came before may still be tidying up.
            (answer.status != 423).then_some(answer)
        })
        .await
        .expect(202);
        self.settle(async || {
            let map = self.get(RANGES).await.expect(200);
            (map.header("etag") != Some(&before)).then_some(map)
        })
        .await
    }

    /// Lets time pass until something is there.
    async fn settle<T>(&self, mut look: impl AsyncFnMut() -> Option<T>) -> T {
        for _ in 0..10_000 {
            if let Some(found) = look().await {
                return found;
            }
            self.clock.advance(Duration::from_millis(5));
            tokio::task::yield_now().await;
            std::thread::yield_now();
        }
        panic!("it never came");
    }
}

fn check_every_answer(answer: &Answer) {
    for (name, value) in [
        ("x-ms-request-charge", "0.00"),
        ("x-ms-version", "2020-07-15"),
        ("x-ms-gatewayversion", "version=2.14.0"),
        ("x-ms-schemaversion", "1.18"),
        ("x-ms-serviceversion", concat!("version=", env!("CARGO_PKG_VERSION"), ".0")),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}: {answer:?}");
    }
    let activity_id = answer.header("x-ms-activity-id").unwrap();
    assert!(!activity_id.is_empty());
    if answer.status >= 400 {
        let ending = format!("\r\nActivityId: {activity_id}, armilla/{}", env!("CARGO_PKG_VERSION"));
        assert!(answer.member("message").ends_with(&ending), "{answer:?}");
        assert!(!answer.member("code").is_empty());
    }
    if answer.text.is_empty() {
        assert_eq!(answer.header("content-type"), None);
    } else if answer.header("content-type") != Some("application/octet-stream") {
        assert_eq!(answer.header("content-type"), Some("application/json"));
        answer.json();
    }
}
