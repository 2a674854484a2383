//! The three spans of time in a definition: `defaultTtl`, `analyticalStorageTtl`, `changeFeedPolicy`.

use armilla_index::reader::Field;
use armilla_value::{Object, Value};

use super::{DefinitionError, limits};

/// Stands for "for ever" where seconds are expected.
const FOR_EVER: i64 = -1;

pub(super) fn read_default(body: &Field<'_>) -> Result<Option<i32>, DefinitionError> {
    let Some(field) = body.member("defaultTtl") else { return Ok(None) };
    match field.integer().ok().filter(|seconds| *seconds != 0).and_then(seconds) {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(invalid(&field, "nonzero positive integer")),
    }
}

/// Zero turns the analytical store off.
pub(super) fn read_analytical(body: &Field<'_>) -> Result<Option<i32>, DefinitionError> {
    let Some(field) = body.member("analyticalStorageTtl") else { return Ok(None) };
    match field.integer().ok().and_then(seconds) {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(invalid(&field, "nonnegative integer")),
    }
}

pub(super) fn read_change_feed_retention(body: &Field<'_>) -> Result<Option<u32>, DefinitionError> {
    let Some(policy) = body.member("changeFeedPolicy") else { return Ok(None) };
    policy.expect_object()?;
    let Some(field) = policy.member("retentionDuration") else { return Ok(None) };
    let minutes_max = limits::CHANGE_FEED_RETENTION_MINUTES_MAX;
    let minutes = field.integer()?;
    match u32::try_from(minutes).ok().filter(|minutes| *minutes <= minutes_max) {
        Some(minutes) => Ok(Some(minutes)),
        None => Err(DefinitionError::new(
            field.path(),
            format!("'{}' is {minutes}; it must be 0 to {minutes_max} minutes", field.path()),
        )),
    }
}

/// Whether the feed of all versions shows what replaced items were before; an extension of ours.
pub(super) fn read_previous_images(body: &Field<'_>) -> Result<bool, DefinitionError> {
    let Some(policy) = body.member("changeFeedPolicy") else { return Ok(false) };
    policy.expect_object()?;
    let Some(field) = policy.member("previousImages") else { return Ok(false) };
    match field.value() {
        Value::Bool(wanted) => Ok(*wanted),
        _ => Err(DefinitionError::new(field.path(), format!("'{}' must be true or false", field.path()))),
    }
}

/// Writes the change feed policy, if there is one.
pub(super) fn write_change_feed(retention_minutes: Option<u32>, previous_images: bool) -> Option<Value> {
    let retention = retention_minutes.map(|minutes| ("retentionDuration", Value::Int64(minutes.into())));
    let images = previous_images.then_some(("previousImages", Value::Bool(true)));
    let members: Vec<_> = retention.into_iter().chain(images).collect();
    (!members.is_empty()).then(|| Value::Object(members.into_iter().collect::<Object>()))
}

fn seconds(number: i64) -> Option<i32> {
    i32::try_from(number).ok().filter(|_| number >= FOR_EVER)
}

fn invalid(field: &Field<'_>, what: &str) -> DefinitionError {
    let name = field.path();
    let given = armilla_value::json::to_string(field.value());
    DefinitionError::new(
        name,
        format!(
            "The input {name} '{given}' is invalid. Ensure to provide a {what} less than or equal to '{}', \
             or {FOR_EVER}, which means never expire.",
            i32::MAX
        ),
    )
}
