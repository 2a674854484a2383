use super::*;
use crate::model::tests::{model, put};

fn change(slot: usize, operation: Operation, sequence: u64, ttl: Option<i32>) -> Change {
    Change { slot, operation, content: Content { sequence, ttl, filling_bytes: 3, filling_seed: sequence } }
}

fn answer(status: u16, body: &str, at: i64) -> Answer {
    let session = Some("0:-1#9".to_owned());
    Answer { status, body: body.as_bytes().to_vec(), session, from: at, to: at, ..Answer::default() }
}

#[test]
fn answers_to_single_writes() {
    use Operation::{Create, Delete, Patch, Replace, Upsert};
    for (operation, exists, status, expected) in [
        (Create, false, 201, Some(Fate::Happened)),
        (Create, true, 409, Some(Fate::Refused)),
        (Create, true, 201, None),
        (Upsert, true, 200, Some(Fate::Happened)),
        (Upsert, true, 201, None),
        (Upsert, false, 201, Some(Fate::Happened)),
        (Replace, true, 200, Some(Fate::Happened)),
        (Replace, false, 404, Some(Fate::Refused)),
        (Replace, true, 404, None),
        (Patch, true, 200, Some(Fate::Happened)),
        (Delete, true, 204, Some(Fate::Happened)),
        (Delete, false, 404, Some(Fate::Refused)),
        (Delete, true, 500, None),
    ] {
        let mut model = model(1, None);
        if exists {
            model.slots[0].events.push(put(1, 100, None, true));
        }
        let before = model.slots[0].events.len();
        let write = Write { changes: vec![change(0, operation, 2, None)], is_transaction: false };
        let fate = write.answered(&mut model, &answer(status, r#"{"_ts":100}"#, 100));
        assert_eq!(fate.ok(), expected, "{operation:?} {exists} {status}");
        let happened = expected == Some(Fate::Happened);
        assert_eq!(model.slots[0].events.len(), before + usize::from(happened));
        if let Some(event) = model.slots[0].events.last().filter(|_| happened) {
            assert_eq!(event.lsn, Some(9));
            assert_eq!(event.put().is_none(), operation == Delete);
            assert_eq!(event.put().and_then(|put| put.is_create), event.put().map(|_| status == 201));
        }
    }
}

#[test]
fn answers_to_transactions() {
    let success = r#"[{"statusCode":201,"resourceBody":{"_ts":100}},{"statusCode":204}]"#;
    let swapped = r#"[{"statusCode":200,"resourceBody":{"_ts":100}},{"statusCode":204}]"#;
    for (exists, status, body, expected) in [
        (false, 200, success, Some(Fate::Happened)),
        (false, 200, swapped, None),
        (false, 200, "[]", None),
        (false, 207, "[]", None),
        (true, 207, "[]", Some(Fate::Refused)),
        (true, 200, success, None),
    ] {
        let mut model = model(2, None);
        if exists {
            model.slots[0].events.push(put(1, 100, None, true));
        }
        model.slots[1].events.push(put(2, 100, None, true));
        let changes = vec![change(0, Operation::Create, 3, None), change(1, Operation::Delete, 4, None)];
        let write = Write { changes, is_transaction: true };
        let fate = write.answered(&mut model, &answer(status, body, 100));
        assert_eq!(fate.ok(), expected, "{exists} {status} {body}");
        if expected == Some(Fate::Happened) {
            let numbers: Vec<_> =
                model.slots.iter().map(|slot| slot.events.last().unwrap().transaction).collect();
            assert_eq!(numbers, [Some(1), Some(1)]);
        }
    }
}

#[test]
fn transactions_see_their_own_steps() {
    let mut own = model(1, None);
    let operations = [Operation::Create, Operation::Replace, Operation::Delete, Operation::Create];
    let changes: Vec<_> =
        operations.iter().enumerate().map(|(index, own)| change(0, *own, index as u64, None)).collect();
    let write = Write { changes, is_transaction: true };
    assert_eq!(write.lives(&own, 1, 1), [Life::Gone, Life::Live, Life::Live, Life::Gone]);
    own.slots[0].events.push(put(9, 1, None, true));
    assert_eq!(write.lives(&own, 1, 1)[0], Life::Live);
}

/// What a read after a kill tells of a write that was not answered.
#[test]
fn unanswered_writes() {
    let shown =
        |sequence: u64, ttl| change(0, Operation::Create, sequence, ttl).content.json("item-0", &only_key());
    let absent = || String::new();
    for (case, prior, operation, ttl, found, at, expected) in [
        ("create happened", None, Operation::Create, None, shown(2, None), 100, Some(Fate::Happened)),
        ("create did not happen", None, Operation::Create, None, absent(), 100, Some(Fate::Refused)),
        ("create may have expired", None, Operation::Create, Some(1), absent(), 102, Some(Fate::Unknown)),
        ("create cannot have expired", None, Operation::Create, Some(1), absent(), 101, Some(Fate::Refused)),
        ("replace happened", Some(None), Operation::Replace, None, shown(2, None), 100, Some(Fate::Happened)),
        (
            "replace did not happen",
            Some(None),
            Operation::Replace,
            None,
            shown(1, None),
            100,
            Some(Fate::Refused),
        ),
        ("replace lost the item", Some(None), Operation::Replace, None, absent(), 100, None),
        ("another version", Some(None), Operation::Replace, None, shown(3, None), 100, None),
        ("delete happened", Some(None), Operation::Delete, None, absent(), 100, Some(Fate::Happened)),
        (
            "delete did not happen",
            Some(None),
            Operation::Delete,
            None,
            shown(1, None),
            100,
            Some(Fate::Refused),
        ),
        ("nothing was there", None, Operation::Delete, None, absent(), 100, Some(Fate::Unknown)),
        ("delete or expiry", Some(Some(1)), Operation::Delete, None, absent(), 102, Some(Fate::Unknown)),
    ] {
        let mut model = model(1, Some(-1));
        if let Some(ttl) = prior {
            model.slots[0].events.push(put(1, 100, ttl, true));
        }
        let status = if found.is_empty() { 404 } else { 200 };
        let fate = judge(&model, &change(0, operation, 2, ttl), &answer(status, &found, at), 100);
        assert_eq!(fate.ok(), expected, "{case}");
    }
}

/// Returns the key of the model's only partition.
fn only_key() -> String {
    model(1, None).spec.keys[0].name.clone()
}

#[test]
fn requests_are_json() {
    let env = armilla_env::Env::system();
    let (_sender, line) = tokio::sync::watch::channel(crate::client::Line::Down);
    let mut client = Client::new(line, Default::default(), &env);
    let model = model(2, None);
    use Operation::{Create, Delete, Patch, Replace, Upsert};
    let all = [Create, Upsert, Replace, Patch, Delete];
    let changes: Vec<_> = all.iter().map(|operation| change(1, *operation, 1, Some(5))).collect();
    for change in changes.clone() {
        let request = Write { changes: vec![change], is_transaction: false }.compose(&mut client, &model);
        let at = request.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        assert!(at + 4 == request.len() || json::parse(&request[at + 4..]).is_ok());
    }
    let request = Write { changes, is_transaction: true }.compose(&mut client, &model);
    let at = request.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    assert_eq!(json::parse(&request[at + 4..]).unwrap().as_array().map(<[_]>::len), Some(5));
}
