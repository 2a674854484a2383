//! The names and the places that trees hand on, and a long list of statements read there and back.

use crate::ast::{ExprKind, Query, Selection, Source};
use crate::span::Span;
use crate::testing::{outline, statements};
use crate::{parse, parse_expression};

#[test]
fn names_are_lent_by_paths() {
    let names = |text: &str| match parse(text).unwrap().selection {
        Selection::List(items) => {
            items.iter().map(|item| item.name().unwrap_or("$").to_owned()).collect::<Vec<_>>().join(" ")
        }
        _ => unreachable!("the texts below have lists"),
    };
    assert_eq!(
        names("SELECT c.a.b, c['x y'], f, 1, c.arr[0], (c.a), (f), f() AS g, c.a AS z"),
        "b x y f $ $ $ $ g z"
    );

    let aliases = |text: &str| -> String {
        let sources = parse(text).unwrap().from.unwrap().sources;
        let alias = |source: &Source| source.alias().map_or("$".to_owned(), |name| name.text.clone());
        sources.iter().map(alias).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        aliases(
            "SELECT 1 FROM c JOIN c.a JOIN c.a[0] JOIN c['x'] JOIN (SELECT 1) JOIN (SELECT 1) s JOIN t IN c.t"
        ),
        "c a $ x $ s t"
    );
}

/// Shows the part of the text that a span covers.
fn covered(text: &str, span: Span) -> &str {
    &text[span.start..span.end]
}

#[test]
fn spans_cover_what_errors_point_to() {
    let text = "SELECT DISTINCT TOP 5 a + 1, (f(b)) x FROM c AS d JOIN t IN (SELECT 1) WHERE (p) = ( q ) \
                GROUP BY g, h ORDER BY o DESC OFFSET 1 LIMIT 2  ";
    let query: Query = parse(text).unwrap();
    assert_eq!(covered(text, query.span), text.trim_end());
    assert_eq!(covered(text, query.top.unwrap().span), "TOP 5");
    assert_eq!(covered(text, query.selection_span), "a + 1, (f(b)) x");
    let from = query.from.unwrap();
    assert_eq!(covered(text, from.span), "FROM c AS d JOIN t IN (SELECT 1)");
    assert_eq!(covered(text, from.sources[0].span), "c AS d");
    assert_eq!(covered(text, from.sources[0].alias().unwrap().span), "d");
    assert_eq!(covered(text, from.sources[1].span), "t IN (SELECT 1)");
    assert_eq!(covered(text, from.sources[1].collection().span), "(SELECT 1)");
    assert_eq!(covered(text, query.filter.unwrap().span), "(p) = ( q )");
    assert_eq!(covered(text, query.group_by.unwrap().span), "GROUP BY g, h");
    assert_eq!(covered(text, query.order_by.unwrap().span), "ORDER BY o DESC");
    assert_eq!(covered(text, query.offset_limit.unwrap().span), "OFFSET 1 LIMIT 2");
}

#[test]
fn spans_of_expressions_include_inner_parentheses_alone() {
    for (text, whole) in [
        ("( a )", "a"),
        ("( a ) + ( b )", "( a ) + ( b )"),
        ("(( a ) AND b) OR ( c )", "(( a ) AND b) OR ( c )"),
        ("( (a) AND b )", "(a) AND b"),
        ("(a).b [ 0 ]", "(a).b [ 0 ]"),
        ("- 5", "- 5"),
        ("NOT ( a )", "NOT ( a )"),
        ("(a) ?? (b) ?? (c)", "(a) ?? (b) ?? (c)"),
        ("(a) ? (b) : (c)", "(a) ? (b) : (c)"),
        ("(a) IN ( (b) )", "(a) IN ( (b) )"),
        ("(a) BETWEEN (b) AND (c)", "(a) BETWEEN (b) AND (c)"),
        ("(a) LIKE (b) ESCAPE '!'", "(a) LIKE (b) ESCAPE '!'"),
        ("( f ( (a) ) )", "f ( (a) )"),
        ("( [ (a) ] )", "[ (a) ]"),
        ("( (SELECT 1) )", "(SELECT 1)"),
        ("( EXISTS ( SELECT 1 ) )", "EXISTS ( SELECT 1 )"),
        ("( (LET x = 1 IN x) )", "(LET x = 1 IN x)"),
        ("( udf.f( ) )", "udf.f( )"),
    ] {
        assert_eq!(covered(text, parse_expression(text).unwrap().span), whole, "{text}");
    }
    let text = "1 + BAD ( 2 )";
    let ExprKind::Binary { right, .. } = parse_expression(text).unwrap().kind else { unreachable!() };
    let ExprKind::Call { name, .. } = right.kind else { unreachable!() };
    assert_eq!((covered(text, right.span), covered(text, name.span)), ("BAD ( 2 )", "BAD"));
}

#[test]
fn every_statement_is_read_printed_and_read_again() {
    let statements = statements();
    assert!(statements.len() > 140, "{}", statements.len());
    for statement in statements {
        let tree = parse(statement).unwrap_or_else(|error| panic!("{statement}\n{error}"));
        let printed = tree.to_string();
        let again = parse(&printed).unwrap_or_else(|error| panic!("{statement}\n{printed}\n{error}"));
        assert_eq!(again, tree, "{statement}\n{printed}");
        assert_eq!(again.to_string(), printed);
        assert_eq!(outline::query(&again), outline::query(&tree));
    }
}
