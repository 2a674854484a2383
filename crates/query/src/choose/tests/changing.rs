//! While a policy is changed, of samples, and how much planning reads.

use std::sync::atomic::{AtomicUsize, Ordering};

use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange};
use armilla_value::HashedKey;
use bytes::Bytes;
use expect_test::expect;

use super::{EXPLICIT, check, compile, people, source};
use crate::choose::choose;
use crate::error::Result;
use crate::source::{CompositeIndex, Direction, MemorySource, Source, SourceItem, SystemProperty};

/// A source whose index is being built, or that is a sample, and that counts what is read of it.
struct Changing {
    inner: MemorySource,
    is_built: bool,
    magnification: u64,
    reads: AtomicUsize,
    entries_read: AtomicUsize,
}

impl Changing {
    fn new(inner: MemorySource, is_built: bool) -> Changing {
        let (reads, entries_read) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Changing { inner, is_built, magnification: 1, reads, entries_read }
    }
}

impl Source for Changing {
    fn range_id(&self) -> u32 {
        self.inner.range_id()
    }
    fn bounds(&self) -> (HashedKey, HashedKey) {
        self.inner.bounds()
    }
    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }
    fn is_logical(&self) -> bool {
        self.inner.is_logical()
    }
    fn item_count(&self) -> u64 {
        self.inner.item_count()
    }
    fn totals(&self) -> (u64, u64) {
        self.inner.totals()
    }
    fn magnification(&self) -> u64 {
        self.magnification
    }
    fn is_path_usable(&self, path: &[PathSegment]) -> bool {
        self.is_built && self.inner.is_path_usable(path)
    }
    fn is_path_in_policy(&self, path: &[PathSegment]) -> bool {
        self.inner.is_path_in_policy(path)
    }
    fn has_undefined_entries(&self, path: &[PathSegment]) -> bool {
        self.is_built && self.inner.has_undefined_entries(path)
    }
    fn composites(&self) -> Vec<CompositeIndex> {
        if self.is_built { self.inner.composites() } else { Vec::new() }
    }
    fn composites_in_policy(&self) -> Vec<CompositeIndex> {
        self.inner.composites_in_policy()
    }
    fn index_entries(&self, id: IndexId) -> Result<u64> {
        self.inner.index_entries(id)
    }
    fn entries(
        &self,
        range: &KeyRange,
        direction: Direction,
        entries_max: usize,
        out: &mut Vec<Bytes>,
    ) -> Result<bool> {
        let before = out.len();
        let has_more = self.inner.entries(range, direction, entries_max, out);
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.entries_read.fetch_add(out.len() - before, Ordering::Relaxed);
        has_more
    }
    fn load(&self, numbers: &[u64], out: &mut Vec<Option<SourceItem>>) -> Result<()> {
        self.inner.load(numbers, out)
    }
    fn scan(
        &self,
        after: Option<&[u8]>,
        items_max: usize,
        out: &mut Vec<(Bytes, SourceItem)>,
    ) -> Result<bool> {
        self.inner.scan(after, items_max, out)
    }
    fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        self.inner.numbers(after, numbers_max, out)
    }
    fn point(&self, id: &str) -> Result<Option<SourceItem>> {
        self.inner.point(id)
    }
    fn system(&self, item: &SourceItem, property: SystemProperty) -> String {
        self.inner.system(item, property)
    }
    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>) {
        self.inner.write_json(item, out);
    }
}

