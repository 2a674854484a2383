//! Every kind of plot: one in full, any values, each bound.

use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::limits::{GROUPS_MAX, LINE_POINTS_MAX, PANELS_MAX, SERIES_MAX, WHISKERS_MAX};
use crate::markup_tests::elements;

fn sample_bars() -> Bars {
    Bars {
        title: "Request units".into(),
        description: "V2 is cheaper to read".into(),
        axis: Axis::log("RU"),
        groups: vec!["C1".into(), "Q3 & more".into()],
        series: vec![
            Series::new("V1", [Some(5.71), Some(2063.5)]),
            Series::new("V2", [Some(f64::NAN), None]),
        ],
        references: vec![Series::new("published", [Some(5.71), Some(2063.54)]), Series::new("published", [])],
    }
}

fn count(svg: &Svg, what: &str) -> usize {
    svg.standalone().matches(what).count()
}

#[test]
fn a_long_name_is_broken_and_stays_within_the_drawing() {
    let name = "blog-v1/posts: SELECT * FROM c WHERE (c.postId = @1) AND (c.type = @2)";
    let mut plot = sample_bars();
    plot.groups[0] = name.to_owned();
    let names = |plot: &Bars| -> Vec<String> {
        let svg = bars(plot).standalone();
        let texts = svg.split("class=\"name end\"").skip(1);
        texts.map(|text| text.split(['>', '<']).nth(1).unwrap().to_owned()).collect()
    };
    let lines = names(&plot);
    assert_eq!(lines.len(), plot.groups.len() + 1, "{lines:?}");
    assert_eq!(format!("{} {}", lines[0], lines[1]), name);
    assert!(lines.iter().all(|line| line.chars().count() <= 40), "{lines:?}");
    // Where the bars of a group leave room for one line it is cut, and says so.
    plot.series.truncate(1);
    plot.references.truncate(1);
    let lines = names(&plot);
    assert!(lines[0].starts_with("blog-v1/posts") && lines[0].ends_with('\u{2026}'), "{lines:?}");
    // One without a place to break it.
    plot = sample_bars();
    plot.groups[0] = "x".repeat(300);
    assert!(names(&plot).iter().all(|line| line.chars().count() <= 40));
}

