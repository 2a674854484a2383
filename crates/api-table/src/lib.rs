//! The Table API as a front end over the engine: requests in, responses out, no sockets.
//!
//! ```text
//! auth, policies                 who asks, and what they may do
//! path, parameters, headers      what was asked
//! dispatch                       which handler serves it
//! tables, service                tables; what is XML: properties, statistics, access policies
//! entities, changes, merges      one entity: reading it, the six writes
//! queries, rows, filter          pages of entities
//! batches, multipart,            change sets
//!   batch_answer
//! entity, edm, literal           entities as JSON and as items
//! failure, error_map, response   failures and replies
//! ```
//!
//! Invariants:
//! * an entity is a plain item that other APIs read and write: nothing of it is kept anywhere else;
//! * every response with status 400 or above has a body with a code and a message;
//! * nothing below this crate knows a word of this protocol.
//!
//! What works and what does not: `COMPAT.md`.

mod auth;
mod batch_answer;
mod batches;
mod body;
mod changes;
mod cors;
mod dispatch;
mod edm;
mod entities;
mod entity;
mod error_map;
mod failure;
mod filter;
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod item_rows;
mod limits;
mod literal;
mod merges;
mod multipart;
mod options;
mod parameters;
mod path;
mod policies;
mod properties;
mod queries;
mod request;
mod response;
mod service;
mod settings;
mod table_name;
mod tables;
mod utc_time;
mod xml;

#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::net::IpAddr;
use std::sync::Arc;

use armilla_engine::Engine;
use armilla_env::Env;
use armilla_rest_wire::authorization::SignedIn;
use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response};
use http_body::Body;
use http_body_util::Full;

pub use options::{Flavour, OptionsError, TableApiOptions};

use auth::{Accounts, Authenticated, Head, Permit, Principal};
use failure::{Failure, Kind};
use headers::{Verb, names};
use merges::Merges;
use parameters::Parameters;
use policies::Policies;
use properties::Properties;
use response::{Asked, Reply};
use tables::KnownTables;

/// How a client is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// `https` or `http`: what stands before the host in the addresses that the client is given.
    pub scheme: &'static str,
    /// Where the client is: signatures may be for some addresses only.
    pub address: IpAddr,
}

/// The Table API of one account. Cheap to clone.
#[derive(Clone)]
pub struct TableApi {
    shared: Arc<Shared>,
    flavour: Flavour,
}

struct Shared {
    engine: Engine,
    env: Env,
    options: TableApiOptions,
    accounts: Accounts,
    policies: Policies,
    properties: Properties,
    merges: Merges,
    known_tables: KnownTables,
    /// Names have no case in storage accounts, which the engine does not know: tables are made one at a time.
    creating: tokio::sync::Mutex<()>,
}

impl TableApi {
    /// Puts the API in front of an engine.
    pub fn new(engine: Engine, env: Env, options: TableApiOptions) -> Result<TableApi, OptionsError> {
        let accounts = options.check()?;
        let shared = Shared {
            accounts,
            policies: Policies::new(engine.clone(), env.clone()),
            properties: Properties::new(engine.clone(), env.clone()),
            merges: Merges::new(),
            known_tables: KnownTables::default(),
            creating: tokio::sync::Mutex::new(()),
            engine,
            env,
            options,
        };
        let flavour = shared.options.flavour;
        Ok(TableApi { shared: Arc::new(shared), flavour })
    }

    /// Returns the same API as another of the services: what is known here is known there at once.
    pub fn in_flavour(&self, flavour: Flavour) -> TableApi {
        TableApi { shared: self.shared.clone(), flavour }
    }

    /// Tells whether the rules of the service's properties let a web page send such a request. Its question whether it
    /// may (`OPTIONS`) is for the rules to answer.
    pub fn lets_in(&self, origin: &str, method: &Method) -> bool {
        // Rules that cannot be read let nobody in.
        let properties = self.shared.properties.read();
        properties
            .is_ok_and(|properties| *method == Method::OPTIONS || cors::allows(&properties, origin, method))
    }

