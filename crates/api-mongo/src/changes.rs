//! Change streams: the change feeds of collections as events, with tokens from which they go on.
//!
//! A token says for each collection how far its feed was read; the engine's positions in it outlive restarts, splits and
//! merges. Feeds are read one change at a time, so that every event has a token of its own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    Caller, ChangeKind, FeedChange, FeedMode, FeedPageRequest, FeedStart, ItemName, ListScope,
};
use armilla_mongo_expression::{Environment, codes};
use armilla_mongo_pipeline::{Outside, Pipeline};
use armilla_mongo_wire::{bson, item_id};
use armilla_value::{Object, Value};

use crate::Shared;
use crate::catalog::{Collection, Found};
use crate::cluster_time::ClusterTime;
use crate::data::Charges;
use crate::documents;
use crate::failure::{Failure, Result};
use crate::limits::BATCH_BYTES_ENOUGH;
use crate::namespace::Namespace;
use crate::supply::{Portion, Room};

/// Collections that one stream follows.
const COLLECTIONS_MAX: usize = 1_000;
/// Between two looks at several collections.
const PAUSE: Duration = Duration::from_millis(50);

/// What a stream is about.
#[derive(Debug, Clone)]
pub(crate) enum Watched {
    Collection(Namespace),
    Database(String),
    Everything,
}

/// Which images of documents are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Image {
    /// None, or for an update none.
    Off,
    /// As it is when the event is read.
    Lookup,
    /// As it was, if that is kept.
    WhenAvailable,
    /// As it was; it is a failure if that is not kept.
    Required,
}

/// Where a stream begins.
pub(crate) enum Begin {
    Now,
    At { seconds: u32, increment: u32 },
    Token(Token),
}

/// A change stream.
pub(crate) struct Stream {
    pub(crate) shared: Arc<Shared>,
    pub(crate) caller: Caller,
    pub(crate) watched: Watched,
    pub(crate) after: Image,
    pub(crate) before: Image,
    pub(crate) pipeline: Pipeline,
    pub(crate) environment: Arc<Environment>,
    positions: BTreeMap<String, Position>,
    /// Events before it are left out.
    from: (u32, u32),
    /// Whether the stream is at its end.
    is_over: bool,
    /// Events that did not fit, with the token after each.
    left: VecDeque<Object>,
    clock: (u32, u32),
}

/// How far the feed of a collection was read.
#[derive(Debug, Clone)]
struct Position {
    namespace: Namespace,
    start: FeedStart,
}

/// A token: how far each collection was read, and whether the stream had come to its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Token {
    positions: BTreeMap<String, (String, String)>,
    clock: (u32, u32),
    is_invalidate: bool,
}

impl Token {
    /// Reads `{_data: hex}`.
    pub(crate) fn read(value: &Object) -> Result<Token> {
        let invalid = || Failure::new(codes::INVALID_RESUME_TOKEN, "Invalid resume token: it was not given by this server");
        let hex = value.get("_data").and_then(Value::as_str).ok_or_else(invalid)?;
        let bytes = (0..hex.len() / 2)
            .map(|place| hex.get(place * 2..place * 2 + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()))
            .collect::<Option<Vec<u8>>>()
            .ok_or_else(invalid)?;
        let object = bson::decode(&bytes).map_err(|_| invalid())?;
        let (Some(Value::Timestamp { seconds, increment }), Some(Value::Object(positions))) =
            (object.get("t"), object.get("p"))
        else {
            return Err(invalid());
        };
        let mut token = Token {
            clock: (*seconds, *increment),
            is_invalidate: object.get("i") == Some(&Value::Bool(true)),
            positions: BTreeMap::new(),
        };
        for (rid, position) in positions.iter() {
            let (Some(namespace), Some(at)) = (
                position.get("n").and_then(Value::as_str),
                position.get("a").and_then(Value::as_str),
            ) else {
                return Err(invalid());
            };
            token.positions.insert(rid.to_owned(), (namespace.to_owned(), at.to_owned()));
        }
        Ok(token)
    }

    /// Says whether it is that of an event after which nothing comes.
    pub(crate) fn is_invalidate(&self) -> bool {
        self.is_invalidate
    }

