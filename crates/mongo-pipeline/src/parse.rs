//! Reading pipelines: the shape of stages, their names and where they may stand.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Expression, Result, Scope, codes};
use armilla_mongo_filter::{AddFields, Filter, Projection, Sort};
use armilla_value::{Object, Value};

use crate::arguments::{failed, known_members, non_negative, object_or, type_name};
use crate::dependencies::{Fields, Needs, is_random};
use crate::limits::{DEPTH_MAX, STAGES_MAX, SUB_PIPELINE_DEPTH_MAX};
use crate::stages::bucket_auto::BucketAuto;
use crate::stages::densify::Densify;
use crate::stages::geo_near::GeoNear;
use crate::stages::graph_lookup::GraphLookup;
use crate::stages::group::{Group, parse_count};
use crate::stages::lookup::Lookup;
use crate::stages::replace_root::ReplaceRoot;
use crate::stages::union_with::UnionWith;
use crate::stages::unwind::Unwind;
use crate::stages::window::SetWindowFields;
use crate::stages::write::{Merge, Out};
use crate::stages::{bucket, facet, fill, sample};
use crate::{Pipeline, Stage};

/// Where a pipeline stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A command.
    Command,
    /// `$lookup`.
    Lookup,
    /// `$unionWith`.
    Union,
    /// `$facet`.
    Facet,
    /// `whenMatched` of `$merge`.
    Update,
}

/// What reading a stage needs to know of where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) place: Place,
    pub(crate) depth: usize,
}

/// Stages that one stage of the text becomes, with what they need.
pub(crate) type Stages = Vec<(Stage, Needs)>;

impl Pipeline {
    /// Reads a pipeline.
    pub fn parse(stages: &[Value], scope: &Scope) -> Result<Pipeline> {
        Reading { scope, place: Place::Command, depth: 0 }.pipeline(stages)
    }

    /// Returns the filter with which the pipeline begins, if it is the same for whoever evaluates it and whenever.
    pub(crate) fn first_filter(&self) -> Option<&Filter> {
        match (self.stages.first()?, self.needs.first()?.is_fixed) {
            (Stage::Match(filter), true) => Some(filter),
            _ => None,
        }
    }
}

