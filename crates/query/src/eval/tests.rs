//! Evaluation of single expressions, without items.

use armilla_functions::Meter;
use armilla_value::json;

use crate::compile::{CompileOptions, CompiledQuery};
use crate::eval::Evaluator;
use crate::frame::Frame;

/// Evaluates an expression; undefined is an empty text.
fn eval(text: &str) -> String {
    let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
    let query = CompiledQuery::new(&format!("SELECT VALUE {text}"), options).expect(text);
    let mut out = Vec::new();
    // The bound query, not the optimised plan, whose constants are folded already.
    Evaluator::for_constants(&Meter::unlimited())
        .project(&query.bound.projection, &Frame::empty(), &mut out)
        .expect(text);
    let folded = {
        let mut out = Vec::new();
        Evaluator::for_constants(&Meter::unlimited())
            .project(&query.plan.projection, &Frame::empty(), &mut out)
            .expect(text);
        out
    };
    assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&folded), "folding changed {text}");
    if !out.is_empty() {
        json::parse(&out).expect(text);
    }
    String::from_utf8(out).unwrap()
}

#[test]
fn expressions() {
    let cases = [
        ("1 + 1", "2"),
        ("undefined", ""),
        ("[1, undefined, 2]", "[1,2]"),
        ("[undefined, 1]", "[1]"),
        ("{a: undefined, b: 1, c: {d: undefined}}", r#"{"b":1,"c":{}}"#),
        ("NOT 1 = 2", ""),
        ("NOT (1 = 2)", "true"),
        ("1 + 2 & 3", "3"),
        ("'a' || 'b' || 'c'", r#""abc""#),
        ("null ?? 5", "null"),
        ("undefined ?? 5", "5"),
        ("true AND false ?? true", "false"),
        ("1 ? 'a' : 'b'", r#""b""#),
        ("undefined OR true", "true"),
        ("undefined AND false", "false"),
        ("undefined AND true", ""),
        ("3 IN (1, 2, 3)", "true"),
        ("undefined IN (1)", ""),
        ("null IN (null)", "true"),
        ("50 BETWEEN 'a' AND 10", "false"),
        ("'abc' LIKE 'a%'", "true"),
        ("1 LIKE 'a%'", ""),
        ("[1, 2, 3][1]", "2"),
        ("[1, 2, 3][1.5]", ""),
        ("{a: {b: [7]}}.a.b[0]", "7"),
        ("{a: 1}['a']", "1"),
        ("(SELECT VALUE x FROM x IN (SELECT VALUE [1]))", "1"),
        ("ARRAY(SELECT VALUE x * 2 FROM x IN (SELECT VALUE [1, 2]) WHERE x > 1)", "[4]"),
        ("EXISTS(SELECT VALUE undefined)", "false"),
        ("EXISTS(SELECT undefined)", "true"),
        ("ARRAY(SELECT DISTINCT VALUE x FROM x IN (SELECT VALUE [1, 1.0, '1', [1], [1]]))", r#"[1,"1",[1]]"#),
        ("(SELECT VALUE COUNT(1) FROM x IN (SELECT VALUE [1, 2]))", "2"),
        ("(SELECT VALUE SUM(x) FROM x IN (SELECT VALUE []))", "0"),
        ("(SELECT VALUE MAX(x) FROM x IN (SELECT VALUE []))", ""),
        ("ALL(SELECT VALUE x FROM x IN (SELECT VALUE [1, 2]) WHERE x > 0)", "true"),
        ("ALL(SELECT VALUE x FROM x IN (SELECT VALUE [1, 2]) WHERE x > 1)", "false"),
        ("FIRST(SELECT VALUE x FROM x IN (SELECT VALUE [1, 2]))", "1"),
        ("LAST(SELECT VALUE x FROM x IN (SELECT VALUE [1, 2]))", "2"),
        ("(LET x = 2 IN x * x)", "4"),
        ("1 / 0", r#""Infinity""#),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("9007199254740993", "9007199254740993"),
    ];
    for (text, expected) in cases {
        assert_eq!(eval(text), expected, "{text}");
    }
}

#[test]
fn a_scalar_subquery_with_several_rows_fails() {
    let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
    let query = CompiledQuery::new("SELECT VALUE (SELECT VALUE x FROM x IN (SELECT VALUE [1, 2]))", options);
    let projection = query.unwrap().bound.projection;
    let error = Evaluator::for_constants(&Meter::unlimited())
        .project(&projection, &Frame::empty(), &mut Vec::new())
        .unwrap_err();
    assert!(error.message.contains("cardinality of a scalar subquery"), "{error}");
}
