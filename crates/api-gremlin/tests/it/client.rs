//! An account in memory with a graph, and a client of it that sends scripts as text.

use std::sync::Arc;

use armilla_api_gremlin::{Answers, Connection, GremlinApi, GremlinApiOptions, MessageKind, Work};
use armilla_engine::{
    Caller, ContainerDefinition, Engine, EngineOptions, ItemBody, Policy, Precondition, Throughput, Triggers,
    WriteMode,
};
use armilla_env::{Env, SeededEntropy, SystemClock};
use armilla_kv::memory::MemoryStore;
use armilla_value::{Component, PartitionKey, Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;

pub(crate) const KEY: &str = "dGhlIGtleSBvZiB0aGUgYWNjb3VudA==";
pub(crate) const READ_ONLY_KEY: &str = "YSBrZXkgdGhhdCByZWFkcw==";
pub(crate) const USER: &str = "/dbs/d/colls/g";

/// The graph of TinkerPop's examples, each vertex in the partition of its label.
const MODERN: [&str; 12] = [
    "g.addV('person').property('id','1').property('pk','person').property('name','marko').property('age',29)",
    "g.addV('person').property('id','2').property('pk','person').property('name','vadas').property('age',27)",
    "g.addV('software').property('id','3').property('pk','software').property('name','lop').property('lang','java')",
    "g.addV('person').property('id','4').property('pk','person').property('name','josh').property('age',32)",
    "g.addV('software').property('id','5').property('pk','software').property('name','ripple').property('lang','java')",
    "g.addV('person').property('id','6').property('pk','person').property('name','peter').property('age',35)",
    "g.V('1').addE('knows').property(id,'7').property('weight',0.5).to(g.V('2'))",
    "g.V('1').addE('knows').property(id,'8').property('weight',1.0).to(g.V('4'))",
    "g.V('1').addE('created').property(id,'9').property('weight',0.4).to(g.V('3'))",
    "g.V('4').addE('created').property(id,'10').property('weight',1.0).to(g.V('5'))",
    "g.V('4').addE('created').property(id,'11').property('weight',0.4).to(g.V('3'))",
    "g.V('6').addE('created').property(id,'12').property('weight',0.2).to(g.V('3'))",
];

pub(crate) struct Account {
    pub(crate) engine: Engine,
    pub(crate) env: Env,
}

impl Account {
    /// Opens an account with a database `d` and in it a graph `g`, partitioned by `/pk`.
    pub(crate) async fn new() -> Account {
        Account::with_policy(Policy { enforced: false, burst: false }, None).await
    }

    pub(crate) async fn with_policy(policy: Policy, throughput: Option<u32>) -> Account {
        let env = Env { clock: Arc::new(SystemClock::new()), entropy: Arc::new(SeededEntropy::new(7)) };
        let options = EngineOptions { policy, ..EngineOptions::default() };
        let engine = Engine::open(Arc::new(MemoryStore::new()), env.clone(), options).await.unwrap();
        let account = Account { engine, env };
        account.engine.create_database(&Caller::full(), "d", None).await.unwrap();
        account.make_graph("g", "/pk", throughput).await;
        account
    }

    /// Makes a container for a graph.
    pub(crate) async fn make_graph(&self, name: &str, path: &str, throughput: Option<u32>) {
        let text =
            format!(r#"{{"id":"{name}","partitionKey":{{"paths":["{path}"],"kind":"Hash","version":2}}}}"#);
        let definition = ContainerDefinition::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap();
        let throughput = throughput.map(Throughput::Manual);
        self.engine.create_container(&Caller::full(), "d", definition, throughput).await.unwrap();
    }

    pub(crate) fn api(&self, change: impl FnOnce(&mut GremlinApiOptions)) -> GremlinApi {
        let mut options = GremlinApiOptions::new(KEY);
        options.read_only_keys = vec![READ_ONLY_KEY.to_owned()];
        change(&mut options);
        GremlinApi::new(self.engine.clone(), self.env.clone(), options).unwrap()
    }

    /// Returns a client that has logged in.
    pub(crate) async fn client(&self) -> Client {
        self.client_with(|_| {}).await
    }

    pub(crate) async fn client_with(&self, change: impl FnOnce(&mut GremlinApiOptions)) -> Client {
        let mut client = Client::new(&self.api(change));
        client.log_in(USER, KEY).await;
        client
    }

    /// Writes an item as any other API would.
    pub(crate) async fn put(&self, key: &str, body: &str) {
        let handle = self.engine.container("d", "g").unwrap().container;
        let key = PartitionKey(vec![Component::String(key.to_owned())]);
        let body = ItemBody::from(body.to_owned());
        let (mode, none) = (WriteMode::Upsert, Precondition::None);
        let triggers = Triggers::default();
        let caller = Caller::full();
        self.engine.write_item(&caller, &handle, mode, Some(&key), body, none, &triggers).await.unwrap();
    }

    /// Reads an item as any other API would.
    pub(crate) fn item(&self, key: &str, id: &str) -> Option<Value> {
        let handle = self.engine.container("d", "g").unwrap().container;
        let key = PartitionKey(vec![Component::String(key.to_owned())]);
        let name = armilla_engine::ItemName::Id(id);
        let read = self.engine.read_item(&Caller::full(), &handle, name, Some(&key), None).ok()?;
        Some(read.item.stored().root().to_value())
    }
}

/// A connection.
pub(crate) struct Client {
    connection: Connection,
    count: u32,
}

#[derive(Default)]
struct Collected(Mutex<Vec<Vec<u8>>>);

impl Answers for Collected {
    async fn send(&self, _: MessageKind, answer: Vec<u8>) -> bool {
        self.0.lock().push(answer);
        true
    }
}

impl Client {
    pub(crate) fn new(api: &GremlinApi) -> Client {
        Client { connection: api.connect(), count: 0 }
    }

    pub(crate) fn next_id(&mut self) -> String {
        self.count += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.count)
    }

    /// Sends a message and returns all answers to it.
    pub(crate) async fn send(&mut self, message: &str) -> Vec<Value> {
        self.send_bytes(MessageKind::Text, message.as_bytes())
            .await
            .into_iter()
            .map(|answer| {
                json::parse(&answer).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&answer)))
            })
            .collect()
    }

    pub(crate) async fn send_bytes(&mut self, kind: MessageKind, message: &[u8]) -> Vec<Vec<u8>> {
        let answers = Collected::default();
        for work in self.connection.receive(kind, message.to_vec().into(), Arc::new(())) {
            match work {
                Work::Answer(_, answer) => answers.0.lock().push(answer),
                Work::Run(job) => job.run(&answers).await,
            }
        }
        answers.0.into_inner()
    }

    /// Logs in; the request that is asked for is answered.
    pub(crate) async fn log_in(&mut self, user: &str, password: &str) {
        let id = self.next_id();
        let challenge = self.send(&request(&id, "g.inject(0)", "{}")).await;
        assert_eq!(code(&challenge[0]), 407, "{challenge:?}");
        let answer = self.send(&login(&id, user, password)).await;
        assert_eq!(code(&answer[0]), 200, "{answer:?}");
    }

    /// Runs a script and returns all of its answers.
    pub(crate) async fn run(&mut self, script: &str) -> Vec<Value> {
        let id = self.next_id();
        self.send(&request(&id, script, "{}")).await
    }

    /// Runs a script that must succeed, and returns its results.
    pub(crate) async fn results(&mut self, script: &str) -> Vec<Value> {
        let answers = self.run(script).await;
        let mut results = Vec::new();
        for (place, answer) in answers.iter().enumerate() {
            let expected = if place + 1 == answers.len() { 200 } else { 206 };
            assert_eq!(code(answer), expected, "{script}: {answer:?}");
            results.extend(at(answer, &["result", "data"]).as_array().unwrap().to_vec());
        }
        results
    }

    /// The same as texts in order.
    pub(crate) async fn texts(&mut self, script: &str) -> String {
        let mut texts: Vec<String> = self.results(script).await.iter().map(json::to_string).collect();
        texts.sort();
        texts.join(" ")
    }

    /// Runs a script that must fail, and returns the status, the inner status and the message.
    pub(crate) async fn failure(&mut self, script: &str) -> (i64, i64, String) {
        let answers = self.run(script).await;
        let last = answers.last().unwrap();
        assert_ne!(code(last), 200, "{script} went through: {last:?}");
        (code(last), inner(last), message(last))
    }

    /// Loads the graph of TinkerPop's examples.
    pub(crate) async fn load_modern(&mut self) {
        for script in MODERN {
            self.results(script).await;
        }
    }
}

