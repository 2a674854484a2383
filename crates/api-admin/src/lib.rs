//! `/_armilla/...` as a front end over the engine: what this server has besides the APIs of the service, for those who
//! run it.
//!
//! ```text
//! GET    /_armilla/partitions                     the physical partitions of all containers, with their figures
//! POST   /_armilla/dbs/{d}/colls/{c}/split        {"range":"0","at":"1FFF.."}, both left out or not
//! POST   /_armilla/dbs/{d}/colls/{c}/merge        {"ranges":["1","2"]}
//! GET    /_armilla/dbs/{d}/colls/{c}/throughputBuckets   what requests may use that name a bucket
//! PUT    /_armilla/dbs/{d}/colls/{c}/throughputBuckets   other shares, all of them
//! GET    /_armilla/dbs/{d}/colls/{c}/partitions   the same of one container, with its latencies in full
//! GET    /_armilla/dbs/{d}/colls/{c}/history      what the partitions of a container have served lately
//! POST   /_armilla/advice                         {"database":"..","container":"..","try":[..]}: what is wrong with the data
//!                                                 model, or what changes of it come to
//! GET    /_armilla/requests                       what was asked of the account: the record that advice is made from
//! DELETE /_armilla/requests                       forgets it
//! GET    /_armilla/regions                        the regions that the account says it has
//! PUT    /_armilla/regions/{name}                 {"online":false,"writable":true}, one of them or both
//! GET    /_armilla/nodes                          the nodes that serve the account, where there are several
//! POST   /_armilla/nodes/drain                    {"node":"..."}: one of them, or this one, is to end
//! POST   /_armilla/backups                        fixes the moment of a backup, and answers with its id
//! GET    /_armilla/backups/{id}/frames/{n}        a piece of it, from 0 on, each again or the next
//! DELETE /_armilla/backups/{id}                   lets go of the moment
//! ```
//!
//! ```text
//! path, auth, body               what was asked, by whom
//! partitions, reshapes, ...       one file per subject: an engine operation and its reply
//! reply, failure, error_map      replies and failures as status codes, headers and bodies
//! ```
//!
//! Requests are signed as those of the SQL API are, with a resource type of their own (`armilla`) over the path as it was
//! sent, and answers have the headers that its clients know.
//!
//! Invariants:
//! * without a key of the account, a caller gets nothing here;
//! * every response with status 400 or above has a JSON body with a `message`; 204 has no body.
//!
//! Not here: the port, which is that of the SQL API (`server`).

mod advice;
mod auth;
mod backups;
mod body;
mod buckets;
mod error_map;
mod failure;
mod history;
mod limits;
mod nodes;
mod options;
mod partitions;
mod path;
mod regions;
mod reply;
mod request;
mod reshapes;

#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::sync::Arc;

use armilla_engine::{Access, Caller, Engine};
use armilla_env::Env;
use armilla_rest_wire::authorization::{AccountKeys, AuthorizationError, Credential, KeyAccess, SignedDate};
use armilla_rest_wire::replies::echoed_activity_id;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response};
use http_body::Body;
use http_body_util::Full;

pub use options::{AdminApiOptions, KeyError};

use failure::Failure;
use path::Resource;
use reply::Reply;
use request::Request;

/// The administration of one account. Cheap to clone.
#[derive(Clone)]
pub struct AdminApi {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    env: Env,
    options: AdminApiOptions,
    keys: AccountKeys,
    /// Held by the one piece of advice that is being made: it takes memory, and all cores.
    advising: tokio::sync::Mutex<()>,
}

impl AdminApi {
    /// Puts the administration in front of an engine.
    pub fn new(engine: Engine, env: Env, options: AdminApiOptions) -> Result<AdminApi, KeyError> {
        let keys = options.keys()?;
        Ok(AdminApi {
            shared: Arc::new(Shared { engine, env, options, keys, advising: tokio::sync::Mutex::default() }),
        })
    }