impl<'a> Reading<'a> {
    /// Goes into a pipeline inside this one.
    pub(crate) fn inside(&self, place: Place) -> Result<Reading<'a>> {
        if self.depth >= SUB_PIPELINE_DEPTH_MAX {
            return Err(Error::new(
                232,
                format!("Maximum number of nested sub-pipelines exceeded. Limit is {SUB_PIPELINE_DEPTH_MAX}"),
            ));
        }
        Ok(Reading { scope: self.scope, place, depth: self.depth + 1 })
    }

    /// Reads the stages.
    pub(crate) fn pipeline(&self, stages: &[Value]) -> Result<Pipeline> {
        if stages.len() > STAGES_MAX {
            return Err(Error::new(
                7749501,
                format!("Pipeline length must be no longer than {STAGES_MAX} stages"),
            ));
        }
        let mut pipeline = Pipeline::default();
        for (index, stage) in stages.iter().enumerate() {
            let object = object_or(stage, codes::TYPE_MISMATCH, || {
                "Each element of the 'pipeline' array must be an object".to_owned()
            })?;
            let mut members = object.iter();
            let (Some((name, argument)), None) = (members.next(), members.next()) else {
                return Err(Error::new(
                    40323,
                    "A pipeline stage specification object must contain exactly one field.",
                ));
            };
            for (stage, needs) in self.stage(name, argument)? {
                pipeline.stages.push(stage);
                pipeline.needs.push(needs);
            }
            self.check_position(name, index, stages.len())?;
            check_change_stream(pipeline.stages.first(), name)?;
        }
        Ok(pipeline)
    }

    fn check_position(&self, name: &str, index: usize, count: usize) -> Result<()> {
        let is_first_only = matches!(
            name,
            "$changeStream"
                | "$collStats"
                | "$indexStats"
                | "$currentOp"
                | "$listLocalSessions"
                | "$listSessions"
                | "$planCacheStats"
                | "$geoNear"
                | "$documents"
        );
        let is_last_only = matches!(name, "$out" | "$merge" | "$changeStreamSplitLargeEvent");
        // The caller knows only the pipeline of the command.
        let is_callers = is_last_only || (is_first_only && !matches!(name, "$geoNear" | "$documents"));
        if matches!(self.place, Place::Lookup | Place::Union)
            && matches!(name, "$currentOp" | "$listLocalSessions" | "$listSessions")
        {
            return Err(Error::new(
                codes::INVALID_NAMESPACE,
                format!("{name} must be run against the database with {{aggregate: 1}}"),
            ));
        }
        match self.place {
            Place::Facet if is_first_only || is_last_only || name == "$facet" => {
                return Err(Error::new(
                    40600,
                    format!("{name} is not allowed to be used within a $facet stage"),
                ));
            }
            Place::Lookup if is_callers => {
                return Err(Error::new(
                    51047,
                    format!("{name} is not allowed within a $lookup's sub-pipeline"),
                ));
            }
            Place::Union if is_callers => {
                return Err(Error::new(
                    31441,
                    format!("{name} is not allowed within a $unionWith's sub-pipeline"),
                ));
            }
            Place::Update
                if !matches!(
                    name,
                    "$addFields" | "$set" | "$project" | "$unset" | "$replaceRoot" | "$replaceWith"
                ) =>
            {
                return Err(Error::new(
                    codes::INVALID_OPTIONS,
                    format!("{name} is not allowed to be used within an update"),
                ));
            }
            _ => {}
        }
        if is_first_only && index > 0 {
            return Err(Error::new(40602, format!("{name} is only valid as the first stage in a pipeline")));
        }
        if is_last_only && index + 1 < count {
            return Err(Error::new(40601, format!("{name} can only be the final stage in the pipeline")));
        }
        Ok(())
    }

    fn stage(&self, name: &str, argument: &Value) -> Result<Stages> {
        let scope = self.scope;
        let whole = |stage: Stage| vec![(stage, Needs::everything())];
        let passing = |stage: Stage| vec![(stage, Needs::open(Fields::none()))];
        Ok(match name {
            "$match" => vec![self.match_stage(argument)?],
            "$project" => vec![project(argument, scope)?],
            "$addFields" | "$set" => vec![add_fields(name, argument, scope)?],
            "$unset" => vec![unset(argument, scope)?],
            "$group" => {
                let (group, needs) = Group::parse(argument, scope)?;
                vec![(Stage::Group(Arc::new(group)), needs)]
            }
            "$sort" => vec![sort(argument)?],
            "$limit" => match non_negative(name, 5107201, argument)? {
                0 => return Err(Error::new(15958, "the limit must be positive")),
                count => passing(Stage::Limit(count)),
            },
            "$skip" => passing(Stage::Skip(non_negative(name, 5107200, argument)?)),
            "$count" => vec![(Stage::Count(parse_count(argument)?), Needs::closed(Fields::none()))],
            "$unwind" => {
                let unwind = Unwind::parse(argument)?;
                let fields = Fields::none().path(unwind.path.first());
                let fields = match &unwind.index {
                    Some(index) => fields.path(index.first()),
                    None => fields,
                };
                vec![(Stage::Unwind(Arc::new(unwind)), Needs::open(fields))]
            }
            "$lookup" => {
                let (lookup, needs) = Lookup::parse(argument, self)?;
                vec![(Stage::Lookup(Arc::new(lookup)), needs)]
            }
            "$replaceRoot" | "$replaceWith" => {
                let (root, needs) = match name {
                    "$replaceRoot" => ReplaceRoot::parse_root(argument, scope)?,
                    _ => ReplaceRoot::parse_with(argument, scope)?,
                };
                vec![(Stage::ReplaceRoot(Arc::new(root)), needs)]
            }
            "$facet" => whole(Stage::Facet(Arc::new(facet::parse(argument, self)?))),
            "$sample" => passing(Stage::Sample(sample::parse(argument)?)),
            "$sortByCount" => sort_by_count(argument, scope)?,
            "$bucket" => {
                let (group, needs) = bucket::parse(argument, scope)?;
                let order = Sort::parse(&Object::from([("_id", Value::Int32(1))]))?;
                vec![
                    (Stage::Group(Arc::new(group)), needs),
                    (Stage::Sort(order), Needs::open(Fields::none().path("_id"))),
                ]
            }
            "$bucketAuto" => {
                let (buckets, needs) = BucketAuto::parse(argument, scope)?;
                vec![(Stage::BucketAuto(Arc::new(buckets)), needs)]
            }
            "$unionWith" => whole(Stage::UnionWith(Arc::new(UnionWith::parse(argument, self)?))),
            "$redact" => whole(Stage::Redact(Arc::new(Expression::parse(argument, scope)?))),
            "$documents" => vec![(
                Stage::Documents(Arc::new(Expression::parse(argument, scope)?)),
                Needs::closed(Fields::none()),
            )],
            "$graphLookup" => {
                let (lookup, needs) = GraphLookup::parse(argument, self)?;
                vec![(Stage::GraphLookup(Arc::new(lookup)), needs)]
            }
            "$setWindowFields" => {
                let (windows, needs) = SetWindowFields::parse(argument, scope)?;
                vec![(Stage::SetWindowFields(Arc::new(windows)), needs)]
            }
            "$densify" => whole(Stage::Densify(Arc::new(Densify::parse(argument)?))),
            "$fill" => fill::parse(argument, scope)?,
            "$geoNear" => whole(Stage::GeoNear(Arc::new(GeoNear::parse(argument, scope)?))),
            "$out" => whole(Stage::Out(Out::parse(argument)?)),
            "$merge" => whole(Stage::Merge(Arc::new(Merge::parse(argument, self)?))),
            "$changeStream" => whole(Stage::ChangeStream(options(name, argument, 50808)?)),
            "$collStats" => {
                let options = options(name, argument, 40166)?;
                known_members(name, &options, &["latencyStats", "storageStats", "count"])?;
                whole(Stage::CollStats(options))
            }
            "$indexStats" => {
                no_options(name, argument, 28803)?;
                whole(Stage::IndexStats)
            }
            "$currentOp" => {
                let options = options(name, argument, codes::FAILED_TO_PARSE)?;
                let known = [
                    "allUsers",
                    "idleConnections",
                    "idleCursors",
                    "idleSessions",
                    "localOps",
                    "truncateOps",
                    "backtrace",
                    "targetAllNodes",
                ];
                if let Some((option, _)) = options.iter().find(|(option, _)| !known.contains(option)) {
                    return Err(failed(format!("Unrecognized option '{option}' in $currentOp stage.")));
                }
                whole(Stage::CurrentOp(options))
            }
            "$listLocalSessions" => whole(Stage::ListLocalSessions(sessions(name, argument)?)),
            "$listSessions" => whole(Stage::ListSessions(sessions(name, argument)?)),
            "$planCacheStats" => {
                let options = options(name, argument, codes::FAILED_TO_PARSE)?;
                if let Some((option, _)) = options.iter().find(|(option, _)| *option != "allHosts") {
                    return Err(failed(format!(
                        "{name} parameters object may contain only 'allHosts' field. Found: {option}"
                    )));
                }
                whole(Stage::PlanCacheStats)
            }
            "$changeStreamSplitLargeEvent" => {
                no_options(name, argument, 7182800)?;
                whole(Stage::ChangeStreamSplitLargeEvent)
            }
            "$search" | "$searchMeta" | "$vectorSearch" | "$listSearchIndexes" => {
                return Err(Error::new(
                    codes::SEARCH_NOT_ENABLED,
                    format!("{name} is not supported here: it is a stage of Atlas Search"),
                ));
            }
            _ => return Err(Error::new(40324, format!("Unrecognized pipeline stage name: '{name}'"))),
        })
    }

    fn match_stage(&self, argument: &Value) -> Result<(Stage, Needs)> {
        let query =
            object_or(argument, 15959, || "the match filter must be an expression in an object".to_owned())?;
        let filter = Filter::parse(query, self.scope)?;
        if filter.near().is_some() {
            return Err(Error::new(
                5626500,
                "$geoNear, $near, and $nearSphere are not allowed in this context, as these operators require \
                 sorting geospatial data. If you do not need sort, consider using $geoWithin instead.",
            ));
        }
        let mut needs = Needs::open(Fields::none().filter(query));
        needs.is_fixed = !has_variables(argument, 0) && !is_random(argument, 0);
        Ok((Stage::Match(Arc::new(filter)), needs))
    }
}

