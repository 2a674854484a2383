//! Binding: what is refused, with which code and at which place.

use armilla_value::Value;

use crate::compile::{CompileOptions, CompiledQuery};
use crate::error::{Error, ErrorKind};
use crate::limits::{AGGREGATES_MAX, GROUP_KEYS_MAX};
use crate::{ComputedProperty, bound::Projection};

fn compile(text: &str) -> Result<CompiledQuery, Error> {
    let parameters = [("@p".to_owned(), Value::Int64(3)), ("@half".to_owned(), Value::Double(1.5))];
    let computed = [ComputedProperty::new("lower", "SELECT VALUE LOWER(c.name) FROM c").unwrap()];
    let options = CompileOptions { parameters: &parameters, computed: &computed, system_properties: true };
    CompiledQuery::new(text, options)
}

/// Checks the code and the text that the error points to; `-` stands for no code.
#[track_caller]
fn check_refused(text: &str, code: &str, place: &str) {
    let error = compile(text).expect_err(text);
    let ErrorKind::Invalid(errors) = &error.kind else { panic!("{text}: {error:?}") };
    assert_eq!(errors[0].code.unwrap_or("-"), code, "{text}: {error}");
    let span = errors[0].span.expect("an error with a place");
    assert_eq!(&text[span.start..span.end], place, "{text}: {error}");
}

#[test]
fn refusals() {
    let cases = [
        ("SELECT c.id FROM Families f", "SC2001", "c"),
        ("SELECT id FROM c", "SC2001", "id"),
        ("SELECT VALUE 1 FROM c JOIN t IN d.tags", "SC2001", "d"),
        ("SELECT VALUE (SELECT VALUE 1 FROM other) FROM c", "SC2001", "other"),
        ("SELECT * FROM c JOIN t IN c.tags", "-", "*"),
        ("SELECT *", "-", "*"),
        ("SELECT c.a, c.b AS a FROM c", "-", "a"),
        ("SELECT VALUE 1 FROM c JOIN c IN c.tags", "-", "c"),
        ("SELECT BADFUNC(c.x) FROM c", "SC2005", "BADFUNC"),
        ("SELECT STARTSWITH(c.x) FROM c", "SC2050", "STARTSWITH(c.x)"),
        ("SELECT COUNT(c.x, 1) FROM c", "SC2050", "COUNT(c.x, 1)"),
        ("SELECT SUM(COUNT(c.x)) FROM c", "SC2101", "SUM(COUNT(c.x))"),
        ("SELECT SUM((SELECT VALUE 1)) FROM c", "SC2101", "SUM((SELECT VALUE 1))"),
        ("SELECT * FROM c GROUP BY c.x", "SC2041", "GROUP BY c.x"),
        ("SELECT c.y, COUNT(1) FROM c GROUP BY c.x", "SC2102", "c.y"),
        ("SELECT c.y, COUNT(1) FROM c", "SC2102", "c.y"),
        ("SELECT VALUE 1 FROM c WHERE COUNT(1) = 1", "-", "COUNT(1)"),
        ("SELECT VALUE 1 FROM c GROUP BY 1", "-", "1"),
        ("SELECT VALUE (SELECT VALUE 1 FROM t IN c.tags ORDER BY t) FROM c", "SC2202", "ORDER BY t"),
        ("SELECT VALUE ARRAY(SELECT TOP 1 VALUE 1 FROM t IN c.tags) FROM c", "SC2203", "TOP 1"),
        (
            "SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.tags OFFSET 0 LIMIT 1) FROM c",
            "SC2204",
            "OFFSET 0 LIMIT 1",
        ),
        ("SELECT * FROM c ORDER BY LOWER(c.x)", "2206", "LOWER(c.x)"),
        ("SELECT c.id FROM c JOIN t IN c.tags ORDER BY t.x", "-", "t.x"),
        ("SELECT TOP 1.5 * FROM c", "SC2060", "TOP 1.5"),
        ("SELECT TOP 4294967296 * FROM c", "SC2060", "TOP 4294967296"),
        ("SELECT TOP @half * FROM c", "SC2060", "TOP @half"),
        ("SELECT * FROM c OFFSET 4294967296 LIMIT 1", "SC2062", "OFFSET 4294967296 LIMIT 1"),
        ("SELECT * FROM c OFFSET 1 LIMIT 4294967296", "SC2061", "OFFSET 1 LIMIT 4294967296"),
        ("SELECT TOP 1 * FROM c OFFSET 1 LIMIT 1", "-", "TOP 1"),
        ("SELECT * FROM c WHERE c.x = @missing", "SC2001", "@missing"),
        ("SELECT FULLTEXTSCORE(c.x, 'a') FROM c", "SC2240", "FULLTEXTSCORE(c.x, 'a')"),
        ("SELECT * FROM c ORDER BY RANK LOWER(c.x)", "SC2221", "ORDER BY RANK LOWER(c.x)"),
        ("SELECT DOCUMENTID(c.x) FROM c", "-", "DOCUMENTID(c.x)"),
        ("SELECT c.x, COUNT(1) FROM c GROUP BY c.x ORDER BY c.y", "-", "c.y"),
    ];
    for (text, code, place) in cases {
        check_refused(text, code, place);
    }
}

#[test]
fn too_many_joins_and_functions_are_refused() {
    let joins = |count: usize| {
        let joins: String = (0..count).map(|number| format!(" JOIN t{number} IN c.tags")).collect();
        format!("SELECT VALUE 1 FROM c{joins}")
    };
    assert!(compile(&joins(10)).is_ok());
    assert!(compile(&joins(11)).unwrap_err().message.contains("maximum number of joins"));
    let calls = |count: usize| format!("SELECT VALUE [{}] FROM c", vec!["udf.f(1)"; count].join(","));
    assert!(compile(&calls(10)).is_ok());
    check_refused(&calls(11), "SC3005", &calls(11));
}

