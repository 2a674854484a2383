use proptest::prelude::*;

use super::*;

const PLAIN: Policy = Policy { enforced: true, burst: false };
const BURST: Policy = Policy { enforced: true, burst: true };

fn units(whole: u64) -> RequestUnits {
    RequestUnits::from_hundredths(whole * 100)
}

fn budget(rate: u64, policy: Policy) -> Budget {
    Budget::new(units(rate), policy)
}

/// Milliseconds that a high-priority request is told to wait; none if it is admitted.
fn wait_ms(budget: &Budget, now_ms: i64) -> Option<u128> {
    wait_of(budget, now_ms, Priority::High)
}

fn wait_of(budget: &Budget, now_ms: i64, priority: Priority) -> Option<u128> {
    budget.admit(now_ms, priority).err().map(|throttled| throttled.retry_after.as_millis())
}

/// Runs one request if it is admitted.
fn try_run(budget: &Budget, now_ms: i64, priority: Priority, charge: RequestUnits) -> bool {
    let admitted = budget.admit(now_ms, priority).is_ok();
    if admitted {
        budget.spend(now_ms, priority, charge);
    }
    admitted
}

/// What requests of this charge spend that come as often as they can in the windows from..to.
fn saturate(budget: &Budget, windows: std::ops::Range<i64>, priority: Priority, charge: u64) -> u64 {
    let mut spent = 0;
    for now_ms in windows.start * 1_000..windows.end * 1_000 {
        // Eight a millisecond are more than any budget here allows.
        for _ in 0..8 {
            if !try_run(budget, now_ms, priority, RequestUnits::from_hundredths(charge)) {
                break;
            }
            spent += charge;
        }
    }
    spent
}

#[test]
fn the_wait_is_the_time_to_the_window_that_pays_the_debt() {
    let table = [
        // rate, spent in units, at ms, wait in ms
        (400, 743, 10_000, Some(1_000)),
        (400, 743, 10_250, Some(750)),
        (400, 743, 10_999, Some(1)),
        (400, 399, 10_000, None),
        (400, 400, 10_000, Some(1_000)),
        (400, 799, 10_000, Some(1_000)),
        (400, 800, 10_000, Some(2_000)), // the next window begins at exactly zero
        (400, 801, 10_000, Some(2_000)),
        (400, 4_000, 10_500, Some(9_500)),
        (1, 100, 10_000, Some(100_000)),
    ];
    for (rate, spent, at, wait) in table {
        let budget = budget(rate, PLAIN);
        assert_eq!(wait_ms(&budget, at), None);
        budget.spend(at, Priority::High, units(spent));
        assert_eq!(wait_ms(&budget, at), wait, "{spent} of {rate} at {at}");
    }
}

#[test]
fn unused_budget_is_lost_and_debt_is_carried() {
    let budget = budget(400, PLAIN);
    let left = |at| budget.admit(at, Priority::High).map(|admitted| admitted.left);
    assert_eq!(left(0), Ok(Some(units(400))));
    assert_eq!(left(60_000), Ok(Some(units(400))), "a minute of rest is worth nothing");
    budget.spend(60_100, Priority::High, units(700));
    assert_eq!(left(61_000), Ok(Some(units(100))), "300 of the next 400 are owed");
    assert_eq!(left(62_000), Ok(Some(units(400))));
}

#[test]
fn one_hundred_units_idle_for_five_minutes_burst_for_ten_seconds() {
    let budget = budget(100, BURST);
    assert_eq!(wait_ms(&budget, 0), None);
    for second in 300..310 {
        let spent = saturate(&budget, second..second + 1, Priority::High, 1_000);
        assert_eq!(spent, 300_000, "3,000 request units in second {second}");
    }
    // Ten seconds brought 1,000 of their own.
    assert_eq!(saturate(&budget, 310..311, Priority::High, 1_000), 110_000);
    assert_eq!(saturate(&budget, 311..312, Priority::High, 1_000), 10_000, "then the rate again");
}

