//! What governing costs an operation: every request waits for admission, payment and metering.

#![expect(clippy::print_stdout, reason = "a bench reports on the terminal")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use armilla_governor::{Budget, Meter, OperationKind, Policy, Priority, RequestUnits};

const ROUNDS: u32 = 5_000_000;

fn main() {
    let charge = RequestUnits::from_hundredths(100);
    let took = Duration::from_micros(35);
    let rate = RequestUnits::from_hundredths(1_000_000_000);
    let keys: Vec<[u8; 24]> = (0..10_000_u64)
        .map(|index| {
            let mut key = [0; 24];
            key[..8].copy_from_slice(&index.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
            key
        })
        .collect();
    for (name, key_count) in [("one key", 1), ("50 keys", 50), ("10,000 keys", 10_000)] {
        let (budget, meter) = (Budget::new(rate, Policy::default()), Meter::new());
        report(&format!("admit, spend and record, {name}"), |round| {
            // 20,000 operations a second.
            let now_ms = i64::from(round / 20);
            let key = &keys[round as usize % key_count];
            let admitted = budget.admit(black_box(now_ms), Priority::High);
            budget.spend(now_ms, Priority::High, charge);
            meter.record(now_ms, OperationKind::Read, Some(key), charge, took);
            admitted
        });
    }
    let budget = Budget::new(rate, Policy::default());
    report("admit", |round| budget.admit(i64::from(round / 20), Priority::High));
    report("spend", |round| budget.spend(i64::from(round / 20), Priority::High, charge));
    let spent = Budget::new(RequestUnits::from_hundredths(100), Policy::default());
    spent.spend(0, Priority::High, RequestUnits::from_hundredths(u64::MAX));
    report("refuse", |round| spent.admit(i64::from(round / 20), Priority::High));
    let meter = Meter::new();
    report("record, no key", |round| {
        meter.record(i64::from(round / 20), OperationKind::Read, None, charge, took);
    });
}

#[expect(clippy::disallowed_methods, reason = "measures the machine")]
fn report<T>(name: &str, mut run: impl FnMut(u32) -> T) {
    for round in 0..ROUNDS / 10 {
        black_box(run(round));
    }
    let start = Instant::now();
    for round in ROUNDS / 10..ROUNDS / 10 + ROUNDS {
        black_box(run(round));
    }
    println!("{name}: {:.0} ns", start.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
}
