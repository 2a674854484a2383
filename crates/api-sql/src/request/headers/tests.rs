use std::time::Duration;

use armilla_engine::{Bucket, FEED_WAIT_MAX, Migration, Priority};
use armilla_rest_wire::names;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::{FeedMode, IndexMetricsForm, IndexingDirective, PostKind, RequestHeaders, Tag};
use crate::limits::{FEED_POSITION_BYTES_MAX, PAGE_ITEMS_MAX, PARTITION_KEY_HEADER_BYTES_MAX};
use crate::reply::failure::Failure;

fn map(pairs: &[(&HeaderName, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| ((*name).clone(), HeaderValue::from_bytes(value.as_bytes()).unwrap()))
        .collect()
}

/// Reads one header by one method, for each value; `None` stands for a refusal that names the header.
#[track_caller]
fn check<T: PartialEq + std::fmt::Debug>(
    name: &HeaderName,
    read: impl for<'h> Fn(RequestHeaders<'h>) -> Result<T, Failure>,
    cases: &[(&str, Option<T>)],
) {
    for (value, expected) in cases {
        let map = map(&[(name, value)]);
        match (read(RequestHeaders(&map)), expected) {
            (Ok(found), Some(expected)) => assert_eq!(found, *expected, "{name}: {value}"),
            (Err(failure), None) => {
                assert_eq!(failure.status.http, 400, "{name}: {value}");
                assert!(failure.message.contains(name.as_str()), "{}", failure.message);
            }
            (found, expected) => panic!("{name}: {value}: {found:?}, not {expected:?}"),
        }
    }
}

#[test]
fn booleans_have_any_case() {
    let cases = [
        ("true", Some(true)),
        ("True", Some(true)),
        ("TRUE", Some(true)),
        (" true ", Some(true)),
        ("false", Some(false)),
        ("False", Some(false)),
        ("", Some(false)),
        ("yes", None),
        ("1", None),
    ];
    check(&names::IS_UPSERT, |headers| headers.flag(&names::IS_UPSERT), &cases);
    assert!(!RequestHeaders(&HeaderMap::new()).flag(&names::IS_UPSERT).unwrap());
}

#[test]
fn page_sizes() {
    let long = "99999999999999999999999";
    check(
        &names::MAX_ITEM_COUNT,
        |headers| headers.page_items_max(),
        &[
            ("-1", Some(None)),
            ("", Some(None)),
            ("1", Some(Some(1))),
            ("10000", Some(Some(PAGE_ITEMS_MAX))),
            ("10001", Some(Some(PAGE_ITEMS_MAX))),
            (long, Some(Some(PAGE_ITEMS_MAX))),
            ("0", None),
            ("-2", None),
            ("ten", None),
            ("1.5", None),
        ],
    );
    assert_eq!(RequestHeaders(&HeaderMap::new()).page_items_max(), Ok(None));
}

#[test]
fn tags() {
    let tag = "\"0000d826-0700-0000-0000-5f2c1b230000\"";
    let map = map(&[(&http::header::IF_MATCH, tag), (&http::header::IF_NONE_MATCH, "*")]);
    let headers = RequestHeaders(&map);
    assert_eq!(headers.if_match(), Ok(Some(Tag::Exactly(tag))));
    assert_eq!(headers.if_none_match(), Ok(Some(Tag::Any)));
    assert_eq!(RequestHeaders(&HeaderMap::new()).if_match(), Ok(None));
}

#[test]
fn minimal_answers() {
    check(
        &names::PREFER,
        |headers| headers.prefers_minimal(),
        &[
            ("return=minimal", Some(true)),
            ("respond-async, return=minimal", Some(true)),
            ("Return=Minimal", Some(true)),
            ("return=representation", Some(false)),
            ("wait=10, return=minimal", Some(true)),
            ("wait=10", Some(false)),
            ("", Some(false)),
        ],
    );
    check(
        &names::POPULATE_CONTENT_ON_WRITE,
        |headers| headers.prefers_minimal(),
        &[("False", Some(true)), ("true", Some(false)), ("", Some(false)), ("maybe", None)],
    );
}

