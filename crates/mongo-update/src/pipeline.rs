//! An update by a pipeline: a few stages that make of one document another.

use armilla_mongo_expression::measure::bson_bytes;
use armilla_mongo_expression::{Environment, Error, Expression, Result, Scope, codes, type_name};
use armilla_mongo_filter::{AddFields, Matched, Projection};
use armilla_value::{Object, Value};

use crate::limits::{PIPELINE_STAGES_MAX, STAGE_DOCUMENT_BYTES_MAX};
use crate::render::{render, render_object};

/// A pipeline that was read.
#[derive(Debug, Clone)]
pub(crate) struct Pipeline {
    stages: Vec<Stage>,
    /// The `c` of the update: values that its expressions see as variables.
    constants: Object,
}

#[derive(Debug, Clone)]
enum Stage {
    /// `$set` and `$addFields`.
    Add(AddFields),
    /// `$project` and `$unset`.
    Project(Projection),
    /// `$replaceWith` and `$replaceRoot`.
    Replace(Expression),
}

impl Pipeline {
    /// Reads the stages. Constants are in their scope besides what is there already.
    pub(crate) fn parse(stages: &[Value], constants: Option<&Object>, scope: &Scope) -> Result<Pipeline> {
        if stages.len() > PIPELINE_STAGES_MAX {
            return Err(Error::new(
                7_749_501,
                format!("Pipeline length must be no longer than {PIPELINE_STAGES_MAX} stages"),
            ));
        }
        let constants = constants.cloned().unwrap_or_default();
        let mut scope = scope.clone();
        for (name, _) in constants.iter() {
            check_variable(name)?;
            if !scope.variables.iter().any(|other| other == name) {
                scope.variables.push(name.to_owned());
            }
        }
        let stages = stages.iter().map(|stage| Stage::parse(stage, &scope)).collect::<Result<_>>()?;
        Ok(Pipeline { stages, constants })
    }

    /// Makes the new document, which may lack `_id`.
    pub(crate) fn apply(&self, document: &Object, environment: &Environment) -> Result<Object> {
        let with_constants;
        let environment = if self.constants.is_empty() {
            environment
        } else {
            let mut copy = environment.clone();
            for (name, value) in self.constants.iter() {
                copy.variables.insert(name, value.clone());
            }
            with_constants = copy;
            &with_constants
        };
        let mut document = document.clone();
        for stage in &self.stages {
            document = stage.apply(document, environment)?;
            let bytes = bson_bytes(&document);
            if bytes > STAGE_DOCUMENT_BYTES_MAX {
                return Err(Error::new(
                    codes::BSON_OBJECT_TOO_LARGE,
                    format!(
                        "BSONObj size: {bytes} is invalid. Size must be between 0 and {STAGE_DOCUMENT_BYTES_MAX}"
                    ),
                ));
            }
        }
        Ok(document)
    }
}

impl Stage {
    fn parse(stage: &Value, scope: &Scope) -> Result<Stage> {
        let Value::Object(stage) = stage else {
            return Err(Error::new(
                codes::TYPE_MISMATCH,
                "Each element of the 'pipeline' array must be an object",
            ));
        };
        let mut members = stage.iter();
        let (Some((name, specification)), None) = (members.next(), members.next()) else {
            return Err(Error::new(
                40323,
                "A pipeline stage specification object must contain exactly one field.",
            ));
        };
        match name {
            "$set" | "$addFields" => {
                let specification = specification.as_object().ok_or_else(|| {
                    let got = type_name(specification);
                    Error::new(40272, format!("{name} specification stage must be an object, got {got}"))
                })?;
                Ok(Stage::Add(AddFields::parse(specification, scope)?))
            }
            "$project" => {
                let specification = specification
                    .as_object()
                    .ok_or_else(|| Error::new(15969, "$project specification must be an object"))?;
                Ok(Stage::Project(Projection::parse_aggregation(specification, scope)?))
            }
            "$unset" => Ok(Stage::Project(Projection::parse_unset(specification)?)),
            "$replaceWith" => Ok(Stage::Replace(Expression::parse(specification, scope)?)),
            "$replaceRoot" => Ok(Stage::Replace(Expression::parse(new_root(specification)?, scope)?)),
            _ if is_other_stage(name) => Err(Error::new(
                codes::INVALID_OPTIONS,
                format!("{name} is not allowed to be used within an update"),
            )),
            _ => Err(Error::new(40324, format!("Unrecognized pipeline stage name: '{name}'"))),
        }
    }

    fn apply(&self, document: Object, environment: &Environment) -> Result<Object> {
        match self {
            Stage::Add(fields) => fields.apply(&document, environment),
            Stage::Project(projection) => projection.apply(&document, &Matched::default(), environment),
            Stage::Replace(expression) => match expression.evaluate(&document, environment)? {
                Some(Value::Object(new)) => Ok(new),
                other => Err(Error::new(
                    40228,
                    format!(
                        "'newRoot' expression must evaluate to an object, but resulting value was: {}. Type of \
                         resulting value: '{}'. Input document: {}",
                        other.as_ref().map_or_else(|| "MISSING".to_owned(), render),
                        other.as_ref().map_or("missing", type_name),
                        render_object(&document),
                    ),
                )),
            },
        }
    }
}

/// Refuses names of constants that no expression could name.
fn check_variable(name: &str) -> Result<()> {
    let is_first = |character: char| character.is_ascii_lowercase() || !character.is_ascii();
    let is_other =
        |character: char| character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii();
    if name.is_empty() {
        return Err(Error::new(16866, "empty variable names are not allowed"));
    }
    if !name.starts_with(is_first) {
        return Err(Error::new(
            16867,
            format!("'{name}' starts with an invalid character for a user variable name"),
        ));
    }
    match name.chars().find(|character| !is_other(*character)) {
        Some(character) => Err(Error::new(
            16868,
            format!("'{name}' contains an invalid character for a variable name: '{character}'"),
        )),
        None => Ok(()),
    }
}

fn new_root(specification: &Value) -> Result<&Value> {
    let Value::Object(object) = specification else {
        return Err(Error::new(
            40229,
            format!(
                "expected an object as specification for $replaceRoot stage, got {}",
                type_name(specification)
            ),
        ));
    };
    if let Some((name, _)) = object.iter().find(|(name, _)| *name != "newRoot") {
        return Err(Error::new(40415, format!("BSON field '$replaceRoot.{name}' is an unknown field.")));
    }
    object
        .get("newRoot")
        .ok_or_else(|| Error::new(40414, "BSON field '$replaceRoot.newRoot' is missing but a required field"))
}

/// Says whether a name is that of a stage that updates do not have.
fn is_other_stage(name: &str) -> bool {
    matches!(
        name,
        "$bucket"
            | "$bucketAuto"
            | "$changeStream"
            | "$changeStreamSplitLargeEvent"
            | "$collStats"
            | "$count"
            | "$currentOp"
            | "$densify"
            | "$documents"
            | "$facet"
            | "$fill"
            | "$geoNear"
            | "$graphLookup"
            | "$group"
            | "$indexStats"
            | "$limit"
            | "$listLocalSessions"
            | "$listSearchIndexes"
            | "$listSessions"
            | "$lookup"
            | "$match"
            | "$merge"
            | "$out"
            | "$planCacheStats"
            | "$redact"
            | "$sample"
            | "$search"
            | "$searchMeta"
            | "$setWindowFields"
            | "$skip"
            | "$sort"
            | "$sortByCount"
            | "$unionWith"
            | "$unwind"
    )
}
