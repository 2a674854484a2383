//! What collections have that containers have not: indexes by name, options, validators; and views.
//!
//! It is kept as items of a container of its own, one for each collection by the resource id of its container, so that
//! a container that was deleted and made again through another API begins anew. All of it is read once and then held in
//! memory, which is the truth from then on: there is one process.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_engine::{Caller, ContainerHandle, Engine};
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

    fn from_value(value: &Value) -> Option<Details> {
        let indexes = value.get("indexes")?.as_array()?;
        let indexes =
            indexes.iter().map(|index| Index::parse(index.as_object()?).ok()).collect::<Option<_>>()?;
        let options = value.get("options")?.as_object()?.clone();
        let is_own = value.get("isOwn").and_then(Value::as_bool).unwrap_or(false);
        let mut details = Details { indexes, options, validator: None, is_own };
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
}

/// All collections.
pub(crate) struct Catalog {
    engine: Engine,
    kept: Kept,
    state: OnceCell<RwLock<State>>,
    /// Definitions change one at a time.
    changing: tokio::sync::Mutex<()>,
}

impl Catalog {
    pub(crate) fn new(engine: Engine) -> Catalog {
        let kept = Kept::new(engine.clone(), CONTAINER);
        Catalog { engine, kept, state: OnceCell::new(), changing: tokio::sync::Mutex::new(()) }
    }

    /// Keeps other changes of definitions out.
    pub(crate) async fn change(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.changing.lock().await
    }

    async fn state(&self) -> Result<&RwLock<State>> {
        self.state.get_or_try_init(|| async { self.load().map(RwLock::new) }).await
    }

    fn load(&self) -> Result<State> {
        let mut state = State::default();
        self.kept.read(|value| {
            let Some(id) = value.get("id").and_then(Value::as_str) else { return Ok(()) };
            if id.starts_with(VIEW_PREFIX) {
                let view = value.get("view");
                let namespace = value.get("namespace").and_then(Value::as_str);
                let namespace = namespace.and_then(|text| Namespace::parse(text).ok());
                let on = view.and_then(|view| view.get("on")).and_then(Value::as_str);
                let pipeline = view.and_then(|view| view.get("pipeline")).and_then(Value::as_array);
                if let (Some(namespace), Some(on), Some(pipeline)) = (namespace, on, pipeline) {
                    let view = View { on: on.to_owned(), pipeline: pipeline.to_vec() };
                    state.views.insert(namespace, Arc::new(view));
                    return Ok(());
                }
            } else if let Some(mut details) = value.get("details").and_then(Details::from_value) {
                self.reconcile(id, &mut details)?;
                state.details.insert(id.to_owned(), Arc::new(details));
                return Ok(());
            }
            tracing::warn!("the description '{id}' of a collection cannot be read and is passed over");
            Ok(())
        })?;
        Ok(state)
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
        let details = state.read().details.get(&handle.rid().to_string()).cloned().unwrap_or_default();
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
    pub(crate) async fn keep(&self, rid: &str, details: Details) -> Result<()> {
        let body = Object::from([("id", Value::from(rid)), ("details", Value::Object(details.to_value()))]);
        self.kept.write(rid, body).await?;
        self.state().await?.write().details.insert(rid.to_owned(), Arc::new(details));
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
        self.state().await?.write().views.insert(namespace.clone(), Arc::new(view));
        Ok(())
    }

    /// Forgets what was known of a collection that is gone.
    pub(crate) async fn forget(&self, rid: &str) -> Result<()> {
        if self.state().await?.write().details.remove(rid).is_some() {
            self.kept.remove(rid).await?;
        }
        Ok(())
    }

    /// Drops a view.
    pub(crate) async fn drop_view(&self, namespace: &Namespace) -> Result<()> {
        self.kept.remove(&view_id(namespace)).await?;
        self.state().await?.write().views.remove(namespace);
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
