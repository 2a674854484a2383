//! Results, written and read again.

use std::time::Duration;

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn sample() -> RunResult {
    let quantiles = |p50_us: f64| Quantiles {
        mean_us: p50_us,
        p50_us,
        p90_us: p50_us * 2.0,
        p99_us: p50_us * 3.0,
        p999_us: p50_us * 4.0,
        max_us: p50_us * 5.5,
    };
    RunResult {
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        program: "armilla 0.1.0".to_owned(),
        settings: vec![("connections".to_owned(), "8".to_owned())],
        indexes: vec![("postgresql".to_owned(), vec!["items_pkey".to_owned(), "items_city".to_owned()])],
        notes: vec!["PostgreSQL is not installed".to_owned()],
        rows: vec![
            Row {
                workload: "mixed".to_owned(),
                side: "armilla".to_owned(),
                circumstances: Circumstances { connections: 16, state: State::Written },
                operations: 1_000,
                seconds: 2.0,
                refused: 3,
                failed: 1,
                requests: 1_000,
                items: 1_000,
                charge: Some(2_500.5),
                cpu_seconds: Some(0.25),
                latency: quantiles(100.25),
                service: quantiles(90.0),
                curve: vec![(50.0, 100.25), (99.0, 300.0)],
                open_loop: Some(OpenLoop { rate: 500.0, due: 1_000, unsent: 7, late_max_us: 12.5 }),
                by_second: vec![490, 510],
                background: Some(BackgroundWrites { rate: 2_000.0, per_second: 1_990.5 }),
                ..Row::default()
            },
            Row {
                workload: "mixed".to_owned(),
                operation: Some("read".to_owned()),
                side: "postgresql".to_owned(),
                operations: 10,
                seconds: 1.5,
                ..Row::default()
            },
        ],
    }
}

