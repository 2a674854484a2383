//! A client of an account in memory: of the administration, with the SQL API beside it as in the server, by which what
//! is administered is made.

use std::ops::Deref;
use std::sync::Arc;

use armilla_api_sql::{Peer, SqlApi, SqlApiOptions};
use armilla_engine::{Engine, EngineOptions, Policy};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;
use armilla_rest_wire::regions::Regions;
pub(super) use armilla_testing_requests::Answer;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;

use crate::{AdminApi, AdminApiOptions};

pub(super) const KEY: &str = "dGhlIGtleSBvZiB0aGUgYWNjb3VudA==";
pub(super) const READ_ONLY_KEY: &str = "cmVhZCBvbmx5";

pub(super) struct Client {
    requests: armilla_testing_requests::Client<Port>,
}

/// The port of the server.
pub(super) struct Port {
    admin: AdminApi,
    sql: SqlApi,
}

impl armilla_testing_requests::Port for Port {
    async fn handle(&self, request: Request<Full<Bytes>>) -> Response<Full<Bytes>> {
        match AdminApi::serves(request.uri().path()) {
            true => self.admin.handle(request).await,
            false => self.sql.handle(request, Peer { scheme: "https", region: 0 }).await,
        }
    }
}

impl Deref for Client {
    type Target = armilla_testing_requests::Client<Port>;

    fn deref(&self) -> &Self::Target {
        &self.requests
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
        let sql = SqlApi::new(engine.clone(), env.clone(), SqlApiOptions::new(KEY)).unwrap();
        let mut options = AdminApiOptions::new(KEY);
        options.read_only_keys.push(READ_ONLY_KEY.to_owned());
        options.regions = Arc::new(Regions::new("West US 2", vec![("East US".to_owned(), 8_082)], false));
        let admin = AdminApi::new(engine, env.clone(), options).unwrap();
        let requests = armilla_testing_requests::Client::new(Port { admin, sql }, KEY, env, clock);
        requests.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
        let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
        requests.post("/dbs/d/colls", definition).await.expect(201);
        Client { requests }
    }

    /// Makes a permission for all of the container and returns its token, as it is sent.
    pub(super) async fn token(&self) -> String {
        self.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
        let permission = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
        let permission = self.post("/dbs/d/users/u/permissions", permission).await.expect(201);
        permission.member("_token").replace('&', "%26").replace('=', "%3D").replace('+', "%2B")
    }
}
