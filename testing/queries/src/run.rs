//! Runs every case on one physical partition and on several, whole and in pages of a few rows; and in small pages on
//! partitions that are split and merged between them.
//!
//! What must hold besides the expected rows: pages have at most the rows asked for, a query comes to an end, and it
//! costs the same however it is cut into pages.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use armilla_value::Value;

use crate::moving::Moving;
use crate::parse;
use crate::report::{Failure, Report};
use crate::rows;
use crate::script::{Case, Comparison, ContainerStep, Expected, ExpectedCode, ExpectedError, Script, Step};
use crate::target::{self, Account, Refusal, Statement, Target};

/// Rows a page: everything at once, then so few that most results take several pages.
pub(crate) const PAGE_ROWS: [usize; 4] = [1_000, 1, 2, 3];

/// Rows a page where partitions are split and merged in between.
const MOVING_PAGE_ROWS: usize = 2;

/// One in so many cases begins with a split or merge.
const CASES_PER_RESHAPE: usize = 6;

/// One in so many pages that go on where another ended does so after a split or merge.
const PAGES_PER_RESHAPE: usize = 4;

/// By how much of its size a sum may differ that was added up in another order.
const ADDITION_TOLERANCE: f64 = 1e-12;

/// Pages that may bring no row, one after another, before a query counts as endless.
const EMPTY_PAGES_MAX: usize = 1_000;

/// How many physical partitions a container has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    One,
    Several(usize),
}

impl Layout {
    pub(crate) fn range_count(self) -> usize {
        match self {
            Layout::One => 1,
            Layout::Several(count) => count,
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Layout::One => "one partition".to_owned(),
            Layout::Several(count) => format!("{count} partitions"),
        }
    }
}

/// Returns the files of the corpus below a folder, in the order of their paths.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "qt") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Reads a file of the corpus and runs it.
pub async fn run_file(path: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    run_script(&parse(path, &text)?).await
}

/// Runs a file of the corpus.
pub async fn run_script(script: &Script) -> Result<Report> {
    let mut report = Report { file_count: 1, ..Report::default() };
    let mut container = ContainerStep::nameless();
    let mut cases = Vec::new();
    let mut groups = Vec::new();
    for step in &script.steps {
        match step {
            Step::Container(next) => {
                groups.push((std::mem::replace(&mut container, next.clone()), std::mem::take(&mut cases)));
            }
            Step::Case(case) => cases.push(case),
        }
    }
    groups.push((container, cases));
    for (container, cases) in groups {
        if cases.is_empty() {
            continue;
        }
        report.case_count += cases.len();
        let account = Account::new().await?;
        let layouts = [Layout::One, Layout::Several(container.range_count)];
        let mut targets = Vec::new();
        for layout in layouts {
            let target = account.container(&container, layout.range_count()).await;
            targets.push((layout, target.with_context(|| script.path.display().to_string())?));
        }
        let moved = account.container(&container, 1).await?;
        let mut moving = Moving::new(container.line as u64);
        for case in cases {
            let outcome = match run_case(&container, &targets, case).await {
                None => run_moving(&moved, &mut moving, case).await?,
                failure => failure,
            };
            if let Some((variants, difference)) = outcome {
                report.failures.push(Failure {
                    path: script.path.clone(),
                    line: case.line,
                    text: case.text.clone(),
                    variants,
                    difference,
                });
            }
        }
    }
    Ok(report)
}

/// Runs a case in every way; returns the ways that fail and what is different in the first.
async fn run_case(
    container: &ContainerStep,
    targets: &[(Layout, Target)],
    case: &Case,
) -> Option<(Vec<String>, String)> {
    let mut failed = Failed::default();
    match &case.expected {
        Expected::Plan(plan) => {
            let mut found = vec![("plan".to_owned(), target::plan(container, case.into()))];
            // The others have several partitions, of which each has less to choose by.
            for (layout, target) in targets.iter().filter(|(layout, _)| *layout == Layout::One) {
                found.push((format!("plan of {}", layout.name()), target.plan(case.into()).await));
            }
            for (variant, found) in found {
                let found = found.unwrap_or_else(|error| format!("refused: {error}"));
                if found != *plan {
                    failed.add(variant, plan_difference(plan, &found));
                }
            }
        }
        Expected::Error(expected) => {
            for (layout, target) in targets {
                let outcome = drain(target, case.into(), PAGE_ROWS[0]).await;
                if let Some(difference) = error_difference(expected, &outcome) {
                    failed.add(layout.name(), difference);
                }
            }
        }
        Expected::Rows(expected) => {
            for (layout, target) in targets {
                check_rows(&mut failed, target, *layout, case.into(), &expected.rows, expected.comparison)
                    .await;
            }
        }
    }
    failed.into_failure()
}

fn plan_difference(expected: &str, found: &str) -> String {
    let show =
        |sign: &str, text: &str| text.lines().map(|line| format!("  {sign} {line}\n")).collect::<String>();
    format!("{}{}", show("-", expected), show("+", found))
}

/// Runs a case while partitions are split and merged; returns that it fails and what is different.
async fn run_moving(
    target: &Target,
    moving: &mut Moving,
    case: &Case,
) -> Result<Option<(Vec<String>, String)>> {
    let Expected::Rows(expected) = &case.expected else { return Ok(None) };
    moving.reshape_sometimes(target, CASES_PER_RESHAPE).await?;
    let drained = drain_between(target, case.into(), MOVING_PAGE_ROWS, async || {
        moving.reshape_sometimes(target, PAGES_PER_RESHAPE).await?;
        Ok(())
    });
    let comparison = on_several(&case.text, expected.comparison);
    let difference = match drained.await? {
        Ok(drained) => rows::difference(&expected.rows, &drained.rows, comparison),
        Err(refusal) => Some(format!("refused: {}", describe(&refusal))),
    };
    Ok(difference.map(|difference| (vec!["partitions that split and merge".to_owned()], difference)))
}

