use armilla_value::HashVersion;

use super::*;

fn shape(
    paths: &[&str],
    id_from: Option<&str>,
    mappings: &[(&str, &str)],
    columns: Option<&[&str]>,
) -> Shape {
    let path = |text: &str| PropertyPath::parse(text).unwrap();
    let rule = KeyRule { paths: paths.iter().map(|text| path(text)).collect(), version: HashVersion::V2 };
    let mappings =
        mappings.iter().map(|(to, from)| Mapping { path: path(to), column: (*from).to_owned() }).collect();
    let columns: Option<Vec<String>> = columns.map(|names| names.iter().map(ToString::to_string).collect());
    Shape::new(rule, id_from.map(str::to_owned), mappings, true, b',', columns.as_deref()).unwrap()
}

fn json_record(text: &str) -> Record {
    Record { line: 1, content: Content::Json(text.into()) }
}

fn text(item: &Item) -> &str {
    std::str::from_utf8(&item.text).unwrap()
}

#[test]
fn json_stays_as_it_is() {
    let shape = shape(&["/k", "/a/b"], None, &[], None);
    for (record, key) in [
        (r#"{"id":"1","k":"x","a":{"b":2.50}}"#, r#"["x",2.5]"#),
        (r#"{ "id" : "1" }"#, "[{},{}]"),
        (r#"{"id":"1","k":null,"a":[1]}"#, "[null,{}]"),
        (r#"{"id":"1","k":{"x":1},"a":{"b":true}}"#, "[{},true]"),
        (r#"{"id":"1","k":"\u00f8\n"}"#, r#"["\u00f8\n",{}]"#),
        (r#"{"id":"1","k":"ø"}"#, r#"["\u00f8",{}]"#),
    ] {
        let item = shape.item(1, json_record(record)).unwrap();
        assert_eq!((text(&item), item.key_json.as_str(), item.id.as_deref()), (record, key, Some("1")));
    }
    for (record, why) in [
        ("[1]", "not one JSON object: expected an object at byte 0"),
        ("{\"k\":tru}", "partition key"),
        ("{\"a\"}", "expected a colon at byte 4"),
        ("{}{}", "expected the end of the text at byte 2"),
    ] {
        let rejected = shape.item(1, json_record(record)).unwrap_err();
        assert!(rejected.why.contains(why), "{}", rejected.why);
        assert_eq!(rejected.text, record.as_bytes());
    }
    let record = Record { line: 1, content: Content::Json(b"{\"a\":\"\xFF\"}".to_vec()) };
    assert_eq!(shape.item(1, record).unwrap_err().why, "not UTF-8");
}

#[test]
fn identities() {
    let shape = shape(&["/k"], None, &[], None);
    let identity = |text: &str| shape.item(1, json_record(text)).unwrap().identity;
    let first = identity(r#"{"id":"1","k":"x"}"#);
    assert_eq!(identity(r#"{"k":"\u0078","id":"\u0031","n":2}"#), first);
    assert_ne!(identity(r#"{"id":"2","k":"x"}"#), first);
    assert_ne!(identity(r#"{"id":"1","k":"y"}"#), first);
}

#[test]
fn ids_are_made_where_there_are_none() {
    let shape = shape(&["/k"], None, &[], None);
    let of = |number, record| shape.item(number, json_record(record)).unwrap();
    let first = of(1, r#"{"k":1}"#);
    let id = first.id.clone().unwrap();
    assert_eq!(text(&first), format!(r#"{{"id":"{id}","k":1}}"#));
    assert_eq!(of(1, r#"{"k":1}"#), first, "the same record has the same id");
    assert_ne!(of(2, r#"{"k":1}"#).id, first.id);
    let empty = of(3, " { } ");
    assert_eq!(text(&empty), format!(" {{\"id\":\"{}\" }} ", empty.id.clone().unwrap()));
}

#[test]
fn members_become_id_and_key() {
    let shape = shape(&["/customer/id"], Some("n"), &[("/customer/id", "c")], None);
    let of = |record| shape.item(1, json_record(record));
    let item = of(r#"{"n":7,"c":"x","id":"old"}"#).unwrap();
    assert_eq!(text(&item), r#"{"n":7,"c":"x","id":"7","customer":{"id":"x"}}"#);
    assert_eq!((item.key_json.as_str(), item.id.as_deref()), (r#"["x"]"#, Some("7")));
    for (record, why) in [
        (r#"{"n":7}"#, "there is no c"),
        (r#"{"c":7}"#, "there is no n, which the id comes from"),
        (r#"{"c":7,"n":[1]}"#, "neither text nor a number"),
        (r#"{"c":7,"n":1,"customer":"x"}"#, "customer is no object"),
        ("7", "not a JSON object"),
        ("{", "not valid JSON"),
    ] {
        let rejected = of(record).unwrap_err();
        assert!(rejected.why.contains(why), "{record}: {}", rejected.why);
    }
}

#[test]
fn rows_become_objects() {
    let shape =
        shape(&["/city"], Some("number"), &[("/city", "town")], Some(&["number", "town", "n", "empty"]));
    let row = |fields: &[&str]| Record { line: 2, content: Content::Row(csv::ByteRecord::from(fields)) };
    let item = shape.item(1, row(&["007", "Oslo", "1.50", ""])).unwrap();
    assert_eq!(text(&item), r#"{"number":"007","town":"Oslo","n":1.5,"city":"Oslo","id":"007"}"#);
    assert_eq!(item.key_json, r#"["Oslo"]"#);
    let rejected = shape.item(1, row(&["1", "", "x,y", ""])).unwrap_err();
    assert_eq!((rejected.why.as_str(), &rejected.text[..]), ("there is no town", &b"1,,\"x,y\","[..]));
    let unknown = Shape::new(
        KeyRule { paths: Vec::new(), version: HashVersion::V2 },
        Some("x".to_owned()),
        Vec::new(),
        false,
        b',',
        Some(&["a".to_owned()]),
    );
    assert!(unknown.err().unwrap().to_string().contains("no column x"));
}
