//! The report: one page, with everything it needs inside.

use armilla_report::plot::{self, Axis, Bars, Line, Panel, Panels, Series};
use armilla_report::{Page, number};

use super::table::{notes, summary, table};
use super::{Judged, Run, judge};
use crate::figures::Operation;
use crate::items::Version;

/// Returns the report of one run, or of several at different scales; the last is shown in full.
pub(crate) fn page(runs: &[Run]) -> String {
    let mut page = Page::new("What a data model costs");
    page.lead(
        "A blog platform in three versions of its data model, run for real: ten operations, their latency and their \
         request units, beside the figures that were published for the service.",
    );
    if let Some(run) = runs.last() {
        facts(&mut page, run);
        results(&mut page, run);
    }
    if runs.len() > 1 {
        scaling(&mut page, runs);
    }
    if let Some(run) = runs.last() {
        explanation(&mut page, run);
    }
    page.footer(format!("Made by armilla {}.", env!("CARGO_PKG_VERSION")));
    page.render()
}

fn facts(page: &mut Page, run: &Run) {
    let mut facts = vec![
        ("users", number::count(run.totals.users)),
        ("posts", number::count(run.totals.posts)),
        ("comments", number::count(run.totals.comments)),
        ("likes", number::count(run.totals.likes)),
        ("physical partitions of posts", number::count(u64::from(run.measured.partitions))),
        ("rounds of each operation", number::count(u64::from(run.rounds))),
        ("connections", number::count(u64::from(run.connections))),
        ("seed", run.seed.to_string()),
        ("all of it took", number::duration(run.took)),
    ];
    if let Some(loaded) = &run.loaded {
        let rate = loaded.items as f64 / loaded.took.as_secs_f64().max(0.001);
        facts.push(("loaded a second", number::count(rate as u64)));
    }
    page.facts(&facts);
}

fn results(page: &mut Page, run: &Run) {
    let judged = judge(run);
    page.heading("Ten operations in three versions");
    page.paragraph(
        "`faster` is the published latency divided by the median here: a service far away on one side, a server on \
         the same machine on the other, so it says more about the shape of the work than about the two. Request \
         units are compared in earnest: both follow the same rules.",
    );
    page.table(&table(run));
    for note in notes(run) {
        page.note(note);
    }
    page.heading("Request units");
    page.plot(
        "Request units of each operation; the mark is the published figure.",
        &bars(
            &judged,
            "Request units by operation and version",
            "Bars of one operation get shorter from V1 to V3 where the model was made for it.",
            Axis::log("request units"),
            |judged| judged.charge,
            |judged| judged.published.charge,
        ),
    );
    page.heading("Latency");
    page.plot(
        "Median latency of each operation; the mark is the published figure.",
        &bars(
            &judged,
            "Median latency by operation and version",
            "Every bar ends far left of its mark, which is the published latency.",
            Axis::log("p50, ms"),
            |judged| judged.p50_ms(),
            |judged| judged.published.latency_ms,
        ),
    );
}

fn bars(
    judged: &[Judged<'_>],
    title: &str,
    description: &str,
    axis: Axis,
    value: impl Fn(&Judged<'_>) -> f64,
    published: impl Fn(&Judged<'_>) -> f64,
) -> plot::Svg {
    let find = |operation: Operation, version: Version| {
        judged.iter().find(|judged| judged.cell.operation == operation && judged.cell.version == version)
    };
    let series = |name: String, version: Version, of: &dyn Fn(&Judged<'_>) -> f64| {
        Series::new(name, Operation::ALL.map(|operation| find(operation, version).map(of)))
    };
    plot::bars(&Bars {
        title: title.to_owned(),
        description: description.to_owned(),
        axis,
        groups: Operation::ALL
            .map(|operation| format!("{} {}", operation.name(), operation.title()))
            .to_vec(),
        series: Version::ALL.map(|version| series(version.name().to_owned(), version, &value)).to_vec(),
        references: Version::ALL.map(|version| series("published".to_owned(), version, &published)).to_vec(),
    })
}

/// Returns the scaling curves.
fn scaling(page: &mut Page, runs: &[Run]) {
    page.heading("With more users");
    page.paragraph(
        "The same operations on more data. What reads one item or one logical partition stays as it was; so does what \
         asks every physical partition, as long as there are as many of them.",
    );
    page.plot(
        "Median latency of each operation by users.",
        &curves(runs, "Median latency", "p50, ms", |judged| judged.p50_ms()),
    );
    page.plot(
        "Request units of each operation by users.",
        &curves(runs, "Request units", "request units", |judged| judged.charge),
    );
}

fn curves(runs: &[Run], title: &str, label: &str, value: impl Fn(&Judged<'_>) -> f64) -> plot::Svg {
    let judged: Vec<_> = runs.iter().map(|run| (f64::from(run.users), judge(run))).collect();
    let panel = |operation: Operation| {
        let line = |version: Version| {
            let points = judged.iter().filter_map(|(users, judged)| {
                let found = judged
                    .iter()
                    .find(|judged| judged.cell.operation == operation && judged.cell.version == version)?;
                Some((*users, value(found)))
            });
            Line::new(version.name(), points)
        };
        Panel {
            title: format!("{} {}", operation.name(), operation.title()),
            series: Version::ALL.map(line).to_vec(),
        }
    };
    plot::panels(&Panels {
        title: format!("{title} with more users"),
        description:
            "A panel an operation, a line a version: lines that stay level do not depend on the amount of \
                      data."
                .to_owned(),
        x: Axis::log("users"),
        y: Axis::log(label),
        panels: Operation::ALL.map(panel).to_vec(),
    })
}

fn explanation(page: &mut Page, run: &Run) {
    page.heading("How it went");
    for line in summary(run) {
        page.paragraph(line);
    }
    page.heading("What was done");
    page.paragraph(
        "V1 has users, and posts with their comments and likes; names and counts are asked for one by one. V2 writes \
         names and counts into the items: procedures count, a worker on the change feed of users carries names. V3 \
         adds shortened copies of posts at their authors and a list of the hundred newest, kept by workers on the \
         change feed of posts and by a trigger.",
    );
    page.paragraph(
        "Each operation is done as a client does it, over HTTP, one at a time; requests that do not depend on each \
         other go over several connections at once. The newest posts of V1 and V2 are asked of every physical \
         partition, five times an even share each, as the service's own clients do. All data comes from the seed; \
         texts are as long as the model of charges assumes, because their lengths were not published.",
    );
    page.code(format!(
        "armilla demo blog --users {} --seed {} --partitions {} --rounds {}",
        run.users, run.seed, run.measured.partitions, run.rounds
    ));
}