#[test]
fn bars_in_full() {
    let svg = bars(&sample_bars());
    elements(&svg.standalone());
    expect![[r#"
        <svg class="armilla" viewBox="0 0 760 192" role="img" aria-labelledby="plot-1-title plot-1-description">
        <title id="plot-1-title">Request units</title>
        <desc id="plot-1-description">V2 is cheaper to read</desc>
        <defs>
        <pattern id="plot-1-pattern-2" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="tint c2" width="6" height="6"/><path class="strokes c2" d="M0 3H6"/></pattern>
        </defs>
        <text class="title" x="0" y="16">Request units</text>
        <rect class="bar c1" x="0" y="32" width="20" height="12"/>
        <text class="name" x="28" y="42">V1</text>
        <rect class="bar c2" x="63.4" y="32" width="20" height="12" fill="url(#plot-1-pattern-2)"/>
        <text class="name" x="91.4" y="42">V2</text>
        <line class="mark-halo" x1="136.8" y1="30" x2="136.8" y2="46"/>
        <line class="mark" x1="136.8" y1="30" x2="136.8" y2="46"/>
        <text class="name" x="154.8" y="42">published</text>
        <line class="grid" x1="202.6" y1="62" x2="202.6" y2="146"/>
        <text class="tick middle" x="202.6" y="162">10</text>
        <line class="grid" x1="386.2" y1="62" x2="386.2" y2="146"/>
        <text class="tick middle" x="386.2" y="162">100</text>
        <line class="grid" x1="569.7" y1="62" x2="569.7" y2="146"/>
        <text class="tick middle" x="569.7" y="162">1,000</text>
        <line class="base" x1="74.3" y1="62" x2="74.3" y2="146"/>
        <text class="name end" x="62.3" y="87">C1</text>
        <rect class="bar c1" x="74.3" y="68.5" width="83.6" height="13"/>
        <line class="mark-halo" x1="157.9" y1="67" x2="157.9" y2="83"/>
        <line class="mark" x1="157.9" y1="67" x2="157.9" y2="83"/>
        <text class="value" x="163.9" y="79">5.71</text>
        <text class="value" x="80.3" y="95">n/a</text>
        <text class="name end" x="62.3" y="129">Q3 &amp; more</text>
        <rect class="bar c1" x="74.3" y="110.5" width="553.1" height="13"/>
        <line class="mark-halo" x1="627.5" y1="109" x2="627.5" y2="125"/>
        <line class="mark" x1="627.5" y1="109" x2="627.5" y2="125"/>
        <text class="value" x="633.5" y="121">2,064</text>
        <text class="label middle" x="386.2" y="182">RU</text>
        </svg>
    "#]].assert_eq(&svg.inline("plot-1-"));
    expect![[r#"
        Request units: RU

                      V1  published   V2  published
        ---------  -----  ---------  ---  ---------
        C1          5.71       5.71  n/a
        Q3 & more  2,064      2,064
    "#]]
    .assert_eq(&svg.data().to_text());
    assert_eq!(svg.title(), "Request units");
}

#[test]
fn lines_in_full() {
    let svg = lines(&Lines {
        title: "Latency".into(),
        description: "flat".into(),
        x: Axis::log("users"),
        y: Axis::linear("ms"),
        series: vec![Line::new("V1", [(1e3, 1.0), (1e4, 1.5)]), Line::new("V2", [(1e3, 1.0), (1e4, 1.4)])],
        label_points: true,
    });
    elements(&svg.standalone());
    expect![[r#"
        <svg class="armilla" viewBox="0 0 760 420" role="img" aria-labelledby="title description">
        <title id="title">Latency</title>
        <desc id="description">flat</desc>
        <text class="title" x="0" y="16">Latency</text>
        <line class="grid" x1="30.1" y1="372" x2="716" y2="372"/>
        <text class="tick end" x="22.1" y="376">0</text>
        <line class="grid" x1="30.1" y1="265.3" x2="716" y2="265.3"/>
        <text class="tick end" x="22.1" y="269.3">0.5</text>
        <line class="grid" x1="30.1" y1="158.7" x2="716" y2="158.7"/>
        <text class="tick end" x="22.1" y="162.7">1</text>
        <line class="grid" x1="30.1" y1="52" x2="716" y2="52"/>
        <text class="tick end" x="22.1" y="56">1.5</text>
        <line class="grid" x1="55.5" y1="52" x2="55.5" y2="372"/>
        <text class="tick middle" x="55.5" y="389">1,000</text>
        <line class="grid" x1="690.6" y1="52" x2="690.6" y2="372"/>
        <text class="tick middle" x="690.6" y="389">10,000</text>
        <line class="base" x1="30.1" y1="372" x2="716" y2="372"/>
        <polyline class="curve c1" points="55.5,158.7 690.6,52"/>
        <path class="marker c1" transform="translate(55.5 158.7)" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z"/>
        <path class="marker c1" transform="translate(690.6 52)" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z"/>
        <polyline class="curve c2" points="55.5,158.7 690.6,73.3"/>
        <path class="marker c2" transform="translate(55.5 158.7)" d="M-3.6-3.6H3.6V3.6H-3.6Z"/>
        <path class="marker c2" transform="translate(690.6 73.3)" d="M-3.6-3.6H3.6V3.6H-3.6Z"/>
        <text class="value middle halo" x="55.5" y="149.7">1</text>
        <text class="value middle halo" x="690.6" y="43">1.50</text>
        <text class="value middle halo" x="55.5" y="176.7">1</text>
        <text class="value middle halo" x="690.6" y="64.3">1.40</text>
        <line class="leader c1" x1="697.6" y1="52" x2="730" y2="52"/>
        <text class="name series c1" x="734" y="56">V1</text>
        <line class="leader c2" x1="697.6" y1="73.3" x2="730" y2="73.3"/>
        <text class="name series c2" x="734" y="77.3">V2</text>
        <text class="label" x="0" y="40">ms</text>
        <text class="label middle" x="373.1" y="410">users</text>
        </svg>
    "#]]
    .assert_eq(&svg.inline(""));
    expect![[r#"
        Latency: ms

         users    V1    V2
        ------  ----  ----
         1,000     1     1
        10,000  1.50  1.40
    "#]]
    .assert_eq(&svg.data().to_text());
}

#[test]
fn panels_in_full() {
    let line = |name: &str, factor: f64| Line::new(name, [(1e3, factor), (1e4, factor * 1.1)]);
    let svg = panels(&Panels {
        title: "Scaling".into(),
        description: "flat".into(),
        x: Axis::log("users"),
        y: Axis::log("ms"),
        panels: vec![
            Panel { title: "C1".into(), series: vec![line("V1", 1.0), line("V2", 2.0)] },
            Panel { title: "C2".into(), series: vec![line("V2", 3.0)] },
        ],
    });
    elements(&svg.standalone());
    expect![[r#"
        Scaling: ms

        users   1,000  10,000
        ------  -----  ------
        C1, V1      1    1.10
        C1, V2      2    2.20
        C2, V2      3    3.30
    "#]]
    .assert_eq(&svg.data().to_text());
    // V2 keeps its look where it is alone: two markers in each panel, one in the legend.
    assert_eq!(count(&svg, "class=\"marker c2\""), 5);
    assert_eq!(count(&svg, "class=\"marker c1\""), 3);
}

#[test]
fn whiskers_in_full() {
    let svg = whiskers(&Whiskers {
        title: "Latency".into(),
        description: "short tails".into(),
        axis: Axis::log("ms"),
        rows: vec![
            Whisker::new("point read", [(50.0, 0.2), (90.0, 0.3), (99.0, 0.9), (99.9, 4.0), (100.0, 9.0)]),
            Whisker::new("nothing", []),
            Whisker::new("median alone", [(50.0, 1.0)]),
        ],
    });
    elements(&svg.standalone());
    expect![[r#"
        <svg class="armilla" viewBox="0 0 760 191" role="img" aria-labelledby="title description">
        <title id="title">Latency</title>
        <desc id="description">short tails</desc>
        <text class="title" x="0" y="16">Latency</text>
        <circle class="median c1" cx="8" cy="38" r="5"/>
        <text class="name" x="19" y="42">p50</text>
        <rect class="band c1" x="47.1" y="33.5" width="26" height="9"/>
        <text class="name" x="81.1" y="42">p90</text>
        <rect class="band c1" x="109.2" y="35.5" width="26" height="5"/>
        <text class="name" x="143.2" y="42">p99</text>
        <rect class="band c1" x="171.3" y="36.8" width="26" height="2.5"/>
        <text class="name" x="205.3" y="42">p99.9</text>
        <rect class="band c1" x="246.8" y="37.4" width="26" height="1.2"/>
        <line class="cap c1" x1="272.8" y1="33" x2="272.8" y2="43"/>
        <text class="name" x="280.8" y="42">max</text>
        <line class="grid" x1="138.4" y1="60" x2="138.4" y2="145"/>
        <text class="tick middle" x="138.4" y="161">0.1</text>
        <line class="grid" x1="223.2" y1="60" x2="223.2" y2="145"/>
        <text class="tick middle" x="223.2" y="161">0.2</text>
        <line class="grid" x1="335.4" y1="60" x2="335.4" y2="145"/>
        <text class="tick middle" x="335.4" y="161">0.5</text>
        <line class="grid" x1="420.2" y1="60" x2="420.2" y2="145"/>
        <text class="tick middle" x="420.2" y="161">1</text>
        <line class="grid" x1="505" y1="60" x2="505" y2="145"/>
        <text class="tick middle" x="505" y="161">2</text>
        <line class="grid" x1="617.2" y1="60" x2="617.2" y2="145"/>
        <text class="tick middle" x="617.2" y="161">5</text>
        <line class="grid" x1="702" y1="60" x2="702" y2="145"/>
        <text class="tick middle" x="702" y="161">10</text>
        <text class="name end" x="82.4" y="79.5">point read</text>
        <rect class="band c1" x="223.2" y="71" width="49.6" height="9"/>
        <rect class="band c1" x="272.9" y="73" width="134.5" height="5"/>
        <rect class="band c1" x="407.3" y="74.3" width="182.6" height="2.5"/>
        <rect class="band c1" x="589.9" y="74.9" width="99.2" height="1.2"/>
        <line class="cap c1" x1="689.1" y1="70.5" x2="689.1" y2="80.5"/>
        <text class="value" x="696.1" y="79.5">9</text>
        <circle class="median c1" cx="223.2" cy="75.5" r="5"/>
        <text class="value end" x="214.2" y="79.5">0.20</text>
        <text class="name end" x="82.4" y="106.5">nothing</text>
        <text class="value" x="138.4" y="106.5">n/a</text>
        <text class="name end" x="82.4" y="133.5">median alone</text>
        <circle class="median c1" cx="420.2" cy="129.5" r="5"/>
        <text class="value end" x="411.2" y="133.5">1</text>
        <text class="label middle" x="420.2" y="181">ms</text>
        </svg>
    "#]]
    .assert_eq(&svg.inline(""));
    expect![[r#"
        Latency: ms

                       p50   p90   p99  p99.9  max
        ------------  ----  ----  ----  -----  ---
        point read    0.20  0.30  0.90      4    9
        nothing
        median alone     1
    "#]]
    .assert_eq(&svg.data().to_text());
}

#[test]
fn bounds_leave_out_and_say_so() {
    for beyond in [0, 1] {
        let said = usize::from(beyond > 0);
        let svg = bars(&Bars {
            groups: (0..GROUPS_MAX + beyond).map(|number| number.to_string()).collect(),
            series: vec![Series::new("a", vec![Some(1.0); GROUPS_MAX + beyond])],
            ..Bars::default()
        });
        assert_eq!((count(&svg, "<rect class=\"bar"), count(&svg, "1 more groups")), (GROUPS_MAX, said));
        assert_eq!(svg.data().row_count(), GROUPS_MAX + beyond);

        let series = (0..SERIES_MAX + beyond).map(|number| Series::new(format!("s{number}"), [Some(1.0)]));
        let svg = bars(&Bars { groups: vec!["g".into()], series: series.collect(), ..Bars::default() });
        // One in the legend, one in the group.
        assert_eq!((count(&svg, "<rect class=\"bar"), count(&svg, "1 more series")), (2 * SERIES_MAX, said));

        let series =
            (0..SERIES_MAX + beyond).map(|number| Line::new(format!("s{number}"), [(1.0, 1.0), (2.0, 2.0)]));
        let svg = lines(&Lines { series: series.clone().collect(), ..Lines::default() });
        assert_eq!((count(&svg, "<polyline"), count(&svg, "1 more lines")), (SERIES_MAX, said));

        let panel = Panel { title: "p".into(), series: vec![Line::new("a", [(1.0, 1.0), (2.0, 2.0)])] };
        let svg = panels(&Panels { panels: vec![panel; PANELS_MAX + beyond], ..Panels::default() });
        assert_eq!((count(&svg, "<polyline"), count(&svg, "1 more plots")), (PANELS_MAX + 1, said));

        let rows = vec![Whisker::new("a", [(50.0, 1.0)]); WHISKERS_MAX + beyond];
        let svg = whiskers(&Whiskers { rows, ..Whiskers::default() });
        assert_eq!((count(&svg, "<circle"), count(&svg, "1 more rows")), (WHISKERS_MAX + 1, said));

        let points = (0..LINE_POINTS_MAX + beyond).map(|x| (x as f64, 1.0));
        let svg = lines(&Lines { series: vec![Line::new("a", points)], ..Lines::default() });
        let drawn = svg.standalone();
        let (_, line) = drawn.split_once("points=\"").unwrap();
        assert_eq!(line.split_once('"').unwrap().0.split(' ').count(), LINE_POINTS_MAX);
    }
}

#[test]
fn thinning_keeps_both_ends() {
    let points: Vec<(f64, f64)> = (0..12_345).map(|x| (f64::from(x), 0.0)).collect();
    let thinned = lines::thinned(&points);
    assert_eq!(
        (thinned.len(), thinned[0].0, thinned[LINE_POINTS_MAX - 1].0),
        (LINE_POINTS_MAX, 0.0, 12_344.0)
    );
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), 0.0..100.0_f64, 1e-3..1e6_f64, Just(0.0)]
}

fn axis() -> impl Strategy<Value = Axis> {
    let scales = prop::sample::select(&[Scale::Linear, Scale::Log, Scale::Nines][..]);
    (any::<String>(), scales).prop_map(|(label, scale)| Axis { label, scale })
}

fn line() -> impl Strategy<Value = Line> {
    (any::<String>(), prop::collection::vec((value(), value()), 0..20))
        .prop_map(|(name, points)| Line { name, points })
}

proptest! {
    #[test]
    fn any_values_give_a_plot(
        texts in (any::<String>(), any::<String>()),
        axes in (axis(), axis()),
        groups in prop::collection::vec(any::<String>(), 0..4),
        values in prop::collection::vec(prop::collection::vec(prop::option::of(value()), 0..6), 0..5),
        drawn_lines in prop::collection::vec(line(), 0..5),
        label_points in any::<bool>(),
        references in 0..4_usize,
    ) {
        let (title, description) = texts;
        let (x, y) = axes;
        let series: Vec<Series> = values.into_iter().map(|values| Series::new(title.clone(), values)).collect();
        let references = series.iter().take(references).cloned().collect();
        let rows = drawn_lines.iter().map(|line| Whisker::new(line.name.clone(), line.points.clone())).collect();
        let panel = Panel { title: description.clone(), series: drawn_lines.clone() };
        let plots = [
            bars(&Bars { title: title.clone(), description: description.clone(), axis: x.clone(), groups, series, references }),
            whiskers(&Whiskers { title: title.clone(), description: description.clone(), axis: y.clone(), rows }),
            panels(&Panels {
                title: title.clone(),
                description: description.clone(),
                x: x.clone(),
                y: y.clone(),
                panels: vec![panel.clone(), panel],
            }),
            lines(&Lines { title, description, x, y, series: drawn_lines, label_points }),
        ];
        for svg in plots {
            let standalone = svg.standalone();
            elements(&standalone);
            elements(&svg.inline("plot-1-"));
            let (_, drawing) = standalone.split_once("</style>").unwrap();
            for part in drawing.split(" x=\"").skip(1) {
                let x: f64 = part.split_once('"').unwrap().0.parse().unwrap();
                prop_assert!((-20.0..=900.0).contains(&x), "{} lies outside", x);
            }
        }
    }
}
