//! A client of an account in memory: of this front end, with the administration beside it as in the server.

use std::ops::Deref;
use std::sync::Arc;

use armilla_api_admin::{AdminApi, AdminApiOptions};
use armilla_engine::{Engine, EngineOptions, Limits, Policy, WorkerStart};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;
pub(super) use armilla_testing_requests::Answer;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;

use crate::{Peer, SqlApi, SqlApiOptions};

pub(super) const KEY: &str = armilla_rest_wire::well_known::COSMOS_KEY;
pub(super) const READ_ONLY_KEY: &str = "cmVhZCBvbmx5";

pub(super) struct Client {
    requests: armilla_testing_requests::Client<Port>,
    engine: Engine,
    env: Env,
    store: Arc<MemoryStore>,
    options: (SqlApiOptions, EngineOptions),
}

/// The port of the server.
pub(super) struct Port {
    api: SqlApi,
    /// Splits and merges.
    admin: AdminApi,
}

impl armilla_testing_requests::Port for Port {
    async fn handle(&self, request: Request<Full<Bytes>>) -> Response<Full<Bytes>> {
        match AdminApi::serves(request.uri().path()) {
            true => self.admin.handle(request).await,
            false => self.api.handle(request, Peer { scheme: "https", region: 0 }).await,
        }
    }
}

impl Deref for Client {
    type Target = armilla_testing_requests::Client<Port>;

    fn deref(&self) -> &Self::Target {
        &self.requests
    }
}

/// The usual options, but for how scripts run: a test program cannot be its own worker.
pub(super) fn usual() -> EngineOptions {
    EngineOptions {
        script_workers: WorkerStart::Thread(armilla_script_worker::serve),
        limits: Limits { initial_partition_ru: 10_000, ..Limits::default() },
        ..EngineOptions::default()
    }
}

impl Port {
    fn new(engine: &Engine, env: &Env, options: &SqlApiOptions) -> Port {
        let api = SqlApi::new(engine.clone(), env.clone(), options.clone()).unwrap();
        let admin = AdminApi::new(engine.clone(), env.clone(), AdminApiOptions::new(KEY)).unwrap();
        Port { api, admin }
    }
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
        let port = Port::new(&engine, &env, &options);
        let requests = armilla_testing_requests::Client::new(port, KEY, env.clone(), clock);
        Client { requests, engine, env, store, options: (options, engine_options) }
    }

    /// The same account, opened again.
    pub(super) async fn reopen(self) -> Client {
        let (options, engine_options) = self.options.clone();
        let engine = Engine::open(self.store.clone(), self.env.clone(), engine_options).await.unwrap();
        let port = Port::new(&engine, &self.env, &options);
        let clock = self.requests.clock.clone();
        let requests = armilla_testing_requests::Client::new(port, KEY, self.env.clone(), clock);
        Client { requests, engine, ..self }
    }

    /// The engine behind the API.
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Makes the database `d` and in it the container `c` with the partition key `/pk`.
    pub(super) async fn with_container() -> Client {
        let client = Client::new().await;
        client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
        let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
        client.post("/dbs/d/colls", definition).await.expect(201);
        client
    }
}
