//! Whatever the bytes, parsing ends without a panic; whatever a script can say, its text is read back as the same.

use std::collections::HashSet;
use std::sync::Arc;

use armilla_gremlin_value::{
    Bytecode, Instruction, Key, Map, Predicate, PredicateKind, Token, TokenKind, Value, Vertex,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::arguments::CARDINALITY_VALUE;
use crate::methods::{self, END, Method, SOURCE, START, STEP};
use crate::{Dialect, parse, parse_bytes, render};

fn text(strategy: &'static str) -> impl Strategy<Value = Arc<str>> {
    strategy.prop_map(Arc::from)
}

fn token(kind: TokenKind) -> BoxedStrategy<Value> {
    let (_, _, words) = TokenKind::ALL.iter().find(|(other, ..)| *other == kind).unwrap();
    select(*words).prop_map(move |word| Value::Token(Token::find(kind, word).unwrap())).boxed()
}

fn integer() -> BoxedStrategy<Value> {
    prop_oneof![
        any::<i8>().prop_map(Value::Byte),
        any::<i16>().prop_map(Value::Int16),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<i128>().prop_map(Value::BigInteger),
    ]
    .boxed()
}

fn fraction() -> BoxedStrategy<Value> {
    prop_oneof![
        (prop::num::f32::NORMAL | prop::num::f32::ZERO | prop::num::f32::SUBNORMAL).prop_map(Value::Float),
        any::<f64>().prop_map(|number| Value::Double(if number.is_nan() { f64::NAN } else { number })),
        text("-?[0-9]{1,20}(\\.[0-9]{1,9})?(e-?[0-9]{1,3})?").prop_map(Value::BigDecimal),
    ]
    .boxed()
}

fn leaf() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        integer(),
        fraction(),
        text(".{0,9}").prop_map(Value::String),
        any::<u128>().prop_map(Value::Uuid),
        date(),
        select(TokenKind::ALL.to_vec()).prop_flat_map(|(kind, ..)| token(kind)),
    ]
    .boxed()
}

fn date() -> BoxedStrategy<Value> {
    (-99_999_999_999_999..99_999_999_999_999_i64, -64_800..64_800)
        .prop_map(|(milliseconds, offset_seconds)| Value::Date { milliseconds, offset_seconds })
        .boxed()
}

fn value(depth: u32) -> BoxedStrategy<Value> {
    if depth == 0 {
        return leaf();
    }
    let inner = move || value(depth - 1);
    prop_oneof![
        4 => leaf(),
        1 => vec(inner(), 0..3).prop_map(|values| Value::List(Arc::new(values))),
        1 => vec(inner(), 0..3).prop_map(set),
        1 => map(depth),
        1 => (inner(), text("\\PC{0,5}")).prop_map(|(id, label)| {
            Value::Vertex(Arc::new(Vertex { id, label, partition: None, properties: None, version: None }))
        }),
        1 => (token(TokenKind::Cardinality), inner()).prop_map(|(cardinality, value)| {
            let name = Arc::from(CARDINALITY_VALUE);
            let source = Instruction { name, arguments: vec![cardinality, value], position: None };
            Value::Traversal(Arc::new(Bytecode { sources: vec![source], steps: Vec::new() }))
        }),
        1 => predicate(depth - 1),
        1 => traversal(depth - 1),
    ]
    .boxed()
}

/// A set has each of its values once.
fn set(mut values: Vec<Value>) -> Value {
    let mut seen = HashSet::new();
    values.retain(|value| seen.insert(Key(value.clone())));
    Value::Set(Arc::new(values))
}

fn map(depth: u32) -> BoxedStrategy<Value> {
    let inner = move || value(depth.saturating_sub(1));
    vec((inner(), inner()), 0..3).prop_map(|entries| Value::Map(Arc::new(Map { entries }))).boxed()
}

