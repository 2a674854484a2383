//! `$lookup`: documents of another collection in an array.
//!
//! Joined by equal values of two fields, by a pipeline with variables, or both. A pipeline whose first stage
//! compares a field with a variable (`{$match: {$expr: {$eq: ["$a", "$$x"]}}}`) is joined by that field too, and then
//! run over what was found.

use std::collections::VecDeque;
use std::sync::Arc;

use armilla_mongo_expression::{Error, Expression, Result, codes};
use armilla_value::{Object, Value};

use crate::arguments::{check_variable_name, failed, scope_with, shown, type_name};
use crate::dependencies::{Fields, Needs, is_random, mentions};
use crate::limits::{FOREIGN_BYTES_MAX, GATHERED_BYTES_MAX, LOOKUP_BATCH_MAX};
use crate::memory::{check_depth, object_bytes};
use crate::parse::{Place, Reading};
use crate::path::FieldPath;
use crate::run::{Context, run_stages};
use crate::stages::facet::replay;
use crate::stages::foreign::Foreign;
use crate::{Documents, Pipeline, Stage};

/// `$lookup` as it was read.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// The database of the other collection, if another is named.
    pub database: Option<String>,
    /// The other collection, unless its pipeline brings documents itself.
    pub collection: Option<String>,
    /// Where the array goes.
    pub into: FieldPath,
    variables: Vec<(String, Expression)>,
    pipeline: Option<Pipeline>,
    /// How many of the first stages do not depend on variables.
    fixed_stage_count: usize,
    join: Option<Join>,
}

/// By which values documents are joined.
#[derive(Debug, Clone)]
struct Join {
    local: Local,
    foreign: FieldPath,
}

#[derive(Debug, Clone)]
enum Local {
    /// The values at a path.
    Path(FieldPath),
    /// The value of the variable at this index.
    Variable(usize),
}

impl Lookup {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, reading: &Reading<'_>) -> Result<(Lookup, Needs)> {
        let Value::Object(object) = argument else {
            return Err(failed("the $lookup specification must be an Object"));
        };
        let (mut database, mut collection, mut into, mut local, mut foreign) = (None, None, None, None, None);
        let (mut variables, mut stages) = (Vec::new(), None);
        let mut needs = Fields::none();
        for (name, value) in object.iter() {
            match (name, value) {
                ("pipeline", Value::Array(array)) => stages = Some(array),
                ("pipeline", other) => {
                    return Err(Error::new(
                        codes::TYPE_MISMATCH,
                        format!(
                            "'pipeline' option must be specified as an array, found type {}",
                            type_name(other)
                        ),
                    ));
                }
                ("let", Value::Object(object)) => {
                    for (name, value) in object.iter() {
                        check_variable_name(name)?;
                        variables.push((name.to_owned(), Expression::parse(value, reading.scope)?));
                    }
                    needs = needs.expressions(object);
                }
                ("let", other) => {
                    return Err(failed(format!(
                        "$lookup argument 'let: {}' must be an object, is type {}",
                        shown(other),
                        type_name(other)
                    )));
                }
                ("from", Value::Object(from)) => match (from.get("db"), from.get("coll")) {
                    (Some(Value::String(db)), Some(Value::String(coll))) => {
                        (database, collection) = (Some(db.clone()), Some(coll.clone()));
                    }
                    _ => {
                        return Err(failed(
                            "$lookup argument 'from' must be a string or an object with 'db' and 'coll'",
                        ));
                    }
                },
                ("from", Value::String(text)) => collection = Some(text.clone()),
                ("as", Value::String(text)) => into = Some(FieldPath::parse(text)?),
                ("localField", Value::String(text)) => local = Some(FieldPath::parse(text)?),
                ("foreignField", Value::String(text)) => foreign = Some(FieldPath::parse(text)?),
                ("from" | "as" | "localField" | "foreignField", other) => {
                    return Err(failed(format!(
                        "$lookup argument '{name}: {}' must be a string, found {}: {}",
                        shown(other),
                        shown(other),
                        type_name(other)
                    )));
                }
                _ => return Err(failed(format!("unknown argument to $lookup: {name}"))),
            }
        }
        let Some(into) = into else { return Err(failed("must specify 'as' field for a $lookup")) };
        let names: Vec<String> = variables.iter().map(|(name, _)| name.clone()).collect();
        let pipeline = match stages {
            None => None,
            Some(stages) => {
                let scope = scope_with(reading.scope, names.iter().map(String::as_str));
                Some(Reading { scope: &scope, ..reading.inside(Place::Lookup)? }.pipeline(stages)?)
            }
        };
        let brings_documents = pipeline
            .as_ref()
            .is_some_and(|pipeline| matches!(pipeline.stages.first(), Some(Stage::Documents(_))));
        if collection.is_none() && !brings_documents {
            return Err(failed(format!(
                "missing 'from' option to $lookup stage specification: {}",
                shown(argument)
            )));
        }
        let join = match (local, foreign) {
            (Some(local), Some(foreign)) => {
                needs = needs.path(local.as_str());
                Some(Join { local: Local::Path(local), foreign })
            }
            (None, None) => {
                let Some(stages) = stages else {
                    return Err(failed(
                        "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
                    ));
                };
                stages.first().and_then(|first| join_by_variable(first, &names))
            }
            _ if stages.is_some() => {
                return Err(failed(
                    "$lookup requires both or neither of 'localField' and 'foreignField' to be specified",
                ));
            }
            _ => {
                return Err(failed(
                    "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
                ));
            }
        };
        if stages.is_none() && object.contains("let") {
            return Err(failed("$lookup with a 'let' argument must also specify a 'pipeline'"));
        }
        let fixed_stage_count = match (&pipeline, stages) {
            // Stages of the text and stages that were read may differ in number: all or none then.
            (Some(pipeline), Some(stages)) => {
                let fixed = stages
                    .iter()
                    .take_while(|stage| !mentions(stage, &names, 0) && !is_random(stage, 0))
                    .count();
                if fixed == stages.len() {
                    pipeline.stages.len()
                } else if pipeline.stages.len() == stages.len() {
                    fixed
                } else {
                    0
                }
            }
            _ => 0,
        };
        let needs = Needs::open(needs.path(into.first()));
        Ok((Lookup { database, collection, into, variables, pipeline, fixed_stage_count, join }, needs))
    }
}

