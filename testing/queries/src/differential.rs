//! Random queries whose rows must not depend on how they are found: with indexes on one partition, on several, and on
//! some that are split and merged between pages and between queries; and without any index.
//!
//! What a query costs depends on how many partitions it visits, and on nothing that happened to them before: a
//! container that was split costs as much as one that was made with the same ranges.
//!
//! A failure names its seed; the same seed makes the same items and the same queries.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use armilla_value::{Object, Value, json, sql_cmp_option};

use crate::moving::{Moving, split_evenly};
use crate::random::Random;
use crate::report::{Failure, Report};
use crate::rows;
use crate::run::{Drained, describe, drain, drain_between};
use crate::script::{Comparison, ContainerStep, RANGES_DEFAULT};
use crate::target::{Account, Refusal, Statement, Target};

/// Items in each container: enough that an index is worth using.
const ITEM_COUNT: usize = 400;

/// How deep conditions nest.
const DEPTH_MAX: usize = 3;

/// Rows a page: all at once, and pages that end inside runs of equal keys.
const PAGE_ROWS: [usize; 2] = [1_000, 7];

/// So many queries are asked before partitions begin to be split and merged at random.
const QUERIES_BEFORE_RESHAPES: usize = 20;

/// One in so many queries is asked after a split or merge.
const QUERIES_PER_RESHAPE: usize = 8;

/// One in so many pages that go on where another ended does so after a split or merge.
const PAGES_PER_RESHAPE: usize = 32;

const PATHS: [&str; 9] = ["c.a", "c.s", "c.m", "c.o.x", "c.o", "c.l", "c.l[0]", "c.id", "c.k"];
const INDEXED: &str = r#"{"indexingMode":"consistent","includedPaths":[{"path":"/*"},{"path":"/m/?"},{"path":"/l/[]/{x, y}/?"}],"excludedPaths":[],"compositeIndexes":[[{"path":"/k"},{"path":"/a","order":"descending"}],[{"path":"/s"},{"path":"/m"}]]}"#;
const UNINDEXED: &str = r#"{"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}"#;

/// Runs this many random queries.
pub async fn run_differential(seed: u64, query_count: usize) -> Result<Report> {
    let mut random = Random::new(seed);
    let items: Vec<_> = (0..ITEM_COUNT).map(|number| (1, random.item(number))).collect();
    run_over(random, query_count, seed, &items, &items).await
}

/// Compares queries over some items without indexes and over others, which should be the same, with them.
async fn run_over(
    mut random: Random,
    query_count: usize,
    seed: u64,
    scanned: &[(usize, Value)],
    indexed: &[(usize, Value)],
) -> Result<Report> {
    let step = |policy: &str, items: &[(usize, Value)]| -> Result<ContainerStep> {
        Ok(ContainerStep {
            key_paths: vec!["/k".to_owned()],
            policy: Some(json::parse(policy.as_bytes())?),
            items: items.to_vec(),
            ..ContainerStep::nameless()
        })
    };
    let account = Account::new().await?;
    let scanned = account.container(&step(UNINDEXED, scanned)?, 1).await?;
    let indexed = step(INDEXED, indexed)?;
    let mut compared = Compared {
        scanned,
        fixed: vec![
            ("one partition", account.container(&indexed, 1).await?),
            ("several partitions", account.container(&indexed, RANGES_DEFAULT).await?),
        ],
        moved: account.container(&indexed, 1).await?,
        moving: Moving::new(seed),
    };
    split_evenly(&compared.moved, RANGES_DEFAULT).await?;
    let (split, born_so) = (begins(&compared.moved)?, begins(&compared.fixed[1].1)?);
    ensure!(split.len() == born_so.len(), "an even split has other ranges than {born_so:?}");
    let mut report = Report::default();
    for number in 0..query_count {
        let query = random.query();
        report.case_count += 1;
        let reshapes = number >= QUERIES_BEFORE_RESHAPES;
        if let Some((variant, difference)) = compared.compare(&query, reshapes).await? {
            report.failures.push(Failure {
                path: PathBuf::from(format!("seed {seed}")),
                line: number + 1,
                text: query.text,
                variants: vec![variant],
                difference,
            });
        }
    }
    Ok(report)
}

