//! What filters say of the partition key, and the ranges of plans.

use armilla_value::{HashedKey, hashed_key, prefix_range};
use proptest::prelude::*;

use super::*;
use crate::bind::{ComputedProperty, Names, bind};
use crate::gateway::ranges::query_ranges;

fn shape(paths: &[&str], version: HashVersion) -> PartitionKeyShape {
    let names = |path: &&str| armilla_value::PropertyPath::parse(path).unwrap().names().to_vec();
    PartitionKeyShape { paths: paths.iter().map(names).collect(), version }
}

fn scope_in(
    query: &str,
    parameters: &[(&str, Value)],
    computed: &[ComputedProperty],
    key: &PartitionKeyShape,
) -> KeyScope {
    let ast = armilla_sql::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    let parameters: Vec<(String, Value)> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let names = Names { parameters: &parameters, computed, system_properties: true };
    let (bound, _) = bind(&ast, names).unwrap_or_else(|error| panic!("{query}: {error}"));
    partition_keys(&bound, key)
}

/// Writes a scope as `all`, `none`, or keys as requests carry them.
fn text(scope: &KeyScope) -> String {
    let list = |keys: &[PartitionKey]| keys.iter().map(PartitionKey::to_json).collect::<Vec<_>>().join(" ");
    match scope {
        KeyScope::All => "all".to_owned(),
        KeyScope::Nothing => "none".to_owned(),
        KeyScope::Keys(keys) => list(keys),
        KeyScope::Prefixes(keys) => format!("prefixes {}", list(keys)),
    }
}

#[track_caller]
fn check(filter: &str, key: &PartitionKeyShape, expected: &str) {
    let scope = scope_in(&format!("SELECT * FROM c WHERE {filter}"), &[], &[], key);
    assert_eq!(text(&scope), expected, "{filter}");
}

