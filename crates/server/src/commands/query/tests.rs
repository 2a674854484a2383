//! Trees of explained queries.

use armilla_value::json;

use super::*;

const PAGE: &str = r#"{"plan":["Items","Project VALUE c"],
    "partitions":[{"access":["Scan"],"missingIndexes":[]},{"access":["Scan"],"missingIndexes":[{"paths":["/a/?"]}]},
                  {"access":["Scan"],"missingIndexes":[]}],
    "rows":2,"price":[{"what":"visit partitions","count":3,"charge":6.24},
                      {"what":"load items by a scan","count":2,"bytes":900,"charge":0.11}],"charge":6.35}"#;

#[test]
fn pages_are_added_up() {
    let page = json::parse(PAGE.as_bytes()).unwrap();
    let mut explained = Explained::default();
    explained.add(&page, Some(6.35)).unwrap();
    explained.add(&page, Some(6.35)).unwrap();
    assert_eq!(
        explained.tree(),
        "12.70 RU: 4 rows in 2 pages\n\
         \x20      12.48 RU  visit partitions      6\n\
         \x20       0.22 RU  load items by a scan  4, 1800 bytes\n\
         Rows\n  Items\n  Project VALUE c\n\
         Items of 4 partitions\n  Scan\n\
         Items of 2 partitions\n  Scan\n  (an index of /a/? would help)\n"
    );
    let text = explained.json();
    let value = json::parse(text.trim_end().as_bytes()).unwrap();
    assert_eq!(value.get("charge").and_then(Value::as_f64), Some(12.7), "{text}");
    assert_eq!(value.get("pages").and_then(Value::as_i64), Some(2), "{text}");
}

#[test]
fn shares_that_do_not_add_up_are_refused() {
    let page = json::parse(PAGE.as_bytes()).unwrap();
    let error = Explained::default().add(&page, Some(6.36)).unwrap_err();
    assert_eq!(error.to_string(), "the server charged 6.36 RU, and explains 6.35 RU");
}

#[test]
fn plans_have_no_price() {
    let page = json::parse(PAGE.as_bytes()).unwrap();
    let mut explained = Explained::default();
    explained.add(&page, None).unwrap();
    assert!(explained.tree().starts_with("Rows\n  Items\n"), "{}", explained.tree());
}
