//! Several APIs in front of one engine, each of which remembers for itself: what nodes that serve one account know of
//! what others have changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use armilla_engine::{Among, Engine, NodeFigures, NodeStatus, Nodes, Peer, PeerFuture, Peers, Whereabouts};
use armilla_env::{Clock as _, Env, SimulatedClock, SystemClock};
use armilla_kv::SpaceId;
use armilla_kv::memory::MemoryStore;
use armilla_value::{Object, Value};

use crate::client::{Client, engine_options, env};
use crate::values::{object, single};

/// The one process of several that is there: it has all partitions, as long as it is to find them.
struct Lone {
    /// How often partitions are still found, where that is counted.
    finds_left: AtomicI64,
    is_counting: AtomicBool,
}

impl Peers for Lone {
    fn find(&self, _: SpaceId) -> Whereabouts {
        if self.is_counting.load(Ordering::Relaxed) && self.finds_left.fetch_sub(1, Ordering::Relaxed) <= 0 {
            return Whereabouts::Nowhere;
        }
        Whereabouts::Here { since: 1 }
    }

    fn changed(&self) -> PeerFuture<()> {
        SystemClock::new().sleep(Duration::from_millis(10))
    }

    fn is_ending(&self) -> bool {
        // Nobody waits for a partition to be found again.
        self.is_counting.load(Ordering::Relaxed)
    }

