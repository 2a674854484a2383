//! The account in an object store that several processes serve, each of which has some of its partitions.
//!
//! What keeps a node's lease, and looks who has what, runs on a thread of its own, so that no load makes it late. What is let
//! go of for another node is let go of on the threads that serve.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_cluster::{
    Assignment, Board, Coordinator, Host, LOADS_MAX, Member, MemberOptions, NodeId, Ownership, Partition,
    PartitionId, Pins, Roll,
};
use armilla_engine::{
    Among, NodeFigures, NodeSession, NodeStatus, Nodes, Peer, PeerError, PeerFuture, Peers, Whereabouts,
};
use armilla_env::Env;
use armilla_kv::SpaceId;
use armilla_kv_slate::Place;
use armilla_lease::RegisterError;
use armilla_peer::{CallError, Link, Secret, Service};
use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::JoinHandle;

/// What a message begins with that says: there is another assignment.
const LOOK: u8 = 16;

/// What a message begins with that says: there may be something to assign.
const ROUND: u8 = 17;

/// What a message begins with that says: this partition is to be at this node for a while.
const PIN: u8 = 18;

/// What a message begins with that says: end, once others have taken what you have.
const DRAIN: u8 = 19;

/// What a message begins with that asks nothing: who answers is there.
const PING: u8 = 20;

/// How long a node may take to say that it is there before it is given partitions.
const PING_PATIENCE: Duration = Duration::from_millis(500);

/// For how long a partition is kept where somebody wants it.
const PIN_TIME: Duration = Duration::from_secs(30);

/// Partitions that may be kept somewhere at a time; what is wanted beyond is forgotten.
const PINS_MAX: usize = 10_000;

/// How often it is looked what is asked of this node's partitions.
const LOADS_PERIOD: Duration = Duration::from_secs(5);

/// Request units a second that are asked of a partition before that counts for where it is to be.
const LOAD_MIN: u64 = 400;

/// When the coordinator is told once more that a node goes by another assignment: its record may have been on its way.
const SAID_AGAIN_AFTER: [Duration; 3] =
    [Duration::from_millis(15), Duration::from_millis(60), Duration::from_millis(250)];

/// How often one who is about to end looks whether others have taken what it had.
const LEAVING_PERIOD: Duration = Duration::from_millis(50);

/// What is chosen about a node.
pub(crate) struct NodeSettings {
    /// Where other nodes reach it. Port 0 is any that is free.
    pub(crate) address: SocketAddr,
    pub(crate) lease: Duration,
    pub(crate) secret: Secret,
}

/// A process that is one of several nodes.
pub(crate) struct Node {
    nodes: Arc<ClusterNodes>,
    give_up: oneshot::Sender<()>,
    leave: Arc<Notify>,
    thread: std::thread::JoinHandle<()>,
    lost: watch::Receiver<bool>,
    left: watch::Receiver<bool>,
    host: Option<oneshot::Sender<Arc<Among>>>,
    listener: Option<TcpListener>,
    serving: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    secret: Secret,
}

/// What a node knows of the others.
pub(crate) struct ClusterNodes {
    ownership: Ownership,
    secret: Secret,
    links: Mutex<HashMap<NodeId, Arc<LinkedNode>>>,
    calls: Arc<Calls>,
    look: Arc<Notify>,
    round: Arc<Notify>,
    changes: watch::Sender<u64>,
    among: OnceLock<Arc<Among>>,
    /// Where partitions are to be, and until when.
    pins: Mutex<BTreeMap<PartitionId, (NodeId, Duration)>>,
    drained: watch::Sender<bool>,
    is_ending: AtomicBool,
    runtime: Handle,
    env: Env,
}

/// Requests between nodes.
#[derive(Default)]
struct Calls {
    asked: AtomicU64,
    unanswered: AtomicU64,
    answered: AtomicU64,
}

/// Another node.
struct LinkedNode {
    name: String,
    address: String,
    link: Link,
    calls: Arc<Calls>,
}

