//! A table in a page: headings bound to rows and columns, wide ones scroll by themselves.

use super::{Align, Cell, Line, Table, Tone};
use crate::text::escape;

pub(super) fn html(table: &Table) -> String {
    let empty = Cell::new("");
    let mut markup = String::new();
    // A part that scrolls has to be reachable by keyboard, and then needs a name.
    let name = if table.caption.is_empty() { "table" } else { &table.caption };
    markup.push_str(&format!(
        "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"{}\">\n",
        escape(name)
    ));
    markup.push_str("<table>\n");
    if !table.caption.is_empty() {
        markup.push_str(&format!("<caption>{}</caption>\n", escape(&table.caption)));
    }
    markup.push_str("<thead>\n<tr>");
    for column in &table.columns {
        markup.push_str(&format!("<th scope=\"col\"{}>{}</th>", side(column.align), escape(&column.title)));
    }
    markup.push_str("</tr>\n</thead>\n<tbody>\n");
    for (place, line) in table.lines.iter().enumerate() {
        match line {
            Line::Section(text) => {
                if place > 0 {
                    markup.push_str("</tbody>\n<tbody>\n");
                }
                let width = table.columns.len().max(1);
                markup.push_str(&format!(
                    "<tr class=\"section\"><th scope=\"rowgroup\" colspan=\"{width}\">{}</th></tr>\n",
                    escape(text)
                ));
            }
            Line::Row(cells) => {
                markup.push_str("<tr>");
                for (number, column) in table.columns.iter().enumerate() {
                    // A row that was added before a longer one widened the table has fewer cells.
                    let cell = cells.get(number).unwrap_or(&empty);
                    push_cell(&mut markup, cell, column.align, number == 0);
                }
                markup.push_str("</tr>\n");
            }
        }
    }
    markup.push_str("</tbody>\n</table>\n</div>\n");
    markup
}

fn push_cell(markup: &mut String, cell: &Cell, align: Align, is_row_heading: bool) {
    let (open, close) = if is_row_heading { ("th scope=\"row\"", "th") } else { ("td", "td") };
    let mut classes = Vec::new();
    if align == Align::Right {
        classes.push("number");
    }
    let (class, sign) = match cell.tone {
        Tone::Plain => (None, ""),
        Tone::Muted => (Some("muted"), ""),
        Tone::Good => (Some("good"), "<span class=\"sign\" role=\"img\" aria-label=\"good\">✓</span>"),
        Tone::Bad => (Some("bad"), "<span class=\"sign\" role=\"img\" aria-label=\"bad\">✗</span>"),
    };
    classes.extend(class);
    markup.push_str(&format!("<{open}"));
    if !classes.is_empty() {
        markup.push_str(&format!(" class=\"{}\"", classes.join(" ")));
    }
    if !cell.title.is_empty() {
        markup.push_str(&format!(" title=\"{}\"", escape(&cell.title)));
    }
    markup.push_str(&format!(">{}{sign}</{close}>", escape(&cell.text)));
}

fn side(align: Align) -> &'static str {
    match align {
        Align::Left => "",
        Align::Right => " class=\"number\"",
    }
}
