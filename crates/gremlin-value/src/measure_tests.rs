use std::sync::Arc;

use super::{Beyond, Bounds};
use crate::{Map, Path, Tree, TreeBranch, Value};

const BOUNDS: Bounds = Bounds { depth_max: 5, weight_max: 100 };

fn list(values: Vec<Value>) -> Value {
    Value::List(Arc::new(values))
}

fn nested(levels: usize, make: &dyn Fn(Value) -> Value) -> Value {
    (1..levels).fold(Value::Int32(1), |value, _| make(value))
}

#[test]
fn depth_is_bounded_in_every_kind_of_collection() {
    type Make = Box<dyn Fn(Value) -> Value>;
    let makes: Vec<Make> = vec![
        Box::new(|value| list(vec![value])),
        Box::new(|value| Value::Set(Arc::new(vec![value]))),
        Box::new(|value| Value::BulkSet(Arc::new(vec![(value, u64::MAX)]))),
        Box::new(|value| Value::Map(Arc::new(Map { entries: vec![(value, Value::Null)] }))),
        Box::new(|value| Value::Map(Arc::new(Map { entries: vec![(Value::Null, value)] }))),
        Box::new(|value| Value::Entry(Arc::new((value, Value::Null)))),
        Box::new(|value| Value::Path(Arc::new(Path { labels: vec![Vec::new()], objects: vec![value] }))),
        Box::new(|value| {
            let branches = vec![TreeBranch { key: value, below: Tree::default() }];
            Value::Tree(Arc::new(Tree { branches }))
        }),
    ];
    for make in makes {
        assert!(nested(5, &make).weigh(BOUNDS).is_ok());
        assert_eq!(nested(6, &make).weigh(BOUNDS), Err(Beyond::Depth));
    }
    let mut tree = Tree::default();
    for _ in 0..9 {
        tree = Tree { branches: vec![TreeBranch { key: Value::Null, below: tree }] };
    }
    assert_eq!(Value::Tree(Arc::new(tree)).weigh(BOUNDS), Err(Beyond::Depth));
}

#[test]
fn parts_weigh_as_often_as_they_occur() {
    let bounds = Bounds { depth_max: 100, weight_max: 1_000_000 };
    assert_eq!(Value::Int32(1).weigh(bounds), Ok(1));
    assert_eq!(list(vec![Value::Int32(1), Value::Null]).weigh(bounds), Ok(3));
    assert_eq!(Value::text("a".repeat(64)).weigh(bounds), Ok(3));
    let shared = nested(18, &|value| list(vec![value.clone(), value]));
    assert_eq!(shared.weigh(bounds), Ok((1 << 18) - 1));
    // This has 2^89 parts; the walk ends at the bound.
    let shared = nested(90, &|value| list(vec![value.clone(), value]));
    assert_eq!(shared.weigh(bounds), Err(Beyond::Weight));
}
