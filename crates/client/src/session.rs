//! One connection to a server, kept, with one request at a time.
//!
//! Invariants:
//! * a connection on which something went wrong is not used again;
//! * a request is sent again if the server refused it for its rate, within the session's patience, and if a kept
//!   connection turns out to be closed before anything of it was sent; a GET also if it was sent.

use std::sync::Arc;
use std::time::Duration;

use armilla_rest_wire::http_date::RequestDate;
use armilla_rest_wire::names;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::Full;

use crate::client::Shared;
use crate::connection::{Answer, Broken, Connection};
use crate::failure::{self, Failure, Refusal};
use crate::limits::{THROTTLE_WAIT_DEFAULT, THROTTLE_WAIT_MAX};
use crate::question::Question;

/// The version of the API that is spoken.
const API_VERSION: HeaderValue = HeaderValue::from_static("2020-07-15");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What the server did.
#[derive(Debug, Clone)]
pub struct Done {
    /// The status: 2xx, or 304.
    pub status: StatusCode,
    /// The body.
    pub body: Bytes,
    /// What it cost, in request units.
    pub charge: f64,
    /// What the next page begins with, if there is one.
    pub continuation: Option<String>,
    /// All headers.
    pub headers: HeaderMap,
    /// How long the answer took, from the moment that it was asked for. Refusals for the rate and waiting for their
    /// end are not in it.
    pub took: Duration,
    /// How often it was refused for its rate before it was done.
    pub throttled: u32,
}

impl Done {
    /// Returns the entity tag, with its quotes.
    pub fn etag(&self) -> Option<&str> {
        failure::text(&self.headers, &header::ETAG)
    }
}

/// One connection to a server, kept, with one request at a time.
pub struct Session {
    pub(crate) shared: Arc<Shared>,
    connection: Option<Connection>,
    patience: Duration,
    date: RequestDate,
    /// Room for what is signed.
    signed: Vec<u8>,
}

impl Session {
    pub(crate) fn new(shared: Arc<Shared>, patience: Duration) -> Session {
        Session {
            shared,
            connection: None,
            patience,
            date: RequestDate::new(0),
            signed: Vec::with_capacity(256),
        }
    }

    /// Sets for how long a request is sent again that is refused for its rate; with zero, the first refusal counts.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Session {
        self.patience = patience;
        self
    }

    /// Opens the connection, if it is not open yet.
    pub async fn connect(&mut self) -> Result<(), Failure> {
        if !self.connection.as_mut().is_some_and(Connection::is_open) {
            let opening = Connection::open(&self.shared.endpoint, &self.shared.trust);
            self.connection = Some(opening.await.map_err(Failure::Lost)?);
        }
        Ok(())
    }

    /// Asks until it is done or refused for another reason than its rate.
    pub async fn carry_out(&mut self, question: &Question) -> Result<Done, Failure> {
        let mut throttled = 0;
        let mut waited = Duration::ZERO;
        loop {
            let start = self.shared.env.clock.elapsed();
            let answer = self.ask(question).await?;
            if answer.status == StatusCode::TOO_MANY_REQUESTS {
                let wait = failure::retry_after(&answer.headers).unwrap_or(THROTTLE_WAIT_DEFAULT);
                let wait = wait.clamp(Duration::from_millis(1), THROTTLE_WAIT_MAX);
                if waited + wait <= self.patience {
                    throttled += 1;
                    waited += wait;
                    self.shared.env.clock.sleep(wait).await;
                    continue;
                }
            }
            let took = self.shared.env.clock.elapsed().saturating_sub(start);
            if !answer.status.is_success() && answer.status != StatusCode::NOT_MODIFIED {
                return Err(Failure::Refused(Box::new(Refusal::of(&answer, throttled))));
            }
            let Answer { status, headers, body } = answer;
            return Ok(Done {
                status,
                body,
                charge: failure::charge(&headers),
                continuation: failure::text(&headers, &names::CONTINUATION).map(str::to_owned),
                headers,
                took,
                throttled,
            });
        }
    }

    /// Asks once, and returns whatever the server answered.
    pub async fn ask(&mut self, question: &Question) -> Result<Answer, Failure> {
        let mut request = self.request(question)?;
        let kept = self.connection.take().and_then(|mut kept| kept.is_open().then_some(kept));
        let shared = self.shared.clone();
        let endpoint = &shared.endpoint;
        let asking = async {
            if let Some(mut kept) = kept {
                match kept.exchange(request, endpoint).await {
                    Ok(answer) => return Ok((answer, kept)),
                    Err(Broken::Sent(error)) if question.method != Method::GET => {
                        return Err(Failure::Lost(error));
                    }
                    Err(Broken::Unsent | Broken::Sent(_)) => {}
                }
                request = self.request(question)?;
            }
            let mut new = Connection::open(endpoint, &shared.trust).await.map_err(Failure::Lost)?;
            match new.exchange(request, endpoint).await {
                Ok(answer) => Ok((answer, new)),
                Err(Broken::Sent(error)) => Err(Failure::Lost(error)),
                Err(Broken::Unsent) => {
                    Err(Failure::Lost(anyhow::anyhow!("the server at {endpoint} hung up")))
                }
            }
        };
        let (answer, used) = tokio::select! {
            biased;
            answered = asking => answered?,
            () = shared.env.clock.sleep(question.timeout) => {
                let seconds = question.timeout.as_secs();
                return Err(Failure::Lost(anyhow::anyhow!(
                    "the server at {endpoint} did not answer in {seconds} s"
                )));
            }
        };
        self.connection = Some(used);
        Ok(answer)
    }

    /// Signs a question as of now.
    fn request(&mut self, question: &Question) -> Result<Request<Full<Bytes>>, Failure> {
        let shared = &self.shared;
        self.date.move_to(shared.env.clock.now_seconds());
        let Question { method, resource_type, link, .. } = question;
        let (verb, date) = (method.as_str(), self.date.text());
        let authorization = shared.key.master_header(verb, resource_type, link, date, &mut self.signed);
        let uri = Uri::try_from(question.path.as_str()).map_err(|error| {
            Failure::Malformed(anyhow::anyhow!("no path of a request: {} ({error})", question.path))
        })?;
        let mut request = Request::new(Full::new(question.body.clone()));
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.reserve(6 + question.headers.len());
        headers.insert(header::HOST, shared.host.clone());
        headers.insert(names::MS_DATE.clone(), self.date.header());
        headers.insert(names::VERSION.clone(), API_VERSION);
        headers.insert(header::AUTHORIZATION, authorization);
        if !question.body.is_empty() {
            headers.insert(header::CONTENT_TYPE, JSON);
        }
        for (name, value) in &question.headers {
            headers.insert(name.clone(), value.clone());
        }
        Ok(request)
    }
}
