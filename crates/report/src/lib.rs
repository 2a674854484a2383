//! Reports: a self-contained page of HTML with tables and plots, the same tables as text, and how far something is.
//!
//! A [`Page`] is one file without scripts and without anything fetched from elsewhere; it follows the reader's choice
//! of light or dark and prints. A [`Table`] is also aligned text for a terminal, or Markdown. A [`plot::Svg`] stands
//! in a page, or is a file of its own. A [`Progress`] is the line on standard error of a command that takes a while.
//!
//! Invariants:
//! * every text handed in is data: it is escaped here, and no text of any kind changes the markup around it;
//! * colour never stands alone: series differ in pattern or marker too, tones carry a sign, and each plot brings its
//!   figures as a table;
//! * the same input gives the same bytes.
//!
//! Not here: what is reported (`server`, `transfer`, `demo`, `workload`), files, clocks.

mod limits;
#[cfg(test)]
mod markup_tests;
pub mod number;
mod page;
pub mod plot;
mod progress;
mod table;
mod text;

pub use page::Page;
pub use progress::{PlainLines, Progress, Step};
pub use table::{Align, Cell, Column, Table, Tone};
