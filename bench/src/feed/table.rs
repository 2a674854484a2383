//! The tables of the change feed, for people and as JSON.

use armilla_value::{Object, Value};

use super::FeedOptions;
use super::drain::{self, Reader};
use super::follow::{self, Following};
use super::log::{self, Kept, OnDisk, Sample};
use crate::columns::{layout, time};

/// Readers that are set in relation: name, of what, to what.
const RATIOS: [(&str, Reader, Reader); 5] = [
    ("engine/raw scan", Reader::Engine, Reader::Raw),
    ("engine, JSON written/raw scan", Reader::EngineJson, Reader::Raw),
    ("HTTP/bare HTTP", Reader::Http, Reader::Bare),
    ("HTTP/engine", Reader::Http, Reader::Engine),
    ("HTTP/engine, JSON written", Reader::Http, Reader::EngineJson),
];

/// Prints what was measured.
pub(super) fn print(
    options: &FeedOptions,
    drains: &[drain::Line],
    followings: &[Following],
    logs: &[Sample],
) {
    let order = if options.scattered { ", written in scattered order" } else { "" };
    println!("{} items of {} bytes{order}", options.items, options.item_bytes);
    if !drains.is_empty() {
        println!();
        print_drains(drains);
    }
    if !followings.is_empty() {
        println!();
        print_followings(options, followings);
    }
    if !logs.is_empty() {
        println!();
        print_logs(logs);
    }
}

fn print_drains(lines: &[drain::Line]) {
    let headings = ["drain", "items/s", "MB/s", "items/page", "CPU us/item"].map(str::to_owned);
    let rows: Vec<_> = lines
        .iter()
        .map(|line| {
            [
                format!("{}, {} ({} MB)", line.reader.name(), line.cache, line.cache_mb),
                format!("{:.0}", line.best.items_per_second()),
                format!("{:.0}", line.best.megabytes_per_second()),
                format!("{:.0}", line.best.all.items as f64 / line.best.all.pages.max(1) as f64),
                format!("{:.2}", line.best.cpu_us_per_item()),
            ]
        })
        .collect();
    println!("{}", layout(&headings, &rows).trim_end());
    for (name, ratio) in drain_ratios(lines) {
        println!("{name:<46} {ratio:>10.2}");
    }
}

/// Returns the names of all ratios of drains with their values.
fn drain_ratios(lines: &[drain::Line]) -> Vec<(String, f64)> {
    let mut caches: Vec<&str> = Vec::new();
    for line in lines {
        if !caches.contains(&line.cache) {
            caches.push(line.cache);
        }
    }
    let ratio = |cache: &str, (name, of, to): (&str, Reader, Reader)| {
        Some((format!("{name}, {cache}"), drain::ratio(lines, cache, of, to)?))
    };
    caches.iter().flat_map(|cache| RATIOS.into_iter().filter_map(|pair| ratio(cache, pair))).collect()
}

fn print_followings(options: &FeedOptions, followings: &[Following]) {
    let headings = [
        &format!("{} writers", options.connections) as &str,
        "writes/s",
        "p50",
        "p99",
        "CPU us/write",
        "/ alone",
        "deliveries/s",
        "a page",
        "delay p50",
        "p99",
        "max",
    ]
    .map(str::to_owned);
    let rows: Vec<_> = followings
        .iter()
        .map(|following| {
            let outcome = &following.outcome;
            let is_followed = following.followers > 0;
            let cell = |text: String| if is_followed { text } else { "-".to_owned() };
            [
                name(following),
                format!("{:.0}", outcome.per_second()),
                time(outcome.writes.quantile_us(0.5)),
                time(outcome.writes.quantile_us(0.99)),
                format!("{:.0}", outcome.cpu_us_per_write()),
                follow::ratio(followings, following).map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                cell(format!("{:.0}", outcome.deliveries_per_second())),
                cell(format!("{:.1}", outcome.page_changes())),
                cell(time(outcome.delays.quantile_us(0.5))),
                cell(time(outcome.delays.quantile_us(0.99))),
                cell(time(outcome.delays.max_us())),
            ]
        })
        .collect();
    println!("{}", layout(&headings, &rows).trim_end());
}

fn name(following: &Following) -> String {
    let rate = match following.writes_per_second {
        rate if rate > 0.0 => format!("{rate:.0} a second"),
        _ => "as many as go".to_owned(),
    };
    match following.followers {
        1 => format!("1 follower, {rate}"),
        count => format!("{count} followers, {rate}"),
    }
}

