//! Reads projections.

use armilla_mongo_expression::{Error, Expression, Result, Scope, codes, is_truthy};
use armilla_value::{Object, Value};

use super::Projection;
use super::tree::{Child, Mode, Node, Source};
use crate::condition::Condition;
use crate::field_path;
use crate::filter::Filter;
use crate::limits::DEPTH_MAX;
use crate::number::{is_number, to_f64};
use crate::text::{show, show_member};
use crate::types::type_name;

const EXPRESSION_IN_EXCLUSION: i32 = 31252;
const INCLUSION_IN_EXCLUSION: i32 = 31253;
const EXCLUSION_IN_INCLUSION: i32 = 31254;
const ELEMENT_AND_POSITIONAL: i32 = 31255;
const POSITIONAL_AND_ELEMENT: i32 = 31256;
const SLICE_SKIP: i32 = 31257;
const SLICE_LIMIT: i32 = 31258;
const SLICE_LIMIT_NOT_POSITIVE: i32 = 31259;
const POSITIONAL_WITH_OBJECT: i32 = 31271;
const SLICE_ARRAY: i32 = 31272;
const SLICE_OPERAND: i32 = 31273;
const ELEMENT_OPERAND: i32 = 31274;
const ELEMENT_NESTED: i32 = 31275;
const POSITIONAL_TWICE: i32 = 31276;
const POSITIONAL_WITH_LITERAL: i32 = 31308;
const LITERAL_IN_EXCLUSION: i32 = 31310;
const POSITIONAL_IN_AGGREGATION: i32 = 31324;
const UNKNOWN_EXPRESSION: i32 = 31325;
const POSITIONAL_IN_PATH: i32 = 31394;
const POSITIONAL_IN_EXCLUSION: i32 = 31395;
const EMPTY_OBJECT: i32 = 51270;
const EMPTY: i32 = 51272;
const INVALID_SLICE: i32 = 28667;
const SLICE_OF_NUMBER: i32 = 28724;
const NO_TEXT_SCORE: i32 = 40218;
const UNKNOWN_META: i32 = 17308;
const UNSET_OPERAND: i32 = 31002;
const UNSET_EMPTY: i32 = 31119;
const UNSET_ELEMENT: i32 = 31120;

/// Whose projection it is.
#[derive(Clone, Copy)]
pub(super) enum Rules {
    /// Of a find.
    Find,
    /// Of a stage.
    Aggregation,
}

