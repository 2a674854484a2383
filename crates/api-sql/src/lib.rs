//! The SQL (NoSQL) REST API as a front end over the engine: requests in, responses out, no sockets.
//!
//! ```text
//! request            what was asked, by whom, and of what
//! dispatch           which handler serves it
//! items              items one by one, and the feed of them
//! batches            several operations on items in one request
//! queries            queries of every feed
//! changes            the change feed
//! resources          everything else: the account, databases, containers, scripts, users, permissions, offers
//! reply              replies and failures as status codes, headers and bodies
//! error_map          failures of the engine as failures of a request
//! ```
//!
//! Invariants:
//! * every response with status 400 or above has a JSON body with a `message`; 204 and 304 have no body;
//! * nothing below the APIs knows a status code or a header name;
//! * item bodies are never parsed and written again here.
//!
//! What works and what does not: `COMPAT.md`. Not here: `/_armilla`, which is `api-admin`'s.

mod batches;
mod changes;
mod dispatch;
mod error_map;
#[doc(hidden)]
pub mod fuzzing;
mod items;
mod json_text;
mod limits;
mod options;
mod queries;
mod reply;
mod request;
mod resources;

#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::sync::Arc;

use armilla_engine::{Access, Caller, DataRole, Engine};
use armilla_env::Env;
use armilla_rest_wire::authorization::{AccountKeys, Credential, KeyAccess, SignedDate};
use armilla_rest_wire::replies::echoed_activity_id;
use armilla_rest_wire::status::{Status, sub_status};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body::Body;
use http_body_util::Full;

pub use options::{CrossPartitionQueries, OptionsError, SqlApiOptions};

use armilla_rest_wire::authorization::{emulator_token, open_id};
use reply::Reply;
use reply::failure::Failure;
use request::auth;
use request::body;
use request::headers::RequestHeaders;
use request::path::{self, Address};
use resources::account;

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// `https` or `http`: what stands before the host in the addresses that the client is given.
    pub scheme: &'static str,
    /// The place of the region by whose address the client came, among the account's.
    pub region: usize,
}

/// The SQL REST API of one account. Cheap to clone.
#[derive(Clone)]
pub struct SqlApi {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    env: Env,
    options: SqlApiOptions,
    keys: AccountKeys,
}

impl SqlApi {
    /// Puts the API in front of an engine.
    pub fn new(engine: Engine, env: Env, options: SqlApiOptions) -> Result<SqlApi, OptionsError> {
        let keys = options.check()?;
        Ok(SqlApi { shared: Arc::new(Shared { engine, env, options, keys }) })
    }

