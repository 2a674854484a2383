//! The change feed of newest versions: where it begins, what it is kept to, pages, the end.

use std::time::Duration;

use armilla_value::Value;
use http::Method;

use super::client::{Client, READ_ONLY_KEY};
use super::feed_reader::{
    DOCS, ENVELOPES, KEY, LATEST, RANGE, Reader, batch, entries, id, number, numbers, put, remove, sorted,
    with_container,
};

#[tokio::test]
async fn changes_come_in_the_order_of_their_commits() {
    let client = with_container("", "400").await;
    for n in 0..5 {
        put(&client, n, n % 2, r#","v":1"#).await;
    }
    put(&client, 1, 1, r#","v":2"#).await;
    remove(&client, 2, 0).await;
    let mut reader = Reader::latest(&[]);
    let page = reader.page(&client).await;
    let changes = entries(&page);
    let found: Vec<(String, i64)> = changes.iter().map(|entry| (id(entry), number(entry, &["v"]))).collect();
    let expected = [("0", 1), ("3", 1), ("4", 1), ("1", 2)].map(|(id, v)| (id.to_owned(), v));
    assert_eq!(found, expected, "each item once, where it was written last; what is deleted not at all");
    let lsns: Vec<i64> = changes.iter().map(|entry| number(entry, &["_lsn"])).collect();
    assert!(lsns.is_sorted_by(|left, right| left < right), "{lsns:?}");
    // Entries are items as a read shows them, and the commit.
    let read = client.send(Method::GET, &format!("{DOCS}/1"), &[(KEY, "[1]")], "").await.expect(200);
    let expected = format!(r#"{},"_lsn":{}}}"#, &read.text[..read.text.len() - 1], lsns[3]);
    assert!(page.text.contains(&expected), "{} in {}", expected, page.text);
    assert_eq!(read.header("x-ms-item-lsn"), Some(lsns[3].to_string().as_str()));
    let rid = client.get("/dbs/d/colls/c").await.member("_rid");
    assert_eq!(page.member("_rid"), rid);
    // The end is told with a position, again and again, until there is more.
    for _ in 0..2 {
        let end = reader.page(&client).await.expect(304);
        assert_eq!(end.header("x-ms-content-path"), Some(rid.as_str()));
        assert_eq!(end.header("preference-applied"), None);
    }
    put(&client, 0, 0, r#","v":3"#).await;
    assert_eq!(reader.ids(&client).await, ["0"]);
    // What is gone by the time it is read was never there.
    put(&client, 9, 0, "").await;
    remove(&client, 9, 0).await;
    assert_eq!(reader.ids(&client).await, Vec::<String>::new());
}

#[tokio::test]
async fn feeds_begin_where_they_are_told() {
    let client = with_container("", "20000").await;
    for n in 0..10 {
        put(&client, n, n, "").await;
    }
    let mut now = Reader::latest(&[]).at("*");
    now.page(&client).await.expect(304);
    client.clock.advance(Duration::from_secs(100));
    let time = client.date();
    client.clock.advance(Duration::from_secs(20));
    let later = client.date();
    for n in 10..15 {
        put(&client, n, n, "").await;
    }
    client.clock.advance(Duration::from_secs(1));
    let too_late = client.date();
    put(&client, 3, 3, "").await;
    let since = |date: &str| Reader::latest(&[("if-modified-since", date)]);
    let changed = numbers([3].into_iter().chain(10..15));
    for (name, mut reader, expected) in [
        ("the beginning", Reader::latest(&[]), numbers(0..15)),
        ("a time before everything", since("Mon, 01 Jan 0001 00:00:00 GMT"), numbers(0..15)),
        ("a time", since(&time), changed.clone()),
        ("the very second", since(&later), changed.clone()),
        ("a second later", since(&too_late), numbers([3].into_iter())),
        ("a time to come", since("Fri, 31 Dec 9999 23:59:59 GMT"), vec![]),
        ("now, as of then", now.clone(), changed.clone()),
    ] {
        assert_eq!(sorted(reader.ids(&client).await), expected, "{name}");
        assert_eq!(reader.ids(&client).await, Vec::<String>::new(), "{name}");
        put(&client, 100, 0, "").await;
        let is_to_come = name == "a time to come";
        let more = reader.ids(&client).await;
        // Clients keep on saying the time: what is older is not wanted, wherever the position is.
        assert_eq!(more, if is_to_come { vec![] } else { vec!["100".to_owned()] }, "{name}");
        remove(&client, 100, 0).await;
    }
    // A time beside a position filters.
    let mut filtered = since(&too_late).at(&now.position.clone().unwrap());
    assert_eq!(sorted(filtered.ids(&client).await), ["3"]);
}

#[tokio::test]
async fn pages_have_the_size_asked_for_and_transactions_are_whole() {
    let client = with_container("", "400").await;
    for n in 0..25 {
        put(&client, n, n % 5, "").await;
    }
    for (size, pages) in [("10", 3), ("25", 1), ("24", 2), ("1", 25), ("100", 1), ("-1", 1)] {
        let mut reader = Reader::latest(&[("x-ms-max-item-count", size)]);
        let found = reader.pages(&client).await;
        assert_eq!(found.iter().flatten().map(id).collect::<Vec<_>>(), numbers(0..25), "{size}");
        assert_eq!(found.len(), pages, "{size}");
    }
    for (size, is_end) in [("24", None), ("26", Some("true"))] {
        let page = Reader::latest(&[("x-ms-max-item-count", size)]).page(&client).await;
        assert_eq!(page.header("x-armilla-feed-end"), is_end, "{size}");
    }
    // One commit of seven items behind three of one.
    batch(&client, 100..107, 1).await;
    put(&client, 200, 1, "").await;
    let start = Reader::latest(&[("x-ms-max-item-count", "23")]).page(&client).await;
    let position = start.header("etag").unwrap().to_owned();
    for (size, expected) in [
        ("1", &[1, 1, 7, 1][..]),
        ("2", &[2, 7, 1]),
        ("3", &[9, 1]),
        ("8", &[9, 1]),
        ("9", &[9, 1]),
        ("10", &[10]),
    ] {
        let mut reader = Reader::latest(&[("x-ms-max-item-count", size)]).at(&position);
        let pages = reader.pages(&client).await;
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), expected, "{size}");
        for (before, after) in pages.iter().zip(&pages[1..]) {
            let (last, first) = (before.last().unwrap(), after.first().unwrap());
            assert!(number(last, &["_lsn"]) < number(first, &["_lsn"]), "{size}");
        }
    }
    let default = Reader::latest(&[]);
    for n in 300..400 {
        put(&client, n, n, "").await;
    }
    assert_eq!(entries(&default.try_page(&client).await).len(), 100, "unless it is told, the server decides");
    for bad in ["0", "-2", "many"] {
        Reader::latest(&[("x-ms-max-item-count", bad)]).try_page(&client).await.expect_code(400, 0);
    }
}

#[tokio::test]
async fn feeds_are_kept_to_a_part() {
    let client = with_container("", "20000").await;
    for n in 0..50 {
        put(&client, n, n % 5, "").await;
    }
    assert_eq!(sorted(Reader::latest(&[]).ids(&client).await), numbers(0..50));
    let small = [("x-ms-max-item-count", "3")];
    assert_eq!(sorted(Reader::latest(&small).ids(&client).await), numbers(0..50));
    let of_key = numbers((0..50).filter(|n| n % 5 == 3));
    assert_eq!(Reader::latest(&[(KEY, "[3]")]).ids(&client).await, of_key);
    assert_eq!(Reader::latest(&[(KEY, "[3]"), small[0]]).ids(&client).await, of_key);
    assert_eq!(Reader::latest(&[(KEY, "[77]")]).ids(&client).await, Vec::<String>::new());

    let mut first = Reader::latest(&[(RANGE, "0")]);
    let mut second = Reader::latest(&[(RANGE, "1")]);
    let both = [first.ids(&client).await, second.ids(&client).await];
    assert!(both.iter().all(|part| !part.is_empty()));
    assert_eq!(sorted(both.concat()), numbers(0..50));
    let page = first.page(&client).await.expect(304);
    let token = page.header("x-ms-session-token").unwrap();
    assert!(token.starts_with("0:-1#") && !token.contains(','), "{token}");
    assert_eq!(page.header(RANGE), Some("0"));

    let kind = ("x-ms-read-key-type", "EffectivePartitionKeyRange");
    let half = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
    let upper = [kind, ("x-ms-start-epk", half), ("x-ms-end-epk", "FF")];
    let upper_in_range = [kind, (RANGE, "1"), ("x-ms-start-epk", half), ("x-ms-end-epk", "FF")];
    assert_eq!(Reader::latest(&upper).ids(&client).await, both[1]);
    assert_eq!(Reader::latest(&upper_in_range).ids(&client).await, both[1]);
    let quarter = "2FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
    let parts = [(half, quarter), (quarter, "FF")].map(|(min, max)| {
        Reader::latest(&[kind, (RANGE, "1"), ("x-ms-start-epk", min), ("x-ms-end-epk", max)])
    });
    let mut found = Vec::new();
    for mut part in parts {
        found.extend(part.ids(&client).await);
    }
    assert_eq!(sorted(found), sorted(both[1].clone()));

    // A position of the whole is good for each of its parts.
    let mut whole = Reader::latest(&[]).at("*");
    whole.page(&client).await.expect(304);
    for n in 50..60 {
        put(&client, n, n % 5, "").await;
    }
    let position = whole.position.clone().unwrap();
    let mut found = Vec::new();
    for range in ["0", "1"] {
        found.extend(Reader::latest(&[(RANGE, range)]).at(&position).ids(&client).await);
    }
    assert_eq!(sorted(found), numbers(50..60));
    let of_key = Reader::latest(&[(KEY, "[2]")]).at(&position).ids(&client).await;
    assert_eq!(of_key, numbers((50..60).filter(|n| n % 5 == 2)));
    assert_eq!(sorted(whole.ids(&client).await), numbers(50..60));

    for gone in [&[(RANGE, "9")][..], &[(RANGE, "none")], &[kind, (RANGE, "0"), upper[1], upper[2]]] {
        let answer = Reader::latest(gone).try_page(&client).await.expect_code(410, 1002);
        assert!(answer.header("x-ms-content-path").is_some());
    }
}

#[tokio::test]
async fn wrong_requests_are_refused() {
    let client = with_container("", "400").await;
    put(&client, 1, 1, "").await;
    for position in
        ["\"nonsense\"", "\"-1\"", "\"\"", "\"1", "\"F1;\"", "\"F1;00-\"", "\"18446744073709551616\""]
    {
        Reader::latest(&[]).at(position).try_page(&client).await.expect_code(400, 0);
    }
    for header in [
        ("x-ms-cosmos-changefeed-wire-format-version", "2020-01-01"),
        (KEY, "3"),
        ("x-ms-cosmos-priority-level", "Medium"),
    ] {
        let answer = Reader::latest(&[header]).try_page(&client).await.expect_code(400, 0);
        assert!(answer.member("message").contains(header.0), "{}", answer.text);
    }
    for word in ["Incremental", "Incremental Feed, Full-Fidelity Feed", "feed"] {
        client.send(Method::GET, DOCS, &[("a-im", word)], "").await.expect_code(400, 0);
    }
    for word in ["Incremental feed", "INCREMENTAL FEED", " incremental feed "] {
        client.send(Method::GET, DOCS, &[("a-im", word)], "").await.expect(200);
    }
    client.send(Method::GET, "/dbs/d/colls/none/docs", &[LATEST], "").await.expect_code(404, 1003);
    let ahead = [("x-ms-session-token", "0:-1#99999999")];
    Reader::latest(&ahead).try_page(&client).await.expect_code(404, 1002);
    let strong = [("x-ms-consistency-level", "Strong")];
    Reader::latest(&strong).try_page(&client).await.expect_code(400, 0);
    // Tags come with and without quotes, and weakened on the way.
    let end = Reader::latest(&[]).page(&client).await;
    let bare = end.header("etag").unwrap().trim_matches('"').to_owned();
    for position in [bare.clone(), format!("\"{bare}\""), format!("W/\"{bare}\"")] {
        Reader::latest(&[]).at(&position).page(&client).await.expect(304);
    }
}

#[tokio::test]
async fn newest_versions_come_in_envelopes_on_request() {
    let client = with_container("", "400").await;
    let written = put(&client, 1, 1, r#","v":1.50"#).await;
    let lsn = written.header("lsn").unwrap().to_owned();
    let page = Reader::latest(&[ENVELOPES]).page(&client).await.expect(200);
    let ts = written.number("_ts");
    let expected = format!(r#"[{{"current":{},"metadata":{{"lsn":{lsn},"crts":{ts}}}}}]"#, written.text);
    assert!(page.text.contains(&expected), "{} in {}", expected, page.text);
}

#[tokio::test]
async fn items_that_went_through_a_feed_have_one_commit() {
    let client = with_container("", "400").await;
    let written = put(&client, 1, 1, r#","_lsn":77,"v":{"_lsn":78},"w":"_lsn""#).await;
    let page = Reader::latest(&[]).page(&client).await.expect(200);
    let lsn = written.header("lsn").unwrap();
    assert!(
        !page.text.contains(r#""_lsn":77"#) && page.text.contains(r#""v":{"_lsn":78},"w":"_lsn""#),
        "{}",
        page.text
    );
    assert_eq!(number(&entries(&page)[0], &["_lsn"]).to_string(), lsn);
    assert_eq!(page.text.matches(r#""_lsn":"#).count(), 2, "{}", page.text);
    assert!(page.text.contains(&format!(r#","_lsn":{lsn}}}],"_count":1"#)), "{}", page.text);
}

#[tokio::test]
async fn keys_and_tokens_decide_who_reads() {
    let client = with_container("", "400").await;
    for n in 0..6 {
        put(&client, n, n % 3, "").await;
    }
    let read_only = client.sign(READ_ONLY_KEY, &Method::GET, DOCS);
    client.send_as(&read_only, Method::GET, DOCS, &[LATEST], "").await.expect(200);
    client.send_as("", Method::GET, DOCS, &[LATEST], "").await.expect(401);
    client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
    let mut tokens = Vec::new();
    for (id, more) in [
        ("whole", r#""resource":"dbs/d/colls/c""#),
        ("key", r#""resource":"dbs/d/colls/c","resourcePartitionKey":[1]"#),
        ("item", r#""resource":"dbs/d/colls/c/docs/1","resourcePartitionKey":[1]"#),
    ] {
        let body = format!(r#"{{"id":"{id}","permissionMode":"Read",{more}}}"#);
        let created = client.post("/dbs/d/users/u/permissions", &body).await.expect(201);
        let encode = |c: char| match c.is_ascii_alphanumeric() {
            true => c.to_string(),
            false => format!("%{:02X}", u32::from(c)),
        };
        tokens.push(created.member("_token").chars().map(encode).collect::<String>());
    }
    let read = async |token: &str, headers: &[(&'static str, &str)]| {
        let headers = [&[LATEST][..], headers].concat();
        let answer = client.send_as(token, Method::GET, DOCS, &headers, "").await;
        (answer.status, entries_or_none(&answer))
    };
    let hash = armilla_value::hashed_key(
        &armilla_value::PartitionKey::from_json(b"[1]").unwrap(),
        armilla_value::HashVersion::V2,
    );
    let mut next = hash.as_bytes().to_vec();
    *next.last_mut().unwrap() += 1;
    let (min, max) = (hash.to_hex(), armilla_value::HashedKey::from_bytes(&next).to_hex());
    let kind = ("x-ms-read-key-type", "EffectivePartitionKeyRange");
    let point = [kind, (RANGE, "0"), ("x-ms-start-epk", &*min), ("x-ms-end-epk", &*max)];
    let more = [kind, (RANGE, "0"), ("x-ms-start-epk", &*min), ("x-ms-end-epk", "FF")];
    let (all, one) = (numbers(0..6), numbers([1, 4].into_iter()));
    for (token, headers, status, expected) in [
        (&tokens[0], &[][..], 200, &all),
        (&tokens[0], &[(KEY, "[1]")], 200, &one),
        (&tokens[0], &[(RANGE, "0")], 200, &all),
        (&tokens[1], &[], 200, &one),
        (&tokens[1], &[(KEY, "[1]")], 200, &one),
        (&tokens[1], &point, 200, &one),
        (&tokens[1], &[(KEY, "[2]")], 403, &vec![]),
        (&tokens[1], &[(RANGE, "0")], 403, &vec![]),
        (&tokens[1], &more, 403, &vec![]),
        (&tokens[2], &[(KEY, "[1]")], 403, &vec![]),
    ] {
        assert_eq!(read(token, headers).await, (status, expected.clone()), "{headers:?}");
    }
}

fn entries_or_none(answer: &super::client::Answer) -> Vec<String> {
    match answer.status {
        200 => entries(answer).iter().map(id).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn reading_costs_what_is_read() {
    let client = with_container("", "400").await;
    for n in 0..50 {
        put(&client, n, n, &format!(r#","text":"{}""#, "x".repeat(1_000))).await;
    }
    let charge = async |headers: &[(&'static str, &str)], position: Option<&str>| -> f64 {
        let mut reader = Reader::latest(headers);
        reader.position = position.map(str::to_owned);
        reader.page(&client).await.header("x-ms-request-charge").unwrap().parse().unwrap()
    };
    let nothing = charge(&[], Some("*")).await;
    let few = charge(&[("x-ms-max-item-count", "5")], None).await;
    let many = charge(&[("x-ms-max-item-count", "50")], None).await;
    assert!(nothing >= 1.0 && few > nothing && many > 2.0 * few, "{nothing} {few} {many}");
}

#[tokio::test]
async fn the_commits_of_a_session_measure_how_far_behind_a_reader_is() {
    let client = with_container("", "400").await;
    for n in 0..7 {
        put(&client, n, 0, "").await;
    }
    // What estimators of lag compute: from the newest commit to the one before the first that is unread.
    let mut reader = Reader::latest(&[("x-ms-max-item-count", "1"), (RANGE, "0")]);
    for left in (1..=7).rev() {
        let page = reader.page(&client).await.expect(200);
        let token = page.header("x-ms-session-token").unwrap();
        let newest: i64 = token.split('#').nth(1).unwrap().parse().unwrap();
        let first: i64 = number(&entries(&page)[0], &["_lsn"]);
        assert_eq!(newest - (first - 1), left);
    }
    reader.page(&client).await.expect(304);
}

#[tokio::test]
async fn empty_containers_have_an_end() {
    let client = Client::with_container().await;
    let mut reader = Reader::latest(&[]);
    let page = reader.page(&client).await.expect(304);
    assert!(page.header("etag").is_some());
    put(&client, 1, 1, "").await;
    let one: Vec<Value> = reader.entries(&client).await;
    assert_eq!(one.len(), 1);
}
