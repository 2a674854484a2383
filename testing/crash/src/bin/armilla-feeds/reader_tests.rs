use armilla_crash::map::Map;
use armilla_env::Random;
use armilla_value::{Value, json};

use super::*;
use crate::model::tests::{delete, model, put};
use crate::scope::{self, ScopeKind};

fn reader(mode: Mode, start: Start, model: &Model) -> Reader {
    let map = Map { etag: String::new(), ranges: Vec::new() };
    let parts = scope::draw(ScopeKind::Container, &model.spec, &map, &mut Random::new(1));
    Reader::new(1, mode, start, parts, model)
}

fn asked(model: &Model, at: i64, items_max: usize) -> Asked {
    Asked { before: model.lengths(), from: at, to: at, items_max }
}

fn image(model: &Model, slot: usize, event: usize) -> Value {
    let put = model.slots[slot].events[event].put().unwrap();
    json::parse(put.content.json(&model.slots[slot].id, model.key_name(slot)).as_bytes()).unwrap()
}

/// Returns an event as a feed of the latest versions shows it.
fn flat(model: &Model, slot: usize, event: usize) -> Shown {
    let own = &model.slots[slot].events[event];
    Shown {
        slot,
        done: None,
        lsn: own.lsn.unwrap(),
        ts: own.put().unwrap().ts.unwrap(),
        item: Some(image(model, slot, event)),
        previous: None,
        previous_lsn: None,
    }
}

/// Returns an event as a feed of all versions shows it.
fn full(model: &Model, slot: usize, event: usize, done: Done) -> Shown {
    let own = &model.slots[slot].events[event];
    let is_delete = done == Done::Delete;
    Shown {
        slot,
        done: Some(done),
        lsn: own.lsn.unwrap(),
        ts: own.put().map_or(100, |put| put.ts.unwrap()),
        item: (!is_delete).then(|| image(model, slot, event)),
        previous: is_delete.then(|| image(model, slot, event - 1)),
        previous_lsn: None,
    }
}

#[test]
fn latest_versions() {
    let mut model = model(2, None);
    model.slots[0].events = vec![put(1, 100, None, true), put(3, 100, None, false)];
    model.slots[1].events = vec![put(2, 100, None, true), delete(4)];
    let page = |shown: &[Shown], start| {
        let mut reader = reader(Mode::Latest, start, &model);
        let asked = asked(&model, 100, 10);
        let mut own = model.clone();
        reader.shown(&mut own, 0, shown, &asked).and_then(|()| reader.ended(&own, 0, &asked))
    };
    let newest = flat(&model, 0, 1);
    assert_eq!(page(std::slice::from_ref(&newest), Start::Beginning), Ok(()));
    assert_eq!(page(std::slice::from_ref(&newest), Start::Time(100)), Ok(()));
    for (case, shown, start) in [
        ("an old version", vec![flat(&model, 0, 0)], Start::Beginning),
        ("what is deleted", vec![flat(&model, 1, 0), newest.clone()], Start::Beginning),
        ("twice", vec![newest.clone(), newest.clone()], Start::Beginning),
        ("nothing", vec![], Start::Beginning),
        ("before the start", vec![newest.clone()], Start::Now),
        ("before the time", vec![newest.clone()], Start::Time(101)),
        ("another commit", vec![Shown { lsn: 9, ..newest.clone() }], Start::Beginning),
        ("another time", vec![Shown { ts: 101, ..newest.clone() }], Start::Beginning),
        (
            "another content",
            vec![Shown { item: Some(image(&model, 0, 0)), ..newest.clone() }],
            Start::Beginning,
        ),
        ("of another item", vec![Shown { slot: 1, ..newest.clone() }], Start::Beginning),
    ] {
        assert!(page(&shown, start).is_err(), "{case}");
    }
    let silent = reader(Mode::Latest, Start::Beginning, &model);
    assert!(silent.ended(&model, 0, &asked(&model, 100, 10)).is_err());
    assert_eq!(reader(Mode::Latest, Start::Now, &model).ended(&model, 0, &asked(&model, 100, 10)), Ok(()));
    assert_eq!(
        reader(Mode::Latest, Start::Time(101), &model).ended(&model, 0, &asked(&model, 100, 10)),
        Ok(())
    );
}

