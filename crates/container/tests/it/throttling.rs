//! Budgets of physical partitions, with a clock that is moved by hand: what is admitted, what is refused, what it says.

use std::sync::Arc;
use std::time::Duration;

use armilla_container::{
    Container, CutBy, ErrorKind, Limits, ListRequest, ListScope, PartitionMap, Policy, Precondition,
    Priority, ReadCost, RequestUnits, SessionToken, SharedBudgets, ThroughputSource, WriteMode,
};
use armilla_env::{Clock, Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;

use crate::reshaping::split;
use crate::support::{definition, identity, key, known_numbers, ranges, refused};

const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;

const ENFORCED: Policy = Policy { enforced: true, burst: false };

struct Metered {
    container: Container,
    clock: Arc<SimulatedClock>,
}

fn limits(physical_partition_ru: u32) -> Limits {
    Limits { physical_partition_ru, ..Limits::default() }
}

impl Metered {
    fn new(throughput: u32, limits: Limits) -> Metered {
        Metered::with(throughput, ThroughputSource::own(throughput), limits)
    }

    fn with(throughput: u32, supply: ThroughputSource, limits: Limits) -> Metered {
        let (env, clock) = Env::simulated(1);
        let definition = definition(DEFINITION);
        let map = PartitionMap { version: 1, ranges: ranges(&definition, throughput, &limits) };
        let (store, limits) = (Arc::new(MemoryStore::new()), Arc::new(limits));
        let container = Container::open(
            store,
            env,
            limits,
            identity(),
            definition,
            None,
            map,
            supply,
            ENFORCED,
            known_numbers(),
            None,
        );
        Metered { container, clock }
    }

    async fn create(&self, pk: u32, id: &str) {
        let body = format!(r#"{{"id":"{id}","pk":{pk}}}"#);
        let mode = WriteMode::Upsert;
        let key = key(&format!("[{pk}]"));
        loop {
            let written = self.container.write_item(
                mode,
                &key,
                None,
                body.as_bytes().into(),
                Precondition::None,
                Priority::High,
            );
            match written.await {
                Ok(_) => return,
                Err(error) => self.clock.advance(error.retry_after.unwrap()),
            }
        }
    }

    fn read(&self, pk: u32) -> Result<RequestUnits, armilla_container::Error> {
        let (key, session) = (key(&format!("[{pk}]")), SessionToken::default());
        let read = self.container.read_item(&key, "1", None, &session, ReadCost::Single, Priority::High);
        read.map(|read| read.charge)
    }

    /// Begins with a fresh second.
    fn next_second(&self) {
        let into = self.clock.now_ms().rem_euclid(1_000) as u64;
        self.clock.advance(Duration::from_millis(1_000 - into));
    }

    /// Reads as much as it may in some seconds, of keys in turn; returns what that cost.
    fn read_for(&self, seconds: u64, keys: &[u32]) -> f64 {
        self.next_second();
        let end = self.clock.elapsed() + Duration::from_secs(seconds);
        let mut spent = 0;
        let mut turn = 0;
        while self.clock.elapsed() < end {
            let mut refusals = 0;
            while refusals < keys.len() {
                match self.read(keys[turn % keys.len()]) {
                    Ok(charge) => {
                        spent += charge.hundredths();
                        refusals = 0;
                    }
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::Throttled, "{error}");
                        refusals += 1;
                    }
                }
                turn += 1;
            }
            self.clock.advance(Duration::from_millis(100));
        }
        spent as f64 / 100.0
    }
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.02, "{found} is not within 2 % of {expected}");
}