fn predicate(depth: u32) -> BoxedStrategy<Value> {
    let compared = [PredicateKind::Eq, PredicateKind::Neq, PredicateKind::Lt, PredicateKind::Gte];
    let sections = [PredicateKind::Inside, PredicateKind::Outside, PredicateKind::Between];
    let texts = [PredicateKind::StartingWith, PredicateKind::NotContaining, PredicateKind::Regex];
    let plain = prop_oneof![
        (select(compared.to_vec()), vec(value(depth), 1)),
        (select(sections.to_vec()), vec(value(depth), 2)),
        (select(vec![PredicateKind::Within, PredicateKind::Without]), vec(value(depth), 0..4)),
        (select(texts.to_vec()), vec(text("\\PC{0,5}").prop_map(Value::String), 1)),
        (Just(PredicateKind::TypeOf), vec(token(TokenKind::GType), 1)),
    ];
    let plain =
        plain.prop_map(|(kind, values)| Value::Predicate(Arc::new(Predicate { kind, values }))).boxed();
    if depth == 0 {
        return plain;
    }
    let joined = (select(vec![PredicateKind::And, PredicateKind::Or]), vec(predicate(depth - 1), 2..4))
        .prop_map(|(kind, mut values)| {
            // `a.and(b).and(c)` is one conjunction of three, so none begins with another.
            if matches!(&values[0], Value::Predicate(first) if first.kind == kind) {
                let inside = values.remove(0);
                values.insert(0, negated(inside));
            }
            Value::Predicate(Arc::new(Predicate { kind, values }))
        });
    prop_oneof![3 => plain, 1 => joined, 1 => predicate(depth - 1).prop_map(negated)].boxed()
}

fn negated(predicate: Value) -> Value {
    Value::Predicate(Arc::new(Predicate { kind: PredicateKind::Not, values: vec![predicate] }))
}

fn strategy(depth: u32) -> BoxedStrategy<Value> {
    let options = vec((text("[a-zA-Z ]{1,5}"), value(depth)), 0..3);
    (text("[A-Z][a-z]{0,5}Strategy"), options)
        .prop_map(|(name, configuration)| Value::Strategy { name, configuration: Arc::new(configuration) })
        .boxed()
}

fn traversal(depth: u32) -> BoxedStrategy<Value> {
    vec(instruction(STEP, depth), 1..4)
        .prop_map(|steps| Value::Traversal(Arc::new(Bytecode { sources: Vec::new(), steps })))
        .boxed()
}

/// An argument of a kind, by its letter in signatures.
fn argument(letter: u8, depth: u32) -> BoxedStrategy<Value> {
    match letter {
        b's' => prop_oneof![Just(Value::Null), text(".{0,9}").prop_map(Value::String)].boxed(),
        b'S' => text(".{0,9}").prop_map(Value::String).boxed(),
        b'i' => integer(),
        b'n' => fraction(),
        b'b' => any::<bool>().prop_map(Value::Bool).boxed(),
        b'm' | b'M' => map(depth),
        b'p' => predicate(depth),
        b't' => traversal(depth),
        b'd' => date(),
        b'g' => strategy(depth),
        b'O' => token(TokenKind::Order),
        b'T' => token(TokenKind::T),
        b'C' => token(TokenKind::Column),
        b'o' => token(TokenKind::Scope),
        b'P' => token(TokenKind::Pop),
        b'D' => token(TokenKind::Direction),
        b'c' => token(TokenKind::Cardinality),
        b'r' => token(TokenKind::Operator),
        b'B' => token(TokenKind::Barrier),
        b'e' => token(TokenKind::Merge),
        b'y' => token(TokenKind::Dt),
        b'G' => token(TokenKind::GType),
        _ => value(depth),
    }
}

fn arguments(signature: &'static str, depth: u32) -> BoxedStrategy<Vec<Value>> {
    let letters: Vec<u8> = signature.bytes().filter(|letter| *letter != b'-').collect();
    let mut all = Just(Vec::new()).boxed();
    for (index, letter) in letters.iter().enumerate().filter(|(_, letter)| **letter != b'*') {
        let count = if letters.get(index + 1) == Some(&b'*') { 0..3 } else { 1..2 };
        let more = vec(argument(*letter, depth.saturating_sub(1)), count);
        all = (all, more).prop_map(|(before, more)| [before, more].concat()).boxed();
    }
    all
}