impl Peer for LinkedNode {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, request: Bytes, patience: Duration) -> PeerFuture<Result<Bytes, PeerError>> {
        let (link, address, calls) = (self.link.clone(), self.address.clone(), self.calls.clone());
        calls.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            let answer = link.call(request, patience).await;
            if answer.is_err() {
                calls.unanswered.fetch_add(1, Ordering::Relaxed);
            }
            answer.map_err(|error| match error {
                CallError::Unknown(why) => {
                    PeerError::Unknown(format!("node {address} was asked and has not answered: {why}"))
                }
                CallError::NotSent(why) | CallError::Refused(why) => {
                    PeerError::NotSent(format!("node {address} cannot be asked at present, try again: {why}"))
                }
            })
        })
    }

    fn tell(&self, request: Bytes) {
        // What is told may be lost.
        let _ = self.link.tell(request);
    }
}

impl ClusterNodes {
    fn linked(&self, id: &NodeId, address: &str) -> Arc<LinkedNode> {
        let mut links = self.links.lock();
        if let Some(known) = links.get(id) {
            return known.clone();
        }
        let linked = Arc::new(LinkedNode {
            name: id.to_string(),
            address: address.to_owned(),
            link: Link::new(address, self.secret.clone(), self.runtime.clone()),
            calls: self.calls.clone(),
        });
        links.insert(id.clone(), linked.clone());
        linked
    }

    /// Forgets nodes that have ended.
    fn forget_ended(&self) {
        let nodes = self.ownership.nodes();
        self.links.lock().retain(|id, _| nodes.iter().any(|(of, _)| of == id));
    }

    /// Says something to all nodes, this one included.
    fn tell_all(&self, what: &[u8]) {
        for (id, node) in self.ownership.nodes() {
            if id != *self.ownership.node() {
                self.linked(&id, &node.address).tell(Bytes::copy_from_slice(what));
            }
        }
        self.heard(what);
    }

    fn heard(&self, what: &[u8]) {
        match what.split_first() {
            Some((&LOOK, _)) => self.look.notify_one(),
            Some((&ROUND, _)) => self.round.notify_one(),
            Some((&PIN, rest)) => {
                if let Some((id, node)) = rest.split_first_chunk()
                    && let Ok(node) = std::str::from_utf8(node)
                {
                    self.pin(PartitionId(u64::from_be_bytes(*id)), NodeId::new(node));
                }
            }
            Some((&DRAIN, _)) => drop(self.drained.send_replace(true)),
            _ => {}
        }
    }

    /// Takes note of where a partition is to be for a while.
    fn pin(&self, partition: PartitionId, node: NodeId) {
        let until = self.env.clock.elapsed() + PIN_TIME;
        {
            let mut pins = self.pins.lock();
            if pins.len() >= PINS_MAX && !pins.contains_key(&partition) {
                return;
            }
            pins.insert(partition, (node, until));
        }
        self.round.notify_one();
    }

    fn tell_of_change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl Peers for ClusterNodes {
    fn find(&self, space: SpaceId) -> Whereabouts {
        let partition = PartitionId(space.0);
        if let Some(since) = self.ownership.since(partition) {
            return Whereabouts::Here { since };
        }
        match self.ownership.owner_of(partition) {
            Some((id, node)) if id != *self.ownership.node() => {
                Whereabouts::At(self.linked(&id, &node.address))
            }
            _ => Whereabouts::Nowhere,
        }
    }

    fn changed(&self) -> PeerFuture<()> {
        let mut changes = self.changes.subscribe();
        Box::pin(async move {
            // Where nothing changes any more, nothing is waited for.
            let _ = changes.changed().await;
        })
    }

    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    fn settle(&self) -> PeerFuture<Result<(), String>> {
        let among = self.among.get().cloned();
        Box::pin(async move {
            let among = among.ok_or_else(|| "the node is starting".to_owned())?;
            among.settle().await.map_err(|error| error.message)
        })
    }
}

impl Nodes for ClusterNodes {
    fn name(&self) -> String {
        self.ownership.node().to_string()
    }

