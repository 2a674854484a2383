use armilla_env::SimulatedClock;
use proptest::prelude::*;

use super::*;

#[test]
fn moments_count_from_the_year_1() {
    for (second, ticks) in [
        (0, 621_355_968_000_000_000),
        (1, 621_355_968_010_000_000),
        (1_700_000_000, 638_355_968_000_000_000),
        (u32::MAX, 664_305_640_950_000_000),
    ] {
        let moment = Moment::of_second(second);
        assert_eq!(moment.ticks(), ticks);
        assert_eq!(Moment::from_ticks(ticks), moment);
        for into in [0, 1, TICKS_PER_SECOND - 1] {
            let inside = Moment::from_ticks(ticks + u64::from(into));
            assert_eq!((inside.second(), inside.ticks_of_second()), (second, into));
            assert_eq!(Moment::in_second(second, into), inside);
        }
    }
    // What lies outside of what a time stamp can say.
    assert_eq!((Moment::from_ticks(0).second(), Moment::from_ticks(u64::MAX).second()), (0, u32::MAX));
    assert_eq!(Moment::from_ticks(Moment::LAST.ticks() + 1).second(), u32::MAX);
}

#[test]
fn clocks_count_milliseconds() {
    for (now_ms, second, ticks) in [
        (0, 0, 0),
        (-1, 0, 0),
        (i64::MIN, 0, 0),
        (1, 0, 10_000),
        (1_700_000_000_999, 1_700_000_000, 9_990_000),
        (i64::from(u32::MAX) * 1_000 + 999, u32::MAX, 9_990_000),
    ] {
        let moment = Moment::now(&SimulatedClock::new(now_ms));
        assert_eq!((moment.second(), moment.ticks_of_second()), (second, ticks), "{now_ms}");
    }
    assert!(Moment::now(&SimulatedClock::new(i64::MAX)) > Moment::LAST);
}

#[test]
fn there_is_none_behind_the_last() {
    let (last, before) = (Moment::LAST, Moment::from_ticks(Moment::LAST.ticks() - 1));
    let moments = Moments::default();
    // A clock that is off for a while does no lasting harm.
    assert_eq!(moments.next(Moment::from_ticks(last.ticks() + 1), None), None);
    assert_eq!(moments.next(before, Some(last)), None);
    assert_eq!(moments.next(Moment::of_second(7), None), Some(Moment::of_second(7)));
    assert_eq!(moments.next(before, None), Some(before));
    assert_eq!(moments.next(before, None), Some(last));
    assert_eq!(moments.next(before, None), None);
    assert_eq!(moments.latest(before), last);
}

#[test]
fn no_moment_is_given_twice() {
    let moments = Moments::default();
    let now = Moment::of_second(1_700_000_000);
    let given = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let given: Vec<Moment> = (0..2_000).filter_map(|_| moments.next(now, None)).collect();
                    assert!(given.is_sorted_by(|one, next| one < next));
                    given
                })
            })
            .collect();
        let mut given: Vec<Moment> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        given.sort_unstable();
        given
    });
    // The clock stands still, so they lie next to each other.
    assert_eq!(given.len(), 8_000);
    assert!(given.iter().enumerate().all(|(place, moment)| moment.ticks() == now.ticks() + place as u64));
}

proptest! {
    #[test]
    fn moments_grow_whatever_the_clock_does(
        steps in prop::collection::vec((0..1_000u64, prop::option::of(0..1_000u64), any::<bool>()), 1..100),
    ) {
        let moments = Moments::default();
        let mut last = 0;
        for (now, replaced, skips) in steps {
            if skips {
                moments.skip(Moment::from_ticks(now / 2));
                last = last.max(now / 2);
            }
            let given = moments.next(Moment::from_ticks(now), replaced.map(Moment::from_ticks)).unwrap();
            let earliest = last.max(replaced.unwrap_or(0)) + 1;
            prop_assert_eq!(given.ticks(), now.max(earliest));
            last = given.ticks();
        }
    }

    /// Whatever the clock does: near it, never the same as the version before, and in one direction while it is not set.
    #[test]
    fn moments_are_near_the_clock(
        steps in prop::collection::vec((0..200i64, prop::option::of(0..200i64)), 1..100),
    ) {
        let moments = Moments::default();
        let at = |second: i64| Moment::of_second(1_700_000_000 + second as u32);
        let mut last: Option<Moment> = None;
        for (now, replaced) in steps {
            let (now, replaced) = (at(now), replaced.map(at));
            let given = moments.next(now, replaced).unwrap();
            prop_assert!(given >= now);
            // As far as the last one may be, and what is replaced from there.
            prop_assert!(given.ticks() - now.ticks() <= 2 * AHEAD_TICKS_MAX + 1);
            if let Some(replaced) = replaced {
                prop_assert!(given != replaced && given.may_follow(replaced));
            }
            if let Some(last) = last.filter(|last| last.ticks() <= now.ticks() + AHEAD_TICKS_MAX) {
                prop_assert!(given > last);
            }
            last = Some(given);
        }
    }
}

/// After a restart it is not known what was given; what is replaced tells that the clock was ahead.
#[test]
fn what_replaces_a_version_of_a_clock_that_was_ahead_is_not_like_one_before_it() {
    let now = Moment::of_second(1_700_000_000);
    let ahead = Moment::of_second(1_800_000_000);
    let given = Moments::default().next(now, Some(ahead)).unwrap();
    assert_eq!(given.second(), now.second());
    assert!(given > now && given.may_follow(ahead));
    // At the edge of what is waited for.
    for ticks in 0..20_000 {
        let replaced = Moment::from_ticks(now.ticks() + AHEAD_TICKS_MAX - 10_000 + ticks);
        let given = Moments::default().next(now, Some(replaced)).unwrap();
        assert!(given != replaced && given.may_follow(replaced), "{ticks}");
    }
}

#[test]
fn a_clock_that_was_set_is_followed() {
    let moments = Moments::default();
    let at = |ms: u64| Moment::from_ticks(Moment::of_second(1_700_000_000).ticks() + ms * TICKS_PER_MS);
    const YEARS_MS: u64 = 10 * 365 * 86_400_000;
    assert_eq!(moments.next(at(0), None), Some(at(0)));
    let wrong = moments.next(at(YEARS_MS), None).unwrap();
    assert_eq!(wrong, at(YEARS_MS));
    // Back to where it was: the same millisecond, but another moment.
    let again = moments.next(at(0), Some(wrong)).unwrap();
    assert_eq!(again.second(), 1_700_000_000);
    assert!(again != at(0) && again < at(1));
    assert!(moments.next(at(0), Some(again)).unwrap() > again);
    // A step that is no more than a correction is waited for.
    let moment = moments.next(at(20_000), None).unwrap();
    assert_eq!(moments.next(at(10_000), None).unwrap().ticks(), moment.ticks() + 1);
    let back = moments.next(at(9_000), None).unwrap();
    assert_eq!(back.second(), 1_700_000_009);
    // The clock comes to a time that no moment was given of.
    assert_eq!(moments.next(at(YEARS_MS + 1), None), Some(at(YEARS_MS + 1)));
}
