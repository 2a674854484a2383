//! One table in its three shapes, and tables of anything.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn sample() -> Table {
    let mut table = Table::new([Column::left("operation"), Column::right("p50"), Column::right("RU")]);
    table.caption("What <each> operation costs");
    table.section("C1: create or edit a user");
    table.row([Cell::from("V1"), Cell::from("0.41 ms"), Cell::from("5.71").tone(Tone::Good)]);
    table.row(["V2", "12.3 ms"]);
    table.section("Q1 | retrieve \"a user\"");
    table.row([
        Cell::from("V1"),
        Cell::from("n/a").tone(Tone::Muted).title("not <measured>"),
        Cell::from("1,234.00".to_string()).tone(Tone::Bad),
    ]);
    table
}

#[track_caller]
fn check(shown: &str, expect: Expect) {
    expect.assert_eq(shown);
}

#[test]
fn as_text() {
    check(
        &sample().to_text(),
        expect![[r#"
        What <each> operation costs

        operation      p50          RU
        ---------  -------  ----------
        C1: create or edit a user
        V1         0.41 ms      5.71
        V2         12.3 ms

        Q1 | retrieve "a user"
        V1             n/a  1,234.00 !
    "#]],
    );
}

#[test]
fn as_markdown() {
    check(
        &sample().to_markdown(),
        expect![[r#"
        What &lt;each> operation costs

        | operation | p50 | RU |
        |---|---:|---:|
        | **C1: create or edit a user** |  |  |
        | V1 | 0.41 ms | 5.71 |
        | V2 | 12.3 ms |  |
        | **Q1 \| retrieve "a user"** |  |  |
        | V1 | n/a | **1,234.00** |
    "#]],
    );
}

#[test]
fn as_html() {
    check(
        &sample().to_html(),
        expect![[r#"
            <div class="scroll" role="group" tabindex="0" aria-label="What &lt;each&gt; operation costs">
            <table>
            <caption>What &lt;each&gt; operation costs</caption>
            <thead>
            <tr><th scope="col">operation</th><th scope="col" class="number">p50</th><th scope="col" class="number">RU</th></tr>
            </thead>
            <tbody>
            <tr class="section"><th scope="rowgroup" colspan="3">C1: create or edit a user</th></tr>
            <tr><th scope="row">V1</th><td class="number">0.41 ms</td><td class="number good">5.71<span class="sign" role="img" aria-label="good">✓</span></td></tr>
            <tr><th scope="row">V2</th><td class="number">12.3 ms</td><td class="number"></td></tr>
            </tbody>
            <tbody>
            <tr class="section"><th scope="rowgroup" colspan="3">Q1 | retrieve &quot;a user&quot;</th></tr>
            <tr><th scope="row">V1</th><td class="number muted" title="not &lt;measured&gt;">n/a</td><td class="number bad">1,234.00<span class="sign" role="img" aria-label="bad">✗</span></td></tr>
            </tbody>
            </table>
            </div>
        "#]],
    );
}

#[test]
fn rows_of_any_length() {
    let mut table = Table::new([Column::left("a"), Column::right("b")]);
    table.row(["1"]).row(["1", "2", "3"]).row(Vec::<Cell>::new());
    assert_eq!(table.row_count(), 3);
    check(
        &table.to_text(),
        expect![[r#"
        a  b
        -  -  -
        1
        1  2  3

    "#]],
    );
    check(
        &table.to_markdown(),
        expect![[r#"
        | a | b |  |
        |---|---:|---|
        | 1 |  |  |
        | 1 | 2 | 3 |
        |  |  |  |
    "#]],
    );
    let empty = Table::new([]);
    assert_eq!(empty.to_text(), "\n\n");
    assert_eq!(empty.to_markdown(), "||\n||\n");
    assert!(empty.to_html().contains("<tbody>"));
}

#[test]
fn columns_are_bounded() {
    use crate::limits::TEXT_COLUMN_CHARACTERS_MAX as MAX;
    for (characters, width) in [(MAX, MAX), (MAX + 1, MAX)] {
        let mut table = Table::new([Column::left("a")]);
        table.row(["x".repeat(characters)]);
        let text = table.to_text();
        assert_eq!(text.lines().nth(1).unwrap().len(), width);
        assert_eq!(text.lines().nth(2).unwrap().len(), characters);
    }
}

proptest! {
    #[test]
    fn a_line_a_row(cells in prop::collection::vec(prop::collection::vec(any::<String>(), 0..5), 0..6)) {
        let mut table = Table::new([Column::left("a"), Column::right("b")]);
        for row in &cells {
            table.row(row.iter().map(String::as_str));
        }
        prop_assert_eq!(table.to_text().lines().count(), 2 + cells.len());
        let markdown = table.to_markdown();
        prop_assert_eq!(markdown.lines().count(), 2 + cells.len());
        let bars = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
        let width = bars(markdown.lines().next().unwrap());
        prop_assert!(markdown.lines().all(|line| bars(line) == width));
    }
}
