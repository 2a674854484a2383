//! Waiting for changes: what wakes a reader, and what it is told.

use std::time::Duration;

use http::Method;

use super::client::{Answer, Client};
use super::feed_reader::{KEY, RANGE, Reader, entries, id, put, remove, with_container};

/// Lets others run, in tasks and on threads that may block.
async fn rest() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
        // Other threads are the point: no clock of ours says when they had their turn.
        tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(100))).await.unwrap();
    }
}

/// Reads a page while something else happens. Returns the page, and whether it was there before.
async fn meanwhile(client: &Client, reader: &Reader, happens: impl AsyncFnOnce()) -> (Answer, bool) {
    let early = std::cell::Cell::new(false);
    let done = std::cell::Cell::new(false);
    let read = async {
        let answer = reader.try_page(client).await;
        done.set(true);
        answer
    };
    let act = async {
        rest().await;
        early.set(done.get());
        happens().await;
    };
    let both = async { tokio::join!(read, act).0 };
    let answer = tokio::time::timeout(Duration::from_secs(20), both).await.expect("it wakes up");
    (answer, early.get())
}

async fn at_the_end(client: &Client, headers: &[(&'static str, &str)]) -> Reader {
    let mut reader = Reader::latest(headers).at("*");
    // A reader that begins now may wait, too.
    let (page, _) = meanwhile(client, &reader, async || client.clock.advance(Duration::from_secs(61))).await;
    reader.position = page.expect(304).header("etag").map(str::to_owned);
    reader
}

#[tokio::test]
async fn a_change_ends_the_wait() {
    let client = with_container("", "20000").await;
    for scope in [&[][..], &[(RANGE, "0")], &[(RANGE, "1")], &[(KEY, "[3]")]] {
        let headers = [&[("prefer", "wait=30")][..], scope].concat();
        let reader = at_the_end(&client, &headers).await;
        let (page, was_early) = meanwhile(&client, &reader, async || {
            for n in 0..8 {
                put(&client, n, n, "").await;
            }
            // Reads that find nothing come further apart.
            client.clock.advance(Duration::from_secs(1));
        })
        .await;
        let page = page.expect(200);
        assert!(!was_early, "{scope:?}");
        assert!(!entries(&page).is_empty());
        assert_eq!(page.header("preference-applied"), Some("wait=30"));
    }
}

#[tokio::test]
async fn a_wait_has_an_end() {
    let client = with_container("", "400").await;
    put(&client, 1, 1, "").await;
    for (asked, applied, seconds) in
        [("wait=1", "wait=1", 1), ("wait=60", "wait=60", 60), ("wait=61", "wait=60", 60)]
    {
        let reader = at_the_end(&client, &[("prefer", asked)]).await;
        let (page, was_early) = meanwhile(&client, &reader, async || {
            client.clock.advance(Duration::from_millis(seconds * 1_000 - 1));
            rest().await;
            client.clock.advance(Duration::from_millis(1));
        })
        .await;
        assert!(!was_early);
        let page = page.expect(304);
        assert_eq!(page.header("preference-applied"), Some(applied));
        assert!(page.header("etag").is_some() && page.header("x-ms-session-token").is_some());
        assert_eq!(page.header("etag"), reader.position.as_deref());
    }
}

#[tokio::test]
async fn what_is_there_is_not_waited_for() {
    let client = with_container("", "400").await;
    put(&client, 1, 1, "").await;
    for (prefer, applied) in
        [("wait=30", Some("wait=30")), ("wait=0", None), ("wait=x", None), ("return=minimal", None)]
    {
        let page = Reader::latest(&[("prefer", prefer)]).try_page(&client).await.expect(200);
        assert_eq!(page.header("preference-applied"), applied, "{prefer}");
    }
    for prefer in ["wait=0", "wait=x", "return=minimal"] {
        let page = Reader::latest(&[("prefer", prefer)]).at("*").try_page(&client).await.expect(304);
        assert_eq!(page.header("preference-applied"), None, "{prefer}");
    }
    let refused = Reader::latest(&[("prefer", "wait=30")]).at("\"nonsense\"").try_page(&client).await;
    refused.expect_code(400, 0);
}

#[tokio::test]
async fn changes_of_others_do_not_end_the_wait() {
    let client = with_container("", "400").await;
    put(&client, 5, 5, "").await;
    let reader = at_the_end(&client, &[("prefer", "wait=30"), (KEY, "[1]")]).await;
    let (page, was_early) = meanwhile(&client, &reader, async || {
        for n in 0..10 {
            put(&client, n + 10, 2, "").await;
            rest().await;
            client.clock.advance(Duration::from_millis(100));
        }
        // A delete is none in this mode.
        remove(&client, 5, 5).await;
        rest().await;
        put(&client, 1, 1, "").await;
        for _ in 0..20 {
            client.clock.advance(Duration::from_millis(100));
            rest().await;
        }
    })
    .await;
    assert!(!was_early);
    let page = page.expect(200);
    assert_eq!(entries(&page).iter().map(id).collect::<Vec<_>>(), ["1"]);
}

#[tokio::test]
async fn all_versions_are_waited_for() {
    let client = with_container(r#","changeFeedPolicy":{"retentionDuration":10}"#, "400").await;
    put(&client, 1, 1, "").await;
    let mut reader = Reader::all_versions(&[("prefer", "wait=30")]).at("*");
    let (page, _) = meanwhile(&client, &reader, async || remove(&client, 1, 1).await).await;
    reader.position = page.header("etag").map(str::to_owned);
    let page = page.expect(200);
    assert!(page.text.contains(r#""operationType":"delete""#), "{}", page.text);
}

#[tokio::test]
async fn splits_end_the_waits_for_their_range() {
    let client = with_container("", "400").await;
    for n in 0..20 {
        put(&client, n, n, "").await;
    }
    let range = at_the_end(&client, &[("prefer", "wait=30"), (RANGE, "0")]).await;
    let (page, was_early) = meanwhile(&client, &range, async || {
        client.reshape("split", "").await;
        client.clock.advance(Duration::from_millis(500));
    })
    .await;
    assert!(!was_early);
    page.expect_code(410, 1002);
    // A reader of all of the container goes on, and is told of what comes.
    let whole = at_the_end(&client, &[("prefer", "wait=60")]).await;
    let (page, _) = meanwhile(&client, &whole, async || {
        client.reshape("split", "").await;
        rest().await;
        put(&client, 100, 7, "").await;
        client.clock.advance(Duration::from_millis(500));
    })
    .await;
    assert_eq!(entries(&page.expect(200)).iter().map(id).collect::<Vec<_>>(), ["100"]);
}

#[tokio::test]
async fn no_reader_waits_for_what_will_not_come() {
    let client = with_container("", "400").await;
    let reader = at_the_end(&client, &[("prefer", "wait=60")]).await;
    let (page, was_early) =
        meanwhile(&client, &reader, async || drop(client.delete("/dbs/d/colls/c").await.expect(204))).await;
    assert!(!was_early);
    page.expect_code(404, 1003);

    let client = with_container("", "400").await;
    let reader = at_the_end(&client, &[("prefer", "wait=60")]).await;
    let (page, was_early) = meanwhile(&client, &reader, async || client.engine().end_waits()).await;
    assert!(!was_early);
    let page = page.expect(304);
    assert_eq!(page.header("etag"), reader.position.as_deref());
    // From now on every reader is answered at once.
    let (page, was_early) = meanwhile(&client, &reader, async || {}).await;
    assert!(was_early);
    page.expect(304);

    let client = with_container("", "400").await;
    let reader = at_the_end(&client, &[("prefer", "wait=60")]).await;
    let (page, _) = meanwhile(&client, &reader, async || client.engine().close().await.unwrap()).await;
    assert!(matches!(page.status, 304 | 503), "{page:?}");
}

#[tokio::test]
async fn writes_that_prefer_to_wait_do_not() {
    let client = with_container("", "400").await;
    let headers = [(KEY, "[1]"), ("prefer", "wait=60, return=minimal")];
    let body = r#"{"id":"1","pk":1}"#;
    let answer = client.send(Method::POST, super::feed_reader::DOCS, &headers, body).await.expect(201);
    assert_eq!(answer.text, "");
}
