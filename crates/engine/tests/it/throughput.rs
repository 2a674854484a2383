//! Provisioned throughput in simulated time: what is let in over a minute, and who is refused.

use std::time::Duration;

use armilla_engine::{
    Caller, EngineOptions, Error, ErrorKind, Limits, ListScope, PageRequest, Policy, Priority, QueryRequest,
    RequestUnits, ResourcePrecondition, ScriptKind, Throughput, Triggers, WriteMode,
};

use crate::support::{Fixture, defined, manual, offered, refused, usual, value};

const SECOND: Duration = Duration::from_secs(1);
const ENFORCED: Policy = Policy { enforced: true, burst: false };

/// Options with small partitions.
fn options(partition_ru: u32, policy: Policy) -> EngineOptions {
    let limits = Limits { physical_partition_ru: partition_ru, ..Limits::default() };
    EngineOptions { limits, policy, ..usual() }
}

async fn fixture(partition_ru: u32, policy: Policy) -> Fixture {
    let fixture = Fixture::with_options(options(partition_ru, policy)).await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    fixture
}

async fn create(fixture: &Fixture, id: &str, throughput: Option<Throughput>) {
    let definition = value(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"]}}}}"#));
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), throughput).await.unwrap();
}

/// Asks for something that is not there, which costs one request unit.
fn ask(fixture: &Fixture, caller: &Caller, container: &str, key: &str) -> Result<(), Duration> {
    match fixture.read_item(caller, container, "missing", key) {
        Ok(_) => panic!("nothing is there"),
        Err(error) if error.kind == ErrorKind::Throttled => {
            assert_eq!(error.charge, RequestUnits::from_hundredths(38));
            Err(error.retry_after.expect("it says how long to wait"))
        }
        Err(error) => {
            assert_eq!((error.kind, error.charge.hundredths()), (NOT_FOUND, 100), "{error}");
            Ok(())
        }
    }
}

const NOT_FOUND: ErrorKind = ErrorKind::NotFound(armilla_engine::ResourceKind::Item);

/// Asks far more often than is allowed, for some seconds. Returns how many request units were used.
fn hammer(fixture: &Fixture, container: &str, keys: u32, seconds: u32, tries: u32) -> u32 {
    let mut used = 0;
    for _ in 0..seconds {
        for part in 0..4 {
            for number in 0..tries / 4 {
                let key = format!("k{}", (part * (tries / 4) + number) % keys);
                used += u32::from(ask(fixture, &fixture.caller, container, &key).is_ok());
            }
            fixture.clock.advance(SECOND / 4);
        }
    }
    used
}

#[track_caller]
fn assert_within_two_percent(used: u32, expected: u32) {
    let (least, most) = (expected * 98 / 100, expected * 102 / 100);
    assert!((least..=most).contains(&used), "{used} request units were used, {expected} are provisioned");
}

#[tokio::test]
async fn an_even_key_gets_all_of_it_and_a_hot_one_its_partitions_share() {
    let fixture = fixture(250, ENFORCED).await;
    create(&fixture, "even", Some(Throughput::Manual(1_000))).await;
    create(&fixture, "hot", Some(Throughput::Manual(1_000))).await;
    assert_eq!(fixture.container("even").ranges(&fixture.caller).unwrap().ranges.len(), 4);
    assert_within_two_percent(hammer(&fixture, "even", 200, 60, 2_400), 60_000);
    assert_within_two_percent(hammer(&fixture, "hot", 1, 60, 1_000), 15_000);
}

#[tokio::test]
async fn a_caller_that_waits_as_long_as_told_is_let_in() {
    let fixture = fixture(10_000, ENFORCED).await;
    create(&fixture, "c", None).await;
    fixture.clock.advance(Duration::from_millis(300));
    let caller = &fixture.caller;
    let wait = loop {
        if let Err(wait) = ask(&fixture, caller, "c", "k") {
            break wait;
        }
    };
    assert_eq!(wait, Duration::from_millis(700));
    fixture.clock.advance(wait - Duration::from_millis(1));
    assert!(ask(&fixture, caller, "c", "k").is_err());
    fixture.clock.advance(Duration::from_millis(1));
    assert!(ask(&fixture, caller, "c", "k").is_ok());
}