    fn living(&self) -> Vec<String> {
        self.ownership.nodes().into_iter().map(|(id, _)| id.to_string()).collect()
    }

    fn partitions_added(&self) {
        self.tell_all(&[ROUND]);
    }

    fn is_valid(&self) -> bool {
        self.ownership.tenure().is_valid()
    }

    fn bring(&self, spaces: &[SpaceId], to: &str) {
        for space in spaces {
            let mut message = vec![PIN];
            message.extend_from_slice(&space.0.to_be_bytes());
            message.extend_from_slice(to.as_bytes());
            self.tell_all(&message);
        }
    }

    fn table(&self) -> Vec<NodeStatus> {
        let counts = self.ownership.counts();
        let status = |(id, node): (NodeId, armilla_cluster::Node)| NodeStatus {
            partitions: counts.get(&id).copied().unwrap_or_default(),
            is_self: id == *self.ownership.node(),
            name: id.to_string(),
            address: node.address,
            version: node.version,
        };
        self.ownership.nodes().into_iter().map(status).collect()
    }

    fn figures(&self) -> NodeFigures {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        NodeFigures {
            nodes: self.table(),
            asked: count(&self.calls.asked),
            unanswered: count(&self.calls.unanswered),
            answered: count(&self.calls.answered),
        }
    }

    fn peer(&self, name: &str) -> Option<Arc<dyn Peer>> {
        let nodes = self.ownership.nodes();
        let (id, node) = nodes.iter().find(|(id, _)| id.as_str() == name && id != self.ownership.node())?;
        Some(self.linked(id, &node.address))
    }

    fn drain(&self, name: &str) {
        match self.peer(name) {
            Some(peer) => peer.tell(Bytes::from_static(&[DRAIN])),
            None if name == self.ownership.node().as_str() => self.heard(&[DRAIN]),
            None => {}
        }
    }
}

/// What other nodes are answered.
struct NodeService {
    among: Arc<Among>,
    nodes: Arc<ClusterNodes>,
}

impl Service for NodeService {
    type Session = NodeSession;

    fn open(&self) -> NodeSession {
        NodeSession::default()
    }

    fn call(self: Arc<Self>, session: Arc<NodeSession>, request: Bytes) -> BoxFuture<'static, Bytes> {
        match request.first() {
            Some(&LOOK | &ROUND | &PIN | &DRAIN | &PING) => {
                self.nodes.heard(&request);
                Box::pin(std::future::ready(Bytes::new()))
            }
            _ => {
                self.nodes.calls.answered.fetch_add(1, Ordering::Relaxed);
                self.among.clone().serve(session, request)
            }
        }
    }
}

/// What the thread of the lease has to know of what is served.
struct NodeHost {
    among: Arc<Among>,
    nodes: Arc<ClusterNodes>,
}

impl Host for NodeHost {
    fn release(&self, partitions: Vec<PartitionId>) -> BoxFuture<'_, ()> {
        let among = self.among.clone();
        let spaces: Vec<SpaceId> = partitions.iter().map(|partition| SpaceId(partition.0)).collect();
        self.nodes.tell_of_change();
        let released = self.nodes.runtime.spawn(async move { among.release(&spaces).await });
        Box::pin(async move {
            if let Err(error) = released.await {
                tracing::error!(%error, "partitions were not let go of as they should be");
            }
        })
    }

    fn adopted(&self) {
        self.nodes.forget_ended();
        self.nodes.tell_of_change();
        let nodes = self.nodes.clone();
        drop(self.nodes.runtime.spawn(async move {
            for pause in SAID_AGAIN_AFTER {
                nodes.env.clock.sleep(pause).await;
                nodes.tell_all(&[ROUND]);
            }
        }));
    }
}

/// Which partitions there are.
struct NodeRoll(Arc<ClusterNodes>);

