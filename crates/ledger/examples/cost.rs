//! What the ledger costs: nanoseconds for each of its calls, and bytes when it is full. Run it in release:
//! `cargo run --release -p armilla-ledger --example cost`.

#![expect(clippy::print_stdout, reason = "a measurement reports on the terminal")]

use std::hint::black_box;
use std::time::Instant;

use armilla_ledger::{Act, Ledger, Note, Outcome, Took, Weight};
use armilla_value::{Component, PartitionKey, Value};

const NOW: i64 = 1_700_000_000_000;

fn main() {
    fill();
    let keys: Vec<PartitionKey> = (0..10_000)
        .map(|at| PartitionKey(vec![Component::String(format!("9b2e5c1a-77aa-4d0c-8f2e-{at:012}"))]))
        .collect();
    let ids: Vec<String> = (0..10_000).map(|at| format!("4f9ad7f0-1b1f-4f0e-9d5c-{at:012}")).collect();
    let took =
        Took { charge: 100, micros: 35, items: 1, rows: 1, bytes: 900, partitions: 1, ..Took::default() };
    let read = |at: usize| Note {
        container: 77 + at as u64 % 5,
        act: Act::Read { id: &ids[at % ids.len()] },
        key: Some(&keys[at % keys.len()]),
        took,
        outcome: Outcome::Done,
    };

    for (name, apart_us) in [("300 a second", 3_333), ("10,000", 100), ("200,000", 5)] {
        let ledger = Ledger::new();
        let mut now_us = NOW * 1_000;
        report(&format!("wants, {name}"), 20_000_000, |_| {
            now_us += apart_us;
            black_box(ledger.wants(now_us / 1_000));
        });
    }
    report("wants, without the ledger", 20_000_000, |at| {
        black_box((NOW * 1_000 + at as i64) / 1_000);
    });
    let ledger = Ledger::new();
    ledger.set_on(false);
    report("wants, off", 20_000_000, |at| {
        black_box(ledger.wants(NOW + at as i64 / 200));
    });
    let ledger = Ledger::new();
    report("wants_answer, 200,000 a second", 20_000_000, |at| {
        black_box(ledger.wants_answer(NOW + at as i64 / 200));
    });

    let ledger = Ledger::new();
    report("note, point read", 2_000_000, |at| ledger.note(NOW, Weight::ONE, &read(at)));
    let rows: Vec<Vec<u8>> = ids
        .iter()
        .zip(&keys)
        .take(20)
        .map(|(id, key)| {
            let Component::String(user) = &key.0[0] else { unreachable!("keys are texts") };
            format!(r#"{{"id":"{id}","type":"post","userId":"{user}","title":"A title","likes":12,"at":1600000000}}"#)
                .into_bytes()
        })
        .collect();
    let text = "SELECT TOP 20 * FROM c WHERE c.type = 'post' AND c.blog = @blog ORDER BY c.at DESC";
    let parameters: Vec<Vec<(String, Value)>> =
        (0..1_000).map(|at| vec![("@blog".to_owned(), Value::from(format!("blog-{at}")))]).collect();
    let query = |at: usize| Note {
        act: Act::Query { text, parameters: &parameters[at % parameters.len()] },
        key: None,
        ..read(at)
    };
    let watch = |ledger: &Ledger, count: usize| {
        for at in 0..count {
            ledger.watch_answer(NOW, &query(at), rows.iter().map(Vec::as_slice));
        }
    };
    watch(&ledger, 20);
    report("note, point read while 20 answers are watched", 2_000_000, |at| {
        ledger.note(NOW, Weight::ONE, &read(at));
    });
    let ledger = Ledger::new();
    report("note, query whose text is remembered", 2_000_000, |at| {
        ledger.note(NOW, Weight::ONE, &query(at));
    });
    let ledger = Ledger::new();
    report("note, query whose text is new", 200_000, |at| {
        let text = format!(
            "SELECT TOP 20 * FROM c WHERE c.type = 'post' AND c.blog = 'blog-{at}' ORDER BY c.at DESC"
        );
        let act = Act::Query { text: &text, parameters: &[] };
        ledger.note(NOW, Weight::ONE, &Note { act, ..query(at) });
    });
    let ledger = Ledger::new();
    report("watch_answer, 20 rows", 20_000, |at| {
        ledger.watch_answer(NOW + at as i64 * 50, &query(at), rows.iter().map(Vec::as_slice));
    });

    let ledger = Ledger::new();
    let item = |likes: usize| {
        let text = "x".repeat(600);
        format!(
            r#"{{"id":"1","type":"post","text":"{text}","tags":["a","b","c"],"author":{{"name":"n"}},"likes":{likes}}}"#
        )
    };
    let items: Vec<String> = (0..10).map(item).collect();
    report("changed, item of 700 bytes", 1_000_000, |at| {
        let (before, after) = (items[at % 10].as_bytes(), items[(at + 1) % 10].as_bytes());
        ledger.changed(NOW, 77, &keys[at % 100], &ids[at % 100], before, after);
    });
}

/// Fills a ledger with requests of two days that have little in common, and prints what it holds.
fn fill() {
    let Some(before) = resident() else { return };
    let ledger = Ledger::new();
    let mut drawn = 1_u64;
    let mut below = |bound: u64| {
        drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (drawn >> 33) % bound
    };
    let letters = "abcdefghijklmnopqrstuvwxyz".repeat(100);
    for at in 0..1_000_000_i64 {
        let now_ms = NOW + at / 50 * 50 * 172;
        let mut text = |length: u64| -> &str {
            let (from, length) = (below(1_000) as usize, below(length) as usize);
            &letters[from..from + length]
        };
        let id = text(60).to_owned();
        let key = PartitionKey(vec![Component::String(format!("{}{at}", text(200)))]);
        let parameters = [("@blog".to_owned(), Value::from(text(900)))];
        let rows: Vec<String> =
            (0..20).map(|row| format!(r#"{{"{}":"user-{row}-{at}"}}"#, text(30))).collect();
        let after = format!(r#"{{"type":"{}","{}":1,"{}":2}}"#, text(3), text(50), text(50));
        let query = format!("SELECT c.property{} FROM c WHERE c.{} = @blog", at % 5, text(4));
        let act = if at % 5 == 0 {
            Act::Read { id: &id }
        } else {
            Act::Query { text: &query, parameters: &parameters }
        };
        let container = below(1_100);
        let took = Took { charge: 100 + below(1_000), micros: below(1_000), rows: 20, ..Took::default() };
        let note = Note { container, act, key: Some(&key), took, outcome: Outcome::Done };
        ledger.note(now_ms, Weight::ONE, &note);
        if at % 8 == 0 {
            ledger.watch_answer(now_ms, &note, rows.iter().map(String::as_bytes));
            let act = Act::Read { id: &rows[0][rows[0].len() - 10..] };
            ledger.note(now_ms, Weight::ONE, &Note { act, ..note });
            ledger.changed(now_ms, container, &key, &id, b"{}", after.as_bytes());
        }
    }
    println!("full: {} bytes by the estimate", ledger.memory());
    if let Some(after) = resident() {
        println!("full: {} bytes by the system", after.saturating_sub(before));
    }
}

/// Returns the bytes that the process has in memory, where the system tells.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok().map(|kibibytes| 1_024 * kibibytes)
}

/// Prints what the fastest of some stretches took: other work on the machine makes the others slower.
#[expect(clippy::disallowed_methods, reason = "measures the machine")]
fn report(name: &str, rounds: usize, mut run: impl FnMut(usize)) {
    const STRETCHES: usize = 50;
    let mut fastest = f64::INFINITY;
    for stretch in 0..STRETCHES {
        let length = rounds / STRETCHES;
        let start = Instant::now();
        for at in stretch * length..(stretch + 1) * length {
            run(at);
        }
        fastest = fastest.min(start.elapsed().as_nanos() as f64 / length as f64);
    }
    println!("{name}: {fastest:.1} ns");
}
