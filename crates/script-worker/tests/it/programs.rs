//! Which texts are scripts.

use armilla_script::{Program, ScriptError};

use crate::memory::{Memory, evaluate, procedure};

#[test]
fn what_is_a_function() {
    for body in [
        "function () {}",
        "function named() {}",
        "async function () {}",
        "function* () {}",
        "() => 1",
        "async (x) => x",
        "(function () {})",
        "function () {};",
        "function () {}; \n",
        "function () {} // the end",
        "/* about it */ function () {}",
        "class { constructor() {} }",
    ] {
        evaluate(body).unwrap_or_else(|error| panic!("{body}: {error}"));
    }
}

#[test]
fn what_is_no_function_is_refused() {
    for body in [
        "",
        "1",
        "function",
        "function (x { }",
        "function () { return 1; } function () {}",
        "function () {} /*",
        "function () {})",
        "function () { await 1; }",
        "nobody",
        "function () {}\0",
        "class { constructor() {} ",
        "() => {",
    ] {
        let refused = evaluate(body).unwrap_err();
        assert!(matches!(refused, ScriptError::NotAFunction(_)), "{body}: {refused:?}");
    }
}

#[test]
fn what_comes_to_no_function_fails_when_it_runs() {
    for body in ["(() => { throw new Error('no'); })()", "(() => 1)()"] {
        let outcome = procedure(body, "[]", &mut Memory::default());
        assert!(matches!(outcome.result, Err(ScriptError::NotAFunction(_))), "{body}: {:?}", outcome.result);
    }
}

#[test]
fn a_text_that_is_no_function_fails_at_every_use() {
    for _ in 0..2 {
        let program = Program::new("function (".to_owned()).unwrap();
        let mut sandbox =
            armilla_script::Sandbox::new(crate::memory::workers(), crate::memory::OWNER, || false).unwrap();
        for _ in 0..2 {
            let added = sandbox.add("f", &program);
            assert!(matches!(added, Err(ScriptError::NotAFunction(_))), "{added:?}");
        }
    }
}

#[test]
fn code_keeps_its_text() {
    let body = "function f(a, b) { __.response.setBody(f.toString() + f.name + f.length); }";
    for _ in 0..2 {
        let outcome = procedure(body, "[]", &mut Memory::default());
        let response = outcome.result.unwrap().response_body.unwrap();
        assert_eq!(response, format!("\"{body}f2\""));
    }
}
