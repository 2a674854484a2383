//! Tests of the format: what is read, and where faults are said to be.

use std::path::Path;

use armilla_value::json;

use super::*;

fn read(text: &str) -> Result<Vec<Step>, String> {
    parse(Path::new("f.qt"), text).map(|script| script.steps).map_err(|error| error.to_string())
}

#[test]
fn everything_a_file_can_say() {
    let text = "# a comment\n\ncontainer c pk=/a,/b/c ranges=6 policy={\"x\": \"a b\"} computed=[ ] udfs={\"f\": \"x => x\"}\n\
                {\"id\":\"1\"}\n{\"id\":\"2\"}\n----\n\n\
                query unordered tolerance=1e-9 key=[\"x y\", null] params={\"@p\":[1]}\nSELECT *\n\nFROM c\n----\n1\n{\"a\":2}\n\n\
                # another\nexplain\nSELECT 1\n----\nOneRow\nProject\n\n\
                error\nSELEKT\n----\n400 SC1001 0..6\nSyntax error\n\nerror\nx\n----\n400 -\n\nerror\ny\n----\n400 *\n\nquery\nz\n----\n";
    let steps = read(text).unwrap();
    let Step::Container(container) = &steps[0] else { panic!("a container first") };
    assert_eq!((container.line, container.name.as_str(), container.range_count), (3, "c", 6));
    assert_eq!(container.key_paths, ["/a", "/b/c"]);
    assert_eq!(container.functions, Some(json::parse(br#"{"f":"x => x"}"#).unwrap()));
    assert_eq!(container.policy.as_ref().map(json::to_string).as_deref(), Some(r#"{"x":"a b"}"#));
    assert_eq!(container.items.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5]);

    let cases: Vec<&Case> = steps[1..]
        .iter()
        .map(|step| match step {
            Step::Case(case) => case,
            Step::Container(_) => panic!("one container"),
        })
        .collect();
    let query = cases[0];
    assert_eq!((query.line, query.text.as_str()), (8, "SELECT *\n\nFROM c"));
    assert_eq!(query.key.as_deref(), Some(r#"["x y", null]"#));
    assert_eq!(query.parameters[0].0, "@p");
    let Expected::Rows(rows) = &query.expected else { panic!("rows") };
    assert_eq!(rows.comparison, Comparison { unordered: true, arrays_as_sets: false, tolerance: 1e-9 });
    assert_eq!(rows.rows.len(), 2);
    assert_eq!(query.expected_lines, 12..14);

    assert!(matches!(&cases[1].expected, Expected::Plan(plan) if plan == "OneRow\nProject"));
    let error = |case: &Case| match &case.expected {
        Expected::Error(error) => error.clone(),
        _ => panic!("an error"),
    };
    assert_eq!(
        error(cases[2]),
        ExpectedError {
            status: 400,
            code: ExpectedCode::Is("SC1001".to_owned()),
            place: Some((0, 6)),
            message: Some("Syntax error".to_owned())
        }
    );
    assert_eq!((error(cases[3]).code, error(cases[3]).place), (ExpectedCode::None, None));
    assert_eq!(error(cases[4]).code, ExpectedCode::Any);
    assert!(matches!(&cases[5].expected, Expected::Rows(rows) if rows.rows.is_empty()));
}

#[test]
fn faults_have_a_place() {
    for (text, message) in [
        ("\nquerry\n", "f.qt:2:1: expected container, query, explain or error"),
        ("container\n----\n", "f.qt:1:10: a container has a name"),
        ("container c\n----\n", "f.qt:1:12: a container has a partition key: pk=/path"),
        ("container c pk=/a ranges=99\n----\n", "f.qt:1:19: ranges is a number from 4 to 16"),
        ("container c pk=/a policy={\n----\n", "f.qt:1:19: the value does not end"),
        ("container c pk=/a color=red\n----\n", "f.qt:1:19: unknown option color"),
        ("container c pk=/a\n[1]\n----\n", "f.qt:2:1: an item is an object"),
        ("container c pk=/a\n", "f.qt:2:1: no ---- follows"),
        ("query\n----\n", "f.qt:2:1: a case has a statement"),
        ("query sorted\nSELECT 1\n----\n", "f.qt:1:7: unknown option sorted"),
        ("query params=[]\nSELECT 1\n----\n", "f.qt:1:7: parameters are an object"),
        ("query tolerance=2\nSELECT 1\n----\n", "f.qt:1:7: tolerance is a number from 0 to 1"),
        (
            "error\nx\n----\nbad\n",
            "f.qt:4:1: expected STATUS CODE [START..END], then at most a part of the message",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), message, "{text}");
    }
    assert!(read("query\nSELECT 1\n----\n{\n").unwrap_err().starts_with("f.qt:4:1: no JSON: "));
    assert!(read("query params={a} \nSELECT 1\n----\n").unwrap_err().starts_with("f.qt:1:14: no JSON: "));
}
