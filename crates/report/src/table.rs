//! Tables: told once, shown in a page, in a terminal and in Markdown.
//!
//! A row shorter than the heading is filled up with empty cells; a longer one widens the table: nothing is dropped.
//! The first cell of a row names the row.

mod html;
mod plain;

use crate::text::clean;

/// A table with named columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    caption: String,
    columns: Vec<Column>,
    lines: Vec<Line>,
}

/// A column: its title, and the side its cells keep to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    title: String,
    align: Align,
}

/// The side that a column's cells keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One cell: a text, what is to be thought of it, and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    text: String,
    tone: Tone,
    title: String,
}

/// What is to be thought of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// It keeps a promise.
    Good,
    /// It breaks one.
    Bad,
    /// It is less important than its neighbours.
    Muted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Section(String),
    Row(Vec<Cell>),
}

impl Table {
    /// Begins a table with these columns.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { caption: String::new(), columns: columns.into_iter().collect(), lines: Vec::new() }
    }

    /// Says in a line what the table shows.
    pub fn caption(&mut self, text: impl AsRef<str>) -> &mut Table {
        self.caption = clean(text.as_ref());
        self
    }

    /// Begins a part of the table with a heading of its own.
    pub fn section(&mut self, text: impl AsRef<str>) -> &mut Table {
        self.lines.push(Line::Section(clean(text.as_ref())));
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) -> &mut Table {
        let mut cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        while self.columns.len() < cells.len() {
            self.columns.push(Column::left(""));
        }
        cells.resize(self.columns.len(), Cell::from(""));
        self.lines.push(Line::Row(cells));
        self
    }

    /// Returns the number of rows, sections not counted.
    pub fn row_count(&self) -> usize {
        self.rows().count()
    }

    /// Returns the table as aligned text for a terminal; a broken promise is marked `!`.
    pub fn to_text(&self) -> String {
        plain::text(self)
    }

    /// Returns the table as Markdown; sections become rows in bold.
    pub fn to_markdown(&self) -> String {
        plain::markdown(self)
    }

    pub(crate) fn to_html(&self) -> String {
        html::html(self)
    }

    fn rows(&self) -> impl Iterator<Item = &Vec<Cell>> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(cells) => Some(cells),
            Line::Section(_) => None,
        })
    }
}

impl Column {
    /// A column of words.
    pub fn left(title: impl AsRef<str>) -> Column {
        Column { title: clean(title.as_ref()), align: Align::Left }
    }

    /// A column of numbers.
    pub fn right(title: impl AsRef<str>) -> Column {
        Column { title: clean(title.as_ref()), align: Align::Right }
    }

    /// A column that keeps to the side given.
    pub fn new(title: impl AsRef<str>, align: Align) -> Column {
        Column { title: clean(title.as_ref()), align }
    }
}

impl Cell {
    /// A cell with this text.
    pub fn new(text: impl AsRef<str>) -> Cell {
        Cell { text: clean(text.as_ref()), tone: Tone::Plain, title: String::new() }
    }

    /// Says what is to be thought of it.
    pub fn tone(mut self, tone: Tone) -> Cell {
        self.tone = tone;
        self
    }

    /// Gives a hint that a page shows to whoever points at the cell.
    pub fn title(mut self, text: impl AsRef<str>) -> Cell {
        self.title = clean(text.as_ref());
        self
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::new(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::new(text)
    }
}

#[cfg(test)]
mod tests;
