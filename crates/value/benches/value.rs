//! Times the hot functions on one item of about 400 bytes, in nanoseconds per call.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write};
use std::time::Instant;

use armilla_value::stored::{encode, encode_value};
use armilla_value::{HashVersion, PropertyPath, Stored, extract, hashed_key, json, key};

const ITEM: &str = r#"{"id":"order-000000184213","customerId":"customer-0004711","status":"shipped","total":1284.75,"currency":"EUR","lines":4,"priority":false,"created":"2024-05-17T09:31:22.118Z","note":"leave at the door, please","tags":["fragile","gift","express"],"address":{"street":"Karl Johans gate 22","city":"Oslo","zip":"0026"},"weight":12.5,"coupon":null,"channel":"web","revision":17,"warehouse":"north-2"}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let spaced = ITEM.replace("\":", "\": ").replace(",\"", ", \"");
    let bytes = encode(ITEM.as_bytes(), &[])?;
    let stored = Stored::open(&bytes)?;
    let value = stored.root().to_value();
    let paths = [PropertyPath::parse("/customerId")?];
    let partition_key = extract(stored.root(), &paths);
    writeln!(out, "text {} bytes, skeleton {} bytes", stored.text().len(), stored.skeleton_bytes())?;
    let mut report = |name: &str, ns: f64| writeln!(out, "{name:<34} {ns:>9.1} ns");
    report("encode", time(|| encode(black_box(ITEM.as_bytes()), &[])))?;
    let system = ["_rid", "_self", "_etag", "_ts", "_attachments"];
    report("encode, dropping 5 names", time(|| encode(black_box(ITEM.as_bytes()), &system)))?;
    report("encode, text with spaces", time(|| encode(black_box(spaced.as_bytes()), &[])))?;
    report("encode_value", time(|| encode_value(black_box(&value), &[])))?;
    report("json::parse", time(|| json::parse(black_box(ITEM.as_bytes()))))?;
    report("json::write", time(|| json::to_string(black_box(&value))))?;
    report(
        "open, get 3 members",
        time(|| {
            let root = Stored::open(black_box(&bytes)).ok()?.root();
            Some((
                root.get("status")?.as_str()?.len(),
                root.get("lines")?.as_i64()?,
                root.get("warehouse")?.kind(),
            ))
        }),
    )?;
    report("get a missing member", time(|| black_box(stored).root().get(black_box("absent")).is_some()))?;
    report("get_path, two levels", time(|| black_box(stored).root().get("address")?.get("city")?.as_str()))?;
    report("to_value", time(|| black_box(stored).root().to_value()))?;
    let mut key_bytes = Vec::new();
    report(
        "key bytes of the whole item",
        time(|| {
            key_bytes.clear();
            key::encode_node(black_box(stored).root(), &mut key_bytes);
            key_bytes.len()
        }),
    )?;
    report("extract partition key", time(|| extract(black_box(stored).root(), &paths)))?;
    report("hash partition key, version 2", time(|| hashed_key(black_box(&partition_key), HashVersion::V2)))?;
    report("hash partition key, version 1", time(|| hashed_key(black_box(&partition_key), HashVersion::V1)))?;
    Ok(())
}

/// Returns the nanoseconds of one call: the best of several rounds, because other work only ever adds.
#[expect(clippy::disallowed_methods, reason = "measuring the machine is the point")]
fn time<T>(mut call: impl FnMut() -> T) -> f64 {
    const CALLS: u32 = 20_000;
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let start = Instant::now();
        for _ in 0..CALLS {
            black_box(call());
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
    }
    best
}
