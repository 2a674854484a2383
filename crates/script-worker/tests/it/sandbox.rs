//! User-defined functions: what passes, what fails, and what ends them.

use std::sync::atomic::{AtomicUsize, Ordering};

use armilla_script::limits::{MESSAGE_CHARACTERS_MAX, RESULT_BYTES_MAX};
use armilla_script::{Sandbox, ScriptError};
use armilla_value::{Value, json};

use crate::memory::{OWNER, program, workers};

fn sandbox(body: &str) -> Sandbox {
    let mut sandbox = Sandbox::new(workers(), OWNER, || false).unwrap();
    sandbox.add("f", &program(body)).unwrap();
    sandbox
}

fn thrown(message: &str) -> ScriptError {
    ScriptError::Thrown { number: None, message: message.to_owned() }
}

/// Calls a function with arguments given as a JSON array; the result as JSON, or `undefined`.
fn outcome(sandbox: &Sandbox, arguments: &str) -> Result<String, ScriptError> {
    let arguments = json::parse(arguments.as_bytes()).unwrap();
    let result = sandbox.call("f", arguments.as_array().unwrap())?;
    Ok(result.map_or("undefined".to_owned(), |value| json::to_string(&value)))
}

#[test]
fn values_pass_both_ways() {
    for value in [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "9007199254740991",
        "1.5",
        "1e+300",
        "\"\"",
        r#""a\u0000 \"é\" 😀""#,
        "[]",
        "[1,[2,[null]]]",
        "{}",
        r#"{"b":1,"a":{"__proto__":2},"":3}"#,
    ] {
        let expected = json::to_string(&json::parse(value.as_bytes()).unwrap());
        let identity = sandbox("function (x) { return x; }");
        assert_eq!(outcome(&identity, &format!("[{value}]")), Ok(expected), "{value}");
    }
}