#[test]
fn the_bank_holds_five_minutes_and_pays_at_most_three_thousand_a_window() {
    let table = [
        // rate, idle seconds, what the windows afterwards can spend
        (100, 1, vec![200, 100]),
        (100, 299, vec![3_000]),
        (100, 100_000, vec![3_000, 3_000]),
        (2_999, 100_000, vec![3_000, 3_000]),
        (3_000, 100_000, vec![3_000, 3_000]), // at the bound nothing is banked
        (4_000, 100_000, vec![4_000, 4_000]),
    ];
    for (rate, idle, expected) in table {
        let budget = budget(rate, BURST);
        assert_eq!(wait_ms(&budget, 0), None);
        for (second, expected) in (idle..).zip(expected) {
            let spent = saturate(&budget, second..second + 1, Priority::High, 10_000);
            assert_eq!(spent, expected * 100, "{rate} after {idle} s, second {second}");
        }
    }
    let budget = budget(100, BURST);
    assert_eq!(wait_ms(&budget, 0), None);
    // All at once: 30,000 banked and 100 of the window; the pace of ten more windows is used up too.
    budget.spend(1_000_000, Priority::High, units(30_099));
    assert_eq!(wait_ms(&budget, 1_000_000), Some(10_000));
    budget.spend(1_000_000, Priority::High, units(1));
    assert_eq!(wait_ms(&budget, 1_000_000), Some(10_000));
    budget.spend(1_000_000, Priority::High, units(2_000));
    assert_eq!(wait_ms(&budget, 1_000_000), Some(21_000), "now the debt takes longer than the pace");
}

#[test]
fn low_priority_is_refused_first() {
    let budget = budget(400, PLAIN);
    // High-priority requests used 300 of the last second.
    assert!(try_run(&budget, 0, Priority::High, units(300)));
    let left = |at, priority| budget.admit(at, priority).map(|admitted| admitted.left.expect("enforced"));
    assert_eq!(left(1_000, Priority::High), Ok(units(400)));
    assert_eq!(left(1_000, Priority::Low), Ok(units(100)), "300 are kept");
    budget.spend(1_100, Priority::Low, units(100));
    assert_eq!(wait_of(&budget, 1_100, Priority::Low), Some(900));
    assert_eq!(left(1_100, Priority::High), Ok(units(300)));
    // Once they have used what was expected of them, what is left is for both priorities.
    budget.spend(1_200, Priority::High, units(250));
    assert_eq!(wait_of(&budget, 1_200, Priority::Low), Some(800));
    assert_eq!(left(1_200, Priority::High), Ok(units(50)));
}

#[test]
fn low_priority_waits_two_windows_if_the_next_is_expected_to_be_full() {
    let budget = budget(400, PLAIN);
    assert!(try_run(&budget, 0, Priority::High, units(400)));
    assert_eq!(wait_of(&budget, 0, Priority::Low), Some(2_000));
    assert_eq!(wait_of(&budget, 1_000, Priority::Low), Some(1_000));
    assert_eq!(wait_of(&budget, 2_000, Priority::Low), None);
}

#[test]
fn low_priority_alone_has_the_whole_rate_and_beside_half_a_load_the_other_half() {
    let alone = budget(400, PLAIN);
    assert_eq!(saturate(&alone, 0..10, Priority::Low, 100), 10 * 40_000);
    let shared = budget(400, PLAIN);
    let (mut high, mut low, mut high_refused) = (0, 0, 0);
    for now_ms in 0..60_000 {
        // 200 a second with high priority, low as much as goes.
        if now_ms % 5 == 0 {
            match try_run(&shared, now_ms, Priority::High, units(1)) {
                true => high += 1,
                false => high_refused += 1,
            }
        }
        for _ in 0..2 {
            low += i32::from(try_run(&shared, now_ms, Priority::Low, units(1)));
        }
    }
    // Nothing is known of the demand in the first second: low takes it all. The refusals tell.
    assert!(high_refused <= 200, "{high_refused} refused");
    assert!(high >= 59 * 200, "{high} of 12000 with high priority");
    assert!((11_700..=12_200).contains(&low), "{low} of 12000 with low priority");
}

#[test]
fn a_rate_that_changes_counts_from_the_running_window_on() {
    let left = |budget: &Budget, at| budget.admit(at, Priority::High).ok().and_then(|admitted| admitted.left);
    let raised = budget(400, PLAIN);
    raised.spend(10_000, Priority::High, units(500));
    raised.set_rate(10_500, units(1_000));
    assert_eq!((raised.rate(), left(&raised, 10_500)), (units(1_000), Some(units(500))));
    assert_eq!(left(&raised, 11_000), Some(units(1_000)));

    let lowered = budget(1_000, PLAIN);
    lowered.spend(10_000, Priority::High, units(700));
    lowered.set_rate(10_500, units(400));
    assert_eq!(left(&lowered, 10_500), Some(units(300)), "what was spent does not become debt");
    assert_eq!(left(&lowered, 11_000), Some(units(400)));
    lowered.set_rate(11_100, units(10));
    assert_eq!(left(&lowered, 11_100), Some(units(10)));
    for _ in 0..100 {
        lowered.set_rate(11_100, units(400));
        lowered.set_rate(11_100, units(10));
    }
    assert_eq!(left(&lowered, 11_100), Some(units(10)), "up and down again grants nothing twice");
    lowered.set_rate(11_200, units(500));
    assert_eq!(left(&lowered, 11_200), Some(units(110)), "100 more than the window had granted");
}

