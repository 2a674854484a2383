//! `aggregate`.

use std::sync::Arc;

use armilla_engine::Caller;
use armilla_mongo_expression::{Environment, Error, Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_mongo_pipeline::{Documents, Front, Outside, Pipeline, Stage};
use armilla_value::{Object, Value};

use super::output;
use super::statements::count as count_operation;
use crate::Shared;
use crate::arguments::{Arguments, number};
use crate::catalog::{Collection, Found, View};
use crate::context::Context;
use crate::data::Charges;
use crate::failure::{Failure, Result};
use crate::indexes::FieldKind;
use crate::limits::FIRST_BATCH_DOCUMENTS;
use crate::namespace::Namespace;
use crate::reply::Reply;
use crate::search::Search;
use crate::snapshots::{Reader, Snapshot};
use crate::supply::{Cancellation, Room, Scan, Supply, ordered};
use crate::transactions::Held;

/// Views that stand on views.
const VIEW_DEPTH_MAX: usize = 20;

/// What an aggregation reads.
pub(super) enum Input {
    /// A collection, with the stages of the views that lead to it.
    Collection(Collection),
    /// Nothing that is there.
    Nothing,
    /// No collection at all.
    Database,
}

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "pipeline",
        "cursor",
        "explain",
        "allowDiskUse",
        "hint",
        "collation",
        "let",
        "bypassDocumentValidation",
    ])?;
    context.check_collation()?;
    count_operation(&context.shared.counters.command, 1);
    let given = arguments.required_array("pipeline")?;
    if arguments.truth("explain")? {
        return super::explain::aggregate(context).await;
    }
    let Some(cursor) = arguments.object("cursor")? else {
        return Err(Failure::parse(
            "The 'cursor' option is required, except for aggregate with the explain argument",
        ));
    };
    Arguments::new("cursor", cursor).allow_only(&["batchSize"])?;
    let batch = match cursor.get("batchSize") {
        None => FIRST_BATCH_DOCUMENTS,
        Some(size) => match number(size) {
            Some(size) if size >= 0 => usize::try_from(size).unwrap_or(usize::MAX),
            Some(size) => {
                return Err(Failure::new(
                    51_024,
                    format!("BSON field 'batchSize' value must be >= 0, actual value '{size}'"),
                ));
            }
            None => {
                return Err(Failure::new(codes::TYPE_MISMATCH, "cursor.batchSize field must be a number"));
            }
        },
    };
    let namespace = match context.command.iter().next() {
        Some((_, Value::String(_))) => Some(context.namespace()?),
        Some((_, value)) if number(value) == Some(1) => None,
        _ => {
            return Err(Failure::parse(
                "Invalid command format: the 'aggregate' field must specify a collection name or 1",
            ));
        }
    };
    let (scope, environment) = context.environment()?;
    let environment = Arc::new(environment);
    let name = match &namespace {
        Some(namespace) => namespace.to_string(),
        None => format!("{}.$cmd.aggregate", context.database),
    };
    let mut stages = given.to_vec();
    if let Some(Stage::ChangeStream(options)) = Pipeline::parse(given, &scope)?.stages.first() {
        return super::change_stream::open(
            context,
            namespace.as_ref(),
            options,
            &stages[1..],
            &scope,
            environment,
            batch,
        )
        .await;
    }
    let input = match &namespace {
        None => Input::Database,
        Some(namespace) => resolve(context.shared, namespace, &mut stages).await?,
    };
    if let Input::Collection(collection) = &input {
        super::statements::check_hint(collection, arguments.value("hint"))?;
    }
    let pipeline = Pipeline::parse(&stages, &scope)?;
    if namespace.is_some() && matches!(pipeline.stages.first(), Some(Stage::Documents(_))) {
        return Err(Failure::new(
            codes::INVALID_NAMESPACE,
            "$documents is not allowed in an aggregation over a collection",
        ));
    }
    let is_strict = context.command.get("apiStrict").and_then(Value::as_bool).unwrap_or(false);
    if let Some(stage) = pipeline.stages.iter().find(|stage| is_strict && stage.is_source()) {
        return Err(Failure::new(
            codes::API_STRICT_ERROR,
            format!("stage {} is not allowed with 'apiStrict: true' in API Version 1", stage.name()),
        ));
    }
    let (mut pipeline, written) = pipeline.split_output();
    if let (Input::Collection(collection), Some(Stage::GeoNear(near))) = (&input, pipeline.stages.first_mut())
        && near.key.is_none()
    {
        Arc::make_mut(near).key = place_of(collection)?;
    }
    let level = context.arguments().object("readConcern")?.and_then(|concern| concern.get("level"));
    if written.is_some() && level.and_then(Value::as_str) == Some("linearizable") {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "$out and $merge cannot be used with a 'linearizable' read concern level",
        ));
    }
    if written.is_some() && context.snapshot.is_some() {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "$out and $merge cannot be used with a 'snapshot' read concern level",
        ));
    }
    if written.is_some() && context.is_in_transaction {
        return Err(Failure::new(
            codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            "$out and $merge cannot be used in a transaction",
        ));
    }
    if input_is_none(&input) && !starts_by_itself(&pipeline) {
        return Err(Failure::new(
            codes::INVALID_NAMESPACE,
            "{aggregate: 1} is not valid for a pipeline that does not begin with a stage that brings documents",
        ));
    }
    for (database, collection) in pipeline.collections() {
        let database = database.unwrap_or(context.database);
        let other = Namespace { database: database.to_owned(), collection: collection.to_owned() };
        if other.is_kept_by_the_server() {
            context.check_access(&other, true)?;
        }
        context.check_access(&other, false)?;
    }
    let supply = supply(context, &input, &pipeline, environment.clone()).await?;
    if let Some(stage) = written {
        if !crate::users::may_write(context.connection) {
            return Err(Failure::new(
                codes::UNAUTHORIZED,
                "not authorized to write the output of an aggregation",
            ));
        }
        output::write(context, supply, &stage, environment).await?;
        return Ok(super::find::empty(name));
    }
    super::find::open(context, name, supply, batch, false, true).await
}