    /// Tells whether a path belongs here.
    pub fn serves(path: &str) -> bool {
        path::is_ours(path)
    }

    /// Answers one request.
    pub async fn handle<B>(&self, request: http::Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let (head, body) = request.into_parts();
        let activity_id = self.activity_id(&head.headers);
        let activity_text = activity_id.to_str().unwrap_or_default();
        let outcome = match self.admit(&head) {
            Ok((resource, access)) => self.serve(&head, &resource, access, body).await,
            Err(failure) => Err(failure),
        };
        let reply = outcome.unwrap_or_else(|failure| Reply::failure(&failure, activity_text));
        tracing::debug!(
            activity_id = activity_text,
            method = %head.method,
            path = head.uri.path(),
            status = reply.status().as_u16(),
        );
        reply.finish(activity_id)
    }

    /// Finds out what a request addresses and what its caller may do.
    fn admit<'p>(&self, head: &'p http::request::Parts) -> Result<(Resource<'p>, Access), Failure> {
        // Callers without a credential are told nothing, not even which paths there are.
        let credential = Credential::of_request(head)?;
        let resource = path::parse(head.uri.path())?;
        let access = self.access(head, credential)?;
        access.check_key()?;
        Ok((resource, access))
    }

    fn access(&self, head: &http::request::Parts, credential: Credential) -> Result<Access, Failure> {
        let shared = &self.shared;
        match credential {
            Credential::Master { signature } => {
                let now_ms = shared.env.clock.now_ms();
                let date = SignedDate::of(&head.headers, now_ms, shared.options.date_skew)?;
                let link = path::signed_link(head.uri.path());
                Ok(of_key(auth::check(&shared.keys, &signature, &head.method, link, &date)?))
            }
            Credential::SignedIn(access) => Ok(of_key(access)),
            Credential::ResourceToken(token) => Ok(Access::Granted(shared.engine.authorize_token(&token)?)),
            Credential::EntraToken(_) => {
                Err(AuthorizationError::Unsupported { kind: "Microsoft Entra ID (type=aad)" }.into())
            }
        }
    }

    async fn serve<B>(
        &self,
        head: &http::request::Parts,
        resource: &Resource<'_>,
        access: Access,
        body: B,
    ) -> Result<Reply, Failure>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        // Only these have bodies that mean anything.
        let body = match head.method {
            Method::POST | Method::PUT | Method::PATCH => body::read(body).await?,
            _ => {
                // Now, not when the request is done: what is not wanted must not be kept for it.
                drop(body);
                Bytes::new()
            }
        };
        let caller = Caller { access, ..Caller::full() };
        let request = Request { method: &head.method, body, caller, engine: &self.shared.engine };
        match resource {
            Resource::Partitions => partitions::read(&request).await,
            Resource::Advice => advice::make(&request, &self.shared.env, &self.shared.advising).await,
            Resource::Requests => advice::requests(&request, &self.shared.env),
            Resource::Regions => regions::list(&request, &self.shared.options.regions),
            Resource::Region { name } => regions::change(&request, &self.shared.options.regions, name),
            Resource::Nodes => nodes::list(&request),
            Resource::Drain => nodes::drain(&request),
            Resource::Backups => backups::begin(&request).await,
            Resource::Backup { id } => backups::end(&request, id).await,
            Resource::BackupFrame { id, number } => backups::frame(&request, id, *number).await,
            Resource::Buckets { database, container } => buckets::serve(&request, database, container).await,
            Resource::PartitionsOf { database, container } => {
                partitions::read_one(&request, database, container).await
            }
            Resource::History { database, container } => history::read(&request, database, container),
            Resource::Split { database, container } => reshapes::split(&request, database, container).await,
            Resource::Merge { database, container } => reshapes::merge(&request, database, container).await,
        }
    }

    /// Returns the client's id of a request, if it can be echoed, or a new one.
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
