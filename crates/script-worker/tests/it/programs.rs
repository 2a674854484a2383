//! Which texts are scripts.

use armilla_script::{Program, ScriptError};

use crate::memory::{Memory, compile, procedure};

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
        let compiled = compile(body).unwrap_or_else(|error| panic!("{body}: {error}"));
        assert_eq!(compiled.body(), body);
        assert_eq!(compiled, Program::of_checked(body.to_owned()));
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
        let refused = compile(body).unwrap_err();
        assert!(matches!(refused, ScriptError::NotAFunction(_)), "{body}: {refused:?}");
    }
}

/// A text was evaluated when it was registered, to see whether it is a function: without a turn, a charge or a bound on
/// what it does until then.
#[test]
fn nothing_is_evaluated_before_it_runs() {
    for body in [
        "(() => { throw new Error('no'); })()",
        "(() => { for (;;) {} })()",
        "(() => 1)()",
        "(() => { var a = new Array(1000).fill(1), h = [], f = function () {}; \
         for (;;) h[h.length] = Function.prototype.bind.apply(f, a); })()",
    ] {
        assert!(compile(body).is_ok(), "{body}");
    }
    for body in ["(() => { throw new Error('no'); })()", "(() => 1)()"] {
        let outcome = procedure(body, "[]", &mut Memory::default());
        assert!(matches!(outcome.result, Err(ScriptError::NotAFunction(_))), "{body}: {:?}", outcome.result);
    }
}

#[test]
fn a_text_that_was_not_checked_fails_at_every_use() {
    for _ in 0..2 {
        let program = Program::of_checked("function (".to_owned());
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
