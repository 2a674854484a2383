//! `explain`: how documents are found, what was looked at, and what that costs.

use std::sync::Arc;

use armilla_engine::plans::{Access, Direction, PhysicalPlan};
use armilla_engine::{QueryCounts, RequestUnits};
use armilla_mongo_expression::{Scope, codes};
use armilla_mongo_filter::{Filter, Sort};
use armilla_mongo_pipeline::Pipeline;
use armilla_value::{Object, Value};

use super::aggregate::{Input, resolve};
use super::build_info::VERSION;
use crate::arguments::Arguments;
use crate::catalog::{Collection, Found};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::indexes::FieldKind;
use crate::namespace::Namespace;
use crate::order::Walk;
use crate::pages::{DocumentRows, Shape};
use crate::reply::Reply;
use crate::search::Search;
use crate::statistics::as_number;

/// What is explained.
struct Explained<'e> {
    namespace: Namespace,
    filter: Option<&'e Object>,
    sort: Option<&'e Object>,
    limit: Option<u64>,
    is_count: bool,
}

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["verbosity"])?;
    let command = arguments.required_object("explain")?;
    let verbosity = arguments.string("verbosity")?.unwrap_or("allPlansExecution");
    if !matches!(verbosity, "queryPlanner" | "executionStats" | "allPlansExecution") {
        return Err(Failure::parse(format!(
            "verbosity string must be one of {{'queryPlanner', 'executionStats', 'allPlansExecution'}}: {verbosity}"
        )));
    }
    let Some((name, value)) = command.iter().next() else {
        return Err(Failure::parse("explain names no command"));
    };
    let inner = Arguments::new(name, command);
    let first = |list: &str| -> Option<&Object> { command.get(list)?.as_array()?.first()?.as_object() };
    let collection = value
        .as_str()
        .ok_or_else(|| Failure::new(codes::INVALID_NAMESPACE, "explain: the command names no collection"))?;
    let namespace = Namespace::new(context.database, collection)?;
    if let Some(collection) = context.shared.catalog.collection_of(&namespace).await? {
        super::statements::check_hint(&collection, inner.value("hint"))?;
    }
    let explained = match name {
        "find" => Explained {
            namespace,
            filter: inner.object("filter")?,
            sort: inner.object("sort")?,
            limit: inner.count("limit")?.filter(|limit| *limit > 0),
            is_count: false,
        },
        "count" => {
            Explained { namespace, filter: inner.object("query")?, sort: None, limit: None, is_count: true }
        }
        "distinct" => {
            Explained { namespace, filter: inner.object("query")?, sort: None, limit: None, is_count: false }
        }
        "update" => Explained {
            namespace,
            filter: first("updates").and_then(|update| update.get("q")).and_then(Value::as_object),
            sort: None,
            limit: None,
            is_count: false,
        },
        "delete" => Explained {
            namespace,
            filter: first("deletes").and_then(|delete| delete.get("q")).and_then(Value::as_object),
            sort: None,
            limit: None,
            is_count: false,
        },
        "findAndModify" | "findandmodify" => Explained {
            namespace,
            filter: inner.object("query")?,
            sort: inner.object("sort")?,
            limit: Some(1),
            is_count: false,
        },
        "aggregate" => {
            let stages = inner.required_array("pipeline")?.to_vec();
            return explain_pipeline(context, &namespace, stages, verbosity, command).await;
        }
        other => {
            return Err(Failure::new(
                codes::COMMAND_NOT_FOUND,
                format!("Explain failed due to unknown command: {other}"),
            ));
        }
    };
    let reply = explain(context, &explained, verbosity).await?;
    Ok(finish(context, reply, command))
}

/// Explains an aggregation that asks for it itself.
pub(super) async fn aggregate(context: &mut Context<'_>) -> Result<Reply> {
    let namespace = context.namespace()?;
    let stages = context.arguments().required_array("pipeline")?.to_vec();
    explain_pipeline(context, &namespace, stages, "queryPlanner", context.command).await
}

