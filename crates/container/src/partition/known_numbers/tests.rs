//! What is remembered, how long, and in how many bytes.

use std::collections::HashMap;

use armilla_value::rid::DatabaseRid;

use super::*;

fn container(number: u32) -> ContainerRid {
    ContainerRid::new(DatabaseRid::new(1).unwrap(), number)
}

/// Keys of all lengths that a record may have, up to ones that fill hundreds of units.
fn key(number: u64) -> Vec<u8> {
    let length = 1 + (spread(number) % 60) as usize + if number.is_multiple_of(97) { 3_000 } else { 0 };
    number.to_be_bytes().into_iter().cycle().take(length).collect()
}

fn bytes_of(known: &KnownNumbers) -> usize {
    known.shards.iter().map(|shard| shard.read().taken_bytes()).sum()
}

const BYTES_MAX: usize = KNOWN_NUMBERS_SHARDS * 64 * 1024;

#[test]
fn nothing_takes_memory_before_it_is_remembered() {
    let known = KnownNumbers::new(BYTES_MAX);
    assert_eq!(known.look_up(container(1), &[1, 2]), [None, None]);
    assert_eq!(bytes_of(&known), 0);
}

#[test]
fn memory_is_bounded_and_what_is_used_stays() {
    let known = KnownNumbers::new(BYTES_MAX);
    let (one, other) = (container(1), container(2));
    known.remember(one, [(0, &b"kept"[..])]);
    for number in 1..200_000 {
        known.remember(one, [(number, &key(number)[..])]);
        assert_eq!(known.look_up(one, &[0]), [Some(Bytes::from_static(b"kept"))], "after {number}");
    }
    assert!(bytes_of(&known) <= BYTES_MAX);
    assert!(bytes_of(&known) > BYTES_MAX / 10 * 9);
    assert_eq!(known.look_up(one, &[1]), [None]);
    assert_eq!(known.look_up(other, &[0]), [None]);
}

/// Whatever is written over what, a number never leads to the key of another.
#[test]
fn what_is_found_is_what_was_remembered() {
    let known = KnownNumbers::new(BYTES_MAX);
    let mut found_count = 0;
    for round in 0..60_000u64 {
        let number = spread(round) % 20_000;
        let own = container((round % 3) as u32 + 1);
        let with = |number: u64| [&own.to_bytes()[..], &key(number)].concat();
        known.remember(own, [(number, &with(number)[..])]);
        let asked = [number, round % 20_000, u64::MAX, number];
        let found = known.look_up(own, &asked);
        assert_eq!(found[0].as_deref(), Some(&with(number)[..]));
        assert_eq!(found[3], found[0]);
        assert_eq!(found[2], None);
        if let Some(found) = &found[1] {
            found_count += 1;
            assert_eq!(found[..], with(asked[1])[..]);
        }
    }
    assert!(found_count > 5_000, "{found_count}");
}

#[test]
fn most_of_what_fits_is_known() {
    let known = KnownNumbers::new(BYTES_MAX);
    let keys: HashMap<u64, [u8; 40]> = (0..10_000).map(|number| (number, [number as u8; 40])).collect();
    known.remember(container(1), keys.iter().map(|(number, key)| (*number, &key[..])));
    let numbers: Vec<u64> = keys.keys().copied().collect();
    let found = known.look_up(container(1), &numbers);
    let known_count = found.iter().flatten().count();
    // A bucket may be full before the ring is.
    assert!(known_count > 9_500, "{known_count}");
}

#[test]
fn a_key_that_is_too_long_is_not_remembered() {
    let known = KnownNumbers::new(BYTES_MAX);
    let longest = known.shards[0].read().payload_max() - HEADER_BYTES;
    let keys = [vec![7; longest], vec![7; longest + 1]];
    known.remember(container(1), [(1, &keys[0][..]), (2, &keys[1][..])]);
    assert_eq!(known.look_up(container(1), &[1, 2]), [Some(Bytes::from(keys[0].clone())), None]);
}

#[test]
fn no_memory_remembers_nothing() {
    let known = KnownNumbers::new(0);
    known.remember(container(1), [(1, &b"key"[..])]);
    assert_eq!(known.look_up(container(1), &[1]), [None]);
    assert_eq!(bytes_of(&known), 0);
}