#[tokio::test]
async fn even_keys_get_everything_and_a_hot_one_its_share() {
    let metered = Metered::new(1_000, limits(500));
    let keys: Vec<u32> = (0..20).collect();
    for pk in &keys {
        metered.create(*pk, "1").await;
    }
    assert_near(metered.read_for(60, &keys), 60_000.0);
    assert_near(metered.read_for(60, &keys[..1]), 30_000.0);
    let figures = metered.container.figures();
    assert_eq!(figures.len(), 2);
    assert!(figures.iter().all(|figures| figures.rate == RequestUnits::from_hundredths(50_000)));
    let hot = figures.iter().find(|figures| figures.governor.normalized_percent > 99.0).unwrap();
    assert_eq!(hot.hottest[0].0, key("[0]"));
    assert!(hot.governor.last_minute.refused > 0);
}

#[tokio::test]
async fn what_a_refusal_says() {
    let metered = Metered::new(400, limits(10_000));
    metered.create(1, "1").await;
    metered.next_second();
    metered.clock.advance(Duration::from_millis(250));
    let begun = metered.container.begin(&key("[1]"), 0, ReadCost::Single, Priority::High).await.unwrap();
    // A script that costs more than a second has is owed by the next ones.
    begun.meter().spend(RequestUnits::from_hundredths(74_300), Duration::from_millis(3));
    let error = refused(metered.read(1), ErrorKind::Throttled);
    assert_eq!(error.retry_after, Some(Duration::from_millis(750)));
    assert_eq!(error.charge, RequestUnits::from_hundredths(38));
    assert_eq!(error.position.unwrap().range_id, 0);
    // Everything asks first.
    let none = Precondition::None;
    let body = br#"{"id":"2","pk":1}"#;
    let key = key("[1]");
    let container = &metered.container;
    let written =
        container.write_item(WriteMode::Create, &key, None, body.into(), none, Priority::High).await;
    refused(written, ErrorKind::Throttled);
    refused(container.delete_item(&key, "1", none, Priority::High).await, ErrorKind::Throttled);
    refused(container.batch(&key, Vec::new(), ReadCost::Single, Priority::High).await, ErrorKind::Throttled);
    refused(container.begin(&key, 0, ReadCost::Single, Priority::High).await, ErrorKind::Throttled);
    let readers = container.readers(&ListScope::All, &SessionToken::default()).unwrap();
    refused(readers[0].admit(Priority::High), ErrorKind::Throttled);
    let meter = begun.meter();
    assert_eq!(begun.commit().await.unwrap().range_id, 0);
    metered.clock.advance(Duration::from_millis(750));
    assert_eq!(metered.read(1).unwrap(), RequestUnits::from_hundredths(100));
    // What outlives a transaction can still say what it cost.
    meter.spend(RequestUnits::from_hundredths(500_000), Duration::ZERO);
    let error = refused(metered.read(1), ErrorKind::Throttled);
    assert_eq!(error.retry_after, Some(Duration::from_secs(13)));
}

