use super::*;
use crate::chance::Chance;
use crate::limits::{CONTAINERS_MAX, EXAMPLES_MAX, KEYS_COUNTED, LINKS_MAX, SHAPES_MAX};

#[test]
fn a_shape_without_a_place_counts_beyond_or_pushes_out_an_idle_one() {
    let ledger = Ledger::new();
    let ask = |now_ms: i64, at: usize, charge: u64| {
        let text = format!("SELECT c.p{at} FROM c");
        let note = query(POSTS, &text, &[]);
        ledger.note(now_ms, Weight::ONE, &Note { took: Took { charge, ..note.took }, ..note });
    };
    for at in 0..CONTAINER_SHAPES_MAX {
        ask(NOW, at, 1_000 + at as u64);
    }
    ask(NOW, 10_000, 5);
    let report = ledger.report(NOW);
    assert_eq!(shapes(&report, POSTS).len(), CONTAINER_SHAPES_MAX);
    assert_eq!((report.containers[&POSTS].beyond.count, report.containers[&POSTS].beyond.charge), (1, 5));
    // The two cheapest are asked again: the next cheapest goes.
    let later = NOW + IDLE_MS;
    ask(later, 0, 0);
    ask(later, 1, 0);
    ask(later + 1, 10_000, 5);
    let report = ledger.report(later + 1);
    assert_eq!(shapes(&report, POSTS).len(), CONTAINER_SHAPES_MAX);
    let has =
        |at: usize| shapes(&report, POSTS).iter().any(|shape| shape.text == format!("SELECT c.p{at} FROM c"));
    assert!(has(0) && has(1) && !has(2) && has(3) && has(10_000));
    assert_eq!((report.containers[&POSTS].beyond.count, report.containers[&POSTS].beyond.charge), (2, 1_007));
}

#[test]
fn a_container_without_a_place_pushes_out_an_idle_one_or_is_left_out() {
    let ledger = Ledger::new();
    let most = CONTAINERS_MAX as u64;
    let ask = |now_ms: i64, containers: std::ops::Range<u64>| {
        containers.for_each(|container| ledger.note(now_ms, Weight::ONE, &done(container, Act::List, None)));
    };
    ask(NOW, 0..most + 100);
    assert_eq!(ledger.report(NOW).containers.len(), CONTAINERS_MAX);
    let later = NOW + IDLE_MS + 1;
    ask(later, most..most + 100);
    let report = ledger.report(later);
    assert_eq!(report.containers.len(), CONTAINERS_MAX);
    assert!((most..most + 100).all(|container| report.containers.contains_key(&container)));
}

#[test]
fn idle_shapes_of_other_containers_make_room() {
    let ledger = Ledger::new();
    let ask = |now_ms: i64, container: u64, count: usize| {
        for at in 0..count {
            ledger.note(now_ms, Weight::ONE, &query(container, &format!("SELECT c.p{at} FROM c"), &[]));
        }
    };
    for container in 0..16 {
        ask(NOW, container, CONTAINER_SHAPES_MAX);
    }
    let count =
        |report: &Report| report.containers.values().map(|requests| requests.shapes.len()).sum::<usize>();
    let report = ledger.report(NOW);
    assert_eq!(count(&report), SHAPES_MAX);
    assert!(report.containers.values().any(|requests| requests.shapes.is_empty()));
    // In the same shard as one of the full ones.
    let later = NOW + IDLE_MS + 1;
    let full = *report.containers.iter().find(|(_, requests)| !requests.shapes.is_empty()).unwrap().0;
    let beside = (100..).find(|other| std::ptr::eq(ledger.shard(*other), ledger.shard(full))).unwrap();
    ask(later, beside, 10);
    let report = ledger.report(later);
    assert_eq!((count(&report), shapes(&report, beside).len()), (SHAPES_MAX, 10));
}