#[tokio::test]
async fn without_enforcement_everything_is_let_in_and_metered() {
    let fixture = fixture(10_000, Policy { enforced: false, burst: false }).await;
    create(&fixture, "c", None).await;
    assert_eq!(hammer(&fixture, "c", 10, 2, 2_000), 4_000);
    let figures = fixture.engine.partitions(&fixture.caller).unwrap();
    let partition = figures[0].partitions[0].figures.clone().unwrap();
    assert_eq!(partition.governor.charge, RequestUnits::from_hundredths(400_000));
    assert_eq!((partition.governor.requests, partition.governor.refused), (4_000, 0));
    assert_eq!(partition.rate, RequestUnits::from_hundredths(40_000));
    assert_eq!(figures[0].throughput, Some(400));
}

#[tokio::test]
async fn containers_share_what_their_database_has_and_others_have_their_own() {
    let fixture = Fixture::with_options(options(10_000, ENFORCED)).await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    engine.create_database(caller, "d", Some(Throughput::Manual(1_000))).await.unwrap();
    create(&fixture, "first", None).await;
    create(&fixture, "second", None).await;
    create(&fixture, "own", Some(Throughput::Manual(400))).await;
    let (mut shared, mut own) = (0, 0);
    for _ in 0..60 {
        for number in 0..1_500 {
            let container = if number % 3 == 0 { "first" } else { "second" };
            shared += u32::from(ask(&fixture, caller, container, "k").is_ok());
            own += u32::from(ask(&fixture, caller, "own", "k").is_ok());
        }
        fixture.clock.advance(SECOND);
    }
    assert_within_two_percent(shared, 60_000);
    assert_within_two_percent(own, 24_000);
    let figures = engine.partitions(caller).unwrap();
    let shares: Vec<(bool, Option<u32>)> =
        figures.iter().map(|figures| (figures.shared, figures.throughput)).collect();
    assert_eq!(shares, [(true, None), (true, None), (false, Some(400))]);
    // The same after the account was opened again.
    let fixture = fixture.reopen_with(options(10_000, ENFORCED)).await;
    let mut used = 0;
    for number in 0..3_000 {
        let container = if number % 2 == 0 { "first" } else { "second" };
        used += u32::from(ask(&fixture, &fixture.caller, container, "k").is_ok());
    }
    assert_eq!(used, 1_000);
}

#[tokio::test]
async fn autoscale_gives_its_maximum_at_once_and_reports_what_was_used() {
    let fixture = fixture(10_000, ENFORCED).await;
    create(&fixture, "c", Some(Throughput::Autoscale { max: 4_000, increment_percent: None })).await;
    let reported = || {
        let offer =
            fixture.engine.list_offers(&fixture.caller, None, None).unwrap().value.resources[0].clone();
        let read = fixture.engine.read_offer(&fixture.caller, &offer.rid, None).unwrap().value;
        assert_eq!(read.content, offer.content);
        offered(&offer).current
    };
    assert_eq!(reported(), 400);
    // 2,000 a second, which no caller has to wait for.
    assert_eq!(hammer(&fixture, "c", 10, 10, 2_000), 20_000);
    assert_eq!(reported(), 2_000);
    assert_eq!(fixture.engine.partitions(&fixture.caller).unwrap()[0].autoscale_now, Some(2_000));
    assert_within_two_percent(hammer(&fixture, "c", 10, 10, 5_000), 40_000);
    assert_eq!(reported(), 4_000);
    fixture.clock.advance(Duration::from_secs(2 * 3_600));
    assert_eq!(reported(), 400);
}

#[tokio::test]
async fn what_was_not_used_can_be_saved_up_for_a_burst() {
    let policy = Policy { enforced: true, burst: true };
    let fixture = fixture(10_000, policy).await;
    create(&fixture, "c", Some(Throughput::Manual(400))).await;
    ask(&fixture, &fixture.caller, "c", "k").unwrap();
    fixture.clock.advance(Duration::from_secs(300));
    // 300 seconds of 400, at 3,000 a second at most.
    let bank = hammer(&fixture, "c", 1, 60, 4_000);
    assert_within_two_percent(bank, 300 * 400 + 60 * 400);
}