    /// Answers one request.
    pub async fn handle<B>(&self, request: Request<B>, peer: Peer) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let shared = &*self.shared;
        let (parts, body) = request.into_parts();
        let request_id = shared.env.guid();
        let outcome = match parts.method {
            Method::OPTIONS => service::preflight(shared, &parts.headers),
            _ => self.answer(&parts, body, peer, &request_id).await,
        };
        let flavour = self.flavour;
        let reply = outcome.unwrap_or_else(|failure| {
            let is_xml = has_component(parts.uri.query().unwrap_or_default());
            Reply::failure(&failure, flavour, is_xml, &request_id, shared.env.clock.now_ms())
        });
        tracing::debug!(
            request_id,
            method = %parts.method,
            path = parts.uri.path(),
            status = reply.status.as_u16(),
            charge = %reply.charge,
        );
        let mut response = reply.finish(Asked {
            flavour,
            request_id: &request_id,
            client_request_id: headers::client_request_id(&parts.headers),
            version: parts.headers.get(&names::VERSION).cloned(),
        });
        // Rules that cannot be read let nobody in, and keep nobody out.
        if parts.method != Method::OPTIONS
            && (flavour == Flavour::Storage || parts.headers.contains_key(http::header::ORIGIN))
            && let Ok(properties) = shared.properties.read()
        {
            cors::apply(&properties, &parts.method, &parts.headers, response.headers_mut());
        }
        response
    }

    async fn answer<B>(&self, parts: &Parts, body: B, peer: Peer, request_id: &str) -> Result<Reply, Failure>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let shared = &*self.shared;
        let host = match parts.headers.get(http::header::HOST) {
            Some(host) => host.to_str().ok(),
            None => parts.uri.authority().map(|authority| authority.as_str()),
        };
        let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
        let mut place = auth::Address::of(host, path, query, &parts.headers);
        // Only the other service has an endpoint that does not write.
        place.is_secondary &= self.flavour == Flavour::Storage;
        // Strangers are told nothing, not even which addresses there are.
        let head = Head { method: &parts.method, path, query, headers: &parts.headers, host, peer: &peer };
        let permit = match parts.extensions.get() {
            Some(SignedIn(access)) => Permit { principal: Principal::of_key(*access), is_secondary: false },
            None => self.permit(&head, &place)?,
        };
        let address = path::parse(place.path, self.flavour).map_err(|_| Kind::UrlInvalid)?;
        let parameters = Parameters::parse(query)?;
        let verb = headers::verb(&parts.method, &parts.headers)?;
        let has_body = matches!(verb, Verb::Post | Verb::Put | Verb::Merge);
        let body = match has_body {
            true => body::read(body).await?,
            false => {
                // Now, not when the request is done: what is not wanted must not be kept for it.
                drop(body);
                Bytes::new()
            }
        };
        let base_url = format!("{}://{}{}/", peer.scheme, host.unwrap_or("localhost"), place.prefix);
        let request = request::Request {
            shared,
            flavour: self.flavour,
            verb,
            headers: &parts.headers,
            parameters: &parameters,
            body,
            permit: &permit,
            account: place.account,
            base_url: &base_url,
            path_prefix: place.prefix,
            request_id,
        };
        dispatch::serve(&request, address).await
    }

    /// Finds out what the sender of a request may do.
    fn permit(&self, head: &Head<'_>, place: &auth::Address<'_>) -> Result<Permit, Failure> {
        let shared = &*self.shared;
        if !shared.options.require_auth {
            return Ok(Permit { principal: Principal::Full, is_secondary: place.is_secondary });
        }
        let now_ms = shared.env.clock.now_ms();
        match auth::authenticate(head, place, &shared.accounts, now_ms, shared.options.date_skew)? {
            Authenticated::Permit(permit) => Ok(permit),
            Authenticated::NeedsPolicy(needs) => {
                let table = tables::find(shared, self.flavour, &needs.pending.table)?;
                let policy = match table {
                    Some(table) => shared.policies.find(&table.container, &needs.pending.policy_id)?,
                    None => None,
                };
                Ok(needs.settle(policy.as_ref(), now_ms)?)
            }
        }
    }
}

/// Says whether a request is about something that is XML.
fn has_component(query: &str) -> bool {
    query.split('&').any(|pair| pair.starts_with("comp="))
}
