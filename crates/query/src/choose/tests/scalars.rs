//! Which conditions on the scalars that BSON adds are served by an index, in queries that came without a text.

use armilla_functions::operators::Comparison;
use armilla_functions::{Aggregate, Function};
use armilla_value::{Object, Value};
use expect_test::{Expect, expect};

use super::{EVERYTHING, source};
use crate::bound::{BoundQuery, BoundSource, Grouping, OrderKey, Projection, SourceKind, Window};
use crate::choose::choose;
use crate::compile::CompiledQuery;
use crate::expr::{Expr, PathStep, SubqueryKind};

fn people() -> Vec<Value> {
    let person = |number: i64| {
        let at = Value::Date(number % 100);
        let at = if number % 2 == 0 { at } else { Value::Array(vec![at, Value::Null]) };
        let part = Object::from([("n", Value::ObjectId([number as u8; 12]))]);
        Value::Object(Object::from([
            ("id", Value::from(format!("{number}"))),
            ("city", Value::from("Oslo")),
            ("at", at),
            ("parts", Value::Array(vec![part.into()])),
            ("key", Value::ObjectId([number as u8; 12])),
        ]))
    };
    (0..1000).map(person).collect()
}

fn path(name: &str) -> Expr {
    Expr::Path { slot: 0, steps: vec![PathStep::Name(name.to_owned())] }
}

fn date(ms: i64) -> Expr {
    Expr::constant(Value::Date(ms))
}

fn compare(operator: Comparison, value: Expr, constant: Expr) -> Expr {
    Expr::Compare(operator, Box::new(value), Box::new(constant))
}

fn exists(array: &str, filter: Expr) -> Expr {
    let query = BoundQuery {
        sources: vec![BoundSource { slot: 3, kind: SourceKind::Elements(path(array)) }],
        filter: Some(filter),
        projection: Projection::Value(Expr::Slot(3)),
        ..BoundQuery::items()
    };
    Expr::Subquery(SubqueryKind::Exists, Box::new(query))
}

#[track_caller]
fn check(queries: &[BoundQuery], expect: Expect) {
    let source = source(people(), EVERYTHING);
    let mut text = String::new();
    for query in queries {
        let compiled = CompiledQuery::from_bound(query.clone());
        text.push_str(&compiled.plan.filter.iter().map(|filter| format!("{filter}\n")).collect::<String>());
        let plan = choose(&compiled.plan, &source).unwrap().to_string();
        plan.lines().for_each(|line| text.push_str(&format!("    {line}\n")));
    }
    expect.assert_eq(&text);
}

fn filtered(filter: Expr) -> BoundQuery {
    BoundQuery { filter: Some(filter), ..BoundQuery::items() }
}

fn counted(filter: Expr) -> BoundQuery {
    let aggregates = vec![(Aggregate::Count, Expr::constant(1.into()))];
    BoundQuery {
        grouping: Some(Grouping { keys: Vec::new(), aggregates }),
        projection: Projection::Value(Expr::Aggregate(0)),
        ..filtered(filter)
    }
}