    fn settle(&self) -> PeerFuture<Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Nodes for Lone {
    fn name(&self) -> String {
        "lone".to_owned()
    }

    fn living(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn partitions_added(&self) {}

    fn is_valid(&self) -> bool {
        true
    }

    fn bring(&self, _: &[SpaceId], _: &str) {}

    fn table(&self) -> Vec<NodeStatus> {
        Vec::new()
    }

    fn peer(&self, _: &str) -> Option<Arc<dyn Peer>> {
        None
    }

    fn figures(&self) -> NodeFigures {
        NodeFigures::default()
    }

    fn drain(&self, _: &str) {}
}

struct Account {
    engine: Engine,
    lone: Arc<Lone>,
    /// The time of all APIs.
    clock: Arc<SimulatedClock>,
    // The engine asks it for as long as it lives.
    _among: Arc<Among>,
}

impl Account {
    async fn new() -> Account {
        let lone = Arc::new(Lone { finds_left: AtomicI64::new(0), is_counting: AtomicBool::new(false) });
        let store = Arc::new(MemoryStore::new());
        let among = Among::new(store.clone(), env(), lone.clone());
        let engine = Engine::open_among(among.clone(), store, env(), engine_options()).await.unwrap();
        let clock = Arc::new(SimulatedClock::new(1_700_000_000_000));
        Account { engine, lone, clock, _among: among }
    }

    /// Returns a client of another node.
    async fn node(&self) -> Client {
        let env = Env { clock: self.clock.clone(), entropy: env().entropy };
        Client::in_front_of(self.engine.clone(), env).await
    }
}

async fn indexes(client: &mut Client, collection: &str) -> Vec<String> {
    let listed = client.read_all(single("listIndexes", collection)).await.unwrap();
    listed.iter().map(|index| index.get("name").unwrap().as_str().unwrap().to_owned()).collect()
}

/// Returns the code of the failure of the only statement of a command, if it failed.
fn refused(reply: &Object) -> Option<i64> {
    reply.get("writeErrors")?.as_array()?.first()?.get("code")?.as_i64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_are_what_they_are_now() {
    let account = Account::new().await;
    let (mut first, second) = (account.node().await, account.node().await);
    let mut administrator = second.another().await;
    assert_eq!(second.stranger().log_in_as("d", "u", "one").await, Err(18));
    first.run_text("{'createUser':'u','pwd':'one','roles':['readWrite']}").await;
    second.stranger().log_in_as("d", "u", "one").await.unwrap();
    let again = object("{'createUser':'u','pwd':'two','roles':['read']}");
    assert_eq!(administrator.try_run("d", again).await, Err(51_003));
    first.run_text("{'updateUser':'u','pwd':'two'}").await;
    assert_eq!(second.stranger().log_in_as("d", "u", "one").await, Err(18));
    second.stranger().log_in_as("d", "u", "two").await.unwrap();
    // A change at one node keeps what was changed at another.
    administrator.run_text("{'updateUser':'u','roles':['read']}").await;
    first.stranger().log_in_as("d", "u", "two").await.unwrap();
    first.run_text("{'dropUser':'u'}").await;
    assert_eq!(second.stranger().log_in_as("d", "u", "two").await, Err(18));
    let listed = administrator.run_text("{'usersInfo':1}").await;
    assert_eq!(listed.get("users").and_then(Value::as_array).map(<[Value]>::len), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_keeps_what_another_node_has_changed() {
    let account = Account::new().await;
    let (mut first, mut second) = (account.node().await, account.node().await);
    first.run_text("{'create':'c'}").await;
    assert_eq!(indexes(&mut second, "c").await, ["_id_"]);
    first.run_text("{'createIndexes':'c','indexes':[{'key':{'a':1},'name':'a','unique':true}]}").await;
    second.run_text("{'createIndexes':'c','indexes':[{'key':{'b':1},'name':'b'}]}").await;
    second.run_text("{'collMod':'c','validator':{'x':{'$ne':1}}}").await;
    first.run_text("{'createIndexes':'c','indexes':[{'key':{'d':1},'name':'d'}]}").await;
    let mut third = account.node().await;
    assert_eq!(indexes(&mut third, "c").await, ["_id_", "a", "b", "d"]);
    let twice = object("{'insert':'c','documents':[{'_id':1,'a':1},{'_id':2,'a':1}]}");
    assert_eq!(refused(&third.run(twice).await), Some(11_000));
    for client in [&mut first, &mut third] {
        let reply = client.run_text("{'insert':'c','documents':[{'_id':3,'x':1}]}").await;
        assert_eq!(refused(&reply), Some(121), "{reply:?}");
    }
    // A collection that another node has dropped and made anew is another one.
    first.run_text("{'drop':'c'}").await;
    second.run_text("{'create':'c'}").await;
    assert_eq!(indexes(&mut first, "c").await, ["_id_"]);
    third.run_text("{'insert':'c','documents':[{'_id':3,'x':1,'a':1},{'_id':4,'a':1}]}").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_node_changed_is_noticed_after_a_while() {
    let account = Account::new().await;
    let (mut first, mut second) = (account.node().await, account.node().await);
    first.run_text("{'create':'c'}").await;
    second.run_text("{'insert':'c','documents':[{'_id':1,'x':1}]}").await;
    first.run_text("{'collMod':'c','validator':{'x':{'$ne':1}}}").await;
    first.run_text("{'create':'v','viewOn':'c','pipeline':[{'$match':{'_id':1}}]}").await;
    account.clock.advance(Duration::from_secs(31));
    let reply = second.run_text("{'insert':'c','documents':[{'_id':2,'x':1}]}").await;
    assert_eq!(refused(&reply), Some(121), "{reply:?}");
    assert_eq!(second.read_all(single("find", "v")).await.unwrap().len(), 1);
    first.run_text("{'drop':'v'}").await;
    account.clock.advance(Duration::from_secs(31));
    assert_eq!(second.read_all(single("find", "v")).await.unwrap().len(), 0);
    // What is new is known at once.
    first.run_text("{'create':'n','validator':{'x':{'$ne':1}}}").await;
    let reply = second.run_text("{'insert':'n','documents':[{'_id':2,'x':1}]}").await;
    assert_eq!(refused(&reply), Some(121), "{reply:?}");
}

/// Waits until a collection is empty.
async fn await_none(client: &mut Client, collection: &str) {
    let clock = SystemClock::new();
    for _ in 0..2_000 {
        if client.read_all(single("find", collection)).await.unwrap().is_empty() {
            return;
        }
        clock.sleep(Duration::from_millis(5)).await;
    }
    panic!("what has expired in '{collection}' is still there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_index_that_another_node_dropped_deletes_nothing() {
    let account = Account::new().await;
    let (mut first, second) = (account.node().await, account.node().await);
    second.expire();
    let old = |collection: &str| {
        let document = Object::from([("at", Value::Date(1_000))]);
        Object::from([
            ("insert", Value::from(collection)),
            ("documents", Value::Array(vec![Value::Object(document)])),
        ])
    };
    for collection in ["c", "later"] {
        let create = format!(
            "{{'createIndexes':'{collection}','indexes':[{{'key':{{'at':1}},'name':'at','expireAfterSeconds':1}}]}}"
        );
        first.run_text(&create).await;
        first.run(old(collection)).await;
    }
    // The round begins to wait once it has been run for the first time.
    let clock = SystemClock::new();
    clock.sleep(Duration::from_millis(50)).await;
    account.clock.advance(Duration::from_secs(31));
    await_none(&mut first, "c").await;
    await_none(&mut first, "later").await;
    first.run_text("{'dropIndexes':'c','index':'at'}").await;
    for _ in 0..2 {
        first.run(old("c")).await;
        first.run(old("later")).await;
        clock.sleep(Duration::from_millis(50)).await;
        account.clock.advance(Duration::from_secs(31));
        await_none(&mut first, "later").await;
    }
    assert_eq!(first.read_all(single("find", "c")).await.unwrap().len(), 2);
}

/// A node goes away at each point of an insert that is sent again: nobody is told that its document is there already,
/// which would be final.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_insert_that_is_sent_again_is_not_in_its_own_way() {
    let account = Account::new().await;
    let (mut first, mut second) = (account.node().await, account.node().await);
    let mut insert = object("{'insert':'c','documents':[{'_id':1}]}");
    insert.insert("lsid", single("id", Value::Binary { subtype: 4, bytes: vec![3; 16] }));
    insert.insert("txnNumber", Value::Int64(1));
    first.run(insert.clone()).await;
    second.run_text("{'find':'c'}").await;
    let (mut done, mut failed) = (0, 0);
    for finds in 0..60 {
        account.lone.finds_left.store(finds, Ordering::Relaxed);
        account.lone.is_counting.store(true, Ordering::Relaxed);
        let reply = second.send("d", insert.clone()).await;
        account.lone.is_counting.store(false, Ordering::Relaxed);
        assert_eq!(refused(&reply), None, "after {finds} partitions were found: {reply:?}");
        match reply.get("n").and_then(Value::as_i64) {
            Some(count) => {
                assert_eq!(count, 1);
                done += 1;
            }
            None => {
                assert_eq!(reply.get("code").and_then(Value::as_i64), Some(262), "{reply:?}");
                failed += 1;
            }
        }
    }
    assert!(done > 0 && failed > 0, "{done} done, {failed} failed");
    assert_eq!(second.read_all(single("find", "c")).await.unwrap().len(), 1);
}
