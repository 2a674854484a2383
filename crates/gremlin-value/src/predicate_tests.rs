use PredicateKind::*;

use super::*;

fn check(kind: PredicateKind, values: Vec<Value>, value: Value, expected: bool) {
    let predicate = Predicate::new(kind, values);
    assert_eq!(predicate.test(&value), expected, "{predicate:?} of {value:?}");
}

#[test]
fn predicates() {
    let int = Value::Int32;
    let text = |text: &str| Value::text(text);
    let list = |values: Vec<Value>| Value::List(Arc::new(values));
    let cases = [
        (Eq, vec![int(1)], Value::Double(1.0), true),
        (Neq, vec![int(1)], text("1"), true),
        (Lt, vec![int(2)], int(1), true),
        (Lt, vec![text("a")], int(1), false),
        (Gte, vec![text("a")], int(1), false),
        (Inside, vec![int(1), int(3)], int(1), false),
        (Inside, vec![int(1), int(3)], int(2), true),
        (Between, vec![int(1), int(3)], int(1), true),
        (Between, vec![int(1), int(3)], int(3), false),
        (Outside, vec![int(1), int(3)], int(0), true),
        (Outside, vec![int(1), int(3)], int(3), false),
        (Within, vec![], int(1), false),
        (Without, vec![], int(1), true),
        (Within, vec![list(vec![int(1), int(2)])], int(2), true),
        (Within, vec![int(1), int(2)], Value::Int64(2), true),
        (Without, vec![int(1), int(2)], int(3), true),
        (StartingWith, vec![text("ma")], text("marko"), true),
        (StartingWith, vec![text("ma")], int(1), false),
        (NotStartingWith, vec![text("ma")], int(1), false),
        (EndingWith, vec![text("ko")], text("marko"), true),
        (Containing, vec![text("ark")], text("marko"), true),
        (NotContaining, vec![text("ark")], text("josh"), true),
        (Regex, vec![text("^m.*o$")], text("marko"), true),
        (Regex, vec![text("(")], text("marko"), false),
        (NotRegex, vec![text("^m")], text("josh"), true),
        (TypeOf, vec![text("Integer")], int(1), true),
        (TypeOf, vec![text("NUMBER")], Value::Double(1.0), true),
        (Eq, vec![Value::Double(f64::NAN)], Value::Double(f64::NAN), false),
    ];
    for (kind, values, value, expected) in cases {
        check(kind, values, value, expected);
    }
    let lt = |value| Value::Predicate(Arc::new(Predicate::new(Lt, vec![value])));
    check(Not, vec![lt(text("a"))], int(1), true);
    check(And, vec![lt(int(3)), lt(int(2))], int(2), false);
    check(Or, vec![lt(int(3)), lt(int(2))], int(2), true);
}