#[test]
fn what_is_not_built_yet_says_so() {
    for text in [
        "SELECT * FROM c WHERE FULLTEXTCONTAINS(c.x, 'a')",
        "SELECT * FROM c ORDER BY RANK FullTextScore(c.x, 'a')",
        "SELECT TOP 5 * FROM c ORDER BY VectorDistance(c.v, [1])",
        "SELECT VECTORDISTANCE(c.v, [1]) FROM c",
    ] {
        let error = compile(text).expect_err(text);
        assert_eq!(error.kind, ErrorKind::Unsupported, "{text}");
    }
}

#[test]
fn names_of_fields() {
    let compiled =
        compile("SELECT 1, c.a.b, c['x y'], c, 2, c.arr[0], (c.z), UPPER(c.u) AS up, c.lower FROM c")
            .unwrap();
    let Projection::Fields(fields) = compiled.bound.projection else { panic!("fields") };
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["$1", "b", "x y", "c", "$2", "$3", "$4", "up", "lower"]);
}

#[test]
fn definitions_of_computed_properties() {
    let refused = [
        "SELECT c.x FROM c",
        "SELECT VALUE c.x FROM c WHERE true",
        "SELECT VALUE c.x FROM c JOIN t IN c.tags",
        "SELECT VALUE t FROM t IN c.tags",
        "SELECT VALUE 1",
        "SELECT VALUE COUNT(1) FROM c",
        "SELECT VALUE EXISTS(SELECT VALUE 1) FROM c",
        "SELECT VALUE udf.f(c.x) FROM c",
        "SELECT VALUE RAND() FROM c",
        "SELECT VALUE ST_ISVALID(c.x) FROM c",
        "SELECT TOP 1 VALUE c.x FROM c",
        "SELECT DISTINCT VALUE c.x FROM c",
        "SELECT VALUE c.x FROM c ORDER BY c.x",
        "SELECT VALUE c.x FROM c OFFSET 0 LIMIT 1",
        "SELECT VALUE c.x FROM",
    ];
    for text in refused {
        assert!(ComputedProperty::new("p", text).is_err(), "{text}");
    }
    assert!(ComputedProperty::new("p", "SELECT VALUE IIF(c.a > 1, c.b, UPPER(root.c)) FROM c").is_err());
    assert!(ComputedProperty::new("p", "SELECT VALUE IIF(c.a > 1, c.b, UPPER(c.c)) FROM c").is_ok());
}

#[test]
fn the_most_groups_and_aggregates_and_one_more() {
    let keys = |count: usize| {
        let keys: Vec<String> = (0..count).map(|number| format!("c.k{number}")).collect();
        compile(&format!("SELECT c.k0 FROM c GROUP BY {}", keys.join(", ")))
    };
    let aggregates = |count: usize| compile(&format!("SELECT {} FROM c", vec!["COUNT(1)"; count].join(", ")));
    assert!(keys(GROUP_KEYS_MAX).is_ok() && aggregates(AGGREGATES_MAX).is_ok());
    for refused in [keys(GROUP_KEYS_MAX + 1), aggregates(AGGREGATES_MAX + 1)] {
        assert!(refused.unwrap_err().message.contains("more grouping expressions or aggregates"));
    }
}

/// Planning takes time in proportion to the text, or there is a limit.
#[test]
#[expect(clippy::disallowed_methods, reason = "how long it takes is the point")]
fn the_widest_texts_are_planned_in_time() {
    let wide = |part: &dyn Fn(usize) -> String, between: &str| -> String {
        let mut text = String::new();
        for number in 0.. {
            let part = part(number);
            if text.len() + part.len() + between.len() + 100 > armilla_sql::limits::QUERY_TEXT_BYTES_MAX {
                return text;
            }
            if number > 0 {
                text.push_str(between);
            }
            text.push_str(&part);
        }
        unreachable!("there is always one more number")
    };
    let texts = [
        format!("SELECT {} FROM c", wide(&|_| "c.a".to_owned() + "+1", ",")),
        format!("SELECT {} FROM c", wide(&|number| format!("c.a{number}"), ",")),
        format!("SELECT * FROM c WHERE {}", wide(&|number| format!("c.a{number}=1"), " OR ")),
        format!("SELECT * FROM c WHERE {}", wide(&|number| format!("c.a{number}=1"), " AND ")),
        format!("SELECT * FROM c WHERE {}", wide(&|number| format!("c.a={number}"), " OR ")),
        format!("SELECT * FROM c WHERE c.a IN ({})", wide(&|number| number.to_string(), ",")),
        format!("SELECT VALUE [{}] FROM c", wide(&|_| "UPPER('x')".to_owned(), ",")),
        format!("SELECT VALUE {{{}}} FROM c", wide(&|number| format!("a{number}:1"), ",")),
        format!("SELECT VALUE CONCAT({}) FROM c", wide(&|_| "'x'".to_owned(), ",")),
    ];
    for text in texts {
        let began = std::time::Instant::now();
        let compiled = compile(&text);
        // Tests are built without haste, and run beside others.
        let took = began.elapsed();
        assert!(took.as_secs() < 5, "{}...: {took:?}", &text[..60]);
        assert!(compiled.is_ok(), "{}...: {:?}", &text[..60], compiled.err());
    }
}
