use super::*;

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
        let compiled = Program::compile(body).unwrap_or_else(|error| panic!("{body}: {error}"));
        assert_eq!(compiled.body(), body);
        assert_eq!(compiled, Program::of_checked(body.to_owned()));
    }
}

#[test]
fn what_is_no_function_is_refused() {
    for body in [
        "",
        " ",
        ";",
        "1",
        "'function () {}'",
        "function",
        "function (x { }",
        "function () { return 1; } function () {}",
        "var x = function () {}",
        "return 1;",
        "function () {} /*",
        "function () {})",
        "function () { await 1; }",
        "nobody",
        "(() => { throw new Error('no'); })()",
        "(() => { for (;;) {} })()",
        "{ a: 1 }",
        "function () {}\0",
        "import 'std'",
    ] {
        let refused = Program::compile(body).unwrap_err();
        assert!(matches!(refused, ScriptError::NotAFunction(_)), "{body}: {refused:?}");
    }
}

#[test]
fn a_text_that_was_not_checked_fails_at_every_use() {
    let program = Program::of_checked("function (".to_owned());
    for _ in 0..2 {
        let interpreter = Interpreter::new(Purpose::Functions, Box::new(|| false)).unwrap();
        let made = interpreter.with(|ctx| program.function(&ctx, &interpreter).map(drop));
        assert!(matches!(made, Err(ScriptError::NotAFunction(_))), "{made:?}");
    }
}

#[test]
fn code_is_compiled_once_and_keeps_its_text() {
    let program = Program::compile("function f(a, b) { return f.toString() + f.name + f.length; }").unwrap();
    for _ in 0..2 {
        let interpreter = Interpreter::new(Purpose::Functions, Box::new(|| false)).unwrap();
        let text: String =
            interpreter.with(|ctx| program.function(&ctx, &interpreter).unwrap().call(()).unwrap());
        assert_eq!(text, "function f(a, b) { return f.toString() + f.name + f.length; }f2");
    }
}
