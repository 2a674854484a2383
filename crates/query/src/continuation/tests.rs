//! Tokens: round trips, size, and what is refused.

use armilla_value::{HashedKey, Value};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::limits::{CONTINUATION_BYTES_MAX, CONTINUATION_KEY_BYTES_MAX};

fn arc() -> impl Strategy<Value = Arc> {
    let key =
        || proptest::collection::vec(any::<u8>(), 0..60).prop_map(|bytes| HashedKey::from_bytes(&bytes));
    (key(), key()).prop_map(|(min, max)| Arc { min, max })
}

fn mark() -> impl Strategy<Value = Mark> {
    (proptest::collection::vec(any::<u8>(), 0..700), any::<u64>())
        .prop_map(|(key, number)| Mark::new(&key, number))
}

fn given() -> impl Strategy<Value = Given> {
    let path = proptest::collection::vec(0u64..1 << 50, 0..=JOINS_MAX);
    (0u64..1 << 50, 0u64..1 << 50, path).prop_map(|(rows, tuples, path)| Given {
        rows,
        tuples,
        path: TuplePath::new(&path).unwrap(),
    })
}

fn spot() -> impl Strategy<Value = Spot> {
    let place = prop_oneof![
        Just(ArcProgress::Fresh),
        any::<u64>().prop_map(ArcProgress::Number),
        mark().prop_map(ArcProgress::Key),
        mark().prop_map(ArcProgress::Entry),
    ];
    let partial = (any::<u64>(), given()).prop_map(|(number, given)| Partial { number, given });
    (place, proptest::option::of(partial)).prop_map(|(place, partial)| Spot { place, partial })
}

fn aggregate() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(|number| Value::Array(vec![Value::Int64(number)])),
        (".{0,20}", any::<bool>())
            .prop_map(|(text, flag)| Value::Array(vec![Value::Bool(flag), Value::from(text)])),
        Just(Value::Array(vec![Value::Double(0.1), Value::Double(f64::INFINITY)])),
    ]
}

fn position() -> impl Strategy<Value = Position> {
    let unordered =
        (proptest::collection::vec((arc(), spot()), 0..4), proptest::collection::vec(aggregate(), 0..3))
            .prop_map(|(segments, aggregates)| Unordered { segments: Segments(segments), aggregates });
    let tied =
        (any::<u64>(), proptest::option::of(given())).prop_map(|(number, given)| Tied { number, given });
    let ordered = (mark(), proptest::collection::vec((arc(), tied), 0..4))
        .prop_map(|(Mark { bytes, is_cut, .. }, ties)| Ordered { key: bytes, is_cut, ties: Segments(ties) });
    prop_oneof![
        Just(Position::Rerun),
        (proptest::collection::vec(any::<u8>(), 0..40), any::<u128>(), 0u64..1_000)
            .prop_map(|(key, identity, repeats)| Position::Behind(Behind { key, identity, repeats })),
        unordered.prop_map(Position::Unordered),
        ordered.prop_map(Position::Ordered),
    ]
}

pub(crate) fn token() -> impl Strategy<Value = Token> {
    let number = || 0u64..1 << 50;
    (proptest::collection::vec(number(), 9), number(), position()).prop_map(|(counts, rows, position)| {
        let mut work = Work::default();
        for (field, count) in work_fields(&mut work).into_iter().zip(counts) {
            *field = count;
        }
        Token { work, steps: rows / 2, rows, position }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(token in token(), query in any::<u64>()) {
        let text = token.encode(query);
        prop_assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        prop_assert_eq!(Token::decode(&text, query).unwrap(), token);
        prop_assert_eq!(Token::decode(&text, query ^ 1).unwrap_err().kind, ErrorKind::Continuation);
        prop_assert!(continuation_cuts(&text, query).is_ok());
    }

    #[test]
    fn noise_is_an_error(text in ".{0,200}") {
        prop_assert_eq!(Token::decode(&text, 1).unwrap_err().kind, ErrorKind::Continuation);
    }

    /// A client that knows the form can make the checksum right; what it says may be nonsense, but breaks nothing.
    #[test]
    fn forged_bytes_do_no_harm(body in proptest::collection::vec(any::<u8>(), 0..120)) {
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&7u64.to_be_bytes());
        bytes.extend_from_slice(&body);
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum);
        match Token::decode(&URL_SAFE_NO_PAD.encode(bytes), 7) {
            Ok(token) => { token.encode(7); }
            Err(error) => prop_assert_eq!(error.kind, ErrorKind::Continuation),
        }
    }

    #[test]
    fn a_changed_character_is_noticed(token in token(), at in any::<proptest::sample::Index>(), to in "[A-Za-z0-9_-]") {
        let text = token.encode(3);
        let at = at.index(text.len());
        let mut changed = text.clone();
        changed.replace_range(at..=at, &to);
        if changed != text {
            // The last character may hold bits that stand for nothing, which decoding refuses too.
            prop_assert!(Token::decode(&changed, 3).is_err());
        }
    }
}