pub(crate) fn request(id: &str, script: &str, more: &str) -> String {
    let script = json::to_string(&Value::from(script));
    let more = more.strip_prefix('{').and_then(|more| more.strip_suffix('}')).unwrap();
    let comma = if more.is_empty() { "" } else { "," };
    format!(r#"{{"requestId":"{id}","op":"eval","processor":"","args":{{"gremlin":{script}{comma}{more}}}}}"#)
}

pub(crate) fn login(id: &str, user: &str, password: &str) -> String {
    let sasl = STANDARD.encode(format!("\0{user}\0{password}"));
    format!(
        r#"{{"requestId":"{id}","op":"authentication","processor":"traversal","args":{{"sasl":"{sasl}"}}}}"#
    )
}

pub(crate) fn at<'v>(value: &'v Value, path: &[&str]) -> &'v Value {
    path.iter().fold(value, |value, name| value.get(name).unwrap_or_else(|| panic!("no {name} in {value:?}")))
}

pub(crate) fn code(answer: &Value) -> i64 {
    at(answer, &["status", "code"]).as_i64().unwrap()
}

pub(crate) fn inner(answer: &Value) -> i64 {
    at(answer, &["status", "attributes", "x-ms-status-code"]).as_i64().unwrap()
}

pub(crate) fn message(answer: &Value) -> String {
    at(answer, &["status", "message"]).as_str().unwrap().to_owned()
}