/// Returns how rows compare that come from several partitions, where a case says how those of one do.
pub(crate) fn on_several(text: &str, one: Comparison) -> Comparison {
    let text = text.to_ascii_uppercase();
    // Over several partitions, the order in which items were made is not that of the rows.
    let unordered = one.unordered || !text.contains("ORDER BY");
    // Nor is it that in which numbers are added up, and doubles round differently in another order.
    let adds_up = text.contains("SUM(") || text.contains("AVG(");
    let tolerance = if adds_up { one.tolerance.max(ADDITION_TOLERANCE) } else { one.tolerance };
    Comparison { unordered, tolerance, ..one }
}

/// What failed so far.
#[derive(Default)]
pub(crate) struct Failed {
    variants: Vec<String>,
    difference: Option<String>,
}

impl Failed {
    pub(crate) fn add(&mut self, variant: String, difference: String) {
        self.variants.push(variant);
        self.difference.get_or_insert(difference);
    }

    pub(crate) fn into_failure(self) -> Option<(Vec<String>, String)> {
        Some((self.variants, self.difference?))
    }
}

/// Compares the rows of a statement with the expected ones for every size of page, and the charges with each other.
pub(crate) async fn check_rows(
    failed: &mut Failed,
    target: &Target,
    layout: Layout,
    statement: Statement<'_>,
    expected: &[Value],
    comparison: Comparison,
) {
    let mut charges = Vec::new();
    for page_rows in PAGE_ROWS {
        let variant = format!("{}, pages of {page_rows}", layout.name());
        match drain(target, statement, page_rows).await {
            Ok(Ok(drained)) => {
                charges.push((page_rows, drained.charge_hundredths));
                if let Some(difference) = rows::difference(expected, &drained.rows, comparison) {
                    failed.add(variant, difference);
                }
            }
            Ok(Err(refusal)) => failed.add(variant, format!("refused: {}", describe(&refusal))),
            Err(error) => failed.add(variant, format!("broken: {error:#}")),
        }
    }
    if charges.iter().any(|(_, charge)| *charge != charges[0].1) {
        let list: Vec<_> = charges
            .iter()
            .map(|(rows, charge)| format!("pages of {rows} {}.{:02}", charge / 100, charge % 100))
            .collect();
        failed.add(format!("{}, charges", layout.name()), format!("charges differ: {}", list.join(", ")));
    }
}

/// All rows of a statement.
pub(crate) struct Drained {
    pub(crate) rows: Vec<Value>,
    pub(crate) charge_hundredths: u64,
}

/// Asks for page after page until there is none.
pub(crate) async fn drain(
    target: &Target,
    statement: Statement<'_>,
    page_rows: usize,
) -> Result<std::result::Result<Drained, Refusal>> {
    drain_between(target, statement, page_rows, async || Ok(())).await
}

/// Asks for page after page until there is none, and does something before each but the first.
pub(crate) async fn drain_between(
    target: &Target,
    statement: Statement<'_>,
    page_rows: usize,
    mut between: impl AsyncFnMut() -> Result<()>,
) -> Result<std::result::Result<Drained, Refusal>> {
    let mut drained = Drained { rows: Vec::new(), charge_hundredths: 0 };
    let (mut continuation, mut empty_pages) = (None, 0);
    loop {
        let page = match target.page(statement, page_rows, continuation).await? {
            Ok(page) => page,
            Err(refusal) => return Ok(Err(refusal)),
        };
        empty_pages = if page.rows.is_empty() { empty_pages + 1 } else { 0 };
        drained.rows.extend(page.rows);
        drained.charge_hundredths = page.charge_hundredths;
        continuation = page.continuation;
        if continuation.is_none() {
            return Ok(Ok(drained));
        }
        anyhow::ensure!(empty_pages < EMPTY_PAGES_MAX, "{empty_pages} pages without a row, and no end");
        between().await?;
    }
}

fn error_difference(
    expected: &ExpectedError,
    outcome: &Result<std::result::Result<Drained, Refusal>>,
) -> Option<String> {
    let refusal = match outcome {
        Ok(Err(refusal)) => refusal,
        Ok(Ok(drained)) => return Some(format!("an error expected, {} rows came", drained.rows.len())),
        Err(error) => return Some(format!("broken: {error:#}")),
    };
    let code_is_right = match &expected.code {
        ExpectedCode::Any => true,
        ExpectedCode::None => refusal.code.is_none(),
        ExpectedCode::Is(code) => refusal.code.as_ref() == Some(code),
    };
    let is_right = expected.status == refusal.status
        && code_is_right
        && expected.place.is_none_or(|place| Some(place) == refusal.place)
        && expected.message.as_ref().is_none_or(|message| refusal.message.contains(message));
    (!is_right).then(|| {
        let wanted = describe(&Refusal {
            status: expected.status,
            code: match &expected.code {
                ExpectedCode::Any => Some("*".to_owned()),
                ExpectedCode::None => None,
                ExpectedCode::Is(code) => Some(code.clone()),
            },
            place: expected.place,
            message: expected.message.clone().unwrap_or_default(),
        });
        format!("  - {wanted}\n  + {}\n", describe(refusal))
    })
}

/// Writes a refusal as files do, with its message behind.
pub(crate) fn describe(refusal: &Refusal) -> String {
    let code = refusal.code.as_deref().unwrap_or("-");
    let place = refusal.place.map(|(start, end)| format!(" {start}..{end}")).unwrap_or_default();
    format!("{} {code}{place} {}", refusal.status, refusal.message).trim_end().to_owned()
}