/// Reads one projection.
pub(super) struct Parser<'a> {
    rules: Rules,
    scope: &'a Scope,
    mode: Option<Mode>,
    root: Node,
    sources: Vec<Source>,
    positional: Option<String>,
    has_slice: bool,
    has_element: bool,
    has_meta: bool,
    names_id: bool,
    includes_id: bool,
    excludes_id: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(rules: Rules, scope: &'a Scope) -> Parser<'a> {
        Parser {
            rules,
            scope,
            mode: None,
            root: Node::default(),
            sources: Vec::new(),
            positional: None,
            has_slice: false,
            has_element: false,
            has_meta: false,
            names_id: false,
            includes_id: false,
            excludes_id: false,
        }
    }

    pub(super) fn parse(mut self, specification: &Object) -> Result<Projection> {
        if specification.is_empty() && !self.is_find() {
            return Err(Error::new(EMPTY, "projection specification must have at least one field"));
        }
        for (name, value) in specification.iter() {
            self.names_id |= name == "_id" || name.starts_with("_id.");
            self.member("", name, value, 0)?;
        }
        let mode = self.mode.unwrap_or_else(|| self.default_mode());
        if mode == Mode::Include && !self.names_id {
            self.root.add("_id", Child::Include, "_id")?;
        }
        if mode == Mode::Keep && self.includes_id {
            self.root.remove("_id");
        }
        self.root.mark();
        Ok(Projection { mode, root: self.root, sources: self.sources, positional: self.positional })
    }

    fn is_find(&self) -> bool {
        matches!(self.rules, Rules::Find)
    }

    /// Decides where nothing but `_id` and operators are named.
    fn default_mode(&self) -> Mode {
        let is_inclusion = if self.has_slice {
            self.includes_id
        } else if self.has_element {
            true
        } else if self.has_meta {
            !self.is_find() || (self.includes_id && !self.excludes_id)
        } else {
            self.includes_id
        };
        if is_inclusion { Mode::Include } else { Mode::Keep }
    }

    /// Reads a member; `parent` is the path of the object around it, with a dot at its end.
    fn member(&mut self, parent: &str, name: &str, value: &Value, depth: usize) -> Result<()> {
        if depth >= DEPTH_MAX {
            return Err(Error::new(codes::OVERFLOW, "exceeded maximum depth of a projection"));
        }
        let positional = positional_at(name);
        if positional.is_some() && !self.is_find() {
            return Err(Error::new(
                POSITIONAL_IN_AGGREGATION,
                "Cannot use positional projection in aggregation projection",
            ));
        }
        let path = format!("{parent}{name}");
        match value {
            Value::Object(object) => {
                if positional.is_some() {
                    return Err(Error::new(
                        POSITIONAL_WITH_OBJECT,
                        "positional projection cannot be used with an expression or sub object",
                    ));
                }
                self.object(parent, name, object, depth)
            }
            Value::Bool(_) | Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => {
                if !is_truthy(Some(value)) {
                    return self.exclusion(&path, name, positional.is_some());
                }
                match positional {
                    None => self.inclusion(&path, name),
                    Some(place) => self.positional(&path, parent.len() + place, name),
                }
            }
            literal => {
                if positional.is_some() {
                    return Err(Error::new(
                        POSITIONAL_WITH_LITERAL,
                        "positional projection cannot be used with a literal",
                    ));
                }
                let expression = Expression::parse(literal, self.scope)?;
                self.computed(&path, Source::Expression(Box::new(expression)))?;
                self.require_inclusion(LITERAL_IN_EXCLUSION, || {
                    format!(
                        "Cannot use an expression {} in an exclusion projection",
                        show_member(name, literal)
                    )
                })
            }
        }
    }

    fn require_inclusion(&mut self, code: i32, message: impl FnOnce() -> String) -> Result<()> {
        if self.mode == Some(Mode::Keep) {
            return Err(Error::new(code, message()));
        }
        self.mode = Some(Mode::Include);
        Ok(())
    }

    fn inclusion(&mut self, path: &str, name: &str) -> Result<()> {
        self.place(path, Child::Include)?;
        if path == "_id" {
            self.includes_id = true;
            return Ok(());
        }
        self.require_inclusion(INCLUSION_IN_EXCLUSION, || {
            format!("Cannot do inclusion on field {name} in exclusion projection")
        })
    }

    fn exclusion(&mut self, path: &str, name: &str, is_positional: bool) -> Result<()> {
        if is_positional {
            return Err(Error::new(
                POSITIONAL_IN_EXCLUSION,
                "positional projection cannot be used with exclusion",
            ));
        }
        self.place(path, Child::Exclude)?;
        if path == "_id" {
            self.excludes_id = true;
            return Ok(());
        }
        if self.mode == Some(Mode::Include) {
            return Err(Error::new(
                EXCLUSION_IN_INCLUSION,
                format!("Cannot do exclusion on field {name} in inclusion projection"),
            ));
        }
        self.mode = Some(Mode::Keep);
        Ok(())
    }

    fn positional(&mut self, path: &str, place: usize, name: &str) -> Result<()> {
        if self.positional.is_some() {
            return Err(Error::new(
                POSITIONAL_TWICE,
                "Cannot specify more than one positional projection per query.",
            ));
        }
        if self.has_element {
            return Err(Error::new(
                POSITIONAL_AND_ELEMENT,
                "Cannot specify positional operator and $elemMatch.",
            ));
        }
        if place + 2 != path.len() {
            return Err(Error::new(
                POSITIONAL_IN_PATH,
                "As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the parts following the '$' and the results will be equivalent.",
            ));
        }
        let path = &path[..place];
        self.place(path, Child::Include)?;
        self.positional = Some(path.to_owned());
        self.require_inclusion(INCLUSION_IN_EXCLUSION, || {
            format!("Cannot do inclusion on field {name} in exclusion projection")
        })
    }

    fn object(&mut self, parent: &str, name: &str, object: &Object, depth: usize) -> Result<()> {
        let path = format!("{parent}{name}");
        let mut members = object.iter();
        let Some((first, operand)) = members.next() else {
            return Err(Error::new(
                EMPTY_OBJECT,
                format!("An empty sub-projection is not a valid value. Found empty object at path {path}"),
            ));
        };
        if first.starts_with('$') && members.next().is_none() {
            return self.operator(parent, &path, first, operand, object);
        }
        field_path::check(name)?;
        let parent = format!("{path}.");
        for (inner, value) in object.iter() {
            self.member(&parent, inner, value, depth + 1)?;
        }
        Ok(())
    }

    fn operator(
        &mut self,
        parent: &str,
        path: &str,
        operator: &str,
        operand: &Value,
        object: &Object,
    ) -> Result<()> {
        match (operator, self.rules) {
            ("$slice", Rules::Find) => return self.slice(path, operand, object),
            ("$elemMatch", Rules::Find) => return self.element(parent, path, operand, object),
            ("$elemMatch", Rules::Aggregation) => {
                return Err(Error::new(
                    codes::INVALID_PIPELINE_OPERATOR,
                    "Cannot use $elemMatch in this context",
                ));
            }
            ("$meta", _) => return self.meta(path, operand),
            _ => {}
        }
        self.expression(path, operator, object)
    }

    fn expression(&mut self, path: &str, operator: &str, object: &Object) -> Result<()> {
        let parsed = Expression::parse(&Value::Object(object.clone()), self.scope);
        let expression = parsed.map_err(|error| {
            let is_own = error.code == codes::INVALID_PIPELINE_OPERATOR
                && error.message.contains(&format!("'{operator}'"));
            if is_own {
                Error::new(UNKNOWN_EXPRESSION, format!("Unknown expression {operator}"))
            } else {
                error
            }
        })?;
        self.require_inclusion(EXPRESSION_IN_EXCLUSION, || {
            "Cannot use expression other than $meta in exclusion projection".to_owned()
        })?;
        self.computed(path, Source::Expression(Box::new(expression)))
    }

    fn slice(&mut self, path: &str, operand: &Value, object: &Object) -> Result<()> {
        match find_slice(operand) {
            Ok((skip, limit)) => {
                self.place(path, Child::Slice { skip, limit })?;
                self.has_slice = true;
                Ok(())
            }
            Err(reason) => {
                let is_of_numbers = operand.as_array().is_some_and(|elements| elements.iter().all(is_number));
                let read = if is_of_numbers && operand.as_array().is_some_and(|elements| elements.len() > 1) {
                    // As an expression it would fail with each document.
                    Err(Error::new(
                        SLICE_OF_NUMBER,
                        "First argument to $slice must be an array, but is of type: int",
                    ))
                } else {
                    self.expression(path, "$slice", object)
                };
                read.map_err(|error| {
                    let code = if error.code == codes::BAD_VALUE { INVALID_SLICE } else { error.code };
                    let shown = show(&Value::Object(object.clone()));
                    Error::new(
                        code,
                        format!(
                            "Invalid $slice syntax. The given syntax {shown} did not match the find() syntax because :: Location{}: {} :: The given syntax did not match the expression $slice syntax. :: caused by :: {}",
                            reason.code, reason.message, error.message
                        ),
                    )
                })
            }
        }
    }

    fn element(&mut self, parent: &str, path: &str, operand: &Value, object: &Object) -> Result<()> {
        if !matches!(operand, Value::Object(_)) {
            return Err(Error::new(
                ELEMENT_OPERAND,
                format!("elemMatch: Invalid argument, object required, but got {}", type_name(operand)),
            ));
        }
        if self.positional.is_some() {
            return Err(Error::new(
                ELEMENT_AND_POSITIONAL,
                "Cannot specify positional operator and $elemMatch.",
            ));
        }
        if !parent.is_empty() || path.contains('.') {
            return Err(Error::new(ELEMENT_NESTED, "Cannot use $elemMatch projection on a nested field."));
        }
        let query = Object::from(vec![(path.to_owned(), Value::Object(object.clone()))]);
        let Condition::Path { predicate, .. } = Filter::parse(&query, self.scope)?.root else {
            return Err(Error::new(codes::INTERNAL_ERROR, "an $elemMatch is about a path"));
        };
        self.computed(path, Source::Element { name: path.to_owned(), predicate })?;
        self.has_element = true;
        Ok(())
    }

    fn meta(&mut self, path: &str, operand: &Value) -> Result<()> {
        let source = match operand.as_str() {
            Some("sortKey") => Source::SortKey,
            Some("geoNearDistance") => Source::Distance,
            Some("textScore") => {
                return Err(Error::new(
                    NO_TEXT_SCORE,
                    "query requires text score metadata, but it is not available",
                ));
            }
            _ => {
                return Err(Error::new(
                    UNKNOWN_META,
                    format!("Unsupported argument to $meta: {}", operand.as_str().unwrap_or(&show(operand))),
                ));
            }
        };
        self.has_meta = true;
        self.computed(path, source)
    }

    fn computed(&mut self, path: &str, source: Source) -> Result<()> {
        self.place(path, Child::Computed(self.sources.len()))?;
        self.sources.push(source);
        Ok(())
    }

    fn place(&mut self, path: &str, child: Child) -> Result<()> {
        field_path::check(path)?;
        self.root.add(path, child, path)
    }
}