impl Roll for NodeRoll {
    fn partitions<'a>(
        &'a self,
        current: &'a Assignment,
    ) -> BoxFuture<'a, Result<Vec<Partition>, RegisterError>> {
        let known = self.0.among.get().and_then(|among| among.spaces());
        let of = |id: u64| Partition { id: PartitionId(id), load: 0 };
        let is_trusted = self.0.among.get().is_some_and(|among| among.is_trusted());
        let partitions = match known {
            Some(spaces) if is_trusted => spaces.into_iter().map(|space| of(space.0)).collect(),
            // The tree has to be somewhere before anybody can say what is in it. One whose copy of it is old does not know
            // what others have made since: what is at a node stays there.
            known => {
                let known = known.into_iter().flatten().map(|space| space.0);
                let mut ids: Vec<u64> = current.places.keys().map(|id| id.0).chain(known).collect();
                ids.push(Among::root_space().0);
                ids.sort_unstable();
                ids.dedup();
                ids.into_iter().map(of).collect()
            }
        };
        Box::pin(std::future::ready(Ok(partitions)))
    }

    fn pins(&self) -> Pins {
        let now = self.0.env.clock.elapsed();
        let mut pins = self.0.pins.lock();
        pins.retain(|_, (_, until)| now < *until);
        pins.iter().map(|(partition, (node, _))| (*partition, node.clone())).collect()
    }

    fn silent(&self, nodes: Vec<(NodeId, String)>) -> BoxFuture<'_, BTreeSet<NodeId>> {
        let others = nodes.into_iter().filter(|(id, _)| id != self.0.ownership.node());
        let asked = others.map(move |(id, address)| async move {
            let link = self.0.linked(&id, &address).link.clone();
            link.call(Bytes::from_static(&[PING]), PING_PATIENCE).await.is_err().then_some(id)
        });
        Box::pin(async move { join_all(asked).await.into_iter().flatten().collect() })
    }

    fn posted(&self) {
        self.0.tell_all(&[LOOK]);
    }
}

fn board(place: &Place) -> Result<Board> {
    let board = match place.as_folder() {
        Some(folder) => Board::folder(&folder.join("cluster"))?,
        None => Board::objects(place.objects(), &place.beside("cluster")),
    };
    // A process that has the store for itself takes this one: so there is either the one or the others.
    Ok(board.coordinated_by(place.register("owner")))
}

/// Fails where nodes serve what lies at a place.
pub(crate) async fn check_no_nodes(place: &Place, env: &Env) -> Result<()> {
    let living = board(place)?.living(env).await.map_err(|error| anyhow!("{error}"))?;
    let addresses: Vec<String> = living.into_iter().map(|note| note.address).collect();
    match addresses.is_empty() {
        true => Ok(()),
        false => Err(anyhow!(
            "{place} is served by the nodes {}: join them with --node, or stop them first",
            addresses.join(", ")
        )),
    }
}

/// Fails where nodes serve what lies at a place that have another key: this one would be given partitions, and nobody could
/// ask it for them. Where none is left, the key may change.
async fn check_key(place: &Place, secret: &Secret, env: &Env) -> Result<()> {
    const ATTEMPTS: u32 = 5;
    let (register, mark) = (place.register("node-key"), Bytes::from(secret.mark()));
    for _ in 0..ATTEMPTS {
        let found = register.read().await.map_err(|error| anyhow!("{error}"))?;
        let version = match found {
            Some((known, _)) if known == mark => return Ok(()),
            Some((_, version)) => {
                if check_no_nodes(place, env).await.is_err() {
                    bail!(
                        "the nodes that serve it have another key: give this one the same, with --key or ARMILLA_KEY"
                    );
                }
                Some(version)
            }
            None => None,
        };
        match register.replace(version.as_ref(), mark.clone()).await {
            Ok(_) => return Ok(()),
            // Another was faster, or it is not known: the next look tells.
            Err(error) => tracing::info!(%error, "the mark of the nodes' key could not be written"),
        }
    }
    bail!("the mark of the nodes' key could not be written")
}