#[test]
fn one_path() {
    let key = shape(&["/pk"], HashVersion::V2);
    let cases = [
        ("c.pk = 5", "[5]"),
        ("5 = c.pk", "[5]"),
        ("c.pk = 5.0", "[5]"),
        ("c.pk = -1.5", "[-1.5]"),
        ("c[\"pk\"] = 'a'", r#"["a"]"#),
        ("c.pk = \"\"", r#"[""]"#),
        ("c.pk = '你好'", r#"["\u4f60\u597d"]"#),
        ("c.pk = null", "[null]"),
        ("c.pk = true", "[true]"),
        ("c.pk = false", "[false]"),
        ("c.pk = undefined", "none"),
        ("c.pk = []", "[{}]"),
        ("c.pk = {}", "[{}]"),
        ("c.pk = [c.x]", "[{}]"),
        ("c.pk = c.other", "all"),
        ("c.pk = LOWER('A')", "all"),
        ("LOWER(c.pk) = 'a'", "all"),
        ("c.pk.x = 1", "all"),
        ("c.pk[0] = 1", "all"),
        ("c.other = 1", "all"),
        ("c.pk > 5", "all"),
        ("c.pk BETWEEN 5 AND 5", "all"),
        ("c.pk LIKE 'a'", "all"),
        ("c.pk", "all"),
        // IN
        ("c.pk IN (1, 2, 2, 'x')", r#"[1] [2] ["x"]"#),
        ("c.pk IN (1, undefined)", "[1]"),
        ("c.pk IN (undefined)", "none"),
        ("c.pk IN (1, c.x)", "all"),
        ("c.pk IN ([1, 2])", "[{}]"),
        ("c.pk NOT IN (1, 2)", "all"),
        ("1 IN (c.pk, 2)", "all"),
        ("1 IN (c.pk)", "[1]"),
        // AND and OR
        ("c.pk = 1 AND c.x > 3", "[1]"),
        ("c.pk = 1 OR c.x > 3", "all"),
        ("c.pk = 1 OR c.pk = 2", "[1] [2]"),
        ("(c.pk = 1 AND c.x = 1) OR (c.pk = 2 AND c.x = 2)", "[1] [2]"),
        ("c.pk = 1 AND c.pk = 2", "none"),
        ("c.pk = 1 AND c.pk = '1'", "none"),
        ("c.pk IN (1, 2, 3) AND c.pk IN (3, 2, 4)", "[2] [3]"),
        ("c.pk IN (1, 2) AND (c.pk = 2 OR c.pk = 7)", "[2]"),
        ("c.pk = 1 AND false", "none"),
        ("c.pk = 1 OR false", "[1]"),
        ("c.pk = 1 OR 'text'", "[1]"),
        ("c.pk = 1 OR true", "all"),
        ("true", "all"),
        ("false", "none"),
        ("null", "none"),
        ("undefined", "none"),
        // NOT
        ("NOT (c.pk != 1)", "[1]"),
        ("NOT (c.pk = 1)", "all"),
        ("NOT (c.pk != 1 OR c.x = 2)", "[1]"),
        ("NOT (c.pk != 1 AND c.pk != 2)", "[1] [2]"),
        ("NOT NOT (c.pk = 1)", "[1]"),
        ("c.pk != 1", "all"),
        ("c.pk != undefined", "none"),
        // Conditions compared with a truth.
        ("(c.pk = 1) = true", "[1]"),
        ("true = (c.pk = 1)", "[1]"),
        ("(c.pk != 1) = false", "[1]"),
        ("(c.pk = 1) = false", "all"),
        ("(c.pk = 1) != true", "all"),
        // Undefined keys.
        ("NOT IS_DEFINED(c.pk)", "[{}]"),
        ("IS_DEFINED(c.pk) = false", "[{}]"),
        ("IS_DEFINED(c.pk) != true", "[{}]"),
        ("NOT (IS_DEFINED(c.pk) = true)", "[{}]"),
        ("IS_DEFINED(c.pk)", "all"),
        ("IS_DEFINED(c.pk) = true", "all"),
        ("IS_DEFINED(c.x) = false", "all"),
        ("NOT IS_DEFINED(c.pk.x)", "all"),
        ("NOT IS_DEFINED(c)", "[{}]"),
        // ARRAY_CONTAINS
        ("ARRAY_CONTAINS([1, 'b'], c.pk)", r#"[1] ["b"]"#),
        ("ARRAY_CONTAINS([1, 'b'], c.pk, false)", r#"[1] ["b"]"#),
        ("ARRAY_CONTAINS([1, 'b'], c.pk, true)", "all"),
        ("ARRAY_CONTAINS([1, c.x], c.pk)", "all"),
        ("ARRAY_CONTAINS(c.pk, 1)", "all"),
        ("ARRAY_CONTAINS([], c.pk)", "none"),
        ("NOT ARRAY_CONTAINS([1], c.pk)", "all"),
        // Subqueries say nothing.
        ("EXISTS(SELECT VALUE 1 FROM x IN c.tags WHERE c.pk = 1)", "all"),
        ("c.blah = (SELECT VALUE 1 WHERE c.pk = 42) AND c.pk = 32", "[32]"),
        ("c.pk = 1 ? true : false", "all"),
    ];
    for (filter, expected) in cases {
        check(filter, &key, expected);
    }
}

#[test]
fn zero_is_looked_for_as_it_is_written() {
    let key = shape(&["/pk"], HashVersion::V2);
    for (filter, zero) in [("c.pk = 0", 0.0), ("c.pk = -0.0", -0.0)] {
        let scope = scope_in(&format!("SELECT * FROM c WHERE {filter}"), &[], &[], &key);
        assert_eq!(scope, KeyScope::Keys(vec![PartitionKey(vec![Component::Number(zero)])]));
    }
}

#[test]
fn nested_paths_and_aliases() {
    let key = shape(&["/address/city"], HashVersion::V2);
    let cases = [
        ("SELECT * FROM Families f WHERE f.address.city = 'Oslo'", r#"["Oslo"]"#),
        ("SELECT * FROM c WHERE c.address[\"city\"] = 'Oslo'", r#"["Oslo"]"#),
        ("SELECT * FROM c WHERE c.address = {city: 'Oslo'}", "all"),
        ("SELECT * FROM c WHERE NOT IS_DEFINED(c.address)", "[{}]"),
        ("SELECT * FROM c WHERE NOT IS_DEFINED(c.address.street)", "all"),
        ("SELECT * FROM c.address a WHERE a.city = 'Oslo'", r#"["Oslo"]"#),
        ("SELECT VALUE 1 FROM c JOIN a IN c.address WHERE a.city = 'Oslo'", "all"),
        ("SELECT VALUE 1 FROM c JOIN c.address a WHERE a.city = 'Oslo'", r#"["Oslo"]"#),
        ("SELECT VALUE 1 FROM c JOIN c.address a JOIN a.city t WHERE t = 'Oslo'", r#"["Oslo"]"#),
        (
            "SELECT VALUE 1 FROM c JOIN t IN c.tags WHERE t.city = 'Oslo' AND c.address.city = 'Rome'",
            r#"["Rome"]"#,
        ),
        ("SELECT * FROM (SELECT VALUE c.id FROM c WHERE c.address.city = 'Oslo') x", r#"["Oslo"]"#),
        (
            "SELECT * FROM (SELECT c.address FROM c WHERE c.address.city = 'Oslo') x WHERE x.address.city = 'Rome'",
            r#"["Oslo"]"#,
        ),
        ("SELECT * FROM (SELECT * FROM c) x WHERE x.address.city = 'Oslo'", "all"),
        ("SELECT VALUE c.id FROM c", "all"),
        ("SELECT 1", "all"),
    ];
    for (query, expected) in cases {
        assert_eq!(text(&scope_in(query, &[], &[], &key)), expected, "{query}");
    }
}

#[test]
fn parameters_count_as_what_they_are() {
    let key = shape(&["/pk"], HashVersion::V2);
    let list = Value::Array(vec![Value::Int64(1), Value::Null, Value::Array(vec![])]);
    let cases = [
        ("c.pk = @p", Value::String("a".to_owned()), r#"["a"]"#),
        ("c[@p] = 1", Value::String("pk".to_owned()), "[1]"),
        ("c[@p] = 1", Value::String("x".to_owned()), "all"),
        ("c.pk = @p", list.clone(), "[{}]"),
        ("c.pk IN (@p, 5)", Value::Int32(7), "[7] [5]"),
        ("ARRAY_CONTAINS(@p, c.pk)", list.clone(), "[1] [null] [{}]"),
        ("ARRAY_CONTAINS(@p, c.x)", list, "all"),
        ("ARRAY_CONTAINS(@p, c.pk)", Value::Null, "all"),
        ("@p", Value::Bool(false), "none"),
    ];
    for (filter, value, expected) in cases {
        let scope = scope_in(&format!("SELECT * FROM c WHERE {filter}"), &[("@p", value)], &[], &key);
        assert_eq!(text(&scope), expected, "{filter}");
    }
}

/// A computed property hides the stored one, and the partition key is made of the stored one.
#[test]
fn computed_properties_say_nothing() {
    let key = shape(&["/pk"], HashVersion::V2);
    let computed = [ComputedProperty::new("pk", "SELECT VALUE LOWER(c.name) FROM c").unwrap()];
    assert_eq!(scope_in("SELECT * FROM c WHERE c.pk = 'a'", &[], &computed, &key), KeyScope::All);
}

#[test]
fn hierarchical_keys() {
    let key = shape(&["/t", "/u", "/s"], HashVersion::MultiHash);
    let cases = [
        ("c.t = 1 AND c.u = 2 AND c.s = 3", "[1,2,3]"),
        ("c.s = 3 AND c.u = 2 AND c.t = 1", "[1,2,3]"),
        ("c.t = 1 AND c.u = 2", "prefixes [1,2]"),
        ("c.t = 1", "prefixes [1]"),
        ("c.t = 1 AND c.s = 3", "prefixes [1]"),
        ("c.u = 2 AND c.s = 3", "all"),
        ("c.t IN (1, 2) AND c.u = 'x'", r#"prefixes [1,"x"] [2,"x"]"#),
        ("c.t IN (1, 2) AND c.u IN (3, 4) AND NOT IS_DEFINED(c.s)", "[1,3,{}] [1,4,{}] [2,3,{}] [2,4,{}]"),
        ("c.t = 1 OR (c.t = 1 AND c.u = 2) OR (c.t = 2 AND c.u = 3 AND c.s = 4)", "prefixes [1] [2,3,4]"),
        ("c.t = 1 OR c.u = 2", "all"),
        ("c.t = 1 AND c.t = 2", "none"),
        ("c.t = 1 AND c.u = 2 AND c.u = 3", "none"),
        ("NOT IS_DEFINED(c)", "[{},{},{}]"),
    ];
    for (filter, expected) in cases {
        check(filter, &key, expected);
    }
    // Without a hierarchical hash, keys that begin alike are anywhere.
    let key = shape(&["/t", "/u"], HashVersion::V2);
    check("c.t = null AND c.u = false", &key, "[null,false]");
    check("c.t = 1", &key, "all");
    check("c.t = 1", &PartitionKeyShape { paths: Vec::new(), version: HashVersion::V2 }, "all");
}

fn in_list(path: &str, numbers: std::ops::Range<usize>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    format!("{path} IN ({})", numbers.join(", "))
}

#[test]
fn the_number_of_keys_is_bounded() {
    let key = shape(&["/pk"], HashVersion::V2);
    let count = |filter: &str, key: &PartitionKeyShape| match scope_in(
        &format!("SELECT * FROM c WHERE {filter}"),
        &[],
        &[],
        key,
    ) {
        KeyScope::Keys(keys) | KeyScope::Prefixes(keys) => Some(keys.len()),
        KeyScope::All => None,
        KeyScope::Nothing => Some(0),
    };
    assert_eq!(count(&in_list("c.pk", 0..KEYS_MAX), &key), Some(KEYS_MAX));
    assert_eq!(count(&in_list("c.pk", 0..KEYS_MAX + 1), &key), None);
    // Keys that come again do not count.
    let twice = format!("{} OR {}", in_list("c.pk", 0..KEYS_MAX), in_list("c.pk", 0..KEYS_MAX));
    assert_eq!(count(&twice, &key), Some(KEYS_MAX));
    let common = format!("{} AND {}", in_list("c.pk", 0..4000), in_list("c.pk", 3000..7000));
    assert_eq!(count(&common, &key), Some(1000));
    // Too many pairs: the smaller side alone is taken.
    let key = shape(&["/t", "/u"], HashVersion::MultiHash);
    let pairs =
        |left: usize, right: usize| format!("{} AND {}", in_list("c.t", 0..left), in_list("c.u", 0..right));
    assert_eq!(count(&pairs(64, 64), &key), Some(KEYS_MAX));
    assert_eq!(count(&pairs(64, 65), &key), Some(64));
    assert_eq!(count(&pairs(2000, 1000), &key), None);
    assert_eq!(count(&pairs(1000, 2000), &key), Some(1000));
}

fn ranges(filter: &str, key: &PartitionKeyShape) -> Vec<(String, String, bool)> {
    let scope = scope_in(&format!("SELECT * FROM c WHERE {filter}"), &[], &[], key);
    let hex = |key: &HashedKey| key.to_hex();
    query_ranges(&scope, key)
        .iter()
        .map(|range| (hex(&range.min), hex(&range.max), range.is_max_inclusive))
        .collect()
}

/// Against effective partition keys that the official clients compute.
#[test]
fn ranges_of_known_keys() {
    let point = |hex: &str| (hex.to_owned(), hex.to_owned(), true);
    let v2 = shape(&["/pk"], HashVersion::V2);
    let v1 = shape(&["/pk"], HashVersion::V1);
    let five = "19C08621B135968252FB34B4CF66F811";
    let one = "20CD98B339BA78A5D0CF6953B87070B0";
    let redmond = "22E342F38A486A088463DFF7838A5963";
    let undefined = "11622DAA78F835834610ABE56EFF5CB5";
    assert_eq!(ranges("c.pk = 5", &v2), [point(five)]);
    assert_eq!(ranges("c.pk = 5", &v1), [point("05C1D9C1C5517C05C014")]);
    assert_eq!(ranges("c.pk = null", &v1), [point("05C1ED45D7475601")]);
    assert_eq!(ranges("c.pk = 'redmond'", &v2), [point(redmond)]);
    assert_eq!(ranges("NOT IS_DEFINED(c.pk)", &v2), [point(undefined)]);
    assert_eq!(
        ranges("c.pk IN (1, 'redmond', 5, 1) OR c.pk = {}", &v2),
        [point(undefined), point(five), point(one), point(redmond)]
    );
    assert_eq!(ranges("c.x = 1", &v2), [(String::new(), "FF".to_owned(), false)]);
    assert_eq!(ranges("c.pk = 1 AND c.pk = 2", &v2), [point("")]);

    let hierarchical = shape(&["/t", "/u", "/s"], HashVersion::MultiHash);
    let contoso = "23C3EC20CBEA798430F192F7BB985CAE";
    let alice = "35EAEE8D6020FFCABDE75797DFE27C34";
    let prefix = |hex: String| (hex.clone(), format!("{hex}FF"), false);
    let whole = format!("{contoso}{alice}2924A879AFFF52A411F93F1A83532751");
    assert_eq!(ranges("c.t = 'Contoso'", &hierarchical), [prefix(contoso.to_owned())]);
    assert_eq!(
        ranges("c.t = 'Contoso' AND c.u = 'alice'", &hierarchical),
        [prefix(format!("{contoso}{alice}"))]
    );
    assert_eq!(ranges("c.t = 'Contoso' AND c.u = 'alice' AND c.s = 's1'", &hierarchical), [point(&whole)]);
    assert_eq!(
        ranges("(c.t = 'Contoso' AND c.u = 'alice' AND c.s = 's1') OR c.t = 1", &hierarchical),
        [prefix(one.to_owned()), point(&whole)]
    );
    // What is below a prefix is not listed again.
    assert_eq!(
        ranges("(c.t = 'Contoso' AND c.u = 'alice' AND c.s = 's1') OR c.t = 'Contoso'", &hierarchical),
        [prefix(contoso.to_owned())]
    );
}

/// Version 1 looks at the beginning of long strings only: two keys, one range.
#[test]
fn keys_with_one_hash_are_one_range() {
    let key = shape(&["/pk"], HashVersion::V1);
    let long = "a".repeat(101);
    let filter = format!("c.pk IN ('{long}x', '{long}y')");
    let scope = scope_in(&format!("SELECT * FROM c WHERE {filter}"), &[], &[], &key);
    assert!(matches!(&scope, KeyScope::Keys(keys) if keys.len() == 2));
    assert_eq!(ranges(&filter, &key).len(), 1);
}

/// A filter over two properties with few values, as text and as what it means for an item.
#[derive(Debug, Clone)]
enum Condition {
    Equal(usize, u8),
    OneOf(usize, Vec<u8>),
    Other(bool),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

impl Condition {
    fn text(&self) -> String {
        let join = |parts: &[Condition], word: &str| {
            let parts: Vec<String> = parts.iter().map(Condition::text).collect();
            format!("({})", parts.join(word))
        };
        match self {
            Condition::Equal(place, number) => format!("c.p{place} = {number}"),
            Condition::OneOf(place, numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u8::to_string).collect();
                format!("c.p{place} IN ({})", numbers.join(", "))
            }
            Condition::Other(truth) => format!("c.other = {truth}"),
            Condition::Not(operand) => format!("(NOT {})", operand.text()),
            Condition::And(parts) => join(parts, " AND "),
            Condition::Or(parts) => join(parts, " OR "),
        }
    }

    fn holds(&self, item: (u8, u8, bool)) -> bool {
        let at = |place: usize| if place == 0 { item.0 } else { item.1 };
        match self {
            Condition::Equal(place, number) => at(*place) == *number,
            Condition::OneOf(place, numbers) => numbers.contains(&at(*place)),
            Condition::Other(truth) => item.2 == *truth,
            Condition::Not(operand) => !operand.holds(item),
            Condition::And(parts) => parts.iter().all(|part| part.holds(item)),
            Condition::Or(parts) => parts.iter().any(|part| part.holds(item)),
        }
    }
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        (0..2usize, 0..4u8).prop_map(|(place, number)| Condition::Equal(place, number)),
        (0..2usize, prop::collection::vec(0..4u8, 1..4))
            .prop_map(|(place, numbers)| Condition::OneOf(place, numbers)),
        any::<bool>().prop_map(Condition::Other),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|operand| Condition::Not(Box::new(operand))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner, 2..4).prop_map(Condition::Or),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// No item that passes the filter is outside the scope or the ranges, which are sorted and apart.
    #[test]
    fn nothing_is_left_out(condition in condition()) {
        for paths in [&["/p0"][..], &["/p0", "/p1"], &["/p1", "/p0"]] {
            let version = if paths.len() == 1 { HashVersion::V2 } else { HashVersion::MultiHash };
            let key = shape(paths, version);
            let scope = scope_in(&format!("SELECT * FROM c WHERE {}", condition.text()), &[], &[], &key);
            let ranges = query_ranges(&scope, &key);
            prop_assert!(!ranges.is_empty());
            prop_assert!(ranges.windows(2).all(|pair| pair[0].max < pair[1].min));
            for (first, second, other) in (0..4).flat_map(|a| (0..4).flat_map(move |b| [(a, b, false), (a, b, true)])) {
                if !condition.holds((first, second, other)) {
                    continue;
                }
                let number = |path: &&str| Component::Number(f64::from(if *path == "/p0" { first } else { second }));
                let item_key = PartitionKey(paths.iter().map(number).collect());
                let is_inside = match &scope {
                    KeyScope::All => true,
                    KeyScope::Keys(keys) => keys.contains(&item_key),
                    KeyScope::Prefixes(prefixes) => prefixes.iter().any(|prefix| item_key.0.starts_with(&prefix.0)),
                    KeyScope::Nothing => false,
                };
                prop_assert!(is_inside, "{item_key:?} of {}", condition.text());
                let hash = hashed_key(&item_key, version);
                let is_covered = ranges.iter().any(|range| {
                    range.min <= hash && (hash < range.max || (range.is_max_inclusive && hash == range.max))
                });
                prop_assert!(is_covered, "{hash} of {}", condition.text());
            }
        }
    }

    /// A prefix covers the hashes of all keys that begin with it.
    #[test]
    fn prefixes_cover_their_keys(first in any::<u32>(), second in any::<u32>()) {
        let [first, second] = [first, second].map(|number| Component::Number(f64::from(number)));
        let (min, max) = prefix_range(&PartitionKey(vec![first.clone()]));
        let hash = hashed_key(&PartitionKey(vec![first, second]), HashVersion::MultiHash);
        prop_assert!(min <= hash && hash < max);
    }
}