struct RandomQuery {
    /// The statement.
    text: String,
    /// The same rows in any order, which needs no index.
    unordered_text: String,
    /// Whether rows are `{"key": .., "id": ..}` in the order of the keys, and whether it is descending.
    order: Option<bool>,
}

/// The containers that queries are asked of: all have the same items.
struct Compared {
    /// Without any index.
    scanned: Target,
    /// Whose partitions stay as they are.
    fixed: Vec<(&'static str, Target)>,
    /// Whose partitions do not.
    moved: Target,
    moving: Moving,
}

/// What a query costs where partitions begin at these hashed keys.
struct Priced {
    begins: Vec<String>,
    charge_hundredths: u64,
}

/// Returns where partitions begin.
fn begins(target: &Target) -> Result<Vec<String>> {
    Ok(target.partitions()?.into_iter().map(|range| range.min).collect())
}

impl Compared {
    /// Returns the way of running a query that differs from a scan, and what differs.
    async fn compare(&mut self, query: &RandomQuery, reshapes: bool) -> Result<Option<(String, String)>> {
        let expected = match drain(&self.scanned, statement(&query.unordered_text), PAGE_ROWS[0]).await? {
            Ok(drained) => drained.rows,
            Err(refusal) => return Ok(Some(("scan".to_owned(), refused(&refusal)))),
        };
        let mut prices = Vec::new();
        for (name, target) in &self.fixed {
            let mut charges = Vec::new();
            for page_rows in PAGE_ROWS {
                let outcome = drain(target, statement(&query.text), page_rows).await?;
                match check(query, &expected, outcome) {
                    Ok(charge) => charges.push(charge),
                    Err(difference) => {
                        return Ok(Some((format!("{name}, pages of {page_rows}"), difference)));
                    }
                }
            }
            if charges.iter().any(|charge| *charge != charges[0]) {
                return Ok(Some(((*name).to_owned(), format!("charges differ: {charges:?} hundredths"))));
            }
            prices.push(Priced { begins: begins(target)?, charge_hundredths: charges[0] });
        }
        self.compare_moving(query, &expected, &prices, reshapes).await
    }

    async fn compare_moving(
        &mut self,
        query: &RandomQuery,
        expected: &[Value],
        prices: &[Priced],
        reshapes: bool,
    ) -> Result<Option<(String, String)>> {
        let Compared { moved: target, moving, .. } = self;
        if reshapes {
            moving.reshape_sometimes(target, QUERIES_PER_RESHAPE).await?;
        }
        let begins = begins(target)?;
        let variant = |pages: &str| Some(format!("partitions that begin at {begins:?}, {pages}"));
        let whole = drain(target, statement(&query.text), PAGE_ROWS[0]).await?;
        let charge = match check(query, expected, whole) {
            Ok(charge) => charge,
            Err(difference) => return Ok(variant("one page").zip(Some(difference))),
        };
        let alike = prices.iter().find(|price| price.begins == begins);
        if let Some(price) = alike.filter(|price| price.charge_hundredths != charge) {
            let difference =
                format!("{charge} hundredths, {} without a split before", price.charge_hundredths);
            return Ok(variant("charge").zip(Some(difference)));
        }
        let mut is_moved = false;
        let paged = drain_between(target, statement(&query.text), PAGE_ROWS[1], async || {
            is_moved |= reshapes && moving.reshape_sometimes(target, PAGES_PER_RESHAPE).await?;
            Ok(())
        });
        let paged = paged.await?;
        Ok(match check(query, expected, paged) {
            Err(difference) => {
                variant(if is_moved { "moved between pages" } else { "paged" }).zip(Some(difference))
            }
            Ok(paged) if !is_moved && paged != charge => {
                variant("charge").zip(Some(format!("{charge} hundredths in one page, {paged} in several")))
            }
            Ok(_) => None,
        })
    }
}

/// Returns what a query cost, or what is wrong with its rows.
fn check(
    query: &RandomQuery,
    expected: &[Value],
    outcome: std::result::Result<Drained, Refusal>,
) -> std::result::Result<u64, String> {
    let unordered = Comparison { unordered: true, tolerance: 1e-12, ..Comparison::default() };
    let drained = outcome.map_err(|refusal| refused(&refusal))?;
    if let Some(difference) = rows::difference(expected, &drained.rows, unordered) {
        return Err(difference);
    }
    if let Some(descending) = query.order
        && let Some(row) = first_out_of_order(&drained.rows, descending)
    {
        return Err(format!("row {row} is out of order"));
    }
    Ok(drained.charge_hundredths)
}

fn refused(refusal: &Refusal) -> String {
    format!("refused: {}", describe(refusal))
}

fn statement(text: &str) -> Statement<'_> {
    Statement { text, parameters: &[], key: None }
}