#[test]
fn versions_that_are_being_replaced() {
    let mut own = model(1, None);
    own.slots[0].events = vec![put(1, 100, None, true)];
    let before = asked(&own, 100, 10);
    own.slots[0].events.push(put(2, 100, None, false));
    for event in [0, 1] {
        let mut reader = reader(Mode::Latest, Start::Beginning, &own);
        let shown = flat(&own, 0, event);
        assert_eq!(reader.shown(&mut own, 0, &[shown], &before), Ok(()), "{event}");
    }
    // Whoever is told that there is nothing more may have been told before the write.
    assert_eq!(reader(Mode::Latest, Start::Beginning, &own).ended(&own, 0, &before), Ok(()));
    assert!(reader(Mode::Latest, Start::Beginning, &own).ended(&own, 0, &asked(&own, 100, 10)).is_err());
}

#[test]
fn what_has_expired_is_not_shown() {
    let mut own = model(1, Some(-1));
    own.slots[0].events = vec![put(1, 100, Some(2), true)];
    for (at, is_shown, is_missed) in [(102, true, true), (103, false, false)] {
        let mut reader = reader(Mode::Latest, Start::Beginning, &own);
        let asked = asked(&own, at, 10);
        assert_eq!(reader.ended(&own, 0, &asked).is_err(), is_missed, "{at}");
        let shown = flat(&own, 0, 0);
        assert_eq!(reader.shown(&mut own, 0, &[shown], &asked).is_ok(), is_shown, "{at}");
    }
}

#[test]
fn pages_end_between_commits() {
    let mut own = model(3, None);
    for (slot, lsn) in [(0, 1), (1, 2), (2, 2)] {
        let mut event = put(slot as u64 + 1, 100, None, true);
        (event.lsn, event.transaction) = (Some(lsn), (lsn == 2).then_some(7));
        own.slots[slot].events = vec![event];
    }
    let all: Vec<_> = (0..3).map(|slot| flat(&own, slot, 0)).collect();
    for (shown, items_max, is_right) in [
        (&all[..], 3, true),
        (&all[..], 2, true),
        (&all[..], 1, false),
        (&all[..2], 2, false),
        (&all[..1], 1, true),
        (&all[1..], 1, true),
    ] {
        let mut reader = reader(Mode::Latest, Start::Beginning, &own);
        let asked = asked(&own, 100, items_max);
        let judged = reader.shown(&mut own, 0, shown, &asked);
        assert_eq!(judged.is_ok(), is_right, "{} of {items_max}: {judged:?}", shown.len());
    }
}

#[test]
fn all_versions() {
    let mut own = model(1, None);
    own.spec.has_previous_images = false;
    let reader = reader(Mode::AllVersions, Start::Now, &own);
    own.slots[0].events =
        vec![put(1, 100, None, true), put(2, 100, None, false), delete(3), put(4, 100, None, true)];
    let create = full(&own, 0, 0, Done::Create);
    let replace = full(&own, 0, 1, Done::Replace);
    let gone = full(&own, 0, 2, Done::Delete);
    let again = full(&own, 0, 3, Done::Create);
    let judge = |shown: &[Shown]| {
        let (mut reader, mut own) = (reader.clone(), own.clone());
        let asked = asked(&own, 100, 10);
        reader.shown(&mut own, 0, shown, &asked).and_then(|()| reader.ended(&own, 0, &asked))
    };
    let all = [create.clone(), replace.clone(), gone.clone(), again.clone()];
    assert_eq!(judge(&all), Ok(()));
    let with = |index: usize, shown: Shown| {
        let mut all = all.to_vec();
        all[index] = shown;
        all
    };
    for (case, shown) in [
        ("the last is missing", all[..3].to_vec()),
        ("one in the middle is missing", vec![create.clone(), gone.clone(), again.clone()]),
        ("twice", vec![create.clone(), create.clone()]),
        ("a create called a replace", with(0, Shown { done: Some(Done::Replace), ..create.clone() })),
        ("a replace called a create", with(1, Shown { done: Some(Done::Create), ..replace.clone() })),
        ("a delete without image", with(2, Shown { previous: None, ..gone.clone() })),
        ("a delete with another image", with(2, Shown { previous: Some(image(&own, 0, 0)), ..gone.clone() })),
        (
            "an image that nobody wants",
            with(1, Shown { previous: Some(image(&own, 0, 0)), ..replace.clone() }),
        ),
        ("another commit before", with(2, Shown { previous_lsn: Some(1), ..gone.clone() })),
        ("an expiry", with(2, Shown { done: Some(Done::Expire), ..gone.clone() })),
    ] {
        assert!(judge(&shown).is_err(), "{case}");
    }
    assert_eq!(judge(&with(2, Shown { previous_lsn: Some(2), ..gone })), Ok(()));
}

