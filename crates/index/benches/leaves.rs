//! How long the terms of an item take, which every write waits for.

#![expect(clippy::print_stdout, reason = "a bench reports on the terminal")]

use std::hint::black_box;
use std::time::Instant;

use armilla_index::{IndexingPolicy, Leaves, Matcher, leaves, visit_entries};
use armilla_value::{Stored, json, stored};

const ITEM: &str = r#"{"id":"0a4ed5b4-2a9f-4f4f-9f24-8a4b9e3a0c11","type":"order","customer":"thomas.andersen","date":"2019-10-01T10:20:30.1234567Z","total":985.018,"paid":true,"count":3,"ship":{"name":"Ann","city":"Oslo","zip":"0150"},"tags":["new","gift"],"items":[{"product":760,"price":419.45},{"product":761,"price":99.5}],"note":null}"#;

const ROUNDS: u32 = 2_000_000;

fn main() {
    let bytes = stored::encode(ITEM.as_bytes(), &[]).expect("the item is JSON");
    let root = Stored::open(&bytes).expect("just encoded").root();
    let chosen = r#"{"includedPaths":[{"path":"/customer/?"},{"path":"/date/?"},{"path":"/items/[]/product/?"}],"excludedPaths":[{"path":"/*"}]}"#;
    let chosen = IndexingPolicy::from_value(&json::parse(chosen.as_bytes()).expect("JSON")).expect("valid");
    for (name, policy) in [("everything", IndexingPolicy::default()), ("three paths", chosen)] {
        let matcher = Matcher::new(&policy);
        let count = leaves(&matcher, root).len();
        let per_item = measure(|| leaves(&matcher, black_box(root)));
        println!("leaves, {name}: {count} leaves, {per_item:.0} ns");
        let (mut count, mut bytes) = (0, 0);
        let _ = visit_entries(&matcher, root, 1_700_000_000, &[], |_, term| {
            count += 1;
            bytes += term.len();
        });
        let per_item = measure(|| {
            let mut sum = 0;
            let _ = visit_entries(&matcher, black_box(root), 1_700_000_000, &[], |index, term| {
                sum += index.0 as usize + term.len();
            });
            sum
        });
        println!("entries, {name}: {count} entries with {bytes} bytes of terms, {per_item:.0} ns");
    }
    let all = leaves(&Matcher::new(&IndexingPolicy::default()), root);
    let per_pair = measure(|| Leaves::diff(black_box(&all), black_box(&all)));
    println!("diff of two equal sets: {per_pair:.0} ns");
}

#[expect(clippy::disallowed_methods, reason = "measures the machine")]
fn measure<T>(mut run: impl FnMut() -> T) -> f64 {
    for _ in 0..ROUNDS / 10 {
        black_box(run());
    }
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(run());
    }
    start.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
}
