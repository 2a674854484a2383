use super::*;

const RATE: RequestUnits = RequestUnits::from_hundredths(40_000);

fn units(whole: u64) -> RequestUnits {
    RequestUnits::from_hundredths(whole * 100)
}

fn read(meter: &Meter, now_ms: i64, charge: u64) {
    meter.record(now_ms, OperationKind::Read, None, units(charge), Duration::from_micros(40));
}

fn stretch(requests: u64, refused: u64, charge: u64) -> Stretch {
    Stretch { requests, refused, charge: units(charge) }
}

#[test]
fn a_new_meter_shows_nothing() {
    let figures = Meter::new().figures(5, RATE);
    assert_eq!((figures.requests, figures.refused, figures.charge), (0, 0, RequestUnits::ZERO));
    assert_eq!((figures.last_second, figures.last_minute), (Stretch::default(), Stretch::default()));
    assert_eq!((figures.normalized_percent, figures.five_second_peak), (0.0, RequestUnits::ZERO));
    assert!(figures.hottest.is_empty());
    assert_eq!(figures.latencies.map(|(kind, _)| kind), OperationKind::ALL);
}

#[test]
fn seconds_count_when_they_are_whole_and_for_a_minute() {
    let meter = Meter::new();
    read(&meter, 100_000, 10);
    read(&meter, 100_999, 20);
    meter.refused(100_999, None);
    let table = [
        // at, last second, last minute
        (100_999, stretch(0, 0, 0), stretch(0, 0, 0)),
        (101_000, stretch(2, 1, 30), stretch(2, 1, 30)),
        (101_999, stretch(2, 1, 30), stretch(2, 1, 30)),
        (102_000, stretch(0, 0, 0), stretch(2, 1, 30)),
        (160_999, stretch(0, 0, 0), stretch(2, 1, 30)),
        (161_000, stretch(0, 0, 0), stretch(0, 0, 0)),
        (9_161_000, stretch(0, 0, 0), stretch(0, 0, 0)),
    ];
    for (at, last_second, last_minute) in table {
        let figures = meter.figures(at, RATE);
        assert_eq!((figures.last_second, figures.last_minute), (last_second, last_minute), "at {at}");
        assert_eq!((figures.requests, figures.refused, figures.charge), (2, 1, units(30)), "totals stay");
    }
}

#[test]
fn the_ring_forgets_at_sixty_seconds_however_time_moves() {
    for step in [1, 2, 7, 59, 60, 61, 63, 64, 65, 1_000] {
        let meter = Meter::new();
        let seconds: Vec<i64> = (0..200).map(|index| index * step).collect();
        for second in &seconds {
            read(&meter, second * 1_000, 1);
        }
        let now = seconds.last().expect("some") + 1;
        let within = seconds.iter().filter(|second| now - **second <= 60).count() as u64;
        assert_eq!(meter.figures(now * 1_000, RATE).last_minute.requests, within, "every {step} s");
    }
}

#[test]
fn utilization_is_that_of_the_fullest_second_and_at_most_all() {
    let table = [
        // charges of successive seconds, rate, percent
        (vec![100, 300, 200], 400, 75.0),
        (vec![400], 400, 100.0),
        (vec![743], 400, 100.0),
        (vec![1], 0, 100.0),
        (vec![0], 0, 0.0),
        (vec![1], 400, 0.25),
    ];
    for (charges, rate, expected) in table {
        let meter = Meter::new();
        for (second, charge) in (0..).zip(&charges) {
            read(&meter, second * 1_000, *charge);
        }
        let now_ms = charges.len() as i64 * 1_000;
        assert_eq!(meter.figures(now_ms, units(rate)).normalized_percent, expected, "{charges:?} of {rate}");
    }
}

#[test]
fn the_peak_is_the_highest_five_seconds_of_the_hour() {
    let meter = Meter::new();
    let hour_ms = 3_600_000;
    for (second, charge) in [100, 200, 300, 400, 500, 600, 0, 0, 0, 0, 50].into_iter().enumerate() {
        read(&meter, hour_ms + second as i64 * 1_000, charge);
    }
    let peak = |at| meter.figures(at, RATE).five_second_peak;
    assert_eq!(peak(hour_ms + 11_000), units(400), "200 to 600");
    assert_eq!(peak(2 * hour_ms - 1), units(400));
    assert_eq!(peak(2 * hour_ms), RequestUnits::ZERO, "another hour");
    read(&meter, 2 * hour_ms + 1_000, 1_000);
    assert_eq!(peak(2 * hour_ms + 1_999), RequestUnits::ZERO, "not whole yet");
    assert_eq!(peak(2 * hour_ms + 2_000), units(200));
    // A second that ends with its hour belongs to that hour.
    read(&meter, 3 * hour_ms - 1, 5_000);
    assert_eq!(peak(3 * hour_ms), RequestUnits::ZERO);
}

