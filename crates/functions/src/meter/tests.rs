//! Meters count, ask and stop.

use super::*;

#[test]
fn steps_are_counted_and_the_watch_is_asked_now_and_then() {
    let asked = Cell::new(0);
    let watch = |steps| {
        asked.set(asked.get() + 1);
        if steps > 1_000 { Look::Stop(Stop::Steps) } else { Look::GoOn(100) }
    };
    let meter = Meter::new(&watch);
    let mut taken = 0;
    while meter.go_on(1) {
        taken += 1;
    }
    assert!((1_000..=1_200).contains(&taken), "{taken}");
    assert!((1_000..=1_200).contains(&meter.steps()), "{}", meter.steps());
    assert!((10..=12).contains(&asked.get()), "{}", asked.get());
    assert_eq!(meter.stopped(), Some(Stop::Steps));
    // It stays stopped, and the watch is not asked any more.
    let before = asked.get();
    assert!(!meter.go_on(1) && !meter.go_over(1_000));
    assert_eq!(asked.get(), before);
}

#[test]
fn many_steps_at_once_are_all_counted() {
    let meter = Meter::new(&|_| Look::GoOn(10));
    assert!(meter.go_on(1_000_000));
    assert!(meter.go_on(3));
    assert_eq!(meter.steps(), 1_000_003);
}

#[test]
fn values_share_one_room() {
    let meter = Meter::with_bytes(&|_| Look::GoOn(1_000), 1_000);
    let mark = meter.mark();
    assert!(meter.make(600));
    meter.release(mark);
    assert!(meter.make(600) && meter.hold(400));
    meter.give_back(400);
    assert!(meter.hold(400));
    assert!(!meter.make(1));
    assert_eq!(meter.stopped(), Some(Stop::Memory));
    assert!(!meter.go_on(1), "what is stopped for memory is stopped for all");
    assert_eq!(meter.bytes_peak(), 1_001);
}
