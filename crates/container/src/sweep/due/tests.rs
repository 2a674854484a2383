use armilla_index::{entry_key, term};

use super::*;

fn entry(ts: u32, number: u64) -> Bytes {
    let term = term::of(Some(&Value::Int64(i64::from(ts))));
    entry_key(IndexId::of_property(TS), &term, number)
}

#[test]
fn records_lie_in_the_order_of_time() {
    let records = [(0, 9), (1, 0), (1, 1), (1, u64::MAX), (255, 1), (256, 0), (u32::MAX, 0)];
    let keys: Vec<Bytes> = records.iter().map(|(second, number)| keys::expiry(*second, *number)).collect();
    assert!(keys.is_sorted());
    for (key, record) in keys.iter().zip(records) {
        assert_eq!(keys::decode_expiry(key).unwrap(), record);
        for length in 0..key.len() {
            assert!(keys::decode_expiry(&key[..length]).is_err());
        }
        assert!(keys::decode_expiry(&[&key[..], &[0]].concat()).is_err());
    }
}

/// What two ways of finding items ask for is exactly what is expired.
#[test]
fn ranges_end_where_items_live() {
    for (default_ttl, now) in [(10, 100), (10, 10), (10, 9), (1, 1), (i32::MAX, u32::MAX), (-1, 100)] {
        let expiry = Expiry::new(Some(default_ttl), now, None);
        let range = due_stamps(&expiry).unwrap_or_else(KeyRange::empty);
        let records = due_records(&expiry);
        let Bound::Excluded(upper) = records.upper else { panic!("the records have no end") };
        let near = |second: u32| (second.saturating_sub(2)..=second.saturating_add(2)).chain([0, u32::MAX]);
        let last_ts = now.saturating_sub(default_ttl.unsigned_abs());
        for ts in near(last_ts) {
            let is_expired = default_ttl > 0 && u64::from(now) > u64::from(ts) + default_ttl as u64;
            for number in [0, 7, u64::MAX] {
                assert_eq!(range.contains(&entry(ts, number)), is_expired, "{default_ttl} at {now}: {ts}");
                assert!(first_entry(ts) <= entry(ts, number));
                assert!(ts == 0 || entry(ts - 1, number) < first_entry(ts));
                assert!(entry(ts, number) < behind(&entry(ts, number)));
            }
        }
        for last_second in near(now) {
            assert_eq!(keys::expiry(last_second, u64::MAX) < upper, now > last_second);
            assert_eq!(keys::expiry(last_second, 0) < upper, now > last_second);
        }
    }
}

#[test]
fn a_cursor_goes_back_for_early_time_stamps_only() {
    let cursor = DueCursor::default();
    assert_eq!(cursor.begin(), None);
    cursor.note_landed(Some(5));
    assert_eq!(cursor.begin(), None, "nothing was looked through");
    cursor.end(Some(behind(&entry(100, 7))));
    cursor.note_landed(None);
    cursor.note_landed(Some(200));
    cursor.note_landed(Some(101));
    assert_eq!(cursor.begin(), Some(behind(&entry(100, 7))));
    // The same second may have come before and behind.
    cursor.note_landed(Some(100));
    assert_eq!(cursor.begin(), Some(first_entry(100)));
    cursor.end(Some(behind(&entry(300, 7))));
    assert_eq!(cursor.begin(), Some(behind(&entry(300, 7))), "it goes back once");
    // What comes during a look counts for the next look.
    cursor.note_landed(Some(50));
    cursor.note_landed(Some(60));
    cursor.end(Some(behind(&entry(400, 7))));
    assert_eq!(cursor.begin(), Some(first_entry(50)));
}
