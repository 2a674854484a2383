//! The code, the place and the wording of what is refused.

use crate::{QueryError, UNEXPECTED_END, UNEXPECTED_TOKEN, parse, parse_expression};

/// Each text marks the offending token with `«` and `»`, which are taken out; without a mark it ends too
/// early.
fn check<T: std::fmt::Debug>(marked: &str, parse: impl Fn(&str) -> Result<T, crate::SyntaxError>) {
    let text = marked.replace(['«', '»'], "");
    let error = parse(&text).expect_err(&text);
    match marked.find('«') {
        Some(start) => {
            let end = marked.find('»').expect("marks come in pairs") - '«'.len_utf8();
            assert_eq!(
                (error.code, error.span.start, error.span.end),
                (UNEXPECTED_TOKEN, start, end),
                "{text}"
            );
            let token = &text[start..end];
            assert_eq!(error.message, format!("Syntax error, incorrect syntax near '{token}'."), "{text}");
        }
        None => {
            let end = text.len();
            assert_eq!((error.code, error.span.start, error.span.end), (UNEXPECTED_END, end, end), "{text}");
            assert_eq!(error.message, "Syntax error, unexpected end-of-file.");
        }
    }
}

#[test]
fn unexpected_tokens_in_queries() {
    for marked in [
        "«xyz»",
        "«FROM» c",
        "SELECT «FROM» c",
        "SELECT * «xyz»",
        "SELECT * FROM c «;»",
        "SELECT * FROM c x «y»",
        "SELECT «/»* comment */ 1",
        "SELECT 1 /«*» comment */",
        "SELECT a, «FROM» c",
        "SELECT a,«,» b",
        "SELECT *«,» a",
        "SELECT VALUE a«,» b",
        "SELECT VALUE a «AS» b",
        "SELECT a AS «1»",
        "SELECT a AS «order»",
        "SELECT a «value»",
        "SELECT DISTINCT «DISTINCT» a",
        "SELECT TOP «-»1 *",
        "SELECT TOP «'1'» *",
        "SELECT TOP «*»",
        "SELECT * FROM «1»",
        "SELECT * FROM c «,» d",
        "SELECT * FROM c«.1»",
        "SELECT * FROM c.«order»",
        "SELECT * FROM c[«x»]",
        "SELECT * FROM c[«1.5»]",
        "SELECT * FROM c[«-»1]",
        "SELECT * FROM c[«99999999999999999999»]",
        "SELECT * FROM c[«@i»]",
        "SELECT * FROM c[0«,» 1]",
        "SELECT * FROM «@c»",
        "SELECT * FROM c AS «'x'»",
        "SELECT * FROM c AS «value»",
        "SELECT * FROM (SELECT 1, «)»",
        "SELECT * FROM («c»)",
        "SELECT * FROM kv IN OBJECTTOARRAY«(»c.o)",
        "SELECT * FROM c JOIN kv IN OBJECTTOARRAY«(»c.o)",
        "SELECT * FROM c JOIN f«(»c)",
        "SELECT * FROM c «INNER» JOIN d",
        "SELECT * FROM c JOIN d IN c.d «ON» x",
        "SELECT * FROM c WHERE «ORDER» BY c.x",
        "SELECT * FROM c WHERE a «WHERE» b",
        "SELECT * FROM c ORDER BY c.x «WHERE» a",
        "SELECT * FROM c GROUP «c».x",
        "SELECT * FROM c GROUP BY a «HAVING» b",
        "SELECT * FROM c ORDER BY «DESC»",
        "SELECT * FROM c ORDER BY c.x DESC «ASC»",
        "SELECT * FROM c ORDER BY RANK «c».x",
        "SELECT * FROM c ORDER BY RANK f(x)«,» c.y",
        "SELECT * FROM c ORDER BY RANK f(x)«.»y",
        "SELECT * FROM c «LIMIT» 1",
        "SELECT * FROM c «LIMIT» 1 OFFSET 1",
        "SELECT * FROM c OFFSET «-»1 LIMIT 1",
        "SELECT * FROM c OFFSET «1.5» LIMIT 1",
        "SELECT * FROM c OFFSET 1 LIMIT «1e3»",
        "SELECT * FROM c OFFSET «c» LIMIT 1",
        "SELECT * FROM c OFFSET 1 LIMIT 1 «ORDER» BY c.x",
        "SELECT * FROM c WHERE c.x =«=» 1",
    ] {
        check(marked, parse);
    }
}

