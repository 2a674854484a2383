//! Tables for people: columns as wide as what they hold, and times in the unit that suits them.

use std::fmt::Write as _;

/// Lays rows out in columns as wide as what they hold, the first to the left and all others to the right.
pub(crate) fn layout<const COLUMNS: usize>(
    headings: &[String; COLUMNS],
    rows: &[[String; COLUMNS]],
) -> String {
    let mut text = String::new();
    let all = || std::iter::once(headings).chain(rows);
    for row in all() {
        for (column, cell) in row.iter().enumerate() {
            let width = all().map(|row| row[column].chars().count()).max().unwrap_or(0);
            // Writing to a string cannot fail.
            let _ = match column {
                0 => write!(text, "{cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}

/// Returns a time in the unit that suits it.
pub(crate) fn time(us: f64) -> String {
    match us {
        us if us < 1_000.0 => format!("{us:.0} us"),
        us if us < 1_000_000.0 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_unit() {
        for (us, expected) in
            [(0.0, "0 us"), (999.4, "999 us"), (1_000.0, "1.00 ms"), (12_345.0, "12.35 ms"), (2e6, "2.00 s")]
        {
            assert_eq!(time(us), expected);
        }
    }

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let rows = [["a".to_owned(), "1".to_owned()], ["bbb".to_owned(), "1000".to_owned()]];
        let headings = ["x".to_owned(), "yy".to_owned()];
        assert_eq!(layout(&headings, &rows), "x      yy\na       1\nbbb  1000\n");
    }
}
