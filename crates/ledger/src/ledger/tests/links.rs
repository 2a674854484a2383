use super::*;

const POSTS_QUERY: &str = "SELECT TOP 20 * FROM c WHERE c.type = 'post' ORDER BY c.date DESC";

fn post(at: usize) -> String {
    format!(
        r#"{{"id":"post-{at}","postId":"post-{at}","type":"post","userId":"user-{at}","tags":["tag-{at}","all"],"_rid":"rid-{at}"}}"#
    )
}

/// Asks for posts at a time; returns the shape of that.
fn ask_for_posts(ledger: &Ledger, now_ms: i64, posts: std::ops::Range<usize>) {
    // Of another logical partition each time: the same request made again ends the answer before.
    let owner = key(&format!("shelf-{}", posts.start));
    let note = Note { key: Some(&owner), ..query(POSTS, POSTS_QUERY, &[]) };
    ledger.note(now_ms, Weight::ONE, &note);
    let rows: Vec<String> = posts.map(post).collect();
    ledger.watch_answer(now_ms, &note, rows.iter().map(String::as_bytes));
}

fn read_user(ledger: &Ledger, now_ms: i64, id: &str) {
    ledger.note(now_ms, Weight::ONE, &done(USERS, Act::Read { id }, Some(&key(id))));
}

/// The links as path and slot with what they count: origins, rows, followed, follows.
fn told(ledger: &Ledger) -> Vec<(String, Slot, [u64; 4])> {
    let links = ledger.report(NOW).links;
    let figures = |link: &Link| [link.origins, link.rows, link.followed, link.follows];
    links.iter().map(|link| (link.path.clone(), link.slot.clone(), figures(link))).collect()
}

#[test]
fn reads_after_a_query_are_linked_to_it() {
    let ledger = Ledger::new();
    ask_for_posts(&ledger, NOW, 0..20);
    for at in 0..20 {
        read_user(&ledger, NOW + at, &format!("user-{at}"));
        // Unrelated traffic.
        read_user(&ledger, NOW + at, &format!("other-{at}"));
        ledger.note(NOW + at, Weight::ONE, &done(POSTS, Act::Read { id: "7" }, Some(&key("all-7"))));
    }
    let report = ledger.report(NOW + 100);
    let from = shapes(&report, POSTS).iter().find(|shape| shape.kind == ShapeKind::Query).unwrap().id;
    let to = shape_of(&report, USERS, ShapeKind::Read, "").id;
    let expected = Link {
        from_container: POSTS,
        from_shape: from,
        entity: Some("post".to_owned()),
        path: "/userId".to_owned(),
        to_container: USERS,
        to_shape: to,
        slot: Slot::Id,
        origins: 1,
        rows: 20,
        followed: 1,
        follows: 20,
        charge: 2_000,
        micros: 1_000,
    };
    assert_eq!(report.links, [expected]);
}

#[test]
fn counts_after_a_query_are_linked_to_it() {
    let ledger = Ledger::new();
    ask_for_posts(&ledger, NOW, 0..3);
    for at in 0..3 {
        let parameters = [parameter("@post", format!("post-{at}"))];
        let text = "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'comment' AND c.postId = @post";
        let owner = key(&format!("post-{at}"));
        ledger.note(NOW + 1, Weight::of(16), &Note { key: Some(&owner), ..query(POSTS, text, &parameters) });
    }
    // A value at several paths counts for all of them, and in several places of a request as well.
    let slot = Slot::Parameter("@2".to_owned());
    assert_eq!(
        told(&ledger),
        [
            ("/id".to_owned(), Slot::Key, [1, 3, 1, 48]),
            ("/id".to_owned(), slot.clone(), [1, 3, 1, 48]),
            ("/postId".to_owned(), Slot::Key, [1, 3, 1, 48]),
            ("/postId".to_owned(), slot, [1, 3, 1, 48]),
        ]
    );
    assert_eq!(ledger.report(NOW).links[0].charge, 4_800);
}