/// A step of one of these roles, with arguments of one of its signatures.
fn instruction(roles: u8, depth: u32) -> BoxedStrategy<Instruction> {
    // At the bottom only what takes no traversal, so that this ends.
    let fits =
        move |signature: &&str| depth > 0 || !signature.bytes().any(|letter| b"atpgmM".contains(&letter));
    let methods: Vec<&'static Method> = methods::all()
        .iter()
        .filter(|method| method.roles & roles != 0 && method.signatures.split(' ').any(|one| fits(&one)))
        .collect();
    select(methods)
        .prop_flat_map(move |method| {
            let signatures: Vec<&'static str> = method.signatures.split(' ').filter(fits).collect();
            select(signatures).prop_flat_map(move |signature| arguments(signature, depth)).prop_map(
                move |arguments| Instruction { name: Arc::from(method.name), arguments, position: None },
            )
        })
        .boxed()
}

fn bytecode() -> impl Strategy<Value = Bytecode> {
    let steps = (instruction(START, 2), vec(instruction(STEP, 2), 0..5), vec(instruction(END, 2), 0..2));
    (vec(instruction(SOURCE, 2), 0..2), steps).prop_map(|(sources, (start, steps, end))| {
        let steps = [start].into_iter().chain(steps).chain(end).collect();
        Bytecode { sources, steps }
    })
}

/// Takes positions away, so that what was parsed can be compared with what was not.
fn unplaced(bytecode: &Bytecode) -> String {
    let text = format!("{bytecode:?}");
    let mut plain = String::new();
    for (index, part) in text.split("Some(Position { ").enumerate() {
        plain.push_str(if index == 0 { part } else { "None" });
        plain.push_str(if index == 0 { "" } else { part.split_once("})").unwrap().1 });
    }
    plain
}

const PIECES: [&str; 44] = [
    "g",
    "__",
    ".",
    "..",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    "V",
    "out",
    "has",
    "not",
    "P",
    "TextP",
    "eq",
    "and",
    "within",
    "'a'",
    "\"b",
    "'\\u12",
    "1",
    "-1.5e3f",
    "0x",
    "1..9",
    "null",
    "T.id",
    "Scope",
    "local",
    "new",
    "Vertex",
    "datetime",
    "set",
    "withStrategies",
    "XStrategy",
    "build",
    "//",
    "/*",
    "\n",
    "é",
];

proptest! {
    #[test]
    fn text_of_a_traversal_is_read_back(bytecode in bytecode()) {
        let text = render(&bytecode);
        let parsed = parse(&text, &[], Dialect::Open);
        match parsed {
            Ok(script) => {
                prop_assert_eq!(script.queries.len(), 1);
                prop_assert_eq!(unplaced(&script.queries[0]), format!("{bytecode:?}"), "{}", text);
            }
            Err(error) => prop_assert!(text.len() > crate::limits::SCRIPT_BYTES_MAX, "{}: {}", text, error),
        }
    }

    #[test]
    fn bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = parse_bytes(&bytes, Dialect::Open);
        let _ = parse_bytes(&bytes, Dialect::CosmosStrict);
    }

    #[test]
    fn pieces_never_panic(pieces in vec(select(PIECES.to_vec()), 0..60), start in any::<bool>()) {
        let script = format!("{}{}", if start { "g.V()." } else { "" }, pieces.concat());
        for dialect in [Dialect::Open, Dialect::CosmosStrict] {
            if let Err(error) = parse(&script, &[], dialect) {
                prop_assert!(!error.message.is_empty());
                let place = error.position.unwrap();
                prop_assert!(place.line as usize <= script.matches('\n').count() + 1);
                prop_assert!(place.column as usize <= script.chars().count() + 1);
            }
        }
    }

    #[test]
    fn cut_and_changed_scripts_never_panic(
        bytecode in bytecode(),
        at in any::<prop::sample::Index>(),
        put in ".{0,3}",
    ) {
        let characters: Vec<char> = render(&bytecode).chars().collect();
        let at = at.index(characters.len());
        let cut: String = characters[..at].iter().collect();
        let changed: String = cut.chars().chain(put.chars()).chain(characters[at + 1..].iter().copied()).collect();
        let _ = parse(&cut, &[], Dialect::Open);
        let _ = parse(&changed, &[], Dialect::Open);
        let _ = parse(&changed, &[], Dialect::CosmosStrict);
    }
}
