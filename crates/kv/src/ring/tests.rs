//! What is found, how long, and in how many bytes.

use std::collections::HashMap;

use super::*;

const BYTES_MAX: usize = 64 * 1024;

fn hash(number: u64) -> u64 {
    let word = (number ^ number >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    word ^ word >> 29
}

fn put(ring: &mut Ring, number: u64, value: &[u8]) {
    let key = number.to_be_bytes();
    ring.put(hash(number), &[&key, value], |payload| payload.starts_with(&key));
}

fn get(ring: &Ring, number: u64) -> Option<&[u8]> {
    let key = number.to_be_bytes();
    let place = ring.find(hash(number), |payload| payload.starts_with(&key))?;
    Some(&ring.payload(place)[key.len()..])
}

/// Values of all lengths, up to ones that fill hundreds of units.
fn value(number: u64, version: u64) -> Vec<u8> {
    let length = (hash(number + version) % 60) as usize + if number.is_multiple_of(97) { 3_000 } else { 0 };
    (number ^ version << 32).to_be_bytes().into_iter().cycle().take(length).collect()
}

#[test]
fn nothing_takes_memory_before_it_is_put() {
    let ring = Ring::new(BYTES_MAX, 32);
    assert_eq!(get(&ring, 1), None);
    assert_eq!((ring.taken_bytes(), ring.used_bytes()), (0, 0));
    assert_eq!((ring.touch_slots(1), ring.touch_record(1)), (0, 0));
}

/// Whatever is written over what, no reader finds the record of another, or an older version of it.
#[test]
fn what_is_found_is_what_was_put_last() {
    let mut ring = Ring::new(BYTES_MAX, 32);
    let mut newest: HashMap<u64, u64> = HashMap::new();
    let mut found_count = 0;
    for round in 0..60_000u64 {
        let number = hash(round) % 3_000;
        if round.is_multiple_of(11) {
            let key = number.to_be_bytes();
            ring.remove(hash(number), |payload| payload.starts_with(&key));
            newest.remove(&number);
            assert_eq!(get(&ring, number), None);
        } else {
            put(&mut ring, number, &value(number, round));
            newest.insert(number, round);
        }
        let asked = round % 3_000;
        if let Some(found) = get(&ring, asked) {
            found_count += 1;
            assert_eq!(found, value(asked, newest[&asked]));
        }
        assert!(ring.taken_bytes() <= BYTES_MAX && ring.used_bytes() <= BYTES_MAX);
    }
    assert!(found_count > 10_000, "{found_count}");
    assert!(ring.taken_bytes() > BYTES_MAX / 10 * 9);
}

#[test]
fn what_is_put_again_while_it_is_old_stays() {
    let mut ring = Ring::new(BYTES_MAX, 32);
    put(&mut ring, 0, b"kept");
    for number in 1..50_000 {
        put(&mut ring, number, &value(number, 0));
        let key = 0u64.to_be_bytes();
        let place = ring.find(hash(0), |payload| payload.starts_with(&key)).expect("it is in use");
        if ring.is_old(place) {
            put(&mut ring, 0, b"kept");
        }
    }
    assert_eq!(get(&ring, 1), None);
}

#[test]
fn most_of_what_fits_is_found() {
    let mut ring = Ring::new(BYTES_MAX, 32);
    let count = (BYTES_MAX / 72) as u64;
    (0..count).for_each(|number| put(&mut ring, number, &[7; 40]));
    let found = (0..count).filter(|number| get(&ring, *number).is_some()).count();
    // A bucket may be full before the ring is.
    assert!(found as u64 > count / 20 * 19, "{found} of {count}");
}

#[test]
fn a_record_that_is_too_long_is_left_out() {
    let mut ring = Ring::new(BYTES_MAX, 32);
    let longest = ring.payload_max() - 8;
    put(&mut ring, 1, &vec![7; longest]);
    put(&mut ring, 2, &vec![7; longest + 1]);
    assert_eq!(get(&ring, 1).map(<[u8]>::len), Some(longest));
    assert_eq!(get(&ring, 2), None);
    let mut none = Ring::new(0, 32);
    put(&mut none, 1, b"");
    assert_eq!((get(&none, 1), none.taken_bytes()), (None, 0));
}

#[test]
fn some_are_kept_and_all_others_forgotten() {
    let mut ring = Ring::new(BYTES_MAX, 32);
    (0..100).for_each(|number| put(&mut ring, number, b"value"));
    ring.retain(|payload| payload[7] % 2 == 0);
    for number in 0..100 {
        assert_eq!(get(&ring, number).is_some(), number % 2 == 0, "{number}");
    }
}

#[test]
fn places_begin_anew_before_they_have_too_many_bits() {
    let mut ring = Ring::new(BYTES_MAX, 32);
    put(&mut ring, 1, b"old");
    ring.head = (1 << PLACE_BITS) - 1;
    put(&mut ring, 2, b"lost");
    assert_eq!((get(&ring, 1), get(&ring, 2)), (None, None));
    put(&mut ring, 2, b"new");
    assert_eq!(get(&ring, 2), Some(&b"new"[..]));
}
