//! A whole page, and pages of any text.

use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::markup_tests::elements;
use crate::plot::{self, Axis, Bars, Line, Lines, Series};
use crate::table::{Cell, Column, Tone};

/// Returns a page with everything in it, all of its text made of the text given.
fn page_of(text: &str) -> Page {
    let mut table = Table::new([Column::left(text), Column::right(text)]);
    table.caption(format!("{text}."));
    table
        .section(text)
        .row([Cell::new(text).tone(Tone::Good), Cell::new(text).tone(Tone::Bad).title(format!(".{text}"))]);
    let bars = plot::bars(&Bars {
        title: format!("{text}."),
        description: text.to_string(),
        axis: Axis::log(text),
        groups: vec![text.to_string()],
        series: vec![Series::new(text, [Some(1.0)]), Series::new(text, [Some(2.0)])],
        references: vec![],
    });
    let lines = plot::lines(&Lines {
        title: format!("{text}."),
        description: text.to_string(),
        x: Axis::linear(text),
        y: Axis::linear(text),
        series: vec![Line::new(text, [(1.0, 2.0), (2.0, 3.0)])],
        label_points: true,
    });
    let mut page = Page::new(text);
    page.lead(format!("{text}."))
        .heading(text)
        .subheading(text)
        .paragraph(text)
        .heading(text)
        .note(text)
        .code(text)
        .heading(text)
        .facts(&[(text, text)])
        .table(&table)
        .plot(format!("{text}."), &bars)
        .plot("", &lines)
        .footer(format!("{text}."));
    page
}

#[test]
fn a_page() {
    let mut page = Page::new("What a <model> costs");
    page.lead("Measured with `armilla demo blog`.").heading("Facts").facts(&[("users", "1,000")]);
    page.paragraph("A paragraph.")
        .note("A note.")
        .code("armilla demo blog\narmilla bench\n")
        .footer("The end.");
    let html = page.render();
    elements(&html);
    let (head, body) = html.split_once("</style>").unwrap();
    expect![[r#"
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>What a &lt;model&gt; costs</title>
    "#]]
    .assert_eq(head.split_once("<style>").unwrap().0);
    expect![[r#"

        </head>
        <body>
        <main>
        <header>
        <h1>What a &lt;model&gt; costs</h1>
        <p class="lead">Measured with <code>armilla demo blog</code>.</p>
        </header>
        <h2 id="part-1">Facts</h2>
        <dl class="facts">
        <div><dt>users</dt><dd>1,000</dd></div>
        </dl>
        <p>A paragraph.</p>
        <p class="note" role="note">A note.</p>
        <pre tabindex="0"><code>armilla demo blog
        armilla bench</code></pre>
        <footer>
        <p>The end.</p>
        </footer>
        </main>
        </body>
        </html>
    "#]]
    .assert_eq(body);
}

/// Returns the relative luminance of a colour as accessibility guidelines define it.
fn luminance(colour: &str) -> f64 {
    let channel = |place: usize| {
        let value = f64::from(u8::from_str_radix(&colour[place..place + 2], 16).unwrap()) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[test]
fn text_and_series_stand_out_from_the_ground() {
    let (light, dark) = COLOURS.split_once("@media").unwrap();
    for half in [light, dark] {
        let colours = half.lines().filter_map(|line| line.trim().trim_end_matches(';').split_once(": #"));
        let colours: Vec<(&str, f64)> =
            colours.map(|(name, digits)| (name, luminance(&format!("#{digits}")))).collect();
        let ground = colours.iter().find(|(name, _)| *name == "--ground").unwrap().1;
        for (name, luminance) in &colours {
            let contrast = (luminance.max(ground) + 0.05) / (luminance.min(ground) + 0.05);
            let contrast_min = match *name {
                "--ground" | "--raised" | "--rule" | "--grid" => 1.0,
                _ => 4.5,
            };
            assert!(contrast >= contrast_min, "{name} has a contrast of {contrast}");
        }
        assert_eq!(colours.len(), 15);
    }
}

#[test]
fn contents_from_three_headings_on() {
    for (count, has_contents) in [(CONTENTS_HEADINGS_MIN - 1, false), (CONTENTS_HEADINGS_MIN, true)] {
        let mut page = Page::new("title");
        for number in 0..count {
            page.heading(format!("part {number}"));
        }
        assert_eq!(page.render().contains("<nav"), has_contents, "{count}");
    }
}

#[test]
fn nothing_is_left_behind_where_nothing_was_given() {
    let empty: [(&str, &str); 0] = [];
    let html = Page::new("").facts(&empty).render();
    let expected = "!doctype html head meta meta meta meta title style body main header h1";
    assert_eq!(elements(&html).join(" "), expected);
}

proptest! {
    #[test]
    fn text_never_becomes_markup(text in "[^`]*|[<>&\"'/= a-z\u{0}\u{1}\u{b}\n-]{0,20}|</?(script|style|svg|title)>.*") {
        let page = page_of(&text.replace('`', "'"));
        // A long name beside bars has two lines.
        let known = |html: &str| {
            let mut all = elements(html);
            all.dedup_by(|one, other| one == "text" && one == other);
            all
        };
        prop_assert_eq!(known(&page.render()), known(&page_of("x").render()));
    }

    #[test]
    fn code_in_prose(text in "[`<a]{0,12}") {
        let html = Page::new("x").paragraph(&text).render();
        let pairs = text.matches('`').count() / 2;
        prop_assert_eq!(elements(&html).iter().filter(|name| *name == "code").count(), pairs);
    }
}
