//! A table without a page: aligned text, and Markdown.

use super::{Align, Cell, Line, Table, Tone};
use crate::limits::TEXT_COLUMN_CHARACTERS_MAX;

const GAP: &str = "  ";

pub(super) fn text(table: &Table) -> String {
    // Where a column has a broken promise, every cell of it leaves room for the sign, so that digits stay in line.
    let marked: Vec<bool> = (0..table.columns.len())
        .map(|number| table.rows().any(|cells| cells.get(number).is_some_and(|cell| cell.tone == Tone::Bad)))
        .collect();
    let widths: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(number, column)| {
            let cells =
                table.rows().filter_map(|cells| cells.get(number)).map(|cell| cell.text.chars().count());
            let widest = cells.max().unwrap_or(0) + if marked[number] { 2 } else { 0 };
            widest.max(column.title.chars().count()).min(TEXT_COLUMN_CHARACTERS_MAX)
        })
        .collect();
    let mut lines = Vec::new();
    if !table.caption.is_empty() {
        lines.push(table.caption.clone());
        lines.push(String::new());
    }
    let aligned = |texts: Vec<String>| {
        let padded = texts.iter().enumerate().map(|(number, text)| match table.columns[number].align {
            Align::Left => format!("{text:<0$}", widths[number]),
            Align::Right => format!("{text:>0$}", widths[number]),
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_string()
    };
    lines.push(aligned(table.columns.iter().map(|column| column.title.clone()).collect()));
    lines.push(widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>().join(GAP));
    for (place, line) in table.lines.iter().enumerate() {
        match line {
            Line::Section(text) => {
                if place > 0 {
                    lines.push(String::new());
                }
                lines.push(text.clone());
            }
            Line::Row(cells) => {
                let texts = cells.iter().enumerate().map(|(number, cell)| {
                    let sign = if cell.tone == Tone::Bad { " !" } else { "  " };
                    format!("{}{}", cell.text, if marked[number] { sign } else { "" })
                });
                lines.push(aligned(texts.collect()));
            }
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

pub(super) fn markdown(table: &Table) -> String {
    let mut text = String::new();
    if !table.caption.is_empty() {
        text.push_str(&format!("{}\n\n", escaped(&table.caption)));
    }
    let row = |cells: Vec<String>| {
        format!("|{}|\n", cells.iter().map(|cell| format!(" {cell} ")).collect::<Vec<_>>().join("|"))
    };
    text.push_str(&row(table.columns.iter().map(|column| escaped(&column.title)).collect()));
    let rules = table.columns.iter().map(|column| match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    });
    text.push_str(&format!("|{}|\n", rules.collect::<Vec<_>>().join("|")));
    for line in &table.lines {
        let mut cells = match line {
            Line::Section(text) => vec![bold(text)],
            Line::Row(cells) => cells.iter().map(cell_in_markdown).collect(),
        };
        cells.resize(table.columns.len().max(cells.len()), String::new());
        text.push_str(&row(cells));
    }
    text
}

fn cell_in_markdown(cell: &Cell) -> String {
    if cell.tone == Tone::Bad { bold(&cell.text) } else { escaped(&cell.text) }
}

fn bold(text: &str) -> String {
    let text = escaped(text.trim());
    if text.is_empty() { text } else { format!("**{text}**") }
}

/// Markdown knows HTML too, so its characters are escaped along with those that make cells and emphasis.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '|' | '\\' | '*' | '_' | '`' | '[' | ']' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
