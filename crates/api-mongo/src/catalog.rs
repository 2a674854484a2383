//! What collections have that containers have not: indexes by name, options, validators; and views.
//!
//! It is kept as items of a container of its own, one for each collection by the resource id of its container, so that
//! a container that was deleted and made again through another API begins anew. All of it is read once and then held in
//! memory, which is the truth from then on where one process serves the account.
//!
//! Where several do, what one of them changes, the others have to read:
//! * before something is changed on the ground of what is known of a collection ([`Catalog::change`]);
//! * before documents are deleted that have expired ([`Catalog::read_all_again`]);
//! * when a collection is used of which nothing is known yet;
//! * all else when it was read [`REMEMBERED_MAX`] ago. One command reads then, while others go on with what is known;
//!   so they do as long as it cannot be read, because the node cannot be reached that has it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{Caller, ContainerHandle, ETag, Engine, ErrorKind, Precondition};
use armilla_env::Env;
use armilla_mongo_expression::{Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_value::rid::ContainerRid;
use armilla_value::{Object, Value};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::RwLock;
use tokio::sync::OnceCell;

use crate::failure::{Failure, Result};
use crate::indexes::Index;
use crate::kept::Kept;
pub(crate) use crate::kept::{existing, found};
use crate::namespace::Namespace;
use crate::unique;

/// The container of what is kept.
const CONTAINER: &str = "system.collections";
/// What the ids of views begin with; resource ids of containers do not.
const VIEW_PREFIX: &str = "~v";
/// Views of an account.
const VIEWS_MAX: usize = 10_000;
/// How long what was read is believed where other processes may have changed it.
const REMEMBERED_MAX: Duration = Duration::from_secs(30);
/// How often all is read anew because this process has changed some of it meanwhile.
const READ_ATTEMPTS_MAX: usize = 5;

/// What is kept of a collection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Details {
    /// Its indexes but that of `_id`.
    pub(crate) indexes: Vec<Index>,
    /// What it was created with, as it is listed.
    pub(crate) options: Object,
    /// Which documents it takes.
    pub(crate) validator: Option<Arc<Filter>>,
    /// Whether it was made through this API: one made through another has its policy by itself.
    pub(crate) is_own: bool,
    /// The version of the item that it was read from; nothing where there was none.
    pub(crate) version: Option<ETag>,
}

impl Details {
    fn to_value(&self) -> Object {
        Object::from([
            (
                "indexes",
                Value::Array(self.indexes.iter().map(|index| Value::Object(index.to_object())).collect()),
            ),
            ("options", Value::Object(self.options.clone())),
            ("isOwn", Value::Bool(self.is_own)),
        ])
    }

    fn from_value(value: &Value, version: ETag) -> Option<Details> {
        let indexes = value.get("indexes")?.as_array()?;
        let indexes =
            indexes.iter().map(|index| Index::parse(index.as_object()?).ok()).collect::<Option<_>>()?;
        let options = value.get("options")?.as_object()?.clone();
        let is_own = value.get("isOwn").and_then(Value::as_bool).unwrap_or(false);
        let mut details = Details { indexes, options, validator: None, is_own, version: Some(version) };
        details.read_validator().ok()?;
        Some(details)
    }

    /// Compiles the validator that the options have.
    pub(crate) fn read_validator(&mut self) -> Result<()> {
        self.validator = match self.options.get("validator").and_then(Value::as_object) {
            Some(validator) if !validator.is_empty() => {
                Some(Arc::new(Filter::parse(validator, &Scope::default())?))
            }
            _ => None,
        };
        Ok(())
    }

    /// Says whether images of documents before their changes are asked for.
    pub(crate) fn keeps_images(&self) -> bool {
        let images = self.options.get("changeStreamPreAndPostImages");
        images.and_then(|images| images.get("enabled")).and_then(Value::as_bool).unwrap_or(false)
    }
}

/// A view: a pipeline over a collection or another view.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) on: String,
    pub(crate) pipeline: Vec<Value>,
}

/// A collection that is there.
#[derive(Clone)]
pub(crate) struct Collection {
    pub(crate) namespace: Namespace,
    pub(crate) handle: Arc<ContainerHandle>,
    pub(crate) details: Arc<Details>,
    /// The paths of the shard key; none for an unsharded collection.
    pub(crate) shard_key: Arc<Vec<Vec<String>>>,
}

/// What a name leads to.
pub(crate) enum Found {
    Collection(Collection),
    View(Arc<View>),
    Nothing,
}