#[test]
fn a_bank_shrinks_with_the_rate_and_goes_at_three_thousand() {
    let burst = budget(1_000, BURST);
    assert_eq!(wait_ms(&burst, 0), None);
    assert_eq!(wait_ms(&burst, 400_000), None);
    burst.set_rate(400_000, units(10));
    assert_eq!(saturate(&burst, 400..402, Priority::High, 1_000), 301_000 + 1_000, "3,010 and 10 more");
    burst.set_rate(800_000, units(3_000));
    assert_eq!(saturate(&burst, 801..802, Priority::High, 10_000), 300_000);
    assert_eq!(saturate(&burst, 802..803, Priority::High, 10_000), 300_000);
}

#[test]
fn without_a_rate_nothing_is_admitted_and_nothing_divides() {
    for policy in [PLAIN, BURST] {
        let none = budget(0, policy);
        for priority in [Priority::High, Priority::Low] {
            for at in [0, 1_000, i64::MAX, i64::MIN] {
                let expected = Throttled { retry_after: NO_RATE_RETRY_AFTER };
                assert_eq!(none.admit(at, priority), Err(expected));
            }
        }
        none.spend(5, Priority::High, units(10));
        none.set_rate(10, units(100));
        assert_eq!(none.rate(), units(100));
        assert!(none.admit(11_000, Priority::High).is_ok());
    }
}

#[test]
fn what_is_not_enforced_is_admitted_always() {
    let free = budget(0, Policy { enforced: false, burst: false });
    free.spend(0, Priority::Low, units(1_000_000));
    assert_eq!(free.admit(0, Priority::Low), Ok(Admitted { left: None }));
    free.set_rate(0, units(7));
    assert_eq!(free.rate(), units(7));
}

#[test]
fn extremes_saturate() {
    let most = RequestUnits::from_hundredths(u64::MAX);
    for policy in [PLAIN, BURST] {
        let budget = Budget::new(most, policy);
        assert_eq!(budget.rate().hundredths(), RATE_HUNDREDTHS_MAX);
        for at in [i64::MIN, i64::MAX, 0, -1] {
            for _ in 0..3 {
                budget.spend(at, Priority::High, most);
                budget.spend(at, Priority::Low, most);
            }
            let throttled = budget.admit(at, Priority::Low).expect_err("much is owed");
            assert!(throttled.retry_after > Duration::ZERO);
        }
        budget.set_rate(-1, RequestUnits::from_hundredths(1));
        assert!(budget.admit(-1, Priority::High).is_err());
    }
}

#[test]
fn a_clock_that_was_set_back_neither_grants_nor_stands_still() {
    let budget = budget(100, PLAIN);
    budget.spend(1_000_000, Priority::High, units(150));
    for at in [999_999, 996_000, 995_000] {
        assert_eq!(
            wait_ms(&budget, at),
            Some((1_001_000 - at) as u128),
            "taken for the running window: {at}"
        );
    }
    assert_eq!(wait_ms(&budget, 500_000), Some(1_000), "an hour back: goes on from there, as poor as before");
    assert_eq!(wait_ms(&budget, 501_000), None);
}

fn schedule(step_ms: std::ops::Range<i64>) -> impl Strategy<Value = Vec<(i64, u64)>> {
    prop::collection::vec((step_ms, 0_u64..60_000), 1..300)
}