#[test]
fn the_form_is_fixed() {
    let text = String::from_utf8(json_form::write(&sample())).unwrap();
    expect![[r#"
        {"format":"armilla-bench",
        "version":2,
        "startedAt":"2026-01-02T03:04:05Z",
        "program":"armilla 0.1.0",
        "settings":{"connections":"8"},
        "indexes":{"postgresql":["items_pkey","items_city"]},
        "notes":["PostgreSQL is not installed"],
        "measurements":[
        {"workload":"mixed","side":"armilla","connections":16,"state":"written","loop":"open","operations":1000,"seconds":2.0,"operationsPerSecond":500.0,"refused":3,"failed":1,"requests":1000,"items":1000,"requestUnits":2500.5,"requestUnitsPerOperation":2.5005,"cpuSeconds":0.25,"cpuUsPerOperation":250.0,"latencyUs":{"mean":100.25,"p50":100.25,"p90":200.5,"p99":300.75,"p999":401.0,"max":551.375},"serviceUs":{"mean":90.0,"p50":90.0,"p90":180.0,"p99":270.0,"p999":360.0,"max":495.0},"openLoop":{"rate":500.0,"due":1000,"unsent":7,"lateMaxUs":12.5,"keptRate":true},"backgroundWrites":{"rate":2000.0,"operationsPerSecond":1990.5},"percentilesUs":[[50.0,100.25],[99.0,300.0]],"bySecond":[490,510]},
        {"workload":"mixed","operation":"read","side":"postgresql","connections":0,"state":"loaded","loop":"closed","operations":10,"seconds":1.5,"operationsPerSecond":6.666666666666667,"refused":0,"failed":0,"requests":0,"items":0,"latencyUs":{"mean":0.0,"p50":0.0,"p90":0.0,"p99":0.0,"p999":0.0,"max":0.0},"serviceUs":{"mean":0.0,"p50":0.0,"p90":0.0,"p99":0.0,"p999":0.0,"max":0.0},"percentilesUs":[]}
        ]}
    "#]]
    .assert_eq(&text);
    assert_eq!(json_form::parse(text.as_bytes()).unwrap(), sample());
}

#[test]
fn files_that_are_no_results() {
    for (text, expected) in [
        ("", "it is no JSON"),
        ("[]", "its format is not armilla-bench"),
        (r#"{"format":"armilla-bench"}"#, "it has no version"),
        (
            r#"{"format":"armilla-bench","version":3}"#,
            "version 3 of the format, and this program reads those up to 2",
        ),
        (r#"{"format":"armilla-bench","version":0}"#, "version 0 of the format"),
        (r#"{"format":"armilla-bench","version":1}"#, "it has no measurements"),
        (r#"{"format":"armilla-bench","version":1,"measurements":[{}]}"#, "workload is missing or no text"),
        (
            r#"{"format":"armilla-bench","version":1,"measurements":[{"workload":"x","side":"y","operations":-1}]}"#,
            "measurement 1: operations is missing or no count",
        ),
        (
            r#"{"format":"armilla-bench","version":2,"measurements":[{"workload":"x","side":"y","connections":65536}]}"#,
            "measurement 1: there are too many connections",
        ),
        (
            r#"{"format":"armilla-bench","version":2,"measurements":[{"workload":"x","side":"y","state":"tired"}]}"#,
            "measurement 1: there is no state tired",
        ),
    ] {
        let error = format!("{:#}", json_form::parse(text.as_bytes()).unwrap_err());
        assert!(error.contains(expected), "{text}: {error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.json");
    assert!(format!("{:#}", read(&path).unwrap_err()).contains("cannot read"));
    write(&path, &sample()).unwrap();
    assert_eq!(read(&path).unwrap(), sample());
}

#[test]
fn members_that_are_not_known_are_passed_over() {
    let text = String::from_utf8(json_form::write(&sample())).unwrap();
    let more = text.replace("\"workload\":", "\"colour\":{\"red\":1},\"workload\":");
    assert_eq!(json_form::parse(more.as_bytes()).unwrap(), sample());
}

#[test]
fn rows_of_the_first_version_have_the_circumstances_of_the_run() {
    let text = String::from_utf8(json_form::write(&sample())).unwrap();
    let first = text
        .replace("\"version\":2", "\"version\":1")
        .replace("\"connections\":16,\"state\":\"written\",", "")
        .replace("\"connections\":0,\"state\":\"loaded\",", "");
    let rows = json_form::parse(first.as_bytes()).unwrap().rows;
    let expected = Circumstances { connections: 8, state: State::Loaded };
    assert!(rows.len() == 2 && rows.iter().all(|row| row.circumstances == expected), "{rows:?}");
}

#[test]
fn rows_of_a_workload_stand_together() {
    let row = |workload: &str, operation: Option<&str>, side: &str, connections, state| Row {
        workload: workload.to_owned(),
        operation: operation.map(str::to_owned),
        side: side.to_owned(),
        circumstances: Circumstances { connections, state },
        ..Row::default()
    };
    let mut rows = vec![
        row("mixed", None, "armilla", 16, State::Loaded),
        row("mixed", Some("read"), "armilla", 16, State::Loaded),
        row("write", None, "armilla", 16, State::Loaded),
        row("mixed", None, "armilla", 1, State::Loaded),
        row("mixed", None, "postgresql", 16, State::Loaded),
        row("mixed", None, "armilla", 16, State::Rested),
        row("mixed", None, "postgresql", 16, State::Rested),
    ];
    put_in_order(&mut rows);
    let titles: Vec<_> = rows.iter().map(Row::title).collect();
    expect![[r#"
        mixed (armilla, 16 connections, loaded)
        mixed read (armilla, 16 connections, loaded)
        mixed (postgresql, 16 connections, loaded)
        mixed (armilla, 16 connections, rested)
        mixed (postgresql, 16 connections, rested)
        mixed (armilla, 1 connection, loaded)
        write (armilla, 16 connections, loaded)"#]]
    .assert_eq(&titles.join("\n"));
}

#[test]
fn a_row_for_all_and_one_for_each_kind() {
    let mut kinds = vec![Tally::new(), Tally::new()];
    kinds[0].latencies.record(Duration::from_micros(100));
    kinds[0].charge = Some(1.0);
    kinds[1].latencies.record(Duration::from_micros(300));
    kinds[1].latencies.record(Duration::from_micros(300));
    kinds[1].charge = Some(20.0);
    let measured = Measured {
        kinds,
        took: Duration::from_secs(2),
        by_second: vec![1, 2],
        open_loop: None,
        first_failure: None,
        cpu: Some(Duration::from_millis(6)),
    };
    let circumstances = Circumstances { connections: 4, state: State::Rested };
    let subject = Subject { workload: "mixed", side: "armilla", circumstances };
    let found = rows(subject, &["read", "write"], &measured);
    assert!(found.iter().all(|row| row.circumstances == circumstances));
    let names: Vec<_> = found.iter().map(Row::name).collect();
    assert_eq!(names, ["mixed", "mixed read", "mixed write"]);
    let all = &found[0];
    assert_eq!((all.operations, all.per_second(), all.charge_per_operation()), (3, 1.5, Some(7.0)));
    assert_eq!(found[2].charge_per_operation(), Some(10.0));
    // Which operation took how much of it is not known.
    let cpu: Vec<_> = found.iter().map(Row::cpu_us_per_operation).collect();
    assert_eq!(cpu, [Some(2_000.0), None, None]);
    assert_eq!(Row { operations: 0, ..all.clone() }.cpu_us_per_operation(), None);
    assert_eq!(rows(subject, &["write"], &measured).len(), 1);
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        name in "\\PC{1,20}",
        operations in 0u64..1 << 50,
        seconds in 0.1f64..1e5,
        charge in proptest::option::of(0.0f64..1e9),
        cpu_seconds in proptest::option::of(0.0f64..1e9),
        connections in any::<u16>(),
        state in proptest::sample::select(State::ALL.to_vec()),
        background in proptest::option::of((0.1f64..1e6, 0.0f64..1e6)),
        by_second in proptest::collection::vec(0u64..1 << 40, 0..5),
        curve in proptest::collection::vec((0.0f64..100.0, 0.0f64..1e9), 0..5),
    ) {
        let row = Row {
            workload: name.clone(),
            operation: Some(name.clone()),
            side: name,
            circumstances: Circumstances { connections, state },
            background: background.map(|(rate, per_second)| BackgroundWrites { rate, per_second }),
            operations,
            seconds,
            charge,
            cpu_seconds,
            by_second,
            curve,
            ..Row::default()
        };
        let result = RunResult { rows: vec![row], ..RunResult::default() };
        prop_assert_eq!(json_form::parse(&json_form::write(&result)).unwrap(), result);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = json_form::parse(&bytes);
    }
}