/// Returns the first row whose key is on the wrong side of the one before, from 1. Arrays and objects have no order
/// among themselves that anybody may rely on.
fn first_out_of_order(rows: &[Value], descending: bool) -> Option<usize> {
    let is_structure = |row: &Value| matches!(row.get("key"), Some(Value::Array(_) | Value::Object(_)));
    rows.windows(2)
        .position(|pair| {
            let order = sql_cmp_option(pair[0].get("key"), pair[1].get("key"));
            let is_wrong = if descending { order.is_lt() } else { order.is_gt() };
            is_wrong && !(is_structure(&pair[0]) && is_structure(&pair[1]))
        })
        .map(|position| position + 2)
}

impl Random {
    fn scalar(&mut self) -> Value {
        match self.below(12) {
            0 => Value::Null,
            1 => true.into(),
            2 => false.into(),
            3..=6 => (self.below(20) as i64 - 5).into(),
            7 => (self.below(40) as f64 / 4.0 - 3.0).into(),
            _ => self.text().into(),
        }
    }

    fn text(&mut self) -> String {
        let length = self.below(4);
        (0..length).map(|_| self.pick(&["a", "b", "B", "é", "%", " "])).collect()
    }

    fn value(&mut self) -> Value {
        match self.below(10) {
            0 => (0..self.below(4)).map(|_| self.scalar()).collect::<Vec<_>>().into(),
            1 => Object::from([("x", self.scalar())]).into(),
            _ => self.scalar(),
        }
    }

    fn item(&mut self, number: usize) -> Value {
        let mut item = Object::from([
            ("id", Value::from(format!("{number}"))),
            ("k", Value::from(format!("key {}", self.below(40)))),
            ("a", Value::from(self.below(30) as i64)),
            ("s", Value::from(self.text())),
        ]);
        if self.below(4) > 0 {
            item.insert("m", self.value());
        }
        if self.below(5) > 0 {
            let x = self.value();
            item.insert("o", Object::from([("x", x), ("y", self.scalar())]));
        }
        let length = self.below(4);
        let elements: Vec<_> = (0..length)
            .map(|_| match self.below(2) {
                0 => self.scalar(),
                _ => Object::from([("x", self.scalar()), ("y", self.scalar())]).into(),
            })
            .collect();
        item.insert("l", elements);
        item.into()
    }

    fn constant(&mut self, path: &str) -> String {
        let value = match path {
            "c.k" => format!("key {}", self.below(42)).into(),
            "c.id" => format!("{}", self.below(ITEM_COUNT + 10)).into(),
            "c.a" => (self.below(34) as i64 - 2).into(),
            "c.s" => self.text().into(),
            _ => self.value(),
        };
        json::to_string(&value)
    }

