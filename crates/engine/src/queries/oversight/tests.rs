//! Looking whether a query may go on.

use armilla_env::SimulatedClock;

use super::*;

fn patience(seconds: u64) -> Patience {
    Patience { end: Duration::from_secs(seconds), cancellation: Cancellation::default() }
}

#[test]
fn the_longer_steps_take_the_sooner_it_looks_again() {
    let (clock, patience) = (SimulatedClock::new(0), patience(60));
    let oversight = Oversight::new(&clock, &patience, None);
    let Look::GoOn(first) = oversight.look(1) else { panic!("there is time") };
    for _ in 0..10 {
        assert!(matches!(oversight.look(2), Look::GoOn(_)));
    }
    assert_eq!(oversight.look(3), Look::GoOn(STEPS_MAX), "steps that take no time");
    let mut last = STEPS_MAX;
    for _ in 0..10 {
        clock.advance(Duration::from_millis(5));
        let Look::GoOn(steps) = oversight.look(4) else { panic!("there is time") };
        assert!(steps < last || steps == 1);
        last = steps;
    }
    assert_eq!(last, 1, "steps of milliseconds are looked at one by one, {first} at first");
    clock.advance(Duration::from_micros(500));
    assert_eq!(oversight.look(5), Look::GoOn(1));
    assert_eq!(oversight.steps(), 5);
}

#[test]
fn time_and_cancelling_stop_it() {
    let (clock, patience) = (SimulatedClock::new(0), patience(60));
    let oversight = Oversight::new(&clock, &patience, None);
    clock.advance(Duration::from_millis(59_999));
    assert!(matches!(oversight.look(1), Look::GoOn(_)) && patience.check(clock.elapsed()).is_ok());
    clock.advance(Duration::from_millis(1));
    assert_eq!(oversight.look(2), Look::Stop(Stop::Time));
    assert!(patience.check(clock.elapsed()).is_err());

    let patience = Patience { end: Duration::from_secs(120), cancellation: Cancellation::default() };
    let oversight = Oversight::new(&clock, &patience, None);
    let waiting = patience.cancellation.on_drop();
    assert!(matches!(oversight.look(1), Look::GoOn(_)));
    drop(waiting);
    assert_eq!(oversight.look(2), Look::Stop(Stop::Cancelled));
}
