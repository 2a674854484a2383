use std::time::Duration;

use crate::{Clock, Env, SimulatedClock, SystemClock, format_guid};

#[test]
fn simulated_time_moves_only_when_told() {
    let (env, clock) = Env::simulated(1);
    let before = env.clock.now_ms();
    assert_eq!(env.clock.now_ms(), before);
    clock.advance(Duration::from_millis(1_500));
    assert_eq!(env.clock.now_ms(), before + 1_500);
    assert_eq!(env.clock.now_seconds(), before.div_euclid(1_000) + 1);
    assert_eq!(env.clock.elapsed(), Duration::from_millis(1_500));
}

#[test]
fn a_time_of_day_that_is_set_is_no_time_that_passes() {
    let (env, clock) = Env::simulated(1);
    clock.advance(Duration::from_secs(5));
    clock.set_ms(1_000);
    assert_eq!((env.clock.now_ms(), env.clock.elapsed()), (1_000, Duration::from_secs(5)));
    clock.advance(Duration::from_secs(1));
    assert_eq!((env.clock.now_ms(), env.clock.elapsed()), (2_000, Duration::from_secs(6)));
}

#[tokio::test]
async fn simulated_sleepers_wake_in_time() {
    let (env, clock) = Env::simulated(1);
    let early = tokio::spawn(env.clock.sleep(Duration::from_secs(1)));
    let late = tokio::spawn(env.clock.sleep(Duration::from_secs(2)));
    clock.advance(Duration::from_secs(1));
    early.await.unwrap();
    assert!(!late.is_finished());
    clock.advance(Duration::from_secs(1));
    late.await.unwrap();
}

#[test]
fn same_seed_gives_the_same_guids() {
    let first: Vec<_> = std::iter::repeat_with(|| Env::simulated(7).0.guid()).take(2).collect();
    assert_eq!(first[0], first[1]);
    let (env, _) = Env::simulated(7);
    assert_ne!(env.guid(), env.guid());
    assert_eq!(&env.guid()[14..15], "4");
}

#[test]
fn guid_text() {
    assert_eq!(format_guid([0xAB; 16]), "abababab-abab-abab-abab-abababababab");
}

#[test]
fn system_entropy_never_repeats_itself() {
    let env = Env::system();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..1_000 {
        assert!(seen.insert(env.guid()));
    }
    let mut long = vec![0; 5_000];
    env.entropy.fill(&mut long);
    assert!(long.iter().filter(|byte| **byte == 0).count() < 100);
}

#[test]
fn ticks_are_those_of_the_milliseconds_and_finer_where_they_are_known() {
    let clock = SystemClock::new();
    let (before, ticks, after) = (clock.now_ms(), clock.now_ticks() / 10_000, clock.now_ms());
    assert!((before..=after).contains(&(ticks as i64)), "{before} {ticks} {after}");
    assert!((0..1_000).any(|_| !clock.now_ticks().is_multiple_of(10_000)));
    let simulated = SimulatedClock::new(17);
    assert_eq!(simulated.now_ticks(), 170_000);
    assert_eq!(SimulatedClock::new(-1).now_ticks(), 0);
}