#[tokio::test]
async fn low_priority_waits_first_and_gets_what_is_left() {
    let fixture = fixture(10_000, ENFORCED).await;
    create(&fixture, "c", Some(Throughput::Manual(1_000))).await;
    let low = Caller { claim: Priority::Low.into(), ..Caller::full() };
    // Alone it gets everything.
    let mut alone = 0;
    for _ in 0..5 {
        alone += (0..1_500).filter(|_| ask(&fixture, &low, "c", "k").is_ok()).count();
        fixture.clock.advance(SECOND);
    }
    assert!(alone >= 4_900, "{alone}");
    // Beside 800 of high priority, which are spread over the second, it gets about the rest.
    let (mut high_refused, mut low_let_in) = (0, 0);
    for _ in 0..20 {
        for _ in 0..100 {
            for _ in 0..8 {
                high_refused += u32::from(ask(&fixture, &fixture.caller, "c", "k").is_err());
            }
            low_let_in += (0..8).filter(|_| ask(&fixture, &low, "c", "k").is_ok()).count() as u32;
            fixture.clock.advance(SECOND / 100);
        }
    }
    assert!(low_let_in >= 20 * 150, "low priority is starved: {low_let_in}");
    // In the first second the governor does not know yet how much high priority is going to need.
    assert!(high_refused <= 800, "{high_refused} of high priority were refused");
}

#[tokio::test]
async fn a_change_of_throughput_holds_from_the_running_second_on() {
    let fixture = fixture(10_000, ENFORCED).await;
    create(&fixture, "c", None).await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    assert_eq!(hammer(&fixture, "c", 1, 1, 2_000), 400);
    let offer = engine.list_offers(caller, None, None).unwrap().value.resources[0].clone();
    let none = ResourcePrecondition::None;
    while ask(&fixture, caller, "c", "k").is_ok() {}
    engine.replace_offer(caller, &offer.rid, manual(1_000), none).await.unwrap();
    let more = (0..2_000).filter(|_| ask(&fixture, caller, "c", "k").is_ok()).count();
    assert_eq!(more, 600);
    fixture.clock.advance(SECOND);
    assert_eq!(hammer(&fixture, "c", 1, 1, 2_000), 1_000);
    engine.replace_offer(caller, &offer.rid, manual(500), none).await.unwrap();
    assert_eq!(hammer(&fixture, "c", 1, 2, 2_000), 1_000);
}