/// A document database means by a field that equals a value one that holds it as an element, too.
#[test]
fn fields_that_may_be_arrays() {
    let equal = || {
        let contains = Expr::Call(Function::ArrayContains, vec![path("at"), date(5)]);
        Expr::Or(vec![compare(Comparison::Equal, path("at"), date(5)), contains])
    };
    let listed = || {
        let contains = Expr::Call(Function::ArrayContainsAny, vec![path("at"), date(5), date(7)]);
        Expr::Or(vec![Expr::In(Box::new(path("at")), vec![date(5), date(7)]), contains])
    };
    let above = || {
        Expr::Or(vec![
            compare(Comparison::Greater, path("at"), date(96)),
            exists("at", compare(Comparison::Greater, Expr::Slot(3), date(96))),
        ])
    };
    let member = || {
        let member = Expr::Path { slot: 3, steps: vec![PathStep::Name("n".to_owned())] };
        exists("parts", compare(Comparison::Equal, member, Expr::constant(Value::ObjectId([9; 12]))))
    };
    check(
        &[
            filtered(compare(Comparison::Equal, path("key"), Expr::constant(Value::ObjectId([9; 12])))),
            filtered(equal()),
            filtered(listed()),
            filtered(above()),
            filtered(member()),
            filtered(Expr::And(vec![equal(), member()])),
            counted(equal()),
            counted(listed()),
            counted(above()),
            counted(member()),
        ],
        expect![[r#"
            c.key = {"$oid":"090909090909090909090909"}
                IndexSeek /key/? = {"$oid":"090909090909090909090909"} (4 entries)
            (c.at = {"$date":{"$numberLong":"5"}}) OR ARRAY_CONTAINS(c.at, {"$date":{"$numberLong":"5"}})
                Or(IndexSeek /at/? = {"$date":{"$numberLong":"5"}} (0 entries), IndexSeek /at/[]/? = {"$date":{"$numberLong":"5"}} (10 entries))
            (c.at IN ({"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}})) OR ARRAY_CONTAINS_ANY(c.at, {"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}})
                Or(IndexSeek /at/? IN ({"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}}) (0 entries), IndexSeek /at/[]/? IN ({"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}}) (20 entries))
            (c.at > {"$date":{"$numberLong":"96"}}) OR EXISTS(SELECT VALUE $3 FROM $3 IN c.at WHERE $3 > {"$date":{"$numberLong":"96"}})
                Or(IndexRange /at/? >= {"$date":{"$numberLong":"97"}} (10 entries), IndexRange /at/[]/? >= {"$date":{"$numberLong":"97"}} (20 entries))
            EXISTS(SELECT VALUE $3 FROM $3 IN c.parts WHERE $3.n = {"$oid":"090909090909090909090909"})
                IndexSeek /parts/[]/n/? = {"$oid":"090909090909090909090909"} (4 entries)
            (c.at = {"$date":{"$numberLong":"5"}}) OR ARRAY_CONTAINS(c.at, {"$date":{"$numberLong":"5"}})
            EXISTS(SELECT VALUE $3 FROM $3 IN c.parts WHERE $3.n = {"$oid":"090909090909090909090909"})
                IndexSeek /parts/[]/n/? = {"$oid":"090909090909090909090909"} (4 entries)
                Filter (c.at = {"$date":{"$numberLong":"5"}}) OR ARRAY_CONTAINS(c.at, {"$date":{"$numberLong":"5"}})
            (c.at = {"$date":{"$numberLong":"5"}}) OR ARRAY_CONTAINS(c.at, {"$date":{"$numberLong":"5"}})
                Count Or(IndexSeek /at/? = {"$date":{"$numberLong":"5"}} (0 entries), IndexSeek /at/[]/? = {"$date":{"$numberLong":"5"}} (10 entries))
            (c.at IN ({"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}})) OR ARRAY_CONTAINS_ANY(c.at, {"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}})
                Count Or(IndexSeek /at/? IN ({"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}}) (0 entries), IndexSeek /at/[]/? IN ({"$date":{"$numberLong":"5"}}, {"$date":{"$numberLong":"7"}}) (20 entries))
            (c.at > {"$date":{"$numberLong":"96"}}) OR EXISTS(SELECT VALUE $3 FROM $3 IN c.at WHERE $3 > {"$date":{"$numberLong":"96"}})
                Count Or(IndexRange /at/? >= {"$date":{"$numberLong":"97"}} (10 entries), IndexRange /at/[]/? >= {"$date":{"$numberLong":"97"}} (20 entries))
            EXISTS(SELECT VALUE $3 FROM $3 IN c.parts WHERE $3.n = {"$oid":"090909090909090909090909"})
                Count IndexSeek /parts/[]/n/? = {"$oid":"090909090909090909090909"}
        "#]],
    );
}

#[test]
fn orders() {
    let ordered = |filter: Option<Expr>, limit: Option<u64>| BoundQuery {
        filter,
        order: vec![OrderKey { expr: path("key"), descending: true }],
        window: Window { offset: 0, limit },
        ..BoundQuery::items()
    };
    let below = compare(Comparison::Less, path("key"), Expr::constant(Value::ObjectId([9; 12])));
    let equal = compare(Comparison::Equal, path("at"), date(5));
    check(
        &[
            ordered(None, None),
            ordered(None, Some(10)),
            ordered(Some(below.clone()), Some(10)),
            ordered(Some(below), None),
            ordered(Some(equal), Some(10)),
        ],
        expect![[r#"
                Walk /key/? DESC
                Walk /key/? DESC
            c.key < {"$oid":"090909090909090909090909"}
                Walk /key/? DESC of < {"$oid":"090909090909090909090909"}
            c.key < {"$oid":"090909090909090909090909"}
                Walk /key/? DESC of < {"$oid":"090909090909090909090909"}
            c.at = {"$date":{"$numberLong":"5"}}
                Sort
                  IndexSeek /at/? = {"$date":{"$numberLong":"5"}} (0 entries)
        "#]],
    );
}