/// Asks for everything in every way, as far from any pattern as it gets.
fn ask_at_random(ledger: &Ledger, rounds: usize) {
    let mut chance = Chance::new();
    let letters: String = (0..1 << 16).map(|_| char::from(b'a' + chance.below(26) as u8)).collect();
    let text = |chance: &mut Chance, length: u64| -> &str {
        let (from, length) = (chance.below(60_000) as usize, chance.below(length) as usize);
        &letters[from..from + length]
    };
    for round in 0..rounds {
        // Two days, with many requests at a time.
        let now_ms = NOW + (round / 500 * 500) as i64 * 48 * 3_600_000 / rounds as i64;
        let container = chance.below(2_000);
        let owner = PartitionKey(vec![
            Component::String(text(&mut chance, 600).to_owned()),
            Component::Number(chance.below(1 << 40) as f64),
        ]);
        let id = text(&mut chance, 300);
        let parameters: Vec<(String, Value)> =
            (0..chance.below(5)).map(|at| parameter(&format!("@p{at}"), text(&mut chance, 600))).collect();
        let statement = match chance.below(100) {
            0 => text(&mut chance, 3_000).to_owned(),
            1 => {
                format!("SELECT c.{} FROM c WHERE c.a = '{}'", text(&mut chance, 500), text(&mut chance, 500))
            }
            2 => format!("SELECT c.{} FROM c WHERE c.a = @p1", text(&mut chance, 2_000)),
            few => format!("SELECT c.property{} FROM c WHERE c.a = @p1", few % 4),
        };
        let act = match chance.below(8) {
            0 => Act::Read { id },
            1 => Act::Create { item: b"{}" },
            2 if chance.below(100) == 0 => Act::Procedure { name: id },
            _ => Act::Query { text: &statement, parameters: &parameters },
        };
        let took =
            Took { charge: chance.below(100_000), micros: chance.below(1 << 30), rows: 7, ..Took::default() };
        let note = Note { container, act, key: Some(&owner), took, outcome: Outcome::Done };
        ledger.note(now_ms, Weight::of(chance.below(300)), &note);
        if round % 16 == 0 {
            let rows: Vec<String> = (0..chance.below(60))
                .map(|_| {
                    let members: Vec<String> = (0..chance.below(20))
                        .map(|_| format!("\"{}\":\"{}\"", text(&mut chance, 40), text(&mut chance, 60)))
                        .collect();
                    format!("{{{}}}", members.join(","))
                })
                .collect();
            ledger.watch_answer(now_ms, &note, rows.iter().map(String::as_bytes));
            // Requests for what was in the answer.
            for row in rows.iter().take(20) {
                let value = row.split('"').nth(3).unwrap_or_default();
                let container = chance.below(2_000);
                ledger.note(now_ms, Weight::ONE, &done(container, Act::Read { id: value }, None));
            }
        }
        if round % 8 == 1 {
            let members: Vec<String> =
                (0..20).map(|_| format!("\"{}\":{}", text(&mut chance, 60), chance.below(1 << 30))).collect();
            let after = format!("{{\"type\":\"{}\",{}}}", text(&mut chance, 3), members.join(","));
            ledger.changed(now_ms, container, &owner, id, b"{}", after.as_bytes());
        }
    }
}

#[test]
fn whatever_is_asked_memory_is_bounded() {
    let ledger = Ledger::new();
    let empty = ledger.memory();
    assert!(empty < 64 * 1024, "{empty}");
    ask_at_random(&ledger, 100_000);
    let full = ledger.memory();
    assert!(full <= MEMORY_BYTES_MAX, "{full}");
    assert!(full > MEMORY_BYTES_MAX / 2, "{full}: not enough was asked to show anything");
    let report = ledger.report(NOW + 48 * 3_600_000);
    assert_eq!(report.containers.len(), CONTAINERS_MAX);
    assert!(report.links.len() <= LINKS_MAX);
    for requests in report.containers.values() {
        assert!(requests.keys.len() <= KEYS_COUNTED);
        assert!(requests.shapes.iter().all(|shape| shape.examples.len() <= EXAMPLES_MAX));
    }
    // What is given back is what was taken.
    for container in 0..2_000 {
        ledger.forget_container(container);
    }
    ledger.forget();
    assert_eq!(ledger.memory(), empty);
}

#[test]
fn the_rooms_together_are_what_the_ledger_may_hold() {
    use crate::limits::*;
    let rooms = SHAPE_TEXTS_BYTES_MAX
        + HOURS_BYTES_MAX
        + EXAMPLES_BYTES_MAX
        + KEYS_BYTES_MAX
        + CHANGES_BYTES_MAX
        + ITEMS_BYTES_MAX
        + LINKS_BYTES_MAX
        + CACHED_BYTES_MAX;
    let counted = CONTAINERS_MAX * CONTAINER_BYTES + SHAPES_MAX * SHAPE_BYTES;
    let answers = LIVE_BYTES_MAX + ORIGINS_MAX * crate::links::ORIGIN_BYTES;
    let all = rooms + counted + answers + size_of::<Ledger>() + 16 * 1_024;
    assert!(all <= MEMORY_BYTES_MAX, "{all}: {rooms} + {counted} + {answers}");
}