impl Node {
    /// Joins the nodes that serve what lies at a place.
    pub(crate) async fn join(url: &str, settings: &NodeSettings, env: &Env) -> Result<Node> {
        let place = Place::of_url(url).map_err(|error| anyhow!("{error}"))?;
        check_key(&place, &settings.secret, env).await?;
        drop(place);
        let listener = TcpListener::bind(settings.address)
            .await
            .with_context(|| format!("cannot listen for other nodes on {}", settings.address))?;
        let address = listener.local_addr()?;
        let options = MemberOptions {
            address: address.to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            length: settings.lease,
        };
        let (joined, told) = oneshot::channel();
        let (give_up, given_up) = oneshot::channel();
        let (host, hosted) = oneshot::channel::<(Arc<Among>, Arc<ClusterNodes>)>();
        let (tell_lost, lost) = watch::channel(false);
        let (tell_left, left) = watch::channel(false);
        let leave = Arc::new(Notify::new());
        let (own_url, own_env, leaving, length) =
            (url.to_owned(), env.clone(), leave.clone(), settings.lease);
        let keep = async move {
            let place = match Place::of_url(&own_url) {
                Ok(place) => place,
                Err(error) => return drop(joined.send(Err(anyhow!("{error}")))),
            };
            let member = async { Ok::<_, anyhow::Error>((board(&place)?, board(&place)?)) };
            let member = match member.await {
                Ok((own, other)) => match Member::join(own, options, &own_env).await {
                    Ok(member) => Ok((member, other)),
                    Err(error) => Err(anyhow!("{error}")),
                },
                Err(error) => Err(error),
            };
            let (member, board) = match member {
                Ok(member) => member,
                Err(error) => return drop(joined.send(Err(error))),
            };
            let coordinator = Coordinator::new(board, member.ownership(), length, &own_env);
            let pokes = (member.poke(), coordinator.poke());
            if joined.send(Ok((member.ownership(), pokes))).is_err() {
                return member.end().await;
            }
            let Ok((among, nodes)) = hosted.await else { return member.end().await };
            let kept = Kept { member, coordinator, leaving, env: own_env };
            kept.run(NodeHost { among, nodes }, given_up, &tell_lost, &tell_left).await;
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new()
            .name("armilla-lease".to_owned())
            .spawn(move || runtime.block_on(keep))
            .context("cannot start a thread")?;
        let (ownership, (look, round)) = told.await.context("it was not answered")??;
        tracing::info!(node = %ownership.node(), %address, "this process is a node of the account");
        let nodes = Arc::new(ClusterNodes {
            ownership,
            secret: settings.secret.clone(),
            links: Mutex::default(),
            calls: Arc::default(),
            look,
            round,
            changes: watch::Sender::new(0),
            among: OnceLock::new(),
            pins: Mutex::default(),
            drained: watch::Sender::new(false),
            is_ending: AtomicBool::new(false),
            runtime: Handle::current(),
            env: env.clone(),
        });
        let (among_told, among) = oneshot::channel();
        let handed = nodes.clone();
        drop(tokio::spawn(async move {
            if let Ok(among) = among.await {
                let _ = host.send((among, handed));
            }
        }));
        Ok(Node {
            nodes,
            give_up,
            leave,
            thread,
            lost,
            left,
            host: Some(among_told),
            listener: Some(listener),
            serving: None,
            secret: settings.secret.clone(),
        })
    }

    pub(crate) fn nodes(&self) -> Arc<ClusterNodes> {
        self.nodes.clone()
    }

    pub(crate) fn tenure(&self) -> armilla_lease::Tenure {
        self.nodes.ownership.tenure()
    }

    /// Begins to answer other nodes, and to take partitions.
    pub(crate) fn begin(&mut self, among: &Arc<Among>) {
        let _ = self.nodes.among.set(among.clone());
        if let Some(host) = self.host.take() {
            let _ = host.send(among.clone());
        }
        if let Some(listener) = self.listener.take() {
            let service = Arc::new(NodeService { among: among.clone(), nodes: self.nodes.clone() });
            let (end, ended) = oneshot::channel::<()>();
            let secret = self.secret.clone();
            let serving = tokio::spawn(async move {
                let ended = async move {
                    let _ = ended.await;
                };
                armilla_peer::serve(listener, service, secret, ended).await;
            });
            self.serving = Some((end, serving));
        }
    }

    /// Returns what ends when others have found that this node has ended.
    pub(crate) fn lost(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut lost = self.lost.clone();
        async move {
            if lost.wait_for(|lost| *lost).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns what ends when somebody asks this node to end.
    pub(crate) fn drained(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut drained = self.nodes.drained.subscribe();
        async move {
            let _ = drained.wait_for(|drained| *drained).await;
        }
    }

    /// Returns what ends once other nodes have taken what this one had, which it asks them to, or where there is no other.
    pub(crate) fn leave(&self) -> impl Future<Output = ()> + Send + 'static {
        self.leave.notify_one();
        let (mut left, nodes) = (self.left.clone(), self.nodes.clone());
        async move {
            let _ = left.wait_for(|left| *left).await;
            nodes.is_ending.store(true, Ordering::Release);
        }
    }

    /// Ends: others need not wait.
    pub(crate) async fn release(self) {
        if let Some((end, serving)) = self.serving {
            let _ = end.send(());
            let _ = serving.await;
        }
        let _ = self.give_up.send(());
        let ended = tokio::task::spawn_blocking(move || self.thread.join());
        if !matches!(ended.await, Ok(Ok(()))) {
            tracing::warn!("the node's record could not be ended: others have to wait for its lease");
        }
    }
}

/// What the thread of the lease does.
struct Kept {
    member: Member,
    coordinator: Coordinator,
    leaving: Arc<Notify>,
    env: Env,
}

impl Kept {
    async fn run(
        self,
        host: NodeHost,
        mut given_up: oneshot::Receiver<()>,
        tell_lost: &watch::Sender<bool>,
        tell_left: &watch::Sender<bool>,
    ) {
        let Kept { mut member, coordinator, leaving, env } = self;
        let ownership = member.ownership();
        let roll = NodeRoll(host.nodes.clone());
        let (end_coordinating, coordinating_ended) = oneshot::channel::<()>();
        let coordinating = tokio::spawn(async move {
            let ended = async move {
                let _ = coordinating_ended.await;
            };
            coordinator.run(&roll, ended).await;
        });
        let words = member.words();
        let telling = async {
            loop {
                env.clock.sleep(LOADS_PERIOD).await;
                words.set_loads(loads(&host.among));
            }
        };
        let leaving = async {
            leaving.notified().await;
            words.leave();
            host.nodes.tell_all(&[ROUND]);
            loop {
                // Where all are about to end, nobody takes anything.
                let is_taker =
                    |(id, node): &(NodeId, armilla_cluster::Node)| id != ownership.node() && !node.is_leaving;
                if ownership.has_given_all() || !ownership.nodes().iter().any(is_taker) {
                    tell_left.send_replace(true);
                }
                env.clock.sleep(LEAVING_PERIOD).await;
            }
        };
        // None of them is begun anew for another: what a node has begun to let go of, it lets go of.
        tokio::select! {
            biased;
            // Also where it was dropped.
            _ = &mut given_up => {}
            () = member.run(&host) => {
                tell_lost.send_replace(true);
                return;
            }
            () = telling => {}
            () = leaving => {}
        }
        drop(end_coordinating);
        let _ = coordinating.await;
        member.end().await;
    }
}

/// Returns what is asked of this node's partitions, of those of which most is. In steps of two, so that places do not change
/// with every request.
fn loads(among: &Among) -> Vec<Partition> {
    let mut loads: Vec<Partition> = among
        .loads()
        .into_iter()
        .filter(|(_, load)| *load >= LOAD_MIN)
        .map(|(space, load)| Partition { id: PartitionId(space.0), load: 1 << load.ilog2() })
        .collect();
    loads.sort_unstable_by_key(|partition| (std::cmp::Reverse(partition.load), partition.id));
    loads.truncate(LOADS_MAX);
    loads
}