fn print_logs(samples: &[Sample]) {
    let headings = [
        "change log",
        "records",
        "their bytes",
        "on disk, quiet",
        "closed",
        "restarted",
        "/ first load",
        "store, closed",
    ]
    .map(str::to_owned);
    let megabytes = |bytes: u64| format!("{:.2} MB", bytes as f64 / 1e6);
    let rows: Vec<_> = samples
        .iter()
        .map(|sample| {
            let growth = log::growth(samples, sample);
            [
                format!("{}, {} overwrites", kept(sample.kept), sample.overwrites),
                sample.records.to_string(),
                megabytes(sample.record_bytes),
                megabytes(sample.quiet.log),
                megabytes(sample.closed.log),
                megabytes(sample.restarted.log),
                growth.map_or("-".to_owned(), |growth| growth.map(|ratio| format!("{ratio:.2}")).join(" ")),
                megabytes(sample.closed.store),
            ]
        })
        .collect();
    println!("{}", layout(&headings, &rows).trim_end());
}

fn kept(kept: Kept) -> &'static str {
    match kept {
        Kept::LatestVersions => "latest versions",
        Kept::AllVersions => "all versions",
    }
}

/// Returns everything.
pub(super) fn figures(
    options: &FeedOptions,
    drains: &[drain::Line],
    followings: &[Following],
    logs: &[Sample],
) -> Value {
    let mut all = Object::new();
    all.insert("items", options.items as i64);
    all.insert("itemBytes", options.item_bytes as i64);
    all.insert("scattered", options.scattered);
    all.insert("pageItems", options.page_items as i64);
    all.insert("connections", options.connections as i64);
    all.insert("seconds", options.seconds);
    all.insert("rounds", options.rounds as i64);
    all.insert("drains", drains.iter().map(drain_figures).collect::<Vec<_>>());
    let mut ratios = Object::new();
    for (name, ratio) in drain_ratios(drains) {
        ratios.insert(name.as_str(), ratio);
    }
    all.insert("drainRatios", Value::Object(ratios));
    let following = |following| following_figures(followings, following);
    all.insert("followings", followings.iter().map(following).collect::<Vec<_>>());
    all.insert("logs", logs.iter().map(|sample| log_figures(logs, sample)).collect::<Vec<_>>());
    Value::Object(all)
}

fn drain_figures(line: &drain::Line) -> Object {
    let mut object = Object::new();
    object.insert("reader", line.reader.name());
    object.insert("cache", line.cache);
    object.insert("cacheMb", i64::from(line.cache_mb));
    object.insert("itemsPerSecond", line.best.items_per_second());
    object.insert("megabytesPerSecond", line.best.megabytes_per_second());
    object.insert("items", line.best.all.items as i64);
    object.insert("pages", line.best.all.pages as i64);
    object.insert("cpuUsPerItem", line.best.cpu_us_per_item());
    object
}

fn following_figures(followings: &[Following], following: &Following) -> Object {
    let outcome = &following.outcome;
    let mut object = Object::new();
    object.insert("followers", following.followers as i64);
    object.insert("askedWritesPerSecond", following.writes_per_second);
    object.insert("writesPerSecond", outcome.per_second());
    object.insert("writeP50Us", outcome.writes.quantile_us(0.5));
    object.insert("writeP99Us", outcome.writes.quantile_us(0.99));
    object.insert("cpuUsPerWrite", outcome.cpu_us_per_write());
    object.insert("ratio", follow::ratio(followings, following));
    object.insert("deliveries", outcome.delays.operations() as i64);
    object.insert("pages", outcome.pages as i64);
    for (name, quantile) in [("delayP50Us", 0.5), ("delayP99Us", 0.99), ("delayP999Us", 0.999)] {
        object.insert(name, outcome.delays.quantile_us(quantile));
    }
    object.insert("delayMaxUs", outcome.delays.max_us());
    object
}

fn log_figures(samples: &[Sample], sample: &Sample) -> Object {
    let mut object = Object::new();
    object.insert("kept", kept(sample.kept));
    object.insert("overwrites", sample.overwrites as i64);
    object.insert("records", sample.records as i64);
    object.insert("recordBytes", sample.record_bytes as i64);
    let sizes = [("quiet", sample.quiet), ("closed", sample.closed), ("restarted", sample.restarted)];
    for (place, (name, OnDisk { log, store })) in sizes.into_iter().enumerate() {
        let mut size = Object::new();
        size.insert("logBytes", log as i64);
        size.insert("storeBytes", store as i64);
        size.insert("growth", log::growth(samples, sample).map(|growth| growth[place]));
        object.insert(name, Value::Object(size));
    }
    object
}
