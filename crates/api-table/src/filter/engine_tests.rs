//! Random filters over random items, asked of the engine: what it finds by the lowered condition, through the index or
//! not, holds every match.

use std::collections::BTreeSet;
use std::sync::Arc;

use armilla_engine::plans::BoundQuery;
use armilla_engine::{
    Caller, ContainerHandle, Engine, EngineOptions, ListScope, Moment, Policy, Precondition, Query,
    QueryRequest, WriteMode,
};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;
use armilla_value::json;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::tests::lowering::properties_text;
use super::tests::{filter, parsed};
use super::{Filter, Lowered};
use crate::entity::EntityView;
use crate::item_rows::{self, ItemRows};
use crate::request::logical_partition;

const ITEMS: usize = 300;
const FILTERS: usize = 1_500;

/// As tables are made.
const DEFINITION: &str = r#"{"id":"t","partitionKey":{"paths":["/PartitionKey"],"kind":"Hash","version":2},
    "indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],
        "excludedPaths":[{"path":"/\"_etag\"/?"},{"path":"/\"$edm\"/*"}]}}"#;

struct Table {
    engine: Engine,
    container: Arc<ContainerHandle>,
}

impl Table {
    async fn new() -> Table {
        let (env, _) = Env::simulated(7);
        let policy = Policy { enforced: false, burst: false };
        let options = EngineOptions { policy, ..EngineOptions::default() };
        let engine = Engine::open(Arc::new(MemoryStore::new()), env, options).await.unwrap();
        let caller = Caller::full();
        engine.create_database(&caller, "TablesDB", None).await.unwrap();
        let definition = json::parse(DEFINITION.as_bytes()).unwrap();
        engine
            .create_container(
                &caller,
                "TablesDB",
                armilla_engine::ContainerDefinition::from_value(&definition).unwrap(),
                None,
            )
            .await
            .unwrap();
        let container = engine.container("TablesDB", "t").unwrap().container;
        Table { engine, container }
    }

    async fn put(&self, partition_key: &str, item: &str) {
        let (caller, key) = (Caller::full(), logical_partition(partition_key));
        let (mode, none, triggers) = (WriteMode::Upsert, Precondition::None, Default::default());
        let written = self.engine.write_item(
            &caller,
            &self.container,
            mode,
            Some(&key),
            item.as_bytes().into(),
            none,
            &triggers,
        );
        written.await.unwrap();
    }

    async fn rows(&self, lowered: &Lowered) -> Vec<(Vec<u8>, Moment)> {
        let scope = match &lowered.partition_key {
            Some(key) => ListScope::PartitionKey(logical_partition(key)),
            None => ListScope::All,
        };
        let plan = BoundQuery { filter: lowered.condition.clone(), ..BoundQuery::items() };
        let request = QueryRequest {
            scope,
            rows_max: Some(10 * ITEMS),
            form: Some(Arc::new(ItemRows)),
            ..QueryRequest::of(Query::Plan(Arc::new(plan)))
        };
        let page = self.engine.query_items(&Caller::full(), &self.container, request).await;
        let page = page.unwrap_or_else(|error| panic!("{lowered:?}: {error}"));
        assert_eq!(page.continuation, None);
        let rows = page.each_row().map(|row| item_rows::read(row).unwrap());
        rows.map(|(text, moment)| (text.to_vec(), moment)).collect()
    }
}

fn name(view: &EntityView<'_>) -> (String, String) {
    (view.partition_key().into_owned(), view.row_key().into_owned())
}

fn names(rows: &[(Vec<u8>, Moment)], filter: Option<&Filter>) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (text, moment) in rows {
        let view = EntityView::of(text, *moment).unwrap();
        if filter.is_none_or(|filter| filter.matches(&view)) {
            found.insert(name(&view));
        }
    }
    found
}

async fn check(table: &Table, all: &[(Vec<u8>, Moment)], filter: &Filter) {
    let lowered = filter.lower();
    let found = table.rows(&lowered).await;
    let expected = names(all, Some(filter));
    assert_eq!(names(&found, Some(filter)), expected, "{filter:?} {lowered:?}");
    if lowered.is_exact {
        assert_eq!(names(&found, None), expected, "{filter:?} {lowered:?}");
    }
}

#[tokio::test]
async fn the_engine_loses_no_match() {
    let table = Table::new().await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for number in 0..ITEMS {
        let members = properties_text().new_tree(&mut runner).unwrap().current();
        let partition_key = ["a", "b", "ab"][number % 3];
        let row_key = format!("{}{number}", ["a", "b"][number % 2]);
        let keys = format!(r#""id":"{row_key}","PartitionKey":"{partition_key}","RowKey":"{row_key}""#);
        let separator = if members.is_empty() { "" } else { "," };
        table.put(partition_key, &format!("{{{keys}{separator}{members}}}")).await;
    }
    let all = table.rows(&Lowered::default()).await;
    assert_eq!(all.len(), ITEMS);
    for _ in 0..FILTERS {
        let filter = filter().new_tree(&mut runner).unwrap().current();
        check(&table, &all, &filter).await;
    }
    // Times around that at which the items were written.
    for operator in ["eq", "ne", "gt", "ge", "lt", "le"] {
        for row in [0, ITEMS / 2, ITEMS - 1] {
            let ticks = crate::edm::Ticks::of(all[row].1);
            let time = String::from_utf8(ticks.text().to_vec()).unwrap();
            for text in [
                format!("Timestamp {operator} datetime'{time}'"),
                format!("not (Timestamp {operator} datetime'{time}') or a eq 1"),
            ] {
                check(&table, &all, &parsed(&text)).await;
            }
        }
    }
    // As deep and as wide as a filter may be.
    let deep = format!("{}a eq 1{}", "(a eq 1 and (b gt 2 or ".repeat(64), "))".repeat(64));
    let wide = vec!["a ne 'x' and b gt 1"; 1_000].join(" or ");
    for text in [deep, wide] {
        check(&table, &all, &parsed(&text)).await;
    }
}
