//! Tests of filters: what they are, what they match, and what is made of them.

pub(super) mod lowering;
mod oracle;

use armilla_engine::Moment;
use proptest::prelude::*;

use super::limits::{FILTER_BYTES_MAX, NESTING_MAX};
use super::{Condition, Filter, FilterProblem, Operator};
use crate::edm::{EdmRef, EdmValue, Ticks, guid_text};
use crate::entity::EntityView;
use crate::filter::Fields;

const ITEM: &str = r#"{"id":"r","PartitionKey":"p","RowKey":"r","name":"Ann","quote":"it's","age":39,
    "ratio":3.1,"even":3.0,"married":true,"poor":false,"big":9007199254740993,"huge":1e300,
    "born":"1973-10-04T00:00:00.0000000Z","bin":"YmluYXJ5","uid":"c9da6455-213d-42c9-9a79-3e9149a57833",
    "nan":"NaN","inf":"Infinity","neg":"-Infinity","text":"NaN","none":null,"list":[1],"object":{"a":1},
    "$p:id":5,"啊":"x","odd":"1973-10-04","_ts":1,"_etag":"e",
    "$edm":{"big":"Int64","born":"DateTime","bin":"Binary","uid":"Guid","nan":"Double","inf":"Double",
            "neg":"Double","odd":"DateTime","name":"Int32"}}"#;

fn moment(text: &str) -> Moment {
    Moment::from_ticks(Ticks::parse(text).unwrap().count())
}

fn view() -> EntityView<'static> {
    EntityView::of(ITEM.as_bytes(), moment("2022-05-06T00:47:36.5851144Z")).unwrap()
}

pub(super) fn parsed(text: &str) -> Filter {
    match Filter::parse(text) {
        Ok(Some(filter)) => filter,
        other => panic!("{text}: {other:?}"),
    }
}

#[track_caller]
fn check_matches(text: &str, expected: bool) {
    assert_eq!(parsed(text).matches(&view()), expected, "{text}");
}

#[test]
fn comparisons_that_hold() {
    for text in [
        "PartitionKey eq 'p'",
        "PartitionKey eq 'p' and RowKey eq 'r'",
        "RowKey ge 'q' and RowKey lt 's'",
        "name eq 'Ann'",
        "name ne 'Bob'",
        "name gt 'Am'",
        "name le 'Ann'",
        "quote eq 'it''s'",
        "'Ann' eq name",
        "'Am' lt name",
        "'Ao' ge name",
        "age eq 39",
        "age eq 39L",
        "age eq 39.0",
        "age eq 39d",
        "age ne 40",
        "age gt 38 and age ge 39 and age lt 40 and age le 39",
        "38 lt age",
        "age gt -INF and age lt INF",
        "ratio eq 3.1",
        "ratio lt 4",
        "even eq 3",
        "big eq 9007199254740993",
        "big eq 9007199254740993L",
        "big gt 9007199254740992",
        "big ne 9007199254740992.0",
        "big gt 9007199254740992.0",
        "huge gt 9223372036854775807",
        "married eq true",
        "married ne false",
        "married",
        "not poor",
        "(married)",
        "true",
        "born eq datetime'1973-10-04T00:00:00Z'",
        "born lt datetime'1973-10-04T00:00:00.0000001Z'",
        "born ge datetime'1973-10-04T02:00:00+02:00'",
        "bin eq X'62696e617279'",
        "bin eq binary'62696E617279'",
        "bin gt X'61'",
        "bin lt X'63'",
        "bin ne X''",
        "uid eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'",
        "uid gt guid'00000000-0000-0000-0000-000000000000'",
        "nan ne 5",
        "nan ne NaN",
        "not (nan eq NaN)",
        "inf gt 1e308",
        "inf eq INF",
        "neg lt -1e308",
        "neg eq -INF",
        "text eq 'NaN'",
        "odd eq '1973-10-04'",
        "id eq 5",
        "啊 eq 'x'",
        "Timestamp eq datetime'2022-05-06T00:47:36.5851144Z'",
        "Timestamp gt datetime'2022-05-06T00:47:36.5851143Z'",
        "not (missing eq 5)",
        "not (missing ne 5)",
        "not (missing eq null)",
        "not (none eq null)",
        "not (list eq 1)",
        "not (name eq 5)",
        "1 eq 1",
        "'a' lt 'b'",
        "not (null eq null)",
        "missing eq 1 or age eq 39",
        "age eq 39 or missing eq 1 and missing eq 2",
        "not age eq 40 and married",
        "not not married",
        "not (not (married))",
        "((((age eq 39))))",
    ] {
        check_matches(text, true);
    }
}

