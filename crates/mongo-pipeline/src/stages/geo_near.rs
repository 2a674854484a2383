//! `$geoNear`: documents by their distance from a place.

use std::sync::Arc;

use armilla_mongo_expression::{Error, Result, Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::Documents;
use crate::arguments::{as_double, failed, known_members, object_or, type_name};
use crate::memory::{Budget, object_bytes};
use crate::path::FieldPath;
use crate::run::{Context, deferred};

/// `$geoNear` as it was read.
#[derive(Debug, Clone)]
pub struct GeoNear {
    /// Where the places are. If it is not said, the caller knows it from the collection's indexes.
    pub key: Option<String>,
    /// What documents must satisfy besides.
    pub query: Option<Filter>,
    near: Value,
    is_spherical: bool,
    distance_field: Option<FieldPath>,
    include_locations: Option<FieldPath>,
    multiplier: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl GeoNear {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, scope: &Scope) -> Result<GeoNear> {
        let object = object_or(argument, 10065, || {
            format!("invalid parameter: expected an object ($geoNear), found {}", type_name(argument))
        })?;
        known_members(
            "$geoNear",
            object,
            &[
                "near",
                "distanceField",
                "spherical",
                "maxDistance",
                "minDistance",
                "query",
                "distanceMultiplier",
                "includeLocs",
                "key",
            ],
        )?;
        let path = |name: &str, code: i32| match object.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => FieldPath::parse(text).map(Some),
            Some(other) => Err(Error::new(
                code,
                format!(
                    "$geoNear parameter '{name}' must be of type string but found type: {}",
                    type_name(other)
                ),
            )),
        };
        let number = |name: &str| match object.get(name) {
            None => Ok(None),
            Some(value) => match as_double(value) {
                Some(number) if number >= 0.0 => Ok(Some(number)),
                Some(_) => Err(Error::bad_value(format!("$geoNear parameter '{name}' must be non-negative"))),
                None => Err(Error::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "$geoNear parameter '{name}' must be numeric but found type: {}",
                        type_name(value)
                    ),
                )),
            },
        };
        let near = object
            .get("near")
            .ok_or_else(|| Error::new(5860400, "$geoNear requires a 'near' argument"))?
            .clone();
        if !matches!(near, Value::Object(_) | Value::Array(_)) {
            return Err(Error::new(
                5860401,
                "$geoNear requires near argument to be a GeoJSON object or a legacy point",
            ));
        }
        let key = match object.get("key") {
            None => None,
            Some(Value::String(key)) if !key.is_empty() => Some(key.clone()),
            Some(Value::String(_)) => {
                return Err(Error::bad_value("$geoNear parameter 'key' cannot be the empty string"));
            }
            Some(other) => {
                return Err(Error::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "$geoNear parameter 'key' must be of type string but found type: {}",
                        type_name(other)
                    ),
                ));
            }
        };
        let query = match object.get("query") {
            None => None,
            Some(Value::Object(query)) => Some(Filter::parse(query, scope)?),
            Some(other) => {
                return Err(Error::new(
                    codes::TYPE_MISMATCH,
                    format!(
                        "$geoNear parameter 'query' must be an object but found type: {}",
                        type_name(other)
                    ),
                ));
            }
        };
        if query.as_ref().is_some_and(|query| query.near().is_some()) {
            return Err(failed("Can't use nested near queries in $geoNear"));
        }
        let distance_field = path("distanceField", codes::TYPE_MISMATCH)?;
        if distance_field.is_none() {
            return Err(Error::new(16605, "$geoNear requires a 'distanceField' option as a String"));
        }
        Ok(GeoNear {
            key,
            query,
            is_spherical: object
                .get("spherical")
                .is_some_and(|value| armilla_mongo_expression::is_truthy(Some(value))),
            near,
            distance_field,
            include_locations: path("includeLocs", 16607)?,
            multiplier: number("distanceMultiplier")?.unwrap_or(1.0),
            min: number("minDistance")?,
            max: number("maxDistance")?,
        })
    }

    /// Makes the filter that finds the places.
    fn filter(&self, key: &str) -> Result<Filter> {
        let is_geometry = self.near.get("type").is_some() || self.near.get("coordinates").is_some();
        let mut bounds = Object::new();
        if let Some(min) = self.min {
            bounds.insert("$minDistance", min);
        }
        if let Some(max) = self.max {
            bounds.insert("$maxDistance", max);
        }
        let operator = if self.is_spherical || is_geometry { "$nearSphere" } else { "$near" };
        let mut condition = Object::new();
        if is_geometry {
            let mut near = Object::from([("$geometry", self.near.clone())]);
            bounds.into_iter().for_each(|(name, value)| {
                near.insert(name, value);
            });
            condition.insert(operator, near);
        } else {
            condition.insert(operator, self.near.clone());
            bounds.into_iter().for_each(|(name, value)| {
                condition.insert(name, value);
            });
        }
        Filter::parse(&Object::from([(key, condition)]), &Scope::default())
    }
}

/// Runs it over the documents of the collection.
pub(crate) fn run(stage: Arc<GeoNear>, input: Documents, context: &Context) -> Result<Documents> {
    let Some(key) = &stage.key else {
        return Err(Error::new(
            codes::INDEX_NOT_FOUND,
            "$geoNear requires a 2d or 2dsphere index, but none were found; or name the field of places as 'key'",
        ));
    };
    let filter = stage.filter(key)?;
    let places = FieldPath::parse(key)?;
    let environment = Arc::clone(&context.environment);
    Ok(deferred(move || {
        let near = filter.near().ok_or_else(|| failed("$geoNear requires a place"))?;
        let mut budget = Budget::new("$geoNear");
        let mut found: Vec<(f64, Object)> = Vec::new();
        for document in input {
            let document = document?;
            if let Some(query) = &stage.query
                && !query.matches(&document, &environment)?
            {
                continue;
            }
            if let Some(distance) = near.distance(&document) {
                budget.take(object_bytes(&document))?;
                found.push((distance, document));
            }
        }
        found.sort_by(|left, right| left.0.total_cmp(&right.0));
        Ok(Box::new(found.into_iter().map(move |(distance, mut document)| {
            let place = places.get(&document).and_then(|value| nearest(&filter, value, distance)).cloned();
            if let Some(field) = &stage.distance_field {
                field.set(&mut document, Value::Double(distance * stage.multiplier));
            }
            if let (Some(field), Some(place)) = (&stage.include_locations, place) {
                field.set(&mut document, place);
            }
            Ok(document)
        })) as Documents)
    }))
}

/// Returns the place that is as far as was found: the value itself, or one of its elements.
fn nearest<'a>(filter: &Filter, value: &'a Value, distance: f64) -> Option<&'a Value> {
    let near = filter.near()?;
    let is_there = |value: &Value| near.distance_of(value) == Some(distance);
    if is_there(value) {
        return Some(value);
    }
    value.as_array()?.iter().find(|element| is_there(element))
}