#[test]
fn a_list_of_values_follows_once() {
    let ledger = Ledger::new();
    ask_for_posts(&ledger, NOW, 0..20);
    let ids: Vec<String> = (0..20).map(|at| format!("'user-{at}'")).collect();
    let text = format!("SELECT * FROM c WHERE c.id IN ({})", ids.join(","));
    ledger.note(NOW + 1, Weight::ONE, &query(USERS, &text, &[]));
    let parameters = [parameter("@ids", vec!["user-1", "user-2"])];
    let text = "SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.id)";
    ledger.note(NOW + 1, Weight::ONE, &query(USERS, text, &parameters));
    let slot = Slot::Parameter("@1".to_owned());
    assert_eq!(
        told(&ledger),
        [("/userId".to_owned(), slot.clone(), [1, 20, 1, 1]), ("/userId".to_owned(), slot, [1, 20, 1, 1])]
    );
}

#[test]
fn what_the_first_request_knew_leads_to_other_shapes_alone() {
    let ledger = Ledger::new();
    let owner = key("owner-1");
    let text = "SELECT * FROM c WHERE c.userId = @user AND c.kind = @kind";
    let comments = [parameter("@user", "user-1"), parameter("@kind", "comment")];
    let note = Note { key: Some(&owner), ..query(POSTS, text, &comments) };
    let row = r#"{"id":"post-1","userId":"user-1","owner":"owner-1"}"#;
    ledger.watch_answer(NOW, &note, [row.as_bytes()].into_iter());
    let likes = [parameter("@user", "user-1"), parameter("@kind", "like")];
    ledger.note(NOW + 1, Weight::ONE, &Note { key: Some(&owner), ..query(POSTS, text, &likes) });
    assert!(told(&ledger).is_empty());
    read_user(&ledger, NOW + 1, "user-1");
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [1, 1, 1, 1])]);
}

#[test]
fn a_request_that_is_made_again_has_its_own_followers() {
    let ledger = Ledger::new();
    let parameters = [parameter("@post", "post-1")];
    let text = "SELECT * FROM c WHERE c.postId = @post";
    for round in 0..5 {
        let note = query(POSTS, text, &parameters);
        ledger.note(NOW + round, Weight::ONE, &note);
        ledger.watch_answer(NOW + round, &note, [&br#"{"id":"c-1","userId":"user-1"}"#[..]].into_iter());
        read_user(&ledger, NOW + round, "user-1");
    }
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [5, 5, 5, 5])]);
}

#[test]
fn a_key_that_is_the_id_is_the_id() {
    let ledger = Ledger::new();
    ask_for_posts(&ledger, NOW, 0..1);
    read_user(&ledger, NOW, "user-0");
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [1, 1, 1, 1])]);
    ledger.forget();
    ask_for_posts(&ledger, NOW, 0..1);
    ledger.note(NOW, Weight::ONE, &done(USERS, Act::Replace { id: "user-0" }, Some(&key("tag-0"))));
    assert_eq!(
        told(&ledger),
        [("/tags/[]".to_owned(), Slot::Key, [1, 1, 1, 1]), ("/userId".to_owned(), Slot::Id, [1, 1, 1, 1]),]
    );
}

#[test]
fn origins_are_counted_whether_they_are_followed_or_not() {
    let ledger = Ledger::new();
    // Two live already when the first is followed, one of them without the path.
    ask_for_posts(&ledger, NOW, 0..10);
    ledger.watch_answer(NOW, &query(POSTS, POSTS_QUERY, &[]), [&br#"{"id":"post-99"}"#[..]].into_iter());
    ask_for_posts(&ledger, NOW + 10, 10..15);
    read_user(&ledger, NOW + 20, "user-3");
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [2, 15, 1, 1])]);
    // Later ones.
    ask_for_posts(&ledger, NOW + 30, 20..22);
    ask_for_posts(&ledger, NOW + 40, 22..23);
    read_user(&ledger, NOW + 50, "user-22");
    read_user(&ledger, NOW + 60, "user-22");
    read_user(&ledger, NOW + 60, "user-4");
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [4, 18, 2, 4])]);
    // The same request made again: the value follows the later answer alone.
    ask_for_posts(&ledger, NOW + 70, 22..23);
    read_user(&ledger, NOW + 80, "user-22");
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [5, 19, 3, 5])]);
}