#[test]
fn waits() {
    let seconds = Duration::from_secs;
    check(
        &names::PREFER,
        |headers| Ok(headers.wait()),
        &[
            ("wait=10", Some(Some(seconds(10)))),
            ("Wait = 10", Some(Some(seconds(10)))),
            ("return=minimal,wait=1", Some(Some(seconds(1)))),
            ("respond-async; wait=\"20\"", Some(Some(seconds(20)))),
            ("wait=1, wait=2", Some(Some(seconds(1)))),
            ("wait=0", Some(Some(seconds(0)))),
            ("wait=61", Some(Some(seconds(61)))),
            ("wait=99999999999999999999", Some(Some(FEED_WAIT_MAX))),
            ("wait", Some(None)),
            ("wait=", Some(None)),
            ("wait=-1", Some(None)),
            ("wait=soon", Some(None)),
            ("await=10", Some(None)),
            ("", Some(None)),
        ],
    );
    let mut several = map(&[(&names::PREFER, "return=minimal")]);
    several.append(&names::PREFER, HeaderValue::from_static("wait=3"));
    assert_eq!(RequestHeaders(&several).wait(), Some(seconds(3)));
    assert_eq!(RequestHeaders(&several).prefers_minimal(), Ok(true));
}

#[test]
fn positions_in_a_change_feed() {
    let longest = format!("\"{}\"", "1".repeat(FEED_POSITION_BYTES_MAX - 2));
    let too_long = format!("{longest}1");
    for (value, expected) in [
        ("*", Ok(Some(Tag::Any))),
        ("\"42\"", Ok(Some(Tag::Exactly("42")))),
        ("42", Ok(Some(Tag::Exactly("42")))),
        ("W/\"42\"", Ok(Some(Tag::Exactly("42")))),
        ("\"F1;00-20-7;20-FF-9\"", Ok(Some(Tag::Exactly("F1;00-20-7;20-FF-9")))),
        ("\"42", Ok(Some(Tag::Exactly("\"42")))),
        ("\"\"", Ok(Some(Tag::Exactly("")))),
        ("\"", Ok(Some(Tag::Exactly("\"")))),
        (&longest, Ok(Some(Tag::Exactly(&longest[1..longest.len() - 1])))),
        ("", Ok(None)),
        (&too_long, Err(400)),
    ] {
        let map = map(&[(&http::header::IF_NONE_MATCH, value)]);
        let found = RequestHeaders(&map).feed_position().map_err(|failure| failure.status.http.as_u16());
        assert_eq!(found, expected, "{value}");
    }
    assert_eq!(RequestHeaders(&HeaderMap::new()).feed_position(), Ok(None));
}

#[test]
fn times_of_change_feeds() {
    check(
        &http::header::IF_MODIFIED_SINCE,
        |headers| headers.if_modified_since(),
        &[
            ("Thu, 27 Apr 2017 00:51:12 GMT", Some(Some(1_493_254_272))),
            ("Thu, 27 Apr 2017 00:51:12 UTC", Some(Some(1_493_254_272))),
            ("", Some(None)),
            ("2017-04-27", Some(None)),
            ("now", Some(None)),
        ],
    );
}

#[test]
fn envelopes_of_changes() {
    check(
        &names::CHANGE_FEED_WIRE_FORMAT,
        |headers| headers.wants_change_envelopes(),
        &[("2021-09-15", Some(true)), ("", Some(false)), ("2021-09-16", None), ("1", None)],
    );
}

#[test]
fn posts_are_told_apart_in_order() {
    let all: [(&HeaderName, &str); 4] = [
        (&names::IS_QUERY_PLAN, "True"),
        (&names::IS_QUERY, "true"),
        (&names::IS_BATCH, "True"),
        (&names::IS_UPSERT, "True"),
    ];
    let expected =
        [PostKind::QueryPlan, PostKind::Query, PostKind::Batch, PostKind::Upsert, PostKind::Create];
    for (skipped, expected) in expected.into_iter().enumerate() {
        let map = map(&all[skipped..]);
        assert_eq!(RequestHeaders(&map).post_kind(), Ok(expected));
    }
}

#[test]
fn queries_are_recognised() {
    check(&names::IS_QUERY, |headers| headers.is_query(), &[("True", Some(true)), ("false", Some(false))]);
    check(&names::IS_QUERY_LEGACY, |headers| headers.is_query(), &[("true", Some(true))]);
    check(
        &http::header::CONTENT_TYPE,
        |headers| headers.is_query(),
        &[
            ("application/query+json", Some(true)),
            ("Application/Query+JSON; charset=utf-8", Some(true)),
            ("application/query+jsonx", Some(false)),
            ("application/json", Some(false)),
            ("", Some(false)),
        ],
    );
}

