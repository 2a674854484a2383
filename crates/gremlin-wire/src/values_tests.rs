//! Tests of values: a table of every kind in every format, and values that come back.

use std::sync::Arc;

use armilla_gremlin_value::{
    Bytecode, Edge, Instruction, Map, Path, Predicate, PredicateKind, Property, Token, TokenKind, Tree,
    TreeBranch, Vertex, VertexProperty,
};
use proptest::prelude::*;

use super::*;
use crate::limits::{MAX_RESPONSE_BYTES, MAX_VALUE_DEPTH};
use crate::testing;

fn text(text: &str) -> Value {
    Value::String(text.into())
}

fn list(items: Vec<Value>) -> Value {
    Value::List(items.into())
}

fn map(entries: Vec<(Value, Value)>) -> Value {
    Value::Map(Map { entries }.into())
}

fn token(kind: TokenKind, word: &str) -> Value {
    Value::Token(Token::find(kind, word).unwrap())
}

fn property(key: &str, value: Value) -> Arc<Property> {
    Arc::new(Property { key: key.into(), value, element: None })
}

fn vertex_property(id: &str, key: &str, value: Value, properties: Vec<Arc<Property>>) -> Arc<VertexProperty> {
    Arc::new(VertexProperty { id: text(id), key: key.into(), value, properties, vertex: None })
}

type ByKey<'k> = Vec<(&'k str, Vec<Arc<VertexProperty>>)>;

fn vertex(id: &str, properties: Option<ByKey<'_>>) -> Value {
    let properties =
        properties.map(|list| list.into_iter().map(|(key, values)| (Arc::from(key), values)).collect());
    let properties = properties.map(Arc::new);
    Value::Vertex(Arc::new(Vertex {
        id: text(id),
        label: "person".into(),
        partition: None,
        properties,
        version: None,
    }))
}

fn thomas() -> Value {
    vertex(
        "thomas",
        Some(vec![
            ("name", vec![vertex_property("n1", "name", text("Thomas"), vec![])]),
            (
                "loc",
                vec![vertex_property("l1", "loc", text("SF"), vec![property("since", Value::Int32(1997))])],
            ),
        ]),
    )
}

fn knows(properties: Vec<Arc<Property>>) -> Value {
    Value::Edge(Arc::new(Edge {
        id: text("e1"),
        label: "knows".into(),
        partition: None,
        out_id: text("thomas"),
        out_label: "person".into(),
        in_id: text("mary"),
        in_label: "person".into(),
        in_partition: None,
        properties: Some(Arc::new(properties)),
        version: None,
    }))
}

fn predicate(kind: PredicateKind, values: Vec<Value>) -> Value {
    Value::Predicate(Predicate { kind, values }.into())
}

fn instruction(name: &str, arguments: Vec<Value>) -> Instruction {
    Instruction { name: name.into(), arguments, position: None }
}

fn written(format: Format, value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(format, value, Materialize::All, &mut out, MAX_RESPONSE_BYTES).unwrap();
    out
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value as it is untyped, in GraphSON 2, in GraphSON 3 (empty if the same as 2) and in GraphBinary.
type Row = (Value, &'static str, &'static str, &'static str, &'static str);

fn check(rows: Vec<Row>) {
    for (value, untyped, two, three, binary) in rows {
        let three = if three.is_empty() { two } else { three };
        let json = [(Format::Untyped, untyped), (Format::GraphSon2Typed, two), (Format::GraphSon3, three)];
        for (format, expected) in json {
            let bytes = written(format, &value);
            assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected, "{format:?} {value:?}");
            read_value(format, &bytes).unwrap();
        }
        let bytes = written(Format::GraphBinary, &value);
        assert_eq!(hex(&bytes), binary.replace(' ', ""), "{value:?}");
        read_value(Format::GraphBinary, &bytes).unwrap();
    }
}

