//! Tests of lowered filters.

use armilla_engine::Moment;
use armilla_value::{Object, Value, json};
use proptest::prelude::*;

use super::super::limits::{CONDITION_BYTES_MAX, FILTER_BYTES_MAX};
use super::super::{Filter, Lowered};
use super::{filter, parsed, sql, value};
use crate::edm::{EdmValue, Ticks};
use crate::entity::{Entity, EntityView};

#[track_caller]
fn check(text: &str, condition: &str, parameters: &str, is_exact: bool) {
    let lowered = parsed(text).lower();
    assert_eq!(lowered.condition.as_deref().unwrap_or_default(), condition, "{text}");
    let values: Vec<String> = lowered
        .parameters
        .iter()
        .enumerate()
        .map(|(index, (name, value))| {
            assert_eq!(*name, format!("@p{index}"));
            json::to_string(value)
        })
        .collect();
    assert_eq!(values.join(" "), parameters, "{text}");
    assert_eq!(lowered.is_exact, is_exact, "{text}");
}

#[test]
fn keys_are_taken_out() {
    let keys = |text: &str| {
        let Lowered { partition_key, row_key, .. } = parsed(text).lower();
        (partition_key, row_key)
    };
    let some = |key: &str| Some(key.to_owned());
    for (text, partition_key, row_key) in [
        ("PartitionKey eq 'p'", some("p"), None),
        ("'p' eq PartitionKey", some("p"), None),
        ("PartitionKey eq 'p' and RowKey eq 'r'", some("p"), some("r")),
        ("RowKey eq 'r' and (PartitionKey eq 'it''s')", some("it's"), some("r")),
        ("a eq 1 and (b eq 2 and (PartitionKey eq 'p'))", some("p"), None),
        ("PartitionKey eq 'p' and PartitionKey eq 'q'", some("p"), None),
        ("PartitionKey eq 'p' or a eq 1", None, None),
        ("PartitionKey ge 'p'", None, None),
        ("PartitionKey eq 5", None, None),
        ("not (PartitionKey ne 'p')", None, None),
        ("RowKey eq 'r'", None, some("r")),
    ] {
        assert_eq!(keys(text), (partition_key, row_key), "{text}");
    }
    check("PartitionKey eq 'p'", "", "", true);
    check("PartitionKey eq 'p' and RowKey eq 'r'", r#"c["RowKey"] = @p0"#, r#""r""#, true);
    check("PartitionKey eq 'p' and PartitionKey eq 'q'", r#"c["PartitionKey"] = @p0"#, r#""q""#, true);
    check("PartitionKey eq 5 and a eq 1", "false", "1", true);
}

#[test]
fn comparisons_are_lowered() {
    let special = |name: &str, special: &str| {
        format!(r#"(c["{name}"] = "{special}" AND c["$edm"]["{name}"] = "Double")"#)
    };
    for (text, condition, parameters, is_exact) in [
        ("RowKey ge 'a'", r#"c["RowKey"] >= @p0"#.to_owned(), r#""a""#, true),
        ("RowKey ne 'a'", r#"c["RowKey"] != @p0"#.to_owned(), r#""a""#, true),
        ("not (RowKey lt 'a')", r#"c["RowKey"] >= @p0"#.to_owned(), r#""a""#, true),
        ("not (RowKey lt 5)", String::new(), "", true),
        ("a eq 5", r#"c["a"] = @p0"#.to_owned(), "5", true),
        ("a eq 9007199254740993L", r#"c["a"] = @p0"#.to_owned(), "9007199254740993", true),
        ("a gt 5.0", format!(r#"(c["a"] > @p0 OR {})"#, special("a", "Infinity")), "5.0", true),
        ("a le -1", format!(r#"(c["a"] <= @p0 OR {})"#, special("a", "-Infinity")), "-1", true),
        (
            "a ne 5",
            format!(
                r#"((c["a"] < @p0 OR c["a"] > @p0) OR {} OR {} OR {})"#,
                special("a", "NaN"),
                special("a", "Infinity"),
                special("a", "-Infinity")
            ),
            "5",
            true,
        ),
        ("not (a eq 5)", r#"(NOT IS_NUMBER(c["a"]) OR (c["a"] < @p0 OR c["a"] > @p0))"#.to_owned(), "5", true),
        ("not (a gt 5)", r#"(NOT IS_NUMBER(c["a"]) OR c["a"] <= @p0)"#.to_owned(), "5", false),
        ("a eq INF", special("a", "Infinity"), "", true),
        ("a lt INF", r#"IS_DEFINED(c["a"])"#.to_owned(), "", false),
        ("a eq NaN", "false".to_owned(), "", true),
        ("a ne NaN", r#"IS_DEFINED(c["a"])"#.to_owned(), "", false),
        ("not (a eq NaN)", String::new(), "", true),
        ("a eq 'it is'", r#"c["a"] = @p0"#.to_owned(), r#""it is""#, true),
        ("a eq 'four'", r#"c["a"] = @p0"#.to_owned(), r#""four""#, false),
        ("a eq 'NaN'", r#"c["a"] = @p0"#.to_owned(), r#""NaN""#, false),
        ("a gt 'x y'", r#"c["a"] > @p0"#.to_owned(), r#""x y""#, false),
        ("a ne 'x y'", r#"(c["a"] < @p0 OR c["a"] > @p0)"#.to_owned(), r#""x y""#, false),
        (
            "not (a gt 'x')",
            r#"(NOT IS_STRING(c["a"]) OR c["a"] <= @p0 OR IS_DEFINED(c["$edm"]["a"]))"#.to_owned(),
            r#""x""#,
            false,
        ),
        ("a", r#"c["a"] = @p0"#.to_owned(), "true", true),
        ("a ne true", r#"c["a"] = @p0"#.to_owned(), "false", true),
        ("not a", r#"(NOT IS_BOOL(c["a"]) OR c["a"] = @p0)"#.to_owned(), "false", true),
        ("a gt true", "false".to_owned(), "", true),
        (
            "a ge datetime'2020-01-01T00:00:00Z'",
            r#"c["a"] >= @p0"#.to_owned(),
            r#""2020-01-01T00:00:00.0000000Z""#,
            false,
        ),
        ("not (a ge datetime'2020-01-01')", String::new(), "", false),
        (
            "a eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'",
            r#"c["a"] = @p0"#.to_owned(),
            r#""c9da6455-213d-42c9-9a79-3e9149a57833""#,
            false,
        ),
        ("a eq X'62696e'", r#"c["a"] = @p0"#.to_owned(), r#""Ymlu""#, false),
        ("a gt X'62'", r#"IS_STRING(c["a"])"#.to_owned(), "", false),
        ("Timestamp ge datetime'1970-01-01T00:00:01.5Z'", r#"c["_ts"] >= @p0"#.to_owned(), "1", false),
        ("Timestamp lt datetime'1970-01-01T00:00:01.5Z'", r#"c["_ts"] <= @p0"#.to_owned(), "1", false),
        ("not (Timestamp lt datetime'1969-12-31T23:59:59Z')", r#"c["_ts"] >= @p0"#.to_owned(), "-1", false),
        ("Timestamp ne datetime'1970-01-01'", String::new(), "", false),
        ("Timestamp eq 'x'", "false".to_owned(), "", true),
        ("id eq 5", r#"c["$p:id"] = @p0"#.to_owned(), "5", true),
        ("啊 eq 5", r#"c["啊"] = @p0"#.to_owned(), "5", true),
        ("true", String::new(), "", true),
        ("false or 1 eq 2", "false".to_owned(), "", true),
        (
            "a eq 1 and (b eq 2 or not (c eq false or d eq 3))",
            r#"(c["a"] = @p0 AND (c["b"] = @p1 OR ((NOT IS_BOOL(c["c"]) OR c["c"] = @p2) AND (NOT IS_NUMBER(c["d"]) OR (c["d"] < @p3 OR c["d"] > @p3)))))"#
                .to_owned(),
            "1 2 true 3",
            true,
        ),
    ] {
        check(text, &condition, parameters, is_exact);
    }
}

#[test]
fn conditions_are_bounded() {
    let chain = |count: usize| vec!["a ne 1"; count].join(" or ");
    let one = parsed("a ne 1").lower().condition.unwrap().len() + 8;
    let short = parsed(&chain(CONDITION_BYTES_MAX / 2 / one)).lower();
    assert!(short.is_exact && short.condition.is_some());
    let text = chain(FILTER_BYTES_MAX / 10);
    let long = parsed(&text).lower();
    assert_eq!((long.condition, long.parameters.len(), long.is_exact), (None, 0, false));
    assert!(
        parsed(&text).matches(&EntityView::of(item(&[("a", EdmValue::Int32(2))]).as_bytes(), at(0)).unwrap())
    );
}

fn at(steps: u64) -> Moment {
    Moment::from_ticks(621_355_968_000_000_000 + steps)
}

fn item(properties: &[(&str, EdmValue)]) -> String {
    let entity = Entity {
        properties: properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        partition_key: Some("a".to_owned()),
        row_key: Some("b".to_owned()),
    };
    String::from_utf8(entity.item_json()).unwrap()
}

/// An item that the query language wrote: values and types as they come, fitting or not.
fn foreign_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3_i64..3).prop_map(Value::Int64),
        Just(Value::Int64(1 << 53)),
        Just(Value::Array(vec![])),
        "(NaN|Infinity|-Infinity|1973-10-04|1973-10-04T00:00:00.0000000Z|YWE=|[ab]{0,2})"
            .prop_map(Value::String),
    ]
}

/// The members of an item behind its keys: as this crate writes them, or as anybody may.
pub(in crate::filter) fn properties_text() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec!["a", "a", "a", "b", "c", "id", "_ts"]);
    let own = prop::collection::btree_map(names, value(), 0..4).prop_map(|properties| {
        let properties = properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let entity =
            Entity { properties, partition_key: Some("p".to_owned()), row_key: Some("r".to_owned()) };
        let text = String::from_utf8(entity.item_json()).unwrap();
        let members = text.strip_prefix(r#"{"id":"r","PartitionKey":"p","RowKey":"r""#).unwrap();
        members.strip_suffix('}').unwrap().trim_start_matches(',').to_owned()
    });
    let types = prop::sample::select(vec!["Int64", "DateTime", "Guid", "Binary", "Double", "String", "x"]);
    let member = prop::sample::select(vec!["a", "b", "c", "$p:id", "$p:x", "Timestamp"]);
    let foreign = (
        prop::collection::btree_map(member.clone(), foreign_value(), 0..5),
        prop::collection::btree_map(member, types, 0..5),
    );
    let foreign = foreign.prop_map(|(members, types)| {
        let types = types.into_iter().map(|(name, named)| (name.to_owned(), Value::String(named.to_owned())));
        let types = Value::Object(Object::from(types.collect::<Vec<_>>()));
        let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
        let members = members.chain([("$edm".to_owned(), types)]).collect::<Vec<_>>();
        let text = json::to_string(&Value::Object(Object::from(members)));
        text[1..text.len() - 1].to_owned()
    });
    prop_oneof![own, foreign]
}

/// The text of an item, and the second in which it was written.
fn stored() -> impl Strategy<Value = (String, u64)> {
    // Near the second of the times in filters.
    let seconds = (622_000_000_000_000_000_u64 - 621_355_968_000_000_000) / 10_000_000;
    let keys = ("[ab]{0,2}", "[ab]{1,2}");
    (keys, properties_text(), seconds - 1..seconds + 2).prop_map(
        |((partition_key, row_key), members, second)| {
            let keys = format!(r#""id":"{row_key}","PartitionKey":"{partition_key}","RowKey":"{row_key}""#);
            let separator = if members.is_empty() { "" } else { "," };
            (format!("{{{keys}{separator}{members},\"_ts\":{second}}}"), second)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_match_is_lost(filter in filter(), (text, second) in stored(), step in 0_u64..3) {
        let moment = at(second * 10_000_000 + step);
        let view = EntityView::of(text.as_bytes(), moment).unwrap();
        let item = json::parse(text.as_bytes()).unwrap();
        let lowered = filter.lower();
        let key = |name: &str| item.as_object().unwrap().get(name).unwrap().as_str().unwrap().to_owned();
        let is_inside = lowered.partition_key.as_ref().is_none_or(|own| *own == key("PartitionKey"));
        let is_row = lowered.row_key.as_ref().is_none_or(|own| *own == key("RowKey"));
        let is_narrowed = lowered
            .condition
            .as_ref()
            .is_none_or(|condition| sql::is_true(condition, &lowered.parameters, &item));
        let is_match = filter.matches(&view);
        prop_assert!(!is_match || (is_inside && is_row && is_narrowed), "lost: {:?} {}", lowered, text);
        if lowered.is_exact {
            prop_assert_eq!(is_match, is_inside && is_narrowed, "not exact: {:?} {}", lowered, text);
        }
    }
}

#[test]
fn times_of_the_tests_are_in_their_seconds() {
    // The generator above relies on it.
    assert_eq!(Ticks::new(622_000_000_000_000_000).unwrap().unix_second(), 64_403_200);
    assert!(Filter::parse("a").is_ok());
}