async fn explain_pipeline(
    context: &Context<'_>,
    namespace: &Namespace,
    mut stages: Vec<Value>,
    verbosity: &str,
    command: &Object,
) -> Result<Reply> {
    let input = resolve(context.shared, namespace, &mut stages).await?;
    let pipeline = Pipeline::parse(&stages, &Scope::default())?;
    let front = pipeline.split_front();
    let given = match (stages.first(), &front.filter) {
        (Some(stage), Some(_)) => stage.get("$match").and_then(Value::as_object),
        _ => None,
    };
    let namespace = match &input {
        Input::Collection(collection) => collection.namespace.clone(),
        _ => namespace.clone(),
    };
    let is_sorted = |stage: &&Value| stage.get("$sort").is_some();
    let sort = front.sort.as_ref().and_then(|_| stages.iter().find(is_sorted));
    let explained = Explained {
        namespace,
        filter: given,
        sort: sort.and_then(|stage| stage.get("$sort")).and_then(Value::as_object),
        limit: front.limit,
        is_count: front.count_as.is_some(),
    };
    let cursor = explain(context, &explained, verbosity).await?;
    let names = front
        .rest
        .stages
        .iter()
        .map(|stage| Value::Object(Object::from([(stage.name(), Value::Object(Object::new()))])));
    let mut shown = vec![Value::Object(Object::from([("$cursor", Value::Object(cursor))]))];
    shown.extend(names);
    Ok(finish(context, Object::from([("stages", Value::Array(shown))]), command))
}

fn finish(context: &Context<'_>, mut reply: Object, command: &Object) -> Reply {
    let shown: Object = command
        .iter()
        .filter(|(name, _)| !matches!(*name, "lsid" | "$clusterTime" | "$readPreference"))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    reply.insert("command", shown);
    let came_to = context.connection.came_to.as_str();
    let (host, port) = came_to.rsplit_once(':').unwrap_or((came_to, "0"));
    reply.insert(
        "serverInfo",
        Object::from([
            ("host", Value::from(host)),
            ("port", Value::Int32(port.parse().unwrap_or(0))),
            ("version", Value::from(VERSION)),
            ("gitVersion", Value::from(env!("CARGO_PKG_VERSION"))),
        ]),
    );
    reply.insert("explainVersion", "1");
    reply.into()
}

