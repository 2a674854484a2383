//! Tests of the functions: each row is a call and what it gives.
//!
//! Every call is made with arguments in memory, owned and borrowed, and with arguments inside a stored item;
//! the results have to be the same.

use std::cell::Cell;

use crate::operators::same;
use crate::testing::{datum, parse_list, show, with_nodes};
use crate::{CallContext, Datum, Function, Meter, PatternCache, call};

mod arrays;
mod dates;
mod math;
mod shapes;
mod strings;
mod types;

/// 2024-02-29T12:34:56.7891234Z
const NOW_TICKS: i64 = 17_092_100_967_891_234;

fn with_context<T>(geometry: bool, use_it: impl FnOnce(&CallContext<'_>) -> T) -> T {
    let patterns = PatternCache::new();
    let current = Cell::new(NOW_TICKS);
    let current_ticks = || {
        current.set(current.get() + 10_000_000);
        current.get()
    };
    let context = CallContext {
        now_ticks: NOW_TICKS,
        current_ticks: &current_ticks,
        random: &|| 0.25,
        patterns: &patterns,
        geometry,
        meter: &Meter::unlimited(),
    };
    use_it(&context)
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    for (text, expected) in table {
        check_one(text, expected, false);
    }
}

#[track_caller]
fn check_one(text: &str, expected: &str, geometry: bool) {
    let (name, rest) = text.split_once('(').expect("a call");
    let function = Function::find(name).unwrap_or_else(|| panic!("{name} is a function"));
    let values = parse_list(rest.strip_suffix(')').expect("a closing bracket"));
    assert!(function.arity().admits(values.len()), "{text}: takes {} arguments", function.arity());
    let owned: Vec<Datum<'_>> =
        values.iter().cloned().map(|value| value.map(Datum::from_owned).into()).collect();
    let borrowed: Vec<Datum<'_>> = owned.iter().map(Datum::borrowed).collect();
    let run =
        |args: &[Datum<'_>]| with_context(geometry, |context| call(function, args, context)).into_static();
    let result = run(&owned);
    assert_eq!(show(&result), expected, "{text}");
    assert!(same(&result, &run(&borrowed)), "{text} with borrowed arguments");
    assert!(same(&result, &with_nodes(&values, run)), "{text} with stored arguments");
}

/// Checks that each argument in turn makes the result undefined when it is any of the other types.
#[track_caller]
fn check_wrong_types(text: &str, right_types: &[&str]) {
    let others = ["undefined", "null", "true", "1", "'s'", "[1]", "{'a':1}"];
    let (name, rest) = text.split_once('(').expect("a call");
    let values = parse_list(rest.strip_suffix(')').expect("a closing bracket"));
    let function = Function::find(name).expect("a function");
    let args: Vec<Datum<'_>> = values.into_iter().map(|value| value.map(Datum::from_owned).into()).collect();
    assert_eq!(args.len(), right_types.len());
    with_context(false, |context| {
        assert!(call(function, &args, context).is_defined(), "{text}");
        for (index, right_type) in right_types.iter().enumerate() {
            for other in others.iter().filter(|other| *other != right_type) {
                let mut args = args.clone();
                args[index] = datum(other);
                let result = call(function, &args, context);
                assert!(result.is_undefined(), "{text} with {other} at {index} is {}", show(&result));
            }
        }
    });
}

#[test]
fn nothing_panics_whatever_the_arguments_are() {
    let data: Vec<Datum<'static>> = [
        "undefined",
        "null",
        "true",
        "0",
        "-1",
        "1.5",
        "1e300",
        "9223372036854775807",
        "-9223372036854775808",
        "NaN",
        "Infinity",
        "''",
        "'a'",
        "'é😀'",
        "'year'",
        "'2020-01-01'",
        "'[('",
        "[]",
        "[1,'a',null]",
        "{}",
        "{'a':1}",
        "{'type':'Point','coordinates':[1,2]}",
        "{'$minKey':1}",
        "{'$numberDecimal':'1'}",
    ]
    .iter()
    .map(|text| datum(text))
    .collect();
    with_context(false, |context| {
        for &function in Function::ALL {
            // Also with fewer arguments than it takes, which the caller should not let through.
            call(function, &[], context);
            for first in &data {
                call(function, std::slice::from_ref(first), context);
                for second in &data {
                    call(function, &[first.clone(), second.clone()], context);
                    for third in data.iter().step_by(3) {
                        call(function, &[first.clone(), second.clone(), third.clone()], context);
                    }
                }
            }
        }
    });
}

#[test]
fn functions_without_a_place_here_are_undefined() {
    for &function in Function::ALL {
        if function == Function::DocumentId || !function.is_supported() {
            let args = [datum("{}"), datum("'a'")];
            with_context(false, |context| assert!(call(function, &args, context).is_undefined()));
        }
    }
}
