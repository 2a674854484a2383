use std::sync::Arc;

use armilla_gremlin_value::{Position, Value};

use crate::limits::{DEPTH_MAX, OPERATORS_MAX, RANGE_VALUES_MAX, SCRIPT_BYTES_MAX};
use crate::{Dialect, ErrorKind, LanguageError, Script, Surroundings, parse, parse_at, parse_bytes};

fn open(script: &str) -> Result<Script, LanguageError> {
    parse(script, &[], Dialect::Open)
}

fn kind(result: Result<Script, LanguageError>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind)
}

#[test]
fn length_is_bounded() {
    let script = |length: usize| format!("g.V('{}')", "a".repeat(length - "g.V('')".len()));
    assert_eq!(kind(open(&script(SCRIPT_BYTES_MAX))), None);
    assert_eq!(kind(open(&script(SCRIPT_BYTES_MAX + 1))), Some(ErrorKind::LimitExceeded));
}

#[test]
fn depth_is_bounded() {
    let nested = |open_text: &str, inside: &str, close: &str, depth: usize| {
        open(&format!("g.inject({}{inside}{})", open_text.repeat(depth), close.repeat(depth)))
    };
    for (open_text, inside, close) in [
        ("[", "", "]"),
        ("{", "", "}"),
        ("(", "1", ")"),
        ("map(", "", ")"),
        ("__.map(", "", ")"),
        ("not(", "", ")"),
        ("P.not(", "", ")"),
        ("[a:", "", "]"),
        ("single(", "1", ")"),
        ("eq(1).and(", "eq(1)", ")"),
    ] {
        assert_ne!(kind(nested(open_text, inside, close, DEPTH_MAX - 1)), Some(ErrorKind::LimitExceeded));
        assert_eq!(kind(nested(open_text, inside, close, DEPTH_MAX + 1)), Some(ErrorKind::LimitExceeded));
        assert!(nested(open_text, inside, close, 5_000).is_err(), "{open_text}");
        assert!(nested(open_text, inside, "", 5_000).is_err(), "{open_text}");
    }
}

#[test]
fn operators_of_the_service_are_bounded() {
    let script = |steps: usize| format!("g.V(){}", ".out()".repeat(steps - 1));
    let strict = |script: &str| kind(parse(script, &[], Dialect::CosmosStrict));
    assert_eq!(strict(&script(OPERATORS_MAX)), None);
    assert_eq!(strict(&script(OPERATORS_MAX + 1)), Some(ErrorKind::LimitExceeded));
    assert_eq!(kind(open(&script(OPERATORS_MAX + 1))), None);
    assert_eq!(strict(&format!("{}.times(2)", script(OPERATORS_MAX))), None);
}

#[test]
fn ranges_are_bounded_together() {
    assert_eq!(kind(open(&format!("g.inject(1..{RANGE_VALUES_MAX})"))), None);
    let twice = format!("g.inject(1..{RANGE_VALUES_MAX},1..1)");
    assert_eq!(kind(open(&twice)), Some(ErrorKind::LimitExceeded));
    for huge in ["1..9223372036854775807", "-9223372036854775808..9223372036854775807"] {
        assert_eq!(kind(open(&format!("g.inject({huge})"))), Some(ErrorKind::LimitExceeded));
    }
}

#[test]
fn names_of_bindings() {
    let with = |name: &str, script: &str| parse(script, &[(Arc::from(name), Value::Int32(1))], Dialect::Open);
    for name in ["id", "key", "label", "value", "g", "__", "T", "Scope", "null", "new", "P"] {
        assert_eq!(kind(with(name, "g.V()")), Some(ErrorKind::ReservedBinding), "{name}");
    }
    for name in ["x", "_h", "$a", "é", "vid1", "out", "desc", "day"] {
        assert_eq!(kind(with(name, &format!("g.V({name})"))), None, "{name}");
    }
    assert_eq!(kind(with("not a name", "g.V()")), None);
}

#[test]
fn many_bindings() {
    let bindings: Vec<(Arc<str>, Value)> =
        (0..1_000).map(|index| (Arc::from(format!("_p{index}")), Value::Int32(index))).collect();
    let names: Vec<&str> = bindings.iter().map(|(name, _)| &**name).collect();
    let script = parse(&format!("g.inject({})", names.join(",")), &bindings, Dialect::Open).unwrap();
    let arguments = &script.queries[0].steps[0].arguments;
    assert_eq!(arguments.len(), 1_000);
    assert!(matches!(arguments[999], Value::Int32(999)));
}

#[test]
fn a_binding_is_never_parsed() {
    let bindings = [(Arc::from("x"), Value::String(Arc::from("').drop()")))];
    let script = parse("g.V(x)", &bindings, Dialect::Open).unwrap();
    assert_eq!(crate::render(&script.queries[0]), "g.V('\\').drop()')");
}

#[test]
fn positions_of_instructions_are_their_parentheses() {
    let script = open("g.with('a').V()\n .where(out('é')\n  .in ())").unwrap();
    let place = |line, column| Some(Position { line, column });
    let code = &script.queries[0];
    assert_eq!(code.sources[0].position, place(1, 7));
    assert_eq!(code.steps[0].position, place(1, 14));
    assert_eq!(code.steps[1].position, place(2, 8));
    let Value::Traversal(inner) = &code.steps[1].arguments[0] else { panic!("a traversal") };
    assert_eq!(inner.steps[0].position, place(2, 12));
    assert_eq!(inner.steps[1].position, place(3, 7));
}

#[test]
fn texts_of_errors_are_those_of_the_service() {
    let table = [
        (
            "g.V().foo()",
            "Gremlin Query Compilation Error: Unable to find any method 'foo' @ line 1, column 10.",
        ),
        (
            "g.V().limit('a')",
            "Gremlin Query Compilation Error: Unable to bind to method 'limit', with arguments of type: (String) \
             @ line 1, column 12.",
        ),
        (
            "g.V().is(none2)",
            "Gremlin Query Compilation Error: Unable to resolve symbol 'none2' in the current context. \
             @ line 1, column 10.",
        ),
        (
            "g.V().map{it.get()}",
            "Gremlin query syntax error: Unsupported groovy language rule: 'closure' text: '{it.get()}' \
             @ line 1, column 10.",
        ),
    ];
    for (script, text) in table {
        assert_eq!(open(script).unwrap_err().text(), text);
    }
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(kind(parse_bytes(b"g.V('\xFF')", Dialect::Open)), Some(ErrorKind::Syntax));
    assert!(parse_bytes(b"g.V()", Dialect::Open).is_ok());
}

#[test]
fn long_closures_are_cut_in_messages() {
    let error = open(&format!("g.V().map{{ it.{} }}", "a".repeat(10_000))).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Closure);
    assert!(error.message.len() < 400);
}

#[test]
fn time_and_randomness_come_from_outside() {
    let script = "g.inject(datetime(),UUID(),UUID())";
    assert_eq!(kind(open(script)), Some(ErrorKind::Unsupported));
    let surroundings = Surroundings { now_ms: 1_521_621_344_741, random: 7 };
    let parsed = parse_at(script, &[], Dialect::Open, surroundings).unwrap();
    let [date, Value::Uuid(first), Value::Uuid(second)] = &parsed.queries[0].steps[0].arguments[..] else {
        panic!("a date and two UUIDs")
    };
    assert!(matches!(date, Value::Date { milliseconds: 1_521_621_344_741, offset_seconds: 0 }));
    assert_ne!(first, second);
    for uuid in [first, second] {
        assert_eq!((uuid >> 76 & 0xF, uuid >> 62 & 0x3), (4, 2));
    }
}