proptest! {
    /// Any k windows in a row spend at most k times the rate and the overshoot of one operation.
    #[test]
    fn windows_never_spend_more_than_their_rates_and_one_overshoot(
        rate in 1_u64..100_000,
        schedule in schedule(0..700),
    ) {
        let budget = Budget::new(RequestUnits::from_hundredths(rate), PLAIN);
        let mut now_ms = 1_700_000_000_123;
        let mut spent: std::collections::BTreeMap<i64, u64> = std::collections::BTreeMap::new();
        let mut largest = 0;
        for (step, charge) in schedule {
            now_ms += step;
            if try_run(&budget, now_ms, Priority::High, RequestUnits::from_hundredths(charge)) {
                *spent.entry(now_ms / 1_000).or_default() += charge;
                largest = largest.max(charge);
            }
        }
        let windows: Vec<_> = spent.into_iter().collect();
        for (index, (first, _)) in windows.iter().enumerate() {
            let mut sum = 0;
            for (last, used) in &windows[index..] {
                sum += used;
                let granted = u64::try_from(last - first + 1).expect("in order") * rate;
                prop_assert!(sum <= granted + largest, "{sum} in windows {first}..={last}");
            }
        }
    }

    /// With bursts no window exceeds the pace, and all of them together the rate and the bank.
    #[test]
    fn bursts_are_bounded_by_pace_and_bank(rate in 1_u64..300_000, schedule in schedule(0..100_000)) {
        let budget = Budget::new(RequestUnits::from_hundredths(rate), BURST);
        let (mut now_ms, start) = (0, 0);
        let (mut sum, mut in_window, mut window, mut largest) = (0, 0, 0, 0);
        for (step, charge) in schedule {
            now_ms += step;
            if now_ms / 1_000 != window {
                (window, in_window) = (now_ms / 1_000, 0);
            }
            if try_run(&budget, now_ms, Priority::High, RequestUnits::from_hundredths(charge)) {
                (sum, in_window, largest) = (sum + charge, in_window + charge, largest.max(charge));
            }
            prop_assert!(in_window <= BURST_RATE_HUNDREDTHS + largest);
            let windows = u64::try_from(now_ms / 1_000 - start + 1).expect("forward");
            prop_assert!(sum <= windows * rate + largest);
        }
    }

    /// A clock that jumps about grants at most the rate for every window it went forward.
    #[test]
    fn a_clock_that_jumps_mints_nothing(
        rate in 1_u64..50_000,
        burst in any::<bool>(),
        schedule in schedule(-20_000..20_000),
    ) {
        let budget = Budget::new(RequestUnits::from_hundredths(rate), Policy { enforced: true, burst });
        let mut now_ms: i64 = 0;
        let (mut sum, mut largest, mut forward) = (0, 0, 1);
        for (step, charge) in schedule {
            let before = now_ms.div_euclid(1_000);
            now_ms += step;
            forward += u64::try_from(now_ms.div_euclid(1_000) - before).unwrap_or(0);
            if try_run(&budget, now_ms, Priority::High, RequestUnits::from_hundredths(charge)) {
                (sum, largest) = (sum + charge, largest.max(charge));
            }
            prop_assert!(sum <= forward * rate + largest);
        }
    }

    /// A caller that waits as long as told is admitted if no other request came, and a millisecond earlier is not.
    #[test]
    fn the_wait_is_truthful(
        rate in 1_u64..50_000,
        burst in any::<bool>(),
        low in any::<bool>(),
        schedule in prop::collection::vec((0_i64..1_500, 0_u64..90_000, any::<bool>()), 1..100),
    ) {
        let policy = Policy { enforced: true, burst };
        let replay = |until: usize| {
            let budget = Budget::new(RequestUnits::from_hundredths(rate), policy);
            let mut now_ms = 5_000;
            for (step, charge, high) in &schedule[..until] {
                now_ms += step;
                let priority = if *high { Priority::High } else { Priority::Low };
                try_run(&budget, now_ms, priority, RequestUnits::from_hundredths(*charge));
            }
            (budget, now_ms)
        };
        let priority = if low { Priority::Low } else { Priority::High };
        for until in 0..=schedule.len() {
            let (budget, now_ms) = replay(until);
            let Err(throttled) = budget.admit(now_ms, priority) else { continue };
            let wait = i64::try_from(throttled.retry_after.as_millis()).expect("small");
            prop_assert!(wait > 0);
            prop_assert!(budget.admit(now_ms + wait - 1, priority).is_err(), "one ms too early");
            let (budget, _) = replay(until);
            prop_assert!(budget.admit(now_ms + wait, priority).is_ok(), "told to wait {wait} ms");
        }
    }

    /// An even load that is more than the rate is served within 2 % of it over a minute.
    #[test]
    fn a_minute_of_even_load_is_the_rate(rate in 400_u64..10_000, charge in 100_u64..1_500, offset in 0_i64..1_000) {
        let budget = budget(rate, PLAIN);
        let (mut sum, mut now_us) = (0, offset * 1_000);
        // One and a half times the rate, evenly spaced.
        let step_us = i64::try_from(charge * 1_000_000 / (rate * 150)).expect("small").max(1);
        while now_us < 60_000_000 + offset * 1_000 {
            if try_run(&budget, now_us / 1_000, Priority::High, RequestUnits::from_hundredths(charge)) {
                sum += charge;
            }
            now_us += step_us;
        }
        let expected = (60 * rate * 100) as f64;
        let off = (sum as f64 - expected).abs() / expected;
        prop_assert!(off <= 0.02, "{sum} of {expected}");
    }
}
