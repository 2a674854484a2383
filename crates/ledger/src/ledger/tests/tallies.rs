use super::*;

#[test]
fn requests_are_added_up_by_shape() {
    let ledger = Ledger::new();
    let owner = key("owner");
    for at in 0..5 {
        let text = format!("SELECT * FROM c WHERE c.n = {at}");
        ledger.note(NOW, Weight::ONE, &query(POSTS, &text, &[]));
    }
    ledger.note(NOW, Weight::of(16), &done(POSTS, Act::Read { id: "1" }, Some(&owner)));
    for item in
        [&br#"{"id":"1","type":"post"}"#[..], br#"{"type":"comment"}"#, br#"{"type":"post"}"#, b"", b"{}"]
    {
        ledger.note(NOW, Weight::ONE, &done(POSTS, Act::Create { item }, Some(&owner)));
    }
    for act in [
        Act::Replace { id: "1" },
        Act::Patch { id: "1" },
        Act::Delete { id: "1" },
        Act::Procedure { name: "close" },
        Act::Batch,
        Act::List,
        Act::Changes,
    ] {
        ledger.note(NOW, Weight::ONE, &done(POSTS, act, None));
    }
    let report = ledger.report(NOW + 1);
    assert_eq!((report.since_ms, report.until_ms), (NOW, NOW + 1));
    let one = Tally {
        count: 1,
        charge: 100,
        micros: 50,
        micros_max: 50,
        items: 2,
        entries: 3,
        rows: 1,
        bytes: 10,
        partitions: 1,
        ..Tally::default()
    };
    let times = |times: u64| Tally {
        count: times,
        charge: 100 * times,
        micros: 50 * times,
        items: 2 * times,
        entries: 3 * times,
        rows: times,
        bytes: 10 * times,
        partitions: times,
        ..one
    };
    let total = |kind, text| shape_of(&report, POSTS, kind, text).total;
    assert_eq!(total(ShapeKind::Query, "SELECT * FROM c WHERE (c.n = @1)"), times(5));
    assert_eq!(total(ShapeKind::Read, ""), Tally { keyed: 16, ..times(16) });
    assert_eq!(total(ShapeKind::Create, "post"), Tally { keyed: 2, ..times(2) });
    assert_eq!(total(ShapeKind::Create, "comment"), Tally { keyed: 1, ..one });
    assert_eq!(total(ShapeKind::Create, ""), Tally { keyed: 2, ..times(2) });
    for (kind, text) in [
        (ShapeKind::Replace, ""),
        (ShapeKind::Patch, ""),
        (ShapeKind::Delete, ""),
        (ShapeKind::Procedure, "close"),
        (ShapeKind::Batch, ""),
        (ShapeKind::List, ""),
        (ShapeKind::Changes, ""),
    ] {
        assert_eq!(total(kind, text), one, "{kind:?}");
    }
    // The dearest first.
    assert_eq!(report.containers[&POSTS].shapes[0].kind, ShapeKind::Read);
    assert_eq!(report.containers[&POSTS].beyond, Tally::default());
}

#[test]
fn pages_after_the_first_are_no_requests_of_their_own() {
    let ledger = Ledger::new();
    let owner = key("a");
    let first = Note { key: Some(&owner), ..query(POSTS, "SELECT * FROM c", &[]) };
    let took = Took { is_continued: true, is_ranged: true, micros: 70, ..first.took };
    ledger.note(NOW, Weight::ONE, &Note { took: Took { is_ranged: true, ..first.took }, ..first });
    ledger.note(NOW, Weight::of(2), &Note { took, ..first });
    let total = ledger.report(NOW).containers[&POSTS].shapes[0].total;
    assert_eq!((total.count, total.partitions, total.keyed, total.ranged), (1, 1, 1, 1));
    assert_eq!((total.charge, total.micros, total.micros_max), (300, 190, 70));
    assert_eq!((total.items, total.entries, total.rows, total.bytes), (6, 9, 3, 30));
}

#[test]
fn refused_requests_count_and_throttled_ones_are_apart() {
    let ledger = Ledger::new();
    let read = done(POSTS, Act::Read { id: "1" }, None);
    ledger.note(NOW, Weight::ONE, &Note { outcome: Outcome::Refused, ..read });
    ledger.note(NOW, Weight::of(3), &Note { outcome: Outcome::Throttled, ..read });
    let total = ledger.report(NOW).containers[&POSTS].shapes[0].total;
    assert_eq!((total.count, total.charge, total.refused, total.throttled), (1, 100, 1, 3));
}

#[test]
fn hours_are_told_for_a_day() {
    let ledger = Ledger::new();
    let read = done(POSTS, Act::Read { id: "1" }, None);
    const HOUR: i64 = 3_600_000;
    for hour in 0..30 {
        ledger.note(NOW + hour * HOUR, Weight::of(hour as u64 + 1), &read);
    }
    let report = ledger.report(NOW + 29 * HOUR);
    let shape = &report.containers[&POSTS].shapes[0];
    assert_eq!(shape.total.count, 30 * 31 / 2);
    let counts: Vec<(i64, u64)> = shape.hours.iter().map(|(hour, tally)| (*hour, tally.count)).collect();
    let first = NOW / HOUR;
    let expected: Vec<(i64, u64)> = (6..30).map(|hour| (first + hour, hour as u64 + 1)).collect();
    assert_eq!(counts, expected);
}

#[test]
fn examples_are_requests_as_they_were() {
    let ledger = Ledger::new();
    let owner = key("a");
    let parameters = [parameter("@a", 5)];
    let text = "SELECT * FROM c\nWHERE c.a = @a AND c.b = 'x'";
    ledger.note(NOW, Weight::ONE, &Note { key: Some(&owner), ..query(POSTS, text, &parameters) });
    ledger.note(NOW, Weight::ONE, &done(USERS, Act::Read { id: "u1" }, Some(&owner)));
    let report = ledger.report(NOW);
    let example = &report.containers[&POSTS].shapes[0].examples[0];
    assert_eq!((&*example.text, &example.key, &example.id), (text, &Some(owner.clone()), &None));
    assert_eq!((&example.parameters[..], example.charge, example.rows), (&parameters[..], 100, 1));
    let example = &report.containers[&USERS].shapes[0].examples[0];
    assert_eq!((&*example.text, example.id.as_deref(), &example.key), ("", Some("u1"), &Some(owner)));
}

#[test]
fn keys_that_cost_much_are_told() {
    let ledger = Ledger::new();
    for at in 0..1_000 {
        let cold = key(&format!("cold{at}"));
        ledger.note(NOW, Weight::ONE, &done(POSTS, Act::Read { id: "1" }, Some(&cold)));
        let hot = key("hot");
        ledger.note(NOW, Weight::of(2), &done(POSTS, Act::Read { id: "1" }, Some(&hot)));
    }
    let report = ledger.report(NOW);
    let hottest = &report.containers[&POSTS].keys[0];
    assert_eq!((&hottest.key, hottest.count, hottest.charge), (&key("hot"), 2_000, 200_000));
}

#[test]
fn totals_are_right_at_high_rates() {
    let ledger = Ledger::new();
    let owner = key("a");
    let (mut reads, mut queries) = (0_u64, 0_u64);
    for second in 0..20 {
        for place in 0..50_000 {
            let now_ms = NOW + second * 1_000 + place / 50;
            let is_query = place % 8 == 3;
            *if is_query { &mut queries } else { &mut reads } += 1;
            let Some(weight) = ledger.wants(now_ms) else { continue };
            let note = match is_query {
                true => query(POSTS, "SELECT * FROM c WHERE c.a = @a", &[]),
                false => done(POSTS, Act::Read { id: "1" }, Some(&owner)),
            };
            ledger.note(now_ms, weight, &note);
        }
    }
    let report = ledger.report(NOW + 20_000);
    for (kind, count) in [(ShapeKind::Read, reads), (ShapeKind::Query, queries)] {
        let total = shapes(&report, POSTS).iter().find(|shape| shape.kind == kind).unwrap().total;
        assert!(total.count.abs_diff(count) < count / 10, "{kind:?}: {} of {count}", total.count);
        assert_eq!(total.charge, 100 * total.count);
    }
}

#[test]
fn a_ledger_that_is_off_writes_nothing() {
    let ledger = Ledger::new();
    assert!(ledger.is_on());
    ledger.set_on(false);
    assert_eq!(ledger.wants(NOW), None);
    assert!(!ledger.wants_answer(NOW) && !ledger.wants_change(NOW));
    let read = done(POSTS, Act::Read { id: "1" }, None);
    ledger.note(NOW, Weight::ONE, &read);
    ledger.watch_answer(NOW, &read, [&b"{\"a\":\"abc\"}"[..]].into_iter());
    ledger.changed(NOW, POSTS, &key("a"), "1", b"{}", b"{\"a\":1}");
    let report = ledger.report(NOW);
    assert_eq!(report, Report { since_ms: NOW, until_ms: NOW, ..Report::default() });
    ledger.set_on(true);
    assert_eq!(ledger.wants(NOW), Some(Weight::ONE));
    assert!(ledger.wants_answer(NOW) && ledger.wants_change(NOW));
}

#[test]
fn changes_are_told_by_what_items_say_they_are() {
    let ledger = Ledger::new();
    let (before, after) =
        (br#"{"type":"post","likes":1,"tags":[]}"#, br#"{"type":"post","likes":22,"tags":[]}"#);
    ledger.changed(NOW, POSTS, &key("a"), "1", before, after);
    ledger.changed(NOW, POSTS, &key("a"), "2", b"{\"tags\":[]}", b"{\"tags\":[\"x\"]}");
    ledger.changed(NOW, POSTS, &key("a"), "2", b"no item", b"{}");
    let changes = &ledger.report(NOW).containers[&POSTS].changes;
    let post = &changes.entities["post"];
    assert_eq!((post.compared, post.bytes, post.changed_bytes), (1, after.len() as u64, 2));
    assert_eq!(post.paths.keys().collect::<Vec<_>>(), ["/likes"]);
    assert_eq!(changes.entities[""].paths["/tags"].appended, 1);
    assert_eq!(changes.items.len(), 2);
}

/// A ledger with some of everything.
fn filled() -> Ledger {
    let ledger = Ledger::new();
    for at in 0..300_i64 {
        let now_ms = NOW + at * 60_000;
        let (user, owner) = (format!("user-{}", at % 7), key(&format!("owner-{}", at % 70)));
        let post = format!(r#"{{"id":"post-{at}","type":"post","userId":"{user}"}}"#);
        let text = format!("SELECT * FROM c WHERE c.n = {}", at % 3);
        let asked = Note { key: Some(&owner), ..query(POSTS, &text, &[]) };
        ledger.note(now_ms, Weight::of(at as u64 % 3), &asked);
        ledger.watch_answer(now_ms, &asked, [post.as_bytes()].into_iter());
        ledger.note(now_ms + 5, Weight::ONE, &done(USERS, Act::Read { id: &user }, Some(&key(&user))));
        let changed = format!(r#"{{"id":"post-{at}","type":"post","userId":"{user}","n":{at}}}"#);
        ledger.changed(
            now_ms,
            POSTS,
            &owner,
            &format!("post-{}", at % 90),
            post.as_bytes(),
            changed.as_bytes(),
        );
    }
    ledger
}

const LATER: i64 = NOW + 300 * 60_000;

#[test]
fn equal_requests_give_equal_reports() {
    let report = filled().report(LATER);
    assert_eq!(report, filled().report(LATER));
    assert!(!report.links.is_empty() && report.containers.len() == 2);
}

#[test]
fn a_report_that_is_taken_back_in_is_told_again() {
    let report = filled().report(LATER);
    let ledger = Ledger::new();
    ledger.restore(&report);
    assert_eq!(ledger.report(LATER), report);
    // By way of JSON.
    let other = Ledger::new();
    other.restore(&crate::json::from_value(&crate::json::to_value(&report)).unwrap());
    assert_eq!(other.report(LATER), report);
    // New requests are added to what was.
    ledger.note(LATER, Weight::ONE, &query(POSTS, "SELECT * FROM c WHERE c.n = @n", &[]));
    let counts = |report: &Report| {
        shape_of(report, POSTS, ShapeKind::Query, "SELECT * FROM c WHERE (c.n = @1)").total.count
    };
    assert_eq!(counts(&ledger.report(LATER)), counts(&report) + 1);
}

#[test]
fn a_report_is_added_to_what_is_there() {
    let report = filled().report(LATER);
    let ledger = Ledger::new();
    let read = done(USERS, Act::Read { id: "user-1" }, None);
    ledger.note(LATER + 5, Weight::ONE, &read);
    ledger.note(LATER + 5, Weight::ONE, &done(POSTS, Act::List, None));
    ledger.restore(&report);
    let both = ledger.report(LATER + 10);
    assert_eq!(both.since_ms, NOW);
    let count = |report: &Report| shape_of(report, USERS, ShapeKind::Read, "").total.count;
    assert_eq!(count(&both), count(&report) + 1);
    // Links lead to the same shapes, whatever they are called.
    assert_eq!(both.links.len(), report.links.len());
    for (link, before) in both.links.iter().zip(&report.links) {
        assert_eq!((link.follows, link.origins, &link.path), (before.follows, before.origins, &before.path));
        let kind = |report: &Report, container: u64, id: u32| {
            shapes(report, container).iter().find(|shape| shape.id == id).unwrap().kind
        };
        assert_eq!(
            kind(&both, link.to_container, link.to_shape),
            kind(&report, before.to_container, before.to_shape)
        );
    }
}

#[test]
fn what_is_forgotten_is_gone() {
    let ledger = filled();
    ledger.forget_container(USERS);
    let report = ledger.report(LATER);
    assert_eq!(report.containers.keys().collect::<Vec<_>>(), [&POSTS]);
    assert!(report.links.is_empty());
    ledger.forget();
    assert_eq!(ledger.report(LATER), Report { since_ms: LATER, until_ms: LATER, ..Report::default() });
    assert_eq!(ledger.memory(), Ledger::new().memory());
}

#[test]
fn threads_write_into_one_ledger() {
    let ledger = Ledger::new();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let ledger = &ledger;
            scope.spawn(move || {
                for at in 0..1_000_u64 {
                    let owner = key(&format!("owner-{at}"));
                    let note = done(at % 5, Act::Read { id: "user-1" }, Some(&owner));
                    ledger.note(NOW, Weight::ONE, &note);
                    let row = format!("{{\"id\":\"user-{thread}\"}}");
                    ledger.watch_answer(NOW, &note, [row.as_bytes()].into_iter());
                }
            });
        }
    });
    let report = ledger.report(NOW);
    let counts =
        report.containers.values().map(|requests: &ContainerRequests| requests.shapes[0].total.count);
    assert_eq!(counts.sum::<u64>(), 4_000);
}