    fn write(&self) -> Object {
        let positions: Object = self
            .positions
            .iter()
            .map(|(rid, (namespace, at))| {
                (rid.clone(), Value::Object(Object::from([("n", namespace.as_str()), ("a", at.as_str())])))
            })
            .collect();
        let mut object = Object::from([
            ("t", Value::Timestamp { seconds: self.clock.0, increment: self.clock.1 }),
            ("p", Value::Object(positions)),
        ]);
        if self.is_invalidate {
            object.insert("i", true);
        }
        let mut bytes = Vec::new();
        // Names and positions have no zero characters, which alone cannot be written.
        let _ = bson::encode(&object, &mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        Object::from([("_data", hex)])
    }
}

impl Stream {
    #[expect(clippy::too_many_arguments, reason = "they are what a change stream consists of")]
    pub(crate) async fn open(
        shared: Arc<Shared>,
        caller: Caller,
        watched: Watched,
        begin: Begin,
        after: Image,
        before: Image,
        pipeline: Pipeline,
        environment: Arc<Environment>,
    ) -> Result<Stream> {
        let now = shared.clock.tick();
        let mut stream = Stream {
            shared,
            caller,
            watched,
            after,
            before,
            pipeline,
            environment,
            positions: BTreeMap::new(),
            from: (0, 0),
            is_over: false,
            left: VecDeque::new(),
            clock: (now.seconds, now.increment),
        };
        let present = stream.present().await?;
        match begin {
            Begin::Token(token) => {
                stream.clock = token.clock;
                for (rid, (namespace, at)) in token.positions {
                    let namespace = Namespace::parse(&namespace)?;
                    stream.positions.insert(rid, Position { namespace, start: FeedStart::Token(at) });
                }
            }
            Begin::At { seconds, increment } => {
                stream.from = (seconds, increment);
                for collection in present {
                    let start = FeedStart::Time(seconds);
                    stream.follow(&collection, start);
                }
            }
            Begin::Now => {
                // What is written from now on is seen: positions are taken before the client is answered.
                for collection in present {
                    stream.follow(&collection, FeedStart::Now);
                    let rid = collection.handle.rid().to_string();
                    stream.read_one(&rid, &collection, &Charges::default(), None).await?;
                }
            }
        }
        Ok(stream)
    }

    fn follow(&mut self, collection: &Collection, start: FeedStart) {
        let rid = collection.handle.rid().to_string();
        self.positions.insert(rid, Position { namespace: collection.namespace.clone(), start });
    }

    /// Returns the collections that are there.
    async fn present(&self) -> Result<Vec<Collection>> {
        let namespaces = match &self.watched {
            Watched::Collection(namespace) => vec![namespace.clone()],
            Watched::Database(database) => self.names(database)?,
            Watched::Everything => {
                let mut all = Vec::new();
                let mut continuation: Option<String> = None;
                loop {
                    let page = self.shared.engine.list_databases(&Caller::full(), None, continuation.as_deref())?.value;
                    for database in &page.resources {
                        if !matches!(database.id.as_str(), "admin" | "config" | "local") {
                            all.extend(self.names(&database.id)?);
                        }
                    }
                    match page.continuation {
                        Some(next) => continuation = Some(next),
                        None => break all,
                    }
                }
            }
        };
        let mut present = Vec::new();
        for namespace in namespaces.into_iter().take(COLLECTIONS_MAX) {
            if let Found::Collection(collection) = self.shared.catalog.find(&namespace).await? {
                present.push(collection);
            }
        }
        Ok(present)
    }

    fn names(&self, database: &str) -> Result<Vec<Namespace>> {
        let mut all = Vec::new();
        let mut continuation: Option<String> = None;
        loop {
            let listed =
                self.shared.engine.list_containers(&Caller::full(), database, None, continuation.as_deref());
            let Some(page) = crate::catalog::found(listed)? else { return Ok(all) };
            all.extend(page.value.resources.iter().filter_map(|found| Namespace::new(database, &found.id).ok()));
            match page.value.continuation {
                Some(next) => continuation = Some(next),
                None => return Ok(all),
            }
        }
    }

    fn token(&self) -> Token {
        let positions = self.positions.iter().filter_map(|(rid, position)| match &position.start {
            FeedStart::Token(at) => Some((rid.clone(), (position.namespace.to_string(), at.clone()))),
            _ => None,
        });
        Token { positions: positions.collect(), clock: self.clock, is_invalidate: false }
    }

    /// Reads the next change of a collection, waiting for it if it is told to, and moves on behind it.
    async fn read_one(
        &mut self,
        rid: &str,
        collection: &Collection,
        charges: &Charges,
        wait: Option<Duration>,
    ) -> Result<Option<FeedChange>> {
        let Some(position) = self.positions.get(rid) else { return Ok(None) };
        let definition = collection.handle.definition();
        let mode = match definition.change_feed_retention_minutes {
            Some(_) => FeedMode::AllVersions,
            None => FeedMode::Latest,
        };
        let request = FeedPageRequest {
            mode,
            scope: ListScope::All,
            start: position.start.clone(),
            modified_since: None,
            items_max: Some(1),
            wait,
        };
        let answer = self.shared.engine.change_feed(&self.caller, &collection.handle, request).await;
        let page = match answer {
            Ok(answer) => answer.page,
            Err(error) => {
                charges.add(error.charge);
                return Err(error.into());
            }
        };
        charges.add(page.charge);
        if let Some(position) = self.positions.get_mut(rid) {
            position.start = FeedStart::Token(page.token);
        }
        Ok(page.changes.into_iter().next())
    }

