//! A client of an account in memory: it logs in, sends commands as messages, and reads cursors to their end.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use armilla_api_mongo::{Connection, MongoApi, MongoApiOptions, Peer};
use armilla_engine::{Engine, EngineOptions, Policy};
use armilla_env::{Env, SeededEntropy, SystemClock};
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;
use armilla_mongo_wire::message::{parse_reply, write_request};
use armilla_value::{Object, Value};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use ring::{digest, hmac, pbkdf2};

use crate::values::object;

const KEY: &str = "dGhlIGtleSBvZiB0aGUgYWNjb3VudA==";

pub(crate) struct Client {
    api: MongoApi,
    connection: Connection,
    request_id: i32,
}

impl Client {
    /// Opens an account and logs in. Nothing is throttled.
    pub(crate) async fn new() -> Client {
        Client::on(Arc::new(MemoryStore::new()), true).await
    }

    /// The same over a store, where it can be said that nothing is done in the background.
    pub(crate) async fn on(store: Arc<dyn Store>, background: bool) -> Client {
        let options = EngineOptions { background, ..engine_options() };
        let engine = Engine::open(store, env(), options).await.unwrap();
        Client::in_front_of(engine, env()).await
    }

    /// Puts an API of its own in front of an engine, and logs in.
    pub(crate) async fn in_front_of(engine: Engine, env: Env) -> Client {
        let mut options = MongoApiOptions::new(KEY);
        options.test_commands = true;
        let mut client = Client::of(MongoApi::new(engine, env, options).unwrap());
        client.log_in(KEY).await.unwrap();
        client
    }

    /// Deletes what expires, until the test is over.
    pub(crate) fn expire(&self) {
        drop(tokio::spawn(self.api.expire()));
    }

    fn of(api: MongoApi) -> Client {
        let address: SocketAddr = "127.0.0.1:50000".parse().unwrap();
        let connection = api.connect(&Peer { address, local: "127.0.0.1:10255".to_owned() });
        Client { api, connection, request_id: 0 }
    }

    /// Returns the bytes that a message which is being answered takes, beside what its command does in a box.
    pub(crate) fn answer_bytes(&mut self) -> usize {
        size_of_val(&self.api.answer(&mut self.connection, &[]))
    }

    /// Opens another connection, which is not logged in.
    pub(crate) fn stranger(&self) -> Client {
        Client::of(self.api.clone())
    }

    /// Opens another connection, which is logged in.
    pub(crate) async fn another(&self) -> Client {
        let mut other = self.stranger();
        other.log_in(KEY).await.unwrap();
        other
    }

    /// Logs in with a key of the account.
    pub(crate) async fn log_in(&mut self, key: &str) -> Result<(), i64> {
        self.log_in_as("admin", "localhost", key).await
    }