#[test]
fn results_are_what_json_makes_of_them() {
    for (body, arguments, expected) in [
        ("function () {}", "[]", "undefined"),
        ("function () { return undefined; }", "[]", "undefined"),
        ("function () { return function () {}; }", "[]", "undefined"),
        ("function () { return Symbol('s'); }", "[]", "undefined"),
        ("function () { return NaN; }", "[]", "null"),
        ("function () { return -Infinity; }", "[]", "null"),
        ("function () { return [undefined, () => 1, NaN]; }", "[]", "[null,null,null]"),
        ("function () { return { a: undefined, b: 1 }; }", "[]", r#"{"b":1}"#),
        ("function () { return new Date(0); }", "[]", r#""1970-01-01T00:00:00.000Z""#),
        ("function () { return { toJSON() { return 7; } }; }", "[]", "7"),
        ("function () { return new Map([[1, 2]]); }", "[]", "{}"),
        ("function (a, b) { return a + b; }", "[1, 2]", "3"),
        ("function (a, b) { return a + b; }", r#"["x", 2]"#, r#""x2""#),
        ("function (a, b) { return typeof b; }", "[1]", r#""undefined""#),
        ("function () { return arguments.length; }", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", "10"),
        (
            "function (x) { return x.tags.filter(t => /^a/i.test(t)).sort(); }",
            r#"[{"tags":["b","A","ab"]}]"#,
            r#"["A","ab"]"#,
        ),
        // Sloppy code is code too: `this` is the global object, octal numbers are numbers.
        ("function () { return this === globalThis && 010 === 8; }", "[]", "true"),
        ("function named(n) { return n < 2 ? n : named(n - 1) + named(n - 2); }", "[15]", "610"),
        ("// about it\nfunction (x) { return x; } // the end", "[1]", "1"),
        ("  (x) => x * 2", "[4]", "8"),
    ] {
        assert_eq!(outcome(&sandbox(body), arguments).as_deref(), Ok(expected), "{body}");
    }
}

#[test]
fn numbers_without_json_are_passed_as_they_are() {
    let text = sandbox("function (x) { return String(x); }");
    for (number, expected) in
        [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")]
    {
        assert_eq!(text.call("f", &[Value::Double(number)]), Ok(Some(expected.into())));
    }
}

#[test]
fn exceptions_say_what_they_say() {
    let long = "x".repeat(MESSAGE_CHARACTERS_MAX);
    for (body, expected) in [
        ("function () { throw new Error('no such luck'); }", "no such luck"),
        ("function () { throw 'words'; }", "words"),
        ("function () { throw { code: 7 }; }", r#"{"code":7}"#),
        ("function () { throw null; }", "null"),
        ("function () { throw undefined; }", "undefined"),
        ("function () { return 1n; }", "BigInt are forbidden in JSON.stringify"),
        ("function () { return nobody; }", "nobody is not defined"),
        ("function (x) { return x.y; }", "cannot read property 'y' of undefined"),
        ("function () { const a = []; a.push(a); return a; }", "circular reference"),
        ("function f() { return f(); }", "Maximum call stack size exceeded"),
        ("function () { throw new Error('x'.repeat(5000)); }", &long),
    ] {
        assert_eq!(outcome(&sandbox(body), "[]"), Err(thrown(expected)), "{body}");
    }
}

#[test]
fn a_sandbox_goes_on_after_an_exception() {
    let picky = sandbox("function (x) { if (x === 1) throw new Error('one'); return x; }");
    assert_eq!(outcome(&picky, "[1]"), Err(thrown("one")));
    assert_eq!(outcome(&picky, "[2]").as_deref(), Ok("2"));
    assert_eq!(picky.call("g", &[]), Err(ScriptError::Unknown));
}

#[test]
fn endless_scripts_are_stopped() {
    for body in [
        "function () { for (;;) {} }",
        "function () { try { for (;;) {} } finally { for (;;) {} } }",
        "function () { for (;;) { try { for (;;) {} } catch (e) {} } }",
        "function () { return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1); }",
        "function () { return /(a*)*b/.test('a'.repeat(100)); }",
        "function () { return { toJSON() { for (;;) {} } }; }",
        "function () { throw { get message() { for (;;) {} }, __proto__: Error.prototype }; }",
    ] {
        let asked = AtomicUsize::new(0);
        let mut sandbox =
            Sandbox::new(workers(), OWNER, move || asked.fetch_add(1, Ordering::Relaxed) >= 2).unwrap();
        sandbox.add("f", &program(body)).unwrap();
        assert_eq!(outcome(&sandbox, "[]"), Err(ScriptError::OutOfTime), "{body}");
        // Its time stays over.
        assert_eq!(outcome(&sandbox, "[]"), Err(ScriptError::OutOfTime), "{body}");
    }
}

#[test]
fn greedy_scripts_are_stopped() {
    for body in [
        "function () { const a = []; for (;;) a.push(a.length + '-'); }",
        "function () { let s = 'x'; for (;;) s += s; }",
        "function () { return 'x'.repeat(2 ** 29); }",
        "function () { return new ArrayBuffer(2 ** 30).byteLength; }",
        "function () { return new SharedArrayBuffer(2 ** 30).byteLength; }",
        "function () { return new Array(2 ** 31).fill(1).length; }",
        "function () { let o = {}; for (;;) o = { o, p: [o] }; }",
        "function () { const m = new Map(); for (let i = 0;; i++) m.set(i, { i }); }",
    ] {
        let failed = outcome(&sandbox(body), "[]").unwrap_err();
        assert!(
            matches!(&failed, ScriptError::Thrown { .. } | ScriptError::OutOfMemory),
            "{body}: {failed:?}"
        );
    }
}

#[test]
fn results_are_bounded() {
    let text = sandbox("function (n) { return 'x'.repeat(n); }");
    assert!(outcome(&text, &format!("[{}]", RESULT_BYTES_MAX - 2)).is_ok());
    assert_eq!(outcome(&text, &format!("[{}]", RESULT_BYTES_MAX - 1)), Err(ScriptError::ResultTooLong));
    let deep = sandbox("function (n) { let a = []; while (--n) a = [a]; return a; }");
    let depth = armilla_value::limits::DEPTH_MAX;
    assert!(outcome(&deep, &format!("[{depth}]")).is_ok());
    assert!(matches!(outcome(&deep, &format!("[{}]", depth + 1)), Err(ScriptError::Result(_))));
}

#[test]
fn sandboxes_share_nothing() {
    let body = "function () {
        const before = [typeof globalThis.left, typeof Array.prototype.left, typeof JSON.left];
        globalThis.left = Array.prototype.left = JSON.left = 1;
        JSON.parse = JSON.stringify = Object.defineProperty = null;
        return before;
    }";
    let clean = Ok(r#"["undefined","undefined","undefined"]"#.to_owned());
    let first = sandbox(body);
    assert_eq!(outcome(&first, "[]"), clean);
    // What one call leaves, the next of the same sandbox finds; it cannot break what passes values.
    assert_eq!(outcome(&first, "[]").as_deref(), Ok(r#"["number","number","number"]"#));
    assert_eq!(outcome(&sandbox(body), "[]"), clean);
}

#[test]
fn functions_of_one_sandbox_cannot_replace_each_other() {
    let mut sandbox =
        sandbox("function () { globalThis['udf.g'] = () => 2; return delete globalThis['udf.g']; }");
    sandbox.add("g", &program("function () { return 1; }")).unwrap();
    assert_eq!(outcome(&sandbox, "[]").as_deref(), Ok("false"));
    assert_eq!(sandbox.call("g", &[]), Ok(Some(1.into())));
    assert!(sandbox.add("g", &program("function () { return 3; }")).is_err());
}

#[test]
fn nothing_of_the_machine_is_in_reach() {
    for name in
        ["require", "process", "std", "os", "console", "print", "load", "fetch", "getContext", "setTimeout"]
    {
        let body = format!("function () {{ return typeof globalThis.{name}; }}");
        assert_eq!(outcome(&sandbox(&body), "[]").as_deref(), Ok("\"undefined\""), "{name}");
    }
}

#[test]
fn a_sandbox_may_move_to_another_thread() {
    let mut sandbox = sandbox("function f(n) { return n === 0 ? 0 : 1 + f(n - 1); }");
    sandbox.add("g", &program("x => x")).unwrap();
    assert_eq!(outcome(&sandbox, "[100]").as_deref(), Ok("100"));
    let moved = std::thread::spawn(move || outcome(&sandbox, "[100]"));
    assert_eq!(moved.join().unwrap().as_deref(), Ok("100"));
}

#[test]
fn memory_may_end_anywhere() {
    let body = "function (left) {
        const room = [];
        for (let step = 2 ** 22; step >= 64; step /= 2) {
            try { for (;;) room.push(new ArrayBuffer(step)); } catch (e) {}
        }
        room.length -= left;
        const kept = [];
        for (let i = 0;; i++) {
            kept.push({ i, f: () => i, r: new RegExp('a' + i), m: new Map([[i, kept]]), s: `${i}`.split('') });
            kept.push(JSON.parse(JSON.stringify([i, { i }])), Object.keys(kept[0]), new Promise(() => i));
            kept.push(eval('(function (a) { return a + ' + i + '; })'), new Error('e'), [...'abc'].sort());
        }
    }";
    for left in 0..60 {
        let failed = outcome(&sandbox(body), &format!("[{left}]")).unwrap_err();
        assert!(
            matches!(failed, ScriptError::Thrown { .. } | ScriptError::OutOfMemory),
            "{left}: {failed:?}"
        );
    }
}