    /// Takes the next events; waits for one where there is none.
    pub(crate) async fn take(&mut self, room: Room, charges: &Charges) -> Result<Portion> {
        let clock = self.shared.env.clock.clone();
        let deadline = clock.elapsed() + room.wait;
        let mut portion = Portion::default();
        let mut bytes = 0;
        let mut last = None;
        while let Some(event) = self.left.pop_front() {
            last = event.get("_id").and_then(Value::as_object).cloned();
            self.add(&mut portion, &mut bytes, &event)?;
            if portion.documents.len() >= room.documents {
                break;
            }
        }
        while self.left.is_empty() && portion.documents.len() < room.documents && bytes < BATCH_BYTES_ENOUGH && !self.is_over {
            let read = self.round(charges, &mut portion, &mut bytes, room).await;
            match read {
                Ok(true) => continue,
                Ok(false) => {}
                // A stream is never ended by a lack of throughput: it has nothing for now.
                Err(failure) if failure.code == codes::TOO_MANY_REQUESTS => {}
                Err(failure) => return Err(failure),
            }
            if !portion.documents.is_empty() || self.is_over {
                break;
            }
            let now = clock.elapsed();
            if now >= deadline {
                break;
            }
            clock.sleep(PAUSE.min(deadline.saturating_sub(now))).await;
        }
        let token = match (self.left.is_empty(), last) {
            (false, Some(last)) => last,
            _ => self.token().write(),
        };
        portion.extra.insert("postBatchResumeToken", token);
        portion.is_last = self.is_over && self.left.is_empty();
        Ok(portion)
    }

    /// Looks at every collection once; says whether there was an event.
    async fn round(&mut self, charges: &Charges, portion: &mut Portion, bytes: &mut usize, room: Room) -> Result<bool> {
        let present = self.present().await?;
        for collection in &present {
            let rid = collection.handle.rid().to_string();
            if !self.positions.contains_key(&rid) {
                // It came into being while the stream was open: all of it is news.
                self.follow(collection, FeedStart::Beginning);
            }
        }
        let mut is_found = false;
        for collection in &present {
            let rid = collection.handle.rid().to_string();
            while portion.documents.len() < room.documents && *bytes < BATCH_BYTES_ENOUGH {
                let Some(change) = self.read_one(&rid, collection, charges, None).await? else { break };
                is_found = true;
                if let Some(event) = self.event(collection, &change)? {
                    self.show(event, portion, bytes)?;
                }
            }
        }
        let gone: Vec<String> = self
            .positions
            .keys()
            .filter(|rid| !present.iter().any(|collection| collection.handle.rid().to_string() == **rid))
            .cloned()
            .collect();
        for rid in gone {
            let Some(position) = self.positions.remove(&rid) else { continue };
            is_found = true;
            self.dropped(&position.namespace, portion, bytes)?;
        }
        Ok(is_found)
    }

    fn dropped(&mut self, namespace: &Namespace, portion: &mut Portion, bytes: &mut usize) -> Result<()> {
        let now = self.shared.clock.tick();
        self.clock = (now.seconds, now.increment);
        let mut event = self.head("drop", &self.token());
        event.insert("ns", name_object(namespace));
        self.show(event, portion, bytes)?;
        if matches!(self.watched, Watched::Collection(_)) {
            let token = Token { is_invalidate: true, ..self.token() };
            let event = self.head("invalidate", &token);
            self.show(event, portion, bytes)?;
            self.is_over = true;
        }
        Ok(())
    }

    fn head(&self, operation: &str, token: &Token) -> Object {
        Object::from([
            ("_id", Value::Object(token.write())),
            ("operationType", Value::from(operation)),
            ("clusterTime", Value::Timestamp { seconds: self.clock.0, increment: self.clock.1 }),
            ("wallTime", Value::Date(i64::from(self.clock.0) * 1_000)),
        ])
    }

    /// Puts an event through the stages, and adds what comes out.
    fn show(&mut self, event: Object, portion: &mut Portion, bytes: &mut usize) -> Result<()> {
        let input = Box::new(std::iter::once(Ok(event)));
        let output = self.pipeline.run(input, self.environment.clone(), Arc::new(Nothing))?;
        for event in output {
            let event = event?;
            if !event.contains("_id") {
                return Err(Failure::new(
                    codes::CHANGE_STREAM_FATAL_ERROR,
                    "Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. \
                     Modifying the _id field of an event makes it impossible to resume the stream from that point.",
                ));
            }
            if portion.documents.is_empty() || *bytes < BATCH_BYTES_ENOUGH {
                self.add(portion, bytes, &event)?;
            } else {
                self.left.push_back(event);
            }
        }
        Ok(())
    }

