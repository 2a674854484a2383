//! The server's figures, counted cheaply and written as Prometheus text.
//!
//! Every counter is one relaxed atomic in a fixed table: recording a request is five additions.

mod access;
mod nodes;
mod partitions;
mod resource;

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use armilla_engine::{ContainerFigures, NodeFigures};
use armilla_kv::StoreStats;
use http::{Method, StatusCode};

use crate::process;
use crate::requests::api::Front;

pub(crate) use access::FigureKeys;
pub(crate) use resource::Resource;

/// Upper bounds of the latency buckets, in microseconds.
const BUCKETS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Methods with a counter of their own; the last stands for all others.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other"];

/// Statuses with a counter of their own; the last stands for all others.
const STATUSES: [u16; 27] = [
    200, 201, 202, 204, 207, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 423, 424, 429,
    431, 449, 500, 501, 503, 0,
];

struct ResourceFigures {
    requests: [[AtomicU64; STATUSES.len()]; METHODS.len()],
    buckets: [AtomicU64; BUCKETS_US.len() + 1],
    duration_us: AtomicU64,
}

/// All figures.
pub(crate) struct Metrics {
    resources: Vec<ResourceFigures>,
    answered: [AtomicU64; Front::ALL.len()],
    in_flight: AtomicU64,
    connections: AtomicU64,
    accepted: AtomicU64,
    received_bytes: AtomicU64,
    sent_bytes: AtomicU64,
    panics: AtomicU64,
    timeouts: AtomicU64,
    handshake_failures: AtomicU64,
    given_way: AtomicU64,
}

impl Metrics {
    /// Starts with nothing counted.
    pub(crate) fn new() -> Metrics {
        let zeros = || ResourceFigures {
            requests: Default::default(),
            buckets: Default::default(),
            duration_us: AtomicU64::new(0),
        };
        Metrics {
            resources: Resource::ALL.iter().map(|_| zeros()).collect(),
            answered: Default::default(),
            in_flight: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            received_bytes: AtomicU64::new(0),
            sent_bytes: AtomicU64::new(0),
            panics: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
            handshake_failures: AtomicU64::new(0),
            given_way: AtomicU64::new(0),
        }
    }

