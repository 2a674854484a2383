//! Data, planners and page turning for the tests of execution.

use std::ops::Bound;

use armilla_functions::Look;
use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, IndexingPolicy, TermRange};
use armilla_value::{PropertyPath, Value, json};

use super::context::Planner;
use super::{Page, Request, ResumeFilter};
use crate::budget::{Budget, Memory};
use crate::compile::{CompileOptions, CompiledQuery};
use crate::error::Result;
use crate::eval::{Environment, NoUserFunctions};
use crate::expr::Expr;
use crate::logical::LogicalPlan;
use crate::physical::{Access, IndexOnly, IndexRange, IndexSet, PhysicalPlan, Served, Walk};
use crate::row::JsonRows;
use crate::source::{Direction, MemoryOptions, MemorySource, Source};
use crate::work::Work;

/// Chooses how the items of a source are found.
pub(super) type TestPlanner = dyn Fn(&LogicalPlan, &dyn Source) -> Result<PhysicalPlan> + Sync;

/// Reads JSON.
pub(super) fn value(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}

/// Items with values of every type at `n`, long strings that begin alike at `s`, arrays at `tags`.
pub(super) fn items(count: usize) -> Vec<Value> {
    let long = "x".repeat(300);
    let huge = "y".repeat(900);
    let item = |number: usize| {
        let n = match number % 12 {
            0 => String::new(),
            1 => r#""n":null,"#.to_owned(),
            2 => r#""n":true,"#.to_owned(),
            3 => format!(r#""n":"{number}","#),
            4 => format!(r#""n":[{}],"#, number % 5),
            5 => format!(r#""n":{{"a":{}}},"#, number % 3),
            6 => format!(r#""n":{}.5,"#, number % 7),
            _ => format!(r#""n":{},"#, number % 7),
        };
        let s = match number % 5 {
            0 => format!(r#""s":"{long}{:02}","#, 97 * number % 60),
            1 => format!(r#""s":"{huge}{:02}","#, 89 * number % 60),
            2 => r#""s":"same","#.to_owned(),
            3 => format!(r#""s":"s{}","#, number % 4),
            _ => String::new(),
        };
        let tags: Vec<String> = (0..number % 4).map(|tag| format!(r#""t{}""#, (tag + number) % 5)).collect();
        let tags = tags.join(",");
        let (group, rank) = (number % 4, 31 * number % 17);
        value(&format!(
            r#"{{"id":"i{number}","pk":"p{}",{n}{s}"tags":[{tags}],"g":"g{group}","r":{rank}}}"#,
            number % 9
        ))
    };
    (0..count).map(item).collect()
}

/// The policy of the tests: everything, and two composite indexes.
pub(super) fn policy() -> IndexingPolicy {
    IndexingPolicy::from_value(&value(
        r#"{"indexingMode":"consistent","includedPaths":[{"path":"/*"}],"excludedPaths":[],"compositeIndexes":[
            [{"path":"/g","order":"ascending"},{"path":"/r","order":"descending"}],
            [{"path":"/s","order":"ascending"},{"path":"/g","order":"ascending"}]]}"#,
    ))
    .unwrap()
}

/// Cuts items into partitions by `/pk`.
pub(super) fn sources(items: &[Value], count: u32) -> Vec<MemorySource> {
    let partition_key = vec![PropertyPath::parse("/pk").unwrap()];
    let options = MemoryOptions { partition_key, ..MemoryOptions::default() };
    MemorySource::partitioned(items.to_vec(), &policy(), options, count).unwrap()
}

/// Lends sources as the trait.
pub(super) fn lend(sources: &[MemorySource]) -> Vec<&dyn Source> {
    sources.iter().map(|source| source as &dyn Source).collect()
}

/// Compiles a query.
pub(super) fn compile(text: &str) -> CompiledQuery {
    let options = CompileOptions { parameters: &[], computed: &[], system_properties: true };
    CompiledQuery::new(text, options).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// What a page is asked for.
pub(super) struct Ask<'a> {
    pub(super) query: &'a CompiledQuery,
    pub(super) planner: Planner<'a>,
    pub(super) rows_max: usize,
    pub(super) bytes_max: usize,
    pub(super) memory_max: usize,
    pub(super) collected_max: usize,
    pub(super) expired: &'a dyn Fn(&Work) -> bool,
    pub(super) resume: Option<&'a ResumeFilter>,
    pub(super) helpers: usize,
    pub(super) watch: &'a dyn Fn(u64) -> Look,
}

impl<'a> Ask<'a> {
    pub(super) fn new(query: &'a CompiledQuery, planner: Planner<'a>, rows_max: usize) -> Ask<'a> {
        Ask {
            query,
            planner,
            rows_max,
            bytes_max: 1 << 22,
            memory_max: 1 << 26,
            collected_max: 1_000_000,
            expired: &|_| false,
            resume: None,
            helpers: 0,
            watch: &|_| Look::GoOn(100),
        }
    }

    /// Executes one page.
    pub(super) fn page(&self, sources: &[&dyn Source], continuation: Option<&str>) -> Result<Page> {
        let environment = Environment {
            now_ticks: 0,
            current_ticks: &|| 0,
            random: &|| 0.5,
            geometry: false,
            functions: &NoUserFunctions,
        };
        let request = Request {
            query: self.query,
            sources,
            budget: &Budget {
                rows_max: self.rows_max,
                form: &JsonRows,
                bytes_max: self.bytes_max,
                expired: self.expired,
                helpers: self.helpers,
                watch: self.watch,
            },
            continuation,
            resume: self.resume,
            environment: &environment,
            planner: self.planner,
            memory: Memory::with_limit(self.memory_max),
            collected_max: self.collected_max,
        };
        request.execute()
    }

    /// Executes all pages on the same sources.
    #[track_caller]
    pub(super) fn all(&self, sources: &[&dyn Source]) -> All {
        let mut all = All::default();
        let mut continuation: Option<String> = None;
        loop {
            let page = self.page(sources, continuation.as_deref()).unwrap();
            all.add(&page);
            assert!(page.row_count() <= self.rows_max, "{} rows on a page", page.row_count());
            assert!(all.pages < 10_000, "pages without end");
            continuation = page.continuation;
            match &continuation {
                Some(token) => assert!(token.len() < 1024, "token of {} bytes", token.len()),
                None => return all,
            }
        }
    }
}

/// What all pages gave.
#[derive(Default, Debug, PartialEq)]
pub(super) struct All {
    pub(super) rows: Vec<String>,
    pub(super) work: Work,
    pub(super) pages: usize,
    pub(super) last_was_empty: bool,
}

impl All {
    /// Adds a page.
    #[track_caller]
    pub(super) fn add(&mut self, page: &Page) {
        assert_eq!(page.work_before, self.work, "work so far");
        let rows = rows_of_page(page);
        assert_eq!(rows.len(), page.row_count());
        self.rows.extend(rows);
        self.work = page.work;
        self.pages += 1;
        self.last_was_empty = page.row_count() == 0;
    }

    /// Checks that this is what one big page gave, and counted. Rows that have no place among items may come in another
    /// order on several pages.
    #[track_caller]
    pub(super) fn check(&self, query: &CompiledQuery, whole: &All, name: &str) {
        let (window, order) = (&query.plan.window, &query.plan.order);
        let is_part = window.offset > 0 || window.limit.is_some();
        if query.is_reordered() && self.pages > 1 && is_part && order.is_empty() {
            // A part of rows in no order may be any part.
            assert_eq!(self.rows.len(), whole.rows.len(), "{name}");
            return;
        }
        if query.is_reordered() && self.pages > 1 && window.limit.is_none() {
            assert_eq!(self.sorted_rows(), whole.sorted_rows(), "{name}");
        } else {
            assert_eq!(self.rows, whole.rows, "{name}");
        }
        assert_eq!(self.work, whole.work, "{name}");
    }

    /// Returns the rows in an order of their own.
    pub(super) fn sorted_rows(&self) -> Vec<String> {
        let mut rows = self.rows.clone();
        rows.sort();
        rows
    }
}

/// Returns the rows of a page, one text each.
pub(super) fn rows_of_page(page: &Page) -> Vec<String> {
    let text = [b"[", &page.rows[..], b"]"].concat();
    let rows = json::parse(&text).unwrap();
    rows.as_array().unwrap().iter().map(json::to_string).collect()
}

/// Returns a path of one name.
pub(super) fn path(name: &str) -> Vec<PathSegment> {
    vec![PathSegment::Property(name.to_owned())]
}

/// Returns a range of the index of a property.
pub(super) fn range(name: &str, terms: &[TermRange<'_>]) -> IndexRange {
    range_of(&path(name), terms)
}

/// Returns a range of the index of a path.
pub(super) fn range_of(path: &[PathSegment], terms: &[TermRange<'_>]) -> IndexRange {
    let index = IndexId::of_path(path);
    IndexRange {
        index,
        paths: Vec::new(),
        ranges: terms.iter().map(|term| term.span(index).range).collect(),
        is_equality: terms.iter().all(|term| matches!(term, TermRange::Equal(_))),
        precise: false,
        repeats: path.contains(&PathSegment::Elements),
        term_filter: None,
        estimate: None,
        begun: Vec::new(),
    }
}

/// Numbers from a bound on.
pub(super) fn at_least(bound: &Value) -> TermRange<'_> {
    TermRange::Between { lower: Bound::Included(bound), upper: Bound::Unbounded }
}

/// Makes a plan that checks every condition again.
pub(super) fn physical(plan: &LogicalPlan, access: Access) -> PhysicalPlan {
    let served = Served { paths: Vec::new(), composite: false, precise: false };
    PhysicalPlan {
        access,
        residual: plan.filter.clone(),
        served: vec![served],
        missing: Vec::new(),
        rejects_by_index: false,
    }
}

/// Always the same access; sorted where an order is asked for.
pub(super) fn always(access: Access) -> Box<TestPlanner> {
    Box::new(move |plan, _| {
        let access = match (&access, plan.order.is_empty() || plan.grouping.is_some()) {
            (Access::Walk(_) | Access::Sort(_), _) | (_, true) => access.clone(),
            _ => Access::Sort(Box::new(access.clone())),
        };
        Ok(physical(plan, access))
    })
}

/// A walk through the index that has the order asked for.
pub(super) fn walking() -> Box<TestPlanner> {
    Box::new(|plan, source| {
        let names: Vec<&str> = plan.order.iter().map(|key| order_name(&key.expr)).collect();
        let (index, descending) = match names[..] {
            [name] => (IndexId::of_path(&path(name)), vec![false]),
            _ => {
                let composite = source.composites().into_iter().find(|composite| {
                    let paths = composite.paths.iter().map(|(path, _)| path.clone());
                    paths.eq(names.iter().map(|name| path(name)))
                });
                let composite = composite.expect("there is a composite index");
                (composite.id, composite.paths.iter().map(|(_, descending)| *descending).collect())
            }
        };
        let reverse = plan.order[0].descending != descending[0];
        assert!(plan.order.iter().zip(&descending).all(|(key, own)| (key.descending != *own) == reverse));
        let walk = Walk {
            index,
            paths: Vec::new(),
            direction: if reverse { Direction::Reverse } else { Direction::Forward },
            range: TermRange::All.span(index).range,
            adds_missing: names.len() == 1,
            is_partial: false,
            entries_per_item: 1,
            passing: None,
        };
        Ok(physical(plan, Access::Walk(walk)))
    })
}

fn order_name(expr: &Expr) -> &str {
    match expr {
        Expr::Path { steps, .. } => match &steps[..] {
            [crate::expr::PathStep::Name(name)] => name,
            _ => panic!("an order by one name"),
        },
        _ => panic!("an order by a path"),
    }
}

/// An answer from the index alone.
pub(super) fn index_only(only: IndexOnly) -> Box<TestPlanner> {
    Box::new(move |plan, _| Ok(physical(plan, Access::IndexOnly(only.clone()))))
}

/// A set of one range.
pub(super) fn set(range: IndexRange) -> Access {
    Access::Set(IndexSet::Range(range))
}
