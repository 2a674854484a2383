//! A client that signs its requests, with a simulated clock.

use std::sync::Arc;
use std::time::Duration;

use armilla_env::{Env, SimulatedClock};
use armilla_rest_wire::http_date;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response};
use http_body_util::Full;

use crate::answer::Answer;
use crate::checks::check;
use crate::signing::sign;

/// Where the ranges of the container are told in which most tests work.
const RANGES: &str = "/dbs/d/colls/c/pkranges";

/// The front ends behind a port.
pub trait Port {
    /// Answers a request.
    fn handle(&self, request: Request<Full<Bytes>>) -> impl Future<Output = Response<Full<Bytes>>> + Send;
}

/// A client of an account.
pub struct Client<P> {
    port: P,
    key: &'static str,
    env: Env,
    /// The account's clock, which stands still unless a test moves it.
    pub clock: Arc<SimulatedClock>,
}

impl<P: Port> Client<P> {
    /// Returns a client that signs with a key.
    pub fn new(port: P, key: &'static str, env: Env, clock: Arc<SimulatedClock>) -> Client<P> {
        Client { port, key, env, clock }
    }

    /// Returns the time of the account.
    pub fn now_ms(&self) -> i64 {
        self.env.clock.now_ms()
    }

    /// Returns the date that requests have.
    pub fn date(&self) -> String {
        http_date::format_ms(self.now_ms())
    }

    /// Returns the `Authorization` header of a request now.
    pub fn sign(&self, key: &str, method: &Method, path: &str) -> String {
        sign(key, method.as_str(), path, &self.date())
    }

    /// Sends a GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    /// Sends a DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, &[], "").await
    }

    /// Sends a POST.
    pub async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(Method::POST, path, &[], body).await
    }

    /// Sends a PUT.
    pub async fn put(&self, path: &str, body: &str) -> Answer {
        self.send(Method::PUT, path, &[], body).await
    }

    /// Sends a request signed with the account's key.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let authorization = self.sign(self.key, &method, path);
        self.send_as(&authorization, method, path, headers, body).await
    }

    /// Sends a request with an `Authorization` header as given; an empty one is left out.
    pub async fn send_as(
        &self,
        authorization: &str,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let value = |text: &str| HeaderValue::from_bytes(text.as_bytes()).expect("a header holds the text");
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(body.as_ref())));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
        let map = request.headers_mut();
        map.insert("host", HeaderValue::from_static("localhost:8081"));
        map.insert("x-ms-date", value(&self.date()));
        if !authorization.is_empty() {
            map.insert("authorization", value(authorization));
        }
        for (name, text) in headers {
            map.insert(HeaderName::from_static(name), value(text));
        }
        self.exchange(request).await
    }

    /// Sends a request as it is.
    pub async fn exchange(&self, request: Request<Full<Bytes>>) -> Answer {
        let path = request.uri().path().to_owned();
        let answer = Answer::read(self.port.handle(request).await).await;
        check(&path, &answer);
        answer
    }

    /// Splits or merges partitions of the container `c` in the database `d`, and waits until its map has changed.
    pub async fn reshape(&self, verb: &str, body: &str) -> Answer {
        let etag = |map: &Answer| map.header("etag").map(str::to_owned);
        let before = etag(&self.get(RANGES).await.expect(200));
        let path = format!("/_armilla/dbs/d/colls/c/{verb}");
        let begun = self.wait_for(async || {
            let answer = self.post(&path, body).await;
            // What came before may still be tidying up.
            (answer.status != 423).then_some(answer)
        });
        begun.await.expect(202);
        let changed = self.wait_for(async || {
            let map = self.get(RANGES).await.expect(200);
            (etag(&map) != before).then_some(map)
        });
        changed.await
    }

    /// Lets time pass until something is there.
    pub async fn wait_for<T>(&self, mut look: impl AsyncFnMut() -> Option<T>) -> T {
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