    /// Counts bytes that came in.
    pub(crate) fn received(&self, count: usize) {
        self.received_bytes.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Returns how many bytes came in.
    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes that went out.
    pub(crate) fn sent(&self, count: usize) {
        self.sent_bytes.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Counts a request that panicked.
    pub(crate) fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection or a body that was given up because the client was too slow.
    pub(crate) fn timed_out(&self) {
        self.timeouts.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection that did not get through its TLS handshake.
    pub(crate) fn handshake_failed(&self) {
        self.handshake_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection that was closed because others needed what it held.
    pub(crate) fn gave_way(&self) {
        self.given_way.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection, open until the guard is dropped.
    pub(crate) fn connection(&self) -> Gauge<'_> {
        self.accepted.fetch_add(1, Ordering::Relaxed);
        Gauge::up(&self.connections)
    }

    /// Counts a request, in flight until the guard is dropped.
    pub(crate) fn request(&self) -> Gauge<'_> {
        Gauge::up(&self.in_flight)
    }

    /// Records a request that was answered in HTTP.
    pub(crate) fn answered(
        &self,
        front: Front,
        method: &Method,
        resource: Resource,
        status: StatusCode,
        took: Duration,
    ) {
        self.served(front);
        let figures = &self.resources[resource as usize];
        let others = METHODS.len() - 1;
        let method = METHODS[..others].iter().position(|name| *name == method.as_str()).unwrap_or(others);
        let others = STATUSES.len() - 1;
        let status = STATUSES[..others].iter().position(|code| *code == status.as_u16()).unwrap_or(others);
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS_US.partition_point(|bound_us| *bound_us < took_us);
        figures.requests[method][status].fetch_add(1, Ordering::Relaxed);
        figures.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        figures.duration_us.fetch_add(took_us, Ordering::Relaxed);
    }

    /// Counts a request that was answered, in whatever protocol.
    pub(crate) fn served(&self, front: Front) {
        self.answered[front as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Writes everything as Prometheus text.
    pub(crate) fn render(
        &self,
        store: &StoreStats,
        containers: &[ContainerFigures],
        nodes: Option<&NodeFigures>,
        (bodies_bytes, answers_bytes): (usize, usize),
        uptime: Duration,
    ) -> String {
        let mut text = String::with_capacity(8 * 1024);
        self.render_requests(&mut text);
        self.render_connections(&mut text);
        let mut one = |name, help, value| single(&mut text, name, "gauge", help, value);
        one("armilla_request_bodies_bytes", "Bytes of request bodies in memory.", bodies_bytes as f64);
        one("armilla_unsent_answers_bytes", "Bytes of answers that were not sent yet.", answers_bytes as f64);
        partitions::render(&mut text, containers);
        if let Some(figures) = nodes {
            nodes::render(&mut text, figures);
        }
        render_store(&mut text, store);
        let process = process::figures();
        let mut one = |name, kind, help, value| single(&mut text, name, kind, help, value);
        if let Some(bytes) = process.resident_bytes {
            one("process_resident_memory_bytes", "gauge", "Memory that is really there.", bytes as f64);
        }
        if let Some(count) = process.open_files {
            one("process_open_fds", "gauge", "Open files and sockets.", count as f64);
        }
        if let Some(cpu) = process.cpu {
            one(
                "process_cpu_seconds_total",
                "counter",
                "Processor time, without that of script workers.",
                cpu.as_secs_f64(),
            );
        }
        one("armilla_uptime_seconds", "gauge", "Time since the start.", uptime.as_secs_f64());
        family(&mut text, "armilla_build_info", "gauge", "The version.");
        line(&mut text, "armilla_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        text
    }

    fn render_requests(&self, text: &mut String) {
        let name = "armilla_http_requests_total";
        family(text, name, "counter", "Requests answered.");
        for (resource, figures) in Resource::ALL.iter().zip(&self.resources) {
            for (method, statuses) in METHODS.iter().zip(&figures.requests) {
                for (status, count) in STATUSES.iter().zip(statuses) {
                    let count = count.load(Ordering::Relaxed);
                    if count > 0 {
                        let status = if *status == 0 { "other".to_string() } else { status.to_string() };
                        let labels =
                            [("method", *method), ("resource", resource.label()), ("status", &status)];
                        line(text, name, &labels, count as f64);
                    }
                }
            }
        }
        let name = "armilla_api_requests_total";
        family(text, name, "counter", "Requests answered, by API.");
        for (front, count) in Front::ALL.iter().zip(&self.answered) {
            line(text, name, &[("api", front.label())], count.load(Ordering::Relaxed) as f64);
        }
        let name = "armilla_http_request_duration_seconds";
        family(text, name, "histogram", "Time from a request's headers to its answer.");
        for (resource, figures) in Resource::ALL.iter().zip(&self.resources) {
            let counts: Vec<u64> =
                figures.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
            let total: u64 = counts.iter().sum();
            if total == 0 {
                continue;
            }
            let label = ("resource", resource.label());
            let mut cumulated = 0;
            for (bound_us, count) in BUCKETS_US.iter().zip(&counts) {
                cumulated += count;
                let bound = format!("{}", *bound_us as f64 / 1e6);
                line(text, &format!("{name}_bucket"), &[label, ("le", &bound)], cumulated as f64);
            }
            line(text, &format!("{name}_bucket"), &[label, ("le", "+Inf")], total as f64);
            let sum = figures.duration_us.load(Ordering::Relaxed) as f64 / 1e6;
            line(text, &format!("{name}_sum"), &[label], sum);
            line(text, &format!("{name}_count"), &[label], total as f64);
        }
    }

    fn render_connections(&self, text: &mut String) {
        for (name, kind, help, value) in [
            ("armilla_http_requests_in_flight", "gauge", "Requests being worked on.", &self.in_flight),
            ("armilla_http_panics_total", "counter", "Requests that met a defect.", &self.panics),
            ("armilla_connections", "gauge", "Open connections.", &self.connections),
            ("armilla_connections_accepted_total", "counter", "Connections accepted.", &self.accepted),
            ("armilla_timeouts_total", "counter", "Clients given up as too slow.", &self.timeouts),
            (
                "armilla_tls_handshake_failures_total",
                "counter",
                "TLS handshakes that failed.",
                &self.handshake_failures,
            ),
            (
                "armilla_connections_given_way_total",
                "counter",
                "Connections closed because others needed what they held.",
                &self.given_way,
            ),
            ("armilla_received_bytes_total", "counter", "HTTP bytes received.", &self.received_bytes),
            ("armilla_sent_bytes_total", "counter", "HTTP bytes sent.", &self.sent_bytes),
        ] {
            single(text, name, kind, help, value.load(Ordering::Relaxed) as f64);
        }
    }
}

/// Counts one up while it lives.
pub(crate) struct Gauge<'a>(&'a AtomicU64);

impl Gauge<'_> {
    fn up(count: &AtomicU64) -> Gauge<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        Gauge(count)
    }
}

impl Drop for Gauge<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn render_store(text: &mut String, stats: &StoreStats) {
    let seconds = |microseconds: u64| microseconds as f64 / 1e6;
    for (name, kind, help, value) in [
        ("commits_total", "counter", "Batches committed.", stats.commits as f64),
        ("flushes_total", "counter", "Durability waits.", stats.flushes as f64),
        ("flush_seconds_total", "counter", "Time in durability waits.", seconds(stats.flush_us)),
        ("flush_max_seconds", "gauge", "Longest durability wait.", seconds(stats.flush_max_us)),
        ("stalls_total", "counter", "Times that writers were held back.", stats.stalls as f64),
        ("stall_seconds_total", "counter", "Time that writers were held back.", seconds(stats.stall_us)),
        (
            "stall_max_seconds",
            "gauge",
            "Longest time that writers were held back.",
            seconds(stats.stall_max_us),
        ),
        ("queued_bytes", "gauge", "Bytes waiting to be committed.", stats.queued_bytes as f64),
        ("write_buffer_bytes", "gauge", "Bytes not yet in sorted files.", stats.write_buffer_bytes as f64),
        ("block_cache_bytes", "gauge", "Bytes in block caches.", stats.block_cache_bytes as f64),
        ("item_cache_bytes", "gauge", "Bytes in the item cache.", stats.item_cache_bytes as f64),
        (
            "item_cache_hits_total",
            "counter",
            "Reads answered by the item cache.",
            stats.item_cache_hits as f64,
        ),
        (
            "item_cache_misses_total",
            "counter",
            "Reads that the item cache passed on.",
            stats.item_cache_misses as f64,
        ),
        ("disk_bytes", "gauge", "Bytes on disk.", stats.disk_bytes as f64),
        ("spaces_to_reclaim", "gauge", "Dropped spaces still on disk.", stats.spaces_to_reclaim as f64),
        ("background_jobs", "gauge", "Flushes and compactions under way.", stats.background_jobs as f64),
    ] {
        single(text, &format!("armilla_store_{name}"), kind, help, value);
    }
}

fn single(text: &mut String, name: &str, kind: &str, help: &str, value: f64) {
    family(text, name, kind, help);
    line(text, name, &[], value);
}

fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    text.push_str(name);
    for (position, (label, label_value)) in labels.iter().enumerate() {
        let separator = if position == 0 { '{' } else { ',' };
        let _ = write!(text, "{separator}{label}=\"");
        for character in label_value.chars() {
            match character {
                '\n' => text.push_str("\\n"),
                '"' | '\\' => text.extend(['\\', character]),
                character => text.push(character),
            }
        }
        text.push('"');
    }
    if !labels.is_empty() {
        text.push('}');
    }
    let _ = writeln!(text, " {value}");
}

#[cfg(test)]
mod tests;
