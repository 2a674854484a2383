//! `$bucketAuto`: groups of about the same size, by ranges of a value.

use std::sync::Arc;

use armilla_mongo_expression::{Accumulator, Error, Expression, Result, Scope};
use armilla_value::{Object, Value, mongo_cmp};

use crate::Documents;
use crate::arguments::{Integer, as_double, integer, is_number, object_or, shown, type_name};
use crate::dependencies::{Fields, Needs};
use crate::memory::{Budget, check_depth, object_bytes, value_bytes};
use crate::run::{Context, deferred};
use crate::stages::bucket::group_by_expression;
use crate::stages::granularity::Granularity;
use crate::stages::group::output;

/// `$bucketAuto` as it was read.
#[derive(Debug, Clone)]
pub struct BucketAuto {
    value: Expression,
    bucket_count: usize,
    granularity: Option<Granularity>,
    fields: Vec<(String, Accumulator)>,
}

impl BucketAuto {
    /// Reads the arguments.
    pub(crate) fn parse(argument: &Value, scope: &Scope) -> Result<(BucketAuto, Needs)> {
        let object = object_or(argument, 40240, || {
            format!("The argument to $bucketAuto must be an object, but found type: {}.", type_name(argument))
        })?;
        if let Some((name, _)) =
            object.iter().find(|(name, _)| !matches!(*name, "groupBy" | "buckets" | "output" | "granularity"))
        {
            return Err(Error::new(40245, format!("Unrecognized option to $bucketAuto: {name}.")));
        }
        let (Some(group_by), Some(buckets)) = (object.get("groupBy"), object.get("buckets")) else {
            return Err(Error::new(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified."));
        };
        let value = group_by_expression(group_by, scope).ok_or_else(|| {
            Error::new(
                40239,
                format!(
                    "The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, \
                     but found: {}.",
                    shown(group_by)
                ),
            )
        })??;
        let bucket_count = match integer(buckets) {
            Integer::NotNumber => {
                return Err(Error::new(
                    40241,
                    format!(
                        "The $bucketAuto 'buckets' field must be a numeric value, but found type: {}.",
                        type_name(buckets)
                    ),
                ));
            }
            Integer::Is(count) if i32::try_from(count).is_ok() => count,
            _ => {
                return Err(Error::new(
                    40242,
                    format!(
                        "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found {}.",
                        shown(buckets)
                    ),
                ));
            }
        };
        let bucket_count =
            usize::try_from(bucket_count).ok().filter(|count| *count > 0).ok_or_else(|| {
                Error::new(
                    40243,
                    format!(
                        "The $bucketAuto 'buckets' field must be greater than 0, but found: {}.",
                        shown(buckets)
                    ),
                )
            })?;
        let granularity = match object.get("granularity") {
            None => None,
            Some(Value::String(name)) => Some(
                Granularity::named(name)
                    .ok_or_else(|| Error::new(40257, format!("Unknown rounding granularity '{name}'")))?,
            ),
            Some(other) => {
                return Err(Error::new(
                    40261,
                    format!(
                        "The $bucketAuto 'granularity' field must be a string, but found type: {}.",
                        type_name(other)
                    ),
                ));
            }
        };
        let mut fields = output(object.get("output"), 40244, "$bucketAuto", scope)?;
        if fields.is_empty() {
            fields = output(None, 40244, "$bucketAuto", scope)?;
        }
        let mut needs = Fields::none().expression(group_by);
        if let Some(Value::Object(output)) = object.get("output") {
            needs = needs.expressions(output);
        }
        Ok((BucketAuto { value, bucket_count, granularity, fields }, Needs::closed(needs)))
    }

    fn check(&self, value: &Value) -> Result<()> {
        if self.granularity.is_none() {
            return Ok(());
        }
        if !is_number(value) {
            return Err(Error::new(
                40258,
                format!(
                    "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a value with \
                     type: {}",
                    type_name(value)
                ),
            ));
        }
        match as_double(value) {
            Some(number) if number.is_nan() => Err(Error::new(
                40259,
                "$bucketAuto can specify a 'granularity' with numeric boundaries only, but found a NaN",
            )),
            Some(number) if number < 0.0 => Err(Error::new(
                40260,
                "$bucketAuto can specify a 'granularity' with non-negative numbers only, but found a negative number",
            )),
            _ => Ok(()),
        }
    }
}

/// A run of documents that becomes one.
struct Bucket {
    /// The documents from here to there, in order of their values.
    range: std::ops::Range<usize>,
    min: Value,
    max: Value,
}

/// Runs it.
pub(crate) fn run(stage: Arc<BucketAuto>, input: Documents, context: &Context) -> Documents {
    let environment = Arc::clone(&context.environment);
    deferred(move || {
        let mut budget = Budget::new("$bucketAuto");
        let mut entries: Vec<(Value, Object)> = Vec::new();
        for document in input {
            let document = document?;
            let value = stage.value.evaluate(&document, &environment)?.unwrap_or(Value::Null);
            stage.check(&value)?;
            budget.take(value_bytes(&value) + object_bytes(&document))?;
            entries.push((value, document));
        }
        entries.sort_by(|left, right| mongo_cmp(&left.0, &right.0));
        let buckets = divide(&stage, &entries);
        let mut results = Vec::with_capacity(buckets.len());
        for bucket in buckets {
            let bounds = Object::from([("min", bucket.min), ("max", bucket.max)]);
            let mut members = vec![("_id".to_owned(), Value::Object(bounds))];
            for (name, accumulator) in &stage.fields {
                let mut gathered = accumulator.begin();
                for (_, document) in &entries[bucket.range.clone()] {
                    accumulator.add(&mut gathered, document, &environment)?;
                }
                let value = accumulator.finish(gathered)?.unwrap_or(Value::Null);
                check_depth(&value)?;
                members.push((name.clone(), value));
            }
            results.push(Ok(Object::from(members)));
        }
        Ok(Box::new(results.into_iter()) as Documents)
    })
}

/// Cuts ordered values into buckets: equal values are never in two of them.
fn divide(stage: &BucketAuto, entries: &[(Value, Object)]) -> Vec<Bucket> {
    let size = ((entries.len() as f64 / stage.bucket_count as f64).round() as usize).max(1);
    let mut buckets: Vec<Bucket> = Vec::new();
    let mut start = 0;
    while start < entries.len() {
        let is_last = buckets.len() + 1 == stage.bucket_count;
        let mut end = if is_last { entries.len() } else { (start + size).min(entries.len()) };
        let last = &entries[end - 1].0;
        let (min, max);
        match stage.granularity {
            None => {
                while end < entries.len() && mongo_cmp(&entries[end].0, last).is_eq() {
                    end += 1;
                }
                min = entries[start].0.clone();
                max = entries.get(end).map_or(last, |next| &next.0).clone();
            }
            Some(granularity) => {
                let bound = Value::Double(granularity.above(as_double(last).unwrap_or_default()));
                // What lies below the rounded bound belongs here.
                while end < entries.len() && mongo_cmp(&entries[end].0, &bound).is_lt() {
                    end += 1;
                }
                let below =
                    Value::Double(granularity.below(as_double(&entries[start].0).unwrap_or_default()));
                min = match buckets.last_mut() {
                    // Zero is no number of a series: what follows it says where it ends.
                    Some(previous) if as_double(&previous.max) == Some(0.0) => {
                        previous.max = below.clone();
                        below
                    }
                    Some(previous) => previous.max.clone(),
                    None => below,
                };
                max = bound;
            }
        }
        buckets.push(Bucket { range: start..end, min, max });
        start = end;
    }
    buckets
}