#[test]
fn latencies_are_counted_by_kind() {
    let meter = Meter::new();
    for (kind, count) in OperationKind::ALL.into_iter().zip(1..) {
        for _ in 0..count {
            meter.record(0, kind, None, units(1), Duration::from_micros(10 * count));
        }
    }
    let figures = meter.figures(0, RATE);
    for ((kind, histogram), count) in figures.latencies.into_iter().zip(1..) {
        assert_eq!((histogram.count(), histogram.sum_us()), (count, 10 * count * count), "{kind:?}");
    }
}

#[test]
fn hot_keys_come_with_their_refusals() {
    let meter = Meter::new();
    let record = |key: &[u8], charge| {
        meter.record(1_000, OperationKind::Write, Some(key), units(charge), Duration::ZERO);
    };
    record(b"cold", 5);
    record(b"hot", 50);
    record(b"hot", 50);
    meter.refused(1_000, Some(b"hot"));
    meter.refused(1_000, Some(b"unknown"));
    let hottest = meter.figures(2_000, RATE).hottest;
    let shown: Vec<_> = hottest.iter().map(|key| (key.logical.as_slice(), key.charge, key.refused)).collect();
    assert_eq!(shown, [(&b"hot"[..], units(100), 1), (b"cold", units(5), 0)]);
}

#[test]
fn no_clock_and_no_amount_breaks_it() {
    let meter = Meter::new();
    let most = RequestUnits::from_hundredths(u64::MAX);
    for now_ms in [i64::MIN, i64::MAX, 0, -1, 5_000, 4_000, -9_000_000, 1 << 50] {
        meter.record(now_ms, OperationKind::Query, Some(b"key"), most, Duration::MAX);
        meter.refused(now_ms, Some(b"key"));
        let figures = meter.figures(now_ms, most);
        assert_eq!(figures.charge, most);
        assert!(figures.normalized_percent <= 100.0);
    }
    assert_eq!(meter.figures(0, RATE).requests, 8);
}

#[test]
fn a_clock_set_back_starts_no_second() {
    let meter = Meter::new();
    read(&meter, 10_000, 1);
    read(&meter, 9_000, 1);
    read(&meter, 10_500, 1);
    assert_eq!(meter.figures(11_000, RATE).last_second.requests, 3);
}

#[test]
fn the_last_hour_is_told_minute_by_minute() {
    let meter = Meter::new();
    let charges = |stretches: &[Stretch]| stretches.iter().map(|stretch| stretch.charge).collect::<Vec<_>>();
    let none = vec![RequestUnits::ZERO; 60];
    let history = meter.history(5_000);
    assert_eq!((history.seconds.len(), history.minutes.len()), (60, 60));
    assert_eq!((charges(&history.seconds), charges(&history.minutes)), (none.clone(), none.clone()));

    // From the middle of minute 100 on, a request in each second of 90 minutes, of which none is served in minute 150.
    for second in 6_030..11_430 {
        if second / 60 != 150 {
            read(&meter, second * 1_000 + 500, 2);
        }
    }
    let history = meter.history(11_430_000);
    assert_eq!((history.now, history.minute), (11_430, 190));
    assert_eq!(charges(&history.seconds), vec![units(2); 60]);
    let expected: Vec<_> = (130..190).map(|minute| units(if minute == 150 { 0 } else { 120 })).collect();
    assert_eq!(charges(&history.minutes), expected);

    // The running minute is told when it is whole; what is over an hour old is not.
    let history = meter.history(11_460_000);
    assert_eq!(history.minutes.last().map(|last| (last.requests, last.charge)), Some((30, units(60))));
    let history = meter.history(11_460_000 + 3_600_000);
    assert_eq!((charges(&history.seconds), charges(&history.minutes)), (none.clone(), none));

    // A clock that goes back keeps what was counted where it stands.
    read(&meter, 20_000_000, 1);
    assert_eq!(meter.history(19_000_000).minutes.len(), 60);
}