#[test]
fn feed_modes() {
    check(
        &names::A_IM,
        |headers| headers.feed_mode(),
        &[
            ("Incremental Feed", Some(Some(FeedMode::Incremental))),
            ("Incremental feed", Some(Some(FeedMode::Incremental))),
            ("Full-Fidelity Feed", Some(Some(FeedMode::FullFidelity))),
            ("", Some(None)),
            ("feed", None),
        ],
    );
}

#[test]
fn indexing_directives_are_words_or_numbers() {
    use IndexingDirective::{Default, Exclude, Include};
    check(
        &names::INDEXING_DIRECTIVE,
        |headers| headers.indexing_directive(),
        &[
            ("Default", Some(Default)),
            ("0", Some(Default)),
            ("1", Some(Exclude)),
            ("exclude", Some(Exclude)),
            ("2", Some(Include)),
            ("INCLUDE", Some(Include)),
            ("3", None),
        ],
    );
}

#[test]
fn throughput() {
    check(
        &names::OFFER_THROUGHPUT,
        |headers| headers.offer_throughput(),
        &[("400", Some(Some(400))), ("", Some(None)), ("-1", None), ("4e2", None), ("4294967296", None)],
    );
    check(
        &names::OFFER_TYPE,
        |headers| headers.offer_type_throughput(),
        &[
            ("S1", Some(Some(400))),
            ("s2", Some(Some(1_000))),
            ("S3", Some(Some(2_500))),
            ("Invalid", Some(None)),
            ("S4", None),
        ],
    );
}

#[test]
fn token_life_is_bounded() {
    check(
        &names::EXPIRY_SECONDS,
        |headers| headers.expiry_seconds(),
        &[("10", Some(Some(10))), ("86400", Some(Some(86_400))), ("9", None), ("86401", None), ("x", None)],
    );
}

#[test]
fn priorities() {
    check(
        &names::PRIORITY_LEVEL,
        |headers| headers.priority(),
        &[
            ("High", Some(Priority::High)),
            ("low", Some(Priority::Low)),
            ("LOW", Some(Priority::Low)),
            ("", Some(Priority::High)),
            ("Medium", None),
            ("1", None),
        ],
    );
}

#[test]
fn throughput_buckets_are_numbers() {
    check(
        &names::THROUGHPUT_BUCKET,
        |headers| headers.throughput_bucket(),
        &[
            ("", Some(None)),
            ("1", Some(Bucket::new(1))),
            ("5", Some(Bucket::new(5))),
            ("0", None),
            ("6", None),
            ("256", None),
            ("x", None),
        ],
    );
}

#[test]
fn throughput_changes_its_kind_one_way() {
    for (to_autoscale, to_manual, expected) in [
        ("", "", Ok(None)),
        ("true", "", Ok(Some(Migration::ToAutoscale))),
        ("True", "false", Ok(Some(Migration::ToAutoscale))),
        ("", "true", Ok(Some(Migration::ToManual))),
        ("false", "false", Ok(None)),
        ("true", "true", Err(400)),
        ("yes", "", Err(400)),
    ] {
        let map =
            map(&[(&names::MIGRATE_TO_AUTOSCALE, to_autoscale), (&names::MIGRATE_TO_MANUAL, to_manual)]);
        let found = RequestHeaders(&map).migration().map_err(|failure| failure.status.http.as_u16());
        assert_eq!(found, expected, "{to_autoscale} {to_manual}");
    }
}

