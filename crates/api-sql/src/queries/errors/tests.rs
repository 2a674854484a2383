//! The lists to the letter.

use armilla_engine::Span;

use super::*;

fn error(code: Option<&'static str>, message: &str, span: Option<Span>) -> QueryError {
    QueryError { code, message: message.to_owned(), span }
}

#[test]
fn error_lists_count_in_utf16() {
    let text = "SELECT '😀é' xyz abc";
    let errors = [
        error(Some("SC1001"), "Syntax error, incorrect syntax near 'abc'.", Some(Span::new(20, 23))),
        error(Some("2206"), "a \"quoted\"\n name", Some(Span::new(8, 14))),
        error(None, "nowhere", None),
    ];
    assert_eq!(
        error_list(text, &errors),
        concat!(
            r#"{"errors":[{"severity":"Error","location":{"start":17,"end":20},"code":"SC1001","#,
            r#""message":"Syntax error, incorrect syntax near 'abc'."},"#,
            r#"{"severity":"Error","location":{"start":8,"end":11},"code":2206,"message":"a \"quoted\"\n name"},"#,
            r#"{"severity":"Error","message":"nowhere"}]}"#
        )
    );
    assert_eq!(error_list("", &[]), r#"{"errors":[]}"#);
}

#[test]
fn offsets_inside_of_a_character_or_past_the_end_do_not_panic() {
    let text = "SELECT '😀é' xyz abc";
    assert_eq!((utf16_offset(text, 9), utf16_offset(text, 1_000)), (8, 20));
}

#[test]
fn refusals_are_plain_texts() {
    assert_eq!(refusal_list("not \"so\""), r#"{"Errors":["not \"so\""]}"#);
}