#[test]
fn expiries() {
    let mut own = model(1, Some(-1));
    own.spec.has_previous_images = false;
    let reader = reader(Mode::AllVersions, Start::Now, &own);
    own.slots[0].events = vec![put(1, 100, Some(2), true), put(5, 110, None, true)];
    let first = full(&own, 0, 0, Done::Create);
    let second = full(&own, 0, 1, Done::Create);
    let expiry = |ts, lsn| Shown {
        done: Some(Done::Expire),
        item: None,
        previous: Some(image(&own, 0, 0)),
        ts,
        lsn,
        ..first.clone()
    };
    for (case, shown, is_right) in [
        ("as it was", vec![first.clone(), expiry(103, 4), second.clone()], true),
        ("too early", vec![first.clone(), expiry(102, 4), second.clone()], false),
        ("not shown", vec![first.clone(), second.clone()], false),
        ("twice", vec![first.clone(), expiry(103, 3), expiry(103, 4), second.clone()], false),
        ("of what never goes", vec![first.clone(), expiry(103, 4), second.clone(), expiry(120, 6)], false),
        ("before it came", vec![expiry(103, 1), first.clone()], false),
    ] {
        let (mut reader, mut own) = (reader.clone(), own.clone());
        let asked = asked(&own, 110, 10);
        let judged = reader.shown(&mut own, 0, &shown, &asked);
        assert_eq!(judged.is_ok(), is_right, "{case}: {judged:?}");
    }
}

#[test]
fn what_is_in_doubt_may_be_shown_or_not() {
    let mut own = model(1, Some(-1));
    let reader = reader(Mode::AllVersions, Start::Now, &own);
    let mut doubtful = put(2, 100, Some(1), false);
    doubtful.is_certain = false;
    doubtful.lsn = None;
    own.slots[0].events = vec![put(1, 100, Some(1), true), doubtful, put(3, 110, None, true)];
    let first = full(&own, 0, 0, Done::Create);
    let last = full(&own, 0, 2, Done::Create);
    let expiry = |event: usize, lsn| Shown {
        done: Some(Done::Expire),
        item: None,
        previous: Some(image(&own, 0, event)),
        ts: 105,
        lsn,
        ..first.clone()
    };
    let middle = Shown {
        done: Some(Done::Replace),
        lsn: 2,
        item: Some(image(&own, 0, 1)),
        previous: own.spec.has_previous_images.then(|| image(&own, 0, 0)),
        ..first.clone()
    };
    for shown in [
        vec![first.clone(), expiry(0, 2), last.clone()],
        vec![first.clone(), middle, expiry(1, 3), last.clone()],
    ] {
        let (mut reader, mut own) = (reader.clone(), own.clone());
        let asked = asked(&own, 110, 10);
        assert_eq!(reader.shown(&mut own, 0, &shown, &asked), Ok(()));
        assert_eq!(reader.ended(&own, 0, &asked), Ok(()));
        assert_eq!(own.slots[0].events[1].is_certain, shown.len() == 4);
    }
}