#[test]
fn what_is_not_built_yet_is_sorted_and_not_refused() {
    let source = Changing::new(source(people(200), EXPLICIT), false);
    check(
        &source,
        &[
            "SELECT * FROM c WHERE c.x = 3",
            "SELECT * FROM c ORDER BY c.x",
            "SELECT * FROM c ORDER BY c.city, c.age",
            "SELECT * FROM c ORDER BY c.age",
            "SELECT * FROM c ORDER BY c.age, c.city",
            "SELECT VALUE COUNT(c.x) FROM c",
        ],
        expect![[r#"
            SELECT * FROM c WHERE c.x = 3
                Scan in the order of insertion
                Filter c.x = 3
            SELECT * FROM c ORDER BY c.x
                Sort
                  Scan in the order of insertion
            SELECT * FROM c ORDER BY c.city, c.age
                Sort
                  Scan in the order of insertion
            SELECT * FROM c ORDER BY c.age
                The index path corresponding to the specified order-by item is excluded.
            SELECT * FROM c ORDER BY c.age, c.city
                The order by query does not have a corresponding composite index that it can be served from.
            SELECT VALUE COUNT(c.x) FROM c
                Scan in the order of insertion
        "#]],
    );
}

/// On the advisor's copy, which is a part of the container, a query loaded items where the whole joins two indexes.
#[test]
fn a_sample_is_planned_as_the_whole_is() {
    let everyone = people(20_400);
    let sample: Vec<_> = everyone.iter().step_by(53).cloned().collect();
    let whole = source(everyone, super::EVERYTHING);
    let as_it_is = Changing::new(source(sample.clone(), super::EVERYTHING), true);
    let magnified = Changing { magnification: 53, ..Changing::new(source(sample, super::EVERYTHING), true) };
    // How many entries are expected is not what is done with them.
    let plan = |query: &str, source: &dyn Source| {
        let plan = choose(&compile(query).plan, source).unwrap().to_string();
        plan.replace(|letter: char| letter.is_ascii_digit(), "").replace("entry", "entries")
    };
    for (query, depends) in [
        ("SELECT * FROM c WHERE c.age = 3 AND ARRAY_CONTAINS(c.tags, 't13')", true),
        ("SELECT VALUE c.x FROM c WHERE c.age = 3 AND ARRAY_CONTAINS(c.tags, 't13')", true),
        ("SELECT * FROM c WHERE c.age = 3 AND c.x > 200000", true),
        ("SELECT * FROM c WHERE c.city = 'Oslo' AND c.x < 5000 ORDER BY c.ts", true),
        ("SELECT TOP 5 * FROM c WHERE c.city = 'Oslo' ORDER BY c.ts DESC", true),
        ("SELECT * FROM c WHERE c.id = '53'", false),
    ] {
        assert_eq!(plan(query, &whole), plan(query, &magnified), "{query}");
        let here = plan(query, &as_it_is);
        assert_eq!(plan(query, &whole) != here, depends, "{query}: {here}");
    }
    // What is counted is what there is.
    let count = "SELECT VALUE COUNT(1) FROM c";
    assert_eq!(choose(&compile(count).plan, &magnified).unwrap().to_string(), plan(count, &whole));
}

#[test]
fn planning_reads_little_of_the_index() {
    let source = Changing::new(source(people(6000), super::EVERYTHING), true);
    let list = |separator: &str, part: &dyn Fn(usize) -> String| {
        (0..1000).map(part).collect::<Vec<String>>().join(separator)
    };
    let queries = [
        format!("SELECT * FROM c WHERE c.id IN ({})", list(", ", &|number| format!("'{number}'"))),
        format!(
            "SELECT * FROM c WHERE {}",
            list(" OR ", &|number| format!("(c.id = '{number}' AND c.city = 'Oslo')"))
        ),
        format!("SELECT * FROM c WHERE {}", list(" OR ", &|number| format!("c.p{number} = 1"))),
        format!(
            "SELECT * FROM c WHERE {}",
            list(" OR ", &|number| format!("(c.x > {number} AND c.x < {number}.5)"))
        ),
        format!("SELECT * FROM c WHERE {}", list(" AND ", &|number| format!("c.x != {number}"))),
        "SELECT * FROM c WHERE c.x > 3 ORDER BY c.age".to_owned(),
    ];
    for query in queries {
        source.reads.store(0, Ordering::Relaxed);
        source.entries_read.store(0, Ordering::Relaxed);
        choose(&compile(&query).plan, &source).unwrap();
        let (reads, entries) =
            (source.reads.load(Ordering::Relaxed), source.entries_read.load(Ordering::Relaxed));
        assert!(reads <= 200 && entries <= 40_000, "{reads} reads, {entries} entries: {}", &query[..60]);
    }
}

/// Where the order's index has all that is wanted, and no more of it than that, nothing is read to find that out.
#[test]
fn clear_walks_are_planned_without_reading() {
    let source = Changing::new(source(people(2_000), EXPLICIT), true);
    for (query, reads) in [
        ("SELECT TOP 20 * FROM c WHERE c.x < 1000 ORDER BY c.x DESC", false),
        ("SELECT * FROM c WHERE c.x > 10 AND c.x <= 500 ORDER BY c.x OFFSET 5 LIMIT 10", false),
        ("SELECT TOP 1 c.id FROM c ORDER BY c.x", false),
        // All of them are wanted: is a sort better?
        ("SELECT * FROM c WHERE c.x < 1000 ORDER BY c.x DESC", true),
        // Not all that the walk meets belongs to the result.
        ("SELECT TOP 20 * FROM c WHERE c.x < 1000 AND c.city = 'Oslo' ORDER BY c.x DESC", true),
    ] {
        source.reads.store(0, Ordering::Relaxed);
        let plan = choose(&compile(query).plan, &source).unwrap().to_string();
        assert_eq!(source.reads.load(Ordering::Relaxed) > 0, reads, "{query}: {plan}");
        assert!(reads || plan.starts_with("Walk"), "{query}: {plan}");
    }
}