/// Returns the field of the only index of places that a collection has, if there is one.
fn place_of(collection: &Collection) -> Result<Option<String>> {
    let fields = collection.details.indexes.iter().flat_map(|index| &index.fields);
    let mut places = fields.filter(|(_, kind)| *kind == FieldKind::Sphere).map(|(path, _)| path.clone());
    let place = places.next();
    if places.next().is_some() {
        return Err(Failure::new(
            codes::INDEX_NOT_FOUND,
            "There is more than one 2dsphere index: $geoNear has to say which by 'key'",
        ));
    }
    Ok(place)
}

fn input_is_none(input: &Input) -> bool {
    matches!(input, Input::Database)
}

fn starts_by_itself(pipeline: &Pipeline) -> bool {
    pipeline.stages.first().is_some_and(|stage| stage.is_source() || matches!(stage, Stage::Documents(_)))
}

/// Follows views to a collection, and puts their stages before the others.
pub(super) async fn resolve(
    shared: &Shared,
    namespace: &Namespace,
    stages: &mut Vec<Value>,
) -> Result<Input> {
    let mut namespace = namespace.clone();
    for _ in 0..VIEW_DEPTH_MAX {
        match shared.catalog.find(&namespace).await? {
            Found::Collection(collection) => return Ok(Input::Collection(collection)),
            Found::Nothing => return Ok(Input::Nothing),
            Found::View(view) => {
                *stages = [view.pipeline.as_slice(), stages].concat();
                namespace = Namespace { database: namespace.database, collection: view.on.clone() };
            }
        }
    }
    Err(Failure::new(
        165,
        format!(
            "View depth too deep or view cycle detected: at most {VIEW_DEPTH_MAX} views stand on each other"
        ),
    ))
}

/// Makes where the documents of a pipeline come from.
pub(super) async fn supply(
    context: &Context<'_>,
    input: &Input,
    pipeline: &Pipeline,
    environment: Arc<Environment>,
) -> Result<Supply> {
    let shared = context.shared;
    let cancellation = Cancellation::new(shared.env.clock.clone(), shared.options.pipeline_time);
    let outside = Arc::new(Others {
        shared: shared.clone(),
        caller: context.caller.clone(),
        database: context.database.to_owned(),
        charges: Charges::default(),
        environment: environment.clone(),
        runtime: tokio::runtime::Handle::current(),
        cancellation: cancellation.clone(),
        snapshot: context.snapshot.map(|snapshot| Snapshot { is_new: false, ..snapshot }),
    });
    let charges = outside.charges.clone();
    let (source, rest): (Documents, Pipeline) = match pipeline.stages.first() {
        Some(stage) if stage.is_source() => {
            let documents = super::sources::documents(context, input, stage).await?;
            (Box::new(documents.into_iter().map(Ok)), pipeline.from_stage(1))
        }
        _ => match input {
            Input::Collection(collection) => {
                let front = pipeline.split_front();
                let source = front_documents(context, collection, &front, &environment, &charges).await?;
                (source, front.rest)
            }
            _ => (Box::new(std::iter::empty()), pipeline.clone()),
        },
    };
    let documents = rest.run(source, environment, outside)?;
    Ok(Supply::Pipeline(Some(documents), None, charges, cancellation))
}