#[tokio::test]
async fn every_kind_of_operation_is_refused_and_does_nothing() {
    let fixture = fixture(10_000, ENFORCED).await;
    create(&fixture, "c", None).await;
    let container = fixture.container("c");
    fixture.put(WriteMode::Create, "k", r#"{"id":"1","pk":"k"}"#, &Triggers::default()).await.unwrap();
    fixture.procedure("p", "function () { getContext().getResponse().setBody(1); }").await;
    fixture.script(ScriptKind::UserDefinedFunction, "f", "function (x) { return x; }").await.unwrap();
    while ask(&fixture, &fixture.caller, "c", "k").is_ok() {}
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let throttled = |error: Error| {
        assert_eq!((error.kind, error.charge.hundredths()), (ErrorKind::Throttled, 38), "{error}");
        assert_eq!(error.retry_after, Some(SECOND));
    };
    let triggers = Triggers::default();
    throttled(fixture.put(WriteMode::Upsert, "k", r#"{"id":"2","pk":"k"}"#, &triggers).await.err().unwrap());
    throttled(fixture.run("p", "k", "[]").await.unwrap_err());
    let query = |text: &str| engine.query_items(caller, &container, QueryRequest::new(text));
    for text in [
        "SELECT * FROM c",
        "SELECT * FROM c ORDER BY c.id",
        "SELECT DISTINCT c.pk FROM c",
        "SELECT VALUE COUNT(1) FROM c",
    ] {
        throttled(query(text).await.unwrap_err());
    }
    let page = PageRequest { scope: ListScope::All, items_max: None, continuation: None };
    throttled(engine.list_items(caller, &container, page).err().unwrap());
    let figures = engine.partitions(caller).unwrap()[0].partitions[0].figures.clone().unwrap();
    assert!(figures.governor.refused >= 8, "{}", figures.governor.refused);
    fixture.clock.advance(SECOND);
    refused(fixture.read_item(caller, "c", "2", "k"), NOT_FOUND);
    // What a script costs is deducted, once: it may go on into debt.
    let body = "function () { for (var i = 0; i < 100; i++) getContext().getCollection().createDocument(\
                getContext().getCollection().getSelfLink(), { id: 'x' + i, pk: 'k' }); }";
    let done = fixture.run_text(body, "k", "[]").await.unwrap();
    let cost = done.charge.hundredths();
    assert!(cost > 40_000, "it costs more than a second has: {}", done.charge);
    let wait = ask(&fixture, caller, "c", "k").unwrap_err();
    // 1 was spent before it in this second; the balance must be above zero.
    let seconds = (100 + cost) / 40_000;
    assert_eq!(wait, SECOND * u32::try_from(seconds).unwrap());
}

#[tokio::test]
async fn a_page_ends_when_its_partition_has_spent_its_share_and_the_sum_stays() {
    let items = 600;
    let fixture = fixture(10_000, Policy { enforced: false, burst: false }).await;
    create(&fixture, "c", Some(Throughput::Manual(400))).await;
    for number in 0..items {
        let body = format!(
            r#"{{"id":"{number}","pk":"{}","n":{number},"text":"{}"}}"#,
            number % 7,
            "x".repeat(2_000)
        );
        fixture.upsert(&(number % 7).to_string(), &body).await;
    }
    async fn pages(fixture: &Fixture, text: &str) -> (Vec<String>, u64, u32, u32) {
        let (mut rows, mut charge, mut pages, mut waits, mut continuation) = (Vec::new(), 0, 0, 0, None);
        loop {
            let request = QueryRequest {
                rows_max: Some(1_000),
                continuation: continuation.clone(),
                ..QueryRequest::new(text)
            };
            match fixture.engine.query_items(&fixture.caller, &fixture.container("c"), request).await {
                Ok(page) => {
                    let text = String::from_utf8(page.rows).unwrap();
                    rows.extend(text.split(',').filter(|row| !row.is_empty()).map(str::to_owned));
                    charge += page.charge.hundredths();
                    pages += 1;
                    continuation = page.continuation;
                    if continuation.is_none() {
                        return (rows, charge, pages, waits);
                    }
                }
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::Throttled, "{error}");
                    fixture.clock.advance(error.retry_after.unwrap());
                    waits += 1;
                }
            }
        }
    }
    let texts = [
        "SELECT VALUE c.n FROM c WHERE c.n >= 0",
        "SELECT VALUE c.n FROM c WHERE c.n >= 0 ORDER BY c.n",
        "SELECT VALUE SUM(c.n) FROM c WHERE c.text != ''",
    ];
    let mut free = Vec::new();
    for text in texts {
        free.push(pages(&fixture, text).await);
    }
    let fixture = fixture.reopen_with(options(10_000, ENFORCED)).await;
    for (text, (rows, charge, free_pages, _)) in texts.iter().zip(&free) {
        fixture.clock.advance(SECOND * 10);
        while ask(&fixture, &fixture.caller, "c", "0").is_ok() {}
        fixture.clock.advance(SECOND);
        // Most of the second is gone when the query comes.
        for _ in 0..390 {
            ask(&fixture, &fixture.caller, "c", "0").unwrap();
        }
        let (again, spent, more_pages, waits) = pages(&fixture, text).await;
        let (mut expected, mut got) = (rows.clone(), again);
        expected.sort();
        got.sort();
        assert_eq!(got, expected, "{text}");
        assert_eq!(spent, *charge, "{text}");
        assert!(more_pages > *free_pages && waits > 0, "{text}: {more_pages} pages, {waits} waits");
    }
}

#[tokio::test]
async fn a_query_over_many_partitions_shows_what_it_has() {
    let fixture = fixture(100, Policy { enforced: false, burst: false }).await;
    create(&fixture, "c", Some(Throughput::Manual(400))).await;
    for number in 0..40 {
        fixture.upsert(&format!("k{number}"), &format!(r#"{{"id":"{number}","pk":"k{number}"}}"#)).await;
    }
    let fixture = fixture.reopen_with(options(100, ENFORCED)).await;
    let (engine, caller, container) = (&fixture.engine, &fixture.caller, fixture.container("c"));
    let range_of = |key: &str| match fixture.read_item(caller, "c", "missing", key) {
        Err(error) => error.position.unwrap().range_id,
        Ok(_) => panic!("nothing is there"),
    };
    let last = (0..40).map(|number| format!("k{number}")).find(|key| range_of(key) == 3).unwrap();
    let first = (0..40).map(|number| format!("k{number}")).find(|key| range_of(key) == 0).unwrap();
    while ask(&fixture, caller, "c", &last).is_ok() {}
    let query = |text: &str, continuation: Option<String>| {
        let request = QueryRequest { continuation, rows_max: Some(1_000), ..QueryRequest::new(text) };
        engine.query_items(caller, &container, request)
    };
    let page = query("SELECT VALUE c.id FROM c", None).await.unwrap();
    assert!(
        page.row_count() > 10 && page.row_count() < 40 && page.continuation.is_some(),
        "{}",
        page.row_count()
    );
    // The rest comes from the partition that has nothing left.
    refused(query("SELECT VALUE c.id FROM c", page.continuation.clone()).await, ErrorKind::Throttled);
    // What is in order needs all of them.
    refused(query("SELECT VALUE c.id FROM c ORDER BY c.id", None).await, ErrorKind::Throttled);
    fixture.clock.advance(SECOND);
    let rest = query("SELECT VALUE c.id FROM c", page.continuation.clone()).await.unwrap();
    assert_eq!((page.row_count() + rest.row_count(), rest.continuation), (40, None));
    // With nothing to show it is an error.
    while ask(&fixture, caller, "c", &first).is_ok() {}
    refused(query("SELECT VALUE c.id FROM c", None).await, ErrorKind::Throttled);
    let figures = engine.partitions(caller).unwrap();
    let charged: u64 = figures[0]
        .partitions
        .iter()
        .map(|range| range.figures.as_ref().map_or(0, |figures| figures.governor.charge.hundredths()))
        .sum();
    assert!(charged > 0);
}

#[tokio::test]
async fn partitions_that_a_page_did_not_come_to_pay_nothing() {
    let fixture = fixture(100, Policy { enforced: false, burst: false }).await;
    create(&fixture, "c", Some(Throughput::Manual(4_000))).await;
    for number in 0..200 {
        fixture.upsert(&format!("k{number}"), &format!(r#"{{"id":"{number}","pk":"k{number}"}}"#)).await;
    }
    let charges = || -> Vec<u64> {
        let figures = fixture.engine.partitions(&fixture.caller).unwrap();
        let charge = |range: &armilla_engine::RangeFigures| {
            range.figures.as_ref().map_or(0, |figures| figures.governor.charge.hundredths())
        };
        figures[0].partitions.iter().map(charge).collect()
    };
    // Of the partitions behind the last some are planned before it is known that the page ends.
    for rows_max in [1, 50, 100, 150] {
        let before = charges();
        let request = QueryRequest { rows_max: Some(rows_max), ..QueryRequest::new("SELECT * FROM c") };
        let container = fixture.container("c");
        let page = fixture.engine.query_items(&fixture.caller, &container, request).await.unwrap();
        let paid: Vec<u64> = charges().iter().zip(&before).map(|(after, before)| after - before).collect();
        assert_eq!(paid.iter().sum::<u64>(), page.charge.hundredths(), "{rows_max} rows");
        let visited = usize::try_from(page.work.partitions).unwrap();
        assert!(visited < 40 && page.continuation.is_some(), "{rows_max} rows of {visited} partitions");
        let (to, beyond) = paid.split_at(visited);
        assert!(to.iter().all(|paid| *paid > 0), "{rows_max} rows: {paid:?}");
        assert!(beyond.iter().all(|paid| *paid == 0), "{rows_max} rows: {paid:?}");
    }
}