#[test]
fn answers_are_watched_for_a_moment() {
    let ledger = Ledger::new();
    ask_for_posts(&ledger, NOW, 0..2);
    // Before it, by a clock that another thread read earlier.
    read_user(&ledger, NOW - 1, "user-0");
    read_user(&ledger, NOW + ORIGIN_MS, "user-0");
    assert!(told(&ledger).is_empty());
    ask_for_posts(&ledger, NOW + 5_000, 0..2);
    read_user(&ledger, NOW + 5_000 + ORIGIN_MS - 1, "user-0");
    assert_eq!(told(&ledger).len(), 1);
}

#[test]
fn throttled_requests_follow_nothing_and_later_pages_what_the_first_did() {
    let ledger = Ledger::new();
    ask_for_posts(&ledger, NOW, 0..2);
    let parameters = [parameter("@user", "user-0")];
    let first = query(USERS, "SELECT * FROM c WHERE c.id = @user", &parameters);
    let page = Note { took: Took { is_continued: true, ..first.took }, ..first };
    ledger.note(NOW, Weight::ONE, &Note { outcome: Outcome::Throttled, ..first });
    ledger.note(NOW, Weight::ONE, &page);
    assert!(told(&ledger).is_empty());
    ledger.note(NOW, Weight::ONE, &first);
    ledger.note(NOW, Weight::ONE, &page);
    let links = ledger.report(NOW).links;
    assert_eq!(links.len(), 1);
    assert_eq!((links[0].followed, links[0].follows, links[0].charge), (1, 1, 200));
}

#[test]
fn items_that_say_different_things_have_no_name_together() {
    let ledger = Ledger::new();
    let note = query(POSTS, "SELECT * FROM c", &[]);
    for (kind, user) in [("post", "user-1"), ("post", "user-2"), ("comment", "user-3")] {
        let row = format!(r#"{{"kind":"{kind}","userId":"{user}"}}"#);
        ledger.watch_answer(NOW, &note, [row.as_bytes()].into_iter());
        read_user(&ledger, NOW, user);
        let entity = ledger.report(NOW).links[0].entity.clone();
        assert_eq!(entity.as_deref(), (kind == "post").then_some("post"));
    }
}

#[test]
fn so_many_answers_are_asked_for_and_watched() {
    let ledger = Ledger::new();
    let asked = |now_ms: i64| (0..1_000).filter(|_| ledger.wants_answer(now_ms)).count();
    assert_eq!((asked(NOW), asked(NOW + 100), asked(NOW + 10_000)), (20, 2, 20));
    // However many are handed over.
    for at in 0..200 {
        ask_for_posts(&ledger, NOW, at..at + 1);
    }
    for at in 0..200 {
        read_user(&ledger, NOW, &format!("user-{at}"));
    }
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [64, 64, 64, 64])]);
}

