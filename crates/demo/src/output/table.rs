//! The table, for terminals and for pages.

use armilla_report::{Cell, Column, Table, Tone, number};

use super::verdict::{COUNTED_BY_INDEX, GROWN, Judged, OTHER_PARTITIONS, TOO_FEW_POSTS};
use super::{Run, judge};
use crate::figures::{Operation, PUBLISHED_PARTITIONS};

/// Notes with the signs that stand for them.
const NOTES: [(&str, &str); 4] =
    [("a", COUNTED_BY_INDEX), ("b", GROWN), ("c", TOO_FEW_POSTS), ("d", OTHER_PARTITIONS)];

/// Returns the table of all operations and versions.
pub(super) fn table(run: &Run) -> Table {
    let judged = judge(run);
    let is_computed = run.measured.partitions != PUBLISHED_PARTITIONS;
    let mut columns = vec![
        Column::left(""),
        Column::right("p50 ms"),
        Column::right("p99 ms"),
        Column::right("published ms"),
        Column::right("faster"),
        Column::right("RU"),
    ];
    if is_computed {
        columns.push(Column::right("at 67"));
    }
    columns.extend([
        Column::right("published RU"),
        Column::right("difference"),
        Column::right("requests"),
        Column::left("note"),
    ]);
    let mut table = Table::new(columns);
    for operation in Operation::ALL {
        if judged.iter().all(|judged| judged.cell.operation != operation) {
            continue;
        }
        table.section(format!("{}: {}", operation.name(), operation.title()));
        for judged in judged.iter().filter(|judged| judged.cell.operation == operation) {
            table.row(row(judged, is_computed));
        }
    }
    table
}

fn row(judged: &Judged<'_>, is_computed: bool) -> Vec<Cell> {
    let cell = judged.cell;
    let verdict = |is_kept: Option<bool>| match is_kept {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Muted,
    };
    let sign = judged.note.and_then(|note| NOTES.iter().find(|(_, text)| *text == note));
    let mut row = vec![
        Cell::from(cell.version.name()),
        Cell::from(number::fixed(judged.p50_ms(), 3)),
        Cell::from(number::fixed(judged.p99_ms(), 3)),
        Cell::from(number::short(judged.published.latency_ms)).tone(Tone::Muted),
        Cell::from(format!("{} x", number::short(judged.speed_up())))
            .tone(verdict(Some(judged.is_latency_kept))),
        Cell::from(number::fixed(cell.charge, 2)),
    ];
    if is_computed {
        row.push(match cell.charge_at_published {
            Some(charge) => Cell::from(number::fixed(charge, 2)),
            None => Cell::from(number::fixed(cell.charge, 2)).tone(Tone::Muted),
        });
    }
    row.extend([
        Cell::from(number::fixed(judged.published.charge, 2)).tone(Tone::Muted),
        Cell::from(percent(judged.charge_difference())).tone(verdict(judged.is_charge_kept)),
        Cell::from(number::short(cell.requests)),
        match sign {
            Some((sign, text)) => Cell::from(*sign).title(*text),
            None => Cell::from(""),
        },
    ]);
    row
}

/// Writes a difference with one decimal; what is none has no sign.
fn percent(share: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * share);
    if matches!(text.as_str(), "+0.0 %" | "-0.0 %") { "0.0 %".to_owned() } else { text }
}

/// Returns the notes that a run's table needs.
pub(super) fn notes(run: &Run) -> Vec<String> {
    let judged = judge(run);
    let is_used = |text: &str| judged.iter().any(|judged| judged.note == Some(text));
    NOTES.iter().filter(|(_, text)| is_used(text)).map(|(sign, text)| format!("{sign}: {text}")).collect()
}

/// Returns the table as text, with its notes.
pub(crate) fn text(run: &Run) -> String {
    let mut text = table(run).to_text();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    for note in notes(run) {
        text.push_str(&note);
        text.push('\n');
    }
    text
}

/// Returns a few lines on how it went.
pub(crate) fn summary(run: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(loaded) = &run.loaded {
        let rate = loaded.items as f64 / loaded.took.as_secs_f64().max(0.001);
        lines.push(format!(
            "loaded {} items in {} ({} a second)",
            number::count(loaded.items),
            number::duration(loaded.took),
            number::count(rate as u64)
        ));
    }
    lines.push(format!(
        "copies made from {} changes in {}",
        number::count(run.caught_up.changes),
        number::duration(run.caught_up.took)
    ));
    if let Some(settled) = run.settled {
        let settled = number::duration(settled);
        lines.push(format!("then left alone for {settled}, until the store had put it all away"));
    }
    for fan_out in &run.measured.fan_outs {
        lines.push(format!(
            "{}: a user's posts over {} partitions cost {} RU put together by the server, {} one by one; the newest \
             {} and {}",
            fan_out.version.name(),
            fan_out.partitions,
            number::fixed(fan_out.posts_merged, 2),
            number::fixed(fan_out.posts_one_by_one, 2),
            number::fixed(fan_out.feed_merged, 2),
            number::fixed(fan_out.feed_one_by_one, 2),
        ));
    }
    if let Some(lived) = &run.lived {
        lines.push(lived.to_string());
    }
    if let Some(checked) = &run.checked {
        lines.extend(checked.lines());
    }
    let judged = judge(run);
    let missed: Vec<String> = judged
        .iter()
        .filter(|judged| judged.is_charge_kept == Some(false))
        .map(|judged| format!("{} {}", judged.cell.operation.name(), judged.cell.version.name()))
        .collect();
    lines.push(if missed.is_empty() {
        "request units: every bar is kept".to_owned()
    } else {
        format!("request units: bar missed by {}", missed.join(", "))
    });
    let slow: Vec<String> = judged
        .iter()
        .filter(|judged| !judged.is_latency_kept)
        .map(|judged| format!("{} {}", judged.cell.operation.name(), judged.cell.version.name()))
        .collect();
    lines.push(if slow.is_empty() {
        "latency: every median is below a tenth of the published figure".to_owned()
    } else {
        format!("latency: above a tenth of the published figure: {}", slow.join(", "))
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences() {
        for (share, expected) in
            [(0.0, "0.0 %"), (-0.0004, "0.0 %"), (0.0004, "0.0 %"), (0.168, "+16.8 %"), (-0.0006, "-0.1 %")]
        {
            assert_eq!(percent(share), expected);
        }
    }
}
