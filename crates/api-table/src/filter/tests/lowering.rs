//! Tests of lowered filters.

use armilla_engine::Moment;
use armilla_value::{Object, Value, json};
use proptest::prelude::*;

use super::super::limits::{CONDITION_PARTS_MAX, FILTER_BYTES_MAX};
use super::super::{Filter, Lowered};
use super::{filter, oracle, parsed, value};
use crate::edm::{EdmValue, Ticks};
use crate::entity::{Entity, EntityView};

#[track_caller]
fn check(text: &str, condition: &str, is_exact: bool) {
    let lowered = parsed(text).lower();
    let lowered_text = lowered.condition.map(|condition| condition.to_string());
    assert_eq!(lowered_text.unwrap_or_default(), condition, "{text}");
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
    check("PartitionKey eq 'p'", "", true);
    check("PartitionKey eq 'p' and RowKey eq 'r'", r#"c.RowKey = "r""#, true);
    check("PartitionKey eq 'p' and PartitionKey eq 'q'", r#"c.PartitionKey = "q""#, true);
    check("PartitionKey eq 5 and a eq 1", "false", true);
}

#[test]
fn comparisons_are_lowered() {
    let special =
        |name: &str, special: &str| format!(r#"(c.{name} = "{special}") AND (c["$edm"].{name} = "Double")"#);
    let infinity = special("a", "Infinity");
    let minus_infinity = special("a", "-Infinity");
    for (text, condition, is_exact) in [
        ("RowKey ge 'a'", r#"c.RowKey >= "a""#, true),
        ("RowKey ne 'a'", r#"c.RowKey != "a""#, true),
        ("not (RowKey lt 'a')", r#"c.RowKey >= "a""#, true),
        ("not (RowKey lt 5)", "", true),
        ("a eq 5", "c.a = 5", true),
        ("a eq 9007199254740993L", "c.a = 9007199254740993", true),
        ("a gt 5.0", &format!("(c.a > 5.0) OR ({infinity})"), true),
        ("a le -1", &format!("(c.a <= -1) OR ({minus_infinity})"), true),
        (
            "a ne 5",
            &format!(
                "((c.a < 5) OR (c.a > 5)) OR ({}) OR ({infinity}) OR ({minus_infinity})",
                special("a", "NaN")
            ),
            true,
        ),
        ("not (a eq 5)", "(NOT IS_NUMBER(c.a)) OR ((c.a < 5) OR (c.a > 5))", true),
        ("not (a gt 5)", "(NOT IS_NUMBER(c.a)) OR (c.a <= 5)", false),
        ("a eq INF", &infinity, true),
        ("a lt INF", "IS_DEFINED(c.a)", false),
        ("a eq NaN", "false", true),
        ("a ne NaN", "IS_DEFINED(c.a)", false),
        ("not (a eq NaN)", "", true),
        ("a eq 'it is'", r#"c.a = "it is""#, true),
        ("a eq 'four'", r#"c.a = "four""#, false),
        ("a eq 'NaN'", r#"c.a = "NaN""#, false),
        ("a gt 'x y'", r#"c.a > "x y""#, false),
        ("a ne 'x y'", r#"(c.a < "x y") OR (c.a > "x y")"#, false),
        ("not (a gt 'x')", r#"(NOT IS_STRING(c.a)) OR (c.a <= "x") OR IS_DEFINED(c["$edm"].a)"#, false),
        ("a", "c.a = true", true),
        ("a ne true", "c.a = false", true),
        ("not a", "(NOT IS_BOOL(c.a)) OR (c.a = false)", true),
        ("a gt true", "false", true),
        ("a ge datetime'2020-01-01T00:00:00Z'", r#"c.a >= "2020-01-01T00:00:00.0000000Z""#, false),
        ("not (a ge datetime'2020-01-01')", "", false),
        (
            "a eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'",
            r#"c.a = "c9da6455-213d-42c9-9a79-3e9149a57833""#,
            false,
        ),
        ("a eq X'62696e'", r#"c.a = "Ymlu""#, false),
        ("a gt X'62'", "IS_STRING(c.a)", false),
        ("Timestamp ge datetime'1970-01-01T00:00:01.5Z'", "c._ts >= 1", false),
        ("Timestamp lt datetime'1970-01-01T00:00:01.5Z'", "c._ts <= 1", false),
        ("not (Timestamp lt datetime'1969-12-31T23:59:59Z')", "c._ts >= -1", false),
        ("Timestamp ne datetime'1970-01-01'", "", false),
        ("Timestamp eq 'x'", "false", true),
        ("id eq 5", r#"c["$p:id"] = 5"#, true),
        ("啊 eq 5", r#"c["啊"] = 5"#, true),
        ("true", "", true),
        ("false or 1 eq 2", "false", true),
        (
            "a eq 1 and (b eq 2 or not (c eq false or d eq 3))",
            "(c.a = 1) AND ((c.b = 2) OR (((NOT IS_BOOL(c.c)) OR (c.c = true)) AND \
             ((NOT IS_NUMBER(c.d)) OR ((c.d < 3) OR (c.d > 3)))))",
            true,
        ),
    ] {
        check(text, condition, is_exact);
    }
}

#[test]
fn conditions_are_bounded() {
    let chain = |count: usize| vec!["a ne 1"; count].join(" or ");
    // Each is a comparison, and three doubles that are strings.
    let short = parsed(&chain(CONDITION_PARTS_MAX / 4)).lower();
    assert!(short.is_exact && short.condition.is_some());
    let text = chain(CONDITION_PARTS_MAX / 4 + 1);
    assert!(text.len() < FILTER_BYTES_MAX);
    let long = parsed(&text).lower();
    assert_eq!((long.condition, long.is_exact), (None, false));
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
            .is_none_or(|condition| oracle::is_true(condition, &item));
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
