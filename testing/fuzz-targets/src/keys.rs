//! Key bytes: the order of two values is that of their bytes, and any bytes are decoded to what encodes to them, or to
//! nothing.

use armilla_index::{IndexId, entry_key, split_entry, term};
use armilla_value::partition_key::PartitionKey;
use armilla_value::{HashVersion, HashedKey, Value, hashed_key, json, key, sql_cmp};

/// Reads bytes as keys, and, cut at their first line feed, as two values.
pub fn keys(data: &[u8]) {
    decode(data);
    let mut lines = data.splitn(2, |byte| *byte == b'\n');
    let values: Vec<Value> = lines.by_ref().filter_map(|line| json::parse_extended(line).ok()).collect();
    values.iter().for_each(round_trip);
    if let [left, right] = &values[..] {
        order(left, right);
    }
    if let Ok(partition_key) = PartitionKey::from_json(data) {
        let mut bytes = Vec::new();
        partition_key.key_bytes(&mut bytes);
        let again = PartitionKey::from_key_bytes(&[&bytes[..], b"id"].concat());
        assert!(again.is_ok_and(|(again, used)| used == bytes.len() && again == partition_key));
        for version in [HashVersion::V1, HashVersion::V2, HashVersion::MultiHash] {
            let hashed = hashed_key(&partition_key, version);
            assert_eq!(HashedKey::from_hex(&hashed.to_string()), Some(hashed));
        }
    }
}

fn decode(data: &[u8]) {
    if let Ok((value, used)) = key::decode(data) {
        assert!(used <= data.len());
        let bytes = bytes_of(&value);
        let (again, length) = key::decode(&bytes).unwrap_or_else(|error| panic!("{error:?}: {value:?}"));
        assert_eq!(length, bytes.len(), "{value:?}");
        assert!(sql_cmp(&again, &value).is_eq(), "{again:?} and {value:?}");
    }
    if let Ok((_, used)) = key::decode_option(data) {
        assert!(used <= data.len());
    }
    if let Some((bytes, rest)) = key::unescape(data) {
        let mut escaped = Vec::new();
        key::escape(&bytes, &mut escaped);
        assert_eq!([&escaped[..], rest].concat(), data);
    }
    if let Ok((_, used)) = PartitionKey::from_key_bytes(data) {
        assert!(used <= data.len());
    }
    if let Some((index, term, number)) = split_entry(data) {
        assert_eq!(entry_key(index, term, number), data);
        let _ = (term::decode(term), term::is_cut(term));
    }
    assert!(term::length(data).is_none_or(|length| length <= data.len()));
}

fn bytes_of(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    key::encode_value(value, &mut bytes);
    bytes
}

fn round_trip(value: &Value) {
    let bytes = bytes_of(value);
    let (again, used) = key::decode(&bytes).unwrap_or_else(|error| panic!("{error:?}: {value:?}"));
    assert_eq!(used, bytes.len(), "{value:?}");
    assert!(sql_cmp(&again, value).is_eq(), "{again:?} and {value:?}");
    let term = term::of(Some(value));
    assert_eq!(term::length(&term), Some(term.len()), "{value:?}");
    let entry = entry_key(IndexId(7), &term, 9);
    assert_eq!(split_entry(&entry), Some((IndexId(7), &term[..], 9)));
}

fn order(left: &Value, right: &Value) {
    assert_eq!(bytes_of(left).cmp(&bytes_of(right)), sql_cmp(left, right), "{left:?} and {right:?}");
    let is_same = sql_cmp(left, right).is_eq();
    assert_eq!(term::of(Some(left)) == term::of(Some(right)), is_same, "{left:?} and {right:?}");
}