async fn explain(context: &Context<'_>, explained: &Explained<'_>, verbosity: &str) -> Result<Object> {
    let none = Object::new();
    let given = explained.filter.unwrap_or(&none);
    let (scope, environment) = context.environment_with(None)?;
    let filter = Arc::new(Filter::parse(given, &scope)?);
    let mut planner = Object::from([
        ("namespace", Value::from(explained.namespace.to_string())),
        ("indexFilterSet", Value::Bool(false)),
        ("parsedQuery", Value::Object(given.clone())),
    ]);
    let collection = match context.shared.catalog.find(&explained.namespace).await? {
        Found::Collection(collection) => collection,
        _ => {
            planner.insert("winningPlan", Object::from([("stage", "EOF")]));
            planner.insert("rejectedPlans", Value::Array(Vec::new()));
            let mut reply = Object::from([("queryPlanner", Value::Object(planner))]);
            if verbosity != "queryPlanner" {
                reply.insert("executionStats", stats(0, 0, 0, 0.0, RequestUnits::ZERO, "EOF"));
            }
            return Ok(reply);
        }
    };
    let search = Search::new(&collection, filter, Arc::new(environment));
    let began = context.shared.env.clock.elapsed();
    let sort = explained.sort.filter(|sort| !sort.is_empty());
    let walked = match sort {
        Some(sort) => walk(context, &collection, &search, sort, explained.limit).await?,
        None => None,
    };
    let is_walked = walked.is_some();
    let found = match walked {
        Some(walked) => walked,
        None => look(context, &collection, &search, Sought::Any, explained.limit).await?.unwrap_or_default(),
    };
    let took = context.shared.env.clock.elapsed().saturating_sub(began);
    let mut plan = winning(&collection, &search, &found);
    if !search.lowered.is_exact && search.points().is_none() {
        plan.insert("filter", given.clone());
    }
    if let Some(sort) = sort.filter(|_| !is_walked) {
        plan = Object::from([
            ("stage", Value::from("SORT")),
            ("sortPattern", Value::Object(sort.clone())),
            ("inputStage", Value::Object(plan)),
        ]);
    }
    if let Some(limit) = explained.limit {
        plan = Object::from([
            ("stage", Value::from("LIMIT")),
            ("limitAmount", Value::Int64(i64::try_from(limit).unwrap_or(i64::MAX))),
            ("inputStage", Value::Object(plan)),
        ]);
    }
    if explained.is_count {
        plan = Object::from([("stage", Value::from("COUNT")), ("inputStage", Value::Object(plan))]);
    }
    let stage = plan.get("stage").and_then(Value::as_str).unwrap_or("COLLSCAN").to_owned();
    planner.insert("winningPlan", plan);
    planner.insert("rejectedPlans", Value::Array(Vec::new()));
    let mut reply = Object::from([("queryPlanner", Value::Object(planner))]);
    if verbosity != "queryPlanner" {
        let counts = &found.counts;
        let keys = counts.entries + counts.fetched;
        // A small partition is read as a whole and priced as if by the index, which is what is explained.
        let by_index = found.plan.as_ref().is_some_and(|plan| !plan.served.is_empty());
        let documents = found.read + if by_index { counts.fetched + counts.scanned } else { found.loaded };
        reply.insert(
            "executionStats",
            stats(found.rows, keys, documents, took.as_secs_f64() * 1000.0, found.charge, &stage),
        );
    }
    Ok(reply)
}

fn stats(rows: u64, keys: u64, documents: u64, ms: f64, charge: RequestUnits, stage: &str) -> Object {
    let whole = |number: u64| Value::Int64(i64::try_from(number).unwrap_or(i64::MAX));
    Object::from([
        ("executionSuccess", Value::Bool(true)),
        ("nReturned", whole(rows)),
        ("executionTimeMillis", Value::Int64(ms as i64)),
        ("totalKeysExamined", whole(keys)),
        ("totalDocsExamined", whole(documents)),
        ("requestCharge", Value::Double(as_number(charge))),
        (
            "executionStages",
            Value::Object(Object::from([
                ("stage", Value::from(stage)),
                ("nReturned", whole(rows)),
                ("docsExamined", whole(documents)),
                ("keysExamined", whole(keys)),
            ])),
        ),
    ])
}

/// What was found, and how.
#[derive(Default)]
struct Looked {
    rows: u64,
    /// Documents that were read by their ids.
    read: u64,
    counts: QueryCounts,
    /// Items that were loaded.
    loaded: u64,
    charge: RequestUnits,
    plan: Option<PhysicalPlan>,
}

/// In which order documents are looked for.
#[derive(Clone)]
enum Sought {
    Any,
    Walked(Arc<Walk>),
}

/// Looks for documents in the order of an index; nothing where they are sorted instead.
async fn walk(
    context: &Context<'_>,
    collection: &Collection,
    search: &Search,
    sort: &Object,
    limit: Option<u64>,
) -> Result<Option<Looked>> {
    let Ok(sort) = Sort::parse(sort) else { return Ok(None) };
    let Some(walk) = search.walk(collection, &Arc::new(sort), limit) else { return Ok(None) };
    if search.has_odd(&walk, &mut context.data(collection)).await? {
        return Ok(None);
    }
    let looked = look(context, collection, search, Sought::Walked(walk), limit).await.unwrap_or_default();
    let is_walk =
        |looked: &Looked| looked.plan.as_ref().is_some_and(|plan| matches!(plan.access, Access::Walk(_)));
    Ok(looked.filter(is_walk))
}

