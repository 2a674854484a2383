//! A stable sort that may fail on the way, and that takes any answer of a comparison.
//!
//! The order of numbers is not quite total where digits are lost (a decimal beside a double), which the sort of the
//! standard library may answer with a panic; and a long sort has to end when its time is up.

use std::cmp::Ordering;

/// Sorts values by a comparison; its first error ends the sort.
pub fn sort_by<T, E>(
    values: Vec<T>,
    compare: &mut dyn FnMut(&T, &T) -> Result<Ordering, E>,
) -> Result<Vec<T>, E> {
    let mut runs: Vec<Vec<T>> = Vec::new();
    // Values that are in order already are one run, so that sorting them again takes one pass.
    for value in values {
        match runs.last_mut() {
            Some(run) if in_order(run.last(), &value, compare)? => run.push(value),
            _ => runs.push(vec![value]),
        }
    }
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(left) = pairs.next() {
            merged.push(match pairs.next() {
                Some(right) => merge(left, right, compare)?,
                None => left,
            });
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}

fn in_order<T, E>(
    last: Option<&T>,
    value: &T,
    compare: &mut dyn FnMut(&T, &T) -> Result<Ordering, E>,
) -> Result<bool, E> {
    match last {
        Some(last) => Ok(compare(last, value)? != Ordering::Greater),
        None => Ok(true),
    }
}

fn merge<T, E>(
    left: Vec<T>,
    right: Vec<T>,
    compare: &mut dyn FnMut(&T, &T) -> Result<Ordering, E>,
) -> Result<Vec<T>, E> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        let next = match compare(first, second)? {
            Ordering::Greater => right.next(),
            _ => left.next(),
        };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::sort_by;

    #[test]
    fn errors_and_answers_without_sense_end_it() {
        let mut count = 0;
        let result = sort_by((0..1000).rev().collect(), &mut |left: &i32, right: &i32| {
            count += 1;
            if count > 100 { Err("late") } else { Ok(left.cmp(right)) }
        });
        assert_eq!(result, Err("late"));
        let result = sort_by::<i32, ()>((0..1000).collect(), &mut |_, _| Ok(Ordering::Greater));
        assert_eq!(result.map(|values| values.len()), Ok(1000));
    }

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(values in prop::collection::vec((0..9i32, any::<u8>()), 0..80)) {
            let sorted = sort_by::<_, ()>(values.clone(), &mut |left, right| Ok(left.0.cmp(&right.0)));
            let mut expected = values;
            expected.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(sorted, Ok(expected));
        }
    }
}