#[test]
fn a_token_is_small() {
    let ring = Arc { min: HashedKey::from_bytes(&[7; 48]), max: HashedKey::from_bytes(&[8; 48]) };
    let work = Work { fetched_bytes: 1 << 45, fetched: 1 << 30, scanned: 1 << 30, ..Work::default() };
    let key = vec![b'x'; 5_000];
    let Mark { bytes, is_cut, .. } = Mark::new(&key, 1);
    assert!(is_cut && bytes.len() == CONTINUATION_KEY_BYTES_MAX);
    assert!(!Mark::new(&key[..CONTINUATION_KEY_BYTES_MAX], 1).is_cut);
    let path = TuplePath::new(&[1 << 20; JOINS_MAX]).unwrap();
    let tied = Tied { number: 1 << 59, given: Some(Given { rows: 1 << 20, tuples: 1 << 20, path }) };
    let ordered = Ordered { key: bytes, is_cut, ties: Segments(vec![(ring, tied)]) };
    let token = Token { work, steps: 1 << 35, rows: 1 << 30, position: Position::Ordered(ordered) };
    let length = token.encode(u64::MAX).len();
    assert!(length < 1024, "{length}");
}

#[test]
fn the_longest_token_and_one_more() {
    let zeros = "A".repeat(CONTINUATION_BYTES_MAX);
    assert_eq!(Token::decode(&zeros, 1).unwrap_err().message, "Invalid Continuation Token. It is malformed.");
    assert_eq!(
        Token::decode(&(zeros + "A"), 1).unwrap_err().message,
        "Invalid Continuation Token. It is too long."
    );
}

#[test]
fn tokens_of_the_version_before_are_read() {
    // A plain position in one arc, behind item 7, with 3 rows and 9 tuples of item 8 given.
    let mut bytes = vec![VERSION_WITHOUT_PATHS];
    bytes.extend_from_slice(&5u64.to_be_bytes());
    bytes.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0, 9]);
    bytes.extend_from_slice(&[3, 1, 1, 1, 0x10, 1, 0x20, 1, 7, 1, 8, 3, 9, 0]);
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum);
    let token = Token::decode(&URL_SAFE_NO_PAD.encode(bytes), 5).unwrap();
    let given = Given { rows: 3, tuples: 9, ..Given::default() };
    let spot = Spot { place: ArcProgress::Number(7), partial: Some(Partial { number: 8, given }) };
    let arc = Arc { min: HashedKey::from_bytes(&[0x10]), max: HashedKey::from_bytes(&[0x20]) };
    let position = Unordered { segments: Segments(vec![(arc, spot)]), aggregates: Vec::new() };
    let work = Work { partitions: 1, join_tuples: 9, ..Work::default() };
    assert_eq!(token, Token { work, steps: 0, rows: 3, position: Position::Unordered(position) });
}

#[test]
fn later_versions_are_told_apart() {
    for (version, message) in [
        (0, "Invalid Continuation Token. It is malformed."),
        (3, "Invalid Continuation Token. It was made by a later version."),
    ] {
        let text = URL_SAFE_NO_PAD.encode([version, 1, 2, 3]);
        assert_eq!(Token::decode(&text, 1).unwrap_err().message, message);
    }
}

#[test]
fn sources_lie_left_inside_or_right() {
    let key = |text: &str| HashedKey::from_hex(text).unwrap();
    let segment = |min: &str, max: &str, at: u8| (Arc { min: key(min), max: key(max) }, at);
    let segments = Segments(vec![segment("10", "20", 1), segment("20", "30", 2)]);
    for (min, max, side) in [
        ("", "10", Ok(Side::Left)),
        ("", "1000", Ok(Side::Left)),
        ("10", "20", Ok(Side::Inside(&1))),
        ("11", "12", Ok(Side::Inside(&1))),
        ("1500", "20", Ok(Side::Inside(&1))),
        ("20", "30", Ok(Side::Inside(&2))),
        ("25", "25", Ok(Side::Inside(&2))),
        ("30", "FF", Ok(Side::Right)),
        ("", "11", Err(())),
        ("15", "25", Err(())),
        ("", "FF", Err(())),
        ("2F", "31", Err(())),
    ] {
        let found = segments.side_of(&(key(min), key(max))).map_err(|_| ());
        assert_eq!(found, side, "[{min}, {max})");
    }
    // The first half was read on; the second keeps its place, and so does what lies behind.
    let read_on = Segments::advanced(Some(&segments), (key("10"), key("18")), 9);
    assert_eq!(read_on.0, [segment("10", "18", 9), segment("18", "20", 1), segment("20", "30", 2)]);
    let read_on = Segments::advanced(Some(&segments), (key("20"), key("30")), 9);
    assert_eq!(read_on.0, [segment("20", "30", 9)]);
}