/// Finds documents as the command would; nothing where the order of an index is not the one that is asked for.
async fn look(
    context: &Context<'_>,
    collection: &Collection,
    search: &Search,
    sought: Sought,
    limit: Option<u64>,
) -> Result<Option<Looked>> {
    let mut looked = Looked::default();
    let mut data = context.data(collection);
    if search.points().is_some() {
        looked.rows = search.read_points(&mut data).await?.len() as u64;
        looked.read = looked.rows;
        looked.charge = context.charges.take();
        context.charges.add(looked.charge);
        return Ok(Some(looked));
    }
    let (query, shape) = match sought {
        Sought::Any => (search.query(), Shape::Nothing),
        Sought::Walked(walk) => (search.walked(&walk, limit), Shape::Walked(walk, None)),
    };
    let query = Arc::new(query);
    let form = Arc::new(DocumentRows::new(search.residual(), shape, search.environment.clone()));
    let mut continuation = None;
    loop {
        let page = data.query(search.request(&query, &form, Some(1_000), continuation)).await?;
        form.check()?;
        if form.is_odd() {
            return Ok(None);
        }
        looked.rows += page.row_count() as u64;
        looked.counts = page.work;
        looked.loaded += page.metrics.retrieved_count;
        looked.charge += page.charge;
        looked.plan = page.plans.into_iter().next().or(looked.plan);
        match page.continuation {
            Some(next) if limit.is_none_or(|limit| looked.rows < limit) => continuation = Some(next),
            _ => {
                looked.rows = limit.map_or(looked.rows, |limit| looked.rows.min(limit));
                return Ok(Some(looked));
            }
        }
    }
}

/// Describes how documents were found, in the server's words.
fn winning(collection: &Collection, search: &Search, looked: &Looked) -> Object {
    if search.points().is_some() {
        return Object::from([("stage", "IDHACK")]);
    }
    let served = looked.plan.as_ref().map(|plan| plan.served.clone()).unwrap_or_default();
    let uses_index = !served.is_empty();
    if matches!(looked.plan.as_ref().map(|plan| &plan.access), Some(Access::Nothing)) {
        return Object::from([("stage", "EOF")]);
    }
    if !uses_index {
        return Object::from([("stage", "COLLSCAN"), ("direction", "forward")]);
    }
    let paths: Vec<&str> = served.iter().flat_map(|served| served.paths.iter().map(String::as_str)).collect();
    let walk = match looked.plan.as_ref().map(|plan| &plan.access) {
        Some(Access::Walk(walk)) => Some(walk),
        _ => None,
    };
    let is_of = |path: &str, served: &str| {
        served.replace("/[]", "").starts_with(&format!("/{}", path.replace('.', "/")))
    };
    let indexes = &collection.details.indexes;
    // An order is that of all its fields, one after the other.
    let walked = walk.and_then(|walk| {
        indexes.iter().find(|index| {
            index.fields.len() == walk.paths.len()
                && index.fields.iter().zip(&walk.paths).all(|((path, _), served)| is_of(path, served))
        })
    });
    let index = walked.or_else(|| {
        let serves = |(path, _): &(String, FieldKind)| paths.iter().any(|served| is_of(path, served));
        indexes.iter().find(|index| index.fields.iter().any(serves))
    });
    let is_backward = walk.is_some_and(|walk| walk.direction == Direction::Reverse);
    let (name, key) = match index {
        Some(index) => (index.name.clone(), index.key.clone()),
        None => ("_id_".to_owned(), Object::from([("_id", Value::Int32(1))])),
    };
    let scan = Object::from([
        ("stage", Value::from("IXSCAN")),
        ("keyPattern", Value::Object(key)),
        ("indexName", Value::from(name)),
        ("isMultiKey", Value::Bool(paths.iter().any(|path| path.contains("[]")))),
        ("direction", Value::from(if is_backward { "backward" } else { "forward" })),
        ("paths", Value::from(paths)),
    ]);
    Object::from([("stage", Value::from("FETCH")), ("inputStage", Value::Object(scan))])
}
