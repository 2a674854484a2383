//! Tests of the aggregates.

use armilla_value::json;
use proptest::prelude::*;

use super::*;
use crate::limits::COLLECTED_BYTES_MAX;
use crate::testing::{any_value, json_value, parse_list, show, with_nodes};

fn fold(aggregate: Aggregate, data: &[Datum<'_>]) -> Accumulator {
    let mut accumulator = Accumulator::new(aggregate);
    for datum in data {
        accumulator.add(datum).unwrap();
    }
    accumulator
}

#[test]
fn names() {
    for &aggregate in Aggregate::ALL {
        assert_eq!(Aggregate::find(aggregate.name()), Some(aggregate));
        assert_eq!(Aggregate::find(&aggregate.name().to_ascii_lowercase()), Some(aggregate));
        assert_eq!(crate::Function::find(aggregate.name()), None);
    }
    assert_eq!(Aggregate::find("MEDIAN"), None);
}

#[test]
fn table() {
    // COUNT, SUM, AVG, MIN, MAX, COUNTIF, MAKELIST, MAKESET.
    let cases = [
        ("", ["0", "0", "undefined", "undefined", "undefined", "0", "[]", "[]"]),
        ("undefined, undefined", ["0", "0", "undefined", "undefined", "undefined", "0", "[]", "[]"]),
        ("1, 2, 4.5", ["3", "7.5", "2.5", "1", "4.5", "0", "[1,2,4.5]", "[1,2,4.5]"]),
        ("1, undefined, 3", ["2", "4", "2", "1", "3", "0", "[1,3]", "[1,3]"]),
        ("1, '2'", ["2", "undefined", "undefined", "1", "\"2\"", "0", "[1,\"2\"]", "[1,\"2\"]"]),
        ("1, null", ["2", "undefined", "undefined", "null", "1", "0", "[1,null]", "[1,null]"]),
        (
            "true, false, true",
            ["3", "undefined", "undefined", "false", "true", "2", "[true,false,true]", "[true,false]"],
        ),
        (
            "'b', 'a', 'B'",
            [
                "3",
                "undefined",
                "undefined",
                "\"B\"",
                "\"b\"",
                "0",
                "[\"b\",\"a\",\"B\"]",
                "[\"b\",\"a\",\"B\"]",
            ],
        ),
        (
            "1, [2], 3",
            ["3", "undefined", "undefined", "undefined", "undefined", "0", "[1,[2],3]", "[1,[2],3]"],
        ),
        ("{}, 3", ["2", "undefined", "undefined", "undefined", "undefined", "0", "[{},3]", "[{},3]"]),
        (
            "null, true, 5, 'a'",
            [
                "4",
                "undefined",
                "undefined",
                "null",
                "\"a\"",
                "1",
                "[null,true,5,\"a\"]",
                "[null,true,5,\"a\"]",
            ],
        ),
        (
            "1, 1.0, {'a': 1, 'b': 2}, {'b': 2, 'a': 1}",
            [
                "4",
                "undefined",
                "undefined",
                "undefined",
                "undefined",
                "0",
                "[1,1,{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]",
                "[1,{\"a\":1,\"b\":2}]",
            ],
        ),
        (
            "9223372036854775807, 9223372036854775806",
            [
                "2",
                "18446744073709552000",
                "9223372036854776000",
                "9223372036854775806",
                "9223372036854775807",
                "0",
                "[9223372036854775807,9223372036854775806]",
                "[9223372036854775807,9223372036854775806]",
            ],
        ),
    ];
    for (rows, expected) in cases {
        let values = parse_list(rows);
        let owned: Vec<Datum<'_>> = values.iter().cloned().map(|v| v.map(Datum::from_owned).into()).collect();
        for (&aggregate, expected) in Aggregate::ALL.iter().zip(expected) {
            assert_eq!(show(&fold(aggregate, &owned).result()), expected, "{aggregate:?} of {rows}");
            with_nodes(&values, |nodes| {
                assert_eq!(
                    fold(aggregate, nodes).result().to_value(),
                    fold(aggregate, &owned).result().to_value()
                );
            });
        }
    }
}

#[test]
fn collecting_has_a_budget() {
    let text = Datum::text("0123456789");
    let each = weight_bytes(&text);
    for aggregate in [Aggregate::MakeList, Aggregate::MakeSet] {
        let mut accumulator = Accumulator::with_budget(aggregate, 2 * each);
        accumulator.add(&text).unwrap();
        accumulator.add(&Datum::text("0123456788")).unwrap();
        let state = accumulator.state_to_value();
        assert_eq!(accumulator.add(&Datum::text("0123456787")), Err(AggregateError::TooLarge));
        assert!(Accumulator::from_value(aggregate, &state, 2 * each).is_ok());
        assert!(matches!(
            Accumulator::from_value(aggregate, &state, 2 * each - 1),
            Err(AggregateError::TooLarge)
        ));
    }
    // What a set holds already takes no room.
    let mut set = Accumulator::with_budget(Aggregate::MakeSet, each);
    for _ in 0..3 {
        set.add(&text).unwrap();
    }
    // The others keep nothing.
    let mut count = Accumulator::with_budget(Aggregate::Count, 0);
    count.add(&text).unwrap();
    count.add_count(4);
    assert_eq!(show(&count.result()), "5");
}

#[test]
fn bad_states_are_refused() {
    let states =
        ["null", "{}", "[-1]", "['a']", "[1,2]", "[1,2,3]", "[true,1]", "[false,[1]]", "['a',1,true]", "[]"];
    for state in states {
        let state = json::parse(state.replace('\'', "\"").as_bytes()).unwrap();
        for &aggregate in Aggregate::ALL {
            let collects = matches!(aggregate, Aggregate::MakeList | Aggregate::MakeSet);
            let read = Accumulator::from_value(aggregate, &state, COLLECTED_BYTES_MAX);
            assert_eq!(read.is_ok(), collects && state.as_array().is_some(), "{aggregate:?} {state:?}");
        }
    }
    let mut count = Accumulator::new(Aggregate::Count);
    assert_eq!(count.merge(&Accumulator::new(Aggregate::CountIf)), Err(AggregateError::BadState));
}

proptest! {
    #[test]
    fn states_survive_being_written(values in proptest::collection::vec(any_value(), 0..6)) {
        let data: Vec<_> = values.iter().map(Datum::from_value).collect();
        for &aggregate in Aggregate::ALL {
            let accumulator = fold(aggregate, &data);
            let text = json::to_string(&accumulator.state_to_value());
            let state = json::parse_extended(text.as_bytes()).unwrap();
            let read = Accumulator::from_value(aggregate, &state, COLLECTED_BYTES_MAX).unwrap();
            prop_assert!(crate::operators::same(&read.result(), &accumulator.result()), "{:?}", aggregate);
        }
    }

    #[test]
    fn merging_halves_is_the_whole(values in proptest::collection::vec(json_value(), 0..8), at in 0usize..8) {
        let data: Vec<_> = values.iter().map(Datum::from_value).collect();
        let (left, right) = data.split_at(at.min(data.len()));
        for &aggregate in Aggregate::ALL {
            let mut merged = fold(aggregate, left);
            merged.merge(&fold(aggregate, right)).unwrap();
            let (merged, whole) = (merged.result(), fold(aggregate, &data).result());
            match (merged.as_f64(), whole.as_f64()) {
                // Addition rounds, so its grouping shows in the last digits.
                (Some(a), Some(b)) if a.is_finite() && b.is_finite() => {
                    let scale = data.iter().filter_map(Datum::as_f64).fold(0.0, |sum: f64, n| sum + n.abs());
                    prop_assert!((a - b).abs() <= scale * 1e-14, "{a} {b}");
                }
                // Nor need infinity be reached at all in another grouping.
                (Some(_), Some(_)) => {}
                _ => prop_assert!(crate::operators::same(&merged, &whole), "{:?}", aggregate),
            }
        }
    }
}