#[test]
fn comparisons_that_do_not() {
    for text in [
        "PartitionKey eq 'P'",
        "PartitionKey eq 5",
        "PartitionKey ne 5",
        "PartitionKey eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'",
        "Name eq 'Ann'",
        "name eq 'ann'",
        "name eq 5",
        "name ne 5",
        "age eq '39'",
        "age ne '39'",
        "age gt '0'",
        "missing eq 5",
        "missing ne 5",
        "missing lt 5",
        "missing",
        "not missing eq 5 and false",
        "none eq null",
        "none ne null",
        "name ne null",
        "null eq null",
        "big eq 9007199254740992",
        "big eq 9007199254740992.0",
        "poor",
        "not married",
        "married gt false",
        "married ge true",
        "married eq 'true'",
        "married eq 1",
        "born eq '1973-10-04T00:00:00.0000000Z'",
        "born ne 'x'",
        "odd eq datetime'1973-10-04T00:00:00Z'",
        "uid eq 'c9da6455-213d-42c9-9a79-3e9149a57833'",
        "bin eq 'YmluYXJ5'",
        "text eq NaN",
        "text ne 5",
        "nan eq NaN",
        "nan gt 0",
        "nan le 0",
        "nan eq 'NaN'",
        "inf lt INF",
        "list eq 1",
        "object ne 1",
        "_ts eq 1",
        "_etag eq 'e'",
        "Timestamp eq '2022-05-06T00:47:36.5851144Z'",
        "Timestamp lt datetime'2022-05-06T00:47:36.5851144Z'",
        "false",
        "1 eq 2",
        "1 eq '1'",
        "true eq 'true'",
        "(age eq 39 or missing eq 1) and missing eq 2",
        "not (age eq 39 or married)",
    ] {
        check_matches(text, false);
    }
}