#[tokio::test]
async fn refused_requests_cost_what_they_say() {
    let metered = Metered::new(400, limits(10_000));
    metered.create(1, "1").await;
    let total = || metered.container.figures()[0].governor.charge.hundredths();
    let before = total();
    let (none, body) = (Precondition::None, br#"{"id":"1","pk":1}"#);
    let mut expected = 0;
    let container = &metered.container;
    let key = key("[1]");
    for (mode, body) in
        [(WriteMode::Create, &body[..]), (WriteMode::Replace, b"{"), (WriteMode::Create, b"[]")]
    {
        let error =
            container.write_item(mode, &key, None, body.into(), none, Priority::High).await.err().unwrap();
        assert!(error.charge > RequestUnits::ZERO, "{error}");
        expected += error.charge.hundredths();
    }
    let missing =
        container.read_item(&key, "9", None, &SessionToken::default(), ReadCost::Single, Priority::High);
    expected += missing.err().unwrap().charge.hundredths();
    assert_eq!(total() - before, expected);
}

#[tokio::test]
async fn shares_change_with_splits_and_supplies() {
    let metered = Metered::new(900, limits(1_000));
    let container = &metered.container;
    let keys: Vec<u32> = (0..30).collect();
    for pk in &keys {
        metered.create(*pk, "1").await;
    }
    let rates = || -> Vec<u64> {
        container.map();
        container.positions().unwrap();
        container.figures().iter().map(|figures| figures.rate.hundredths() / 100).collect()
    };
    assert_eq!(rates(), [900]);
    split(container, 0, CutBy::Bytes).await.unwrap();
    assert_eq!(rates(), [450, 450]);
    assert_near(metered.read_for(10, &keys), 9_000.0);
    split(container, 1, CutBy::Bytes).await.unwrap();
    assert_eq!(rates(), [300, 300, 300]);
    assert_near(metered.read_for(10, &[7]), 3_000.0);
    container.set_throughput_source(ThroughputSource::own(6_000));
    // Never more than one partition can serve.
    assert_eq!(rates(), [1_000, 1_000, 1_000]);
    let shared = Arc::new(SharedBudgets::new(2_000, &limits(1_000), ENFORCED));
    assert_eq!(shared.throughput(), 2_000);
    container.set_throughput_source(ThroughputSource::Shared(shared.clone()));
    assert_eq!(rates(), [1_000, 1_000, 1_000]);
    assert_near(metered.read_for(10, &keys), 20_000.0);
    shared.set_throughput(metered.clock.now_ms(), 400);
    container.set_throughput_source(ThroughputSource::Shared(shared));
    assert_eq!(rates(), [400, 400, 400]);
    assert_near(metered.read_for(10, &keys), 4_000.0);
}

#[tokio::test]
async fn containers_of_a_database_share() {
    let shared = Arc::new(SharedBudgets::new(400, &limits(1_000), ENFORCED));
    let both: Vec<Metered> =
        (0..2).map(|_| Metered::with(400, ThroughputSource::Shared(shared.clone()), limits(1_000))).collect();
    for metered in &both {
        metered.create(1, "1").await;
        metered.next_second();
    }
    let mut count = 0;
    while both.iter().any(|metered| metered.read(1).is_ok()) {
        count += 1;
    }
    assert!((399..=401).contains(&count), "{count}");
}

#[tokio::test]
async fn a_page_ends_when_its_share_is_used() {
    let metered = Metered::new(800, limits(400));
    for pk in 0..20 {
        for id in 0..20 {
            metered.create(pk, &id.to_string()).await;
        }
    }
    metered.next_second();
    let container = &metered.container;
    let request = |continuation| ListRequest {
        scope: ListScope::All,
        items_max: 1_000,
        continuation,
        session: SessionToken::default(),
        cost: ReadCost::Single,
        claim: Priority::High.into(),
    };
    // Whatever was spent before, a page makes progress, and nothing is left out or comes twice.
    let (mut items, mut pages, mut charge, mut refusals) = (Vec::new(), 0, 0, 0);
    let mut continuation = None;
    let spent = |container: &Container| -> u64 {
        container.figures().iter().map(|figures| figures.governor.charge.hundredths()).sum()
    };
    let before = spent(container);
    loop {
        let drain = container.readers(&ListScope::All, &SessionToken::default()).unwrap();
        drain.iter().for_each(|reader| {
            reader.spend(Priority::High, RequestUnits::from_hundredths(35_000), Duration::ZERO);
        });
        let page = match container.list_items(&request(continuation.clone())) {
            Ok(page) => page,
            Err(error) => {
                refusals += 1;
                metered.clock.advance(error.retry_after.unwrap());
                continue;
            }
        };
        assert!(!page.items.is_empty());
        charge += page.charge.hundredths();
        items.extend(page.items.iter().map(|item| item.header().number));
        pages += 1;
        continuation = page.continuation;
        if continuation.is_none() {
            break;
        }
        metered.next_second();
    }
    assert_eq!(items.len(), 400);
    items.sort_unstable();
    items.dedup();
    assert_eq!(items.len(), 400);
    assert!(pages > 3, "{pages} pages");
    let drained = 2 * 35_000 * (pages + refusals);
    assert_eq!(spent(container) - before, charge + drained);
}
