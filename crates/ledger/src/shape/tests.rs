use armilla_value::json;
use proptest::prelude::*;

use super::*;

/// The shape of a text, and its values as JSON; those that are missing as a dash.
#[track_caller]
fn shape(text: &str, parameters: &str) -> (String, Vec<String>) {
    let Ok(Value::Object(parameters)) = json::parse(parameters.as_bytes()) else { panic!("{parameters}") };
    let parameters: Vec<(String, Value)> = parameters.into_iter().collect();
    let normalized = normalize(text, &parameters).unwrap_or_else(|| panic!("no query: {text}"));
    for (at, (name, _)) in normalized.slots.iter().enumerate() {
        assert_eq!(*name, format!("@{}", at + 1), "{text}");
    }
    let value = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), json::to_string);
    (normalized.text, normalized.slots.iter().map(|(_, own)| value(own)).collect())
}

#[test]
fn constants_become_parameters() {
    let table: &[(&str, &str, &str, &[&str])] = &[
        ("select * from c", "{}", "SELECT * FROM c", &[]),
        (
            "SELECT * FROM c WHERE c.userId = 'u1' AND c.n > 5.5",
            "{}",
            "SELECT * FROM c WHERE ((c.userId = @1) AND (c.n > @2))",
            &["\"u1\"", "5.5"],
        ),
        (
            "SELECT c.a, c.b * 100 AS b, 'x' AS x\nFROM c\n  WHERE c.a = @a AND c.b = 3 AND c.c = @a AND c.d = @b",
            r#"{"@a":"A"}"#,
            r#"SELECT c.a, (c.b * @1) AS b, @2 AS x FROM c WHERE ((c.a = @3) AND (c.b = @4) AND (c.c = @3) AND (c.d = @5))"#,
            &["100", "\"x\"", "\"A\"", "3", "-"],
        ),
        // What decides what is asked stays.
        (
            "SELECT TOP 10 * FROM c WHERE c.done = false AND c.gone = null AND c.x != undefined ORDER BY c.y DESC",
            "{}",
            "SELECT TOP 10 * FROM c WHERE ((c.done = false) AND (c.gone = null) AND (c.x != undefined)) ORDER BY c.y DESC",
            &[],
        ),
        (
            "SELECT * FROM c WHERE c['a b'][0] = 'v' OFFSET 20 LIMIT 10",
            "{}",
            r#"SELECT * FROM c WHERE (c["a b"][0] = @1) OFFSET 20 LIMIT 10"#,
            &["\"v\""],
        ),
        (
            "SELECT TOP @n * FROM c WHERE c.a = @a OFFSET @o LIMIT @n",
            r#"{"@a":1,"@n":2,"@o":3}"#,
            "SELECT TOP @1 * FROM c WHERE (c.a = @2) OFFSET @3 LIMIT @1",
            &["2", "1", "3"],
        ),
        (
            "SELECT VALUE COUNT(1) FROM c WHERE c.postId = @post",
            r#"{"@post":"p1"}"#,
            "SELECT VALUE COUNT(1) FROM c WHERE (c.postId = @1)",
            &["\"p1\""],
        ),
        (
            "SELECT VALUE SUM(c.n + 1) FROM c WHERE EXISTS(SELECT VALUE 1 FROM t IN c.tags WHERE t = 'x')",
            "{}",
            "SELECT VALUE SUM((c.n + @1)) FROM c WHERE EXISTS(SELECT VALUE 1 FROM t IN c.tags WHERE (t = @2))",
            &["1", "\"x\""],
        ),
        // Lists are one parameter.
        (
            "SELECT * FROM c WHERE c.id IN ('a', 'b', 3, null) AND c.x NOT IN (@a, @b) AND c.y = @a",
            r#"{"@a":"A","@b":"B"}"#,
            "SELECT * FROM c WHERE ((c.id IN (@1)) AND (c.x NOT IN (@2)) AND (c.y = @3))",
            &[r#"["a","b",3,null]"#, r#"["A","B"]"#, "\"A\""],
        ),
        (
            "SELECT * FROM c WHERE c.id IN (c.a, 'b')",
            "{}",
            "SELECT * FROM c WHERE (c.id IN (c.a, @1))",
            &["\"b\""],
        ),
        (
            "SELECT * FROM c WHERE ARRAY_CONTAINS([1, 2, 3], c.n) AND ARRAY_CONTAINS(c.tags, {name: 'x'}, true)",
            "{}",
            r#"SELECT * FROM c WHERE (ARRAY_CONTAINS(@1, c.n) AND ARRAY_CONTAINS(c.tags, {"name": @2}, true))"#,
            &["[1,2,3]", "\"x\""],
        ),
        (
            "SELECT TOP 3 c.id FROM c ORDER BY VectorDistance(c.v, [0.5, [1, -2]])",
            "{}",
            "SELECT TOP 3 c.id FROM c ORDER BY VectorDistance(c.v, @1)",
            &["[0.5,[1,-2]]"],
        ),
        (
            "SELECT * FROM c WHERE c.s LIKE 'a%' AND c.n BETWEEN 1 AND 2 AND CONTAINS(c.t, 'x', true) AND udf.f(-1)",
            "{}",
            "SELECT * FROM c WHERE ((c.s LIKE @1) AND (c.n BETWEEN @2 AND @3) AND CONTAINS(c.t, @4, true) AND udf.f(@5))",
            &["\"a%\"", "1", "2", "\"x\"", "-1"],
        ),
        (
            "SELECT t FROM c JOIN t IN c.tags JOIN (SELECT VALUE u FROM u IN c.us WHERE u.n > 2) AS u GROUP BY t, c.x + 1",
            "{}",
            "SELECT t FROM c JOIN t IN c.tags JOIN (SELECT VALUE u FROM u IN c.us WHERE (u.n > @1)) AS u GROUP BY t, (c.x + @2)",
            &["2", "1"],
        ),
        (
            "SELECT VALUE (c.a ?? 'none') FROM c WHERE (c.b ? 1 : 2) = 1 AND c[@p] = -(c.n) AND (LET x = 1 IN x) > 0",
            r#"{"@p":"q"}"#,
            "SELECT VALUE (c.a ?? @1) FROM c WHERE (((c.b ? @2 : @3) = @4) AND (c[@5] = -c.n) AND ((LET x = @6 IN x) > @7))",
            &["\"none\"", "1", "2", "1", "\"q\"", "1", "0"],
        ),
        (
            "SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'a', 'b'), VectorDistance(c.v, @v))",
            r#"{"@v":[1]}"#,
            "SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.t, @1, @2), VectorDistance(c.v, @3))",
            &["\"a\"", "\"b\"", "[1]"],
        ),
    ];
    for (text, parameters, expected, values) in table {
        let (printed, found) = shape(text, parameters);
        assert_eq!(printed, *expected, "{text}");
        assert_eq!(found, *values, "{text}");
    }
}

#[test]
fn lists_of_any_length_are_one_shape() {
    let of = |count: usize| {
        let ids: Vec<String> = (0..count).map(|at| format!("'id{at}'")).collect();
        shape(&format!("SELECT * FROM c WHERE c.id IN ({})", ids.join(",")), "{}").0
    };
    assert_eq!(of(1), of(2));
    assert_eq!(of(1), of(500));
}

#[test]
fn what_is_no_query_has_no_shape_but_itself() {
    assert_eq!(normalize("SELECT FROM WHERE", &[]), None);
    assert_eq!(normalize(&format!("SELECT {}", "x".repeat(READ_TEXT_BYTES_MAX)), &[]), None);
    assert_eq!(plain("  a \n\t b\u{a0}c "), "a b c");
    assert_eq!(plain(&"ä ".repeat(3_000)).chars().count(), PLAIN_TEXT_CHARS_MAX);
    assert_eq!(plain(&"ä".repeat(3_000)).chars().count(), PLAIN_TEXT_CHARS_MAX);
    assert_eq!(plain(&"x".repeat(PLAIN_TEXT_CHARS_MAX)).len(), PLAIN_TEXT_CHARS_MAX);
    assert_eq!(plain(""), "");
}

#[test]
fn long_shapes_are_cut_and_still_differ() {
    let of = |last: &str| {
        let names: Vec<String> = (0..2_000).map(|at| format!("c.property{at}")).collect();
        normalize(&format!("SELECT {}, c.{last} FROM c", names.join(",")), &[]).unwrap().text
    };
    assert_ne!(of("a"), of("b"));
    assert_eq!(of("a"), of("a"));
    assert!(of("a").len() <= SHAPE_TEXT_BYTES_MAX);
}

#[test]
fn shapes_can_be_read_again() {
    for (text, parameter) in [
        ("SELECT * FROM c WHERE c.a = 1", "@1"),
        (r#"SELECT * FROM c WHERE c["@1 \" '"] = '@2'"#, "@1"),
        ("SELECT TOP @n * FROM c", "@1"),
        ("SELECT c.nn, c.n FROM c WHERE c.a IN (1, 2)", "@1"),
    ] {
        let shape = normalize(text, &[]).unwrap().text;
        let read = parse(&shape).unwrap_or_else(|| panic!("{shape}"));
        assert_eq!(read.to_string().replace('\n', " "), shape);
        assert!(shape.contains(parameter));
    }
    // Names of the caller's own stay as they are.
    let mixed = parse("SELECT * FROM c WHERE c.a = @1 AND c.b = @n1 AND c.c = @nn").unwrap();
    assert_eq!(mixed.filter.unwrap().to_string(), "((c.a = @1) AND (c.b = @n1) AND (c.c = @nn))");
    assert!(parse("SELECT * FROM c WHERE c.a = @n").is_some());
    assert!(parse("SELECT FROM @1").is_none());
}

#[test]
fn a_shape_is_its_own_shape() {
    let (text, _) = shape("SELECT * FROM c WHERE c.a IN (1, 2) AND c.b = 'x' AND c.c = @c", "{}");
    let mut again = parse(&text).unwrap();
    let mut slots = Slots::default();
    visit::query(&mut again, &mut slots);
    assert_eq!(again.to_string().replace('\n', " "), text);
}

#[test]
fn every_value_is_handed_over_with_the_place_of_its_parameter() {
    let template =
        Template::read("SELECT * FROM c WHERE c.a = @a AND c.b IN (@b, 2, 3) AND c.c = 'x'").unwrap();
    let parameters = [("@b".to_owned(), Value::from("B"))];
    let mut found = Vec::new();
    template.each_value(&parameters, &mut |at, value| found.push((at, json::to_string(value))));
    let expected = [(1, "\"B\""), (1, "2"), (1, "3"), (2, "\"x\"")];
    assert_eq!(found, expected.map(|(at, text)| (at, text.to_owned())));
    assert!(template.has_constants());
    assert!(!Template::read("SELECT * FROM c WHERE c.a = @a AND c.b IN (@b)").unwrap().has_constants());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_taken(text in "[ a-zSELECTFROMWHERE@'\"\\\\(){}\\[\\],.=0-9\u{e4}\n]{0,60}") {
        plain(&text);
        parse(&text);
        if let Some(normalized) = normalize(&text, &[]) {
            prop_assert!(parse(&normalized.text).is_some(), "{}", normalized.text);
        }
    }

    #[test]
    fn texts_in_a_query_are_its_values(value in any::<String>()) {
        let quoted = json::to_string(&Value::String(value.clone()));
        let text = format!("SELECT * FROM c WHERE c.a = {quoted}");
        let normalized = normalize(&text, &[]).unwrap();
        prop_assert_eq!(normalized.text, "SELECT * FROM c WHERE (c.a = @1)");
        prop_assert_eq!(normalized.slots, [("@1".to_owned(), Some(Value::String(value)))]);
    }
}
