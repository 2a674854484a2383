//! Advice in a terminal: a table of what was found, then each finding with its evidence.

use armilla_report::{Cell, Column, Table, number};
use armilla_value::Value;

use super::{list, number as figure, text};

/// Columns of a line of text.
const WIDTH: usize = 100;

/// Returns advice, or a comparison, as text.
pub(super) fn shown(document: &Value) -> String {
    if document.get("operations").is_some() {
        return format!("{}\n{}", comparison(document).to_text(), saved(document));
    }
    let mut out = String::new();
    let findings = list(document, "findings");
    out.push_str(&format!(
        "{} containers, {} of requests at {} RU/s: {}\n\n",
        list(document, "containers").len(),
        number::duration(std::time::Duration::from_secs_f64(figure(document, "seconds").max(0.0))),
        number::fixed(figure(document, "chargePerSecond"), 1),
        match findings.len() {
            0 => "nothing was found".to_owned(),
            1 => "one finding".to_owned(),
            count => format!("{count} findings"),
        }
    ));
    if !findings.is_empty() {
        out.push_str(&overview(findings).to_text());
        out.push('\n');
    }
    for (place, finding) in findings.iter().enumerate() {
        out.push_str(&one(place + 1, finding));
        out.push('\n');
    }
    for stage in list(document, "stages") {
        let Some(compared) = stage.get("comparison") else { continue };
        out.push_str(&format!("All of it, {}:\n", text(stage, "title")));
        for option in list(stage, "try") {
            out.push_str(&format!("  {}\n", option.as_str().unwrap_or_default()));
        }
        out.push_str(&comparison(compared).to_text());
        out.push_str(&format!("{}\n", saved(compared)));
    }
    out
}

/// Returns a table of findings.
pub(super) fn overview(findings: &[Value]) -> Table {
    let mut table = Table::new([
        Column::right("#"),
        Column::left("severity"),
        Column::left("finding"),
        Column::left("container"),
        Column::right("RU/s today"),
        Column::right("RU/s saved"),
    ]);
    for (place, finding) in findings.iter().enumerate() {
        let compared = finding.get("comparison");
        let before = compared.map(|compared| {
            let lines = list(compared, "operations").iter();
            lines.map(|line| figure(line, "perSecond") * figure(line, "before")).sum::<f64>()
        });
        let shown = |value: Option<f64>| value.map_or_else(String::new, |value| number::fixed(value, 1));
        table.row([
            Cell::from((place + 1).to_string()),
            Cell::from(text(finding, "severity")),
            Cell::from(text(finding, "rule")),
            Cell::from(text(finding, "container")),
            Cell::from(shown(before)),
            Cell::from(shown(compared.map(|compared| figure(compared, "savedPerSecond")))),
        ]);
    }
    table
}

/// Returns a table of operations and what they cost, today and then.
pub(super) fn comparison(compared: &Value) -> Table {
    let mut table = Table::new([
        Column::left("operation"),
        Column::right("a second"),
        Column::right("RU today"),
        Column::right("RU then"),
        Column::right("requests today"),
        Column::right("then"),
    ]);
    for line in list(compared, "operations") {
        table.row([
            Cell::from(shortened(text(line, "operation"), WIDTH - 30).as_str()),
            Cell::from(number::fixed(figure(line, "perSecond"), 2)),
            Cell::from(number::fixed(figure(line, "before"), 2)),
            Cell::from(number::fixed(figure(line, "after"), 2)),
            Cell::from(number::fixed(figure(line, "requestsBefore"), 1)),
            Cell::from(number::fixed(figure(line, "requestsAfter"), 1)),
        ]);
    }
    table
}

fn saved(compared: &Value) -> String {
    let saved = figure(compared, "savedPerSecond");
    let how = match compared.get("measured").and_then(Value::as_bool) {
        Some(true) => "measured on a copy of the sample",
        _ => "computed from what requests were charged",
    };
    match saved >= 0.0 {
        true => format!("{} RU/s less, {how}\n", number::fixed(saved, 1)),
        false => format!("{} RU/s more, {how}\n", number::fixed(-saved, 1)),
    }
}

fn one(place: usize, finding: &Value) -> String {
    let mut out = format!(
        "{place}. {} ({}{})\n",
        text(finding, "title"),
        text(finding, "severity"),
        match text(finding, "container") {
            "" => String::new(),
            container => format!(", {container}"),
        }
    );
    for line in list(finding, "evidence") {
        out.push_str(&wrapped("   - ", line.as_str().unwrap_or_default()));
    }
    out.push_str(&wrapped("   ", text(finding, "advice")));
    if !text(finding, "but").is_empty() {
        out.push_str(&wrapped("   But: ", text(finding, "but")));
    }
    for option in list(finding, "try") {
        out.push_str(&format!("   armilla advise {}\n", option.as_str().unwrap_or_default()));
    }
    if let Some(compared) = finding.get("comparison") {
        for line in comparison(compared).to_text().lines() {
            out.push_str(&format!("   {line}\n"));
        }
        out.push_str(&format!("   {}", saved(compared)));
    }
    out.push_str(&format!("   {}\n", text(finding, "page")));
    out
}

/// Breaks a text into lines; those after the first are set in as far as the first.
fn wrapped(lead: &str, text: &str) -> String {
    let mut out = String::from(lead);
    let mut column = lead.chars().count();
    let indent = " ".repeat(column);
    let mut is_first = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !is_first && column + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(&indent);
            column = indent.len();
        } else if !is_first {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
        is_first = false;
    }
    out.push('\n');
    out
}

fn shortened(text: &str, characters: usize) -> String {
    match text.chars().count() > characters {
        true => text.chars().take(characters - 1).chain(['\u{2026}']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn findings_are_told_with_their_evidence_and_what_they_come_to() {
        let document = json::parse(
            br#"{"seconds":60,"chargePerSecond":12.5,"containers":[{}],"findings":[{"rule":"fan-out-query",
            "severity":"severe","container":"blog/posts","title":"A query asks all 4 physical partitions",
            "evidence":["it does not name /postId"],"advice":"Copy it.","try":["--try-copy posts:/userId"],
            "page":"docs/modelling/queries.md#fan-out-query","comparison":{"measured":true,"savedPerSecond":30.5,
            "operations":[{"operation":"query","perSecond":2,"before":20,"after":4.875,"requestsBefore":1,
            "requestsAfter":1}]}}],"stages":[]}"#,
        )
        .unwrap();
        let text = shown(&document);
        for part in [
            "one finding",
            "fan-out-query",
            "1. A query asks all 4 physical partitions (severe, blog/posts)",
            "   - it does not name /postId",
            "armilla advise --try-copy posts:/userId",
            "30.5 RU/s less, measured on a copy of the sample",
            "docs/modelling/queries.md#fan-out-query",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn lines_are_broken_between_words() {
        let text = wrapped("   - ", &"word ".repeat(40));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with("     word")), "{text}");
    }
}
