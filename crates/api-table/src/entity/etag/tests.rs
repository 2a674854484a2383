//! Tests of versions as text.

use armilla_engine::Moment;
use proptest::prelude::*;

use super::{etag_text, parse_etag};
use crate::edm::Ticks;

#[test]
fn etags_are_dates() {
    let ticks = Ticks::parse("2022-05-06T00:47:36.5851144Z").unwrap();
    let moment = Moment::from_ticks(ticks.count());
    let etag = r#"W/"datetime'2022-05-06T00%3A47%3A36.5851144Z'""#;
    assert_eq!(etag_text(moment), etag);
    for text in [
        etag,
        r#"W/"datetime'2022-05-06T00%3a47%3a36.5851144Z'""#,
        r#"W/"datetime'2022-05-06T00:47:36.5851144Z'""#,
        r#""datetime'2022-05-06T00%3A47%3A36.5851144Z'""#,
        "  W/\"datetime'2022-05-06T00%3A47%3A36.5851144Z'\" ",
    ] {
        assert_eq!(parse_etag(text), Some(moment), "{text}");
    }
    for text in [
        "",
        "*",
        "W/",
        "\"",
        "\"\"",
        "W/\"\"",
        "W/\"datetime'\"",
        "W/\"datetime''\"",
        "W/datetime'2022-05-06T00%3A47%3A36.5851144Z'",
        "W/\"2022-05-06T00%3A47%3A36.5851144Z\"",
        "W/\"datetime'2022-13-06T00%3A47%3A36.5851144Z'\"",
        "W/\"datetime'2022-05-06T00%3A47%3A36.5851144Z\"",
        "\"0000d826-0000-0700-0000-6274b5a80000\"",
    ] {
        assert_eq!(parse_etag(text), None, "{text}");
    }
    assert_eq!(parse_etag(&format!("W/\"datetime'{}'\"", "%3A".repeat(1_000_000))), None);
}

proptest! {
    #[test]
    fn etags_round_trip(ticks in 0..=Ticks::MAX.count()) {
        let moment = Moment::from_ticks(ticks);
        prop_assert_eq!(parse_etag(&etag_text(moment)), Some(moment));
    }

    #[test]
    fn any_text_is_read_without_panic(text: String) {
        let _ = (parse_etag(&text), parse_etag(&format!("W/\"datetime'{text}'\"")));
    }
}
