//! Tests of the model of banks.

use armilla_value::json;

use super::*;
use crate::bank_requests::{account, entry, note, note_count};

fn transfer(from: usize, to: usize, amount: i64) -> Transfer {
    Transfer { from, to, amount, by: "batch" }
}

fn moved(id: &str, from: usize, to: usize, amount: i64) -> Act {
    Act::Transfer { id: id.to_owned(), transfer: transfer(from, to, amount), shown: None }
}

fn noted(id: &str) -> Act {
    Act::CreateNote { id: id.to_owned(), text: format!("text of {id}"), shown: None }
}

fn settled(entries: &[(&str, Transfer)]) -> Act {
    Act::Settle { entries: entries.iter().map(|(id, own)| ((*id).to_owned(), own.clone())).collect() }
}

fn after(acts: &[Act]) -> Bank {
    let mut bank = Bank::new();
    for act in acts {
        bank.apply(act);
    }
    bank
}

/// Returns the items that a server would show of a bank.
fn items(bank: &Bank) -> Vec<Value> {
    let mut bodies: Vec<String> =
        bank.accounts.iter().enumerate().map(|(number, own)| account("b", number, own)).collect();
    bodies.push(note_count("b", bank.note_count, bank.note_changes));
    bodies.extend(bank.entries.iter().map(|(id, own)| entry("b", id, &own.content)));
    bodies.extend(bank.notes.iter().map(|(id, own)| note("b", id, &own.content, false)));
    bodies
        .iter()
        .map(|body| {
            let Value::Object(mut item) = json::parse(body.as_bytes()).unwrap() else {
                panic!("an item is an object")
            };
            for name in ["_rid", "_self", "_etag", "_attachments"] {
                item.insert(name, name);
            }
            item.insert("_ts", 1);
            Value::Object(item)
        })
        .collect()
}

#[test]
fn what_a_server_shows_is_read_as_it_is_meant() {
    let bank = after(&[moved("e1", 0, 1, 7), moved("e2", 3, 2, 5), noted("n1"), noted("n2")]);
    let shown = Bank::of_items(items(&bank)).unwrap();
    assert_eq!(bank.differences(&shown), [] as [&str; 0]);
    assert!(shown.entries["e1"].shown.is_some());
    // What was shown once must be shown again, to the last member.
    let mut other = shown.clone();
    other.entries.get_mut("e1").unwrap().shown = Some(Value::Null);
    assert_eq!(shown.differences(&other).len(), 1);
}

#[test]
fn items_that_are_no_bank_are_refused() {
    let whole = items(&after(&[moved("e1", 0, 1, 7), noted("n1")]));
    for left_out in 0..=ACCOUNTS {
        let mut items = whole.clone();
        items.remove(left_out);
        assert!(Bank::of_items(items).unwrap_err().ends_with("is gone"));
    }
    for (name, value) in [("kind", "x"), ("from", "account-4"), ("by", "nobody"), ("amount", "much")] {
        let mut items = whole.clone();
        let Value::Object(item) = &mut items[ACCOUNTS + 1] else { panic!("an item is an object") };
        item.insert(name, value);
        assert!(Bank::of_items(items).is_err(), "{name}");
    }
}

#[test]
fn acts_commute() {
    let acts = [
        moved("e1", 0, 1, 7),
        moved("e2", 1, 2, 9),
        noted("n1"),
        noted("n2"),
        Act::Refused { id: "e3".to_owned() },
    ];
    let mut turned = acts.to_vec();
    turned.reverse();
    assert_eq!(after(&acts), after(&turned));
}

#[test]
fn settling_keeps_balances() {
    let before = after(&[moved("e1", 0, 1, 7), moved("e2", 0, 1, 3), moved("e3", 1, 3, 4)]);
    let mut bank = before.clone();
    bank.apply(&settled(&[("e1", transfer(0, 1, 7)), ("e3", transfer(1, 3, 4))]));
    assert_eq!(bank.entries.keys().collect::<Vec<_>>(), ["e2"]);
    assert_eq!(bank.accounts.clone().map(|account| account.settled), [-7, 3, 0, 4]);
    assert_eq!(bank.accounts.map(|account| account.balance), before.accounts.map(|account| account.balance));
}

#[test]
fn acts_under_way_are_told_by_what_they_leave() {
    let bank = after(&[moved("e1", 0, 1, 7), moved("e2", 0, 1, 3), noted("n1")]);
    let refused = |id: &str| Act::Refused { id: id.to_owned() };
    for (act, expected) in [
        (moved("e1", 0, 1, 7), Some(true)),
        (moved("e9", 0, 1, 7), Some(false)),
        (noted("n1"), Some(true)),
        (noted("n9"), Some(false)),
        (Act::DeleteNote { id: "n1".to_owned() }, Some(false)),
        (Act::DeleteNote { id: "n9".to_owned() }, Some(true)),
        (settled(&[("e1", transfer(0, 1, 7)), ("e2", transfer(0, 1, 3))]), Some(false)),
        (settled(&[("e8", transfer(0, 1, 7)), ("e9", transfer(0, 1, 3))]), Some(true)),
        (settled(&[("e1", transfer(0, 1, 7)), ("e9", transfer(0, 1, 3))]), None),
        (refused("e9"), Some(false)),
        (refused("e1"), None),
        (refused("n1"), None),
    ] {
        assert_eq!(bank.has_happened(&act).ok(), expected, "{act:?}");
    }
}

#[test]
fn half_an_act_is_noticed() {
    let expected = after(&[moved("e1", 0, 1, 7), noted("n1")]);
    let check = |name: &str, spoil: fn(&mut Bank)| {
        let mut shown = expected.clone();
        spoil(&mut shown);
        assert!(!expected.differences(&shown).is_empty(), "{name}");
    };
    check("the entry is missing", |bank| bank.entries.clear());
    check("money left and never came", |bank| bank.accounts[1].balance -= 7);
    check("another one got it", |bank| {
        bank.accounts[1].balance -= 7;
        bank.accounts[2].balance += 7;
    });
    check("the entry is another", |bank| bank.entries.get_mut("e1").unwrap().content.amount = 8);
    check("a transfer is not counted", |bank| bank.accounts[0].transfers = 0);
    check("a settlement that nobody asked for", |bank| bank.accounts[0].settled = 1);
    check("the note is missing", |bank| bank.notes.clear());
    check("the note is not counted", |bank| bank.note_count = 0);
    check("the note was counted twice", |bank| {
        bank.note_count = 2;
        bank.note_changes = 2;
    });
    check("an act that nobody asked for", |bank| bank.apply(&moved("e9", 1, 0, 1)));
    check("a note from nowhere", |bank| bank.apply(&noted("n9")));
    check("the note says something else", |bank| bank.notes.get_mut("n1").unwrap().content.push('x'));
}