/// Finds what the front of a pipeline asks for.
async fn front_documents(
    context: &Context<'_>,
    collection: &Collection,
    front: &Front,
    environment: &Arc<Environment>,
    charges: &Charges,
) -> Result<Documents> {
    let filter = match &front.filter {
        Some(filter) => filter.clone(),
        None => Arc::new(Filter::parse(&Object::new(), &Scope::default())?),
    };
    let search = Search::new(collection, filter, environment.clone());
    let skip = usize::try_from(front.skip).unwrap_or(usize::MAX);
    let limit = front.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if let Some(snapshot) = context.snapshot {
        let found = context.reader().find(collection, &search, front.sort.as_ref(), snapshot).await?;
        let documents = found.into_iter().map(|(document, _)| document).skip(skip).take(limit);
        return Ok(counted(documents.collect(), front));
    }
    let mut held = Held::of(context)?;
    if held.open.is_some() || search.points().is_some() {
        let mut data =
            held.data(&context.caller, &context.charges, collection, search.partition_key()).await?;
        let search = Search { sort: front.sort.clone().map(Arc::new), ..search };
        let targets = search.targets(&mut data, collection, usize::MAX).await?;
        let documents = targets.into_iter().map(|target| target.document).skip(skip).take(limit);
        return Ok(counted(documents.collect(), front));
    }
    if let Some(count_as) = &front.count_as
        && front.skip == 0
        && front.limit.is_none()
    {
        let mut data = context.data(collection);
        let count = super::count::count(&mut data, &search, collection).await?;
        return Ok(Box::new(count_as.document(count).into_iter().map(Ok)));
    }
    if let Some(sort) = &front.sort {
        let sort = Arc::new(sort.clone());
        let mut data = context.data(collection);
        let encoded = ordered(&mut data, collection, &search, &sort, None, front.skip, front.limit).await?;
        return Ok(Box::new(encoded.into_iter().map(|bytes| {
            armilla_mongo_wire::bson::decode(&bytes).map_err(|error| Error::new(error.code, error.message))
        })));
    }
    let runtime = tokio::runtime::Handle::current();
    let (shared, caller) = (context.shared.clone(), context.caller.clone());
    let scan = Scan::new(
        shared,
        caller,
        collection.clone(),
        search,
        charges.clone(),
        runtime,
        front.needed_fields.clone(),
    );
    let documents = scan.skip(skip).take(limit);
    match &front.count_as {
        None => Ok(Box::new(documents)),
        Some(count_as) => {
            let count_as = count_as.clone();
            // Counted when it is asked for, on the thread of the pipeline.
            Ok(Box::new(
                std::iter::once_with(move || {
                    let mut count = 0;
                    for document in documents {
                        document?;
                        count += 1;
                    }
                    Ok(count_as.document(count))
                })
                .filter_map(|counted: std::result::Result<Option<Object>, Error>| counted.transpose()),
            ))
        }
    }
}

fn counted(documents: Vec<Object>, front: &Front) -> Documents {
    match &front.count_as {
        Some(count_as) => Box::new(count_as.document(documents.len() as u64).into_iter().map(Ok)),
        None => Box::new(documents.into_iter().map(Ok)),
    }
}

/// Answers a find in a view.
pub(super) async fn find_in_view(
    context: &mut Context<'_>,
    namespace: &Namespace,
    view: &View,
) -> Result<Reply> {
    let arguments = context.arguments();
    let mut stages = Vec::new();
    let mut add = |name: &str, value: Value| stages.push(Value::Object(Object::from([(name, value)])));
    if let Some(filter) = arguments.object("filter")?
        && !filter.is_empty()
    {
        add("$match", Value::Object(filter.clone()));
    }
    if let Some(sort) = arguments.object("sort")?
        && !sort.is_empty()
    {
        add("$sort", Value::Object(sort.clone()));
    }
    if let Some(skip) = arguments.count("skip")?.filter(|skip| *skip > 0) {
        add("$skip", Value::Int64(i64::try_from(skip).unwrap_or(i64::MAX)));
    }
    if let Some(limit) = arguments.count("limit")?.filter(|limit| *limit > 0) {
        add("$limit", Value::Int64(i64::try_from(limit).unwrap_or(i64::MAX)));
    }
    if let Some(projection) = arguments.object("projection")?
        && !projection.is_empty()
    {
        add("$project", Value::Object(projection.clone()));
    }
    let batch = arguments.count("batchSize")?;
    let is_single = arguments.truth("singleBatch")?;
    let supply = view_supply(context, namespace, view, &stages).await?;
    let first = batch.map_or(FIRST_BATCH_DOCUMENTS, |batch| usize::try_from(batch).unwrap_or(usize::MAX));
    super::find::open(context, namespace.to_string(), supply, first, is_single, true).await
}

