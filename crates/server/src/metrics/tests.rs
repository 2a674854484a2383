//! Tests of the figures and their text.

use armilla_engine::{
    Figures, Histogram, NodeStatus, OperationKind, PartitionFigures, RangeFigures, RangeStatus, RequestUnits,
    Stretch,
};

use super::*;
use crate::limits::METRICS_PARTITIONS_MAX;

fn rendered(metrics: &Metrics) -> String {
    metrics.render(
        &StoreStats { commits: 12, flush_us: 1_500_000, ..Default::default() },
        &[],
        None,
        (70, 80),
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
        metrics.answered(Front::Sql, &method, Resource::Items, status, Duration::from_micros(took_us));
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
fn requests_by_api() {
    let metrics = Metrics::new();
    for (front, resource) in [
        (Front::Sql, Resource::Items),
        (Front::Table, Resource::Entities),
        (Front::Table, Resource::ChangeSets),
        (Front::StorageTable, Resource::Entities),
    ] {
        metrics.answered(front, &Method::POST, resource, StatusCode::CREATED, Duration::ZERO);
    }
    let text = rendered(&metrics);
    for expected in [
        r#"armilla_api_requests_total{api="sql"} 1"#,
        r#"armilla_api_requests_total{api="table"} 2"#,
        r#"armilla_api_requests_total{api="storage_table"} 1"#,
        r#"armilla_http_requests_total{method="POST",resource="item",status="201"} 1"#,
        r#"armilla_http_requests_total{method="POST",resource="entity",status="201"} 2"#,
        r#"armilla_http_requests_total{method="POST",resource="change_set",status="201"} 1"#,
    ] {
        check(&text, expected);
    }
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
    metrics.answered(Front::Sql, &Method::GET, Resource::Account, StatusCode::OK, Duration::ZERO);
    let mut families = std::collections::BTreeSet::new();
    let text = metrics.render(&StoreStats::default(), &containers(3), None, (0, 0), Duration::ZERO);
    for line in text.lines() {
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

fn figures(range_id: u32) -> PartitionFigures {
    let mut reads = Histogram::default();
    reads.record(Duration::from_micros(7));
    reads.record(Duration::from_secs(60));
    let kinds = [OperationKind::Read, OperationKind::Write, OperationKind::Query, OperationKind::Script];
    PartitionFigures {
        range_id,
        items: 3,
        bytes: 700,
        index_bytes: 80,
        lsn: 9,
        rate: RequestUnits::from_hundredths(40_050),
        governor: Figures {
            requests: 2,
            refused: 5,
            charge: RequestUnits::from_hundredths(1_238),
            last_second: Stretch::default(),
            last_minute: Stretch::default(),
            normalized_percent: 12.5,
            five_second_peak: RequestUnits::ZERO,
            latencies: kinds
                .map(|kind| (kind, if kind == OperationKind::Read { reads } else { Histogram::default() })),
            hottest: Vec::new(),
        },
        hottest: Vec::new(),
        reshaping: None,
    }
}

/// A container with so many open partitions and one that is not.
fn containers(open: u32) -> Vec<ContainerFigures> {
    let partition = |id: u32| RangeFigures {
        id,
        min: String::new(),
        max: "FF".to_owned(),
        parents: Vec::new(),
        node: None,
        status: RangeStatus::Online,
        figures: (id < open).then(|| figures(id)),
    };
    vec![ContainerFigures {
        database: "d\"\\\n".to_owned(),
        container: "c".to_owned(),
        rid: String::new(),
        throughput: Some(400),
        shared: false,
        autoscale_now: None,
        pending: false,
        map_version: 1,
        partitions: (0..=open).map(partition).collect(),
        failed: None,
    }]
}

#[test]
fn partitions_that_are_open() {
    let text = Metrics::new().render(&StoreStats::default(), &containers(1), None, (0, 0), Duration::ZERO);
    let labels = r#"database="d\"\\\n",container="c",range="0""#;
    for (name, value) in [
        ("items", "3"),
        ("bytes", "700"),
        ("index_bytes", "80"),
        ("provisioned_ru", "400.5"),
        ("ru_total", "12.38"),
        ("requests_total", "2"),
        ("refused_total", "5"),
        ("utilization_ratio", "0.125"),
    ] {
        check(&text, &format!("armilla_partition_{name}{{{labels}}} {value}"));
    }
    let duration = "armilla_partition_request_duration_seconds";
    for (end, more, value) in [
        ("bucket", r#",le="0.000005""#, "0"),
        ("bucket", r#",le="0.00001""#, "1"),
        ("bucket", r#",le="10""#, "1"),
        ("bucket", r#",le="+Inf""#, "2"),
        ("sum", "", "60.000007"),
        ("count", "", "2"),
    ] {
        check(&text, &format!("{duration}_{end}{{{labels},kind=\"read\"{more}}} {value}"));
    }
    assert!(!text.contains("kind=\"write\""), "nothing was written");
    assert!(!text.contains("range=\"1\""), "it is not open");
    check(&text, "armilla_partitions_left_out 0");
}

#[test]
fn partitions_up_to_a_bound() {
    let most = u32::try_from(METRICS_PARTITIONS_MAX).unwrap();
    for (open, left_out) in [(most, 0), (most + 1, 1)] {
        let text =
            Metrics::new().render(&StoreStats::default(), &containers(open), None, (0, 0), Duration::ZERO);
        check(&text, &format!("armilla_partitions_left_out {left_out}"));
        let written = text.lines().filter(|line| line.starts_with("armilla_partition_items{")).count();
        assert_eq!(written, METRICS_PARTITIONS_MAX);
    }
}

#[test]
fn nodes_are_shown_with_what_went_between_them() {
    let node = |name: &str, partitions, is_self| NodeStatus {
        name: name.to_owned(),
        address: format!("{name}:7000"),
        version: "0.1.0".to_owned(),
        partitions,
        is_self,
    };
    let nodes = vec![node("a", 3, true), node("b", 4, false)];
    let figures = NodeFigures { nodes, asked: 7, unanswered: 2, answered: 5 };
    let text = Metrics::new().render(&StoreStats::default(), &[], Some(&figures), (0, 0), Duration::ZERO);
    check(&text, "armilla_nodes 2");
    check(&text, r#"armilla_node_partitions{node="a",address="a:7000",version="0.1.0",self="true"} 3"#);
    check(&text, r#"armilla_node_partitions{node="b",address="b:7000",version="0.1.0",self="false"} 4"#);
    check(&text, "armilla_node_calls_total 7");
    check(&text, "armilla_node_calls_unanswered_total 2");
    check(&text, "armilla_node_calls_answered_total 5");
    let alone = Metrics::new().render(&StoreStats::default(), &[], None, (0, 0), Duration::ZERO);
    assert!(!alone.contains("armilla_node"), "{alone}");
}