/// Checks that what follows `$changeStream` takes events one by one, and that events are split only there.
fn check_change_stream(first: Option<&Stage>, name: &str) -> Result<()> {
    let is_permitted = match first {
        Some(Stage::ChangeStream(_)) => matches!(
            name,
            "$changeStream"
                | "$match"
                | "$project"
                | "$addFields"
                | "$set"
                | "$unset"
                | "$replaceRoot"
                | "$replaceWith"
                | "$redact"
                | "$changeStreamSplitLargeEvent"
        ),
        _ => name != "$changeStreamSplitLargeEvent",
    };
    match (is_permitted, first) {
        (true, _) => Ok(()),
        (false, Some(Stage::ChangeStream(_))) => Err(Error::new(
            codes::ILLEGAL_OPERATION,
            format!("{name} is not permitted in a $changeStream pipeline"),
        )),
        (false, _) => Err(Error::new(
            codes::ILLEGAL_OPERATION,
            format!("{name} is only permitted in a $changeStream pipeline"),
        )),
    }
}

/// Says whether a value mentions any variable.
fn has_variables(value: &Value, depth: usize) -> bool {
    match value {
        _ if depth > DEPTH_MAX => true,
        Value::String(text) => text.starts_with("$$"),
        Value::Array(elements) => elements.iter().any(|element| has_variables(element, depth + 1)),
        Value::Object(object) => object.iter().any(|(_, value)| has_variables(value, depth + 1)),
        _ => false,
    }
}

