//! Advice as a page: the same, with plots.

use armilla_report::plot::{self, Axis, Bars, Series};
use armilla_report::{Page, number};
use armilla_value::Value;

use super::terminal::{comparison, overview};
use super::{list, number as figure, text};

/// Returns the page.
pub(super) fn page(document: &Value) -> String {
    let mut page = Page::new("What this data model costs");
    page.lead(
        "What was found in the data and in the requests, what it costs today, and what it would cost: measured by \
         doing the recorded requests again on an altered copy of a sample.",
    );
    if document.get("operations").is_some() {
        compared(&mut page, "Before and after", document);
        return finished(page);
    }
    let findings = list(document, "findings");
    page.facts(&[
        ("containers", list(document, "containers").len().to_string()),
        ("findings", findings.len().to_string()),
        ("seconds of requests", number::fixed(figure(document, "seconds"), 0)),
        ("RU/s", number::fixed(figure(document, "chargePerSecond"), 1)),
    ]);
    if findings.is_empty() {
        page.paragraph("Nothing was found.");
        return finished(page);
    }
    page.heading("What was found");
    page.table(&overview(findings));
    for stage in list(document, "stages") {
        let Some(comparison) = stage.get("comparison") else { continue };
        page.heading(format!("All of it: {}", text(stage, "title")));
        let options: Vec<&str> = list(stage, "try").iter().filter_map(Value::as_str).collect();
        if !options.is_empty() {
            page.code(format!("armilla advise {}", options.join(" \\\n  ")));
        }
        figures(&mut page, comparison);
    }
    for finding in findings {
        page.heading(text(finding, "title"));
        page.facts(&[
            ("severity", text(finding, "severity")),
            ("container", text(finding, "container")),
            ("rule", text(finding, "rule")),
        ]);
        for line in list(finding, "evidence") {
            page.paragraph(line.as_str().unwrap_or_default());
        }
        page.note(text(finding, "advice"));
        if !text(finding, "but").is_empty() {
            page.paragraph(format!("But: {}", text(finding, "but")));
        }
        let options: Vec<&str> = list(finding, "try").iter().filter_map(Value::as_str).collect();
        if !options.is_empty() {
            page.code(format!("armilla advise {}", options.join(" ")));
        }
        if let Some(comparison) = finding.get("comparison") {
            figures(&mut page, comparison);
        }
        page.paragraph(format!("More: {}", text(finding, "page")));
    }
    finished(page)
}

fn finished(mut page: Page) -> String {
    page.footer(format!("Made by armilla {}.", env!("CARGO_PKG_VERSION")));
    page.render()
}

fn compared(page: &mut Page, title: &str, comparison: &Value) {
    page.heading(title);
    figures(page, comparison);
}

fn figures(page: &mut Page, compared: &Value) {
    page.table(&comparison(compared));
    let lines = list(compared, "operations");
    let series = |name: &str, member: &str| {
        Series::new(name, lines.iter().map(|line| Some(figure(line, member)).filter(|value| *value > 0.0)))
    };
    let drawn = plot::bars(&Bars {
        title: "Request units of an operation, today and then".to_owned(),
        description: "Two bars for each operation: what it costs today, and what it would cost.".to_owned(),
        axis: Axis::log("request units"),
        groups: lines.iter().map(|line| text(line, "operation").to_owned()).collect(),
        series: vec![series("today", "before"), series("then", "after")],
        references: Vec::new(),
    });
    let saved = figure(compared, "savedPerSecond");
    page.plot(format!("{} RU/s saved in all.", number::fixed(saved, 1)), &drawn);
}
