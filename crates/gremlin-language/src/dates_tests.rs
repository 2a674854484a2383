use proptest::prelude::*;

use super::{date, date_text, uuid, uuid_text};

#[test]
fn dates() {
    let table = [
        ("1970-01-01", Some((0, 0))),
        ("1970-01-01T00:00:00Z", Some((0, 0))),
        ("2018-03-21T08:35:44.741Z", Some((1_521_621_344_741, 0))),
        ("2018-03-21T10:35:44.741+02:00", Some((1_521_621_344_741, 7_200))),
        ("2018-03-21T10:35:44.741+0200", Some((1_521_621_344_741, 7_200))),
        ("2018-03-21T10:35:44.741+02", Some((1_521_621_344_741, 7_200))),
        ("2018-03-21T06:35:44.741-02:00", Some((1_521_621_344_741, -7_200))),
        ("2018-03-21T08:35:44.7419999Z", Some((1_521_621_344_741, 0))),
        ("2018-03-21T08:35:44.7Z", Some((1_521_621_344_700, 0))),
        ("2018-03-21T08:35:44", Some((1_521_621_344_000, 0))),
        ("2018-03-21T08:35", Some((1_521_621_300_000, 0))),
        ("2018-03-21 08:35:00", Some((1_521_621_300_000, 0))),
        ("2018-03", Some((1_519_862_400_000, 0))),
        ("2000-02-29", Some((951_782_400_000, 0))),
        ("0000-01-01", Some((-62_167_219_200_000, 0))),
        ("1969-12-31T23:59:59.999Z", Some((-1, 0))),
        ("1900-02-29", None),
        ("2018-13-01", None),
        ("2018-00-01", None),
        ("2018-01-32", None),
        ("2018-01-01T24:00:00Z", None),
        ("2018-01-01T10:60:00Z", None),
        ("2018-01-01T10:00:00+19:00", None),
        ("2018-01-01T10:00:00X", None),
        ("2018-01-01X", None),
        ("999999999999-01-01", None),
        ("yesterday", None),
        ("", None),
        ("2018-01-01T", None),
        ("2018-01-01T10:00:00.", None),
    ];
    for (text, expected) in table {
        assert_eq!(date(text), expected, "{text}");
    }
}

#[test]
fn uuids() {
    let text = "41d2e28a-20a4-4ab0-b379-d810dede3786";
    assert_eq!(uuid(text).map(uuid_text).as_deref(), Some(text));
    for wrong in ["", "41d2e28a20a44ab0b379d810dede3786", "41d2e28a-20a4-4ab0-b379-d810dede378g", "é"] {
        assert_eq!(uuid(wrong), None, "{wrong}");
    }
}

proptest! {
    #[test]
    fn written_dates_are_read(milliseconds in any::<i64>(), offset in -64_800..64_800_i32) {
        // Years of more than nine digits do not occur in 64 bits of milliseconds.
        let text = date_text(milliseconds, offset);
        let room = i64::from(offset) * 1_000;
        if milliseconds.checked_add(room).is_some() {
            prop_assert_eq!(date(&text), Some((milliseconds, offset)), "{}", text);
        }
    }

    #[test]
    fn written_uuids_are_read(bits in any::<u128>()) {
        prop_assert_eq!(uuid(&uuid_text(bits)), Some(bits));
    }
}