#[test]
fn white_space_and_case_do_not_matter() {
    let expected = parsed("a eq 1 and not (b gt 'x' or c)");
    for text in [
        "  a  eq  1  and  not  ( b  gt  'x'  or  c )  ",
        "a EQ 1 AND NOT(b GT 'x'OR c)",
        "a\teq\n1\r\nAnd\u{a0}nOt(b gT'x' oR c)",
        "(a eq 1)and not(b gt 'x' or c)",
        "1 eq a and not ('x' lt b or true eq c)",
        "((a eq 1) and (not ((b gt 'x') or (c eq true))))",
    ] {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn words_can_be_names() {
    for (text, name) in
        [("eq eq 1", "eq"), ("and eq 1", "and"), ("or le 1", "or"), ("nothing eq 1", "nothing")]
    {
        let Condition::Compare { name: own, .. } = parsed(text).root else { panic!("{text}") };
        assert_eq!(own, name);
    }
}

#[test]
fn operators_bind_as_they_should() {
    let name = |name: &str| Condition::Compare {
        name: name.to_owned(),
        operator: Operator::Equal,
        value: EdmValue::Boolean(true),
    };
    let not = |inner| Condition::Not(Box::new(inner));
    assert_eq!(
        parsed("a or b and not c or d").root,
        Condition::Or(vec![name("a"), Condition::And(vec![name("b"), not(name("c"))]), name("d")])
    );
    assert_eq!(parsed("not a and b").root, Condition::And(vec![not(name("a")), name("b")]));
    assert_eq!(parsed("not (a and b)").root, not(Condition::And(vec![name("a"), name("b")])));
    assert_eq!(
        parsed("a and (b or c)").root,
        Condition::And(vec![name("a"), Condition::Or(vec![name("b"), name("c")])])
    );
}

#[test]
fn empty_filters_are_none() {
    for text in ["", " ", "\t\r\n "] {
        assert_eq!(Filter::parse(text), Ok(None), "{text:?}");
    }
}

#[test]
fn other_text_is_refused_at_its_place() {
    for (text, position, problem) in [
        ("a eq", 4, "expected a property or a literal"),
        ("a eq ", 5, "expected a property or a literal"),
        ("eq 1", 3, "expected 'and', 'or' or the end"),
        ("a 1", 2, "expected 'and', 'or' or the end"),
        ("a eq 1 b eq 2", 7, "expected 'and', 'or' or the end"),
        ("a eq 1 and", 10, "expected a property or a literal"),
        ("a eq b", 0, "one side of a comparison must be a literal"),
        ("x or (a eq b)", 6, "one side of a comparison must be a literal"),
        ("(a eq 1", 7, "expected 'and', 'or' or ')'"),
        ("a eq 1)", 6, "expected 'and', 'or' or the end"),
        ("()", 1, "expected a property or a literal"),
        ("not", 3, "expected a property or a literal"),
        ("a eq 'b", 5, "expected a property or a literal"),
        ("a eq 5x", 5, "expected a property or a literal"),
        ("a eq 1.2.3", 8, "expected 'and', 'or' or the end"),
        ("a = 1", 2, "expected 'and', 'or' or the end"),
        ("a eq datetime'2022-02-30'", 5, "expected a property or a literal"),
        ("éé eq $", 6, "expected a property or a literal"),
        ("5", 1, "expected a comparison operator"),
        ("'a'", 3, "expected a comparison operator"),
        ("null", 4, "expected a comparison operator"),
        ("a/b eq 1", 1, "expected 'and', 'or' or the end"),
        ("startswith(a,'b')", 10, "expected 'and', 'or' or the end"),
        ("a add 1 eq 2", 2, "expected 'and', 'or' or the end"),
        ("(a) eq 1", 4, "expected 'and', 'or' or the end"),
        ("@odata eq 1", 0, "expected a property or a literal"),
    ] {
        let error = match Filter::parse(text) {
            Err(error) => error,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(error.to_string(), format!("{problem} at position {position}"), "{text}");
    }
    // A word that joins conditions is a name where a condition is expected.
    assert!(Filter::parse("a eq 1 or or").is_ok());
}

#[test]
fn length_is_bounded() {
    let of_length = |length: usize| format!("a eq '{}'", "x".repeat(length - 7));
    assert!(Filter::parse(&of_length(FILTER_BYTES_MAX)).is_ok());
    let error = Filter::parse(&of_length(FILTER_BYTES_MAX + 1)).unwrap_err();
    assert_eq!(error.problem, FilterProblem::TooLong);
}

#[test]
fn nesting_is_bounded() {
    let parentheses = |depth: usize| format!("{}a eq 1{}", "(".repeat(depth), ")".repeat(depth));
    let negations = |depth: usize| format!("{}a eq 1", "not ".repeat(depth));
    let both = |depth: usize| format!("{}a eq 1{}", "not(".repeat(depth), ")".repeat(depth));
    assert!(Filter::parse(&parentheses(NESTING_MAX)).is_ok());
    assert!(Filter::parse(&negations(NESTING_MAX)).is_ok());
    assert!(Filter::parse(&both(NESTING_MAX / 2)).is_ok());
    for text in [
        parentheses(NESTING_MAX + 1),
        negations(NESTING_MAX + 1),
        both(NESTING_MAX / 2 + 1),
        "(".repeat(FILTER_BYTES_MAX),
        "not ".repeat(FILTER_BYTES_MAX / 4),
        "not(".repeat(FILTER_BYTES_MAX / 4),
    ] {
        assert_eq!(Filter::parse(&text).unwrap_err().problem, FilterProblem::TooDeep);
    }
    // Chains are not nested.
    let chain = "a eq 1 or b eq 2 and ".repeat(3_000) + "c";
    assert!(parsed(&chain).matches(&view()) == parsed("c").matches(&view()));
}

/// Prints a condition with white space and letters that vary with a seed.
fn print(condition: &Condition, seed: &mut u64, out: &mut String) {
    let mut draw = |choices: u64| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % choices
    };
    let space = [" ", "  ", "\t", " \n "][draw(4) as usize];
    match condition {
        Condition::Constant(truth) => out.push_str(if *truth { "true" } else { "false" }),
        Condition::Compare { name, operator, value } => {
            let value = literal(value);
            let is_mirrored = draw(3) == 0;
            let word = if is_mirrored { operator.mirrored() } else { *operator }.word();
            let word = if draw(2) == 0 { word.to_uppercase() } else { word.to_owned() };
            let (left, right) = if is_mirrored { (&value, name) } else { (name, &value) };
            out.push_str(&format!("{left}{space}{word}{space}{right}"));
        }
        Condition::Not(inner) => {
            out.push_str(if draw(2) == 0 { "not" } else { "NOT" });
            out.push('(');
            print(inner, seed, out);
            out.push(')');
        }
        Condition::And(parts) | Condition::Or(parts) => {
            let word = if matches!(condition, Condition::And(_)) { "and" } else { "or" };
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    out.push_str(&format!("{space}{word}{space}"));
                }
                out.push('(');
                print(part, seed, out);
                out.push(')');
            }
        }
    }
}