/// Makes where the documents of a view come from, with stages after its own.
pub(super) async fn view_supply(
    context: &Context<'_>,
    namespace: &Namespace,
    _view: &View,
    stages: &[Value],
) -> Result<Supply> {
    let (scope, environment) = context.environment()?;
    let mut stages = stages.to_vec();
    let input = resolve(context.shared, namespace, &mut stages).await?;
    let pipeline = Pipeline::parse(&stages, &scope)?;
    supply(context, &input, &pipeline, Arc::new(environment)).await
}

/// Counts the documents of a view.
pub(super) async fn count_view(
    context: &Context<'_>,
    namespace: &Namespace,
    view: &View,
    query: Option<&Object>,
) -> Result<u64> {
    let stages = [
        Value::Object(Object::from([("$match", Value::Object(query.cloned().unwrap_or_default()))])),
        Value::Object(Object::from([("$count", "n")])),
    ];
    let mut supply = view_supply(context, namespace, view, &stages).await?;
    let portion =
        supply.take(Room { documents: 1, ..Room::default() }, &context.charges, context.shared).await?;
    match portion.documents.first() {
        Some(document) => {
            let document = armilla_mongo_wire::bson::decode(document)?;
            let count = document.get("n").and_then(number).unwrap_or(0);
            Ok(u64::try_from(count).unwrap_or(0))
        }
        None => Ok(0),
    }
}

/// Other collections, for the stages that join them.
struct Others {
    shared: Arc<Shared>,
    caller: Caller,
    database: String,
    charges: Charges,
    environment: Arc<Environment>,
    runtime: tokio::runtime::Handle,
    cancellation: Cancellation,
    snapshot: Option<Snapshot>,
}

impl Others {
    fn namespace(&self, database: Option<&str>, collection: &str) -> Namespace {
        let database = database.unwrap_or(&self.database);
        Namespace { database: database.to_owned(), collection: collection.to_owned() }
    }

    fn open(&self, namespace: &Namespace, filter: Option<&Filter>) -> Result<Documents> {
        let mut stages = Vec::new();
        let input = self.runtime.block_on(resolve(&self.shared, namespace, &mut stages))?;
        let Input::Collection(collection) = input else { return Ok(Box::new(std::iter::empty())) };
        let is_view = !stages.is_empty();
        let filter = match filter.filter(|_| !is_view) {
            Some(filter) => Arc::new(filter.clone()),
            None => Arc::new(Filter::parse(&Object::new(), &Scope::default())?),
        };
        let search = Search::new(&collection, filter, self.environment.clone());
        let scan: Documents = match self.snapshot {
            Some(snapshot) => {
                let reader = Reader { shared: &self.shared, caller: &self.caller, charges: &self.charges };
                let found = self.runtime.block_on(reader.find(&collection, &search, None, snapshot))?;
                Box::new(found.into_iter().map(|(document, _)| Ok(document)))
            }
            None => Box::new(Scan::new(
                self.shared.clone(),
                self.caller.clone(),
                collection,
                search,
                self.charges.clone(),
                self.runtime.clone(),
                None,
            )),
        };
        if !is_view {
            return Ok(scan);
        }
        let pipeline = Pipeline::parse(&stages, &Scope::default())?;
        let others = Others {
            shared: self.shared.clone(),
            caller: self.caller.clone(),
            database: namespace.database.clone(),
            charges: self.charges.clone(),
            environment: self.environment.clone(),
            runtime: self.runtime.clone(),
            cancellation: self.cancellation.clone(),
            snapshot: self.snapshot,
        };
        Ok(pipeline.run(scan, self.environment.clone(), Arc::new(others))?)
    }
}

impl Outside for Others {
    fn check(&self) -> std::result::Result<(), Error> {
        self.cancellation.check()
    }

    fn documents(
        &self,
        database: Option<&str>,
        collection: &str,
        narrowed_by: Option<&Filter>,
    ) -> std::result::Result<Documents, Error> {
        let namespace = self.namespace(database, collection);
        self.open(&namespace, narrowed_by).map_err(|failure| Error::new(failure.code, failure.message))
    }

    fn narrows_by(&self, database: Option<&str>, collection: &str, path: &str) -> bool {
        if path == "_id" {
            return true;
        }
        let namespace = self.namespace(database, collection);
        match self.runtime.block_on(self.shared.catalog.find(&namespace)) {
            Ok(Found::Collection(collection)) => {
                !collection.details.is_own
                    || collection.details.indexes.iter().any(|index| {
                        index.wildcard().is_some()
                            || index.fields.first().is_some_and(|(first, _)| first == path)
                    })
            }
            _ => false,
        }
    }
}