#[derive(Default)]
struct State {
    details: HashMap<String, Arc<Details>>,
    views: HashMap<Namespace, Arc<View>>,
    /// When all of it is read again, on the clock of elapsed time.
    due: Duration,
    /// Counts changes: what was read before one must not take the place of what is known after it.
    change_count: u64,
}

/// What an item says.
enum Described {
    Collection(Details),
    View(Namespace, View),
}

/// All collections.
pub(crate) struct Catalog {
    engine: Engine,
    env: Env,
    kept: Kept,
    state: OnceCell<RwLock<State>>,
    /// Held while all of it is read again.
    reading: tokio::sync::Mutex<()>,
    /// Definitions change one at a time.
    changing: tokio::sync::Mutex<()>,
}

impl Catalog {
    pub(crate) fn new(engine: Engine, env: Env) -> Catalog {
        let kept = Kept::new(engine.clone(), CONTAINER);
        let (state, reading, changing) = (OnceCell::new(), Default::default(), Default::default());
        Catalog { engine, env, kept, state, reading, changing }
    }

    /// Keeps other changes of definitions by this process out, and reads again what is known of a name, which is about to
    /// be changed.
    pub(crate) async fn change(&self, namespace: &Namespace) -> Result<tokio::sync::MutexGuard<'_, ()>> {
        let changing = self.changing.lock().await;
        self.read_again(namespace).await?;
        Ok(changing)
    }

    /// The same for all that there is.
    pub(crate) async fn change_all(&self) -> Result<tokio::sync::MutexGuard<'_, ()>> {
        let changing = self.changing.lock().await;
        self.read_all_again().await?;
        Ok(changing)
    }

    async fn state(&self) -> Result<&RwLock<State>> {
        let state = self.state.get_or_try_init(|| async { self.load().map(RwLock::new) }).await?;
        if self.kept.is_shared() {
            self.read_what_is_old(state);
        }
        Ok(state)
    }

    fn read_what_is_old(&self, state: &RwLock<State>) {
        let is_due = || self.env.clock.elapsed() >= state.read().due;
        if !is_due() {
            return;
        }
        let Ok(_reading) = self.reading.try_lock() else { return };
        // Another may have been faster.
        if is_due()
            && let Err(failure) = self.load_into(state)
        {
            tracing::warn!("what other nodes changed of collections cannot be read yet: {}", failure.message);
            state.write().due = self.env.clock.elapsed() + REMEMBERED_MAX;
        }
    }

    /// Reads everything again that other processes may have changed.
    pub(crate) async fn read_all_again(&self) -> Result<()> {
        if self.kept.is_shared() {
            let state = self.state.get_or_try_init(|| async { self.load().map(RwLock::new) }).await?;
            let _reading = self.reading.lock().await;
            self.load_into(state)?;
        }
        Ok(())
    }

    /// Reads again what is known of a name, if other processes may have changed it.
    pub(crate) async fn read_again(&self, namespace: &Namespace) -> Result<()> {
        if !self.kept.is_shared() {
            return Ok(());
        }
        let state = self.state().await?;
        let view = match self.kept.read_one(&view_id(namespace))? {
            Some((value, version)) => self.described(&value, version)?,
            None => None,
        };
        {
            let mut state = state.write();
            state.change_count += 1;
            match view {
                Some(Described::View(name, view)) => state.views.insert(name, Arc::new(view)),
                _ => state.views.remove(namespace),
            };
        }
        if let Some(located) = found(self.engine.container(&namespace.database, &namespace.collection))? {
            self.read_details(state, &located.container.rid().to_string())?;
        }
        Ok(())
    }

    /// Reads what is kept of one collection.
    fn read_details(&self, state: &RwLock<State>, rid: &str) -> Result<Arc<Details>> {
        let described = match self.kept.read_one(rid)? {
            Some((value, version)) => self.described(&value, version)?,
            None => None,
        };
        let details = match described {
            Some(Described::Collection(details)) => Arc::new(details),
            _ => Arc::default(),
        };
        let mut state = state.write();
        state.change_count += 1;
        state.details.insert(rid.to_owned(), details.clone());
        Ok(details)
    }

    fn load_into(&self, state: &RwLock<State>) -> Result<()> {
        for _ in 0..READ_ATTEMPTS_MAX {
            let change_count = state.read().change_count;
            let loaded = self.load()?;
            let mut state = state.write();
            if state.change_count == change_count {
                *state = State { change_count, ..loaded };
                return Ok(());
            }
        }
        Err(Failure::new(
            codes::EXCEEDED_TIME_LIMIT,
            "definitions of collections are being changed: try again",
        ))
    }

    fn load(&self) -> Result<State> {
        let mut state = State { due: self.env.clock.elapsed() + REMEMBERED_MAX, ..State::default() };
        self.kept.read(|value, version| {
            match self.described(&value, version)? {
                Some(Described::View(namespace, view)) => {
                    state.views.insert(namespace, Arc::new(view));
                }
                Some(Described::Collection(details)) => {
                    let id = value.get("id").and_then(Value::as_str).unwrap_or_default();
                    state.details.insert(id.to_owned(), Arc::new(details));
                }
                None => {}
            }
            Ok(())
        })?;
        Ok(state)
    }

    /// Reads an item; nothing where it cannot be read.
    fn described(&self, value: &Value, version: ETag) -> Result<Option<Described>> {
        let Some(id) = value.get("id").and_then(Value::as_str) else { return Ok(None) };
        if id.starts_with(VIEW_PREFIX) {
            let view = value.get("view");
            let namespace = value.get("namespace").and_then(Value::as_str);
            let namespace = namespace.and_then(|text| Namespace::parse(text).ok());
            let on = view.and_then(|view| view.get("on")).and_then(Value::as_str);
            let pipeline = view.and_then(|view| view.get("pipeline")).and_then(Value::as_array);
            if let (Some(namespace), Some(on), Some(pipeline)) = (namespace, on, pipeline) {
                let view = View { on: on.to_owned(), pipeline: pipeline.to_vec() };
                return Ok(Some(Described::View(namespace, view)));
            }
        } else if let Some(mut details) =
            value.get("details").and_then(|details| Details::from_value(details, version))
        {
            self.reconcile(id, &mut details)?;
            return Ok(Some(Described::Collection(details)));
        }
        tracing::warn!("the description '{id}' of a collection cannot be read and is passed over");
        Ok(None)
    }

    /// Brings the unique indexes that were kept to the unique keys of the container.
    fn reconcile(&self, rid: &str, details: &mut Details) -> Result<()> {
        let Some(database) = ContainerRid::parse(rid).map(|rid| rid.database().to_string()) else {
            return Ok(());
        };
        if details.is_own
            && let Some(located) = found(self.engine.container(&database, rid))?
        {
            let indexes = std::mem::take(&mut details.indexes);
            details.indexes = unique::reconciled(indexes, &located.container.definition());
        }
        Ok(())
    }

    /// Finds what a name leads to.
    pub(crate) async fn find(&self, namespace: &Namespace) -> Result<Found> {
        let state = self.state().await?;
        let Some(located) = found(self.engine.container(&namespace.database, &namespace.collection))? else {
            let view = state.read().views.get(namespace).cloned();
            return Ok(view.map_or(Found::Nothing, Found::View));
        };
        // Names alone: a resource id that happens to be given as a name is not one here.
        if located.by_rid {
            return Ok(Found::Nothing);
        }
        Ok(Found::Collection(self.collection(namespace, located.container).await?))
    }

    /// Puts together what is known of a container.
    pub(crate) async fn collection(
        &self,
        namespace: &Namespace,
        handle: Arc<ContainerHandle>,
    ) -> Result<Collection> {
        let state = self.state().await?;
        let rid = handle.rid().to_string();
        let known = state.read().details.get(&rid).cloned();
        let details = match known {
            Some(details) => details,
            // Another process may have made it a moment ago.
            None if self.kept.is_shared() => self.read_details(state, &rid)?,
            None => Arc::default(),
        };
        let shard_key = if handle.is_fixed() {
            Vec::new()
        } else {
            handle.definition().partition_key.paths.iter().map(|path| path.names().to_vec()).collect()
        };
        Ok(Collection { namespace: namespace.clone(), handle, details, shard_key: Arc::new(shard_key) })
    }

    /// Finds a collection; a view is refused.
    pub(crate) async fn collection_of(&self, namespace: &Namespace) -> Result<Option<Collection>> {
        match self.find(namespace).await? {
            Found::Collection(collection) => Ok(Some(collection)),
            Found::Nothing => Ok(None),
            Found::View(_) => Err(Failure::new(
                codes::COMMAND_ON_SHARDED_VIEW_NOT_SUPPORTED_ON_MONGOD,
                format!("Namespace {namespace} is a view, not a collection"),
            )),
        }
    }

    /// Lists the views of a database.
    pub(crate) async fn views(&self, database: &str) -> Result<Vec<(Namespace, Arc<View>)>> {
        let state = self.state().await?.read();
        let of_database = state.views.iter().filter(|(namespace, _)| namespace.database == database);
        let mut views: Vec<_> =
            of_database.map(|(namespace, view)| (namespace.clone(), view.clone())).collect();
        views.sort_by(|a, b| a.0.collection.cmp(&b.0.collection));
        Ok(views)
    }

    /// Lists the collections whose documents expire by a date of their own.
    pub(crate) async fn with_expiry(&self) -> Result<Vec<Namespace>> {
        let rids: Vec<String> = {
            let state = self.state().await?.read();
            let expiring = state
                .details
                .iter()
                .filter(|(_, details)| details.indexes.iter().any(|index| index.expires_after.is_some()));
            expiring.map(|(rid, _)| rid.clone()).collect()
        };
        let mut found = Vec::new();
        if rids.is_empty() {
            return Ok(found);
        }
        let caller = Caller::full();
        let mut continuation: Option<String> = None;
        loop {
            let databases = self.engine.list_databases(&caller, None, continuation.as_deref())?.value;
            for database in &databases.resources {
                let mut next: Option<String> = None;
                loop {
                    let listed = self.engine.list_containers(&caller, &database.id, None, next.as_deref());
                    let Some(page) = self::found(listed)? else { break };
                    let expiring =
                        page.value.resources.iter().filter(|container| rids.contains(&container.rid));
                    found.extend(
                        expiring.filter_map(|container| Namespace::new(&database.id, &container.id).ok()),
                    );
                    match page.value.continuation {
                        Some(more) => next = Some(more),
                        None => break,
                    }
                }
            }
            match databases.continuation {
                Some(more) => continuation = Some(more),
                None => return Ok(found),
            }
        }
    }

    /// Keeps what is known of a collection.
    pub(crate) async fn keep(&self, rid: &str, mut details: Details) -> Result<()> {
        let body = Object::from([("id", Value::from(rid)), ("details", Value::Object(details.to_value()))]);
        let state = self.state().await?;
        let precondition = match (self.kept.is_shared(), details.version) {
            (false, _) => Precondition::None,
            // What another process wrote since must not be lost.
            (true, Some(version)) => Precondition::Version(Some(version)),
            (true, None) => Precondition::Missing,
        };
        match self.kept.write_over(rid, body, precondition).await {
            Ok(version) => details.version = Some(version),
            Err(error)
                if self.kept.is_shared()
                    && matches!(error.kind, ErrorKind::PreconditionFailed | ErrorKind::AlreadyExists(_)) =>
            {
                return Err(Failure::new(
                    codes::CONFLICTING_OPERATION_IN_PROGRESS,
                    "the collection was changed by way of another node in the same moment: try again",
                ));
            }
            Err(error) => return Err(error.into()),
        }
        let mut state = state.write();
        state.change_count += 1;
        state.details.insert(rid.to_owned(), Arc::new(details));
        Ok(())
    }

    /// Keeps a view.
    pub(crate) async fn keep_view(&self, namespace: &Namespace, view: View) -> Result<()> {
        if self.state().await?.read().views.len() >= VIEWS_MAX {
            return Err(Failure::bad_value(format!("an account has at most {VIEWS_MAX} views")));
        }
        let id = view_id(namespace);
        let content = Object::from([
            ("on", Value::from(view.on.as_str())),
            ("pipeline", Value::Array(view.pipeline.clone())),
        ]);
        let body = Object::from([
            ("id", Value::from(id.as_str())),
            ("namespace", Value::from(namespace.to_string())),
            ("view", Value::Object(content)),
        ]);
        self.kept.write(&id, body).await?;
        let mut state = self.state().await?.write();
        state.change_count += 1;
        state.views.insert(namespace.clone(), Arc::new(view));
        Ok(())
    }

    /// Forgets what was known of a collection that is gone.
    pub(crate) async fn forget(&self, rid: &str) -> Result<()> {
        let was_known = {
            let mut state = self.state().await?.write();
            state.change_count += 1;
            state.details.remove(rid).is_some()
        };
        if was_known || self.kept.is_shared() {
            self.kept.remove(rid).await?;
        }
        Ok(())
    }

    /// Drops a view.
    pub(crate) async fn drop_view(&self, namespace: &Namespace) -> Result<()> {
        self.kept.remove(&view_id(namespace)).await?;
        let mut state = self.state().await?.write();
        state.change_count += 1;
        state.views.remove(namespace);
        Ok(())
    }
}

fn view_id(namespace: &Namespace) -> String {
    format!("{VIEW_PREFIX}{}", URL_SAFE_NO_PAD.encode(namespace.to_string()))
}

/// Returns the UUID of a collection: its resource id, filled up.
pub(crate) fn uuid_of(rid: &str) -> Value {
    let mut bytes = rid.as_bytes().to_vec();
    bytes.resize(16, 0);
    Value::Binary { subtype: 4, bytes }
}
