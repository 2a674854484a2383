use super::*;

/// Asks so often in each of some seconds, evenly; returns how many were taken, and what they stand for.
fn ask(rate: &Rate, seconds: std::ops::Range<i64>, a_second: i64) -> (u64, u64) {
    let (mut taken, mut stands_for) = (0, 0);
    for second in seconds {
        for place in 0..a_second {
            if let Some(weight) = rate.weigh(second * 1_000 + place * 1_000 / a_second) {
                taken += 1;
                stands_for += weight.count();
            }
        }
    }
    (taken, stands_for)
}

#[test]
fn at_low_rates_every_request_is_written_down() {
    let rate = Rate::new();
    assert_eq!(ask(&rate, 0..20, 900), (18_000, 18_000));
}

#[test]
fn at_high_rates_few_are_and_stand_for_all() {
    for (a_second, taken_max) in [(3_000, 1_200), (15_000, 1_950), (50_000, 2_200), (400_000, 3_600)] {
        let rate = Rate::new();
        let (taken, stands_for) = ask(&rate, 100..110, a_second);
        assert!(taken <= 10 * taken_max, "{a_second}: {taken}");
        let all = 10 * a_second as u64;
        assert!(stands_for.abs_diff(all) <= all / 50, "{a_second}: {stands_for}");
    }
}

#[test]
fn requests_that_come_in_turns_are_taken_in_turns() {
    let rate = Rate::new();
    let mut of_turn = [0_u64; 4];
    for second in 0..20_i64 {
        for place in 0..20_000_usize {
            if let Some(weight) = rate.weigh(second * 1_000 + place as i64 / 20) {
                of_turn[place % 4] += weight.count();
            }
        }
    }
    assert!(of_turn.iter().all(|count| (90_000..110_000).contains(count)), "{of_turn:?}");
}

#[test]
fn a_clock_that_goes_back_stops_nothing() {
    let rate = Rate::new();
    ask(&rate, 1_000..1_001, 5_000);
    // A little: it is the running second still, which is full.
    assert!(ask(&rate, 998..999, 1_000).0 < 200);
    // Far: it is another.
    assert_eq!(ask(&rate, 10..11, 900), (900, 900));
    assert_eq!(ask(&rate, -10..-9, 900), (900, 900));
}

#[test]
fn threads_are_counted_together() {
    let rate = Rate::new();
    let taken: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&rate, 7..8, 10_000).0)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!((1_000..6_000).contains(&taken), "{taken}");
}

#[test]
fn a_gate_lets_a_seconds_worth_through_at_once_and_then_one_each_step() {
    let gate = Gate::new(20);
    let opened = |now_ms: i64| (0..100).filter(|_| gate.opens(now_ms)).count();
    assert_eq!(opened(5_000), 20);
    assert_eq!(opened(5_049), 0);
    assert_eq!(opened(5_050), 1);
    assert_eq!(opened(5_250), 4);
    assert_eq!(opened(6_300), 20);
    assert_eq!(opened(60_000), 20);
    // A little back: it waits. Far back: it begins again.
    assert_eq!(opened(59_000), 0);
    assert_eq!(opened(1_000), 20);
}