#[test]
fn a_shape_has_few_paths_that_are_followed() {
    let ledger = Ledger::new();
    let members: Vec<String> = (0..30).map(|at| format!(r#""m{at}":"value-{at}""#)).collect();
    let row = format!("{{{}}}", members.join(","));
    ledger.watch_answer(NOW, &query(POSTS, "SELECT * FROM c", &[]), [row.as_bytes()].into_iter());
    for at in 0..30 {
        read_user(&ledger, NOW, &format!("value-{at}"));
    }
    assert_eq!(told(&ledger).len(), crate::limits::FOLLOWED_PATHS_MAX);
}

#[test]
fn a_new_link_pushes_out_one_that_was_not_followed_for_an_hour() {
    let ledger = Ledger::new();
    let user = key("user-0");
    // An answer at a time, which each of some shapes of 500 containers follows.
    let follow = |now_ms: i64, shapes: std::ops::Range<usize>| {
        ask_for_posts(&ledger, now_ms, 0..1);
        for shape in shapes {
            let name = format!("procedure{}", shape / 500);
            let note = done(1_000 + shape as u64 % 500, Act::Procedure { name: &name }, Some(&user));
            ledger.note(now_ms, Weight::ONE, &note);
        }
    };
    for begin in (0..2_500).step_by(50) {
        follow(NOW + begin as i64 * 100, begin..begin + 50);
    }
    let has_last = |now_ms: i64| {
        let report = ledger.report(now_ms);
        assert_eq!(report.links.len(), crate::limits::LINKS_MAX);
        let last = shape_of(&report, 1_499, ShapeKind::Procedure, "procedure4").id;
        report.links.iter().any(|link| link.to_container == 1_499 && link.to_shape == last)
    };
    assert!(!has_last(NOW));
    follow(NOW + 1_000_000, 2_499..2_500);
    assert!(!has_last(NOW));
    follow(NOW + 1_000_000 + IDLE_MS, 2_499..2_500);
    assert!(has_last(NOW));
}

/// Many callers at once, more than are written down: each asks for twelve posts, then for the user of each.
#[test]
fn at_a_high_rate_links_are_as_at_a_low_one() {
    let ledger = Ledger::new();
    let (callers, a_second) = (16_usize, 8_000_i64);
    let mut turns = vec![0_usize; callers];
    let mut requests: i64 = 0;
    for _ in 0..10_000 {
        for (caller, turn) in turns.iter_mut().enumerate() {
            let now_ms = NOW + requests * 1_000 / a_second;
            requests += 1;
            let operation = *turn / 13;
            let first = (operation * 16 + caller) * 12;
            let weight = ledger.wants(now_ms);
            match *turn % 13 {
                0 => {
                    let owner = key(&format!("shelf-{first}"));
                    let note = Note { key: Some(&owner), ..query(POSTS, POSTS_QUERY, &[]) };
                    if let Some(weight) = weight {
                        ledger.note(now_ms, weight, &note);
                        if ledger.wants_answer(now_ms) {
                            let rows: Vec<String> = (first..first + 12).map(post).collect();
                            ledger.watch_answer(now_ms, &note, rows.iter().map(String::as_bytes));
                        }
                    }
                }
                at => {
                    let id = format!("user-{}", first + at - 1);
                    if let Some(weight) = weight {
                        ledger.note(now_ms, weight, &done(USERS, Act::Read { id: &id }, Some(&key(&id))));
                    }
                }
            }
            *turn += 1;
        }
    }
    let links = told(&ledger);
    let [(path, slot, [origins, _, followed, follows])] = &links[..] else { panic!("{links:?}") };
    assert_eq!((path.as_str(), slot), ("/userId", &Slot::Id));
    assert!(*origins >= 100, "{links:?}");
    assert!(followed * 10 >= origins * 9, "{links:?}");
    let each = *follows as f64 / *origins as f64;
    assert!((10.0..=12.5).contains(&each), "{each} reads after each: {links:?}");
}

/// What comes much later is another caller's, though it comes soon.
#[test]
fn an_answer_is_watched_for_so_many_requests() {
    let ledger = Ledger::new();
    ask_for_posts(&ledger, NOW, 0..20);
    read_user(&ledger, NOW, "user-1");
    for at in 0..ORIGIN_REQUESTS {
        read_user(&ledger, NOW, &format!("stranger-{at}"));
    }
    read_user(&ledger, NOW, "user-2");
    assert_eq!(told(&ledger), [("/userId".to_owned(), Slot::Id, [1, 20, 1, 1])]);
}