#[test]
fn unexpected_tokens_in_expressions() {
    for marked in [
        "a «!» b",
        "a &«&» b",
        "a =«=» b",
        "a «;»",
        "«#»",
        "a «$»",
        "a.«é»",
        "«😀»",
        "«@»",
        "«@»1",
        "«'open»",
        "«\"open'»",
        "«'ends in a backslash\\'»",
        "«'bad \\x escape'»",
        "«'bad \\u12g4 escape'»",
        "«'half \\ud83d pair'»",
        "«'half \\ude00\\ud83d pair'»",
        "«'half \\ud83d\\u0041 pair'»",
        "'doubled' «'quote'»",
        "«`»a`",
        "a.«order»",
        "a.«'b'»",
        "a.«@b»",
        "a«.1»",
        "a[«]»",
        "a[1«,» 2]",
        "«value»",
        "«case»",
        "«cast»(a)",
        "«left»",
        "udf «(»a)",
        "udf.f «.»g(a)",
        "udf.«order»(a)",
        "exists «a»",
        "exists(«1»)",
        "array(«1»)",
        "«,»",
        "(«)»",
        "(a«,» b)",
        "a IN «b»",
        "a IN («)»",
        "a IN (1,«)»",
        "a IN (1) «IN» (2)",
        "a IN (1) «=» b",
        "a IN (1) «NOT» IN (2)",
        "a LIKE b «LIKE» c",
        "a LIKE 'x' ESCAPE «''»",
        "a LIKE 'x' ESCAPE «'ab'»",
        "a LIKE 'x' ESCAPE «@e»",
        "a BETWEEN 1 «OR» 2",
        "a BETWEEN 1 AND 2 «BETWEEN» 3 AND 4",
        "a NOT «=» b",
        "a «b»",
        "a ? b «,» c",
        "a ?? «?» b",
        "f(«,»)",
        "f(a,«)»",
        "[1,«]»",
        "[«,»]",
        "{a «}»",
        "{a: 1,«}»",
        "{«1»: 1}",
        "{«order»: 1}",
        "{a: 1 «b»: 2}",
        "(LET x «+» 1 IN x)",
        "(LET x = 1 «AND» 2 IN x)",
        "(LET x = 1 IN x «OR» y)",
        "(LET x = 1«)»",
        "any(«SELECT» 1)",
        "«*» a",
        "a * «*» b",
    ] {
        check(marked, parse_expression);
    }
}

#[test]
fn texts_that_end_too_early() {
    for text in [
        "",
        "  \n",
        "-- only a comment",
        "SELECT",
        "SELECT DISTINCT",
        "SELECT TOP",
        "SELECT TOP 1",
        "SELECT VALUE",
        "SELECT a,",
        "SELECT a AS",
        "SELECT * FROM",
        "SELECT * FROM c.",
        "SELECT * FROM c[",
        "SELECT * FROM c[0",
        "SELECT * FROM x IN",
        "SELECT * FROM (",
        "SELECT * FROM (SELECT 1",
        "SELECT * FROM c AS",
        "SELECT * FROM c JOIN",
        "SELECT * FROM c WHERE",
        "SELECT * FROM c WHERE a AND",
        "SELECT * FROM c WHERE a IN",
        "SELECT * FROM c WHERE a IN (1",
        "SELECT * FROM c WHERE a NOT",
        "SELECT * FROM c WHERE a LIKE 'x' ESCAPE",
        "SELECT * FROM c WHERE a BETWEEN 1 AND",
        "SELECT * FROM c GROUP",
        "SELECT * FROM c GROUP BY",
        "SELECT * FROM c ORDER",
        "SELECT * FROM c ORDER BY",
        "SELECT * FROM c ORDER BY RANK f(",
        "SELECT * FROM c OFFSET",
        "SELECT * FROM c OFFSET 1",
        "SELECT * FROM c OFFSET 1 LIMIT",
    ] {
        check(text, parse);
    }
    for text in [
        "", "(", "(a", "a.", "a[", "a[0", "f(", "f(a,", "[", "{", "{a", "{a:", "a ?", "a ? b", "a ? b :",
        "a ??", "NOT",
    ] {
        check(text, parse_expression);
    }
}

#[test]
fn messages_show_a_bounded_part_of_the_token() {
    let name = "é".repeat(200);
    let error = parse(&format!("SELECT * FROM c x '{name}'")).unwrap_err();
    assert_eq!(error.message, format!("Syntax error, incorrect syntax near ''{}'.", "é".repeat(127)));
    assert_eq!(error.span.end - error.span.start, 402);
}

#[test]
fn errors_say_what_and_where() {
    let text = "SELECT '😀é' xyz abc";
    let error = parse(text).unwrap_err();
    assert_eq!(error.to_string(), "SC1001: Syntax error, incorrect syntax near 'abc'.");
    let error = QueryError::from(error);
    assert_eq!(error.to_string(), "SC1001: Syntax error, incorrect syntax near 'abc'.");
    assert_eq!(error.span.map(|span| (span.start, span.end)), Some((20, 23)));
    assert_eq!(QueryError::plain("nowhere").to_string(), "nowhere");
}