/// Returns where the dot before the first positional `$` is.
fn positional_at(name: &str) -> Option<usize> {
    match name.find(".$.") {
        Some(place) => Some(place),
        None if name.ends_with(".$") => Some(name.len() - 2),
        None => None,
    }
}

/// Reads `$slice` as a find knows it.
fn find_slice(operand: &Value) -> Result<(Option<i64>, i64)> {
    let number = |value: &Value| {
        // Numbers that are too large end at the bounds of 32 bits.
        to_f64(value).map(|number| number.trunc().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i64)
    };
    match operand {
        Value::Array(elements) => {
            let [skip, limit] = elements.as_slice() else {
                return Err(Error::new(SLICE_ARRAY, "$slice array argument should be of form [skip, limit]"));
            };
            let skip_number = number(skip).ok_or_else(|| {
                Error::new(
                    SLICE_SKIP,
                    format!("$slice expects the skip argument to be a number, got {}", type_name(skip)),
                )
            })?;
            let limit_number = number(limit).ok_or_else(|| {
                Error::new(
                    SLICE_LIMIT,
                    format!("$slice expects the limit argument to be a number, got {}", type_name(limit)),
                )
            })?;
            if limit_number <= 0 {
                return Err(Error::new(
                    SLICE_LIMIT_NOT_POSITIVE,
                    format!("$slice limit must be positive, got {limit_number}"),
                ));
            }
            Ok((Some(skip_number), limit_number))
        }
        single if is_number(single) => Ok((None, number(single).unwrap_or_default())),
        _ => Err(Error::new(SLICE_OPERAND, "$slice only supports numbers and [skip, limit] arrays")),
    }
}

/// Reads the operand of `$unset`.
pub(super) fn unset(operand: &Value) -> Result<Projection> {
    let paths: Vec<&str> = match operand {
        Value::String(path) => vec![path],
        Value::Array(elements) => {
            if elements.is_empty() {
                return Err(Error::new(
                    UNSET_EMPTY,
                    "$unset specification must be a string or an array with at least one field",
                ));
            }
            let path = |element: &'_ Value| match element {
                Value::String(_) => Ok(()),
                _ => Err(Error::new(
                    UNSET_ELEMENT,
                    "$unset specification must be a string or an array containing only string values",
                )),
            };
            elements.iter().try_for_each(path)?;
            elements.iter().filter_map(Value::as_str).collect()
        }
        _ => return Err(Error::new(UNSET_OPERAND, "$unset specification must be a string or an array")),
    };
    let mut root = Node::default();
    for path in paths {
        field_path::check(path)?;
        root.add(path, Child::Exclude, path)?;
    }
    Ok(Projection { mode: Mode::Keep, root, sources: Vec::new(), positional: None })
}