fn literal(value: &EdmValue) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    match value {
        EdmValue::Binary(bytes) => {
            format!("X'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        EdmValue::Boolean(truth) => truth.to_string(),
        EdmValue::DateTime(ticks) => format!("datetime'{}'", text(&ticks.text())),
        EdmValue::Double(number) if number.is_nan() => "NaN".to_owned(),
        EdmValue::Double(f64::INFINITY) => "INF".to_owned(),
        EdmValue::Double(f64::NEG_INFINITY) => "-INF".to_owned(),
        EdmValue::Double(number) => format!("{number:?}"),
        EdmValue::Guid(bytes) => format!("guid'{}'", text(&guid_text(bytes))),
        EdmValue::Int32(number) => number.to_string(),
        EdmValue::Int64(number) => format!("{number}L"),
        EdmValue::String(string) => format!("'{}'", string.replace('\'', "''")),
    }
}

/// Values of every type that are likely to meet each other.
pub(super) fn value() -> impl Strategy<Value = EdmValue> {
    let near = prop_oneof![Just(0_i64), Just(1 << 53), Just(i64::MAX), Just(i64::MIN), any::<i64>()];
    let text = "(NaN|Infinity|1973-10-04T00:00:00.0000000Z|YWE=|[ab'é\u{ff5e}😀]{0,3})";
    prop_oneof![
        prop::collection::vec(0_u8..3, 0..3).prop_map(EdmValue::Binary),
        any::<bool>().prop_map(EdmValue::Boolean),
        (0_u64..4).prop_map(|step| EdmValue::DateTime(Ticks::new(622_000_000_000_000_000 + step).unwrap())),
        prop_oneof![
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            (-3_i32..3).prop_map(f64::from)
        ]
        .prop_map(EdmValue::Double),
        (near.clone(), -1_i64..2).prop_map(|(near, off)| EdmValue::Double(near.saturating_add(off) as f64)),
        (0_u8..3).prop_map(|byte| EdmValue::Guid([byte; 16])),
        (-3_i32..3).prop_map(EdmValue::Int32),
        (near, -1_i64..2).prop_map(|(near, off)| EdmValue::Int64(near.saturating_add(off))),
        text.prop_map(EdmValue::String),
    ]
}

/// Conditions over a few names.
pub(super) fn filter() -> impl Strategy<Value = Filter> {
    let name = prop_oneof![
        3 => Just("a"),
        5 => prop::sample::select(vec!["PartitionKey", "RowKey", "Timestamp", "b", "c", "id", "_ts"]),
    ];
    let operator = prop::sample::select(Operator::ALL.to_vec());
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Condition::Constant),
        9 => (name, operator, value()).prop_map(|(name, operator, value)| Condition::Compare {
            name: name.to_owned(),
            operator,
            value,
        }),
    ];
    let condition = leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Condition::Not(Box::new(inner))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner, 2..4).prop_map(Condition::Or),
        ]
    });
    condition.prop_map(|root| Filter { root })
}

struct OneField(EdmValue);

impl Fields for OneField {
    fn field(&self, name: &str) -> Option<EdmRef<'_>> {
        (name == "a").then(|| self.0.lend())
    }
}

proptest! {
    #[test]
    fn printed_filters_are_read_again(filter in filter(), mut seed: u64) {
        let mut text = String::new();
        print(&filter.root, &mut seed, &mut text);
        let read = parsed(&text);
        // NaN is not equal to itself, so what they look like is compared.
        prop_assert_eq!(format!("{read:?}"), format!("{filter:?}"), "{}", text);
    }

    #[test]
    fn any_text_is_read_without_panic(
        text: String,
        near in "(a|eq|not|and|or|\\(|\\)|'x'|''|5|X'61'|datetime'|true|null| |é){0,20}",
    ) {
        let _ = Filter::parse(&text);
        if let Ok(Some(filter)) = Filter::parse(&near) {
            let _ = (filter.matches(&view()), filter.lower());
        }
    }

    #[test]
    fn operators_agree_with_each_other(left in value(), right in value()) {
        let holds = |operator: Operator| {
            let root = Condition::Compare { name: "a".to_owned(), operator, value: right.clone() };
            Filter { root }.matches(&OneField(left.clone()))
        };
        let (equal, not_equal) = (holds(Operator::Equal), holds(Operator::NotEqual));
        let (greater, less) = (holds(Operator::Greater), holds(Operator::Less));
        prop_assert!([equal, greater, less].iter().filter(|holds| **holds).count() <= 1);
        prop_assert!(!(equal && not_equal));
        prop_assert!(!(greater || less) || not_equal);
        if !matches!(left, EdmValue::Boolean(_)) {
            prop_assert_eq!(holds(Operator::GreaterOrEqual), greater || equal);
            prop_assert_eq!(holds(Operator::LessOrEqual), less || equal);
        }
    }
}
