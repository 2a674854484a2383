//! Places of short and long queries, on simulated time.

use armilla_env::SimulatedClock;

use super::*;

const NEVER: &dyn Fn() -> bool = &|| false;

#[tokio::test]
async fn a_newcomer_becomes_long_and_makes_room_for_the_next() {
    let (lanes, clock) = (QueryLanes::new(2), SimulatedClock::new(0));
    let turn = lanes.newcomer().await;
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    assert_eq!((lanes.newcomers.available_permits(), lanes.computing()), (QUERIES_AT_ONCE_MAX - 1, 1));
    clock.advance(SHORT_QUERY_TIME - Duration::from_nanos(1));
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    assert_eq!(lanes.long.available_permits(), LONG_QUERIES_AT_ONCE_MAX);
    clock.advance(Duration::from_nanos(1));
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    assert_eq!(lanes.newcomers.available_permits(), QUERIES_AT_ONCE_MAX);
    assert_eq!((lanes.long.available_permits(), lanes.computing()), (LONG_QUERIES_AT_ONCE_MAX - 1, 1));
    drop(turn);
    assert_eq!((lanes.long.available_permits(), lanes.computing()), (LONG_QUERIES_AT_ONCE_MAX, 0));
}

#[tokio::test]
async fn without_a_place_among_the_long_ones_it_is_begun_again() {
    let (lanes, clock) = (QueryLanes::new(2), SimulatedClock::new(0));
    let mut long = Vec::new();
    for _ in 0..LONG_QUERIES_AT_ONCE_MAX {
        long.push(lanes.long().await);
    }
    let turn = lanes.newcomer().await;
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    clock.advance(SHORT_QUERY_TIME);
    assert_eq!(turn.look(&clock, NEVER), Err(Stop::Postponed));
    assert!(turn.is_postponed());
    assert_eq!(lanes.newcomers.available_permits(), QUERIES_AT_ONCE_MAX, "its place is free at once");
    long.pop();
    let turn = lanes.long().await;
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    assert!(!turn.is_postponed());
}

#[tokio::test]
async fn long_ones_take_turns() {
    let (lanes, clock) = (QueryLanes::new(1), Arc::new(SimulatedClock::new(0)));
    let first = lanes.long().await;
    assert_eq!(first.look(&*clock, NEVER), Ok(()));
    // Alone, it goes on for as long as it likes.
    clock.advance(10 * LONG_QUERY_SLICE);
    assert_eq!(first.look(&*clock, NEVER), Ok(()));
    let second = lanes.long().await;
    let other = {
        let clock = clock.clone();
        std::thread::spawn(move || {
            assert_eq!(second.look(&*clock, NEVER), Ok(()));
            // It has its slice, and then it is over.
        })
    };
    while !first.turnstile.is_waited_for() {
        std::thread::yield_now();
    }
    // The first has used up its slice: it lets the second in, and waits until that is done.
    assert_eq!(first.look(&*clock, NEVER), Ok(()));
    other.join().unwrap();
    assert_eq!(lanes.computing(), 1);
}

#[tokio::test]
async fn who_waits_in_vain_is_let_go() {
    let (lanes, clock) = (QueryLanes::new(1), SimulatedClock::new(0));
    let first = lanes.long().await;
    assert_eq!(first.look(&clock, NEVER), Ok(()));
    let second = lanes.long().await;
    assert_eq!(second.look(&clock, &|| true), Err(Stop::Cancelled));
    assert!(!first.turnstile.is_waited_for());
    drop(second);
    assert_eq!(lanes.computing(), 1);
}

#[tokio::test]
async fn a_trial_ends_in_time_or_after_its_looks_and_is_not_tried_again_at_once() {
    let (lanes, clock) = (QueryLanes::new(2), SimulatedClock::new(0));
    let turn = lanes.trial(1).await;
    assert!(turn.is_trial());
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    clock.advance(TRIAL_TIME - Duration::from_nanos(1));
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    clock.advance(Duration::from_nanos(1));
    assert_eq!(turn.look(&clock, NEVER), Err(Stop::Postponed));
    assert_eq!((turn.is_tried(), turn.is_postponed()), (true, false));
    assert_eq!(lanes.newcomers.available_permits(), QUERIES_AT_ONCE_MAX, "its place is free at once");
    // The clock stands still, and it ends all the same.
    let turn = lanes.trial(1).await;
    for _ in 0..TRIAL_LOOKS_MAX {
        assert_eq!(turn.look(&clock, NEVER), Ok(()));
    }
    assert_eq!(turn.look(&clock, NEVER), Err(Stop::Postponed));
    lanes.trial_failed(1);
    let turn = lanes.trial(1).await;
    assert!(!turn.is_trial());
    clock.advance(TRIAL_TIME);
    assert_eq!(turn.look(&clock, NEVER), Ok(()));
    assert!(lanes.trial(2).await.is_trial(), "others are tried");
    lanes.trial_passed(1);
    assert!(lanes.trial(1).await.is_trial(), "it was done in time since");
}
