//! A profile as a value, to be sent to those who show it.

use armilla_value::{Object, Value};

use crate::profile::{Entity, KeyProfile, Lengths, PathProfile, Profile};

/// Returns a profile as an object. What is not known is null; counts beyond 64 bits with a sign are told as the largest.
pub fn to_value(profile: &Profile) -> Value {
    let entities = profile.entities.iter().map(|(sort, entity)| (sort.as_str(), entity_value(entity)));
    Value::Object(Object::from([
        ("items", count(profile.items)),
        ("bytes", count(profile.bytes)),
        ("bytesP50", count(profile.bytes_p50)),
        ("bytesP99", count(profile.bytes_p99)),
        ("bytesMax", count(profile.bytes_max)),
        ("discriminator", profile.discriminator.clone().into()),
        ("sorts", count(profile.sorts as u64)),
        ("entities", Value::Object(entities.collect())),
        ("key", key_value(&profile.key)),
        ("written", profile.written.map(|(first, last)| vec![first, last]).into()),
    ]))
}

fn entity_value(entity: &Entity) -> Value {
    let paths = entity.paths.iter().map(|(path, told)| (path.as_str(), path_value(told)));
    Value::Object(Object::from([
        ("items", count(entity.items)),
        ("bytes", count(entity.bytes)),
        ("bytesMax", count(entity.bytes_max)),
        ("paths", Value::Object(paths.collect())),
        ("pathsBeyond", count(entity.paths_beyond)),
        ("examples", entity.examples.clone().into()),
    ]))
}

fn path_value(told: &PathProfile) -> Value {
    let most = told.most.as_ref().map(|(value, times)| {
        Value::Object(Object::from([("value", value.clone()), ("count", count(*times))]))
    });
    Value::Object(Object::from([
        ("items", count(told.items)),
        ("values", count(told.values)),
        ("bytes", count(told.bytes)),
        ("bytesMax", count(told.bytes_max)),
        ("nulls", count(told.nulls)),
        ("booleans", count(told.booleans)),
        ("numbers", count(told.numbers)),
        ("texts", count(told.texts)),
        ("objects", count(told.objects)),
        ("arrays", count(told.arrays)),
        ("distinct", count(told.distinct)),
        ("most", most.into()),
        ("lengths", told.lengths.map(lengths_value).into()),
        ("dates", count(told.dates)),
        ("guids", count(told.guids)),
        ("repeated", count(told.repeated)),
    ]))
}

fn lengths_value(lengths: Lengths) -> Value {
    Value::Object(Object::from([
        ("p50", count(lengths.p50)),
        ("p99", count(lengths.p99)),
        ("max", count(lengths.max)),
    ]))
}

fn key_value(key: &KeyProfile) -> Value {
    let largest = key.largest.iter().map(|(text, items, bytes)| {
        Value::Object(Object::from([
            ("key", Value::from(text.as_str())),
            ("items", count(*items)),
            ("bytes", count(*bytes)),
        ]))
    });
    Value::Object(Object::from([
        ("distinct", count(key.distinct)),
        ("missing", count(key.missing)),
        ("numbers", count(key.numbers)),
        ("texts", count(key.texts)),
        ("ids", count(key.ids)),
        ("dates", count(key.dates)),
        ("bytesMax", count(key.bytes_max)),
        ("prefixShared", count(key.prefix_shared)),
        ("largest", Value::Array(largest.collect())),
        ("monotone", key.monotone.into()),
    ]))
}

fn count(count: u64) -> Value {
    Value::Int64(i64::try_from(count).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_profile_as_json() {
        let (profile, _) = sample(
            &[&["city"]],
            &[
                r#"{"id":"1","type":"a","city":"Oslo","tags":["x"],"_ts":10}"#,
                r#"{"id":"2","type":"a","city":"Rome","tags":[],"_ts":20}"#,
            ],
        );
        let value = to_value(&profile);
        let text = json::to_string(&value);
        assert_eq!(json::parse(text.as_bytes()).unwrap(), value, "it goes through JSON unchanged");
        assert_eq!(json::to_string(value.get("written").unwrap()), "[10,20]");
        assert_eq!(value.get("discriminator"), Some(&Value::from("/type")));
        let entity = value.get("entities").and_then(|entities| entities.get("a")).unwrap();
        assert_eq!(json::to_string(entity.get("examples").unwrap()), r#"["1","2"]"#);
        let tags = entity.get("paths").and_then(|paths| paths.get("/tags")).unwrap();
        assert_eq!(json::to_string(tags.get("lengths").unwrap()), r#"{"p50":0,"p99":1,"max":1}"#);
        assert_eq!(tags.get("most"), Some(&Value::Null));
        let key = value.get("key").unwrap();
        assert_eq!(
            json::to_string(key.get("largest").unwrap()),
            r#"[{"key":"[\"Oslo\"]","items":1,"bytes":48},{"key":"[\"Rome\"]","items":1,"bytes":45}]"#
        );
    }

    #[test]
    fn counts_that_do_not_fit_are_the_largest() {
        let profile = Profile { items: u64::MAX, ..Profile::default() };
        assert_eq!(to_value(&profile).get("items"), Some(&Value::Int64(i64::MAX)));
        assert_eq!(to_value(&profile).get("written"), Some(&Value::Null));
    }
}