    /// Answers one request.
    pub async fn handle<B>(&self, request: Request<B>, peer: Peer) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let (parts, body) = request.into_parts();
        let activity_id = self.activity_id(&parts.headers);
        let activity_text = activity_id.to_str().unwrap_or_default();
        let admitted = match self.check_region(&parts, peer) {
            Ok(()) => self.admit(&parts),
            Err(failure) => Err(failure),
        };
        let outcome = match admitted {
            Ok((address, access)) => {
                // Only these have bodies that mean anything.
                let has_body = matches!(parts.method, Method::POST | Method::PUT | Method::PATCH);
                let body = match has_body {
                    true => body::read(body).await,
                    false => {
                        // Now, not when the request is done: what is not wanted must not be kept for it.
                        drop(body);
                        Ok(Bytes::new())
                    }
                };
                match body {
                    Ok(body) => {
                        let request = request::Request {
                            method: &parts.method,
                            headers: RequestHeaders(&parts.headers),
                            body,
                            caller: Caller { access, ..Caller::full() },
                            activity_id: activity_text,
                            engine: &self.shared.engine,
                            cross_partition_queries: self.shared.options.cross_partition_queries,
                        };
                        match address {
                            Address::Account => self.account(&parts, peer),
                            address => dispatch::serve(&request, &address).await,
                        }
                    }
                    Err(failure) => Err(failure),
                }
            }
            Err(failure) => Err(failure),
        };
        let reply = outcome.unwrap_or_else(|failure| Reply::failure(&failure, activity_text));
        tracing::debug!(
            activity_id = activity_text,
            method = %parts.method,
            path = parts.uri.path(),
            status = reply.status().as_u16(),
            charge = %reply.charge(),
        );
        reply.finish(activity_id)
    }

    /// Refuses what the region does not do by whose address a client came.
    fn check_region(&self, parts: &http::request::Parts, peer: Peer) -> Result<(), Failure> {
        let Some(region) = self.shared.options.regions.get(peer.region) else { return Ok(()) };
        if !region.is_online {
            let message = format!("Service is currently unavailable: the region {} is offline.", region.name);
            return Err(Failure::new(Status::UNAVAILABLE, message));
        }
        let is_write = match parts.method {
            Method::PUT | Method::PATCH | Method::DELETE => true,
            Method::POST => {
                // Plans of queries are asked for as queries are.
                !RequestHeaders(&parts.headers).is_query()?
            }
            _ => false,
        };
        if is_write && !region.is_writable {
            let message = format!(
                "The requested operation cannot be performed at this region: {} takes no writes.",
                region.name
            );
            return Err(Failure::new(Status::FORBIDDEN.sub(sub_status::WRITE_FORBIDDEN), message));
        }
        Ok(())
    }

    /// Finds out what a request addresses and what its caller may do.
    fn admit<'p>(&self, parts: &'p http::request::Parts) -> Result<(Address<'p>, Access), Failure> {
        let address = path::parse(parts.uri.path()).map_err(|error| {
            let status = match error {
                path::PathError::Unknown => Status::NOT_FOUND,
                path::PathError::TooLong
                | path::PathError::Encoding
                | path::PathError::EmptySegment
                | path::PathError::DirectMode => Status::BAD_REQUEST,
            };
            Failure::new(status, error.to_string())
        });
        // Callers without a credential are told nothing, not even which paths there are.
        if !self.shared.options.require_auth {
            return Ok((address?, Access::Full));
        }
        let credential = Credential::of_request(parts)?;
        if let Credential::EntraToken(token) = &credential {
            let access = self.access_of_token(token)?;
            return Ok((address?, access));
        }
        let address = address?;
        let access = self.access(parts, &address, credential)?;
        self.check_scope(&address, &access)?;
        Ok((address, access))
    }

    fn access(
        &self,
        parts: &http::request::Parts,
        address: &Address<'_>,
        credential: Credential,
    ) -> Result<Access, Failure> {
        let shared = &self.shared;
        match credential {
            Credential::Master { signature } => {
                let now_ms = shared.env.clock.now_ms();
                let date = SignedDate::of(&parts.headers, now_ms, shared.options.date_skew)?;
                Ok(of_key(auth::check(&shared.keys, &signature, &parts.method, address, &date)?))
            }
            Credential::ResourceToken(token) => Ok(Access::Granted(shared.engine.authorize_token(&token)?)),
            Credential::EntraToken(token) => self.access_of_token(&token),
            Credential::SignedIn(access) => Ok(of_key(access)),
        }
    }

    fn access_of_token(&self, token: &str) -> Result<Access, Failure> {
        let now_seconds = self.shared.env.clock.now_ms() / 1_000;
        match &self.shared.options.open_id {
            Some(open_id) if !emulator_token::is_one(token) => {
                Ok(Access::Role(match open_id.check(token, now_seconds)? {
                    open_id::DataRole::Reader => DataRole::Reader,
                    open_id::DataRole::Contributor => DataRole::Contributor,
                }))
            }
            _ => Ok(of_key(emulator_token::check(&self.shared.keys, token, now_seconds)?)),
        }
    }

    /// Refuses addresses outside of a token's scope before anything is said of them, whatever the verb and the body.
    fn check_scope(&self, address: &Address<'_>, access: &Access) -> Result<(), Failure> {
        let is_for_all = matches!(address, Address::Account);
        if is_for_all || !matches!(access, Access::Granted(_)) {
            return Ok(());
        }
        match address.database().zip(address.container()) {
            Some((database, container)) => {
                self.shared.engine.locate(access, database, container)?;
            }
            None => access.check_key()?,
        }
        Ok(())
    }

    /// Answers `GET /`. Every caller may read this: clients ask for it first.
    fn account(&self, parts: &http::request::Parts, peer: Peer) -> Result<Reply, Failure> {
        if parts.method != Method::GET {
            return Err(request::verb_not_allowed(&parts.method, "GET"));
        }
        let options = &self.shared.options;
        let advertised = options.advertised_url.as_deref();
        let endpoint = account::endpoint(peer.scheme, &parts.uri, &parts.headers, advertised)?;
        let account = account::Account {
            id: &options.account_id,
            regions: &options.regions,
            consistency: self.shared.engine.consistency(),
        };
        let document = account.document(&endpoint);
        let mut reply = Reply::json(http::StatusCode::OK, document, armilla_engine::RequestUnits::ZERO);
        reply.set_text(&http::header::CONTENT_LOCATION, endpoint);
        Ok(reply)
    }

    /// Returns the client's id of a request, or a new one.
    fn activity_id(&self, headers: &HeaderMap) -> HeaderValue {
        match echoed_activity_id(headers) {
            Some(value) => value.clone(),
            None => HeaderValue::from_str(&self.shared.env.guid()).expect("a GUID is plain ASCII"),
        }
    }
}

fn of_key(access: KeyAccess) -> Access {
    match access {
        KeyAccess::ReadWrite => Access::Full,
        KeyAccess::ReadOnly => Access::ReadOnly,
    }
}
