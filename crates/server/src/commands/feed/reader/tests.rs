use armilla_client::ServerOptions;
use armilla_env::Env;

use super::*;

fn client() -> Client {
    Client::new(&ServerOptions::default(), Env::system()).unwrap()
}

fn scope(mode: Mode, partition_key: Option<&str>) -> Scope {
    let partition_key = partition_key.map(str::to_owned);
    Scope { database: "shop 1".to_owned(), container: "ø".to_owned(), mode, partition_key }
}

fn answer(status: u16, headers: &[(&'static str, &str)], body: &str) -> Answer {
    let headers = headers
        .iter()
        .map(|(name, value)| (header::HeaderName::from_static(name), value.parse().unwrap()))
        .collect();
    Answer { status: StatusCode::from_u16(status).unwrap(), headers, body: body.to_owned().into() }
}

fn sent(reader: &Reader<'_>, waits: bool) -> Vec<String> {
    let question = reader.question(7, waits).unwrap();
    assert_eq!(question.path, "/dbs/shop%201/colls/%C3%B8/docs");
    assert_eq!((question.resource_type, question.link.as_str()), ("docs", "dbs/shop 1/colls/ø"));
    let has_wait = question.headers.iter().any(|(name, _)| name == "prefer");
    assert_eq!(question.timeout, ANSWER_TIMEOUT + if has_wait { FEED_WAIT } else { Duration::ZERO });
    question.headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
}

#[test]
fn what_is_asked() {
    let client = client();
    let at = |from| Reader::new(&client, scope(Mode::Latest, None), from);
    let plain = ["x-ms-max-item-count: 7", "a-im: Incremental Feed"];
    assert_eq!(sent(&at(Start::Beginning), false), plain);
    assert_eq!(sent(&at(Start::Beginning), true), [&plain[..], &["prefer: wait=20"]].concat());
    assert_eq!(
        sent(&at(Start::Now), true),
        [&plain[..], &["if-none-match: *"]].concat(),
        "now is asked for at once"
    );
    assert_eq!(
        sent(&at(Start::Position("42".to_owned())), true),
        [&plain[..], &["if-none-match: \"42\"", "prefer: wait=20"]].concat()
    );
    let mut timed = at(Start::Time(1_794_754_165));
    let date = "if-modified-since: Sun, 15 Nov 2026 14:49:25 GMT";
    assert_eq!(sent(&timed, false), [&plain[..], &[date]].concat());
    let page = timed.judge(answer(304, &[("etag", "\"9\""), ("x-ms-content-path", "abc==")], "")).unwrap();
    assert!(timed.advance(page));
    let intended = "x-ms-cosmos-intended-collection-rid: abc==";
    assert_eq!(
        sent(&timed, false),
        [&plain[..], &["if-none-match: \"9\"", date, intended]].concat(),
        "the time is said again with every position"
    );
    let all = Reader::new(&client, scope(Mode::AllVersions, Some(r#"["a"]"#)), Start::Now);
    assert_eq!(
        sent(&all, true),
        [
            "x-ms-max-item-count: 7",
            "a-im: Full-Fidelity Feed",
            "x-ms-cosmos-changefeed-wire-format-version: 2021-09-15",
            "if-none-match: *",
            "x-ms-documentdb-partitionkey: [\"a\"]",
        ]
    );
}

#[test]
fn pages_and_positions() {
    let client = client();
    let mut reader = Reader::new(&client, scope(Mode::Latest, None), Start::Beginning);
    assert_eq!(reader.state(), None);
    let full = r#"{"_rid":"x","Documents":[{"id":"1"},{"id":"2"}],"_count":2}"#;
    let empty = r#"{"_rid":"x","Documents":[],"_count":0}"#;
    for (status, headers, body, count, is_end, has_moved) in [
        (200, &[("etag", "\"7\"")][..], full, 2, false, true),
        (200, &[("etag", "\"7\""), ("x-armilla-feed-end", "true")], full, 2, true, false),
        (200, &[("etag", "\"8\"")], empty, 0, false, true),
        (304, &[("etag", "\"8\""), ("x-ms-content-path", "abc==")], "", 0, true, false),
        (304, &[("etag", "\"F1;-1F-7;1F-FF-12\"")], "", 0, true, true),
    ] {
        let page = reader.judge(answer(status, headers, body)).unwrap();
        assert_eq!((page.lines.count, page.is_end), (count, is_end), "{status} {headers:?}");
        assert_eq!(reader.advance(page), has_moved, "{status} {headers:?}");
    }
    let state = reader.state().unwrap();
    assert_eq!((state.position.as_str(), state.rid.as_deref()), ("F1;-1F-7;1F-FF-12", Some("abc==")));
    let resumed = Reader::resume(&client, state.clone());
    assert_eq!(resumed.state(), Some(state));
}

#[test]
fn answers_that_are_no_pages() {
    let client = client();
    let reader = Reader::new(&client, scope(Mode::Latest, None), Start::Beginning);
    let judged = |answer| reader.judge(answer).unwrap_err();
    for (status, headers, body, expected) in [
        (200, &[][..], r#"{"Documents":[]}"#, "it gives no position"),
        (200, &[("etag", "\"a b\"")], r#"{"Documents":[]}"#, "it gives no position"),
        (200, &[("etag", "\"7\"")], r#"{"Documents":["#, "the page is no JSON object"),
        (304, &[], "", "it gives no position"),
        (400, &[("x-ms-substatus", "1024")], "{}", "was deleted and made again since this position"),
        (400, &[], r#"{"message":"older than the window"}"#, "older than the window"),
        (401, &[], "{}", "--key or ARMILLA_KEY"),
        (403, &[], r#"{"message":"no"}"#, "does not allow it: no"),
        (404, &[], "{}", "there is no container ø in a database shop 1"),
        (501, &[], r#"{"message":"not yet"}"#, "answered 501: not yet"),
    ] {
        match judged(answer(status, headers, body)) {
            Trouble::Lasting(error) => {
                assert!(format!("{error:#}").contains(expected), "{status}: {error:#}")
            }
            Trouble::Passing { why, .. } => panic!("{status}: {why}"),
        }
    }
    for (status, headers, expected) in [
        (429, &[("x-ms-retry-after-ms", "12")][..], Some(Duration::from_millis(12))),
        (429, &[("x-ms-retry-after-ms", "soon")], None),
        (503, &[], None),
        (500, &[], None),
        (410, &[("x-ms-substatus", "1002")], None),
        (408, &[], None),
        (449, &[], None),
    ] {
        match judged(answer(status, headers, r#"{"message":"busy"}"#)) {
            Trouble::Passing { why, retry_after } => {
                assert_eq!((why, retry_after), (format!("it answered {status}: busy"), expected));
            }
            Trouble::Lasting(error) => panic!("{status}: {error:#}"),
        }
    }
}