#[test]
fn scalars_in_every_format() {
    check(vec![
        (Value::Null, "null", "null", "", "fe01"),
        (Value::Bool(true), "true", "true", "", "270001"),
        (Value::Byte(-1), "-1", r#"{"@type":"gx:Byte","@value":-1}"#, "", "2400ff"),
        (Value::Int16(256), "256", r#"{"@type":"gx:Int16","@value":256}"#, "", "26000100"),
        (Value::Int32(1), "1", r#"{"@type":"g:Int32","@value":1}"#, "", "0100 00000001"),
        (Value::Int64(-2), "-2", r#"{"@type":"g:Int64","@value":-2}"#, "", "0200 fffffffffffffffe"),
        (
            Value::BigInteger(1 << 70),
            "1180591620717411303424",
            r#"{"@type":"gx:BigInteger","@value":1180591620717411303424}"#,
            "",
            "2300 00000009 400000000000000000",
        ),
        (
            Value::BigInteger(-128),
            "-128",
            r#"{"@type":"gx:BigInteger","@value":-128}"#,
            "",
            "2300 00000001 80",
        ),
        (
            Value::BigInteger(128),
            "128",
            r#"{"@type":"gx:BigInteger","@value":128}"#,
            "",
            "2300 00000002 0080",
        ),
        (Value::Float(0.5), "0.5", r#"{"@type":"g:Float","@value":0.5}"#, "", "0800 3f000000"),
        (Value::Double(1.0), "1.0", r#"{"@type":"g:Double","@value":1.0}"#, "", "0700 3ff0000000000000"),
        (
            Value::Double(f64::NAN),
            "\"NaN\"",
            r#"{"@type":"g:Double","@value":"NaN"}"#,
            "",
            "0700 7ff8000000000000",
        ),
        (
            Value::Double(f64::NEG_INFINITY),
            "\"-Infinity\"",
            r#"{"@type":"g:Double","@value":"-Infinity"}"#,
            "",
            "0700 fff0000000000000",
        ),
        (
            Value::BigDecimal("-12.50".into()),
            "-12.50",
            r#"{"@type":"gx:BigDecimal","@value":-12.50}"#,
            "",
            "2200 00000002 00000002 fb1e",
        ),
        (Value::Char('é'), "\"é\"", r#"{"@type":"gx:Char","@value":"é"}"#, "", "8000 c3a9"),
        (text("a\"é\n\u{1}"), r#""a\"é\n\u0001""#, r#""a\"é\n\u0001""#, "", "0300 00000006 6122c3a90a01"),
        (
            Value::Uuid(0x41d2_e28a_20a4_4ab0_b379_d810_dede_3786),
            r#""41d2e28a-20a4-4ab0-b379-d810dede3786""#,
            r#"{"@type":"g:UUID","@value":"41d2e28a-20a4-4ab0-b379-d810dede3786"}"#,
            "",
            "0c00 41d2e28a20a44ab0b379d810dede3786",
        ),
        (
            Value::Date { milliseconds: 1_691_456_523_004, offset_seconds: 0 },
            "1691456523004",
            r#"{"@type":"g:Date","@value":1691456523004}"#,
            r#"{"@type":"gx:OffsetDateTime","@value":"2023-08-08T01:02:03.004Z"}"#,
            "8800 000007e7 08 08 00000362d454b700 00000000",
        ),
        (
            Value::Date { milliseconds: 0, offset_seconds: -5400 },
            "0",
            r#"{"@type":"gx:OffsetDateTime","@value":"1969-12-31T22:30:00-01:30"}"#,
            "",
            "8800 000007b1 0c 1f 000049ab483a1000 ffffeae8",
        ),
        (
            Value::Duration(-1),
            "\"PT-0.000000001S\"",
            r#"{"@type":"gx:Duration","@value":"PT-0.000000001S"}"#,
            "",
            "8100 ffffffffffffffff 3b9ac9ff",
        ),
        (
            Value::Bytes(Arc::from([1, 255])),
            "\"Af8=\"",
            r#"{"@type":"gx:ByteBuffer","@value":"Af8="}"#,
            "",
            "2500 00000002 01ff",
        ),
        (
            token(TokenKind::T, "id"),
            "\"id\"",
            r#"{"@type":"g:T","@value":"id"}"#,
            "",
            "2000 0300 00000002 6964",
        ),
        (
            token(TokenKind::Dt, "day"),
            "\"day\"",
            r#"{"@type":"g:DT","@value":"day"}"#,
            "",
            "2f00 0300 00000003 646179",
        ),
    ]);
}

#[test]
fn collections_in_every_format() {
    let two = || vec![Value::Int32(1), text("a")];
    check(vec![
        (
            list(two()),
            r#"[1,"a"]"#,
            r#"[{"@type":"g:Int32","@value":1},"a"]"#,
            r#"{"@type":"g:List","@value":[{"@type":"g:Int32","@value":1},"a"]}"#,
            "0900 00000002 0100 00000001 0300 00000001 61",
        ),
        (
            Value::Set(vec![text("a")].into()),
            r#"["a"]"#,
            r#"["a"]"#,
            r#"{"@type":"g:Set","@value":["a"]}"#,
            "0b00 00000001 0300 00000001 61",
        ),
        (
            Value::BulkSet(vec![(text("a"), 2), (text("b"), 0)].into()),
            r#"["a","a"]"#,
            r#"["a","a"]"#,
            r#"{"@type":"g:BulkSet","@value":["a",{"@type":"g:Int64","@value":2},"b",{"@type":"g:Int64","@value":0}]}"#,
            "2a00 00000002 0300 00000001 61 0000000000000002 0300 00000001 62 0000000000000000",
        ),
        (
            map(vec![(text("k"), Value::Bool(false)), (Value::Int32(5), text("v"))]),
            r#"{"k":false,"5":"v"}"#,
            r#"{"k":false,"5":"v"}"#,
            r#"{"@type":"g:Map","@value":["k",false,{"@type":"g:Int32","@value":5},"v"]}"#,
            "0a00 00000002 0300 00000001 6b 270000 0100 00000005 0300 00000001 76",
        ),
        (
            map(vec![(token(TokenKind::T, "label"), text("x")), (vertex("v", None), Value::Null)]),
            r#"{"label":"x","v":null}"#,
            r#"{"label":"x","v":null}"#,
            r#"{"@type":"g:Map","@value":[{"@type":"g:T","@value":"label"},"x",{"@type":"g:Vertex","@value":{"id":"v","label":"person"}},null]}"#,
            "0a00 00000002 2000 0300 00000005 6c6162656c 0300 00000001 78 \
             1100 0300 00000001 76 00000006 706572736f6e fe01 fe01",
        ),
        (
            map(vec![(list(two()), Value::Bool(true)), (Value::Double(f64::NAN), Value::Null)]),
            r#"{"[1,\"a\"]":true,"NaN":null}"#,
            r#"{"[1,\"a\"]":true,"NaN":null}"#,
            r#"{"@type":"g:Map","@value":[{"@type":"g:List","@value":[{"@type":"g:Int32","@value":1},"a"]},true,{"@type":"g:Double","@value":"NaN"},null]}"#,
            "0a00 00000002 0900 00000002 0100 00000001 0300 00000001 61 270001 0700 7ff8000000000000 fe01",
        ),
        (
            Value::Entry(Arc::new((text("k"), Value::Int64(3)))),
            r#"{"k":3}"#,
            r#"{"k":{"@type":"g:Int64","@value":3}}"#,
            r#"{"@type":"g:Map","@value":["k",{"@type":"g:Int64","@value":3}]}"#,
            "0a00 00000001 0300 00000001 6b 0200 0000000000000003",
        ),
    ]);
}

#[test]
fn elements_in_every_format() {
    check(vec![
        (
            thomas(),
            r#"{"id":"thomas","label":"person","type":"vertex","properties":{"name":[{"id":"n1","value":"Thomas"}],"loc":[{"id":"l1","value":"SF","properties":{"since":1997}}]}}"#,
            r#"{"@type":"g:Vertex","@value":{"id":"thomas","label":"person","properties":{"name":[{"@type":"g:VertexProperty","@value":{"id":"n1","label":"name","value":"Thomas"}}],"loc":[{"@type":"g:VertexProperty","@value":{"id":"l1","label":"loc","value":"SF","properties":{"since":{"@type":"g:Int32","@value":1997}}}}]}}}"#,
            "",
            "1100 0300 00000006 74686f6d6173 00000006 706572736f6e 0900 00000002 \
             1200 0300 00000002 6e31 00000004 6e616d65 0300 00000006 54686f6d6173 fe01 fe01 \
             1200 0300 00000002 6c31 00000003 6c6f63 0300 00000002 5346 fe01 \
             0900 00000001 0f00 00000005 73696e6365 0100 000007cd fe01",
        ),
        (
            vertex("v", Some(vec![])),
            r#"{"id":"v","label":"person","type":"vertex"}"#,
            r#"{"@type":"g:Vertex","@value":{"id":"v","label":"person","properties":{}}}"#,
            "",
            "1100 0300 00000001 76 00000006 706572736f6e 0900 00000000",
        ),
        (
            knows(vec![property("w", Value::Double(0.5))]),
            r#"{"id":"e1","label":"knows","type":"edge","inVLabel":"person","outVLabel":"person","inV":"mary","outV":"thomas","properties":{"w":0.5}}"#,
            r#"{"@type":"g:Edge","@value":{"id":"e1","label":"knows","inVLabel":"person","outVLabel":"person","inV":"mary","outV":"thomas","properties":{"w":{"@type":"g:Property","@value":{"key":"w","value":{"@type":"g:Double","@value":0.5}}}}}}"#,
            "",
            "0d00 0300 00000002 6531 00000005 6b6e6f7773 0300 00000004 6d617279 00000006 706572736f6e \
             0300 00000006 74686f6d6173 00000006 706572736f6e fe01 \
             0900 00000001 0f00 00000001 77 0700 3fe0000000000000 fe01",
        ),
        (
            Value::VertexProperty(vertex_property("p", "k", Value::Int32(1), vec![])),
            r#"{"id":"p","value":1,"label":"k"}"#,
            r#"{"@type":"g:VertexProperty","@value":{"id":"p","label":"k","value":{"@type":"g:Int32","@value":1}}}"#,
            "",
            "1200 0300 00000001 70 00000001 6b 0100 00000001 fe01 fe01",
        ),
        (
            Value::Property(property("k", Value::Int32(1))),
            r#"{"key":"k","value":1}"#,
            r#"{"@type":"g:Property","@value":{"key":"k","value":{"@type":"g:Int32","@value":1}}}"#,
            "",
            "0f00 00000001 6b 0100 00000001 fe01",
        ),
        (
            Value::Path(Arc::new(Path {
                labels: vec![vec!["a".into(), "b".into()], vec![]],
                objects: vec![Value::Int32(1), text("x")],
            })),
            r#"{"labels":[["a","b"],[]],"objects":[1,"x"]}"#,
            r#"{"@type":"g:Path","@value":{"labels":[["a","b"],[]],"objects":[{"@type":"g:Int32","@value":1},"x"]}}"#,
            r#"{"@type":"g:Path","@value":{"labels":{"@type":"g:List","@value":[{"@type":"g:Set","@value":["a","b"]},{"@type":"g:Set","@value":[]}]},"objects":{"@type":"g:List","@value":[{"@type":"g:Int32","@value":1},"x"]}}}"#,
            "0e00 0900 00000002 0b00 00000002 0300 00000001 61 0300 00000001 62 0b00 00000000 \
             0900 00000002 0100 00000001 0300 00000001 78",
        ),
        (
            Value::Tree(Arc::new(Tree {
                branches: vec![TreeBranch {
                    key: vertex("v", None),
                    below: Tree {
                        branches: vec![TreeBranch { key: Value::Int32(1), below: Tree::default() }],
                    },
                }],
            })),
            r#"{"v":{"key":{"id":"v","label":"person","type":"vertex"},"value":{"1":{"key":1,"value":{}}}}}"#,
            r#"{"@type":"g:Tree","@value":[{"key":{"@type":"g:Vertex","@value":{"id":"v","label":"person"}},"value":{"@type":"g:Tree","@value":[{"key":{"@type":"g:Int32","@value":1},"value":{"@type":"g:Tree","@value":[]}}]}}]}"#,
            "",
            "2b00 00000001 1100 0300 00000001 76 00000006 706572736f6e fe01 00000001 0100 00000001 00000000",
        ),
    ]);
}

#[test]
fn traversals_in_every_format() {
    let nested =
        Value::Traversal(Arc::new(Bytecode { sources: vec![], steps: vec![instruction("out", vec![])] }));
    let bytecode = Bytecode {
        sources: vec![instruction("withPath", vec![])],
        steps: vec![instruction("V", vec![]), instruction("map", vec![nested])],
    };
    check(vec![
        (
            predicate(PredicateKind::Gt, vec![Value::Int32(3)]),
            r#"{"predicate":"gt","value":3}"#,
            r#"{"@type":"g:P","@value":{"predicate":"gt","value":{"@type":"g:Int32","@value":3}}}"#,
            "",
            "1e00 00000002 6774 00000001 0100 00000003",
        ),
        (
            predicate(PredicateKind::Within, vec![text("a")]),
            r#"{"predicate":"within","value":["a"]}"#,
            r#"{"@type":"g:P","@value":{"predicate":"within","value":["a"]}}"#,
            r#"{"@type":"g:P","@value":{"predicate":"within","value":{"@type":"g:List","@value":["a"]}}}"#,
            "1e00 00000006 77697468696e 00000001 0300 00000001 61",
        ),
        (
            predicate(PredicateKind::Not, vec![predicate(PredicateKind::Regex, vec![text("x")])]),
            r#"{"predicate":"not","value":{"predicate":"regex","value":"x"}}"#,
            r#"{"@type":"g:P","@value":{"predicate":"not","value":{"@type":"g:TextP","@value":{"predicate":"regex","value":"x"}}}}"#,
            "",
            "1e00 00000003 6e6f74 00000001 2800 00000005 7265676578 00000001 0300 00000001 78",
        ),
        (
            Value::Traversal(Arc::new(bytecode)),
            r#"{"source":[["withPath"]],"step":[["V"],["map",{"source":[],"step":[["out"]]}]]}"#,
            r#"{"@type":"g:Bytecode","@value":{"source":[["withPath"]],"step":[["V"],["map",{"@type":"g:Bytecode","@value":{"step":[["out"]]}}]]}}"#,
            "",
            "1500 00000002 00000001 56 00000000 00000003 6d6170 00000001 \
             1500 00000001 00000003 6f7574 00000000 00000000 00000001 00000008 7769746850617468 00000000",
        ),
        (
            Value::Strategy {
                name: "XStrategy".into(),
                configuration: Arc::new(vec![("k".into(), Value::Bool(true))]),
            },
            r#"{"fqcn":"XStrategy","conf":{"k":true}}"#,
            r#"{"@type":"g:XStrategy","@value":{"fqcn":"XStrategy","conf":{"k":true}}}"#,
            "",
            "2900 00000009 585374726174656779 00000001 0300 00000001 6b 270001",
        ),
        (
            Value::Metrics(
                Map { entries: vec![(text("dur"), Value::Double(1.5)), (text("metrics"), list(vec![]))] }
                    .into(),
            ),
            r#"{"dur":1.5,"metrics":[]}"#,
            r#"{"@type":"g:TraversalMetrics","@value":{"dur":{"@type":"g:Double","@value":1.5},"metrics":[]}}"#,
            r#"{"@type":"g:TraversalMetrics","@value":{"@type":"g:Map","@value":["dur",{"@type":"g:Double","@value":1.5},"metrics",{"@type":"g:List","@value":[]}]}}"#,
            "2d00 000000000016e360 00000000",
        ),
    ]);
}

#[test]
fn a_property_alone_tells_its_vertex() {
    let Value::Vertex(owner) = vertex("v", None) else { unreachable!() };
    let property = VertexProperty {
        vertex: Some(owner),
        ..VertexProperty::clone(&vertex_property("p", "k", text("x"), vec![]))
    };
    let bytes = written(Format::GraphSon3, &Value::VertexProperty(property.into()));
    let expected = r#"{"@type":"g:VertexProperty","@value":{"id":"p","label":"k","value":"x","vertex":"v"}}"#;
    assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected);
}

#[test]
fn tokens_leave_properties_out() {
    for (format, expected) in [
        (Format::Untyped, r#"{"id":"thomas","label":"person","type":"vertex"}"#),
        (Format::GraphSon3, r#"{"@type":"g:Vertex","@value":{"id":"thomas","label":"person"}}"#),
    ] {
        let mut out = Vec::new();
        write_value(format, &thomas(), Materialize::Tokens, &mut out, 1000).unwrap();
        assert_eq!(std::str::from_utf8(&out).unwrap(), expected);
    }
    let mut out = Vec::new();
    write_value(
        Format::GraphBinary,
        &knows(vec![property("w", Value::Null)]),
        Materialize::Tokens,
        &mut out,
        1000,
    )
    .unwrap();
    assert!(out.ends_with(&[0xfe, 1, 0xfe, 1]));
}

#[test]
fn size_and_depth_are_bounded() {
    let mut deep = Value::Null;
    for _ in 0..MAX_VALUE_DEPTH + 1 {
        deep = list(vec![deep]);
    }
    let long = Value::BulkSet(vec![(text("abc"), u64::MAX)].into());
    let mut keys = text("k");
    for _ in 0..MAX_VALUE_DEPTH + 1 {
        keys = map(vec![(keys, Value::Null)]);
    }
    for format in [Format::Untyped, Format::GraphSon2Typed, Format::GraphSon3, Format::GraphBinary] {
        let write = |value: &Value| write_value(format, value, Materialize::All, &mut Vec::new(), 10_000);
        assert_eq!(write(&deep).unwrap_err().code(), 599);
        assert_eq!(write(&keys).unwrap_err().code(), 599);
        assert_eq!(write(&text(&"x".repeat(10_001))).unwrap_err().code(), 599);
        if matches!(format, Format::Untyped | Format::GraphSon2Typed) {
            assert_eq!(write(&long).unwrap_err().code(), 599);
        }
    }
}

#[test]
fn values_of_other_writers_are_read() {
    let cases = [
        ("5", "Int32(5)"),
        ("5000000000", "Int64(5000000000)"),
        ("50000000000000000000", "BigInteger(50000000000000000000)"),
        ("1e2", "Double(100.0)"),
        ("5.0", "Double(5.0)"),
        (r#"{"@type":"g:Double","@value":1}"#, "Double(1.0)"),
        (r#"{"@type":"gx:BigInteger","@value":"12"}"#, "BigInteger(12)"),
        (r#"{"@type":"gx:BigDecimal","@value":"1.50"}"#, "BigDecimal(\"1.50\")"),
        (r#"{"@type":"g:Timestamp","@value":7}"#, "Date { milliseconds: 7, offset_seconds: 0 }"),
        (
            r#"{"@type":"gx:LocalDate","@value":"1970-01-02"}"#,
            "Date { milliseconds: 86400000, offset_seconds: 0 }",
        ),
        (r#"{"@type":"g:Binding","@value":{"key":"x","value":"y"}}"#, "String(\"y\")"),
        (
            r#"{"@type":"g:Class","@value":"a.b.ReadOnlyStrategy"}"#,
            "Strategy { name: \"ReadOnlyStrategy\", configuration: [] }",
        ),
        (
            r#"{"@type":"g:ReadOnlyStrategy","@value":{}}"#,
            "Strategy { name: \"ReadOnlyStrategy\", configuration: [] }",
        ),
        (r#"{"@type":"g:ReadOnlyStrategy"}"#, "Strategy { name: \"ReadOnlyStrategy\", configuration: [] }"),
        (
            r#"{"@type":"g:P","@value":{"predicate":"within","value":3}}"#,
            "Predicate(Predicate { kind: Within, values: [Int32(3)] })",
        ),
        (r#"{"@type":"g:Order","@value":"incr"}"#, "Token(Token { kind: Order, word: \"asc\" })"),
        (
            r#"{"a":{"@value":1}}"#,
            "Map(Map { entries: [(String(\"a\"), Map(Map { entries: [(String(\"@value\"), Int32(1))] }))] })",
        ),
    ];
    for (json, expected) in cases {
        assert_eq!(format!("{:?}", read_value(Format::GraphSon3, json.as_bytes()).unwrap()), expected);
    }
}

#[test]
fn names_of_strategies_are_texts() {
    let strategy = Value::Strategy { name: "a\"\0".into(), configuration: Arc::default() };
    for format in [Format::GraphSon2Typed, Format::GraphSon3] {
        let json = String::from_utf8(written(format, &strategy)).unwrap();
        assert!(json.starts_with("{\"@type\":\"g:a\\\"\\u0000\","), "{json}");
    }
}

#[test]
fn wrong_values_say_what_is_wrong() {
    let cases = [
        (r#"{"@type":"g:Int32","@value":3000000000}"#, 498, "not an integer of its range"),
        (r#"{"@type":"g:Int32","@value":true}"#, 498, "not a number"),
        (
            r#"{"a":[{"@type":"gx:Foo","@value":1}]}"#,
            498,
            "Unknown GraphSON type encountered: gx:Foo. Path: 'a'",
        ),
        (r#"{"@type":"g:UUID","@value":"x"}"#, 498, "not of its form: 'x'"),
        (r#"{"@type":"g:Map","@value":["a"]}"#, 498, "a key without a value"),
        (r#"{"@type":"g:P","@value":{"predicate":"like","value":3}}"#, 498, "'like' is not known"),
        (r#"{"@type":"g:P","@value":{"predicate":"between","value":[3]}}"#, 498, "wrong number"),
        (r#"{"@type":"g:P","@value":{"predicate":"and","value":[3]}}"#, 498, "kind of values"),
        (r#"{"@type":"g:Lambda","@value":{"script":"{it}"}}"#, 499, "Lambdas are not supported"),
        (
            r#"{"@type":"g:Bytecode","@value":{"step":[["V",{"@type":"g:X","@value":1}]]}}"#,
            498,
            "Path: 'step.V'",
        ),
        (r#"{"@type":"g:Bytecode","@value":{"step":[[]]}}"#, 498, "begins with the name"),
        (r#"{"@type":"g:Traverser","@value":{}}"#, 498, "Unknown GraphSON type"),
        (r#"{"@type":"g:T","@value":"ids"}"#, 498, "not of its form"),
        (r#"{"@type":"g:Path","@value":{"labels":[],"objects":[1]}}"#, 498, "another number"),
        (r#"{"@type":"gx:ByteBuffer","@value":"ÿ"}"#, 498, "not of its form"),
    ];
    for (json, code, expected) in cases {
        let error = read_value(Format::GraphSon3, json.as_bytes()).unwrap_err();
        assert!(error.code() == code && error.message().contains(expected), "{json}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn values_come_back(value in testing::value()) {
        for format in [Format::GraphSon3, Format::GraphBinary] {
            let read = read_value(format, &written(format, &value)).unwrap();
            prop_assert_eq!(format!("{:?}", read), format!("{:?}", &value), "{:?}", format);
        }
    }

    #[test]
    fn graphson_2_is_stable(value in testing::value()) {
        let once = written(Format::GraphSon2Typed, &value);
        let read = read_value(Format::GraphSon2Typed, &once).unwrap();
        prop_assert_eq!(written(Format::GraphSon2Typed, &read), once);
        read_value(Format::Untyped, &written(Format::Untyped, &value)).unwrap();
    }
}