    fn add(&self, portion: &mut Portion, bytes: &mut usize, event: &Object) -> Result<()> {
        let mut encoded = Vec::new();
        bson::encode(event, &mut encoded)?;
        *bytes += encoded.len();
        portion.documents.push(encoded);
        Ok(())
    }

    /// Makes an event of a change; nothing of one that is before the beginning.
    fn event(&mut self, collection: &Collection, change: &FeedChange) -> Result<Option<Object>> {
        // Of what is gone only the second is known: it comes after what came before it.
        self.clock = match &change.item {
            Some(item) => {
                let time = ClusterTime::from(item.moment());
                (time.seconds, time.increment)
            }
            None => (self.clock.0, self.clock.1.saturating_add(1)).max((change.ts, 1)),
        };
        let is_before = match change.item {
            Some(_) => self.clock < self.from,
            None => change.ts < self.from.0,
        };
        if is_before {
            return Ok(None);
        }
        let after = change.item.as_ref().map(documents::of_item);
        let before = change.previous.as_ref().map(documents::of_item);
        let (operation, description) = match (change.kind, &before, &after) {
            (ChangeKind::Create, ..) => ("insert", None),
            (ChangeKind::Delete | ChangeKind::Expire, ..) => ("delete", None),
            (ChangeKind::Replace, ..) => ("replace", None),
            (ChangeKind::Update, Some(before), Some(after)) => {
                ("update", Some(armilla_mongo_update::describe(before, after)))
            }
            (ChangeKind::Update, ..) => ("replace", None),
        };
        let mut event = self.head(operation, &self.token());
        event.insert("ns", name_object(&collection.namespace));
        let known = after.as_ref().or(before.as_ref());
        let mut key = Object::new();
        for path in collection.shard_key.iter() {
            if let Some(value) = known.and_then(|known| documents::at_path(known, path)) {
                key.insert(path.join("."), value.clone());
            }
        }
        let id = match known.and_then(|known| known.get("_id")) {
            Some(id) => id.clone(),
            None => item_id::value_of(&change.id).unwrap_or_else(|| Value::String(change.id.clone())),
        };
        key.insert("_id", id);
        event.insert("documentKey", key);
        let full = match operation {
            "insert" | "replace" => after.map(Value::Object),
            "update" => match self.after {
                Image::Off => None,
                Image::Lookup => Some(self.look_up(collection, change)?.map_or(Value::Null, Value::Object)),
                Image::WhenAvailable | Image::Required => Some(after.map_or(Value::Null, Value::Object)),
            },
            _ => None,
        };
        if let Some(full) = full {
            event.insert("fullDocument", full);
        }
        if let Some(description) = description {
            event.insert("updateDescription", description);
        }
        let shows_before = operation != "insert" && collection.details.keeps_images();
        match self.before {
            Image::Required if operation != "insert" && (before.is_none() || !shows_before) => {
                return Err(Failure::new(
                    codes::NO_MATCHING_DOCUMENT,
                    "Change stream was configured to require a pre-image for all update, delete and replace events, but \
                     the pre-image was not found",
                ));
            }
            Image::WhenAvailable | Image::Required if operation != "insert" => {
                let before = before.filter(|_| shows_before).map_or(Value::Null, Value::Object);
                event.insert("fullDocumentBeforeChange", before);
            }
            _ => {}
        }
        Ok(Some(event))
    }

    fn look_up(&self, collection: &Collection, change: &FeedChange) -> Result<Option<Object>> {
        let key = match &change.item {
            Some(item) => documents::partition_key_of_item(item, &collection.shard_key),
            None => change.partition_key.clone(),
        };
        let id = match &change.item {
            Some(item) => documents::id_of_item(item),
            None => change.id.clone(),
        };
        let read = self.shared.engine.read_item(&self.caller, &collection.handle, ItemName::Id(&id), Some(&key), None);
        Ok(crate::catalog::found(read)?.map(|read| documents::of_item(&read.item)))
    }
}

fn name_object(namespace: &Namespace) -> Object {
    Object::from([("db", namespace.database.as_str()), ("coll", namespace.collection.as_str())])
}

/// The stages of a stream reach no collection.
struct Nothing;

impl Outside for Nothing {
    fn documents(
        &self,
        _database: Option<&str>,
        _collection: &str,
        _narrowed_by: Option<&armilla_mongo_filter::Filter>,
    ) -> armilla_mongo_expression::Result<armilla_mongo_pipeline::Documents> {
        Ok(Box::new(std::iter::empty()))
    }
}
