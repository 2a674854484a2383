use super::*;

#[test]
fn what_begins_like_a_function() {
    for body in [
        "function () {}",
        "function named() {}",
        "async function () {}",
        "function* () {}",
        "() => 1",
        "x => 1",
        "async (x) => x",
        "((function () {}))",
        "/* about it */ // and more\n function () {}",
        "class { constructor() {} }",
    ] {
        assert!(may_be_function(body), "{body}");
    }
}

#[test]
fn what_does_not() {
    for body in [
        "",
        " ",
        ";",
        "(",
        "1",
        "'function () {}'",
        "functional",
        "var x = function () {}",
        "return 1;",
        "nobody",
        "{ a: 1 }",
        "import 'std'",
        "/* function () {}",
        "// function () {}",
    ] {
        assert!(!may_be_function(body), "{body}");
    }
}

#[test]
fn programs_are_numbered_and_compared_by_their_texts() {
    let program = |body: &str| Program::of_checked(body.to_owned());
    let (first, second) = (program("x => x"), program("x => x"));
    assert_eq!(first, second);
    assert_ne!(first.number(), second.number());
    assert_eq!(first.number(), first.clone().number());
    assert_ne!(first, program("x => 1"));
}