/// Says of which stage a failure is.
fn in_stage(name: &str, error: Error) -> Error {
    if error.message.starts_with("Invalid $") {
        return error;
    }
    Error { message: format!("Invalid {name} :: caused by :: {}", error.message), ..error }
}

fn project(argument: &Value, scope: &Scope) -> Result<(Stage, Needs)> {
    let specification = object_or(argument, 15969, || "$project specification must be an object".to_owned())?;
    let projection =
        Projection::parse_aggregation(specification, scope).map_err(|error| in_stage("$project", error))?;
    Ok((Stage::Project(Arc::new(projection)), projection_needs(specification)))
}

/// Tells what a projection reads: an inclusion its fields, an exclusion everything.
fn projection_needs(specification: &Object) -> Needs {
    let is_falsy = |value: &Value| match value {
        Value::Bool(truth) => !truth,
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) => value.as_f64() == Some(0.0),
        _ => false,
    };
    let mut fields = Fields::none();
    let mut includes = false;
    for (path, value) in specification.iter() {
        if is_falsy(value) {
            continue;
        }
        // A nested form may be an exclusion: only a plain inclusion or a computed value tells.
        match value {
            Value::Object(inner) if !inner.iter().any(|(name, _)| name.starts_with('$')) => {
                return Needs::everything();
            }
            Value::Object(_) | Value::Array(_) | Value::String(_) => {
                fields = fields.expression(value).path(path)
            }
            _ => fields = fields.path(path),
        }
        includes |= path != "_id";
    }
    if !includes {
        return Needs::everything();
    }
    if !specification.get("_id").is_some_and(is_falsy) {
        fields = fields.path("_id");
    }
    Needs::closed(fields)
}

