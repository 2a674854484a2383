//! Tests of the figures and their text.

use super::*;

fn rendered(metrics: &Metrics) -> String {
    metrics.render(
        &StoreStats { commits: 12, flush_us: 1_500_000, ..Default::default() },
        Duration::from_secs(3),
    )
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert!(text.lines().any(|line| line == expected), "no line {expected:?} in\n{text}");
}

#[test]
fn requests_by_method_resource_and_status() {
    let metrics = Metrics::new();
    let brew = Method::from_bytes(b"BREW").unwrap();
    for (method, status, took_us) in
        [(Method::GET, 200, 100), (Method::GET, 200, 101), (Method::GET, 404, 20_000_000), (brew, 418, 0)]
    {
        let status = StatusCode::from_u16(status).unwrap();
        metrics.answered(&method, Resource::Items, status, Duration::from_micros(took_us));
    }
    let text = rendered(&metrics);
    for expected in [
        r#"armilla_http_requests_total{method="GET",resource="item",status="200"} 2"#,
        r#"armilla_http_requests_total{method="GET",resource="item",status="404"} 1"#,
        r#"armilla_http_requests_total{method="other",resource="item",status="other"} 1"#,
        r#"armilla_http_request_duration_seconds_bucket{resource="item",le="0.0001"} 2"#,
        r#"armilla_http_request_duration_seconds_bucket{resource="item",le="0.00025"} 3"#,
        r#"armilla_http_request_duration_seconds_bucket{resource="item",le="10"} 3"#,
        r#"armilla_http_request_duration_seconds_bucket{resource="item",le="+Inf"} 4"#,
        r#"armilla_http_request_duration_seconds_count{resource="item"} 4"#,
        r#"armilla_http_request_duration_seconds_sum{resource="item"} 20.000201"#,
    ] {
        check(&text, expected);
    }
    assert!(!text.contains("resource=\"offer\""));
}

#[test]
fn guards_count_up_and_down() {
    let metrics = Metrics::new();
    let connection = metrics.connection();
    let request = metrics.request();
    metrics.received(5);
    metrics.sent(7);
    let text = rendered(&metrics);
    for expected in [
        "armilla_connections 1",
        "armilla_http_requests_in_flight 1",
        "armilla_received_bytes_total 5",
        "armilla_sent_bytes_total 7",
        "armilla_store_commits_total 12",
        "armilla_store_flush_seconds_total 1.5",
        "armilla_uptime_seconds 3",
    ] {
        check(&text, expected);
    }
    drop((connection, request));
    let text = rendered(&metrics);
    check(&text, "armilla_connections 0");
    check(&text, "armilla_connections_accepted_total 1");
    check(&text, "armilla_http_requests_in_flight 0");
}

/// Prometheus refuses a family that is announced twice or a line whose family was not announced.
#[test]
fn the_text_is_well_formed() {
    let metrics = Metrics::new();
    metrics.answered(&Method::GET, Resource::Account, StatusCode::OK, Duration::ZERO);
    let mut families = std::collections::BTreeSet::new();
    for line in rendered(&metrics).lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            assert!(families.insert(rest.split(' ').next().unwrap().to_string()), "{line}");
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap();
            let name = name.split('{').next().unwrap();
            let stem = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            assert!(families.contains(name) || families.contains(stem.unwrap_or("")), "{line}");
        }
    }
}
