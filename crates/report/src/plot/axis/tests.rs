//! Where axes begin, end and are ticked.

use proptest::prelude::*;

use super::*;

fn labels(span: &Span) -> String {
    span.ticks().iter().map(|tick| tick.label.clone()).collect::<Vec<_>>().join(" ")
}

#[test]
fn ticks() {
    use Ends::{Close, Round};
    use Scale::{Linear, Log, Nines};
    for (scale, values, ends, expected) in [
        (Linear, &[3.0, 47.0][..], Round, "0 10 20 30 40 50"),
        (Linear, &[0.01, 0.037], Round, "0 0.01 0.02 0.03 0.04"),
        (Linear, &[-12.0, 30.0], Round, "-20 -10 0 10 20 30"),
        (Linear, &[], Round, "0 0.2 0.4 0.6 0.8 1"),
        (Linear, &[0.0], Round, "0 0.2 0.4 0.6 0.8 1"),
        (Linear, &[1000.0, 1004.0], Close, "1,000 1,001 1,002 1,003 1,004"),
        (Linear, &[f64::NAN, f64::INFINITY, 5.0], Round, "0 1 2 3 4 5"),
        (Log, &[1.0, 2063.0], Round, "1 10 100 1,000"),
        (Log, &[5.0, 30.0], Round, "2 5 10 20 50"),
        (Log, &[], Round, "0.5 1 2 5 10"),
        (Log, &[0.0, -1.0, 10.0], Round, "5 10"),
        (Log, &[1e-15, 1e15], Round, "1.0e-15 1.0e-10 1.0e-5 1 100,000 10.0 G 1,000 T"),
        (Nines, &[50.0, 99.9], Close, "50 90 99 99.9"),
        (Nines, &[0.0, 100.0], Close, "0 50 90 99 99.9 99.99 99.999"),
        (Nines, &[], Close, "0 50 90 99"),
    ] {
        let span = Span::fit(scale, values.iter().copied(), ends);
        assert_eq!(labels(&span), expected, "{scale:?} {values:?} {ends:?}");
    }
}

#[test]
fn values_beyond_the_bounds_have_no_place() {
    for (scale, value, has_place) in [
        (Scale::Linear, MAGNITUDE_MAX, true),
        (Scale::Linear, -MAGNITUDE_MAX, true),
        (Scale::Linear, MAGNITUDE_MAX * 1.01, false),
        (Scale::Log, MAGNITUDE_MAX, true),
        (Scale::Log, MAGNITUDE_MAX * 1.01, false),
        (Scale::Log, 1.0 / MAGNITUDE_MAX, true),
        (Scale::Log, 0.99 / MAGNITUDE_MAX, false),
        (Scale::Log, 0.0, false),
        (Scale::Log, -1.0, false),
        (Scale::Nines, 0.0, true),
        (Scale::Nines, 100.0, true),
        (Scale::Nines, 100.1, false),
        (Scale::Nines, -0.1, false),
        (Scale::Linear, f64::NAN, false),
        (Scale::Log, f64::NAN, false),
        (Scale::Nines, f64::NAN, false),
    ] {
        let span = Span::fit(scale, [value], Ends::Round);
        assert_eq!(span.place(value).is_some(), has_place, "{scale:?} {value}");
    }
}

#[test]
fn ticks_at_the_values_where_they_stand_apart() {
    let users = [1_000.0, 10_000.0, 50_000.0];
    let span = || Span::fit(Scale::Log, users, Ends::Close);
    assert_eq!(labels(&span().with_ticks_at(users, 0.1, 3)), "1,000 10,000 50,000");
    assert_eq!(labels(&span().with_ticks_at(users, 0.1, 2)), "1,000 2,000 5,000 10,000 20,000 50,000");
    assert_eq!(labels(&span().with_ticks_at(users, 0.5, 3)), "1,000 2,000 5,000 10,000 20,000 50,000");
    assert_eq!(labels(&span().with_ticks_at([], 0.1, 3)), "1,000 2,000 5,000 10,000 20,000 50,000");
}

proptest! {
    #[test]
    fn every_value_has_its_place(
        values in prop::collection::vec(prop_oneof![any::<f64>(), 0.0..1e6_f64, 99.0..100.0_f64], 0..20),
        scale in prop::sample::select(&[Scale::Linear, Scale::Log, Scale::Nines][..]),
        ends in prop::sample::select(&[Ends::Round, Ends::Close][..]),
    ) {
        let span = Span::fit(scale, values.iter().copied(), ends);
        prop_assert!(span.low < span.high && span.high.is_finite());
        let mut placed: Vec<(f64, f64)> =
            values.iter().filter_map(|value| Some((*value, span.place(*value)?))).collect();
        placed.sort_by(|one, other| one.0.total_cmp(&other.0));
        prop_assert!(placed.iter().all(|(_, place)| (0.0..=1.0).contains(place)));
        prop_assert!(placed.windows(2).all(|pair| pair[0].1 <= pair[1].1), "order is kept");
        let ticks = span.ticks();
        prop_assert!(ticks.len() <= 21 && ticks.windows(2).all(|pair| pair[0].at < pair[1].at));
    }
}
