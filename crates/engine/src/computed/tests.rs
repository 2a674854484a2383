//! What an expression about one item may take. One that takes more, in the condition of a patch: `tests/it/queries.rs`;
//! computed properties have no subqueries, and take few.

use super::*;

#[test]
fn the_last_step_is_taken_and_the_next_is_not() {
    let watch = watch();
    let meter = Meter::new(&watch);
    assert!(meter.go_on(1) && meter.go_on(ITEM_STEPS_MAX - 1));
    assert_eq!((meter.steps(), meter.stopped()), (ITEM_STEPS_MAX, None));
    assert!(!meter.go_on(1));
    assert_eq!(meter.stopped(), Some(Stop::Steps));
}
