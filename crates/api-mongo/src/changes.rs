//! Change streams: the change feeds of collections as events, with tokens from which they go on.
//!
//! A token says for each collection how far its feed was read; the engine's positions in it outlive restarts, splits and
//! merges. Feeds are read one change at a time, so that every event has a token of its own.

mod token;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    Caller, ChangeKind, ErrorKind, FeedChange, FeedMode, FeedPageRequest, FeedStart, ItemName, ListScope,
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
use crate::schema_changes::SchemaChange;
use crate::supply::{Portion, Room};

use self::token::Position;
pub(crate) use self::token::Token;

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
    /// Whether what happens to collections besides writes is told too.
    is_expanded: bool,
    /// How far that was told.
    told: ClusterTime,
    /// Whether the stream is at its end.
    is_over: bool,
    /// Events that did not fit, with the token after each.
    left: VecDeque<Object>,
    clock: (u32, u32),
}

/// How a collection, or all of a database, comes to its end.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Drop,
    /// To another name, and which collection had it.
    Rename {
        to: Namespace,
        replaced: Option<String>,
    },
    DropDatabase,
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
        is_expanded: bool,
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
            is_expanded,
            told: now,
            is_over: false,
            left: VecDeque::new(),
            clock: (now.seconds, now.increment),
        };
        let present = stream.present().await?;
        match begin {
            Begin::Token(token) => {
                stream.clock = token.clock;
                stream.told = ClusterTime { seconds: token.clock.0, increment: token.clock.1 };
                stream.positions = token.positions;
            }
            Begin::At { seconds, increment } => {
                stream.from = (seconds, increment);
                stream.told = ClusterTime { seconds, increment: increment.saturating_sub(1) };
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
                    stream.read_page(&rid, &collection, &Charges::default()).await?;
                }
            }
        }
        Ok(stream)
    }

    fn follow(&mut self, collection: &Collection, start: FeedStart) {
        let rid = collection.handle.rid().to_string();
        self.positions.insert(rid, Position::new(collection.namespace.clone(), start));
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
                    let page = self
                        .shared
                        .engine
                        .list_databases(&Caller::full(), None, continuation.as_deref())?
                        .value;
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
            all.extend(
                page.value.resources.iter().filter_map(|found| Namespace::new(database, &found.id).ok()),
            );
            match page.value.continuation {
                Some(next) => continuation = Some(next),
                None => return Ok(all),
            }
        }
    }

    fn token(&self) -> Token {
        Token { positions: self.positions.clone(), clock: self.clock, is_invalidate: false }
    }

    /// Reads the next changes of a collection, which are those of one commit, and where the page after them begins.
    async fn read_page(
        &mut self,
        rid: &str,
        collection: &Collection,
        charges: &Charges,
    ) -> Result<Option<(Vec<FeedChange>, String)>> {
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
            wait: None,
        };
        let answer = self.shared.engine.change_feed(&self.caller, &collection.handle, request).await;
        let page = match answer {
            Ok(answer) => answer.page,
            Err(error) => {
                charges.add(error.charge);
                // Before its first commit a collection has no feed that could begin.
                if error.kind == ErrorKind::FeedExpired
                    && position.start == FeedStart::Beginning
                    && collection.handle.usage(&Caller::full())?.items == 0
                {
                    return Ok(None);
                }
                return Err(error.into());
            }
        };
        charges.add(page.charge);
        if page.changes.is_empty() {
            if let Some(position) = self.positions.get_mut(rid) {
                position.start = FeedStart::Token(page.token);
                position.shown = 0;
            }
            return Ok(None);
        }
        Ok(Some((page.changes, page.token)))
    }

    /// Shows what is new in collections in the order of its moments, as long as there is room; says whether there was
    /// anything. Of what is gone only the second is known: it is taken for the end of it.
    async fn follow_up(
        &mut self,
        collections: &[Collection],
        charges: &Charges,
        portion: &mut Portion,
        bytes: &mut usize,
        room: Room,
    ) -> Result<bool> {
        let mut is_found = false;
        // What lies before this, or at it, is seen in all collections.
        let mut seen_until = self.shared.clock.of_day();
        let mut heads = Vec::with_capacity(collections.len());
        for collection in collections {
            heads.push(self.read_page(&collection.handle.rid().to_string(), collection, charges).await?);
        }
        while portion.documents.len() < room.documents && *bytes < BATCH_BYTES_ENOUGH {
            let moments = heads.iter().enumerate().filter_map(|(place, head)| {
                let (changes, _) = head.as_ref()?;
                let change = changes.first()?;
                let moment = match &change.item {
                    Some(item) => ClusterTime::from(item.moment()),
                    None => ClusterTime { seconds: change.ts, increment: u32::MAX },
                };
                Some((moment, place))
            });
            let next = moments.min();
            if let Some((moment, _)) = next
                && moment > seen_until
                && heads.iter().any(Option::is_none)
            {
                // Something may have been written before it to a collection that had been looked at by then.
                seen_until = self.shared.clock.of_day().max(moment);
                for (collection, head) in
                    collections.iter().zip(&mut heads).filter(|(_, head)| head.is_none())
                {
                    *head = self.read_page(&collection.handle.rid().to_string(), collection, charges).await?;
                }
                continue;
            }
            if let Some(change) = self.next_schema_change()
                && next.is_none_or(|(moment, place)| {
                    // Documents of a collection come after it was made, whatever the clocks of the two say.
                    let namespace = &collections[place].namespace;
                    change.at < moment || self.shared.schema_changes.is_made_after(self.told, namespace)
                })
            {
                is_found = true;
                self.told = change.at;
                self.clock = (change.at.seconds, change.at.increment);
                let mut event = self.head(change.operation, &self.token());
                event.insert("ns", name_object(&change.namespace));
                if let Some(uuid) = self.uuid_of(&change.namespace) {
                    event.insert("collectionUUID", uuid);
                }
                event.insert("operationDescription", change.description);
                self.show(event, portion, bytes, room)?;
                continue;
            }
            let Some((_, place)) = next else { break };
            let Some((changes, next)) = heads[place].take() else { break };
            is_found = true;
            self.show_page(&collections[place], &changes, &next, portion, bytes, room)?;
            let rid = collections[place].handle.rid().to_string();
            heads[place] = self.read_page(&rid, &collections[place], charges).await?;
        }
        Ok(is_found)
    }

    /// Returns the next thing that happened to a collection besides writes, if it is told.
    fn next_schema_change(&self) -> Option<SchemaChange> {
        let watches = |namespace: &Namespace| self.watches(namespace);
        self.is_expanded.then(|| self.shared.schema_changes.after(self.told, watches)).flatten()
    }

    /// Returns the UUID of a collection that is followed.
    fn uuid_of(&self, namespace: &Namespace) -> Option<Value> {
        let mut positions = self.positions.iter();
        let (rid, _) = positions.find(|(_, position)| position.namespace == *namespace)?;
        Some(crate::catalog::uuid_of(rid))
    }

    /// Shows the changes of one commit.
    fn show_page(
        &mut self,
        collection: &Collection,
        changes: &[FeedChange],
        next: &str,
        portion: &mut Portion,
        bytes: &mut usize,
        room: Room,
    ) -> Result<()> {
        let rid = collection.handle.rid().to_string();
        let shown = self.positions.get(&rid).map_or(0, |position| position.shown);
        let count = changes.len() as u64;
        for (place, change) in (0_u64..).zip(changes) {
            if place < shown {
                continue;
            }
            if let Some(position) = self.positions.get_mut(&rid) {
                if place + 1 == count {
                    (position.start, position.shown) = (FeedStart::Token(next.to_owned()), 0);
                } else {
                    position.shown = place + 1;
                }
            }
            if let Some(event) = self.event(collection, change)? {
                self.show(event, portion, bytes, room)?;
            }
        }
        Ok(())
    }

    /// Takes down what is left to show of collections that are about to go, and that they go.
    pub(crate) async fn end(&mut self, collections: &[Collection], ending: &Ending) -> Result<()> {
        let (mut portion, mut bytes) = (Portion::default(), 0);
        // All of it goes to what is left: nothing is shown before it is asked for.
        let room = Room { documents: usize::MAX, ..Room::default() };
        // What happened before in other collections is told before.
        let charges = Charges::default();
        let others: Vec<Collection> = self.present().await?;
        for other in &others {
            if !self.positions.contains_key(&other.handle.rid().to_string()) {
                self.follow(other, FeedStart::Beginning);
            }
        }
        self.follow_up(&others, &charges, &mut portion, &mut bytes, room).await?;
        for collection in collections {
            let rid = collection.handle.rid().to_string();
            if !self.positions.contains_key(&rid) {
                if !self.watches(&collection.namespace) {
                    continue;
                }
                self.follow(collection, FeedStart::Beginning);
            }
            self.follow_up(std::slice::from_ref(collection), &charges, &mut portion, &mut bytes, room)
                .await?;
            self.dropped(&collection.namespace, &rid, ending, &mut portion, &mut bytes)?;
        }
        if let (Ending::DropDatabase, Watched::Database(_) | Watched::Everything) = (ending, &self.watched)
            && let Some(first) = collections.first()
            && self.watches(&first.namespace)
        {
            let mut event = self.head("dropDatabase", &self.token());
            event.insert("ns", Object::from([("db", first.namespace.database.as_str())]));
            self.show(event, &mut portion, &mut bytes, room)?;
            if matches!(self.watched, Watched::Database(_)) {
                self.invalidate(&mut portion, &mut bytes)?;
            }
        }
        for document in portion.documents {
            self.left.push_back(bson::decode(&document)?);
        }
        Ok(())
    }

    /// Says whether the stream is about a collection.
    pub(crate) fn watches(&self, namespace: &Namespace) -> bool {
        match &self.watched {
            Watched::Collection(own) => own == namespace,
            Watched::Database(database) => *database == namespace.database,
            Watched::Everything => !matches!(namespace.database.as_str(), "admin" | "config" | "local"),
        }
    }

    /// Takes the next events; waits for one where there is none.
    pub(crate) async fn take(&mut self, room: Room, charges: &Charges) -> Result<Portion> {
        let clock = self.shared.env.clock.clone();
        let deadline = clock.elapsed() + room.wait;
        // Before the changes of collections are looked at: what is noted later is after it.
        let mut now = self.shared.clock.now();
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
        while self.left.is_empty()
            && portion.documents.len() < room.documents
            && bytes < BATCH_BYTES_ENOUGH
            && !self.is_over
        {
            now = self.shared.clock.now();
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
            _ => {
                // Time goes on where nothing happens, too.
                let clock = self.clock.max((now.seconds, now.increment));
                Token { clock, ..self.token() }.write()
            }
        };
        portion.extra.insert("postBatchResumeToken", token);
        portion.is_last = self.is_over && self.left.is_empty();
        Ok(portion)
    }

    /// Looks at every collection once; says whether there was an event.
    async fn round(
        &mut self,
        charges: &Charges,
        portion: &mut Portion,
        bytes: &mut usize,
        room: Room,
    ) -> Result<bool> {
        let present = self.present().await?;
        for collection in &present {
            let rid = collection.handle.rid().to_string();
            if !self.positions.contains_key(&rid) {
                // It came into being while the stream was open: all of it is news.
                self.follow(collection, FeedStart::Beginning);
            }
        }
        let mut is_found = self.follow_up(&present, charges, portion, bytes, room).await?;
        let gone: Vec<String> = self
            .positions
            .keys()
            .filter(|rid| !present.iter().any(|collection| collection.handle.rid().to_string() == **rid))
            .cloned()
            .collect();
        for rid in gone {
            let Some(position) = self.positions.get(&rid) else { continue };
            is_found = true;
            let namespace = position.namespace.clone();
            self.dropped(&namespace, &rid, &Ending::Drop, portion, bytes)?;
        }
        Ok(is_found)
    }

    fn dropped(
        &mut self,
        namespace: &Namespace,
        rid: &str,
        ending: &Ending,
        portion: &mut Portion,
        bytes: &mut usize,
    ) -> Result<()> {
        self.positions.remove(rid);
        let room = Room { documents: usize::MAX, ..Room::default() };
        let now = self.shared.clock.tick();
        self.clock = (now.seconds, now.increment);
        let operation = if matches!(ending, Ending::Rename { .. }) { "rename" } else { "drop" };
        let mut event = self.head(operation, &self.token());
        event.insert("ns", name_object(namespace));
        if let Ending::Rename { to, .. } = ending {
            event.insert("to", name_object(to));
        }
        if self.is_expanded {
            event.insert("collectionUUID", crate::catalog::uuid_of(rid));
            if let Ending::Rename { to, replaced } = ending {
                let mut description = Object::from([("to", name_object(to))]);
                if let Some(replaced) = replaced {
                    description.insert("dropTarget", crate::catalog::uuid_of(replaced));
                }
                event.insert("operationDescription", description);
            }
        }
        self.show(event, portion, bytes, room)?;
        if matches!(self.watched, Watched::Collection(_)) {
            self.invalidate(portion, bytes)?;
        }
        Ok(())
    }

    /// Ends the stream.
    fn invalidate(&mut self, portion: &mut Portion, bytes: &mut usize) -> Result<()> {
        let room = Room { documents: usize::MAX, ..Room::default() };
        let token = Token { is_invalidate: true, ..self.token() };
        let event = self.head("invalidate", &token);
        self.show(event, portion, bytes, room)?;
        self.is_over = true;
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
    fn show(&mut self, event: Object, portion: &mut Portion, bytes: &mut usize, room: Room) -> Result<()> {
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
            if portion.documents.is_empty()
                || (*bytes < BATCH_BYTES_ENOUGH && portion.documents.len() < room.documents)
            {
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
                let describe = match self.is_expanded {
                    true => armilla_mongo_update::describe_expanded,
                    false => armilla_mongo_update::describe,
                };
                ("update", Some(describe(before, after)))
            }
            (ChangeKind::Update, ..) => ("replace", None),
        };
        let mut event = self.head(operation, &self.token());
        event.insert("ns", name_object(&collection.namespace));
        if self.is_expanded {
            event.insert("collectionUUID", crate::catalog::uuid_of(&collection.handle.rid().to_string()));
        }
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
                Image::WhenAvailable if !collection.details.keeps_images() => Some(Value::Null),
                Image::Required if !collection.details.keeps_images() => {
                    return Err(Failure::new(
                        codes::NO_MATCHING_DOCUMENT,
                        "Change stream was configured to require a post-image for all update events, but the post-image \
                         was not found",
                    ));
                }
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
        let read = self.shared.engine.read_item(
            &self.caller,
            &collection.handle,
            ItemName::Id(&id),
            Some(&key),
            None,
        );
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