    /// Logs in by SCRAM, and checks what the server proves.
    pub(crate) async fn log_in_as(&mut self, database: &str, user: &str, key: &str) -> Result<(), i64> {
        let bare = format!("n={user},r=nonce-of-the-client");
        let mut start =
            object("{'saslStart':1,'mechanism':'SCRAM-SHA-256','options':{'skipEmptyExchange':true}}");
        start.insert("payload", binary(format!("n,,{bare}").as_bytes()));
        let reply = self.try_run(database, start).await?;
        let first = payload(&reply);
        let attribute = |letter: &str| first.split(',').find_map(|text| text.strip_prefix(letter)).unwrap();
        let rounds = NonZeroU32::new(attribute("i=").parse().unwrap()).unwrap();
        let mut salted = [0; 32];
        let salt = BASE64_STANDARD.decode(attribute("s=")).unwrap();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, key.as_bytes(), &mut salted);
        let client_key = sign(&salted, b"Client Key");
        let without_proof = format!("c=biws,r={}", attribute("r="));
        let message = format!("{bare},{first},{without_proof}");
        let signature = sign(digest::digest(&digest::SHA256, &client_key).as_ref(), message.as_bytes());
        let proof: Vec<u8> = client_key.iter().zip(&signature).map(|(a, b)| a ^ b).collect();
        let last = format!("{without_proof},p={}", BASE64_STANDARD.encode(proof));
        let mut go_on = object("{'saslContinue':1}");
        go_on.insert("conversationId", reply.get("conversationId").unwrap().clone());
        go_on.insert("payload", binary(last.as_bytes()));
        let reply = self.try_run(database, go_on).await?;
        let expected = sign(&sign(&salted, b"Server Key"), message.as_bytes());
        assert_eq!(payload(&reply), format!("v={}", BASE64_STANDARD.encode(expected)));
        assert_eq!(reply.get("done"), Some(&Value::Bool(true)));
        Ok(())
    }

    /// Sends a command and returns the reply, whatever it says.
    pub(crate) async fn send(&mut self, database: &str, mut command: Object) -> Object {
        command.insert("$db", database);
        self.request_id += 1;
        let mut frame = Vec::new();
        write_request(self.request_id, &command, false, &mut frame).unwrap();
        let answer = self.api.answer(&mut self.connection, &frame).await;
        assert!(!answer.closes, "{command:?} ended the connection");
        let reply = parse_reply(&answer.reply.unwrap()).unwrap();
        assert_eq!(reply.response_to, self.request_id);
        reply.document
    }

    /// Sends a command that wants no reply, and says whether it got none.
    pub(crate) async fn tell(&mut self, database: &str, mut command: Object) -> bool {
        command.insert("$db", database);
        self.request_id += 1;
        let mut frame = Vec::new();
        write_request(self.request_id, &command, true, &mut frame).unwrap();
        self.api.answer(&mut self.connection, &frame).await.reply.is_none()
    }

    /// Runs a command; a failure is its code.
    pub(crate) async fn try_run(&mut self, database: &str, command: Object) -> Result<Object, i64> {
        let reply = self.send(database, command).await;
        if reply.get("ok").and_then(Value::as_f64) == Some(1.0) {
            return Ok(reply);
        }
        Err(reply.get("code").and_then(Value::as_i64).unwrap_or_else(|| panic!("{reply:?} has no code")))
    }

    /// Runs a command of the database `d` that must succeed.
    pub(crate) async fn run(&mut self, command: Object) -> Object {
        let reply = self.send("d", command.clone()).await;
        assert_eq!(reply.get("ok").and_then(Value::as_f64), Some(1.0), "{command:?}: {reply:?}");
        reply
    }

    /// Runs a command that is given as text.
    pub(crate) async fn run_text(&mut self, command: &str) -> Object {
        self.run(object(command)).await
    }

    /// Runs a command that opens a cursor, and reads that to its end.
    pub(crate) async fn read_all(&mut self, command: Object) -> Result<Vec<Object>, i64> {
        let mut reply = self.try_run("d", command).await?;
        let mut documents = Vec::new();
        loop {
            let cursor = reply.get("cursor").and_then(Value::as_object).unwrap();
            let batch = cursor.get("firstBatch").or_else(|| cursor.get("nextBatch")).unwrap();
            documents
                .extend(batch.as_array().unwrap().iter().map(|value| value.as_object().unwrap().clone()));
            let Some(Value::Int64(id)) = cursor.get("id").filter(|id| id.as_i64() != Some(0)) else {
                return Ok(documents);
            };
            let namespace = cursor.get("ns").and_then(Value::as_str).unwrap();
            let collection = namespace.split_once('.').unwrap().1;
            let more =
                Object::from([("getMore", Value::Int64(*id)), ("collection", Value::from(collection))]);
            reply = self.try_run("d", more).await?;
        }
    }

    /// Inserts documents, which must all be new.
    pub(crate) async fn insert(&mut self, collection: &str, documents: &[Object]) {
        for some in documents.chunks(200) {
            let list = some.iter().cloned().map(Value::Object).collect();
            let command =
                Object::from([("insert", Value::from(collection)), ("documents", Value::Array(list))]);
            let reply = self.run(command).await;
            assert_eq!(reply.get("n").and_then(Value::as_i64), Some(some.len() as i64), "{reply:?}");
        }
    }

    /// Says which stage of a plan finds the documents.
    pub(crate) async fn stage(&mut self, collection: &str, filter: &Object) -> String {
        let find =
            Object::from([("find", Value::from(collection)), ("filter", Value::Object(filter.clone()))]);
        let explain =
            Object::from([("explain", Value::Object(find)), ("verbosity", Value::from("queryPlanner"))]);
        let reply = self.run(explain).await;
        let mut stage = reply.get("queryPlanner").and_then(|planner| planner.get("winningPlan")).unwrap();
        while let Some(inner) = stage.get("inputStage") {
            stage = inner;
        }
        stage.get("stage").and_then(Value::as_str).unwrap().to_owned()
    }
}

/// Returns time as it is, and the same bytes by chance each time.
pub(crate) fn env() -> Env {
    Env { clock: Arc::new(SystemClock::new()), entropy: Arc::new(SeededEntropy::new(7)) }
}

/// Returns what engines of tests are opened with: nothing is throttled.
pub(crate) fn engine_options() -> EngineOptions {
    EngineOptions { policy: Policy { enforced: false, burst: false }, ..EngineOptions::default() }
}

fn binary(bytes: &[u8]) -> Value {
    Value::Binary { subtype: 0, bytes: bytes.to_vec() }
}

fn payload(reply: &Object) -> String {
    match reply.get("payload") {
        Some(Value::Binary { bytes, .. }) => String::from_utf8(bytes.clone()).unwrap(),
        other => panic!("{other:?} is no payload"),
    }
}

fn sign(key: &[u8], message: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message).as_ref().to_vec()
}