impl Lookup {
    /// Returns the pipeline over the other collection's documents, if there is one.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }
}

/// Finds an equality of a field and a variable that all documents which the stage lets through satisfy.
fn join_by_variable(stage: &Value, variables: &[String]) -> Option<Join> {
    let expression = stage.get("$match")?.get("$expr")?;
    let candidates = match expression.get("$and") {
        Some(Value::Array(conditions)) => conditions.as_slice(),
        _ => std::slice::from_ref(expression),
    };
    candidates.iter().find_map(|condition| {
        let [left, right] = condition.get("$eq")?.as_array()? else { return None };
        join_of(left, right, variables).or_else(|| join_of(right, left, variables))
    })
}

fn join_of(field: &Value, variable: &Value, variables: &[String]) -> Option<Join> {
    let field = field.as_str()?.strip_prefix('$').filter(|field| !field.starts_with('$'))?;
    let variable = variable.as_str()?.strip_prefix("$$")?;
    let index = variables.iter().position(|name| name == variable)?;
    // Numbers in paths of expressions are names, in joins they are also indexes: leave those alone.
    if field.split('.').any(|name| name.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    Some(Join { local: Local::Variable(index), foreign: FieldPath::parse(field).ok()? })
}

/// Runs it.
pub(crate) fn run(lookup: Arc<Lookup>, input: Documents, context: &Context) -> Documents {
    let foreign = match (&lookup.join, &lookup.collection) {
        (Some(join), Some(collection)) => {
            Some(Foreign::new(context, lookup.database.as_deref(), collection, &join.foreign, true))
        }
        _ => None,
    };
    let mut running = Running {
        lookup,
        input,
        context: context.clone(),
        foreign,
        waiting: VecDeque::new(),
        prepared_count: 0,
        failure: None,
        batch_len: 16,
        fixed: Fixed::Unknown,
    };
    Box::new(std::iter::from_fn(move || running.next()))
}

/// What the stages that do not depend on variables give.
enum Fixed {
    Unknown,
    Held(Arc<Vec<Object>>),
    TooLarge,
}

/// A document that waits for what it joins.
struct Waiting {
    document: Object,
    variables: Vec<(String, Option<Value>)>,
    /// The values by which it joins; `None` is not by values.
    values: Option<Vec<Value>>,
}

struct Running {
    lookup: Arc<Lookup>,
    input: Documents,
    context: Context,
    foreign: Option<Foreign>,
    waiting: VecDeque<Waiting>,
    /// How many of those waiting the other side is prepared for.
    prepared_count: usize,
    failure: Option<Error>,
    batch_len: usize,
    fixed: Fixed,
}

/// Bytes of documents that wait together for one question to the other collection.
const BATCH_BYTES_MAX: usize = 8 * 1024 * 1024;

impl Running {
    fn next(&mut self) -> Option<Result<Object>> {
        if self.waiting.is_empty() {
            self.fill();
        }
        if self.waiting.is_empty() {
            return self.failure.take().map(Err);
        }
        if self.prepared_count == 0
            && let Err(error) = self.prepare()
        {
            self.waiting.clear();
            return Some(Err(error));
        }
        self.prepared_count = self.prepared_count.saturating_sub(1);
        let waiting = self.waiting.pop_front()?;
        Some(self.joined(waiting))
    }

    /// Takes some documents from before; few at first, so that a limit after this stage asks for little.
    fn fill(&mut self) {
        let count = if self.foreign.is_some() { self.batch_len } else { 1 };
        self.batch_len = (self.batch_len * 2).min(LOOKUP_BATCH_MAX);
        let mut bytes = 0;
        while self.waiting.len() < count && bytes < BATCH_BYTES_MAX && self.failure.is_none() {
            match self.input.next() {
                None => return,
                Some(Err(error)) => self.failure = Some(error),
                Some(Ok(document)) => {
                    bytes += object_bytes(&document);
                    match self.waiting_for(document) {
                        Ok(waiting) => self.waiting.push_back(waiting),
                        Err(error) => self.failure = Some(error),
                    }
                }
            }
        }
    }

    fn waiting_for(&self, document: Object) -> Result<Waiting> {
        let mut variables = Vec::with_capacity(self.lookup.variables.len());
        for (name, expression) in &self.lookup.variables {
            variables.push((name.clone(), expression.evaluate(&document, &self.context.environment)?));
        }
        let values = self.lookup.join.as_ref().and_then(|join| match &join.local {
            Local::Path(path) => Some(path.local_values(&document)),
            Local::Variable(index) => match &variables[*index].1 {
                None => Some(vec![Value::Null]),
                // A path through arrays makes arrays in expressions, which no single value tells.
                Some(Value::Array(_)) => None,
                Some(value) => Some(vec![value.clone()]),
            },
        });
        Ok(Waiting { document, variables, values })
    }

    /// Gets what as many as possible of those waiting join.
    fn prepare(&mut self) -> Result<()> {
        self.prepared_count = self.waiting.len();
        let Some(foreign) = &mut self.foreign else { return Ok(()) };
        loop {
            let values: Vec<Value> = self
                .waiting
                .iter()
                .take(self.prepared_count)
                .filter_map(|waiting| waiting.values.as_ref())
                .flatten()
                .cloned()
                .collect();
            if foreign.prepare(&values)? {
                return Ok(());
            }
            if self.prepared_count == 1 {
                return Err(self.too_large());
            }
            self.prepared_count /= 2;
        }
    }

    fn too_large(&self) -> Error {
        Error::new(
            4568,
            format!(
                "Total size of documents in {} matching pipeline's $lookup stage exceeds {GATHERED_BYTES_MAX} bytes",
                self.lookup.collection.as_deref().unwrap_or_default()
            ),
        )
    }

    fn joined(&mut self, waiting: Waiting) -> Result<Object> {
        self.context.outside.check()?;
        let Waiting { mut document, variables, values } = waiting;
        let mut elements = Vec::new();
        let mut bytes = 0;
        for joined in self.matching(variables, values)? {
            let joined = joined?;
            bytes += object_bytes(&joined);
            if bytes > GATHERED_BYTES_MAX {
                return Err(self.too_large());
            }
            elements.push(Value::Object(joined));
        }
        let elements = Value::Array(elements);
        check_depth(&elements)?;
        self.lookup.into.set(&mut document, elements);
        Ok(document)
    }

    fn matching(
        &mut self,
        variables: Vec<(String, Option<Value>)>,
        values: Option<Vec<Value>>,
    ) -> Result<Documents> {
        let found = match (&self.foreign, values) {
            (Some(foreign), Some(values)) => Some(foreign.find(&values)),
            _ => None,
        };
        let context = self.context.with_variables(variables);
        let Some(pipeline) = &self.lookup.pipeline else {
            return Ok(given(found.unwrap_or_default()));
        };
        if let Some(found) = found {
            return run_stages(&pipeline.stages, given(found), &context);
        }
        self.hold_fixed()?;
        let lookup = Arc::clone(&self.lookup);
        let Some(pipeline) = &lookup.pipeline else { return Ok(given(Vec::new())) };
        match &self.fixed {
            Fixed::Held(held) => {
                run_stages(&pipeline.stages[lookup.fixed_stage_count..], replay(held), &context)
            }
            _ => run_stages(&pipeline.stages, self.all(pipeline)?, &context),
        }
    }

    /// Opens the other collection.
    fn all(&self, pipeline: &Pipeline) -> Result<Documents> {
        match &self.lookup.collection {
            None => Ok(given(Vec::new())),
            Some(collection) => self.context.outside.documents(
                self.lookup.database.as_deref(),
                collection,
                pipeline.first_filter(),
            ),
        }
    }

    /// Runs the stages that do not depend on variables once, and keeps what they give if it is not too much.
    fn hold_fixed(&mut self) -> Result<()> {
        if !matches!(self.fixed, Fixed::Unknown) {
            return Ok(());
        }
        let lookup = Arc::clone(&self.lookup);
        let Some(pipeline) = &lookup.pipeline else { return Ok(()) };
        let documents =
            run_stages(&pipeline.stages[..lookup.fixed_stage_count], self.all(pipeline)?, &self.context)?;
        let (mut held, mut bytes) = (Vec::new(), 0);
        for document in documents {
            let document = document?;
            bytes += object_bytes(&document);
            if bytes > FOREIGN_BYTES_MAX {
                self.fixed = Fixed::TooLarge;
                return Ok(());
            }
            held.push(document);
        }
        self.fixed = Fixed::Held(Arc::new(held));
        Ok(())
    }
}

fn given(documents: Vec<Arc<Object>>) -> Documents {
    Box::new(documents.into_iter().map(|document| Ok(Arc::unwrap_or_clone(document))))
}