    fn condition(&mut self, depth: usize) -> String {
        if depth > 0 {
            match self.below(6) {
                0 | 1 => return format!("({} AND {})", self.condition(depth - 1), self.condition(depth - 1)),
                2 => return format!("({} OR {})", self.condition(depth - 1), self.condition(depth - 1)),
                3 => return format!("NOT ({})", self.condition(depth - 1)),
                _ => {}
            }
        }
        let path = self.pick(&PATHS);
        let constant = self.constant(path);
        match self.below(20) {
            0..=3 => format!("{path} = {constant}"),
            4 => format!("{path} != {constant}"),
            5..=8 => {
                let operator = self.pick(&["<", "<=", ">", ">="]);
                format!("{path} {operator} {constant}")
            }
            9 => format!("{path} IN ({constant}, {}, {})", self.constant(path), self.constant(path)),
            10 => format!("({path} BETWEEN {constant} AND {})", self.constant(path)),
            11 => {
                let test = self.pick(&[
                    "IS_DEFINED",
                    "IS_NULL",
                    "IS_BOOL",
                    "IS_NUMBER",
                    "IS_STRING",
                    "IS_ARRAY",
                    "IS_OBJECT",
                    "IS_PRIMITIVE",
                ]);
                format!("{test}({path})")
            }
            12 => {
                let test = self.pick(&["STARTSWITH", "ENDSWITH", "CONTAINS", "STRINGEQUALS"]);
                let fold = self.pick(&["", ", true", ", false"]);
                format!("{test}({path}, {}{fold})", json::to_string(&self.text().into()))
            }
            13 => {
                let pattern = format!("{}{}", self.text(), self.pick(&["%", "", "_", "%a", "[ab]%"]));
                format!("{path} LIKE {}", json::to_string(&pattern.into()))
            }
            14 => {
                let function = self.pick(&["ABS", "FLOOR", "CEILING", "ROUND", "SIGN", "TRUNC"]);
                let operator = self.pick(&["=", "<", ">=", "!="]);
                format!("{function}({path}) {operator} {}", self.below(12) as i64 - 4)
            }
            15 => {
                let partial = self.pick(&["", ", true"]);
                let element = if self.below(2) == 0 {
                    self.scalar()
                } else {
                    Object::from([("x", self.scalar())]).into()
                };
                format!("ARRAY_CONTAINS(c.l, {}{partial})", json::to_string(&element))
            }
            16 => {
                let (x, y) = (json::to_string(&self.scalar()), json::to_string(&self.scalar()));
                let inner =
                    self.pick(&["e.x = {x} AND e.y = {y}", "e.x > {x}", "e = {x}", "e.y = {y} OR e = {x}"]);
                let inner = inner.replace("{x}", &x).replace("{y}", &y);
                format!("EXISTS(SELECT VALUE e FROM e IN c.l WHERE {inner})")
            }
            17 => format!("LEFT({path}, 1) = {}", json::to_string(&self.pick(&["a", "b", "", "é"]).into())),
            18 => format!("{path} = {}", self.pick(&PATHS)),
            _ => format!("({path} ?? 0) > {}", self.below(6)),
        }
    }

    fn query(&mut self) -> RandomQuery {
        let condition = self.condition(DEPTH_MAX);
        let path = self.pick(&PATHS);
        let same = |text: String| RandomQuery { unordered_text: text.clone(), text, order: None };
        match self.below(12) {
            0..=4 => same(format!("SELECT VALUE c.id FROM c WHERE {condition}")),
            5 => same(format!("SELECT VALUE COUNT(1) FROM c WHERE {condition}")),
            6 => {
                let aggregate = self.pick(&["MIN", "MAX", "SUM", "AVG", "COUNT"]);
                let filter = if self.below(2) == 0 { String::new() } else { format!(" WHERE {condition}") };
                same(format!("SELECT VALUE {aggregate}({path}) FROM c{filter}"))
            }
            7 => {
                let filter = if self.below(2) == 0 { String::new() } else { format!(" WHERE {condition}") };
                same(format!("SELECT DISTINCT VALUE {path} FROM c{filter}"))
            }
            8 => {
                same(format!("SELECT {path} AS key, COUNT(1) AS n FROM c WHERE {condition} GROUP BY {path}"))
            }
            9 => same(format!("SELECT VALUE [c.id, e] FROM c JOIN e IN c.l WHERE {condition}")),
            10 => {
                let (order, path) = match self.below(4) {
                    0 => ("c.k, c.a DESC".to_owned(), "c.k"),
                    1 => ("c.s, c.m".to_owned(), "c.s"),
                    _ => (path.to_owned(), path),
                };
                self.ordered(path, &order, false, &condition)
            }
            _ => self.ordered(path, &format!("{path} DESC"), true, &condition),
        }
    }

    fn ordered(&mut self, path: &str, order: &str, descending: bool, condition: &str) -> RandomQuery {
        let filter = if self.below(3) == 0 { String::new() } else { format!(" WHERE {condition}") };
        let unordered_text = format!("SELECT {path} AS key, c.id FROM c{filter}");
        RandomQuery {
            text: format!("{unordered_text} ORDER BY {order}"),
            unordered_text,
            order: Some(descending),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn one_item_more_is_noticed() {
        let mut random = Random::new(1);
        let items: Vec<_> = (0..ITEM_COUNT).map(|number| (1, random.item(number))).collect();
        let report = run_over(random, 100, 1, &items[1..], &items).await.unwrap();
        assert!(report.failures.len() >= 10, "{} of 100 queries noticed it", report.failures.len());
    }
}