fn add_fields(name: &str, argument: &Value, scope: &Scope) -> Result<(Stage, Needs)> {
    let specification = object_or(argument, 40272, || {
        format!("{name} specification stage must be an object, got {}", type_name(argument))
    })?;
    let fields = AddFields::parse(specification, scope).map_err(|error| in_stage("$addFields", error))?;
    let mut needed = Fields::none().expressions(specification);
    for (path, _) in specification.iter() {
        needed = needed.path(path);
    }
    Ok((Stage::AddFields(Arc::new(fields)), Needs::open(needed)))
}

fn unset(argument: &Value, scope: &Scope) -> Result<(Stage, Needs)> {
    let paths: Vec<&Value> = match argument {
        Value::String(_) => vec![argument],
        Value::Array(paths) => paths.iter().collect(),
        _ => return Err(Error::new(31002, "$unset specification must be a string or an array")),
    };
    if paths.is_empty() {
        return Err(Error::new(
            31119,
            "$unset specification must be a string or an array with at least one field",
        ));
    }
    let mut specification = Object::new();
    for path in paths {
        let Value::String(path) = path else {
            return Err(Error::new(
                31120,
                "$unset specification must be a string or an array containing only string values",
            ));
        };
        if specification.insert(path.as_str(), Value::Int32(0)).is_some() {
            return Err(in_stage("$unset", Error::new(31250, format!("Path collision at {path}"))));
        }
    }
    let projection =
        Projection::parse_aggregation(&specification, scope).map_err(|error| in_stage("$unset", error))?;
    Ok((Stage::Project(Arc::new(projection)), Needs::open(Fields::none())))
}

fn sort(argument: &Value) -> Result<(Stage, Needs)> {
    let keys = object_or(argument, 15973, || "the $sort key specification must be an object".to_owned())?;
    if keys.is_empty() {
        return Err(Error::new(15976, "$sort stage must have at least one sort key"));
    }
    let sort = Sort::parse(keys)?;
    let needs = keys.iter().fold(Fields::none(), |fields, (path, _)| fields.path(path));
    Ok((Stage::Sort(sort), Needs::open(needs)))
}

fn sort_by_count(argument: &Value, scope: &Scope) -> Result<Stages> {
    match argument {
        Value::Object(object) => {
            if !object.iter().next().is_some_and(|(name, _)| name.starts_with('$')) {
                return Err(Error::new(
                    40147,
                    "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
                ));
            }
        }
        Value::String(text) => {
            if !text.starts_with('$') {
                return Err(Error::new(
                    40148,
                    "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
                ));
            }
        }
        _ => {
            return Err(Error::new(
                40149,
                "the sortByCount field must be specified as a string or as an object",
            ));
        }
    }
    let count = Object::from([("$sum", Value::Int32(1))]);
    let group = Object::from([("_id", argument.clone()), ("count", Value::Object(count))]);
    let (group, needs) = Group::parse(&Value::Object(group), scope)?;
    let order = Sort::parse(&Object::from([("count", Value::Int32(-1))]))?;
    Ok(vec![
        (Stage::Group(Arc::new(group)), needs),
        (Stage::Sort(order), Needs::open(Fields::none().path("count"))),
    ])
}

fn options(name: &str, argument: &Value, code: i32) -> Result<Object> {
    object_or(argument, code, || {
        format!("the {name} stage specification must be an object, but found {}", type_name(argument))
    })
    .cloned()
}

fn no_options(name: &str, argument: &Value, code: i32) -> Result<()> {
    match options(name, argument, code)?.is_empty() {
        true => Ok(()),
        false => Err(Error::new(code, format!("the {name} stage specification must be an empty object"))),
    }
}

fn sessions(name: &str, argument: &Value) -> Result<Object> {
    let options = options(name, argument, codes::TYPE_MISMATCH)?;
    known_members(name, &options, &["allUsers", "users", "$_internalPredicate"])?;
    Ok(options)
}