#[test]
fn key_ranges() {
    let range = |pairs: &[(&HeaderName, &str)]| {
        let map = map(pairs);
        RequestHeaders(&map)
            .effective_key_range()
            .map(|range| range.map(|(start, end)| (start.to_owned(), end.to_owned())))
    };
    let kind = (&names::READ_KEY_TYPE, "EffectivePartitionKeyRange");
    let bounds = |start: &str, end: &str| Ok(Some((start.to_owned(), end.to_owned())));
    assert_eq!(range(&[]), Ok(None));
    assert_eq!(range(&[kind]), Ok(None));
    assert_eq!(range(&[kind, (&names::START_EPK, "1F"), (&names::END_EPK, "2f")]), bounds("1F", "2f"));
    assert_eq!(range(&[kind, (&names::START_EPK, "1F")]), bounds("1F", "FF"));
    assert_eq!(range(&[kind, (&names::END_EPK, "1F")]), bounds("", "1F"));
    for bad in [
        &[(&names::READ_KEY_TYPE, "EffectivePartitionKey")][..],
        &[(&names::START_EPK, "xyz")],
        &[(&names::START_EPK, "00"), (&names::END_EPK, "-1")],
    ] {
        assert_eq!(range(bad).unwrap_err().status.http, 400);
    }
}

#[test]
fn one_trigger_is_named_and_not_excluded() {
    let one = |name: &str| Some(Some(name.to_owned()));
    let cases = [
        ("a", one("a")),
        (" a , ", one("a")),
        ("a,a", one("a")),
        ("", Some(None)),
        (" ,", Some(None)),
        ("a,b", None),
        ("a b", one("a b")),
    ];
    check(&names::PRE_TRIGGER_INCLUDE, |headers| Ok(headers.triggers()?.pre), &cases);
    check(&names::POST_TRIGGER_INCLUDE, |headers| Ok(headers.triggers()?.post), &cases);
    for (include, exclude, expected) in [
        ("a", "a", None),
        ("a", "b", Some("a")),
        ("a,b", "b, c", Some("a")),
        ("a,b,a", "a", Some("b")),
        ("", "a", None),
    ] {
        let map = map(&[(&names::POST_TRIGGER_INCLUDE, include), (&names::POST_TRIGGER_EXCLUDE, exclude)]);
        let triggers = RequestHeaders(&map).triggers().unwrap();
        assert_eq!((triggers.pre, triggers.post.as_deref()), (None, expected), "{include} but {exclude}");
    }
}

#[test]
fn batches_are_atomic_unless_told_otherwise() {
    let cases = [("True", Some(true)), ("false", Some(false)), ("", Some(true)), ("0", None)];
    check(&names::BATCH_ATOMIC, |headers| headers.batch_is_atomic(), &cases);
    assert!(RequestHeaders(&HeaderMap::new()).batch_is_atomic().unwrap());
}

#[test]
fn long_and_odd_values_are_refused() {
    let partition_key = |value: &[u8]| {
        let mut map = HeaderMap::new();
        map.insert(&names::PARTITION_KEY, HeaderValue::from_bytes(value).unwrap());
        RequestHeaders(&map).partition_key().map(|key| key.map(str::to_owned))
    };
    assert_eq!(partition_key("[\"é\"]".as_bytes()), Ok(Some("[\"é\"]".to_owned())));
    assert!(partition_key(&[0xFF]).unwrap_err().message.contains("x-ms-documentdb-partitionkey"));
    assert!(partition_key(&vec![b'a'; PARTITION_KEY_HEADER_BYTES_MAX]).is_ok());
    assert!(partition_key(&vec![b'a'; PARTITION_KEY_HEADER_BYTES_MAX + 1]).is_err());
}

#[test]
fn pages_of_queries() {
    check(
        &names::MAX_ITEM_COUNT,
        |headers| headers.page_rows_max(),
        &[
            ("-1", Some(Some(PAGE_ITEMS_MAX))),
            ("", Some(None)),
            ("3", Some(Some(3))),
            ("1000000", Some(Some(PAGE_ITEMS_MAX))),
            ("0", None),
            ("-2", None),
        ],
    );
}

#[test]
fn index_metrics_have_two_forms() {
    let (first, second) = (&names::POPULATE_INDEX_METRICS, &names::POPULATE_INDEX_METRICS_V2);
    for (pairs, expected) in [
        (&[][..], None),
        (&[(first, "False")], None),
        (&[(first, "True")], Some(IndexMetricsForm::First)),
        (&[(second, "true")], Some(IndexMetricsForm::Second)),
        (&[(first, "true"), (second, "true")], Some(IndexMetricsForm::Second)),
        (&[(first, "true"), (second, "false")], Some(IndexMetricsForm::First)),
    ] {
        assert_eq!(RequestHeaders(&map(pairs)).index_metrics().unwrap(), expected, "{pairs:?}");
    }
}
